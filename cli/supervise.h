/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs a program as a child and gets out of its way: for `exec` (the program) and `run`
 * (the launcher).
 *
 * The child inherits descriptors, process group, session, terminal and signal settings
 * as they were.  The supervisor sleeps, holds none of the descriptors, and passes on
 * the signals that are sent to it alone.  Single-threaded programs only.
 */
#ifndef ES_CLI_SUPERVISE_H
#define ES_CLI_SUPERVISE_H

#include <stdbool.h>
#include <sys/types.h>

struct es_supervision {
    char **argv;           /* borrowed; argv[0] is looked up in PATH */
    int death_signal;      /* the child gets it when the supervisor dies; 0 = none */
    bool keep_descriptors; /* the supervisor keeps its own: it still has something to
                              print */
    int lifeline;          /* else the one above 2 that it keeps: its closing tells the
                              launcher that the rank is dead, which must not be before
                              its end is noted; -1 = none */
};

/* Starts the child.  Returns its process id, or -errno. */
pid_t esi_supervise_start(const struct es_supervision *supervision);

/* Waits for the child, passing signals on meanwhile.  Returns its status as waitpid(2)
 * gives it, or -1 when it was not to be had.  Once per start. */
int esi_supervise_wait(pid_t child);

/* Ends this process as the child ended: same exit code, or death by the same signal
 * without a core file of its own. */
_Noreturn void esi_supervise_end_alike(int status);

/* Becomes the program; prints why and ends with 127 (not found) or 126 when that fails.
 */
_Noreturn void esi_supervise_become(char **argv);

#endif
