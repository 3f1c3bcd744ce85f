/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * replay.h - deadlocks that did not occur only because of buffering or timing.
 *
 * Replays a finished run strictly, with its own matches: a standard send ends when its
 * receive is posted, a receive when its send has begun, a collective operation when all
 * members have entered, a completion call when this holds for its requests.  MPI
 * permits all of this (MPI-4.0, sections 3.5 and 6.14). Calls that wait for each other
 * in a cycle would then hang: the error is latent.
 *
 *   esi_replay_create(&replay);
 *   causality_config.listener = esi_replay_listener(replay);
 *   ...                            the whole run
 *   esi_replay_finish(replay, &causality_totals);
 *
 * Unknown operations are assumed to wait for nothing, so the result is a lower bound
 * (docs/verdicts.md says when). Linear in the tuples, about 100 bytes for each.
 *
 * Pure logic; one thread at a time.
 */
#ifndef ES_MONITORS_LATENT_REPLAY_H
#define ES_MONITORS_LATENT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"

struct esi_replay;

/* Returns 0 or -ENOMEM. */
int esi_replay_create(struct esi_replay **ret_replay);
/* Accepts NULL. */
void esi_replay_destroy(struct esi_replay *replay);

/* Takes the operations of a run. */
struct esi_causal_listener esi_replay_listener(struct esi_replay *replay);

/* Replays all operations, once; `totals` are those of their matching.  The run model
 * must still exist.  Returns 0 or -ENOMEM. */
int esi_replay_finish(struct esi_replay *replay,
                      const struct esi_causality_totals *totals);

/* --- Results ---------------------------------------------------------------------- */

enum esi_replay_reason {
    ESI_REPLAY_POST = 1, /* a send, whose receive must be posted */
    ESI_REPLAY_SEND,     /* a receive, whose send must begin */
    ESI_REPLAY_MEMBER,   /* a collective operation, which a member must enter */
};

/* The description of a call. */
struct esi_replay_call {
    int rank;        /* in MPI_COMM_WORLD; -1 = not known */
    int thread;      /* of the process */
    uint64_t number; /* among the thread's recorded operations, from 1 */
    uint64_t start;
    uint16_t operation;
    int32_t peer; /* as in the tuple */
    int32_t tag;
    const char *communicator; /* its name, "" = none or not known; borrowed */
};

/* `call` cannot end before `awaited` has begun.  In a cycle, the next step's call
 * precedes `awaited` in its thread, and cannot end either. */
struct esi_replay_step {
    struct esi_replay_call call;
    struct esi_replay_call awaited;
    uint16_t request; /* the operation that `call` completes; 0 = its own */
    uint8_t reason;   /* enum esi_replay_reason */
    bool hidden;      /* MPI may wait here but need not: this run did not */
};

struct esi_replay_finding {
    struct esi_replay_step *steps; /* of the cycle; owned */
    size_t step_count;
    uint64_t times;     /* number of equal findings: same threads, same operations */
    uint64_t signature; /* the same for equal findings */
};

/* Number of different findings that are kept; all are counted. */
enum { ESI_REPLAY_FINDINGS = 64 };

/* Smallest first, then by time. */
size_t esi_replay_finding_count(const struct esi_replay *replay);
const struct esi_replay_finding *esi_replay_finding(const struct esi_replay *replay,
                                                    size_t index);

struct esi_replay_totals {
    uint64_t begin;       /* the earliest start */
    uint64_t calls;       /* operations that were told */
    uint64_t messages;    /* with both ends */
    uint64_t collectives; /* instances */
    uint64_t cycles;      /* components with a cycle */
    /* If any of these is not 0, the result is a lower bound. */
    uint64_t lost;
    uint64_t unmatched; /* message ends without a match */
    uint64_t unknown;   /* sends whose completing call is not known */
    uint64_t unnumbered;
    uint64_t unplaced; /* tuples on an unknown communicator */
};

void esi_replay_totals(const struct esi_replay *replay,
                       struct esi_replay_totals *ret_totals);
bool esi_replay_is_incomplete(const struct esi_replay *replay);

#endif
