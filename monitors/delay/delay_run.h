/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_run.h - where the time of a run went, as far as its elements still contain
 * it. */
#ifndef ES_MONITORS_DELAY_DELAY_RUN_H
#define ES_MONITORS_DELAY_DELAY_RUN_H

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/servers.h"
#include "monitors/delay/delay.h"

/* Reads everything present now.  Run and servers (NULL = none) are borrowed for the
 * call.  Returns 0, -ENOMEM, or the errors of esi_causality_scope_open() and of
 * reading. */
int esi_delay_read_run(struct es_run *run,
                       struct es_servers *servers,
                       struct es_error *error,
                       struct esi_delay **ret_delay);

#endif
