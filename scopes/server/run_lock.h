/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Lock files of run directories: as long as somebody holds one, he is there. */
#ifndef ES_SCOPES_SERVER_RUN_LOCK_H
#define ES_SCOPES_SERVER_RUN_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"

/* Takes the lock; it goes with the last process that has the descriptor.  -EWOULDBLOCK:
 * somebody has it. */
int esi_run_lock_take(const char *run,
                      const char *file,
                      struct es_error *error,
                      int *ret_lock);

/* Shares the lock of a file that is there; it goes with the last process that has the
 * descriptor.  -1: it cannot be had. */
int esi_run_lock_share(const char *run, const char *file);

/* Waits until nobody holds or shares the lock, or until the time is up. */
void esi_run_lock_await_free(const char *run, const char *file, uint64_t timeout_ns);

/* Whether somebody holds it. */
bool esi_run_lock_is_taken(const char *run, const char *file);

/* Whether the file of a lock that is held lies in its directory no more. */
bool esi_run_lock_is_orphan(int lock);

#endif
