/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The state of one thread that searches by ranges, and what is done with it:
 *
 *   indexed.c             the state of one thread
 *   indexed_rows.c        where predecessors end and successors begin in a column,
 *                         and which values satisfy a literal
 *   indexed_lookup.c      values by attributes that are compared
 *   indexed_universal.c   clauses with universal variables
 *   indexed_restrict.c    the values that bound variables leave to another
 *   indexed_search.c      the search itself
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SEARCHER_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SEARCHER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/truth/event_list.h"
#include "monitors/search/truth/formula_check.h"
#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/truth/spans.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/tuple_set.h"

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

enum { ESI_NO_VARIABLE = -1 };

struct esi_searcher {
    const struct esi_indexed_plan *plan;
    struct esi_precedence precedence;
    uint64_t backtracks;
    int error; /* -ENOMEM once something could not be had */

    struct esi_formula_check check; /* what is bound, and the truth of literals of it */
    uint64_t settled; /* hidden variables for which a witness was found early */
    struct esi_domain_value values[ES_PROGRAM_VARIABLES];
    uint64_t bindings[ES_PROGRAM_VARIABLES];   /* counted */
    uint64_t hints_from[ES_PROGRAM_VARIABLES]; /* older hints are stale */
    uint64_t pinned_excluded;
    struct es_event_id pinned_event;
    int pinned;      /* variable, -1: none */
    int first;       /* variable to begin with; -1: the cheapest */
    bool may_settle; /* any witness of hidden variables does */

    /* From which point on values are looked up by attributes depends on nothing but
     * the value of the first variable and what was done with it, so that the order of
     * matches is the same for any number of threads. */
    uint64_t ordinal;         /* of the value of the first variable, from 0 */
    uint64_t compared;        /* comparisons with it that lookups might have saved */
    uint64_t compared_to_all; /* the same of universal values, since the beginning */

    struct esi_end_row *rows;      /* owned: [variable][distinct domain] */
    struct esi_memo *memos;        /* owned: [distinct domain][distinct domain] */
    struct esi_stamp *stamps;      /* owned: [variable] */
    struct esi_slot_order *orders; /* owned: [clause] */

    struct esi_domain_value *few;      /* owned: [variable], ESI_LISTED_FEW of each;
                                          NULL: domains do not grow */
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
    struct esi_spans plain; /* of a literal that is negated */

    esi_indexed_found_fn found;
    void *found_data;
    uint64_t complete_count;   /* assignments of all that was to be bound */
    unsigned early;            /* hidden variables bound before others */
    struct esi_tuple_set told; /* with these, since the first variable has its value */
    /* Whether what is bound cannot become a match, now that v is bound; may be NULL. */
    bool (*is_refused)(void *data, unsigned v);
    void *refused_data;
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
                       struct esi_domain_value value);
/* That bound single x is. */
static inline struct es_event_id esi_event_of(const struct esi_searcher *searcher,
                                              unsigned x)
{
    return searcher->check.bindings[x].one;
}
static inline void esi_searcher_unbind(struct esi_searcher *searcher, unsigned variable)
{
    searcher->check.bound &= ~esi_program_bit(variable);
}
/* Notes that a list could not grow. */
static inline void esi_searcher_check(struct esi_searcher *searcher,
                                      const struct esi_spans *spans)
{
    if (spans->has_failed)
        searcher->error = -ENOMEM;
}

/* --- Rows --- */

/* Positions of the column below which all precede an event, and from which on all
 * succeed it; the first successor is looked for `within`, at whose begin or
 * before it no predecessor may be. */
uint32_t esi_event_before_end(struct esi_searcher *searcher,
                              struct es_event_id event,
                              const struct esi_domain_column *column);
uint32_t esi_event_after_begin(struct esi_searcher *searcher,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_span within);
/* Index of the greatest predecessor of bound single x on a trace, asked once. */
uint32_t esi_greatest_of(struct esi_searcher *searcher, unsigned x, uint32_t trace);

/* Adds the places of those events that are in the column; not sorted. */
void esi_column_spans(const struct esi_domain_column *column,
                      const struct es_event_id *events,
                      size_t count,
                      struct esi_spans *spans);

/* --- Literals --- */

/* All its variables are bound, but perhaps of FORMULA. */
enum esi_formula_truth esi_searcher_literal_truth(struct esi_searcher *searcher,
                                                  const struct esi_literal *literal);
/* Of those literals all of whose variables are bound. */
bool esi_clause_is_satisfied(struct esi_searcher *searcher,
                             const struct esi_clause *clause);
