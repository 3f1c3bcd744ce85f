/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_threads.c - one support searched by several threads.
 *
 * The values of the first variable are split into pieces that are numbered in their
 * order.  A worker takes one after the other; what it finds in the piece whose turn it
 * is goes to the matches at once, else it is kept until the pieces before are through.
 * So matches come in the same order for any number of threads.  Nobody runs further
 * ahead than a few pieces, or keeps more than a number of assignments.
 *
 * The plan, the domains and the order are only read.  `lock` guards all that is shared,
 * but the matches: these belong to whoever has the piece whose turn it is.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/now.h"
#include "monitors/patterns/indexed_searcher.h"
#include "monitors/patterns/indexed_threads.h"

enum {
    MOST_THREADS = 256,
    AHEAD = 8,             /* pieces for each thread */
    MOST_VALUES = 256,     /* of a piece */
    KEPT_VALUES = 1 << 18, /* in a buffer, before its worker waits for its turn */
    ALONE_NS = 2000000, /* so long nobody helps: starting threads would take longer */
    ALONE_PIECES = 16,  /* nor for longer than so many */
};

/* Assignments that wait for their turn: values of all variables of each. */
struct buffer {
    struct es_domain_value *values; /* owned */
    size_t count;
    size_t capacity;
};

/* A piece that was searched. */
struct done {
    bool is_there;
    struct buffer buffer;
};

struct shared {
    const struct esi_indexed_plans *plans;
    const struct esi_indexed_plan *plan;
    const struct es_program_support *support;
    const struct esi_searcher *prepared; /* by the calling thread, before all others */
    unsigned first;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool is_over;
    int result;
    struct esi_range *ranges; /* owned: of the first variable */
    size_t range_count;
    size_t next_range; /* where the next piece begins */
    uint32_t next_position;
    uint64_t next_number;
    _Atomic uint64_t turn;
    struct done *done; /* owned: [number % ahead] */
    uint64_t ahead;
    unsigned threads;
};

struct worker {
    struct shared *shared;
    struct esi_searcher *searcher; /* owned */
    struct esi_searcher **lesser;  /* owned: of lesser supports */
    bool is_direct;                /* alone: all goes to the matches at once */
    uint64_t alone_until_ns;       /* when others are to help; 0: they do */
    uint64_t number;               /* of its piece */
    struct buffer buffer;
    pthread_t thread;
};

/* --- Matches ---------------------------------------------------------------------- */

static int add_match(const struct shared *shared, const struct es_domain_value *values)
{
    return es_matches_add_times(shared->plans->task->matches, shared->plan->existential,
                                values, esi_indexed_multiplicity(shared->plan, values));
}

static int flush(const struct shared *shared, struct buffer *buffer)
{
    unsigned variables = shared->plan->variable_count;
    int result = 0;

    for (size_t i = 0; result == 0 && i < buffer->count; i += variables)
        result = add_match(shared, buffer->values + i);
    buffer->count = 0;
    return result;
}

static int keep(struct buffer *buffer,
                const struct es_domain_value *values,
                unsigned count)
{
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = 2 * (buffer->count + count);
        struct es_domain_value *larger =
            realloc(buffer->values, capacity * sizeof *larger);

        if (!larger)
            return -ENOMEM;
        buffer->values = larger;
        buffer->capacity = capacity;
    }
    memcpy(buffer->values + buffer->count, values, count * sizeof *values);
    buffer->count += count;
    return 0;
}

static bool is_turn(struct worker *worker)
{
    /* Pairs with the release in end_turns(): what was done to the matches is seen. */
    return atomic_load_explicit(&worker->shared->turn, memory_order_acquire) ==
           worker->number;
}

