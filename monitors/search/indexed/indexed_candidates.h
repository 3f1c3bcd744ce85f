/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The remaining values of an unbound variable, given the bound ones, column by column:
 * either iterated as they are found, or stored as the candidates of the variable until
 * a variable is unbound.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_CANDIDATES_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_CANDIDATES_H

#include "monitors/search/indexed/indexed_bound.h"
#include "monitors/search/indexed/indexed_lookup.h"
#include "monitors/search/indexed/indexed_near.h"
#include "monitors/search/indexed/indexed_universal.h"

struct esi_range {
    uint32_t slot;
    uint32_t begin;
    uint32_t end;
};

/* The remaining values of a variable when `applied` are bound. */
struct esi_candidates {
    struct esi_range *ranges; /* owned; sorted */
    size_t count;
    size_t capacity;
    uint64_t total;
    uint32_t slots;   /* number of slots with values */
    uint64_t applied; /* variables taken into account, together with the clauses of
                         this variable alone */
    struct esi_near_times times; /* restricted to these times */
};

/* The candidates of all variables. */
struct esi_candidate_sets {
    struct esi_bound *bound; /* borrowed */
    struct esi_universal *universal;

    /* The decision to look up values by attributes depends only on the value of the
     * first variable and the work done for it, so that the order of matches is the same
     * for any number of threads. */
    uint64_t ordinal;  /* index of the first variable's value, from 0 */
    uint64_t compared; /* comparisons for this value that lookups might have saved */

    const struct esi_candidates **source; /* owned: [variable]; NULL: all values */
    struct esi_candidates *made;          /* owned: [depth][variable] */
    struct esi_intervals *columns;        /* owned: [depth], scratch for iteration */
    struct esi_domain_value *few; /* owned: [variable], ESI_LISTED_FEW of each; NULL
                                     if domains do not grow */
    struct esi_domain_value *partners; /* owned: [variable], the partner of a bound
                                          variable */
    struct esi_sorted_list *lists;     /* owned: [variable], lists by attributes; by
                                          times if domains grow */
    uint32_t *work;                    /* owned: a stack of clause numbers */
    size_t work_count;
    size_t work_capacity;
    struct esi_intervals allowed; /* scratch: allowed by one clause */
    struct esi_intervals scratch;
};

/* Returns 0 or -ENOMEM.  Must be followed by esi_candidate_sets_fini() in both
 * cases. */
int esi_candidate_sets_init(struct esi_candidate_sets *sets,
                            struct esi_bound *bound,
                            struct esi_universal *universal);
void esi_candidate_sets_fini(struct esi_candidate_sets *sets);
uint64_t esi_candidate_sets_bytes(const struct esi_candidate_sets *sets);

/* Stores the candidates of v, given the bound variables, and makes them its source.
 * Returns false if there are more than `limit`. */
bool esi_candidates_make(struct esi_candidate_sets *sets,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit);
/* Number of remaining values of v, as far as it is known. */
uint64_t esi_candidates_total(const struct esi_candidate_sets *sets, unsigned v);
/* Uses the candidates of v for all variables of its group. */
void esi_candidates_share(struct esi_candidate_sets *sets, unsigned v);

/* For growing domains: finds the only value that may remain of v, without a walk, if a
 * bound variable receives from it.  Returns 1, 0 if none remains, and -1 if a walk is
 * necessary. */
int esi_candidates_send(const struct esi_candidate_sets *sets,
                        unsigned v,
                        struct esi_domain_value *ret_value);

/* For growing domains: whether v's event is a partner of a bound variable's event. */
static inline bool esi_has_partner(const struct esi_bound *bound, unsigned v)
{
    return (bound->plan->senders[v] | bound->plan->receivers[v]) & bound->check.bound;
}

/* --- Constraints ------------------------------------------------------------------ */

/* The constraints of an unbound variable that its source does not include yet.  Clauses
 * are numbers on the stack. */
struct esi_restriction {
    unsigned v;
    uint64_t masked;  /* bound variables */
    uint64_t implied; /* bound variables, by implied masks */
    bool is_empty;    /* no values remain */
    int sender;       /* pinned variable whose event v receives; -1: none */
    int floor;        /* bound member of its group; -1: none */
    const struct esi_clause *limit; /* requires v before the pinned event with no
                                       value of a universal variable between them;
                                       NULL if there is none */
    bool is_listed;                 /* only values in `listed` may remain */
    struct esi_listed listed;
    struct esi_near_times times; /* to be tested for each value */
    bool is_timed;               /* rows are first excluded by time */
    bool is_beyond;              /* more values remain than the caller's limit */
    bool is_told;                /* source, list, times and masks decide completely */
    uint64_t befores;            /* of `masked`: v must be before them */
    uint64_t afters;
    size_t clauses; /* position of its clauses on the stack */
    size_t clause_count;
};

/* Adds the numbers of clauses to the stack.  If more than `limit` values remain,
 * is_beyond may be set (indexed_restriction.c). */
void esi_restriction_find(struct esi_candidate_sets *sets,
                          unsigned v,
                          uint64_t limit,
                          struct esi_restriction *restriction);
static inline bool esi_restriction_is_any(const struct esi_restriction *restriction)
{
    return restriction->is_empty || restriction->masked || restriction->floor >= 0 ||
           restriction->sender >= 0 || restriction->is_listed ||
           restriction->is_timed || restriction->clause_count > 0;
}

/* --- Walking the values of a variable --------------------------------------------- */

/* Iterates over the columns of a source, of a whole domain or of a list. */
struct esi_walk {
    struct esi_candidate_sets *sets;
    struct esi_restriction restriction;
    const struct esi_candidates *source;
    const struct esi_domain *domain;
    const struct esi_domain_value *listed; /* if set, `next` and `end` are positions
                                              in it */
    bool is_growing;                       /* the domain, of single events, grows */
    struct es_event_id known;              /* of the first of `befores` */
    const uint32_t *stamp; /* its cached row, NULL if there is none; valid while the
                              next row of the cache is `stamped` */
    uint64_t stamped;
    size_t next;
    size_t end;
};

/* If more than `limit` values remain, is_beyond may be set; then do not iterate. */
void esi_walk_begin(struct esi_walk *walk,
                    struct esi_candidate_sets *sets,
                    unsigned v,
                    uint64_t limit);
/* Returns the remaining intervals of the next non-empty column; false at the end. */
bool esi_walk_next(struct esi_walk *walk,
                   uint32_t *ret_slot,
                   struct esi_intervals *intervals);
/* Whether a value happened at a permitted time. */
static inline bool esi_walk_takes(const struct esi_walk *walk,
                                  struct esi_domain_value value)
{
    return esi_near_has(&walk->restriction.times, walk->domain, value);
}
/* Ends an iteration; in the reverse order of esi_walk_begin(). */
void esi_walk_end(struct esi_walk *walk);

#endif
