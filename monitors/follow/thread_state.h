/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a thread is doing, and what that means for its progress.  Pure logic.
 *
 * The paper's heartbeat compares the time of each thread's last event with that of the
 * pull before: no change, no progress.  Together with the operation under way this
 * tells apart who computes from who is stuck in an operation or polls in vain.  The
 * first pull has nothing to compare with: nobody progresses there.
 */
#ifndef ES_MONITORS_FOLLOW_THREAD_STATE_H
#define ES_MONITORS_FOLLOW_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/operation.h"
#include "eventspace/run.h"

/* World rank of a peer that cannot be told from here. */
#define ES_PEER_UNKNOWN (-3)

enum esi_verdict {
    ES_VERDICT_PROGRESSING, /* an event since the pull before */
    ES_VERDICT_COMPUTING,   /* no event, and in no operation */
    ES_VERDICT_UNKNOWN,     /* the same, but collectors are off: not all is recorded */
    ES_VERDICT_WAITING,  /* no event, in an operation, for less time than the limit */
    ES_VERDICT_POLLING,  /* no event, but polls that find nothing; likewise */
    ES_VERDICT_STALLED,  /* in an operation or polling, no event for the limit */
    ES_VERDICT_FINISHED, /* finalized, or exited with 0 */
    ES_VERDICT_DEAD,     /* ended any other way */
};

/* "progressing" and so on. */
const char *esi_verdict_name(enum esi_verdict verdict);

/* An operation of a thread, its ranks and times converted. */
struct esi_activity {
    bool present;
    uint16_t operation;
    /* Calls that complete, start or cancel requests: the operation of the request that
     * peer, tag, communicator and sequence are of; 0 = not known.  Their bytes are the
     * number of requests. */
    uint16_t awaited;
    int peer; /* world rank, or ES_PEER_NONE, ES_PEER_ANY, ES_PEER_UNKNOWN */
    int tag;
    uint32_t bytes;
    uint32_t sequence;
    bool has_communicator;
    uint16_t communicator_index; /* in the table of the origin's process */
    uint32_t origin;             /* in the scope it came through */
    uint64_t key[2];             /* of the communicator */
    char communicator[64];
    uint64_t start_ns; /* run time */
    uint64_t stop_ns;  /* 0 = under way */
    uint64_t error_ns; /* bound of the error of both; UINT64_MAX = not known */
    const char *site;  /* where in the program it was called; NULL or "" = not known;
                          borrowed */
};

/* The operation that peer, tag, communicator and sequence are of: that waited for, else
 * the activity's own.  NULL when its code is not known. */
const struct es_operation *esi_activity_subject(const struct esi_activity *activity);

struct esi_thread_state {
    const char *host; /* borrowed */
    int pid;
    int rank;
    int thread;
    enum es_process_state process;
    int signal;
    int exit_code;
    uint64_t events;       /* tuples ever published by the thread */
    uint64_t polls;        /* polls that found nothing */
    unsigned elements;     /* that record it */
    unsigned elements_off; /* of them */
    struct esi_activity last;
    struct esi_activity open;

    /* Filled by esi_thread_judge(). */
    enum esi_verdict verdict;
    unsigned unchanged;        /* pulls without an event */
    uint64_t quiet_since_ns;   /* the last event, or begin of the open operation */
    bool lasts;                /* what it waits for is worth telling: it is stalled, or
                                  soon may be */
    bool polls_rise;           /* since the pull before */
    uint64_t polling_since_ns; /* 0 = not polling */
};

/* Judges a thread from its state now and that at the pull before (NULL = first pull).
 * It counts as stalled when it has been in one operation, or polled in vain, for
 * `limit_ns`. */
void esi_thread_judge(struct esi_thread_state *state,
                      const struct esi_thread_state *before,
                      uint64_t limit_ns,
                      uint64_t now_ns);

/* Whether the thread is in an operation and makes no progress. */
bool esi_thread_is_blocked(const struct esi_thread_state *state);

#endif
