/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* interrupt.h - SIGINT and SIGTERM that end what goes on, and not the command. */
#ifndef ES_CLI_INTERRUPT_H
#define ES_CLI_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* From now on the first of them is only noted, and the second ends the process.  Those
 * that are ignored stay so. */
void esi_interrupt_catch(void);
/* Whether one came. */
bool esi_interrupt_came(void);
/* The same, for what asks in other threads. */
const atomic_bool *esi_interrupt_flag(void);

#endif
