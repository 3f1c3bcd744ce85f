/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective trees of a run on one host, as JSON, and the desired rules.
 *
 * Used by tuple servers for their replies, and by commands for their own host.
 */
#ifndef ES_SCOPES_COLLECTIVE_TREES_H
#define ES_SCOPES_COLLECTIVE_TREES_H

#include "base/json_out.h"
#include "eventspace/run.h"

/* Writes these members into an object begun by the caller:
 *
 *   "processes": [{"rank":, "alive":, "wish": VERSION,
 *       "communicators": [{"name":, "size":, "version":, "since": INSTANCE, "rules":
 *           [{"name":, "tree":, "operations": BITS, "bytes": "0-4096"}]}]}]
 *
 * They describe the processes of `host` (NULL: all) that can change their trees.  A
 * process lists the communicators in which it is rank 0, because rank 0 decides for the
 * others.  "version" and "rules" are in force; without a version, there was no
 * collective operation yet that a tree could perform, or no rule for it. */
void esi_collective_trees_report(const struct es_run *run,
                                 const char *host,
                                 struct esi_json_out *out);

/* Passes the rules to all live processes of `host` (NULL: all) that can change their
 * trees, and writes the members "fit" (their number), "changed", and "refused":
 * [{"rank":, "code":}]. */
void esi_collective_trees_desire(const struct es_run *run,
                                 const char *host,
                                 const char *text,
                                 struct esi_json_out *out);

/* Writes the newest desired rules of the process of lowest rank that has some, as
 * members "rank" and "text"; writes nothing if there are none.  Returns 0 or
 * -ENOMEM. */
int esi_collective_trees_report_desired(const struct es_run *run,
                                        const char *host,
                                        struct esi_json_out *out);

#endif
