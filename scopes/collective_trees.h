/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective trees of a run on one host: written as JSON, and the rules desired.
 *
 * Tuple servers answer with these, and commands ask themselves for their own host.
 */
#ifndef ES_SCOPES_COLLECTIVE_TREES_H
#define ES_SCOPES_COLLECTIVE_TREES_H

#include "base/json_out.h"
#include "eventspace/run.h"

/* Writes the members, into an object begun by the caller:
 *
 *   "processes": [{"rank":, "alive":, "wish": VERSION,
 *       "communicators": [{"name":, "size":, "version":, "since": INSTANCE, "rules":
 *           [{"name":, "tree":, "operations": BITS, "bytes": "0-4096"}]}]}]
 *
 * of the processes of `host` (NULL = all) that can change their trees.  Communicators
 * are those whose rank 0 the process is: it decides for the others.  "version" and
 * "rules" are what is in force; without a version there was no collective operation yet
 * that a tree could do, or no rule for it. */
void esi_collective_trees_report(const struct es_run *run,
                                 const char *host,
                                 struct esi_json_out *out);

/* Hands the rules to all living processes of `host` (NULL = all) that can change their
 * trees, and writes the members "fit" (how many there are), "changed", and "refused":
 * [{"rank":, "code":}]. */
void esi_collective_trees_desire(const struct es_run *run,
                                 const char *host,
                                 const char *text,
                                 struct esi_json_out *out);

/* The newest wish of the process of lowest rank there that has one, as members "rank"
 * and "text"; nothing where there is none.  -ENOMEM. */
int esi_collective_trees_report_desired(const struct es_run *run,
                                        const char *host,
                                        struct esi_json_out *out);

#endif