/* Whether it is certain that no values of what is unbound satisfy a clause with FORMULA
 * literals; false: perhaps. */
bool esi_clause_is_refuted(struct esi_searcher *searcher,
                           const struct esi_clause *clause);
/* All its existential variables are bound; universal ones take all their values. */
bool esi_clause_holds(struct esi_searcher *searcher, const struct esi_clause *clause);
bool esi_universal_holds(struct esi_searcher *searcher,
                         const struct esi_clause *clause);
/* The values of single v that satisfy a literal all of whose other variables are bound,
 * of a kind that spans can tell (clauses that are exact for v have no other).  Adds
 * them; not sorted. */
void esi_literal_spans(struct esi_searcher *searcher,
                       const struct esi_literal *literal,
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
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_spans *spans);

/* --- Lookups --- */

enum { ESI_LISTED_FEW = 16 }; /* while domains grow: so many at most */

/* Of all values at most this part is walked as a list. */
static inline unsigned esi_listed_share(const struct esi_searcher *searcher)
{
    return searcher->plan->without & ES_INDEXED_THRIFT ? 1 : 8;
}

/* The values of v that `=` with the other variable of the literal, which is bound, may
 * leave.  False: there was no memory for an index, or they are not few, or another
 * literal of the two tells. */
bool esi_lookup_equal(struct esi_searcher *searcher,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct esi_listed *ret_listed);
/* The values of universal u, in two parts, that may violate `!=` with the other
 * variable.  False: all may. */
bool esi_lookup_violators(const struct esi_searcher *searcher,
                          const struct esi_literal *literal,
                          unsigned u,
                          struct esi_listed ret_listed[2]);

/* --- What is left to a variable --- */

/* What has to be applied to an unbound variable that was not when its source was made:
 * clauses are numbers on the searcher's stack. */
struct esi_restriction {
    unsigned v;
    uint64_t masked; /* bound variables */
    bool is_lone;    /* only `slot` may have values */
    uint32_t slot;
    int sender;      /* pinned variable whose event v receives, -1 none */
    int floor;       /* bound member of its group, -1 none */
    bool is_limited; /* v is before the pinned event, but not before `limit` */
    struct es_event_id limit;
    bool is_listed; /* only `listed` may be left */
    struct esi_listed listed;
    size_t clauses; /* where they begin on the stack */
    size_t clause_count;
    size_t near_count; /* of these, first: of times, which values are tested by, too */
};

struct esi_restriction esi_restriction_begin(struct esi_searcher *searcher, unsigned v);
void esi_restriction_end(struct esi_searcher *searcher,
                         const struct esi_restriction *restriction);
/* Makes of the spans of a column those that are left. */
void esi_restriction_apply(struct esi_searcher *searcher,
                           const struct esi_restriction *restriction,
                           uint32_t slot,
                           struct esi_spans *spans);
/* How many values are left to v as far as is known. */
static inline uint64_t esi_known_total(const struct esi_searcher *searcher, unsigned v)
{
    const struct esi_candidates *source = searcher->source[v];

    return source ? source->total : esi_domain_count(searcher->plan->domains[v]);
}
/* While domains grow: whether a bound variable names v's event, or v's that. */
static inline bool esi_has_partner(const struct esi_searcher *searcher, unsigned v)
{
    return (searcher->plan->senders[v] | searcher->plan->receivers[v]) &
           searcher->check.bound;
}
/* All columns, into searcher->candidates[depth][v], which becomes its source, unless
 * there are more than `limit`: then false. */
bool esi_candidates_make(struct esi_searcher *searcher,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit);

/* Walks the columns that a source has, or all of a domain. */
struct esi_walk {
    const struct esi_candidates *source;
    const struct esi_domain *domain;
    const struct esi_domain_value *listed; /* then `next` and `end` are of it */
    size_t next;
    size_t end;
};

struct esi_walk esi_walk_begin(const struct esi_searcher *searcher,
                               const struct esi_restriction *restriction);
/* False at the end; else the next column's spans. */
bool esi_walk_next(struct esi_walk *walk, uint32_t *ret_slot, struct esi_spans *spans);

/* --- The search --- */

/* All that goes on from what is bound.  0, 1, -errno. */
int esi_searcher_descend(struct esi_searcher *searcher, unsigned depth);
/* Binds v to a value, tests it and goes on. */
int esi_searcher_try(struct esi_searcher *searcher,
                     unsigned depth,
                     unsigned v,
                     struct esi_domain_value value);
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
                        const struct esi_domain_value *values,
                        enum esi_indexed_clauses clauses);

#endif
