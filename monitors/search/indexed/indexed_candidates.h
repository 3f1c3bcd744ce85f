/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The values that bound variables leave to another one, column by column: walked as
 * they are found, or kept as the candidates of a variable until a variable is unbound.
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

/* All values that are left to a variable when `applied` are bound. */
struct esi_candidates {
    struct esi_range *ranges; /* owned; rising */
    size_t count;
    size_t capacity;
    uint64_t total;
    uint32_t slots;              /* that have any */
    uint64_t applied;            /* clauses of nothing but the variable are, too */
    struct esi_near_times times; /* as these say */
};

/* Those of all variables. */
struct esi_candidate_sets {
    struct esi_bound *bound; /* borrowed */
    struct esi_universal *universal;

    /* From which point on values are looked up by attributes depends on nothing but
     * the value of the first variable and what was done with it, so that the order of
     * matches is the same for any number of threads. */
    uint64_t ordinal;  /* of the value of the first variable, from 0 */
    uint64_t compared; /* comparisons with it that lookups might have saved */

    const struct esi_candidates **source; /* owned: [variable]; NULL: all values */
    struct esi_candidates *made;          /* owned: [depth][variable] */
    struct esi_intervals *columns;        /* owned: [depth], of what is walked */
    struct esi_domain_value *few;         /* owned: [variable], ESI_LISTED_FEW of each;
                                             NULL: domains do not grow */
    struct esi_domain_value *partners;    /* owned: [variable], that a bound one has */
    struct esi_sorted_list *lists;        /* owned: [variable], of attributes; where
                                             domains grow, of times */
    uint32_t *work;                       /* owned: a stack of numbers of clauses */
    size_t work_count;
    size_t work_capacity;
    struct esi_intervals allowed; /* by one clause */
    struct esi_intervals scratch;
};

/* 0 or -ENOMEM; it is to be ended in both cases. */
int esi_candidate_sets_init(struct esi_candidate_sets *sets,
                            struct esi_bound *bound,
                            struct esi_universal *universal);
void esi_candidate_sets_fini(struct esi_candidate_sets *sets);
uint64_t esi_candidate_sets_bytes(const struct esi_candidate_sets *sets);

/* Fills the candidates of v by what is bound, which become its source, unless there are
 * more than `limit`: then false. */
bool esi_candidates_make(struct esi_candidate_sets *sets,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit);
/* How many values are left to v as far as is known. */
uint64_t esi_candidates_total(const struct esi_candidate_sets *sets, unsigned v);
/* What is left to v is left to all of its group. */
void esi_candidates_share(struct esi_candidate_sets *sets, unsigned v);

/* While domains grow: whether a bound variable names v's event, or v's that. */
static inline bool esi_has_partner(const struct esi_bound *bound, unsigned v)
{
    return (bound->plan->senders[v] | bound->plan->receivers[v]) & bound->check.bound;
}

/* --- Walking the values of a variable --------------------------------------------- */

/* What has to be applied to an unbound variable that was not when its source was made:
 * clauses are numbers on the stack. */
struct esi_restriction {
    unsigned v;
    uint64_t masked;  /* bound variables */
    uint64_t implied; /* the same, by way of others */
    bool is_empty;    /* nothing is left */
    int sender;       /* pinned variable whose event v receives, -1 none */
    int floor;        /* bound member of its group, -1 none */
    const struct esi_clause *limit; /* v is before the pinned event, but no value of a
                                       universal variable between; NULL: none says so */
    bool is_listed;                 /* only `listed` may be left */
    struct esi_listed listed;
    struct esi_near_times times; /* each value is tested by that */
    bool is_timed;               /* so rows are to be left out first */
    bool is_beyond;              /* more values are left than somebody wants */
    bool is_told;                /* the source, the list, times and masks say it all */
    size_t clauses;              /* where they begin on the stack */
    size_t clause_count;
};

/* Walks the columns that a source has, or all of a domain, or what is listed. */
struct esi_walk {
    struct esi_candidate_sets *sets;
    struct esi_restriction restriction;
    const struct esi_candidates *source;
    const struct esi_domain *domain;
    const struct esi_domain_value *listed; /* then `next` and `end` are of it */
    size_t next;
    size_t end;
};

/* With more values left than `limit` it may be beyond: then it is not walked. */
void esi_walk_begin(struct esi_walk *walk,
                    struct esi_candidate_sets *sets,
                    unsigned v,
                    uint64_t limit);
/* False at the end; else what is left of the next column that has anything. */
bool esi_walk_next(struct esi_walk *walk,
                   uint32_t *ret_slot,
                   struct esi_intervals *intervals);
/* Whether one of these values happened when it has to. */
static inline bool esi_walk_takes(const struct esi_walk *walk,
                                  struct esi_domain_value value)
{
    const struct esi_near_times *times = &walk->restriction.times;
    int64_t first, last;

    return !times->is_bounded || (esi_domain_time(walk->domain, value, &first, &last) &&
                                  first >= times->from && first <= times->to);
}
/* In the reverse order of beginnings. */
void esi_walk_end(struct esi_walk *walk);

#endif
