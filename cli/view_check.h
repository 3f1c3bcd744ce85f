/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* view_check.h - checks that a run has the parts that a view selects. */
#ifndef ES_CLI_VIEW_CHECK_H
#define ES_CLI_VIEW_CHECK_H

#include <stdbool.h>

#include "cli/consumer.h"
#include "eventspace/scope.h"

/* Checks the ranks, host, thread and communicator of a view.  `follow`: threads, hosts
 * and communicators may still appear while a process is alive.  Returns 0, or the exit
 * status after a message that lists what the run has.  A run that has not begun
 * passes. */
int esi_view_check(const struct esi_consumer *consumer,
                   const struct es_view *view,
                   bool follow);

/* Checks that the ranks "0-3,7" in `text` are from 0 to `world` - 1, the ranks of
 * `owner` ("the run"). Returns 0, or the exit status after a message. */
int esi_view_check_ranks(const char *text, int world, const char *owner);

#endif
