/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Lets SIGINT and SIGTERM end the current activity instead of the command. */
#include "config.h"

#include "cli/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

/* Lock-free on all supported platforms, so that a handler may set it. */
static atomic_bool interrupted;
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "signal handlers cannot take locks");

static void note_signal(int signal)
{
    (void)signal;
    atomic_store_explicit(&interrupted, true, memory_order_relaxed);
}

void esi_interrupt_catch(enum esi_interrupt which)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal};
    struct sigaction before;
    bool each = which == ES_INTERRUPT_EACH;

    if (!each)
        action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (each ||
            (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN))
            sigaction(signals[i], &action, NULL);
}

bool esi_interrupt_came(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

const atomic_bool *esi_interrupt_flag(void)
{
    return &interrupted;
}

void esi_interrupt_sleep(uint64_t span_ns)
{
    struct timespec span = {.tv_sec = (time_t)(span_ns / UINT64_C(1000000000)),
                            .tv_nsec = (long)(span_ns % UINT64_C(1000000000))};

    while (!esi_interrupt_came() &&
           clock_nanosleep(CLOCK_MONOTONIC, 0, &span, &span) == EINTR)
        continue;
}
