/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_private.h - a live search and the queries it consists of. */
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

/* Matches of a query that wait until they are decided. */
struct esi_live_candidates {
    struct esi_live_candidate *items; /* owned */
    size_t count;
    size_t capacity;
    size_t eager_count; /* of these, that values may decide before the end */
    size_t next_sweep;  /* so many: those that were refused are looked for */
    uint64_t next_room; /* of events: at the limit it is looked again */
    bool has_counts;    /* some atom counts */
    uint64_t lost;
};

/* A support of a query's program. */
struct esi_live_support {
    struct esi_live_condition condition;
    struct esi_indexed *search; /* by the certain clauses of the weak form; NULL: it has
                                   no variables */
    bool is_lazy;               /* until the end values can only refuse a candidate */
    uint64_t never_last;        /* variables that an event cannot be as it comes */
};

/* The search of one predicate. */
struct esi_live_query {
    struct esi_live *live;
    struct esi_program *program;
    struct esi_live_support *supports;
    const struct esi_domain **domains; /* of variables */
    const struct esi_domain **counted; /* of atoms */
    struct esi_live_assignment assignment;
    struct esi_live_candidates candidates;
    uint64_t proved_at;   /* of esi_domains_meetings(), one more; 0: never */
    bool is_emitted_once; /* no match is found twice, so `seen` has none */
    struct esi_seen seen;
    struct esi_domain *sets;    /* its matches, if they are values of others */
    struct esi_match_sink sink; /* zeros: not wanted */
    bool has_enough;
    uint64_t matches;
    struct esi_event_list events; /* scratch: of a match */
};

/* Values that wait to be searched for. */
struct esi_joined_queue {
    struct esi_joined *items; /* owned */
    size_t from;              /* behind the one that is searched for */
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
    struct esi_live_query **wanted; /* of the predicates wanted */
    uint32_t wanted_count;
    struct esi_joined_queue queue;
    struct esi_stamp_cache stamps; /* that all queries share */
    struct esi_precedence precedence;
    struct esi_live_retention retention;
    bool has_begun;
    uint64_t events;
    uint64_t candidates; /* of all queries */
};

/* --- live.c ----------------------------------------------------------------------- */

/* A value joined: it is searched for when its turn comes.  0 or -ENOMEM. */
int esi_live_push(struct esi_live *live, const struct esi_joined *joined);
/* Whether a value waits behind the one that is searched for. */
bool esi_live_is_pending(const struct esi_live *live,
                         const struct esi_domain *domain,
                         struct es_event_id id);
/* The value of a domain: `id` as of esi_joined.  False: it is not there any more. */
bool esi_live_find_value(const struct esi_domain *domain,
                         struct es_event_id id,
                         struct esi_domain_value *ret_value);

/* --- query.c ---------------------------------------------------------------------- */

/* Takes the program, also if it fails; the queries of its inner predicates are there.
 * `is_value`: its matches are values of others. */
int esi_live_query_create(struct esi_live *live,
                          struct esi_program *program,
                          bool is_value,
                          struct esi_live_query **ret_query,
                          struct es_error *error);
/* Accepts NULL. */
void esi_live_query_destroy(struct esi_live_query *query);
/* Supports without existential variables wait from the beginning. */
int esi_live_query_begin(struct esi_live_query *query);
/* Searches for what a value that joined completes. */
int esi_live_query_joined(struct esi_live_query *query,
                          const struct esi_joined *joined);
/* What a variable is bound to, as of esi_joined. */
struct es_event_id esi_live_query_id(const struct esi_live_query *query,
                                     uint32_t variable);
/* A match whose variables are bound: it is emitted unless it was before. */
int esi_live_query_emit(struct esi_live_query *query, uint64_t variables);

/* --- candidates.c ----------------------------------------------------------------- */

/* An assignment that a support's search found, its variables bound: emits it, keeps it,
 * or neither. */
int esi_live_candidates_add(struct esi_live_query *query, uint32_t support);
/* A value joined that may decide some. */
int esi_live_candidates_update(struct esi_live_query *query,
                               const struct esi_joined *joined);
/* Removes those that values refused meanwhile. */
void esi_live_candidates_sweep(struct esi_live_query *query);
/* Removes those whose events were evicted. */
void esi_live_candidates_prune(struct esi_live_query *query);
/* At the end: all are decided. */
int esi_live_candidates_end(struct esi_live_query *query);
void esi_live_candidates_fini(struct esi_live_query *query);
uint64_t esi_live_candidates_bytes(const struct esi_live_query *query);

#endif
