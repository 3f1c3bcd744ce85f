/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_search.c - selects the events that a pattern file needs, and searches
 * them. */
#include "config.h"

#include "eventspace/search.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/search.h"

struct es_search {
    const struct es_pattern_file *file; /* borrowed */
    const struct es_order *order;       /* borrowed */
    struct esi_domains *domains;
    uint64_t time_limit_ns; /* 0 = none */
    atomic_bool is_cancelled;
    struct esi_search_config config;
};

int es_search_create(const struct es_pattern_file *file,
                     const struct es_order *order,
                     struct es_error *error,
                     struct es_search **ret_search)
{
    struct es_search *search = calloc(1, sizeof *search);
    int result = -ENOMEM;

    if (search)
        result = esi_domains_create(file, NULL, NULL, &search->domains, error);
    if (result < 0) {
        free(search);
        return es_error_set(error, result, "%s", strerror(-result));
    }
    search->file = file;
    search->order = order;
    esi_search_config_init(&search->config);
    atomic_init(&search->is_cancelled, false);
    search->config.is_cancelled = &search->is_cancelled;
    *ret_search = search;
    return 0;
}

void es_search_destroy(struct es_search *search)
{
    if (!search)
        return;
    esi_domains_destroy(search->domains);
    free(search);
}

/* --- Events ----------------------------------------------------------------------- */

bool es_search_needs_attributes(const struct es_search *search)
{
    return esi_domains_need_attributes(search->domains);
}

struct es_set_sink es_search_sink(struct es_search *search)
{
    return esi_domains_sink(search->domains);
}

/* --- Limits ----------------------------------------------------------------------- */

void es_search_set_limit(struct es_search *search, uint64_t matches)
{
    search->config.limit = matches;
}

void es_search_set_time_limit(struct es_search *search, uint64_t nanoseconds)
{
    search->time_limit_ns = nanoseconds;
}

void es_search_set_threads(struct es_search *search, unsigned threads)
{
    search->config.threads = threads;
}

void es_search_cancel(struct es_search *search)
{
    atomic_store_explicit(&search->is_cancelled, true, memory_order_relaxed);
}

/* --- Finding ---------------------------------------------------------------------- */

int es_search_find(struct es_search *search,
                   uint32_t predicate,
                   int (*match)(void *data,
                                const struct es_event_id *events,
                                size_t count),
                   void *data,
                   struct es_error *error)
{
    const struct esi_match_sink sink = {.match = match, .data = data};
    struct esi_search_statistics statistics;
    int result;

    if (predicate >= es_pattern_predicates(search->file))
        return es_error_set(error, -EINVAL, "the pattern file has no such predicate");
    result = esi_domains_finish(search->domains);
    search->config.deadline_ns = 0;
    if (search->time_limit_ns)
        search->config.deadline_ns =
            esi_now_ns(CLOCK_MONOTONIC) + search->time_limit_ns;
    if (result == 0)
        result = esi_search_run(search->file, predicate, search->domains, search->order,
                                &search->config, &sink, &statistics, error);
    if (result < 0)
        return es_error_set(error, result, "%s", strerror(-result));
    return statistics.is_complete;
}
