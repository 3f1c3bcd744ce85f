/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Why no call of MPI is seen.
 *
 * A process that has ended shows nothing any more, so its memory map is read in /proc
 * while it runs: soon after the start, then more and more rarely, and only until the
 * first process records calls.
 */
#ifndef ES_CLI_LAUNCH_UNSEEN_H
#define ES_CLI_LAUNCH_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the order of what they explain: the last one counts. */
enum esi_unseen_reason {
    ES_UNSEEN_UNKNOWN,
    ES_UNSEEN_NO_CALL,    /* MPI and the preload library are loaded */
    ES_UNSEEN_NO_LIBRARY, /* MPI is loaded, but not the preload library */
};

/* Caller's memory; initially all zero. */
struct esi_unseen {
    uint64_t began_ns;
    uint64_t next_ns; /* of the next look */
    bool is_over;     /* calls are recorded */
    enum esi_unseen_reason reason;
    /* Of the process with that reason. */
    char program[256];
    bool is_disabled;      /* it has EVENTSPACE_DISABLE */
    bool lost_environment; /* it lacks EVENTSPACE_RUN */
    char preload[1024];    /* its LD_PRELOAD; "" if not set */
};

/* Looks at the process and its descendants if it is time to do so.  Returns the
 * milliseconds until the next look, or -1 if none is necessary. */
int esi_unseen_look(struct esi_unseen *unseen, pid_t root);

/* Prints that nothing of `program` was recorded, and what is known of the reason; with
 * `is_one_host` for this host only. */
void esi_unseen_note(const struct esi_unseen *unseen,
                     const char *program,
                     bool is_one_host);

#endif
