/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where the analysis of collective operations gets them from: a scope over the
 * contributions of all ranks, whose tuples become calls in run time.
 *
 *   esi_collectives_scope_config_init(&config);
 *   config.servers = servers;
 *   esi_collectives_scope_open(run, &config, &error, &scope);
 *   while ((more = esi_collectives_scope_pull(scope, false)) >= 0)
 *       esi_collectives_scope_add(scope, analysis);
 *   esi_collectives_scope_close(scope);
 *
 *   one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_SCOPE_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_SCOPE_H

#include "eventspace/scope.h"
#include "monitors/collectives/collectives.h"
#include "monitors/follow/follower.h"
#include "monitors/follow/thread_state.h"

/* Who else is told of what is read.  A negative result ends the reading. */
struct esi_collectives_listener {
    /* NULL = nobody listens, as with the next. */
    int (*on_instance)(void *data, const struct esi_collective_instance *instance);
    /* An end of a message, or what a rank brings into a tree, or neither. */
    int (*on_end)(void *data,
                  const struct esi_activity *activity,
                  int world_rank,
                  const char *host);
    void *data;
};

/* Every tuple of class collective of all ranks, and of class contribute, which tell
 * that an operation went through an instrumented tree; the scope is announced as
 * "collectives". */
void esi_collectives_scope_config_init(struct es_scope_config *config);

struct esi_collectives_scope;

/* Borrows the run and what the configuration does.  -EINVAL with words. */
int esi_collectives_scope_open(struct es_run *run,
                               const struct es_scope_config *config,
                               struct es_error *error,
                               struct esi_collectives_scope **ret_scope);
/* Accepts NULL. */
void esi_collectives_scope_close(struct esi_collectives_scope *scope);

/* Calls the listener's `on_end` from now on, for what the scope's view has. */
void esi_collectives_scope_set_listener(
    struct esi_collectives_scope *scope,
    const struct esi_collectives_listener *listener);

/* Pulls once.  Elements that have appeared join now and then, with `drain` at once.
 * Returns 1 when there is more to be had at once, else 0, or -errno. */
int esi_collectives_scope_pull(struct esi_collectives_scope *scope, bool drain);
/* Adds what the last pull has brought to the analysis, and has it give up what is too
 * old.  0 or -ENOMEM. */
int esi_collectives_scope_add(struct esi_collectives_scope *scope,
                              struct esi_collectives *analysis);

/* What did not become calls. */
struct esi_collectives_losses {
    uint64_t lost;     /* tuples overwritten before they were read */
    uint64_t missed;   /* tuples that were gone before the reading began */
    uint64_t unplaced; /* tuples whose communicator is not known, or that have no number
                        */
    uint64_t between;  /* tuples on intercommunicators, which are not analysed */
};

void esi_collectives_scope_losses(const struct esi_collectives_scope *scope,
                                  struct esi_collectives_losses *ret_losses);

/* Host of a world rank; NULL = not known.  Borrowed. */
const char *esi_collectives_scope_host(const struct esi_collectives_scope *scope,
                                       int world_rank);
/* World ranks that are known of. */
int esi_collectives_scope_ranks(const struct esi_collectives_scope *scope);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_collectives_scope_follower(
    const struct esi_collectives_scope *scope);

#endif
