/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* interrupt.h - lets SIGINT and SIGTERM end the current activity instead of the
 * command. */
#ifndef ES_CLI_INTERRUPT_H
#define ES_CLI_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum esi_interrupt {
    ES_INTERRUPT_FIRST, /* a second signal ends the process; ignored signals remain
                           ignored */
    ES_INTERRUPT_EACH,
};

/* From now on the first signal, or each, is only recorded. */
void esi_interrupt_catch(enum esi_interrupt which);
/* Whether a signal was recorded. */
bool esi_interrupt_came(void);
/* The same for other threads. */
const atomic_bool *esi_interrupt_flag(void);
/* Sleeps for this time, or until a signal is recorded. */
void esi_interrupt_sleep(uint64_t span_ns);

#endif
