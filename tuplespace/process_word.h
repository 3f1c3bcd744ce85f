/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_word.h - a process or thread in one word of shared memory: its pid and when
 * it started (ES_READER_PID_BITS).  0 is nobody. */
#ifndef ES_TUPLESPACE_PROCESS_WORD_H
#define ES_TUPLESPACE_PROCESS_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/process.h"
#include "tuplespace/layout.h"

/* Without the start time where /proc cannot tell it. */
static inline uint64_t esi_process_word(int pid)
{
    uint64_t start;

    if (esi_process_start_time(pid, &start) != 0)
        start = 0;
    return (uint64_t)pid | start << ES_READER_PID_BITS;
}

static inline int esi_process_word_pid(uint64_t word)
{
    return (int)(word & ((UINT64_C(1) << ES_READER_PID_BITS) - 1));
}

static inline bool esi_process_word_is_alive(uint64_t word)
{
    return word != 0 &&
           esi_process_is_alive(esi_process_word_pid(word), word >> ES_READER_PID_BITS);
}

#endif
