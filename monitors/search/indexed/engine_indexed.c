/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * engine_indexed.c - the engine "indexed": searches each disjunct by ranges, with
 * several threads.
 *
 * The values of the first variable are divided into pieces, numbered in order; each
 * thread takes one piece after the other.  The results of the piece whose turn it is
 * are reported immediately; those of later pieces are buffered.  So the order of
 * matches does not depend on the number of threads.  The thread that finishes the piece
 * whose turn it is also reports the buffers of the following finished pieces, and then
 * advances the turn.  Threads run ahead by a limited number of pieces and buffer a
 * limited number of assignments.
 *
 * The plan, the domains and the order are only read.  The calling thread starts alone;
 * others are started once it is clear that there is work for them.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "monitors/search/engine.h"
#include "monitors/search/indexed/indexed_candidates.h"
#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/indexed/indexed_search.h"
#include "monitors/search/indexed/indexed_select.h"

enum {
    AHEAD = 8,                 /* pieces per thread */
    MOST_VALUES = 256,         /* per piece */
    BUFFERED_VALUES = 1 << 18, /* per buffer; beyond it the thread waits for its turn */
};

enum { MOST_THREADS = 256 };

/* --- Pieces ----------------------------------------------------------------------- */

/* The work and the receiver of its results. */
struct pieces_work {
    const struct esi_domain *domain;
    const struct esi_candidates *source; /* its remaining values; NULL: all */
    unsigned threads;
    unsigned variables; /* number of variables per assignment */
    int (*report)(void *data, const struct esi_domain_value *values);
    void *data; /* used by one thread at a time */
};

/* Assignments that wait for their turn. */
struct pieces_buffer {
    struct esi_domain_value *values; /* owned: all variables of each assignment */
    size_t count;
    size_t capacity;
};

/* `count` values, from `position` in a range on. */
struct work_piece {
    uint64_t number;
    uint64_t ordinal; /* index of the first value, from 0 */
    size_t range;
    uint32_t position;
    uint32_t count;
    struct pieces_buffer buffer; /* owned until the piece is finished */
};

/* A piece that was searched before its turn. */
struct pieces_done {
    bool is_there;
    struct pieces_buffer buffer;
};

struct pieces {
    struct pieces_work work;
    struct esi_range *ranges; /* owned */
    size_t range_count;

    pthread_mutex_t lock; /* protects all fields below, except reads of `turn` and
                             `is_over` */
    pthread_cond_t changed;
    atomic_bool is_over;
    int result;
    struct work_piece next; /* where the next piece begins */
    _Atomic uint64_t turn;
    struct pieces_done *done; /* owned: [number % ahead] */
    uint64_t ahead;
};

/* --- Start and end ---------------------------------------------------------------- */

static int list_ranges(struct pieces *pieces)
{
    const struct esi_candidates *source = pieces->work.source;
    const struct esi_domain *domain = pieces->work.domain;
    size_t count = source ? source->count : esi_domain_slots(domain);

    pieces->ranges = calloc(count + 1, sizeof *pieces->ranges);
    if (!pieces->ranges)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)i;
        struct esi_range range =
            source ? source->ranges[i]
                   : (struct esi_range){slot, 0, esi_domain_column(domain, slot).count};

        if (range.begin < range.end)
            pieces->ranges[pieces->range_count++] = range;
    }
    if (pieces->range_count > 0)
        pieces->next.position = pieces->ranges[0].begin;
    return 0;
}

static int prepare_pieces(struct pieces *pieces)
{
    int result = list_ranges(pieces);

    pieces->ahead = AHEAD * (uint64_t)pieces->work.threads;
    pieces->done = calloc(pieces->ahead, sizeof *pieces->done);
    if (!pieces->done)
        result = -ENOMEM;
    if (result == 0)
        result = -pthread_mutex_init(&pieces->lock, NULL);
    if (result < 0)
        return result;
    result = -pthread_cond_init(&pieces->changed, NULL);
    if (result < 0)
        pthread_mutex_destroy(&pieces->lock);
    return result;
}