static bool wait_for_turn(struct worker *worker)
{
    struct shared *shared = worker->shared;

    pthread_mutex_lock(&shared->lock);
    while (!is_turn(worker) && !atomic_load(&shared->is_over))
        pthread_cond_wait(&shared->changed, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
    return is_turn(worker);
}

/* No lesser support matches (patterns.md, D6). */
static bool is_minimal(struct worker *worker, const struct es_domain_value *values)
{
    for (size_t i = 0; i < worker->shared->support->lesser_count; i++) {
        if (esi_searcher_holds(worker->lesser[i], values, ESI_INDEXED_ALL))
            return false;
        if (worker->lesser[i]->error)
            worker->searcher->error = worker->lesser[i]->error;
    }
    return true;
}

static int found(void *data, const struct es_domain_value *values)
{
    struct worker *worker = data;
    struct shared *shared = worker->shared;
    int result = 0;

    if (!is_minimal(worker, values))
        return ESI_INDEXED_REJECTED;
    if (worker->is_direct)
        return add_match(shared, values);
    if (!is_turn(worker)) {
        if (worker->buffer.count < KEPT_VALUES)
            return keep(&worker->buffer, values, shared->plan->variable_count);
        if (!wait_for_turn(worker))
            return 1;
    }
    result = flush(shared, &worker->buffer);
    return result != 0 ? result : add_match(shared, values);
}

/* --- Pieces ----------------------------------------------------------------------- */

struct piece {
    size_t range;
    uint32_t position;
    uint32_t count;
};

static bool has_more(const struct shared *shared)
{
    return shared->next_range < shared->range_count;
}

/* Small at first, so that a first match is found soon. */
static uint32_t size_of_piece(const struct shared *shared)
{
    uint64_t size = 1 + shared->next_number / shared->threads;

    return size < MOST_VALUES ? (uint32_t)size : MOST_VALUES;
}

static void advance(struct shared *shared, uint32_t count)
{
    while (count > 0 && has_more(shared)) {
        const struct esi_range *range = &shared->ranges[shared->next_range];
        uint32_t left = range->end - shared->next_position;

        if (count < left) {
            shared->next_position += count;
            return;
        }
        count -= left;
        if (++shared->next_range < shared->range_count)
            shared->next_position = shared->ranges[shared->next_range].begin;
    }
}

/* False: nothing is left to be taken. */
static bool take_piece(struct worker *worker, struct piece *ret_piece)
{
    struct shared *shared = worker->shared;
    bool is_taken;

    pthread_mutex_lock(&shared->lock);
    while (has_more(shared) && !atomic_load(&shared->is_over) &&
           shared->next_number >= atomic_load(&shared->turn) + shared->ahead)
        pthread_cond_wait(&shared->changed, &shared->lock);
    is_taken = has_more(shared) && !atomic_load(&shared->is_over);
    if (is_taken) {
        *ret_piece = (struct piece){shared->next_range, shared->next_position,
                                    size_of_piece(shared)};
        worker->number = shared->next_number++;
        advance(shared, ret_piece->count);
    }
    pthread_mutex_unlock(&shared->lock);
    return is_taken;
}

static int search_piece(struct worker *worker, struct piece piece)
{
    const struct shared *shared = worker->shared;
    size_t range = piece.range;
    uint32_t position = piece.position;
    int result = 0;

    for (; result == 0 && piece.count > 0 && range < shared->range_count;
         piece.count--) {
        struct es_domain_value value = {shared->ranges[range].slot, position};

        result = esi_searcher_try(worker->searcher, 0, shared->first, value);
        if (result == 0)
            result = worker->searcher->error;
        if (++position == shared->ranges[range].end && ++range < shared->range_count)
            position = shared->ranges[range].begin;
    }
    return result;
}

static void end_search(struct shared *shared, int result)
{
    if (!atomic_load(&shared->is_over))
        shared->result = result;
    atomic_store(&shared->is_over, true);
}

/* Gives to the matches all that is done and whose turn has come.  The lock is held, but
 * while matches are told. */
static void end_turns(struct shared *shared)
{
    struct done *done = &shared->done[atomic_load(&shared->turn) % shared->ahead];

    while (done->is_there && !atomic_load(&shared->is_over)) {
        struct buffer buffer = done->buffer;
        int result;

        pthread_mutex_unlock(&shared->lock);
        result = flush(shared, &buffer);
        free(buffer.values);
        pthread_mutex_lock(&shared->lock);
        *done = (struct done){.is_there = false};
        if (result != 0)
            end_search(shared, result);
        /* Whoever sees its turn sees the matches as they are now. */
        atomic_fetch_add_explicit(&shared->turn, 1, memory_order_release);
        pthread_cond_broadcast(&shared->changed);
        done = &shared->done[atomic_load(&shared->turn) % shared->ahead];
    }
}

static void finish_piece(struct worker *worker, int result)
{
    struct shared *shared = worker->shared;

    pthread_mutex_lock(&shared->lock);
    if (result != 0) {
        end_search(shared, result);
        pthread_cond_broadcast(&shared->changed);
    } else {
        shared->done[worker->number % shared->ahead] =
            (struct done){.is_there = true, .buffer = worker->buffer};
        worker->buffer = (struct buffer){.values = NULL};
        if (is_turn(worker))
            end_turns(shared);
    }
    pthread_mutex_unlock(&shared->lock);
}

/* Whoever works alone finds out whether there is work for more. */
static bool is_alone_for_long(const struct worker *worker)
{
    return worker->alone_until_ns > 0 &&
           (worker->number >= ALONE_PIECES ||
            es_now_ns(CLOCK_MONOTONIC) >= worker->alone_until_ns);
}

static void *work(void *data)
{
    struct worker *worker = data;
    struct piece piece;

    while (!is_alone_for_long(worker) && take_piece(worker, &piece))
        finish_piece(worker, search_piece(worker, piece));
    return NULL;
}

/* --- Workers ---------------------------------------------------------------------- */

static bool is_over(void *data)
{
    const struct worker *worker = data;
    struct shared *shared = worker->shared;

    return atomic_load_explicit(&shared->is_over, memory_order_relaxed) ||
           es_search_is_over(shared->plans->task->config);
}

static void worker_fini(struct worker *worker)
{
    for (size_t i = 0; worker->lesser && i < worker->shared->support->lesser_count; i++)
        esi_searcher_destroy(worker->lesser[i]);
    free(worker->lesser);
    esi_searcher_destroy(worker->searcher);
    free(worker->buffer.values);
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
    worker->searcher->found = found;
    worker->searcher->found_data = worker;
    worker->searcher->is_over = is_over;
    worker->searcher->over_data = worker;
    worker->searcher->may_settle = count == 0;
    return 0;
}

static void take_statistics(const struct worker *worker)
{
    struct es_search_statistics *statistics = worker->shared->plans->task->statistics;

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
static void inherit(struct worker *worker)
{
    const struct esi_searcher *prepared = worker->shared->prepared;
    struct esi_searcher *searcher = worker->searcher;

    memcpy(searcher->source, prepared->source, sizeof searcher->source);
    memcpy(searcher->values, prepared->values, sizeof searcher->values);
    searcher->settled = prepared->settled;
    esi_searcher_share(searcher, worker->shared->first);
}

/* --- Several threads -------------------------------------------------------------- */

static int list_ranges(struct shared *shared)
{
    const struct esi_candidates *source = shared->prepared->source[shared->first];
    const struct es_domain *domain = shared->plan->domains[shared->first];
    size_t count = source ? source->count : es_domain_slots(domain);

    shared->ranges = calloc(count + 1, sizeof *shared->ranges);
    if (!shared->ranges)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)i;
        struct esi_range range =
            source ? source->ranges[i]
                   : (struct esi_range){slot, 0, es_domain_column(domain, slot).count};

        if (range.begin < range.end)
            shared->ranges[shared->range_count++] = range;
    }
    if (shared->range_count > 0)
        shared->next_position = shared->ranges[0].begin;
    return 0;
}

