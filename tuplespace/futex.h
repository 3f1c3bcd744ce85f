/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sleeping on words of shared memory, and asymmetric barriers, whose cost falls on the
 * readers.
 *
 * Every sleep ends after at most ESI_FUTEX_SLICE_NS, so a sleeper notices when the
 * other side has died, and a lost wake-up only costs time.
 */
#ifndef ES_TUPLESPACE_FUTEX_H
#define ES_TUPLESPACE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESI_FUTEX_SLICE_NS UINT64_C(100000000)

/* Sleeps while *word equals `value`, for at most `timeout_ns`.  May return
 * spuriously. */
void esi_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* Sleeps while all words have their values, for at most `timeout_ns`.  Sleeps the full
 * time if the kernel cannot wait for several words.  May return spuriously. */
enum { ESI_FUTEX_WORDS = 128 };
void esi_futex_wait_any(_Atomic uint32_t *const words[],
                        const uint32_t values[],
                        size_t count,
                        uint64_t timeout_ns);

/* Wakes all sleepers on the word, in all processes. */
void esi_futex_wake(_Atomic uint32_t *word);

/* The half of a 64-bit counter that changes with each increment. */
static inline _Atomic uint32_t *esi_futex_low_half(_Atomic uint64_t *counter)
{
    return (_Atomic uint32_t *)(void *)counter +
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0);
}

/* Registers this process for barriers of other processes.  Returns false if the kernel
 * does not support them. */
bool esi_barrier_register(void);

/* A full memory barrier in all running threads of all registered processes.  Returns
 * false if the kernel does not support it; then the caller can only wait. */
bool esi_barrier_everywhere(void);

#endif
