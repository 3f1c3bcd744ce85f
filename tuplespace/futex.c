/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* futex(2) and membarrier(2), which have no wrappers in the C library. */
#include "config.h"

#include "tuplespace/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void esi_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec timeout;

    if (timeout_ns > ESI_FUTEX_SLICE_NS)
        timeout_ns = ESI_FUTEX_SLICE_NS;
    timeout = (struct timespec){.tv_nsec = (long)timeout_ns};
    /* Not FUTEX_PRIVATE: the other side is another process. */
    syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

/* Returns false if the kernel or its headers do not support it. */
static bool wait_any(_Atomic uint32_t *const words[],
                     const uint32_t values[],
                     size_t count,
                     uint64_t timeout_ns)
{
#if defined(SYS_futex_waitv) && defined(FUTEX_32)
    struct futex_waitv waits[ESI_FUTEX_WORDS];
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    timeout_ns += (uint64_t)end.tv_nsec;
    end.tv_sec += (time_t)(timeout_ns / 1000000000);
    end.tv_nsec = (long)(timeout_ns % 1000000000);
    for (size_t i = 0; i < count; i++)
        waits[i] = (struct futex_waitv){.val = values[i],
                                        .uaddr = (uint64_t)(uintptr_t)words[i],
                                        .flags = FUTEX_32};
    return syscall(SYS_futex_waitv, waits, count, 0, &end, CLOCK_MONOTONIC) >= 0 ||
           errno == ETIMEDOUT || errno == EAGAIN || errno == EINTR;
#else
    (void)words;
    (void)values;
    (void)count;
    (void)timeout_ns;
    return false;
#endif
}

void esi_futex_wait_any(_Atomic uint32_t *const words[],
                        const uint32_t values[],
                        size_t count,
                        uint64_t timeout_ns)
{
    struct timespec pause = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                             .tv_nsec = (long)(timeout_ns % 1000000000)};

    if (count == 0 || !wait_any(words, values, count, timeout_ns))
        nanosleep(&pause, NULL);
}

void esi_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool esi_barrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool esi_barrier_everywhere(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}
