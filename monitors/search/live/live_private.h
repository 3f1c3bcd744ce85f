/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_private.h - a live search and its queries. */
#ifndef ES_MONITORS_SEARCH_LIVE_LIVE_PRIVATE_H
#define ES_MONITORS_SEARCH_LIVE_LIVE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/domains/domains.h"
#include "monitors/search/domains/precedence.h"
#include "monitors/search/indexed/indexed.h"
#include "monitors/search/live/condition.h"
#include "monitors/search/live/live.h"
#include "monitors/search/live/retention.h"
#include "monitors/search/live/seen.h"
#include "monitors/search/truth/event_list.h"

/* Matches of a query that wait to be decided. */
struct esi_live_candidates {
    struct esi_live_candidate *items; /* owned */
    size_t count;
    size_t capacity;
    size_t eager_count; /* candidates that values may decide before the end */
    size_t next_sweep;  /* number of candidates at which refused ones are removed */
    uint64_t next_room; /* number of events at which to try again when at the limit */
    bool has_counts;    /* some atom counts */
    uint64_t lost;
};

/* One disjunct of a query's program. */
struct esi_live_disjunct {
    struct esi_live_condition condition;
    struct esi_indexed *search; /* searches by the certain clauses of the weak form;
                                   NULL if the disjunct has no variables */
    bool is_lazy;               /* before the end, values can only refuse a candidate */
    bool is_decided;     /* whatever the search finds is a match, if all relations are
                        known */
    uint64_t never_last; /* variables that an event cannot bind when it arrives */
    uint64_t partnered; /* variables whose partners decide whether a search may match */
};

/* A domain, and the variables that take its values; none if they are only counted. */
struct esi_live_use {
    const struct esi_domain *domain;
    uint64_t variables;
};

/* The search of one predicate. */
struct esi_live_query {
    struct esi_live *live;
    struct esi_program *program;
    struct esi_live_disjunct *disjuncts;
    const struct esi_domain **domains; /* by variable */
    const struct esi_domain **counted; /* by atom */
    struct esi_live_use *uses;         /* owned: each domain once */
    uint32_t use_count;
    uint64_t returned; /* variables */
    struct esi_live_assignment assignment;
    struct esi_live_candidates candidates;
    uint64_t proved_at;   /* esi_domains_meetings() + 1 at the last proof; 0: never */
    bool is_emitted_once; /* no match is found twice, so `seen` is empty */
    struct esi_seen seen;
    struct esi_domain *sets; /* its matches, if they are values of other predicates */
    struct esi_match_sink sink; /* zeros if not wanted */
    bool has_enough;
    uint64_t matches;
    struct esi_event_list events; /* scratch: the events of a match */
};

/* Values that wait for their searches. */
struct esi_joined_queue {
    struct esi_joined *items; /* owned */
    size_t from;              /* position after the value being searched for */
    size_t count;
    size_t capacity;
};

struct esi_live {
    const struct es_pattern_file *file; /* borrowed */
    struct es_order *order;             /* borrowed */
    struct esi_live_config config;
    struct esi_domains *domains;
    struct es_set_sink order_sink;
    struct es_set_sink domains_sink;
    struct esi_live_query **queries; /* owned; inner predicates before their users */
    uint32_t query_count;
    struct esi_live_query **wanted; /* queries of the predicates wanted */
    uint32_t wanted_count;
    struct esi_joined_queue queue;
    struct esi_stamp_cache stamps; /* shared by all queries */
    struct esi_precedence precedence;
    struct esi_live_retention retention;
    bool has_begun;
    uint64_t events;
    uint64_t candidates; /* of all queries */
};

/* --- live.c ----------------------------------------------------------------------- */

/* Queues a value that has joined for its search.  Returns 0 or -ENOMEM. */
int esi_live_push(struct esi_live *live, const struct esi_joined *joined);
/* Whether a value waits after the one being searched for. */
bool esi_live_is_pending(const struct esi_live *live,
                         const struct esi_domain *domain,
                         struct es_event_id id);
/* Finds the value of a domain; `id` is that of an esi_joined.  False if it has been
 * dropped. */
bool esi_live_find_value(const struct esi_domain *domain,
                         struct es_event_id id,
                         struct esi_domain_value *ret_value);

/* --- query.c ---------------------------------------------------------------------- */

/* Takes ownership of the program, even on failure.  The queries of inner predicates
 * must exist.  `is_value` means that the matches are values of other predicates. */
int esi_live_query_create(struct esi_live *live,
                          struct esi_program *program,
                          bool is_value,
                          struct esi_live_query **ret_query,
                          struct es_error *error);
/* Accepts NULL. */
void esi_live_query_destroy(struct esi_live_query *query);
/* Adds disjuncts without existential variables to the candidates. */
int esi_live_query_begin(struct esi_live_query *query);
/* NULL if the query does not use the domain. */
static inline const struct esi_live_use *esi_live_query_use(
    const struct esi_live_query *query,
    const struct esi_domain *domain)
{
    for (uint32_t i = 0; i < query->use_count; i++)
        if (query->uses[i].domain == domain)
            return &query->uses[i];
    return NULL;
}
/* Searches for assignments that a new value completes.  `use` is that of its domain;
 * without it, only candidates may change. */
int esi_live_query_joined(struct esi_live_query *query,
                          const struct esi_live_use *use,
                          const struct esi_joined *joined);
/* The value bound to a variable, as the id of an esi_joined. */
struct es_event_id esi_live_query_id(const struct esi_live_query *query,
                                     uint32_t variable);
/* Reports the match of the bound variables, unless it was reported before. */
int esi_live_query_emit(struct esi_live_query *query, uint64_t variables);

/* --- candidates.c ----------------------------------------------------------------- */

/* Takes an assignment found by a disjunct's search, with its variables bound: reports
 * it, keeps it as a candidate, or discards it. */
int esi_live_candidates_add(struct esi_live_query *query, uint32_t disjunct);
/* Checks the candidates, of which there is one or more, that a new value may decide. */
int esi_live_candidates_update(struct esi_live_query *query,
                               const struct esi_joined *joined);
/* Removes candidates that values have refused. */
void esi_live_candidates_sweep(struct esi_live_query *query);
/* Removes candidates whose events were evicted. */
void esi_live_candidates_prune(struct esi_live_query *query);
/* Decides all candidates at the end. */
int esi_live_candidates_end(struct esi_live_query *query);
void esi_live_candidates_fini(struct esi_live_query *query);
uint64_t esi_live_candidates_bytes(const struct esi_live_query *query);

#endif
