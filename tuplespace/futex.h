/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sleeping on words of shared memory, and barriers that the other side pays for.
 *
 * Every sleep ends after ESI_FUTEX_SLICE_NS at the latest, so that a sleeper finds out
 * that the other side died, and a wake-up that was lost costs time and nothing else.
 */
#ifndef ES_TUPLESPACE_FUTEX_H
#define ES_TUPLESPACE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESI_FUTEX_SLICE_NS UINT64_C(100000000)

/* Sleeps while *word holds `value`, for at most `timeout_ns`.  Spurious returns are
 * normal. */
void esi_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* Sleeps while each of the words holds its value, for at most `timeout_ns`.  Where the
 * kernel cannot wait for several words, for that time.  Spurious returns are normal. */
enum { ESI_FUTEX_WORDS = 128 };
void esi_futex_wait_any(_Atomic uint32_t *const words[],
                        const uint32_t values[],
                        size_t count,
                        uint64_t timeout_ns);

/* Wakes everybody who sleeps on the word, in any process. */
void esi_futex_wake(_Atomic uint32_t *word);

/* The half of a 64-bit counter that changes with every step. */
static inline _Atomic uint32_t *esi_futex_low_half(_Atomic uint64_t *counter)
{
    return (_Atomic uint32_t *)(void *)counter +
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0);
}

/* Asks to be included in other processes' barriers.  False where the kernel cannot. */
bool esi_barrier_register(void);

/* A full memory barrier in every running thread of all registered processes.  False
 * where the kernel cannot: then only time helps. */
bool esi_barrier_everywhere(void);

#endif
