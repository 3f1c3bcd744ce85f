/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What blocked threads wait for, told from their open operations.  Pure logic.
 *
 * A receive or probe waits for its source, a send for its destination, a collective for
 * the members that have not entered the same instance, a completion call for what
 * the one request that is told of it waits for.
 */
#ifndef ES_MONITORS_HEARTBEAT_WAIT_FOR_H
#define ES_MONITORS_HEARTBEAT_WAIT_FOR_H

#include "base/hash.h"
#include "monitors/follow/thread_state.h"
#include "monitors/heartbeat/wait_graph.h"

/* Newest collective that a rank has completed on a communicator. */
struct esi_collective_seen {
    uint64_t key[2];
    int rank;
    uint32_t sequence;
};

/* A set of these; all zero is the empty set. */
struct esi_collectives_seen {
    struct esi_collective_seen *items; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers; /* by key and rank */
};

/* Notes an instance; keeps the newest.  0 or -ENOMEM. */
int esi_collectives_seen_note(struct esi_collectives_seen *seen,
                              const struct esi_collective_seen *instance);
/* NULL when the rank has completed none there. */
struct esi_collective_seen *esi_collectives_seen_find(
    const struct esi_collectives_seen *seen,
    const uint64_t key[2],
    int rank);
void esi_collectives_seen_fini(struct esi_collectives_seen *seen);

enum esi_wait_reason {
    ES_REASON_NONE,       /* does not wait, or it cannot be told for what */
    ES_REASON_RECEIVE,    /* for a message */
    ES_REASON_SEND,       /* for a message to be taken */
    ES_REASON_TRANSFER,   /* both ends of the message are there: it is on its way */
    ES_REASON_COLLECTIVE, /* for others to enter */
    ES_REASON_COMPLETION, /* for requests */
    ES_REASON_ENTERED,    /* in a collective that all have entered */
};

/* What one thread waits for. */
struct esi_wait {
    enum esi_wait_reason reason;
    enum esi_wait_state state;
    bool certain;
    int *targets; /* world ranks; owned */
    size_t target_count;
    size_t target_capacity;
};

/* Derives one wait per thread.  0 or -ENOMEM; free with esi_waits_free(). */
int esi_waits_derive(const struct esi_thread_state *threads,
                     size_t count,
                     const struct esi_collectives_seen *seen,
                     struct esi_wait **ret_waits);
void esi_waits_free(struct esi_wait *waits, size_t count);

#endif
