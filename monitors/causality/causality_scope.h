/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The event set of a live run, so far: passes the tuples that a scope pulls through
 * causality (causality/causality.h) to a sink.
 *
 *   esi_causality_scope_config_init(&config);
 *   config.causality.sink = sink;
 *   esi_causality_scope_open(run, &config, &error, &scope);
 *   while ((more = esi_causality_scope_read(scope, false)) >= 0)
 *       ...pause if there is no more, until the run is over...
 *   esi_causality_scope_finish(scope);
 *   esi_causality_scope_close(scope);
 *
 * Works for runs that are alive, hang or have ended, and on all hosts of a run.
 *
 * May be used by one thread at a time.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_SCOPE_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_SCOPE_H

#include "eventspace/scope.h"
#include "monitors/causality/causality.h"
#include "monitors/follow/follower.h"

struct esi_causality_scope_config {
    struct es_scope_config scope; /* strings are borrowed for the call; if it leaves out
                                     ranks or hosts, only part of the order is found */
    struct esi_causality_config causality;
};

/* Sets the defaults: all tuples of all elements, including those that appear later. */
void esi_causality_scope_config_init(struct esi_causality_scope_config *config);

struct esi_causality_scope;

/* Opens a scope on a run, which is borrowed.  Returns 0, -EINVAL with a message if the
 * view is invalid, or another negative errno. */
int esi_causality_scope_open(struct es_run *run,
                             const struct esi_causality_scope_config *config,
                             struct es_error *error,
                             struct esi_causality_scope **ret_scope);
/* Accepts NULL. */
void esi_causality_scope_close(struct esi_causality_scope *scope);

/* Pulls once and emits the events that are ready.  If `drain`, elements that have
 * appeared join immediately, and tuples that stages hold back are emitted, too.
 * Returns 1 if more is available immediately, otherwise 0; -errno, or the error of the
 * sink. */
int esi_causality_scope_read(struct esi_causality_scope *scope, bool drain);

/* Reads everything available and the operations under way, and ends the input. */
int esi_causality_scope_finish(struct esi_causality_scope *scope);

/* For totals and channels.  Borrowed. */
const struct esi_causality *esi_causality_scope_causality(
    const struct esi_causality_scope *scope);

/* For information about the run and the reading.  Borrowed. */
const struct esi_follower *esi_causality_scope_follower(
    const struct esi_causality_scope *scope);

#endif
