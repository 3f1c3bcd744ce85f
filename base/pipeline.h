/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Two stages of a work, on a thread each: one fills slots, the other empties them in
 * the same order.  The slots are the caller's, by number; few of them bound the memory.
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
 * A slot belongs to the producer until it is passed, and then to the consumer until
 * that returns; passing it makes what was written to it visible.
 */
#ifndef ES_BASE_PIPELINE_H
#define ES_BASE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

struct esi_pipeline;

struct esi_pipeline_stages {
    /* Fills slots, slot 0 first, on a thread without signals.  0 or -errno. */
    int (*produce)(void *data, struct esi_pipeline *pipeline);
    /* Empties a slot, on the calling thread.  Negative: no further one is wanted. */
    int (*consume)(void *data, size_t slot);
    void *data;
    size_t slots;  /* at least 2 */
    bool is_alone; /* no thread is started */
};

/* Until the producer has returned and all that it passed is consumed.  What a negative
 * consumer returned, else what the producer did.  Without a thread, passing a slot
 * consumes it. */
int esi_pipeline_run(const struct esi_pipeline_stages *stages);

/* For the producer: passes *slot, and waits for the next free one.  0, or what the
 * consumer returned: then *slot stays, and the producer is to return. */
int esi_pipeline_pass(struct esi_pipeline *pipeline, size_t *slot);

/* Processors that this process may use, at least 1. */
unsigned esi_pipeline_processors(void);

#endif
