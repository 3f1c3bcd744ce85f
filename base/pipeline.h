/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A two-stage pipeline with a thread for each stage: one fills slots, the other empties
 * them in the same order.  Slots are numbered and belong to the caller; their number
 * bounds the memory.
 *
 *   static int produce(void *data, struct esi_pipeline *pipeline)
 *   {
 *       size_t slot = 0;
 *       while (result == 0 && fill(&items[slot]))
 *           result = esi_pipeline_pass(pipeline, &slot);
 *       return result;
 *   }
 *   struct esi_pipeline_stages stages = {produce, consume, data, .slots = 4};
 *   esi_pipeline_run(&stages);
 *
 * The producer owns a slot until it passes it, and the consumer until it returns.
 * Passing a slot makes the data written to it visible to the consumer.
 */
#ifndef ES_BASE_PIPELINE_H
#define ES_BASE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

struct esi_pipeline;

struct esi_pipeline_stages {
    /* Fills slots, starting with slot 0, on a thread with all signals blocked.  Returns
     * 0 or -errno. */
    int (*produce)(void *data, struct esi_pipeline *pipeline);
    /* Empties a slot, on the calling thread.  A negative result ends the pipeline. */
    int (*consume)(void *data, size_t slot);
    void *data;
    size_t slots;  /* at least 2 */
    bool is_alone; /* do not start a thread */
};

/* Runs until the producer has returned and all passed slots are consumed.  Returns the
 * negative result of the consumer, or else that of the producer.  Without a thread,
 * passing a slot calls the consumer. */
int esi_pipeline_run(const struct esi_pipeline_stages *stages);

/* For the producer: passes *slot and waits for the next free one.  Returns 0; or the
 * negative result of the consumer, and then *slot is unchanged and the producer must
 * return. */
int esi_pipeline_pass(struct esi_pipeline *pipeline, size_t *slot);

/* Number of processors available to this process, at least 1. */
unsigned esi_pipeline_processors(void);

#endif
