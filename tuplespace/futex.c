/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* futex(2) and membarrier(2), which the C library does not wrap. */
#include "config.h"

#include "tuplespace/futex.h"

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
