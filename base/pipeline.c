/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pipeline.c - a bounded buffer between a producer and a consumer. */
#include "config.h"

#include "base/pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

struct esi_pipeline {
    const struct esi_pipeline_stages *stages; /* borrowed */
    pthread_mutex_t lock;
    pthread_cond_t passed;   /* or the producer has ended */
    pthread_cond_t consumed; /* or the consumer has failed */
    size_t passed_count;     /* protected by the lock, like all below */
    size_t consumed_count;
    int failure; /* of the consumer */
    int result;  /* of the producer */
    bool has_ended;
    bool is_threaded; /* set before the producer starts */
};

static void *run_producer(void *data)
{
    struct esi_pipeline *pipeline = data;
    int result = pipeline->stages->produce(pipeline->stages->data, pipeline);

    pthread_mutex_lock(&pipeline->lock);
    pipeline->result = result;
    pipeline->has_ended = true;
    pthread_cond_signal(&pipeline->passed);
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

/* Signals are left to other threads. */
static bool start_producer(struct esi_pipeline *pipeline, pthread_t *ret_thread)
{
    sigset_t all, before;

    pipeline->is_threaded = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(ret_thread, NULL, run_producer, pipeline) != 0)
        pipeline->is_threaded = false;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pipeline->is_threaded;
}

/* Waits for a passed slot.  Returns false if there will be none. */
static bool wait_for_slot(struct esi_pipeline *pipeline)
{
    bool is_there;

    pthread_mutex_lock(&pipeline->lock);
    while (pipeline->passed_count == pipeline->consumed_count && !pipeline->has_ended)
        pthread_cond_wait(&pipeline->passed, &pipeline->lock);
    is_there = pipeline->passed_count > pipeline->consumed_count;
    pthread_mutex_unlock(&pipeline->lock);
    return is_there;
}

static void consume_slots(struct esi_pipeline *pipeline)
{
    const struct esi_pipeline_stages *stages = pipeline->stages;
    int result = 0;

    while (result >= 0 && wait_for_slot(pipeline)) {
        result =
            stages->consume(stages->data, pipeline->consumed_count % stages->slots);
        pthread_mutex_lock(&pipeline->lock);
        pipeline->consumed_count++;
        if (result < 0)
            pipeline->failure = result;
        pthread_cond_signal(&pipeline->consumed);
        pthread_mutex_unlock(&pipeline->lock);
    }
}

int esi_pipeline_run(const struct esi_pipeline_stages *stages)
{
    struct esi_pipeline pipeline = {.stages = stages};
    pthread_t producer;

    pthread_mutex_init(&pipeline.lock, NULL);
    pthread_cond_init(&pipeline.passed, NULL);
    pthread_cond_init(&pipeline.consumed, NULL);
    if (!stages->is_alone && start_producer(&pipeline, &producer)) {
        consume_slots(&pipeline);
        pthread_join(producer, NULL);
    } else {
        run_producer(&pipeline);
    }
    pthread_cond_destroy(&pipeline.consumed);
    pthread_cond_destroy(&pipeline.passed);
    pthread_mutex_destroy(&pipeline.lock);
    return pipeline.failure < 0 ? pipeline.failure : pipeline.result;
}

static int pass_here(struct esi_pipeline *pipeline, size_t slot)
{
    int result;

    if (pipeline->failure == 0) {
        result = pipeline->stages->consume(pipeline->stages->data, slot);
        pipeline->failure = result < 0 ? result : 0;
    }
    return pipeline->failure;
}

int esi_pipeline_pass(struct esi_pipeline *pipeline, size_t *slot)
{
    size_t slots = pipeline->stages->slots;
    int failure;

    if (!pipeline->is_threaded)
        return pass_here(pipeline, *slot);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->passed_count++;
    pthread_cond_signal(&pipeline->passed);
    while (pipeline->failure == 0 &&
           pipeline->passed_count - pipeline->consumed_count == slots)
        pthread_cond_wait(&pipeline->consumed, &pipeline->lock);
    failure = pipeline->failure;
    if (failure == 0)
        *slot = pipeline->passed_count % slots;
    pthread_mutex_unlock(&pipeline->lock);
    return failure;
}

unsigned esi_pipeline_processors(void)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof allowed, &allowed) == 0
               ? (unsigned)CPU_COUNT(&allowed)
               : 1;
}