static int pieces_init(struct pieces *pieces, const struct pieces_work *work)
{
    int result;

    *pieces = (struct pieces){.work = *work};
    result = prepare_pieces(pieces);
    if (result < 0) {
        free(pieces->ranges);
        free(pieces->done);
    }
    return result;
}

static void pieces_fini(struct pieces *pieces)
{
    for (uint64_t i = 0; i < pieces->ahead; i++)
        free(pieces->done[i].buffer.values);
    pthread_cond_destroy(&pieces->changed);
    pthread_mutex_destroy(&pieces->lock);
    free(pieces->ranges);
    free(pieces->done);
}

/* --- Taking ----------------------------------------------------------------------- */

/* Whether no pieces are left.  Only for a single thread. */
static bool pieces_are_taken(const struct pieces *pieces)
{
    return pieces->next.range >= pieces->range_count;
}

static bool pieces_are_over(const struct pieces *pieces)
{
    return atomic_load_explicit(&pieces->is_over, memory_order_relaxed);
}

/* The first pieces are small, so that a first match is found soon. */
static uint32_t size_of_next(const struct pieces *pieces)
{
    uint64_t size = 1 + pieces->next.number / pieces->work.threads;

    return size < MOST_VALUES ? (uint32_t)size : MOST_VALUES;
}

static void advance_pieces(struct pieces *pieces, uint32_t count)
{
    struct work_piece *next = &pieces->next;

    next->number++;
    next->ordinal += count;
    while (count > 0 && !pieces_are_taken(pieces)) {
        const struct esi_range *range = &pieces->ranges[next->range];
        uint32_t left = range->end - next->position;

        if (count < left) {
            next->position += count;
            return;
        }
        count -= left;
        if (++next->range < pieces->range_count)
            next->position = pieces->ranges[next->range].begin;
    }
}

/* False if no pieces are left. */
static bool pieces_take(struct pieces *pieces, struct work_piece *ret_piece)
{
    bool is_taken;

    pthread_mutex_lock(&pieces->lock);
    while (!pieces_are_taken(pieces) && !atomic_load(&pieces->is_over) &&
           pieces->next.number >= atomic_load(&pieces->turn) + pieces->ahead)
        pthread_cond_wait(&pieces->changed, &pieces->lock);
    is_taken = !pieces_are_taken(pieces) && !atomic_load(&pieces->is_over);
    if (is_taken) {
        *ret_piece = pieces->next;
        ret_piece->count = size_of_next(pieces);
        advance_pieces(pieces, ret_piece->count);
    }
    pthread_mutex_unlock(&pieces->lock);
    return is_taken;
}

/* --- Reporting -------------------------------------------------------------------- */

static int flush_buffer(const struct pieces *pieces, struct pieces_buffer *buffer)
{
    const struct pieces_work *work = &pieces->work;
    int result = 0;

    for (size_t i = 0; result == 0 && i < buffer->count; i += work->variables)
        result = work->report(work->data, buffer->values + i);
    buffer->count = 0;
    return result;
}

static int buffer_result(struct pieces_buffer *buffer,
                         const struct esi_domain_value *values,
                         unsigned count)
{
    if (ESI_ARRAY_RESERVE(buffer->values, buffer->capacity, buffer->count + count) < 0)
        return -ENOMEM;
    memcpy(buffer->values + buffer->count, values, count * sizeof *values);
    buffer->count += count;
    return 0;
}

static bool is_turn(const struct pieces *pieces, const struct work_piece *piece)
{
    /* Pairs with the release in end_turns(): makes earlier reports visible. */
    return atomic_load_explicit(&pieces->turn, memory_order_acquire) == piece->number;
}

static bool wait_for_turn(struct pieces *pieces, const struct work_piece *piece)
{
    pthread_mutex_lock(&pieces->lock);
    while (!is_turn(pieces, piece) && !atomic_load(&pieces->is_over))
        pthread_cond_wait(&pieces->changed, &pieces->lock);
    pthread_mutex_unlock(&pieces->lock);
    return is_turn(pieces, piece);
}

/* Reports or buffers an assignment found in a piece.  Returns 0; 1 for enough; or
 * -errno. */
