/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* gather.c - how stages pull several children into one batch, and the two stages that
 * only pass on what the children emit: `gather` pulls them in turn, `threads` in
 * parallel.
 *
 * A pull of `threads` is divided into jobs, one per child, each with its own batch.
 * The threads of the stage take jobs until there are none; the thread that pulled the
 * stage sleeps until all are done.  All data shared by the threads is passed on under
 * one lock; the subtree of a child belongs to the thread that has its job. */
#include "config.h"

#include "wrappers/stages/gather.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "wrappers/stages/stage.h"

const char *const esi_fan_modes[] = {"concurrent", "sequential", NULL};

size_t esi_fan_share(size_t max, size_t child_count, size_t turn)
{
    if (max < child_count)
        return turn < max;
    return max / child_count + (turn == 0 ? max % child_count : 0);
}

/* The child after this one, cyclically. */
static size_t fan_behind(const struct es_stage *stage, size_t child)
{
    return child + 1 == stage->child_count ? 0 : child + 1;
}

void esi_fan_ask(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull)
{
    struct es_pull part = *pull;
    size_t child = fan->next;

    if (fan->sequential)
        return;
    fan->asked = pull->serial;
    for (size_t turn = 0; turn < stage->child_count; turn++) {
        part.max = esi_fan_share(pull->max, stage->child_count, turn);
        if (part.max > 0)
            es_stage_ask(stage->children[child], &part);
        child = fan_behind(stage, child);
    }
}

/* The number of tuples that the children asked may emit together. */
static size_t fan_promised(const struct es_stage *stage, size_t first, size_t max)
{
    size_t child = first;
    size_t sum = 0;

    for (size_t turn = 0; turn < stage->child_count; turn++) {
        if (stage->children[child]->asks)
            sum += esi_fan_share(max, stage->child_count, turn);
        child = fan_behind(stage, child);
    }
    return sum;
}

/* Pulls siblings in their common loop, or skips intermediate stages of an only
 * child. */
static int pull_together(struct es_stage *stage,
                         const struct es_pull *pull,
                         struct es_batch *batch)
{
    struct es_stage *first = stage->siblings->stage;
    size_t before = batch->count;
    int result;

    if (stage->sibling_count > 1) {
        result = first->pull_siblings(stage, pull, batch);
    } else {
        result = first->pull(first, pull, batch);
        if (batch->count == before)
            esi_stage_missed(first, stage);
    }
    stage->together += result == 0;
    return result;
}

/* A child without a share is not pulled, and is the first of the next pull. */
static int pull_child(struct es_stage *stage,
                      struct esi_fan *fan,
                      size_t child,
                      const struct es_pull *part,
                      struct es_batch *batch,
                      bool *is_short)
{
    if (part->max == 0) {
        if (!*is_short) {
            *is_short = true;
            batch->more = true;
            fan->next = child;
        }
        return 0;
    }
    return es_stage_pull(stage->children[child], part, batch);
}

/* Pulls children, some of which have been asked: their shares are reserved for them.
 * The others get the rest, including those asked for nothing because the limit is below
 * the number of children. */
static int pull_asked(struct es_stage *stage,
                      struct esi_fan *fan,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    struct es_pull part = *pull;
    size_t before = batch->count;
    size_t child = fan->next;
    size_t kept = fan_promised(stage, child, pull->max);
    bool is_short = false;
    int result = 0;

    for (size_t turn = 0; turn < stage->child_count && result == 0; turn++) {
        size_t share = stage->children[child]->asks
                           ? esi_fan_share(pull->max, stage->child_count, turn)
                           : 0;

        kept -= share;
        part.max = share ? share : pull->max - (batch->count - before) - kept;
        result = pull_child(stage, fan, child, &part, batch, &is_short);
        child = fan_behind(stage, child);
    }
    return result;
}

/* Pulls the children one after the other, each with the rest of the limit. */
static int pull_in_turn(struct es_stage *stage,
                        struct esi_fan *fan,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct es_pull part = *pull;
    size_t before = batch->count;
    size_t child = fan->next;
    bool is_short = false;

    for (size_t turn = 0; turn < stage->child_count; turn++) {
        int result;

        part.max = pull->max - (batch->count - before);
        result = pull_child(stage, fan, child, &part, batch, &is_short);
        if (result < 0)
            return result;
        if (is_short)
            return 0;
        if (++child == stage->child_count)
            child = 0;
    }
    return 0;
}

