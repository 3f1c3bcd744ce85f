/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The catalog: a consumer's copy of what the tuple servers of other hosts report about
 * their processes, elements and communicators.
 *
 * Entries are never removed or moved, and their texts live as long as the catalog,
 * because the origins of scopes borrow from it.  A refresh adds entries and changes the
 * states of processes.
 *
 * Hosts with es_server_info.here set are excluded: their segments are mapped.
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

/* An observed process on another host. */
struct esi_catalog_process {
    struct es_segment_info info; /* as of the last refresh; texts of the catalog */
    struct es_clock clock;       /* constant */
};

/* An element of such a process. */
struct esi_catalog_element {
    const struct esi_catalog_process *process; /* owned by the catalog */
    struct es_element_info info; /* with the counters of when it was found */
};

/* Creates a catalog, which is empty until the first refresh.  `servers` is borrowed. */
int esi_catalog_create(struct es_servers *servers, struct esi_catalog **ret_catalog);
/* Destroys the catalog.  Accepts NULL. */
void esi_catalog_destroy(struct esi_catalog *catalog);

/* Requests the hosts from the home server and news from all other hosts, each for at
 * most `timeout_ns`.  A host that did not answer is asked again after a pause, for a
 * tenth of that time.  Returns the number of new elements, or -ENOMEM.  Hosts that do
 * not answer are not an error: see esi_catalog_silent(). */
int esi_catalog_refresh(struct esi_catalog *catalog, uint64_t timeout_ns);

/* Returns true if the run appears to be over: nobody has listened at the home server's
 * address for some seconds, and no other server answers.  Processes of servers that
 * have ended count as dead. */
bool esi_catalog_is_over(const struct esi_catalog *catalog);

/* The hosts that did not answer the last refresh; `part` is "host NAME" or "home
 * server".  Borrowed until the next refresh. */
size_t esi_catalog_silent_count(const struct esi_catalog *catalog);
const struct es_notice *esi_catalog_silent(const struct esi_catalog *catalog,
                                           size_t index);

/* Elements in the order in which they were found; new ones are appended.  Borrowed from
 * the catalog. */
size_t esi_catalog_element_count(const struct esi_catalog *catalog);
const struct esi_catalog_element *esi_catalog_element_at(
    const struct esi_catalog *catalog,
    size_t index);

/* Finds a communicator of such a process.  It is requested once, then cached.  Returns
 * 0, -ENOENT if there is no such index, or the error of a host that did not answer. */
int esi_catalog_communicator_find(struct esi_catalog *catalog,
                                  const struct esi_catalog_process *process,
                                  uint16_t communicator,
                                  struct es_communicator_info *ret_info);

/* Requests the current "ledger" or "profile" of a process from its server.  The caller
 * destroys *ret_reply.  Returns 0, -ENOENT if the process has none or the server does
 * not support the request, or the error of a host that did not answer. */
int esi_catalog_ask(struct esi_catalog *catalog,
                    const struct esi_catalog_process *process,
                    const char *what,
                    struct es_message **ret_reply);
/* Requests the modules of a process, without a cache.  The caller frees *ret_modules.
 * Returns their number or -errno. */
int esi_catalog_modules(struct esi_catalog *catalog,
                        const struct esi_catalog_process *process,
                        struct es_module **ret_modules);

/* World rank of a member of a communicator, or of its remote group if `remote`.
 * Searches the segments mapped here, `local` (may be NULL), first.  If the host of the
 * process does not know the group, the other hosts of the catalog are asked for it by
 * the communicator's key.  Returns -ENOENT if nobody knows it. */
int esi_catalog_world_rank(struct esi_catalog *catalog,
                           const struct es_run *local,
                           const struct esi_catalog_process *process,
                           uint16_t communicator,
                           bool remote,
                           int rank);

/* Like esi_catalog_world_rank(), for a communicator of a process that is mapped here,
 * for which es_run_world_rank() did not find the member. */
int esi_catalog_world_rank_of(struct esi_catalog *catalog,
                              const struct es_segment_view *segment,
                              uint16_t communicator,
                              bool remote,
                              int rank);

#endif