static int pieces_report(struct pieces *pieces,
                         struct work_piece *piece,
                         const struct esi_domain_value *values)
{
    int result;

    if (!is_turn(pieces, piece)) {
        if (piece->buffer.count < BUFFERED_VALUES)
            return buffer_result(&piece->buffer, values, pieces->work.variables);
        if (!wait_for_turn(pieces, piece))
            return 1;
    }
    result = flush_buffer(pieces, &piece->buffer);
    return result != 0 ? result : pieces->work.report(pieces->work.data, values);
}

/* --- Finishing -------------------------------------------------------------------- */

/* The lock must be held. */
static void end_all(struct pieces *pieces, int result)
{
    if (!atomic_load(&pieces->is_over))
        pieces->result = result;
    atomic_store(&pieces->is_over, true);
    pthread_cond_broadcast(&pieces->changed);
}

/* Reports all finished pieces whose turn has come.  The lock must be held; it is
 * released during reports. */
static void end_turns(struct pieces *pieces)
{
    struct pieces_done *done =
        &pieces->done[atomic_load(&pieces->turn) % pieces->ahead];

    while (done->is_there && !atomic_load(&pieces->is_over)) {
        struct pieces_buffer buffer = done->buffer;
        int result;

        pthread_mutex_unlock(&pieces->lock);
        result = flush_buffer(pieces, &buffer);
        free(buffer.values);
        pthread_mutex_lock(&pieces->lock);
        *done = (struct pieces_done){.is_there = false};
        if (result != 0)
            end_all(pieces, result);
        /* A thread that sees its turn also sees what was reported. */
        atomic_fetch_add_explicit(&pieces->turn, 1, memory_order_release);
        pthread_cond_broadcast(&pieces->changed);
        done = &pieces->done[atomic_load(&pieces->turn) % pieces->ahead];
    }
}

/* `result` 0 means that the piece was searched completely; otherwise all threads stop
 * taking pieces. */
static void pieces_finish(struct pieces *pieces, struct work_piece *piece, int result)
{
    pthread_mutex_lock(&pieces->lock);
    if (result != 0) {
        end_all(pieces, result);
        free(piece->buffer.values);
    } else {
        pieces->done[piece->number % pieces->ahead] =
            (struct pieces_done){.is_there = true, .buffer = piece->buffer};
        if (is_turn(pieces, piece))
            end_turns(pieces);
    }
    pthread_mutex_unlock(&pieces->lock);
}

static void pieces_cancel(struct pieces *pieces, int result)
{
    pthread_mutex_lock(&pieces->lock);
    end_all(pieces, result);
    pthread_mutex_unlock(&pieces->lock);
}

/* --- Threads ---------------------------------------------------------------------- */

/* The plans of the disjuncts of a task. */
struct indexed_plans {
    const struct esi_engine_task *task;
    struct esi_indexed_plan **items; /* owned: [disjunct] */
};

struct shared {
    const struct indexed_plans *plans;
    const struct esi_indexed_plan *plan;
    const struct esi_program_disjunct *disjunct;
    const struct esi_indexed *prepared; /* prepared by the calling thread before the
                                           others start */
    unsigned first;
    unsigned threads;
    struct pieces pieces;
};

struct worker {
    struct shared *shared;
    struct esi_indexed *search;  /* owned */
    struct esi_indexed **lesser; /* owned: searches of the lesser disjuncts */
    bool is_direct;              /* no pieces: assignments go directly to the matches */
    uint64_t alone_until_ns;     /* when to start others; 0: they are running */
    struct work_piece piece;
    pthread_t thread;
};

/* --- Matches ---------------------------------------------------------------------- */

static int add_match(void *data, const struct esi_domain_value *values)
{
    const struct shared *shared = data;
    const struct esi_engine_task *task = shared->plans->task;
    const struct esi_indexed_plan *plan = shared->plan;
    struct esi_domain_value wholes[ES_PROGRAM_VARIABLES];

    esi_selected_values(plan->domains, task->domains, plan->existential, values,
                        wholes);
    return esi_matches_add_times(
        task->matches, plan->existential, wholes,
        esi_groups_multiplicity(&shared->plan->groups, values));
}

