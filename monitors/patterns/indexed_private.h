/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The search by ranges, among its own files: plans, which do not change while they are
 * searched and may be shared by threads, and searchers, which have one thread each.
 *
 *   indexed_plan.c        clauses, and what each two variables may be to each other
 *   indexed_groups.c      variables that may be exchanged
 *   indexed_ranges.c      lists of spans of positions
 *   indexed_rows.c        where predecessors end and successors begin in a column
 *   indexed_received.c    from sends to their receives
 *   indexed_literal.c     whether literals hold of values
 *   indexed_count.c       how many values are in a relation with bound ones
 *   indexed_universal.c   clauses with universal variables
 *   indexed_restrict.c    the values that bound variables leave to another
 *   indexed_searcher.c    the state of one thread
 *   indexed_search.c      the search itself
 *   indexed_threads.c     several threads with one plan
 *   indexed_explain.c     plans for people
 */
#ifndef ES_MONITORS_PATTERNS_INDEXED_PRIVATE_H
#define ES_MONITORS_PATTERNS_INDEXED_PRIVATE_H

#include <errno.h>
#include <stdatomic.h>

#include "monitors/patterns/engine.h"
#include "monitors/patterns/indexed.h"
#include "monitors/patterns/precedence.h"

/* --- Plans -------------------------------------------------------------------------
 */

/* What one event may be to another: bits of masks. */
enum {
    ESI_IS_BEFORE = 1,
    ESI_IS_CONCURRENT = 2,
    ESI_IS_AFTER = 4,
    ESI_IS_SAME = 8,
    ESI_IS_ANY = 15,
};

/* The mask of y to x, from that of x to y. */
static inline uint8_t esi_mask_turned(uint8_t mask)
{
    return (uint8_t)((mask & (ESI_IS_CONCURRENT | ESI_IS_SAME)) |
                     (mask & ESI_IS_BEFORE ? ESI_IS_AFTER : 0) |
                     (mask & ESI_IS_AFTER ? ESI_IS_BEFORE : 0));
}

/* Whether a mask of an event to x separates the events concurrent with x from x's
 * successors, so that the first of these has to be found. */
static inline bool esi_mask_needs_successors(uint8_t mask)
{
    return !(mask & ESI_IS_CONCURRENT) != !(mask & ESI_IS_AFTER);
}

static inline uint64_t esi_bit(unsigned variable)
{
    return UINT64_C(1) << variable;
}

enum esi_indexed_kind {
    ESI_INDEXED_RELATION, /* x is to y as `mask` allows; both have single events */
    ESI_INDEXED_BEFORE,   /* of sets: some event of x precedes some event of y */
    ESI_INDEXED_EQUAL,    /* of sets: they share an event */
    ESI_INDEXED_RECEIVED,
    ESI_INDEXED_NEAR,
    ESI_INDEXED_COMPARE,
    ESI_INDEXED_COUNT,
};

struct esi_indexed_literal {
    enum esi_indexed_kind kind;
    bool is_negated; /* not of RELATION */
    uint8_t mask;    /* of RELATION */
    uint8_t x;
    uint8_t y;
    uint32_t atom;
    uint64_t variables;
};

struct esi_indexed_clause {
    struct esi_indexed_literal *literals; /* in the plan's array */
    uint32_t count;
    uint32_t number; /* among the plan's clauses */
    uint64_t existential;
    uint64_t universal;
    uint64_t exact; /* bit v: with all others bound, ranges tell which values of v
                       satisfy it; else each value is tested */
};

/* Variables that may be exchanged: only rising values are searched. */
struct esi_indexed_group {
    uint64_t members; /* two or more */
    bool is_distinct; /* no two of them have the same event */
    bool is_concurrent;
    bool is_multiplied; /* each permutation is an assignment of its own (D10) */
};

