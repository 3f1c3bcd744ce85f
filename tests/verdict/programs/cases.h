/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cases.h - small MPI programs, wrong and right, each with its true verdict.
 *
 * A case is a function that all ranks call between MPI_Init() and MPI_Finalize().
 * Ranks and their observer synchronize by files in the folder $VERDICT_SIGNS: each rank
 * makes "reached.RANK" just before the call in which it is to stay, and right programs
 * continue once there is a file "go".  Without the folder nobody waits for "go".
 */
#ifndef TESTS_VERDICT_CASES_H
#define TESTS_VERDICT_CASES_H

#include <mpi.h>
#include <stdbool.h>

/* The ways in which a case ends. */
enum case_end {
    CASE_HANGS, /* never by itself */
    CASE_DIES,  /* with an error, by itself */
    CASE_GOES,  /* normally, some time after "go" */
};

struct verdict_case {
    const char *name;
    int ranks;
    enum case_end end;
    /* "KIND CERTAINTY RANKS": the kind is DEADLOCK, MISMATCH, MISSING, DIED or none.  A
     * certainty of "any" accepts both: the program does not reveal enough. */
    const char *verdict;
    void (*run)(void);
    bool threads; /* needs MPI_THREAD_MULTIPLE */
};

/* A row without a name ends each table. */
extern const struct verdict_case message_cases[];
extern const struct verdict_case request_cases[];
extern const struct verdict_case collective_cases[];
extern const struct verdict_case mismatch_cases[];
extern const struct verdict_case space_cases[];
extern const struct verdict_case end_cases[];
extern const struct verdict_case thread_cases[];
extern const struct verdict_case waiting_cases[];
extern const struct verdict_case busy_cases[];
extern const struct verdict_case alike_cases[];

/* In MPI_COMM_WORLD. */
extern int case_rank;
extern int case_size;

enum {
    TAG_DATA = 1,
    TAG_OTHER = 2,
    TAG_REPLY = 3,
    TAG_NEVER = 7, /* nobody sends it */
    LARGE_BYTES = 1 << 18,
};

/* LARGE_BYTES of zeros each, for messages that exceed the MPI's buffers. */
extern char case_large[LARGE_BYTES];
extern char case_large_in[LARGE_BYTES];

/* Tells the observer that this rank has reached the call in which it stays. */
void case_reached(void);
/* Sleeps until the rank has called case_reached(). */
void case_await_reached(int rank);
bool case_may_go(void);
/* Sleeps until case_may_go(). */
void case_await_go(void);
void case_nap(void);

/* Send or receive an integer over MPI_COMM_WORLD. */
void case_send(int to, int tag);
void case_receive(int from, int tag);
/* Receives a message that nobody sends. */
void case_receive_in_vain(int from);
/* Enters a barrier that some rank does not reach. */
void case_meet_in_vain(void);

/* Whether a loop continues; the answer is the same on all ranks.  All ranks
 * must call it in each round, from 0 on.  Every 32nd round they agree over a
 * separate communicator. */
bool case_goes_on(long round);

/* Gets the process id of each rank. */
void case_exchange_pids(int *ret_pids);

#endif