int esi_fan_pull(struct es_stage *stage,
                 struct esi_fan *fan,
                 const struct es_pull *pull,
                 struct es_batch *batch)
{
    if (stage->siblings && pull->max >= stage->sibling_count && !pull->measure)
        return pull_together(stage, pull, batch);
    if (!stage->asks || fan->sequential)
        return pull_in_turn(stage, fan, pull, batch);
    if (fan->asked != pull->serial)
        esi_fan_ask(stage, fan, pull);
    fan->asked = 0;
    return pull_asked(stage, fan, pull, batch);
}

/* --- The stage gather ------------------------------------------------------------- */

enum { PROPERTY_MODE };
static const struct es_property_schema properties[] = {[PROPERTY_MODE] = ESI_FAN_MODE};

static int open_gather(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    struct esi_fan *fan = calloc(1, sizeof *fan);

    (void)error;
    if (!fan)
        return -ENOMEM;
    fan->sequential = values[PROPERTY_MODE].integer != 0;
    stage->state = fan;
    return 0;
}

static void close_gather(struct es_stage *stage)
{
    free(stage->state);
}

static int pull_gather(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    return esi_fan_pull(stage, stage->state, pull, batch);
}

static void ask_gather(struct es_stage *stage, const struct es_pull *pull)
{
    esi_fan_ask(stage, stage->state, pull);
}

const struct es_stage_ops esi_stage_gather = {
    .name = "gather",
    .help = "passes on what all children emit",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .max_children = SIZE_MAX,
    .open = open_gather,
    .pull = pull_gather,
    .ask = ask_gather,
    .untimed = true,
    .close = close_gather,
};

/* --- The stage threads ------------------------------------------------------------ */

enum { PROPERTY_COUNT };
static const struct es_property_schema threads_properties[] = {
    [PROPERTY_COUNT] = {.name = "count",
                        .type = ES_PROPERTY_INTEGER,
                        .fallback = "4",
                        .minimum = 1,
                        .maximum = 256,
                        .help = "threads; no more than children are started"},
};

/* The pull of one child. */
struct job {
    struct es_stage *child; /* borrowed */
    struct es_pull pull;
    struct es_batch batch;
    int result;
};

struct threads {
    struct esi_fan fan; /* first child, and the announcement */
    pthread_mutex_t lock;
    pthread_cond_t work; /* there are jobs, or the stage is closing */
    pthread_cond_t done;
    struct job *jobs; /* owned; one per child */
    size_t job_count; /* of this pull */
    size_t next_job;  /* the first job that is not taken */
    size_t unfinished;
    bool ends;
    pthread_t *workers; /* owned */
    size_t worker_count;
};

/* Waits for the next job; NULL at the end.  The caller holds the lock. */
static struct job *next_job(struct threads *threads)
{
    while (threads->next_job == threads->job_count && !threads->ends)
        pthread_cond_wait(&threads->work, &threads->lock);
    return threads->ends ? NULL : &threads->jobs[threads->next_job++];
}

