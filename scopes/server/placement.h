/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Trace elements that the pathmap places on another host than their process's.
 *
 * Collectors write to the memory of their own host, always.  For an element with a
 * `host` of its own two tuple servers work together:
 *
 * - The server of the process's host marks the element.  Readers leave it out from then
 *   on.  Where the element blocks, the server registers as its reader.
 * - The server of the other host has a permanent scope over all elements that the plan
 *   places there.  It pulls every 5 ms, and every 20 ms after a second without a tuple.
 *   It stores the tuples in an element of its own, under the same name, with the facts
 *   of the process (scopes/server/element_store.h).
 *
 * While the two do not reach each other tuples stay in the ring.  Tuples that are
 * overwritten meanwhile are counted in lost_moving of the stored element.
 */
#ifndef ES_SCOPES_SERVER_PLACEMENT_H
#define ES_SCOPES_SERVER_PLACEMENT_H

#include "eventspace/servers.h"
#include "scopes/server/service.h"
#include "tuplespace/plan/plan.h"

struct esi_placement;

struct esi_placement_config {
    struct esi_service *service; /* of this host: run, host, store, log; borrowed */
    const char *home; /* addresses of the home server; NULL = the run directory says */
    const struct es_plan *plan; /* NULL = "collect.plan" of the run directory, or else
                                   of the home server; borrowed */
    struct es_servers *servers; /* NULL = its own; borrowed */
};

/* Starts a thread; it ends by itself when no collector has a host of its own.  -ENOMEM,
 * -EAGAIN. */
int esi_placement_start(const struct esi_placement_config *config,
                        struct esi_placement **ret_placement);

/* The run has ended: stores what is still there and closes the scope, so that the other
 * servers need not wait for it.  Returns at once.  Accepts NULL.  Thread safe. */
void esi_placement_finish(struct esi_placement *placement);

/* Stores what is still there, for two seconds at most, and ends.  What no other server
 * has taken can be read here again.  Accepts NULL. */
void esi_placement_stop(struct esi_placement *placement);

#endif
