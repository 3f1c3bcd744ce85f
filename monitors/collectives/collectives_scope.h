/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The input of the analysis of collective operations: passes the contributions of all
 * ranks, which a scope pulls, through causality (causality/causality.h), which matches
 * them as they come.
 *
 *   esi_collectives_scope_config_init(&config);
 *   config.servers = servers;
 *   esi_collectives_scope_open(run, &config, &causality, &error, &scope);
 *   while ((more = esi_collectives_scope_pull(scope, false)) >= 0)
 *       esi_collectives_scope_add(scope);
 *   esi_collectives_scope_close(scope);
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_SCOPE_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_SCOPE_H

#include "eventspace/scope.h"
#include "monitors/causality/causality.h"
#include "monitors/collectives/collectives.h"
#include "monitors/follow/follower.h"

/* Callbacks for data that is read.  A negative result ends the reading. */
struct esi_collectives_listener {
    /* May be NULL, like the others. */
    int (*on_instance)(void *data, const struct esi_collective_instance *instance);
    /* Called for each operation in the scope's view that has ended; its element is a
     * number in the follower's scope. */
    int (*on_tuple)(void *data,
                    struct esi_follower *follower,
                    uint32_t origin,
                    const struct esi_causal_tuple *tuple);
    /* Called when everything available has been read. */
    int (*on_read)(void *data);
    void *data;
};

/* Selects every tuple of class collective of all ranks, and of class contribute, which
 * shows that an operation used an instrumented tree; the scope is announced as
 * "collectives". */
void esi_collectives_scope_config_init(struct es_scope_config *config);

struct esi_collectives_scope;

/* Borrows the run and what the configuration borrows.  `causality` gives the listener,
 * the patience and the greatest number of incomplete instances.  Returns 0, or -EINVAL
 * and the like with `error` filled. */
int esi_collectives_scope_open(struct es_run *run,
                               const struct es_scope_config *config,
                               const struct esi_causality_config *causality,
                               struct es_error *error,
                               struct esi_collectives_scope **ret_scope);
/* Accepts NULL. */
void esi_collectives_scope_close(struct esi_collectives_scope *scope);

/* Sets the listener for the tuples in the scope's view. */
void esi_collectives_scope_set_listener(
    struct esi_collectives_scope *scope,
    const struct esi_collectives_listener *listener);

/* Pulls once.  New elements join periodically, with `drain` immediately.  Returns 1 if
 * more data is available, 0 if not, or -errno. */
int esi_collectives_scope_pull(struct esi_collectives_scope *scope, bool drain);
/* Adds the data of the last pull, and lets old instances be given up.  Returns 0,
 * -ENOMEM, or the error of the listener. */
int esi_collectives_scope_add(struct esi_collectives_scope *scope);

/* For totals, and to end the input.  Borrowed. */
struct esi_causality *esi_collectives_scope_causality(
    const struct esi_collectives_scope *scope);

/* Host of a world rank; NULL = not known.  Borrowed. */
const char *esi_collectives_scope_host(const struct esi_collectives_scope *scope,
                                       int world_rank);
/* Number of known world ranks. */
int esi_collectives_scope_ranks(const struct esi_collectives_scope *scope);

/* Gives access to the state of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_collectives_scope_follower(
    const struct esi_collectives_scope *scope);

#endif
