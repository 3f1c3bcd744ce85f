/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Trace elements that the pathmap places on another host than that of their process.
 *
 * Collectors always write to the memory of their own host.  For an element with a
 * `host`, two tuple servers cooperate:
 *
 * - The server of the process's host marks the element, and readers skip it from then
 *   on.  If the element blocks, the server registers as its reader.
 *
 * - The server of the other host has a permanent scope over all elements that the plan
 *   places there.  It pulls every 5 ms, and every 20 ms after a second without a tuple.
 *   It stores the tuples in an element of its own with the same name, together with the
 *   facts about the process (scopes/server/element_store.h).
 *
 * While the servers cannot reach each other, tuples stay in the ring.  Tuples
 * overwritten meanwhile are counted in lost_moving of the stored element.
 */
#ifndef ES_SCOPES_SERVER_PLACEMENT_H
#define ES_SCOPES_SERVER_PLACEMENT_H

#include "eventspace/servers.h"
#include "scopes/server/service.h"
#include "tuplespace/plan/plan.h"

struct esi_placement;

struct esi_placement_config {
    struct esi_service *service; /* borrowed; provides run, host, store and log */
    const char *home; /* addresses of the home server; NULL: as in the run directory */
    const struct es_plan *plan; /* NULL: "collect.plan" of the run directory, or that
                                   of the home server; borrowed */
    struct es_servers *servers; /* NULL: creates its own; borrowed */
};

/* Starts a thread, which ends by itself if no collector has a `host`.  Returns -ENOMEM
 * or -EAGAIN on failure. */
int esi_placement_start(const struct esi_placement_config *config,
                        struct esi_placement **ret_placement);

/* Called at the run's end: stores the remaining tuples and closes the scope, so that
 * the other servers need not wait for it.  Returns at once.  Accepts NULL.  Thread
 * safe. */
void esi_placement_finish(struct esi_placement *placement);

/* Stores the remaining tuples, for two seconds at most, and ends.  Elements of this
 * host that no other server has taken can be read here again.  Accepts NULL. */
void esi_placement_stop(struct esi_placement *placement);

#endif
