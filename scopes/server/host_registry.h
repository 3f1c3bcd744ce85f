/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The hosts of a run, as known to the home server, and whether the run has ended.
 *
 * Every tuple server has a registry that contains its own host.  In the home server's
 * registry the other servers register repeatedly; the replies report the run's end.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_SERVER_HOST_REGISTRY_H
#define ES_SCOPES_SERVER_HOST_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/servers.h"
#include "tuplespace/transport/link.h"

enum { ES_LOST_RANKS_MAX = 1024 }; /* reported per host; the log has all */

/* A process that ended without having finalized MPI. */
struct esi_lost_rank {
    int rank;
    int pid;
    char how[96]; /* "killed by signal 9 (Killed)" */
};

/* The end of the run, as reported to servers. */
enum esi_run_end {
    ES_RUN_GOES_ON,
    ES_RUN_ENDED_KEEP, /* the data can still be read for a while */
    ES_RUN_ENDED,      /* the segments are removed */
};

/* The facts about one host. */
struct esi_host_entry {
    char host[64];
    char cluster[64]; /* "" if none, or not known */
    char gateway[64];
    char address[ES_ADDRESS_BYTES]; /* of its server, for other hosts */
    int pid;                        /* of its server */
    int ranks;                      /* number of ranks on the host */
    bool home;
    enum es_server_state state;
    enum esi_run_end known_end; /* the run's end, as known to its server */
    uint64_t heard_ns;          /* last registration, CLOCK_MONOTONIC */
    struct esi_lost_rank *lost; /* owned by the registry */
    size_t lost_count;
    size_t lost_capacity;
};

struct esi_host_registry;

/* Creates the registry of the server on `host`; `home`: of the home server. */
int esi_host_registry_create(const char *run,
                             const char *host,
                             bool home,
                             struct esi_host_registry **ret_registry);
/* Destroys the registry.  Accepts NULL. */
void esi_host_registry_destroy(struct esi_host_registry *registry);

/* --- The own host --- */

/* Sets the own address.  `is_final`: the addresses that other servers report do not
 * change it. */
void esi_host_registry_set_address(struct esi_host_registry *registry,
                                   const char *address,
                                   bool is_final);
/* Sets the cluster and gateway of this host, for servers that register with the home
 * server. */
void esi_host_registry_set_site(struct esi_host_registry *registry,
                                const char *cluster,
                                const char *gateway);
void esi_host_registry_set_ranks(struct esi_host_registry *registry, int ranks);
/* Returns 0 or -ENOMEM.  Ignores processes beyond ES_LOST_RANKS_MAX. */
int esi_host_registry_add_lost(struct esi_host_registry *registry,
                               const struct esi_lost_rank *lost);

/* --- All hosts --- */

/* Visits all hosts, the own host first.  Entries are borrowed until `visit` returns.  A
 * result of `visit` other than 0 ends the iteration and is returned. */
int esi_host_registry_foreach(struct esi_host_registry *registry,
                              int (*visit)(void *data,
                                           const struct esi_host_entry *entry),
                              void *data);
/* Number of other hosts whose servers are up. */
size_t esi_host_registry_others(struct esi_host_registry *registry);

/* Registers a server over `connection`, which is only used for comparison: adds or
 * replaces the entry of its host.  Takes ownership of entry->lost, even on failure.
 * Returns -ENOMEM, or -EEXIST if the name is that of the own host. */
int esi_host_registry_register(struct esi_host_registry *registry,
                               const struct esi_host_entry *entry,
                               const void *connection);
/* Reports the end of a connection: the host that registered over it counts as silent,
 * unless its server has reported its own end. */
void esi_host_registry_leave(struct esi_host_registry *registry,
                             const void *connection);

/* --- The run's end --- */

/* Reports the end of the run.  It cannot be undone; ENDED may follow ENDED_KEEP. */
void esi_host_registry_end(struct esi_host_registry *registry, enum esi_run_end end);
enum esi_run_end esi_host_registry_ending(struct esi_host_registry *registry);
/* A descriptor for poll(2), readable after the end was reported. */
int esi_host_registry_descriptor(const struct esi_host_registry *registry);
/* The reply to the request that ends the run must be sent before the server ends: it is
 * owed before esi_host_registry_end(), and marked here as sent. */
void esi_host_registry_answered(struct esi_host_registry *registry);
void esi_host_registry_await_answers(struct esi_host_registry *registry,
                                     uint64_t timeout_ns);
/* Ends all waits in the registry: the server stops. */
void esi_host_registry_close(struct esi_host_registry *registry);

/* --- In messages --- */

/* "no", "keep", "yes". */
const char *esi_run_end_name(enum esi_run_end end);
/* Any other text is ES_RUN_GOES_ON. */
enum esi_run_end esi_run_end_find(const char *name);
/* Writes the members with which a server registers, which clients also receive. */
void esi_host_entry_write(const struct esi_host_entry *entry, struct esi_json_out *out);

#endif
