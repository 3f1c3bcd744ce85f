/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The catalog: what the tuple servers of other hosts say of their processes, elements
 * and communicators, kept by the consumer.
 *
 * Entries are never removed nor moved, and their texts live as long as the catalog: a
 * scope's origins borrow from it.  What a refresh changes are states of processes and
 * counters of elements.
 *
 * Hosts of which es_server_info.here holds are left out: their segments are mapped.
 *
 * Used by one thread at a time.
 */
#ifndef ES_SCOPES_REMOTE_CATALOG_H
#define ES_SCOPES_REMOTE_CATALOG_H

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/servers.h"
#include "eventspace/stage_batch.h"

struct esi_catalog;
struct es_message;

/* One observed process of another host. */
struct esi_catalog_process {
    struct es_segment_info info; /* as of the last refresh; texts are the catalog's */
    struct es_clock clock;       /* never changes */
};

/* One of its elements. */
struct esi_catalog_element {
    const struct esi_catalog_process *process; /* the catalog's */
    struct es_element_info info; /* `head`, `oldest` and the other counters as they were
                                    when the element was first seen */
};

/* Empty until the first refresh.  `servers` is borrowed. */
int esi_catalog_create(struct es_servers *servers, struct esi_catalog **ret_catalog);
/* Accepts NULL. */
void esi_catalog_destroy(struct esi_catalog *catalog);

/* Asks the home server for the hosts and all other hosts for what is new, each for
 * `timeout_ns` at most; who has not answered is asked again after a pause, and for a
 * tenth of that time.  Returns the number of elements that are new, or -ENOMEM.
 * Hosts that do not answer are no failure: see esi_catalog_silent(). */
int esi_catalog_refresh(struct esi_catalog *catalog, uint64_t timeout_ns);

/* Whether the run is over as far as is known here: for some seconds nobody has listened
 * at the home server's address, and no other server answers.  Processes
 * of servers that have ended with it count as dead. */
bool esi_catalog_is_over(const struct esi_catalog *catalog);

/* The hosts that the last refresh had no answer from; `part` is "host NAME" (or "home
 * server").  Borrowed until the next refresh. */
size_t esi_catalog_silent_count(const struct esi_catalog *catalog);
const struct es_notice *esi_catalog_silent(const struct esi_catalog *catalog,
                                           size_t index);

/* Elements in the order in which they were found: what is new is at the end.  Borrowed
 * from the catalog. */
size_t esi_catalog_element_count(const struct esi_catalog *catalog);
const struct esi_catalog_element *esi_catalog_element_at(
    const struct esi_catalog *catalog,
    size_t index);

size_t esi_catalog_process_count(const struct esi_catalog *catalog);
/* A communicator of such a process; asked for once, then kept.  -ENOENT: no such index;
 * or why its host did not answer. */
int esi_catalog_communicator_find(struct esi_catalog *catalog,
                                  const struct esi_catalog_process *process,
                                  uint16_t communicator,
                                  struct es_communicator_info *ret_info);

/* Asks the server of a process for something of it as it is now: "ledger" or "profile".
 * Caller destroys *ret_reply.  -ENOENT: it has none, or its server does not know such
 * things; or why its host did not answer. */
int esi_catalog_ask(struct esi_catalog *catalog,
                    const struct esi_catalog_process *process,
                    const char *what,
                    struct es_message **ret_reply);
/* The modules of a process, asked for anew.  Caller frees *ret_modules.  Returns their
 * number or -errno. */
int esi_catalog_modules(struct esi_catalog *catalog,
                        const struct esi_catalog_process *process,
                        struct es_module **ret_modules);

/* World rank of a member of a communicator (of the remote group where `remote`).  Where
 * the host of the process does not know the group, the other hosts of the catalog are
 * asked for it by the communicator's key.  `local` (NULL = none) are the segments
 * mapped here, which may know it too.  -ENOENT: nobody knows. */
int esi_catalog_world_rank(struct esi_catalog *catalog,
                           const struct es_run *local,
                           const struct esi_catalog_process *process,
                           uint16_t communicator,
                           bool remote,
                           int rank);

/* The same for a communicator of a process that is mapped here, where
 * es_run_world_rank() did not find the member. */
int esi_catalog_world_rank_of(struct esi_catalog *catalog,
                              const struct es_segment_view *segment,
                              uint16_t communicator,
                              bool remote,
                              int rank);

#endif
