/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Programs that are lists of calls, from which tuples are made: written by hand, or
 * drawn at random so that they end if sends are buffered.  Executing a program
 * strictly, without buffering, gives the expected result of its strict replay.
 */
#ifndef ES_TESTS_MONITORS_MADE_PROGRAM_H
#define ES_TESTS_MONITORS_MADE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/latent/replay.h"

enum { MADE_RANKS = 4, MADE_CALLS = 400, MADE_MESSAGES = 1000 };

enum made_kind {
    MADE_SEND,
    MADE_RECEIVE,
    MADE_EXCHANGE, /* sends `message`, receives `other` */
    MADE_ISEND,
    MADE_IRECEIVE,
    MADE_BUFFERED,
    MADE_BARRIER,
    MADE_IBARRIER, /* `message` is the instance */
    MADE_WAIT,     /* for the request of call number `first` */
    MADE_WAITALL,  /* for all open requests */
};

struct made_call {
    enum made_kind kind;
    int message;
    int other;
    int first;
    uint64_t start;
    uint64_t stop;
    int completed_by; /* requests: the call that completes it; -1 = none yet */
};

/* Source, destination and the numbers of both calls; -1 = none yet. */
struct made_message {
    int source, destination, tag;
    int send, receive;
    uint32_t sequence;
};

struct made_program {
    int ranks;
    uint64_t now;
    struct made_call calls[MADE_RANKS][MADE_CALLS];
    int counts[MADE_RANKS];
    struct made_message messages[MADE_MESSAGES];
    int message_count;
    int instances;
    int instance_calls[MADE_CALLS][MADE_RANKS];
    struct esi_causality *causality; /* that feeds the replay */
    uint32_t elements[MADE_RANKS];   /* by rank */
    struct esi_replay *replay;
};

void made_program_begin(struct made_program *program, int ranks);
/* Adds a call; returns its number. */
int made_program_call(struct made_program *program,
                      int rank,
                      enum made_kind kind,
                      int message);
/* Adds a message; its calls are added separately. */
int made_program_message(struct made_program *program, int from, int to, int tag);
/* Adds a collective call of all ranks. */
void made_program_collective(struct made_program *program, enum made_kind kind);

/* Draws `steps` steps, then adds missing sends and receives and completes requests. */
void made_program_draw(struct made_program *program, uint64_t *seed, int steps);

/* Executes the program strictly.  Returns whether all ranks end. */
bool made_program_ends(const struct made_program *program);

/* Replays the tuples of its calls. */
struct esi_replay *made_program_replay(struct made_program *program);
/* The same of tuples that are added in between. */
void made_program_open_replay(struct made_program *program);
void made_program_add(struct made_program *program,
                      int rank,
                      const struct es_tuple *tuple);
struct esi_replay *made_program_finish_replay(struct made_program *program);
void made_program_release(struct made_program *program);

#endif