static int on_found(void *data, const struct esi_domain_value *values)
{
    struct worker *worker = data;
    struct shared *shared = worker->shared;

    return worker->is_direct ? add_match(shared, values)
                             : pieces_report(&shared->pieces, &worker->piece, values);
}

static uint64_t variables_of_lesser(const struct worker *worker, size_t i)
{
    const struct shared *shared = worker->shared;

    return shared->plans->task->program->disjuncts[shared->disjunct->lesser[i]]
        .variables;
}

static bool lesser_holds(struct worker *worker, size_t i)
{
    struct esi_bound *bound = &worker->search->bound;
    struct esi_domain_value values[ES_PROGRAM_VARIABLES];
    int result;

    /* Values excluded by the selection of the lesser disjunct do not satisfy it. */
    if (!esi_selected_values(bound->plan->domains,
                             worker->lesser[i]->bound.plan->domains,
                             variables_of_lesser(worker, i), bound->values, values))
        return false;
    result = esi_indexed_holds(worker->lesser[i], values, ESI_INDEXED_ALL);
    if (result < 0)
        bound->error = result;
    return result > 0;
}

/* If a lesser disjunct matches, there is no match of this one (docs/decisions.md, D6).
 * Each is tested as soon as its last variable is bound. */
static bool is_refused(void *data, unsigned v)
{
    struct worker *worker = data;

    for (size_t i = 0; i < worker->shared->disjunct->lesser_count; i++) {
        uint64_t variables = variables_of_lesser(worker, i);

        if (variables >> v & 1 && !(variables & ~worker->search->bound.check.bound) &&
            lesser_holds(worker, i))
            return true;
    }
    return false;
}

/* --- Values of the first variable ------------------------------------------------- */

static int search_piece(struct worker *worker)
{
    const struct shared *shared = worker->shared;
    const struct pieces *pieces = &shared->pieces;
    const struct work_piece *piece = &worker->piece;
    size_t range = piece->range;
    uint32_t position = piece->position;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < piece->count && range < pieces->range_count;
         i++) {
        struct esi_domain_value value = {pieces->ranges[range].slot, position};

        result = esi_indexed_try_first(worker->search, shared->first, value,
                                       piece->ordinal + i);
        if (++position == pieces->ranges[range].end && ++range < pieces->range_count)
            position = pieces->ranges[range].begin;
    }
    return result;
}

/* A thread working alone decides whether there is work for more. */
static bool is_alone_for_long(const struct worker *worker)
{
    return worker->alone_until_ns > 0 &&
           esi_now_ns(CLOCK_MONOTONIC) >= worker->alone_until_ns;
}

static void *run_worker(void *data)
{
    struct worker *worker = data;
    struct pieces *pieces = &worker->shared->pieces;

    while (!is_alone_for_long(worker) && pieces_take(pieces, &worker->piece))
        pieces_finish(pieces, &worker->piece, search_piece(worker));
    return NULL;
}

/* --- Workers ---------------------------------------------------------------------- */

static bool is_over(void *data)
{
    const struct worker *worker = data;

    return (!worker->is_direct && pieces_are_over(&worker->shared->pieces)) ||
           esi_search_is_over(worker->shared->plans->task->config);
}

static void worker_fini(struct worker *worker)
{
    for (size_t i = 0; worker->lesser && i < worker->shared->disjunct->lesser_count;
         i++)
        esi_indexed_destroy(worker->lesser[i]);
    free(worker->lesser);
    esi_indexed_destroy(worker->search);
}

static int worker_init(struct worker *worker, struct shared *shared)
{
    size_t count = shared->disjunct->lesser_count;
    int result;

    *worker = (struct worker){.shared = shared};
    worker->lesser = calloc(count + 1, sizeof *worker->lesser);
    result = worker->lesser ? esi_indexed_create_for(shared->plan, &worker->search)
                            : -ENOMEM;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = esi_indexed_create_for(
            shared->plans->items[shared->disjunct->lesser[i]], &worker->lesser[i]);
    if (result < 0) {
        worker_fini(worker);
        return result;
    }
    worker->search->found = on_found;
    worker->search->found_data = worker;
    worker->search->is_over = is_over;
    worker->search->over_data = worker;
    worker->search->takes_any_witness = count == 0;
    if (count > 0) {
        worker->search->is_refused = is_refused;
        worker->search->refused_data = worker;
    }
    return 0;
}