struct esi_indexed_plan {
    const struct es_program *program;
    uint32_t support;
    const struct es_domain *const *domains;
    const struct es_domain *const *counted;
    const struct es_order *order;
    bool is_growing;    /* domains may change between calls */
    bool all_witnesses; /* as esi_indexed_config */
    bool is_false;      /* no assignment can satisfy it */
    uint64_t existential;
    uint64_t universal;
    uint64_t returned;
    uint64_t single;         /* variables whose values are single events */
    unsigned variable_count; /* of the program */

    struct esi_indexed_literal *literals; /* owned */
    size_t literal_count;
    struct esi_indexed_clause *clauses; /* owned; those that masks do not say */
    uint32_t clause_count;
    size_t size; /* literals of the rewritten pattern */
    uint8_t masks[ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES]; /* existential, single */
    uint64_t masked[ES_PROGRAM_VARIABLES];      /* variables whose mask is not ANY */
    uint64_t neighbours[ES_PROGRAM_VARIABLES];  /* by masks and clauses */
    uint32_t *clauses_of[ES_PROGRAM_VARIABLES]; /* owned: numbers of clauses */
    uint32_t clause_counts[ES_PROGRAM_VARIABLES];

    struct esi_indexed_group groups[ES_PROGRAM_VARIABLES / 2];
    unsigned group_count;
    int8_t group_of[ES_PROGRAM_VARIABLES]; /* -1: none */

    const struct es_domain *distinct[ES_PROGRAM_VARIABLES]; /* domains, each once */
    unsigned distinct_count;
    uint8_t distinct_of[ES_PROGRAM_VARIABLES];
    uint64_t *offsets[ES_PROGRAM_VARIABLES]; /* owned, of distinct domains with memory:
                                                values in the columns before each */

    struct esi_received_index *received[ES_PROGRAM_VARIABLES]; /* owned; of distinct
                                                                  domains, or NULL */
};

/* -EOVERFLOW with words, -ENOMEM. */
int esi_indexed_plan_create(const struct esi_indexed_config *config,
                            bool is_growing,
                            struct esi_indexed_plan **ret_plan,
                            struct es_error *error);
/* Accepts NULL. */
void esi_indexed_plan_destroy(struct esi_indexed_plan *plan);
/* Finds the groups; of `cnf` as it was before masks were made of it. */
void esi_indexed_plan_group(struct esi_indexed_plan *plan, const struct es_cnf *cnf);
/* The variable to begin with; of a support that has one. */
unsigned esi_indexed_plan_first(const struct esi_indexed_plan *plan);
/* About how much one value of a first variable costs. */
unsigned esi_indexed_plan_weight(const struct esi_indexed_plan *plan, unsigned v);

/* Universal variables of a support that have no values. */
uint64_t esi_indexed_empty(const struct es_program *program,
                           const struct es_domain *const *domains,
                           uint32_t support);

/* Whether v is the first unbound one of its group, or has none. */
bool esi_indexed_is_next(const struct esi_indexed_plan *plan,
                         uint64_t bound,
                         unsigned v);
/* Permutations that an assignment with rising values stands for. */
uint64_t esi_indexed_multiplicity(const struct esi_indexed_plan *plan,
                                  const struct es_domain_value *values);

/* Receives of the sends that they name, of one domain; for any number of threads. */
struct esi_received_index;
int esi_received_index_create(const struct es_domain *domain,
                              struct esi_received_index **ret_index);
void esi_received_index_destroy(struct esi_received_index *index);
/* Values, sorted, that name an event. */
size_t esi_received_index_find(const struct esi_received_index *index,
                               struct es_event_id send,
                               const struct es_domain_value **ret_values);

/* --- Lists of spans ----------------------------------------------------------------
 */

struct esi_span {
    uint32_t begin; /* positions in a column */
    uint32_t end;
};

/* Rising and apart, but between esi_spans_add() and esi_spans_sort(). */
struct esi_spans {
    struct esi_span *items; /* owned */
    uint32_t count;
    uint32_t capacity;
    bool has_failed; /* no memory: some are missing */
};

