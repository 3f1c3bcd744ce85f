/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* view_check.h - whether a run has what a view asks for by its name or number. */
#ifndef ES_CLI_VIEW_CHECK_H
#define ES_CLI_VIEW_CHECK_H

#include <stdbool.h>

#include "cli/consumer.h"
#include "eventspace/scope.h"

/* Looks for the ranks, the host, the thread and the communicator of a view.  `follow`:
 * threads, hosts and communicators may yet come as long as a process lives.  0, or the
 * exit status after a message that says what the run has.  A run that has not begun has
 * all. */
int esi_view_check(const struct esi_consumer *consumer,
                   const struct es_view *view,
                   bool follow);

/* Looks for the ranks "0-3,7" of `text` among those from 0 to `world` - 1 that `owner`,
 * "the run", has.  0, or the exit status after a message. */
int esi_view_check_ranks(const char *text, int world, const char *owner);

#endif
