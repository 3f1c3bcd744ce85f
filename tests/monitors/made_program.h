/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Programs that are made of tuples: written by hand, or drawn at random so that they
 * end where sends are buffered.  What a strict replay of them comes to is found by
 * running them.
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
    MADE_IBARRIER, /* message: of the instances */
    MADE_WAIT,     /* for the request of call number `first` */
    MADE_WAITALL,  /* for all requests that are open */
};

struct made_call {
    enum made_kind kind;
    int message;
    int other;
    int first;
    uint64_t start;
    uint64_t stop;
    int completed_by; /* requests: number of the call; -1 = none yet */
};

/* By number: who sent and who receives it, and the calls of both; -1 = none yet. */
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
};

void made_program_begin(struct made_program *program, int ranks);
/* Adds a call; returns its number. */
int made_program_call(struct made_program *program,
                      int rank,
                      enum made_kind kind,
                      int message);
/* A message that is sent; its calls are added by their own. */
int made_program_message(struct made_program *program, int from, int to, int tag);
/* A send and its receive at once. */
void made_program_collective(struct made_program *program, enum made_kind kind);

/* So many steps at random; then everything is received and completed. */
void made_program_draw(struct made_program *program, unsigned *seed, int steps);

/* Runs it strictly.  Whether all ranks come to their end. */
bool made_program_ends(const struct made_program *program);

/* Replays its tuples.  Caller destroys. */
struct esi_replay *made_program_replay(const struct made_program *program);

#endif
