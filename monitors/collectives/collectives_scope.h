/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where the analysis of collective operations gets them from: a scope over the
 * contributions of all ranks, whose tuples become calls in run time.
 *
 *   es_collectives_scope_config_init(&config);
 *   config.servers = servers;
 *   es_collectives_scope_open(run, &config, &error, &scope);
 *   while ((more = es_collectives_scope_pull(scope, false)) >= 0)
 *       es_collectives_scope_add(scope, analysis);
 *   es_collectives_scope_close(scope);
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
struct es_collectives_listener {
    /* NULL = nobody listens, as with the next. */
    int (*on_instance)(void *data, const struct es_collective_instance *instance);
    /* An end of a message, or what a rank brings into a tree, or neither. */
    int (*on_end)(void *data,
                  const struct es_activity *activity,
                  int world_rank,
                  const char *host);
    void *data;
};

/* Every tuple of class collective of all ranks, and of class contribute, which tell
 * that an operation went through an instrumented tree; the scope is announced as
 * "collectives". */
void es_collectives_scope_config_init(struct es_scope_config *config);

struct es_collectives_scope;

/* Borrows the run and what the configuration does.  -EINVAL with words. */
int es_collectives_scope_open(struct es_run *run,
                              const struct es_scope_config *config,
                              struct es_error *error,
                              struct es_collectives_scope **ret_scope);
/* Accepts NULL. */
void es_collectives_scope_close(struct es_collectives_scope *scope);

/* Calls the listener's `on_end` from now on, for what the scope's view has. */
void es_collectives_scope_set_listener(struct es_collectives_scope *scope,
                                       const struct es_collectives_listener *listener);

/* Pulls once.  Elements that have appeared join now and then, with `drain` at once.
 * Returns 1 when there is more to be had at once, else 0, or -errno. */
int es_collectives_scope_pull(struct es_collectives_scope *scope, bool drain);
/* Adds what the last pull has brought to the analysis, and has it give up what is too
 * old.  0 or -ENOMEM. */
int es_collectives_scope_add(struct es_collectives_scope *scope,
                             struct es_collectives *analysis);

/* What did not become calls. */
struct es_collectives_losses {
    uint64_t lost;     /* tuples overwritten before they were read */
    uint64_t missed;   /* tuples that were gone before the reading began */
    uint64_t unplaced; /* tuples whose communicator is not known, or that have no number
                        */
    uint64_t between;  /* tuples on intercommunicators, which are not analysed */
};

void es_collectives_scope_losses(const struct es_collectives_scope *scope,
                                 struct es_collectives_losses *ret_losses);

/* Host of a world rank; NULL = not known.  Borrowed. */
const char *es_collectives_scope_host(const struct es_collectives_scope *scope,
                                      int world_rank);
/* World ranks that are known of. */
int es_collectives_scope_ranks(const struct es_collectives_scope *scope);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *es_collectives_scope_follower(
    const struct es_collectives_scope *scope);

#endif
