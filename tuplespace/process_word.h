/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Identifies a process or thread by one word of shared memory: its pid in the lower
 * ES_READER_PID_BITS bits, its start time above.  0 stands for no process. */
#ifndef ES_TUPLESPACE_PROCESS_WORD_H
#define ES_TUPLESPACE_PROCESS_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/process.h"
#include "tuplespace/layout.h"

/* Returns the word of a process.  The start time is 0 if /proc does not show it. */
static inline uint64_t esi_process_word(int pid)
{
    uint64_t start;

    if (esi_process_start_time(pid, &start) != 0)
        start = 0;
    return (uint64_t)pid | start << ES_READER_PID_BITS;
}

/* Returns the pid in a word. */
static inline int esi_process_word_pid(uint64_t word)
{
    return (int)(word & ((UINT64_C(1) << ES_READER_PID_BITS) - 1));
}

/* Returns whether the process of a word is alive; false for 0. */
static inline bool esi_process_word_is_alive(uint64_t word)
{
    return word != 0 &&
           esi_process_is_alive(esi_process_word_pid(word), word >> ES_READER_PID_BITS);
}

#endif