void esi_spans_fini(struct esi_spans *spans);
/* Nothing where begin >= end.  Joins the last one if it begins at or in that. */
void esi_spans_add(struct esi_spans *spans, uint32_t begin, uint32_t end);
void esi_spans_sort(struct esi_spans *spans);
/* Leaves only what is in [begin, end). */
void esi_spans_keep(struct esi_spans *spans, uint32_t begin, uint32_t end);
void esi_spans_copy(struct esi_spans *to, const struct esi_spans *from);
/* What is in both; `to` is neither of them. */
void esi_spans_intersect(struct esi_spans *to,
                         const struct esi_spans *a,
                         const struct esi_spans *b);
/* What is in [0, end) but not in `of`. */
void esi_spans_complement(struct esi_spans *to,
                          const struct esi_spans *of,
                          uint32_t end);
uint64_t esi_spans_total(const struct esi_spans *spans);

/* --- Searchers ---------------------------------------------------------------------
 */

/* What is known of one bound variable and one column. */
struct esi_end_entry {
    uint64_t before_binding; /* the binding that before_end is of */
    uint64_t after_binding;
    uint32_t before_end;         /* positions below are its predecessors */
    uint32_t after_begin;        /* positions from here on are its successors */
    struct es_event_id after_of; /* whose after_begin it is: a hint for later events */
};

struct esi_end_row {
    struct esi_end_entry *entries; /* owned, by slot */
    uint32_t capacity;
};

/* The same of all values of a small domain, for good. */
struct esi_memo {
    bool is_decided; /* whether there is one */
    uint32_t
        *ends; /* owned: before_end and after_begin by turns; UINT32_MAX: unknown */
};

/* Entries of a bound variable's stamp. */
struct esi_stamp {
    uint64_t *bindings; /* owned, by trace */
    uint32_t *greatest; /* owned */
    uint32_t capacity;
};

struct esi_range {
    uint32_t slot;
    uint32_t begin;
    uint32_t end;
};

/* All values that are left to a variable when `applied` are bound. */
struct esi_candidates {
    struct esi_range *ranges; /* owned; rising */
    size_t count;
    size_t capacity;
    uint64_t total;
    uint32_t slots;   /* that have any */
    uint64_t applied; /* clauses of nothing but the variable are, too */
};

/* The order in which the columns of a clause's universal variable are looked at: those
 * that failed lately first (Nichols, 6.3). */
struct esi_slot_order {
    uint32_t *slots; /* owned */
    uint32_t count;
};

struct esi_searcher {
    const struct esi_indexed_plan *plan;
    struct es_precedence precedence;
    uint64_t backtracks;
    int error; /* -ENOMEM once something could not be had */

    uint64_t bound;
    uint64_t settled; /* hidden variables for which a witness was found early */
    struct es_domain_value values[ES_PROGRAM_VARIABLES];
    struct es_event_id events[ES_PROGRAM_VARIABLES]; /* of single ones */
    uint64_t bindings[ES_PROGRAM_VARIABLES];         /* counted */
    uint64_t hints_from[ES_PROGRAM_VARIABLES];       /* older hints are stale */
    uint64_t pinned_excluded;
    struct es_event_id pinned_event;
    int first;       /* variable to begin with; -1: the cheapest */
    bool may_settle; /* any witness of hidden variables does */

    struct esi_end_row *rows;      /* owned: [variable][distinct domain] */
    struct esi_memo *memos;        /* owned: [distinct domain][distinct domain] */
    struct esi_stamp *stamps;      /* owned: [variable] */
    struct esi_slot_order *orders; /* owned: [clause] */