static void *threads_work(void *data)
{
    struct threads *threads = data;
    struct job *job;

    pthread_mutex_lock(&threads->lock);
    while ((job = next_job(threads)) != NULL) {
        pthread_mutex_unlock(&threads->lock);
        es_batch_clear(&job->batch);
        job->result = es_stage_pull(job->child, &job->pull, &job->batch);
        pthread_mutex_lock(&threads->lock);
        if (--threads->unfinished == 0)
            pthread_cond_signal(&threads->done);
    }
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

/* Lets the workers do the jobs. */
static void do_jobs(struct threads *threads, size_t count)
{
    pthread_mutex_lock(&threads->lock);
    threads->next_job = 0;
    threads->job_count = count;
    threads->unfinished = count;
    pthread_cond_broadcast(&threads->work);
    while (threads->unfinished)
        pthread_cond_wait(&threads->done, &threads->lock);
    pthread_mutex_unlock(&threads->lock);
}

/* Signals are left to threads of the scope's user. */
static int start_workers(struct threads *threads, size_t count)
{
    sigset_t all;
    sigset_t before;
    int result = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (threads->worker_count < count && result == 0) {
        result = -pthread_create(&threads->workers[threads->worker_count], NULL,
                                 threads_work, threads);
        threads->worker_count += result == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void stop_workers(struct threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    threads->ends = true;
    pthread_cond_broadcast(&threads->work);
    pthread_mutex_unlock(&threads->lock);
    for (size_t i = 0; i < threads->worker_count; i++)
        pthread_join(threads->workers[i], NULL);
}

static void destroy_threads(struct threads *threads, size_t child_count)
{
    stop_workers(threads);
    for (size_t i = 0; i < child_count && threads->jobs; i++)
        es_batch_fini(&threads->jobs[i].batch);
    pthread_mutex_destroy(&threads->lock);
    pthread_cond_destroy(&threads->work);
    pthread_cond_destroy(&threads->done);
    free(threads->jobs);
    free(threads->workers);
    free(threads);
}

static int open_threads(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    size_t count = (size_t)values[PROPERTY_COUNT].integer;
    struct threads *threads = calloc(1, sizeof *threads);
    int result = -ENOMEM;

    if (!threads)
        return -ENOMEM;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->work, NULL);
    pthread_cond_init(&threads->done, NULL);
    if (count > stage->child_count)
        count = stage->child_count;
    threads->jobs = calloc(stage->child_count + 1, sizeof *threads->jobs);
    threads->workers = calloc(count + 1, sizeof *threads->workers);
    if (threads->jobs && threads->workers)
        result = start_workers(threads, count);
    if (result < 0) {
        destroy_threads(threads, stage->child_count);
        return es_error_set(error, result, "threads: cannot start %zu threads: %s",
                            count, strerror(-result));
    }
    stage->state = threads;
    return 0;
}

static void close_threads(struct es_stage *stage)
{
    destroy_threads(stage->state, stage->child_count);
}

static void ask_threads(struct es_stage *stage, const struct es_pull *pull)
{
    struct threads *threads = stage->state;

    esi_fan_ask(stage, &threads->fan, pull);
}

/* Creates jobs for the children from `turn` on, in the order of a gather, each for at
 * least one tuple.  Returns their number. */
static size_t make_jobs(struct es_stage *stage,
                        const struct es_pull *pull,
                        size_t turn,
                        size_t left)
{
    struct threads *threads = stage->state;
    size_t children = stage->child_count - turn;
    size_t count = children < left ? children : left;

    for (size_t i = 0; i < count; i++) {
        size_t child = (threads->fan.next + turn + i) % stage->child_count;

        threads->jobs[i].child = stage->children[child];
        threads->jobs[i].pull = *pull;
        threads->jobs[i].pull.max = esi_fan_share(left, children, i);
    }
    return count;
}

static uint64_t cpu_of_children(const struct es_stage *stage)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < stage->child_count; i++)
        sum += stage->children[i]->cost.measured_cpu_ns;
    return sum;
}

/* Adds the workers' CPU time to stages that only measure their own thread's: this stage
 * and all above, up to the next stage `threads`, which does the same. */
static void add_cpu(struct es_stage *stage, uint64_t cpu_ns)
{
    do
        stage->cost.measured_cpu_ns += cpu_ns;
    while ((stage = stage->parent) != NULL && stage->ops != &esi_stage_threads);
}

/* Pulls all children: at once, or in groups if the limit is below the number of
 * children.  A child without a share is not pulled, and is the first of the next
 * pull. */
static int pull_groups(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct threads *threads = stage->state;
    size_t first = batch->count;
    size_t turn = 0;
    int result = 0;

    while (turn < stage->child_count && result == 0) {
        size_t count = make_jobs(stage, pull, turn, pull->max - (batch->count - first));

        if (count == 0) {
            batch->more = true;
            threads->fan.next = (threads->fan.next + turn) % stage->child_count;
            return 0;
        }
        do_jobs(threads, count);
        for (size_t i = 0; i < count && result == 0; i++) {
            const struct job *job = &threads->jobs[i];

            result = job->result;
            if (result == 0)
                result = esi_batch_append(batch, &job->batch, 0, job->batch.count);
            batch->more |= job->batch.more;
        }
        turn += count;
    }
    return result;
}

static int pull_threads(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct threads *threads = stage->state;
    uint64_t cpu_ns = pull->measure ? cpu_of_children(stage) : 0;
    int result;

    if (stage->asks && threads->fan.asked != pull->serial)
        ask_threads(stage, pull);
    threads->fan.asked = 0;
    result = pull_groups(stage, pull, batch);
    if (pull->measure)
        add_cpu(stage, cpu_of_children(stage) - cpu_ns);
    return result;
}

const struct es_stage_ops esi_stage_threads = {
    .name = "threads",
    .help = "pulls its children at the same time",
    .properties = threads_properties,
    .property_count = sizeof threads_properties / sizeof *threads_properties,
    .max_children = SIZE_MAX,
    .open = open_threads,
    .pull = pull_threads,
    .ask = ask_threads,
    .untimed = true,
    .close = close_threads,
};
