/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * replay.h - deadlocks that a run did not have because of buffers or luck.
 *
 * A run that ended is replayed strictly, with its own matches: a standard send ends
 * when its receive is posted, a receive when its send has begun, a collective operation
 * when all members have entered, a completion call when that holds for its requests.
 * MPI permits all that (MPI-4.0, sections 3.5 and 6.14).  Calls that wait for each
 * other in a circle would hang then: the error is latent.
 *
 *   esi_replay_create(&replay);
 *   esi_replay_add_process(replay, rank, &p);
 *   esi_replay_set_communicator(replay, p, index, &communicator);
 *   esi_replay_add_thread(replay, p, thread, &t);
 *   esi_replay_add(replay, t, &tuple);  ...
 *   esi_replay_finish(replay);
 *
 * What is not known is taken to wait for nothing: so what is found is a lower bound
 * (docs/latent.md says when).  Linear in the tuples, about 100 bytes for each.
 *
 * Pure logic but for esi_replay_archive(); one object is one thread's at a time.
 */
#ifndef ES_MONITORS_LATENT_REPLAY_H
#define ES_MONITORS_LATENT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/tuple.h"

struct esi_replay;

/* 0 or -ENOMEM. */
int esi_replay_create(struct esi_replay **ret_replay);
/* Accepts NULL. */
void esi_replay_destroy(struct esi_replay *replay);

/* Replays an archive.  0, -ENOMEM; -ENOENT, -EINVAL, -EBADMSG with words. */
int esi_replay_archive(const char *directory,
                       struct es_error *error,
                       struct esi_replay **ret_replay);

/* --- What is replayed; texts are copied; 0 or -ENOMEM ----------------------------- */

struct esi_replay_communicator {
    uint64_t key[2]; /* alike in all members */
    const char *name;
    int rank; /* own */
    int size;
    int remote_size;  /* 0 unless an intercommunicator */
    int first;        /* world rank of rank 0, */
    int remote_first; /* and of the remote group's: tell the groups apart */
};

int esi_replay_add_process(struct esi_replay *replay, int rank, uint32_t *ret_process);
/* Index `index` of the process's table. */
int esi_replay_set_communicator(struct esi_replay *replay,
                                uint32_t process,
                                uint16_t index,
                                const struct esi_replay_communicator *communicator);
/* A thread of a process; the same one again gets the number that it has. */
int esi_replay_add_thread(struct esi_replay *replay,
                          uint32_t process,
                          int thread,
                          uint32_t *ret_thread);
/* In any order; times are of one clock in each process.  What is under way has stop 0.
 */
int esi_replay_add(struct esi_replay *replay,
                   uint32_t thread,
                   const struct es_tuple *tuple);
/* So many tuples are missing. */
void esi_replay_lose(struct esi_replay *replay, uint64_t lost);

/* All is there: replays it.  Nothing may be added afterwards. */
int esi_replay_finish(struct esi_replay *replay);

/* --- What is found ---------------------------------------------------------------- */

enum esi_replay_reason {
    ESI_REPLAY_POST = 1, /* a send, whose receive has to be posted */
    ESI_REPLAY_SEND,     /* a receive, whose send has to begin */
    ESI_REPLAY_MEMBER,   /* a collective operation, which a member has to enter */
};

/* A call, as people are told of it. */
struct esi_replay_call {
    int rank;        /* in the world; -1 = not known */
    int thread;      /* of the process */
    uint64_t number; /* among the thread's recorded operations, from 1 */
    uint64_t start;
    uint16_t operation;
    int32_t peer; /* as the tuple has it */
    int32_t tag;
    const char *communicator; /* its name, "" = none or not known; borrowed */
};

/* `call` cannot end before `awaited` has begun.  In a cycle the next step's call comes
 * before that one in its thread, and cannot end either. */
struct esi_replay_step {
    struct esi_replay_call call;
    struct esi_replay_call awaited;
    uint16_t request; /* operation that `call` completes; 0 = it is its own */
    uint8_t reason;   /* enum esi_replay_reason */
    bool hidden;      /* MPI may wait here, and need not: this run did not */
};

struct esi_replay_finding {
    struct esi_replay_step *steps; /* of the cycle; owned */
    size_t step_count;
    uint64_t times; /* how many like this there are: same threads, same operations */
    uint64_t signature; /* alike for those */
};

/* Of findings that differ so many are kept; all are counted. */
enum { ESI_REPLAY_FINDINGS = 64 };

/* Smallest first, then by time. */
size_t esi_replay_finding_count(const struct esi_replay *replay);
const struct esi_replay_finding *esi_replay_finding(const struct esi_replay *replay,
                                                    size_t index);

struct esi_replay_totals {
    uint64_t begin;       /* the earliest start */
    uint64_t calls;       /* tuples that were added */
    uint64_t messages;    /* with both ends */
    uint64_t collectives; /* instances */
    uint64_t cycles;      /* components that have one */
    /* Each of these makes what is found a lower bound. */
    uint64_t lost;
    uint64_t unmatched; /* ends of messages that found no other */
    uint64_t unknown;   /* sends of which nobody can say which call completed them */
    uint64_t unnumbered;
    uint64_t unplaced; /* tuples whose communicator is not known */
};

void esi_replay_totals(const struct esi_replay *replay,
                       struct esi_replay_totals *ret_totals);
bool esi_replay_is_incomplete(const struct esi_replay *replay);

#endif
