/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Subtrees: the part of a gather tree that runs in a tuple server, on behalf of a
 * `remote` stage in the process of its parent.
 *
 * A connection opens one subtree, pulls it, and closes it by disconnecting.  The "open"
 * request:
 *
 *     {"request": "open", "scope": NAME, "hosts": {HOST: ADDRESS, ...},
 *      "processes": [{"pid":, "rank":, "host":, "clock": {...}}, ...],
 *      "origins": [{"process": INDEX, "name":, "collector":, "thread":, "classes":,
 *                   "peer":, "communicator":, "position":, "end": BOOL,
 *                   "acknowledged":}, ...],
 *      "lossless": BOOL, "placed": BOOL, "tree": NODE}
 *     NODE: {"type":, "label":, "host":, "origin":, "properties": {...},
 *            "children": [...]}
 *
 * With "placed", the subtree also finds elements of this host that are placed
 * elsewhere: the server of that other host reads them (scopes/server/placement.h).
 *
 * Origins are numbered within the subtree, from 0 in the order of the list; the remote
 * stage maps them to its own.  Reading begins at `position`, or with "end" at the end
 * of the element.  Writers that wait for a lossless scope wait from `acknowledged` on.
 * The "open" reply is {"origins": N, "positions": [...], "missing": [indices of
 * elements that do not exist]}.
 *
 * A PULL contains the positions acknowledged by the consumer since the previous pull,
 * if writers wait for that (subtree_pull.h).  A BATCH contains tuples, marks, reports,
 * notices, the cost of the pull, and positions: after each batch both ends know, for
 * each origin, the first tuple that is not delivered, because stages always hold back a
 * suffix of an element.  A lost reply, a restarted server and a changed tree are
 * therefore handled alike: the subtree is opened again at its parent's positions.  A
 * subtree whose stages have failed ends with its connection.
 *
 * Used by one thread at a time.
 */
#ifndef ES_SCOPES_SERVER_SUBTREE_H
#define ES_SCOPES_SERVER_SUBTREE_H

#include "scopes/server/service.h"
#include "tuplespace/transport/frame.h"

struct esi_subtree;

/* Answers one pull over the connection's link. */
int esi_subtree_pull(struct esi_subtree *subtree, const struct esi_frame *frame);
/* Closes the connection's subtree, if there is one. */
void esi_subtree_end(struct esi_service_connection *connection);

#endif