static int shared_begin(struct shared *shared)
{
    int result = list_ranges(shared);

    shared->ahead = AHEAD * (uint64_t)shared->threads;
    shared->done = calloc(shared->ahead, sizeof *shared->done);
    if (!shared->done)
        result = -ENOMEM;
    if (result == 0)
        result = -pthread_mutex_init(&shared->lock, NULL);
    if (result < 0)
        return result;
    result = -pthread_cond_init(&shared->changed, NULL);
    if (result < 0)
        pthread_mutex_destroy(&shared->lock);
    return result;
}

static void shared_end(struct shared *shared)
{
    for (uint64_t i = 0; i < shared->ahead; i++)
        free(shared->done[i].buffer.values);
    pthread_cond_destroy(&shared->changed);
    pthread_mutex_destroy(&shared->lock);
}

static void cancel(struct shared *shared, int result)
{
    pthread_mutex_lock(&shared->lock);
    end_search(shared, result);
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}

static int add_worker(struct shared *shared, struct worker *workers, unsigned *count)
{
    int result = worker_init(&workers[*count], shared);

    if (result == 0)
        inherit(&workers[(*count)++]);
    return result;
}

static bool is_done_alone(struct worker *worker)
{
    struct shared *shared = worker->shared;

    worker->alone_until_ns = es_now_ns(CLOCK_MONOTONIC) + ALONE_NS;
    work(worker);
    worker->alone_until_ns = 0;
    return !has_more(shared) || atomic_load(&shared->is_over);
}

static int start_helpers(struct shared *shared, struct worker *workers, unsigned *count)
{
    int result = 0;

    while (result == 0 && *count < shared->threads) {
        result = add_worker(shared, workers, count);
        if (result == 0) {
            result = -pthread_create(&workers[*count - 1].thread, NULL, work,
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
            cancel(shared, result);
        work(&workers[0]);
        for (unsigned i = 1; i < count; i++)
            pthread_join(workers[i].thread, NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        take_statistics(&workers[i]);
        worker_fini(&workers[i]);
    }
    return result < 0 ? result : shared->result;
}

static int search_beside(struct shared *shared)
{
    struct worker *workers = calloc(shared->threads, sizeof *workers);
    int result = workers ? shared_begin(shared) : -ENOMEM;

    if (result == 0) {
        result = run_workers(shared, workers);
        shared_end(shared);
    }
    free(shared->ranges);
    free(shared->done);
    free(workers);
    return result;
}

/* --- One support ------------------------------------------------------------------ */

static unsigned threads_of(const struct es_search_config *config)
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
    if (shared.plan->existential)
        shared.first = esi_indexed_plan_first(shared.plan);
    if (may_have_helpers(&shared))
        result = search_prepared(&shared, &worker);
    else
        result = esi_searcher_all(worker.searcher);
    if (result == 0)
        result = worker.searcher->error;
    take_statistics(&worker);
    worker_fini(&worker);
    return result;
}
