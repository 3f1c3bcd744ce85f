/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The activity of a thread, and its progress.  Pure logic.
 *
 * The paper's heartbeat compares the time of each thread's last event with that at the
 * previous pull: no change, no progress.  With the operation in progress, threads that
 * compute can be distinguished from those that are stuck in an operation or poll
 * without success.  In the first pull there is nothing to compare with, so no thread
 * progresses.
 */
#ifndef ES_MONITORS_FOLLOW_THREAD_STATE_H
#define ES_MONITORS_FOLLOW_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "eventspace/operation.h"
#include "eventspace/run.h"

/* World rank of a peer that is not known here. */
#define ES_PEER_UNKNOWN (-3)

enum esi_verdict {
    ES_VERDICT_PROGRESSING, /* an event since the previous pull */
    ES_VERDICT_COMPUTING,   /* no event, and in no operation */
    ES_VERDICT_UNKNOWN,     /* the same, but collectors are off: not all is recorded */
    ES_VERDICT_WAITING,     /* no event, in an operation, for less than the limit */
    ES_VERDICT_POLLING,     /* no event, but unsuccessful polls; likewise */
    ES_VERDICT_STALLED,     /* no event, in an operation or polling, for the limit */
    ES_VERDICT_FINISHED,    /* finalized, or exited, and with no code but 0 */
    ES_VERDICT_DEAD,        /* ended in any other way */
};

enum { ES_VERDICTS = ES_VERDICT_DEAD + 1 };

enum esi_verdict_colour {
    ESI_COLOUR_PLAIN,
    ESI_COLOUR_GOOD,
    ESI_COLOUR_WAITS, /* may be a problem */
    ESI_COLOUR_BAD,
    ESI_COLOUR_WORST,
};

/* How a verdict is shown. */
struct esi_verdict_info {
    const char *name; /* "progressing": in texts, in JSON, as a label of metrics */
    int severity;     /* 0 = the least; no two are equal */
    enum esi_verdict_colour colour; /* on screens of its own */
    enum esi_tone tone;             /* in printed tables */
};

/* By enum esi_verdict. */
extern const struct esi_verdict_info esi_verdicts[ES_VERDICTS];

/* An operation of a thread, with converted ranks and times. */
struct esi_activity {
    bool present;
    uint16_t operation; /* without ES_OPERATION_FAILED */
    uint32_t error;     /* the class of the error that it returned; 0 = none */
    /* In calls that complete, start or cancel requests: the operation of the request
     * that peer, tag, communicator and sequence refer to; 0 = not known.  Their `bytes`
     * is the number of requests. */
    uint16_t awaited;
    int peer;         /* world rank, or ES_PEER_NONE, ES_PEER_ANY, ES_PEER_UNKNOWN */
    int argument;     /* the peer in the call: a rank in the communicator */
    bool has_no_peer; /* the communicator has no rank `argument`: the call fails */
    int tag;
    uint32_t bytes;
    uint32_t sequence;
    bool has_communicator;
    uint16_t communicator_index; /* in the table of the origin's process */
    uint32_t origin;             /* in the scope that delivered it */
    uint64_t key[2];             /* of the communicator */
    char communicator[64];
    uint64_t start_ns; /* run time */
    uint64_t stop_ns;  /* 0 = in progress */
    uint64_t error_ns; /* error bound of both; UINT64_MAX = not known */
    const char *site;  /* source location of the call; NULL or "" = not known;
                          borrowed */
};

/* The operation that peer, tag, communicator and sequence refer to: the awaited one, or
 * else the activity's own.  NULL if its code is not known. */
const struct es_operation *esi_activity_subject(const struct esi_activity *activity);

struct esi_thread_state {
    const char *host; /* borrowed */
    int pid;
    uint64_t birth; /* of its process: see scopes/origin_process.h */
    int rank;
    int thread;
    uint32_t origin; /* an element that records it, in the scope that was read */
    enum es_process_state process;
    int signal;
    int exit_code;
    uint64_t ended_ns;     /* run time of the process's end; 0 = alive, or not known */
    bool before_mpi;       /* it has not called MPI, or had not when it ended */
    uint64_t events;       /* total number of tuples published by the thread */
    uint64_t polls;        /* number of unsuccessful polls */
    unsigned elements;     /* number of elements that record it */
    unsigned elements_off; /* number of these that are off */
    struct esi_activity last;
    struct esi_activity open;

    /* Set by esi_thread_judge(). */
    enum esi_verdict verdict;
    unsigned unchanged;        /* number of pulls without an event */
    uint64_t quiet_since_ns;   /* time of the last event, or start of the open
                                  operation */
    bool lasts;                /* its wait is reported: it is stalled, or may soon be */
    bool polls_rise;           /* since the previous pull */
    uint64_t polling_since_ns; /* 0 = not polling */
};

/* Sets the verdict on a thread from its states now and at the previous pull (NULL =
 * first pull). It is stalled if it has been in one operation, or polling without
 * success, for `limit_ns`. */
void esi_thread_judge(struct esi_thread_state *state,
                      const struct esi_thread_state *before,
                      uint64_t limit_ns,
                      uint64_t now_ns);

/* Until when its open operation, or the time since its last one, lasts: until now, or
 * until its process ended; if that time is not known, until its last sign. */
uint64_t esi_thread_until_ns(const struct esi_thread_state *state, uint64_t now_ns);
/* How long it has been, or was, in its open operation, or without any since its last
 * event; 0 = not known. */
uint64_t esi_thread_quiet_ns(const struct esi_thread_state *state, uint64_t now_ns);

/* Whether the thread is in an operation and makes no progress. */
bool esi_thread_is_blocked(const struct esi_thread_state *state);

#endif
