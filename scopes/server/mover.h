/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Moves trace elements to the hosts that the pathmap places them on.
 *
 * Collectors write to their own host's memory, always.  The tuple server of that host
 * reads what a collector with a `host` of its own has written, every few milliseconds,
 * and hands it to that host's server, which keeps it under the same name with the facts
 * of its process (scopes/server/element_store.h).  From the start the original is
 * marked as moved: readers find the other one.
 *
 * While the other server cannot be reached tuples stay in the ring, and what is
 * overwritten meanwhile is counted in both elements' lost_moving.
 */
#ifndef ES_SCOPES_SERVER_MOVER_H
#define ES_SCOPES_SERVER_MOVER_H

#include "eventspace/error.h"
#include "eventspace/servers.h"
#include "tuplespace/plan/plan.h"
#include "tuplespace/transport/acceptor.h"

struct es_mover;

struct es_mover_config {
    const char *run;          /* borrowed, as all texts */
    const char *host;         /* this host */
    const char *home;         /* addresses of the home server; NULL = the run directory
                                 says */
    struct es_server *server; /* for its log; may be NULL */
    const struct es_plan *plan; /* NULL = "collect.plan" of the run directory, or else
                                   of the home server; borrowed */
    struct es_servers *servers; /* NULL = its own; borrowed */
};

/* Starts a thread; it ends by itself when no collector has a host of its own.  -ENOMEM,
 * -EAGAIN. */
int es_mover_start(const struct es_mover_config *config, struct es_mover **ret_mover);

/* Moves what is still there, for two seconds at most, and ends.  Accepts NULL. */
void es_mover_stop(struct es_mover *mover);

#endif
