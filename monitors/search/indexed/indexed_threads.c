/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_threads.c - one support searched by several threads, each of which takes
 * pieces of the values of the first variable (indexed_pieces.h): matches come in the
 * same order for any number of threads.
 *
 * The plan, the domains and the order are only read.  The calling thread begins alone:
 * others are started when it turns out that there is work for them.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "monitors/search/indexed/indexed_pieces.h"
#include "monitors/search/indexed/indexed_searcher.h"
#include "monitors/search/indexed/indexed_threads.h"

enum {
    MOST_THREADS = 256,
    ALONE_NS = 2000000, /* so long nobody helps: starting threads would take longer */
};

struct shared {
    const struct esi_indexed_plans *plans;
    const struct esi_indexed_plan *plan;
    const struct esi_program_support *support;
    const struct esi_searcher *prepared; /* by the calling thread, before all others */
    unsigned first;
    unsigned threads;
    struct esi_pieces pieces;
};

struct worker {
    struct shared *shared;
    struct esi_searcher *searcher; /* owned */
    struct esi_searcher **lesser;  /* owned: of lesser supports */
    bool is_direct;                /* no pieces: all goes to the matches at once */
    uint64_t alone_until_ns;       /* when others are to help; 0: they do */
    struct esi_piece piece;
    pthread_t thread;
};

/* --- Matches ---------------------------------------------------------------------- */

static int add_match(void *data, const struct esi_domain_value *values)
{
    const struct shared *shared = data;

    return esi_matches_add_times(shared->plans->task->matches,
                                 shared->plan->existential, values,
                                 esi_indexed_multiplicity(shared->plan, values));
}

static int on_found(void *data, const struct esi_domain_value *values)
{
    struct worker *worker = data;
    struct shared *shared = worker->shared;

    return worker->is_direct ? add_match(shared, values)
                             : esi_pieces_give(&shared->pieces, &worker->piece, values);
}

static uint64_t variables_of_lesser(const struct worker *worker, size_t i)
{
    const struct shared *shared = worker->shared;

    return shared->plans->task->program->supports[shared->support->lesser[i]].variables;
}

static bool lesser_holds(struct worker *worker, size_t i)
{
    struct esi_searcher *lesser = worker->lesser[i];
    bool holds = esi_searcher_holds(lesser, worker->searcher->values, ESI_INDEXED_ALL);

    if (lesser->error)
        worker->searcher->error = lesser->error;
    return holds;
}

/* A lesser support that matches leaves nothing for this one (docs/decisions.md, D6):
 * each is asked as soon as its last variable is bound. */
static bool is_refused(void *data, unsigned v)
{
    struct worker *worker = data;

    for (size_t i = 0; i < worker->shared->support->lesser_count; i++) {
        uint64_t variables = variables_of_lesser(worker, i);

        if (variables >> v & 1 && !(variables & ~worker->searcher->check.bound) &&
            lesser_holds(worker, i))
            return true;
    }
    return false;
}

/* --- Pieces ----------------------------------------------------------------------- */

static int try_value(void *data, struct esi_domain_value value, uint64_t ordinal)
{
    struct worker *worker = data;
    struct esi_searcher *searcher = worker->searcher;
    int result;

    searcher->ordinal = ordinal;
    result = esi_searcher_try(searcher, 0, worker->shared->first, value);
    return result != 0 ? result : searcher->error;
}

/* Whoever works alone finds out whether there is work for more. */
static bool is_alone_for_long(const struct worker *worker)
{
    return worker->alone_until_ns > 0 &&
           esi_now_ns(CLOCK_MONOTONIC) >= worker->alone_until_ns;
}

static void *run_worker(void *data)
{
    struct worker *worker = data;
    struct esi_pieces *pieces = &worker->shared->pieces;

    while (!is_alone_for_long(worker) && esi_pieces_take(pieces, &worker->piece)) {
        int result = esi_pieces_walk(pieces, &worker->piece, try_value, worker);

        esi_pieces_finish(pieces, &worker->piece, result);
    }
    return NULL;
}

/* --- Workers ---------------------------------------------------------------------- */

static bool is_over(void *data)
{
    const struct worker *worker = data;

    return (!worker->is_direct && esi_pieces_are_over(&worker->shared->pieces)) ||
           esi_search_is_over(worker->shared->plans->task->config);
}

static void worker_fini(struct worker *worker)
{
    for (size_t i = 0; worker->lesser && i < worker->shared->support->lesser_count; i++)
        esi_searcher_destroy(worker->lesser[i]);
    free(worker->lesser);
    esi_searcher_destroy(worker->searcher);
}

static int worker_init(struct worker *worker, struct shared *shared)
{
    size_t count = shared->support->lesser_count;
    int result;

    *worker = (struct worker){.shared = shared};
    worker->lesser = calloc(count + 1, sizeof *worker->lesser);
    result =
        worker->lesser ? esi_searcher_create(shared->plan, &worker->searcher) : -ENOMEM;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = esi_searcher_create(shared->plans->items[shared->support->lesser[i]],
                                     &worker->lesser[i]);
    if (result < 0) {
        worker_fini(worker);
        return result;
    }
    worker->searcher->found = on_found;
    worker->searcher->found_data = worker;
    worker->searcher->is_over = is_over;
    worker->searcher->over_data = worker;
    worker->searcher->may_settle = count == 0;
    if (count > 0) {
        worker->searcher->is_refused = is_refused;
        worker->searcher->refused_data = worker;
    }
    return 0;
}