    struct esi_candidates *candidates; /* owned: [depth][variable] */
    const struct esi_candidates *source[ES_PROGRAM_VARIABLES]; /* NULL: all values */
    struct esi_spans *spans; /* owned: [depth], of the column that is walked */
    uint32_t *work;          /* owned: a stack of numbers of clauses */
    size_t work_count;
    size_t work_capacity;
    struct esi_spans allowed; /* by one clause */
    struct esi_spans scratch;
    struct esi_spans kept;
    struct esi_spans open; /* universal values that nothing satisfies yet */
    struct esi_spans satisfied;
    struct esi_spans plain;       /* of a literal that is negated */
    struct esi_spans members;     /* of a column that is counted */
    struct es_event_id *gathered; /* owned: of several variables, sorted, distinct */
    size_t gathered_count;
    size_t gathered_capacity;

    esi_indexed_found_fn found;
    void *found_data;
    uint64_t found_count;
    bool (*is_over)(void *data); /* asked now and then; may be NULL */
    void *over_data;
    unsigned over_countdown;
};

int esi_searcher_create(const struct esi_indexed_plan *plan,
                        struct esi_searcher **ret_searcher);
/* Accepts NULL. */
void esi_searcher_destroy(struct esi_searcher *searcher);
uint64_t esi_searcher_bytes(const struct esi_searcher *searcher);

void esi_searcher_bind(struct esi_searcher *searcher,
                       unsigned variable,
                       struct es_domain_value value);
static inline void esi_searcher_unbind(struct esi_searcher *searcher, unsigned variable)
{
    searcher->bound &= ~esi_bit(variable);
}
/* Adds an event to those gathered.  0 or -ENOMEM. */
int esi_searcher_gather(struct esi_searcher *searcher, struct es_event_id event);
/* Notes that a list could not grow. */
static inline void esi_searcher_check(struct esi_searcher *searcher,
                                      const struct esi_spans *spans)
{
    if (spans->has_failed)
        searcher->error = -ENOMEM;
}

/* --- Rows --- */

/* Positions of the column below which all precede the bound variable x, and from which
 * on all succeed it; of sets: precede some event, succeed some event. */
uint32_t esi_row_before_end(struct esi_searcher *searcher,
                            unsigned x,
                            unsigned distinct,
                            uint32_t slot);
uint32_t esi_row_after_begin(struct esi_searcher *searcher,
                             unsigned x,
                             unsigned distinct,
                             uint32_t slot);
/* The same of any event; the first successor is looked for `within`, at whose begin or
 * before it no predecessor may be. */
uint32_t esi_event_before_end(struct esi_searcher *searcher,
                              struct es_event_id event,
                              const struct es_domain_column *column);
uint32_t esi_event_after_begin(struct esi_searcher *searcher,
                               struct es_event_id event,
                               const struct es_domain_column *column,
                               struct esi_span within);
/* First position whose index is `index` or greater. */
uint32_t esi_column_position(const struct es_domain_column *column, uint32_t index);

/* --- Literals --- */

/* All its variables are bound. */
bool esi_literal_holds(struct esi_searcher *searcher,
                       const struct esi_indexed_literal *literal);
/* Of a COUNT literal, not negated. */
bool esi_count_holds(struct esi_searcher *searcher,
                     const struct esi_indexed_literal *literal);
/* Of those literals all of whose variables are bound. */
bool esi_clause_is_satisfied(struct esi_searcher *searcher,
                             const struct esi_indexed_clause *clause);
/* All its existential variables are bound; universal ones take all their values. */
bool esi_clause_holds(struct esi_searcher *searcher,
                      const struct esi_indexed_clause *clause);
bool esi_universal_holds(struct esi_searcher *searcher,
                         const struct esi_indexed_clause *clause);
/* Whether spans can tell which values of v satisfy a literal, all others bound. */
bool esi_literal_is_exact(const struct esi_indexed_plan *plan,
                          const struct esi_indexed_literal *literal,
                          unsigned v);
/* Adds them; not sorted. */
void esi_literal_spans(struct esi_searcher *searcher,
                       const struct esi_indexed_literal *literal,
                       unsigned v,
                       uint32_t slot,
                       struct esi_spans *spans);
