/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Subtrees: the part of a gather tree in a tuple server, on behalf of a stage
 * `remote` in its parent's process.
 *
 * A connection opens one subtree, pulls it and ends it by closing.  The "open" request:
 *
 *     {"request": "open", "scope": NAME, "hosts": {HOST: ADDRESS, ...},
 *      "processes": [{"pid":, "rank":, "host":, "clock": {...}}, ...],
 *      "origins": [{"process": INDEX, "name":, "collector":, "thread":, "classes":,
 *                   "peer":, "communicator":, "position":, "end": BOOL,
 *                   "acknowledged":}, ...],
 *      "lossless": BOOL, "placed": BOOL, "tree": NODE}
 *     NODE: {"type":, "label":, "host":, "origin":, "properties": {...}, "children":
 * [...]}
 *
 * With "placed" elements of this host are found that lie elsewhere: the server of that
 * host takes them (scopes/server/placement.h).
 *
 * Origins are numbered within the subtree, from 0 in the order of the list; the remote
 * stage knows whose they are above.  Reading begins at `position`; with "end" behind
 * what is there.  Writers that wait for a lossless scope wait from `acknowledged` on.
 * The "open" reply has {"origins": N, "positions": [...], "missing": [indices of
 * elements that are not there]}.
 *
 * A PULL has the positions that the consumer has acknowledged since the pull before,
 * where writers wait for that (subtree_pull.h).  A BATCH has tuples, marks, reports,
 * notices, what the pull cost, and positions: after each batch both ends know for each
 * origin the first tuple that is not delivered, because what the stages keep of an
 * element is a suffix.  So a lost reply, a restarted server and a changed
 * tree are one thing: the subtree is opened again at the positions its parent has.  A
 * subtree whose stages have failed ends with its connection.
 *
 * One thread at a time.
 */
#ifndef ES_SCOPES_SERVER_SUBTREE_H
#define ES_SCOPES_SERVER_SUBTREE_H

#include "scopes/server/service.h"
#include "tuplespace/transport/frame.h"

struct esi_subtree;

/* Answers one pull through the connection's link. */
int esi_subtree_pull(struct esi_subtree *subtree, const struct esi_frame *frame);
/* Ends the connection's subtree, if it has one. */
void esi_subtree_end(struct esi_service_connection *connection);

#endif