static void take_statistics(const struct worker *worker)
{
    struct esi_search_statistics *statistics = worker->shared->plans->task->statistics;

    statistics->comparisons += worker->searcher->precedence.comparisons;
    statistics->unknown += worker->searcher->precedence.unknown;
    statistics->backtracks += worker->searcher->backtracks;
    statistics->bytes += esi_searcher_bytes(worker->searcher);
    for (size_t i = 0; i < worker->shared->support->lesser_count; i++) {
        statistics->comparisons += worker->lesser[i]->precedence.comparisons;
        statistics->unknown += worker->lesser[i]->precedence.unknown;
        statistics->bytes += esi_searcher_bytes(worker->lesser[i]);
    }
}

/* What the calling thread found out already. */
static void inherit_order(struct worker *worker)
{
    const struct esi_searcher *prepared = worker->shared->prepared;
    struct esi_searcher *searcher = worker->searcher;

    memcpy(searcher->source, prepared->source, sizeof searcher->source);
    memcpy(searcher->values, prepared->values, sizeof searcher->values);
    searcher->settled = prepared->settled;
    esi_searcher_share(searcher, worker->shared->first);
}

/* --- Several threads -------------------------------------------------------------- */

static int add_worker(struct shared *shared, struct worker *workers, unsigned *count)
{
    int result = worker_init(&workers[*count], shared);

    if (result == 0)
        inherit_order(&workers[(*count)++]);
    return result;
}

static bool is_done_alone(struct worker *worker)
{
    const struct esi_pieces *pieces = &worker->shared->pieces;

    if (worker->shared->plan->without & ES_INDEXED_ALONE)
        return false;
    worker->alone_until_ns = esi_now_ns(CLOCK_MONOTONIC) + ALONE_NS;
    run_worker(worker);
    worker->alone_until_ns = 0;
    return esi_pieces_are_taken(pieces) || esi_pieces_are_over(pieces);
}

static int start_helpers(struct shared *shared, struct worker *workers, unsigned *count)
{
    int result = 0;

    while (result == 0 && *count < shared->threads) {
        result = add_worker(shared, workers, count);
        if (result == 0) {
            result = -pthread_create(&workers[*count - 1].thread, NULL, run_worker,
                                     &workers[*count - 1]);
            if (result < 0)
                worker_fini(&workers[--*count]);
        }
    }
    /* With fewer threads than were asked for it only takes longer. */
    return result == -ENOMEM ? -ENOMEM : 0;
}

/* The calling thread is one of them. */
static int run_workers(struct shared *shared, struct worker *workers)
{
    unsigned count = 0;
    int result = add_worker(shared, workers, &count);

    if (result == 0 && !is_done_alone(&workers[0])) {
        result = start_helpers(shared, workers, &count);
        if (result < 0)
            esi_pieces_cancel(&shared->pieces, result);
        run_worker(&workers[0]);
        for (unsigned i = 1; i < count; i++)
            pthread_join(workers[i].thread, NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        take_statistics(&workers[i]);
        worker_fini(&workers[i]);
    }
    return result < 0 ? result : shared->pieces.result;
}

static int search_beside(struct shared *shared)
{
    const struct esi_pieces_work pieces = {
        .domain = shared->plan->domains[shared->first],
        .source = shared->prepared->source[shared->first],
        .threads = shared->threads,
        .variables = shared->plan->variable_count,
        .give = add_match,
        .data = shared,
    };
    struct worker *workers = calloc(shared->threads, sizeof *workers);
    int result = workers ? esi_pieces_init(&shared->pieces, &pieces) : -ENOMEM;

    if (result == 0) {
        result = run_workers(shared, workers);
        esi_pieces_fini(&shared->pieces);
    }
    free(workers);
    return result;
}

/* --- One support ------------------------------------------------------------------ */

static unsigned threads_of(const struct esi_search_config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = config->threads;

    if (threads == 0)
        threads = cores > 0 ? (unsigned)cores : 1;
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* What is not returned is looked for once. */
static bool may_have_helpers(const struct shared *shared)
{
    return shared->threads > 1 && shared->plan->returned;
}

static int search_prepared(struct shared *shared, struct worker *worker)
{
    struct esi_searcher *searcher = worker->searcher;

    if (!esi_searcher_may_begin(searcher) || searcher->error)
        return searcher->error;
    esi_searcher_narrow(searcher);
    if (searcher->may_settle && !esi_searcher_settle(searcher))
        return searcher->error;
    if (searcher->error)
        return searcher->error;
    shared->prepared = searcher;
    return search_beside(shared);
}

/* Whether a lesser support without variables matches. */
static bool is_never_minimal(struct worker *worker)
{
    for (size_t i = 0; i < worker->shared->support->lesser_count; i++)
        if (!variables_of_lesser(worker, i) && lesser_holds(worker, i))
            return true;
    return false;
}

static int search_support(struct shared *shared, struct worker *worker)
{
    if (is_never_minimal(worker))
        return 0;
    if (shared->plan->existential)
        shared->first = esi_indexed_plan_first(shared->plan);
    return may_have_helpers(shared) ? search_prepared(shared, worker)
                                    : esi_searcher_all(worker->searcher);
}

int esi_indexed_threads_search(const struct esi_indexed_plans *plans, uint32_t support)
{
    struct shared shared = {
        .plans = plans,
        .plan = plans->items[support],
        .support = &plans->task->program->supports[support],
        .threads = threads_of(plans->task->config),
    };
    struct worker worker;
    int result = worker_init(&worker, &shared);

    if (result < 0)
        return result;
    worker.is_direct = true;
    result = search_support(&shared, &worker);
    if (result == 0)
        result = worker.searcher->error;
    take_statistics(&worker);
    worker_fini(&worker);
    return result;
}