static void add_statistics(const struct indexed_plans *plans,
                           const struct esi_indexed *search)
{
    struct esi_search_statistics *sum = plans->task->statistics;
    struct esi_indexed_statistics own;

    esi_indexed_statistics(search, &own);
    sum->comparisons += own.comparisons;
    sum->unknown += own.unknown;
    sum->backtracks += own.backtracks;
    sum->bytes += own.bytes;
}

static void take_statistics(const struct worker *worker)
{
    add_statistics(worker->shared->plans, worker->search);
    for (size_t i = 0; i < worker->shared->disjunct->lesser_count; i++)
        add_statistics(worker->shared->plans, worker->lesser[i]);
}

/* --- Several threads -------------------------------------------------------------- */

static int add_worker(struct shared *shared, struct worker *workers, unsigned *count)
{
    int result = worker_init(&workers[*count], shared);

    if (result == 0)
        esi_indexed_inherit(workers[(*count)++].search, shared->prepared,
                            shared->first);
    return result;
}

static bool is_done_alone(struct worker *worker)
{
    const struct pieces *pieces = &worker->shared->pieces;
    uint64_t alone_ns = worker->shared->plan->tuning.alone_ns;

    if (alone_ns == 0)
        return false;
    worker->alone_until_ns = esi_now_ns(CLOCK_MONOTONIC) + alone_ns;
    run_worker(worker);
    worker->alone_until_ns = 0;
    return pieces_are_taken(pieces) || pieces_are_over(pieces);
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
    /* The search also works with fewer threads than requested. */
    return result == -ENOMEM ? -ENOMEM : 0;
}

