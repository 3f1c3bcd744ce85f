/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* interrupt.h - SIGINT and SIGTERM that end what goes on, and not the command. */
#ifndef ES_CLI_INTERRUPT_H
#define ES_CLI_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum esi_interrupt {
    ES_INTERRUPT_FIRST, /* a second one ends the process; what is ignored stays so */
    ES_INTERRUPT_EACH,
};

/* From now on the first, or each, is only noted. */
void esi_interrupt_catch(enum esi_interrupt which);
/* Whether one came. */
bool esi_interrupt_came(void);
/* The same, for what asks in other threads. */
const atomic_bool *esi_interrupt_flag(void);
/* Waits for so long, or until one that is noted comes. */
void esi_interrupt_sleep(uint64_t span_ns);

#endif
