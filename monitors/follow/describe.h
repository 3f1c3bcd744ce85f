/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* describe.h - describes activities, sets of ranks and ends of processes in words.
 *
 * Each function writes into `out` of `size` bytes, truncated if necessary and always
 * terminated, and returns out. */
#ifndef ES_MONITORS_FOLLOW_DESCRIBE_H
#define ES_MONITORS_FOLLOW_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "monitors/follow/thread_state.h"

/* "rank 3", "ranks 0-2,7"; long sets end in "and 12 more". */
const char *esi_describe_ranks(char *out, size_t size, const int *ranks, size_t count);

/* "MPI_Recv from 3, tag 7", "MPI_Barrier on MPI_COMM_WORLD, instance 5",
 * "MPI_Waitall of 8 requests, first MPI_Irecv from 1, tag 0". */
const char *esi_describe_activity(char *out,
                                  size_t size,
                                  const struct esi_activity *activity);

/* "killed by SIGKILL", "exited with 3 without MPI_Finalize", "has not called MPI yet";
 * otherwise "" while it runs. */
const char *esi_describe_end(char *out,
                             size_t size,
                             const struct esi_thread_state *thread);

/* Reports that all collectors of these ranks, or `some` of them, are off, with the
 * command that switches them on. */
const char *esi_describe_off(char *out,
                             size_t size,
                             const char *run,
                             const int *ranks,
                             size_t count,
                             bool some);

/* Appends to the text in `out`. */
void esi_describe_append(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