/* Spans of one column, by the mask of its events to bound x. */
void esi_mask_spans(struct esi_searcher *searcher,
                    unsigned x,
                    uint8_t mask,
                    unsigned distinct,
                    uint32_t slot,
                    struct esi_spans *spans);
/* Restricts the spans of v in a column by a clause that is exact for v and has one
 * universal variable. */
void esi_universal_restrict(struct esi_searcher *searcher,
                            const struct esi_indexed_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_spans *spans);

/* --- What is left to a variable --- */

/* What has to be applied to an unbound variable that was not when its source was made:
 * clauses are numbers on the searcher's stack. */
struct esi_restriction {
    unsigned v;
    uint64_t masked; /* bound variables */
    int floor;       /* bound member of its group, -1 none */
    size_t clauses;  /* where they begin on the stack */
    size_t clause_count;
};

struct esi_restriction esi_restriction_begin(struct esi_searcher *searcher, unsigned v);
void esi_restriction_end(struct esi_searcher *searcher,
                         const struct esi_restriction *restriction);
/* Makes of the spans of a column those that are left. */
void esi_restriction_apply(struct esi_searcher *searcher,
                           const struct esi_restriction *restriction,
                           uint32_t slot,
                           struct esi_spans *spans);
/* All columns, into searcher->candidates[depth][v], which becomes its source, unless
 * there are more than `limit`: then false. */
bool esi_candidates_make(struct esi_searcher *searcher,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit);

/* Walks the columns that a source has, or all of a domain. */
struct esi_walk {
    const struct esi_candidates *source;
    const struct es_domain *domain;
    size_t next;
};

struct esi_walk esi_walk_begin(const struct esi_searcher *searcher, unsigned v);
/* False at the end; else the next column's spans. */
bool esi_walk_next(struct esi_walk *walk, uint32_t *ret_slot, struct esi_spans *spans);

/* --- The search --- */

/* Of `found` among these files: an assignment that did not count. */
enum { ESI_INDEXED_REJECTED = 2 };

/* Whether v, which was just bound, satisfies the clauses that ranges do not tell. */
bool esi_searcher_passes(struct esi_searcher *searcher, unsigned v);
/* All that goes on from what is bound.  0, 1, -errno. */
int esi_searcher_descend(struct esi_searcher *searcher, unsigned depth);
/* Binds v to a value, tests it and goes on. */
int esi_searcher_try(struct esi_searcher *searcher,
                     unsigned depth,
                     unsigned v,
                     struct es_domain_value value);
/* Whether clauses with no existential variable hold. */
bool esi_searcher_may_begin(struct esi_searcher *searcher);
/* Finds witnesses of hidden variables that nothing unbound has to do with.  False: one
 * has none. */
bool esi_searcher_settle(struct esi_searcher *searcher);
/* What is left to v is left to all of its group. */
void esi_searcher_share(struct esi_searcher *searcher, unsigned v);
/* As esi_indexed_all(). */
int esi_searcher_all(struct esi_searcher *searcher);
/* Restricts variables by clauses that name no other existential one; of depth 0. */
void esi_searcher_narrow(struct esi_searcher *searcher);
/* As esi_indexed_holds(). */
bool esi_searcher_holds(struct esi_searcher *searcher,
                        const struct es_domain_value *values,
                        enum esi_indexed_clauses clauses);

/* --- Supports with all that belongs to them ----------------------------------------
 */

/* The plans of the supports of a task. */
struct esi_indexed_plans {
    const struct es_engine_task *task;
    struct esi_indexed_plan **items; /* owned: [support] */
};

int esi_indexed_plans_create(const struct es_engine_task *task,
                             struct esi_indexed_plans *ret_plans,
                             struct es_error *error);
void esi_indexed_plans_fini(struct esi_indexed_plans *plans);

/* Searches one support with as many threads as are asked for.  As es_engine_ops. */
int esi_indexed_threads_search(const struct esi_indexed_plans *plans, uint32_t support);

void esi_indexed_plan_print(const struct esi_indexed_plan *plan, FILE *out);

#endif