/* The calling thread is one of the workers. */
static int run_workers(struct shared *shared, struct worker *workers)
{
    unsigned count = 0;
    int result = add_worker(shared, workers, &count);

    if (result == 0 && !is_done_alone(&workers[0])) {
        result = start_helpers(shared, workers, &count);
        if (result < 0)
            pieces_cancel(&shared->pieces, result);
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
    const struct pieces_work pieces = {
        .domain = shared->plan->domains[shared->first],
        .source = shared->prepared->sets.source[shared->first],
        .threads = shared->threads,
        .variables = shared->plan->variable_count,
        .report = add_match,
        .data = shared,
    };
    struct worker *workers = calloc(shared->threads, sizeof *workers);
    int result = workers ? pieces_init(&shared->pieces, &pieces) : -ENOMEM;

    if (result == 0) {
        result = run_workers(shared, workers);
        pieces_fini(&shared->pieces);
    }
    free(workers);
    return result;
}

/* --- One disjunct ----------------------------------------------------------------- */

static unsigned threads_of(const struct esi_search_config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = config->threads;

    if (threads == 0)
        threads = cores > 0 ? (unsigned)cores : 1;
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* Other threads are not used if no variable is returned, since one witness is
 * enough. */
static bool may_have_helpers(const struct shared *shared)
{
    return shared->threads > 1 && shared->plan->returned;
}

static int search_prepared(struct shared *shared, struct worker *worker)
{
    int result = esi_indexed_prepare(worker->search);

    shared->prepared = worker->search;
    return result > 0 ? search_beside(shared) : result;
}

/* Whether a lesser disjunct without variables matches. */
static bool is_never_minimal(struct worker *worker)
{
    for (size_t i = 0; i < worker->shared->disjunct->lesser_count; i++)
        if (!variables_of_lesser(worker, i) && lesser_holds(worker, i))
            return true;
    return false;
}

static int search_disjunct(struct shared *shared, struct worker *worker)
{
    if (is_never_minimal(worker) || worker->search->bound.error)
        return worker->search->bound.error;
    if (shared->plan->existential)
        shared->first = esi_indexed_plan_first(shared->plan);
    return may_have_helpers(shared) ? search_prepared(shared, worker)
                                    : esi_indexed_all(worker->search, on_found, worker);
}

/* Searches one disjunct with the requested number of threads.  Returns as
 * esi_engine_ops. */
static int search_plan(const struct indexed_plans *plans, uint32_t disjunct)
{
    struct shared shared = {
        .plans = plans,
        .plan = plans->items[disjunct],
        .disjunct = &plans->task->program->disjuncts[disjunct],
        .threads = threads_of(plans->task->config),
    };
    struct worker worker;
    int result = worker_init(&worker, &shared);

    if (result < 0)
        return result;
    worker.is_direct = true;
    result = search_disjunct(&shared, &worker);
    if (result == 0)
        result = worker.search->bound.error;
    take_statistics(&worker);
    worker_fini(&worker);
    return result;
}

/* --- Plans ------------------------------------------------------------------------ */

static int make_plan(const struct esi_engine_task *task,
                     uint32_t disjunct,
                     struct esi_indexed_plan **ret_plan,
                     struct es_error *error)
{
    struct esi_indexed_config config = {
        .program = task->program,
        .disjunct = disjunct,
        .domains = task->domains,
        .counted = task->counted,
        .order = task->order,
        .empty = esi_universal_empty(task->program, task->domains),
        .tuning = task->tuning,
    };

    return esi_indexed_plan_create(&config, false, ret_plan, error);
}

static void fini_plans(struct indexed_plans *plans)
{
    for (uint32_t i = 0; plans->items && i < plans->task->program->disjunct_count; i++)
        esi_indexed_plan_destroy(plans->items[i]);
    free(plans->items);
}

static int create_plans(const struct esi_engine_task *task,
                        struct indexed_plans *ret_plans,
                        struct es_error *error)
{
    uint32_t count = task->program->disjunct_count;
    struct indexed_plans plans = {
        .task = task,
        .items = calloc(count + 1u, sizeof *plans.items),
    };
    int result = plans.items ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = make_plan(task, i, &plans.items[i], error);
    if (result < 0) {
        fini_plans(&plans);
        return result;
    }
    *ret_plans = plans;
    return 0;
}

/* False if a lesser disjunct matches for all values. */
static bool may_match(const struct indexed_plans *plans, uint32_t disjunct)
{
    const struct esi_engine_task *task = plans->task;
    const struct esi_program_disjunct *of = &task->program->disjuncts[disjunct];

    for (size_t i = 0; i < of->lesser_count; i++)
        if (esi_indexed_plan_is_true(plans->items[of->lesser[i]]))
            return false;
    return esi_disjunct_may_match(task, disjunct);
}

static int search_ranges(const struct esi_engine_task *task, struct es_error *error)
{
    struct indexed_plans plans;
    int result = create_plans(task, &plans, error);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < task->program->disjunct_count; i++)
        task->statistics->pattern_size += plans.items[i]->size;
    for (uint32_t i = 0; result == 0 && i < task->program->disjunct_count; i++)
        if (may_match(&plans, i))
            result = search_plan(&plans, i);
    for (uint32_t i = 0; i < task->program->disjunct_count; i++)
        task->statistics->bytes += esi_indexed_plan_bytes(plans.items[i]);
    fini_plans(&plans);
    return result;
}

static int explain_ranges(const struct esi_engine_task *task,
                          FILE *out,
                          struct es_error *error)
{
    struct indexed_plans plans;
    int result = create_plans(task, &plans, error);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < task->program->disjunct_count; i++) {
        esi_indexed_plan_print(plans.items[i], out);
        if (!may_match(&plans, i))
            fputs("is not searched: what matches it has a lesser disjunct that "
                  "matches\n",
                  out);
    }
    fini_plans(&plans);
    return 0;
}

const struct esi_engine_ops esi_engine_indexed = {
    .name = "indexed",
    .help = "ranges of events on each trace, the variable with the fewest first",
    .has_threads = true,
    .defaults = &esi_indexed_defaults,
    .search = search_ranges,
    .explain = explain_ranges,
};
