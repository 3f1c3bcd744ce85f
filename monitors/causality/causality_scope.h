/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The event set of a live run, as far as it has come: what a scope pulls goes through
 * causality (causality/causality.h) to a sink.
 *
 *   esi_causality_scope_config_init(&config);
 *   config.causality.sink = sink;
 *   esi_causality_scope_open(run, &config, &error, &scope);
 *   while ((more = esi_causality_scope_read(scope, false)) >= 0)
 *       ...pause where there is no more, till the run is over...
 *   esi_causality_scope_finish(scope);
 *   esi_causality_scope_close(scope);
 *
 * Works on runs that live, hang or are dead, and on all hosts of a run.
 *
 *   one thread at a time.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSALITY_SCOPE_H
#define ES_MONITORS_CAUSALITY_CAUSALITY_SCOPE_H

#include "eventspace/scope.h"
#include "monitors/causality/causality.h"
#include "monitors/follow/follower.h"

struct esi_causality_scope_config {
    struct es_scope_config scope; /* texts borrowed for the call; of ranks and hosts
                                     left out only a part of the order is found */
    struct esi_causality_config causality;
};

/* Every tuple of all elements there are, and of those that appear. */
void esi_causality_scope_config_init(struct esi_causality_scope_config *config);

struct esi_causality_scope;

/* Borrows the run.  -EINVAL with words where the view is not understood. */
int esi_causality_scope_open(struct es_run *run,
                             const struct esi_causality_scope_config *config,
                             struct es_error *error,
                             struct esi_causality_scope **ret_scope);
/* Accepts NULL. */
void esi_causality_scope_close(struct esi_causality_scope *scope);

/* Pulls once and gives what can be given.  `drain`: elements that have appeared join at
 * once, and what stages keep back is given, too.  1 when there is more to be had at
 * once, else 0; -errno, or what the sink returned. */
int esi_causality_scope_read(struct esi_causality_scope *scope, bool drain);

/* Reads all that is there, and the operations under way; then nothing more will come.
 */
int esi_causality_scope_finish(struct esi_causality_scope *scope);

/* For totals and channels; borrowed. */
const struct esi_causality *esi_causality_scope_causality(
    const struct esi_causality_scope *scope);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_causality_scope_follower(
    const struct esi_causality_scope *scope);

#endif
