/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The hosts of a run, as the home server knows them, and whether the run has ended.
 *
 * Every tuple server has a registry with its own host on it.  That of the home server
 * has the others, too: they register again and again.  The answers report the run's
 * end.
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

enum { ES_LOST_RANKS_MAX = 1024 }; /* reported for each host; the log has all */

/* A process that is gone without having finished MPI. */
struct esi_lost_rank {
    int rank;
    int pid;
    char how[96]; /* "killed by signal 9 (Killed)" */
};

/* What is reported to servers about the run's end. */
enum esi_run_end {
    ES_RUN_GOES_ON,
    ES_RUN_ENDED_KEEP, /* what is left can still be read for a while */
    ES_RUN_ENDED,      /* its segments go */
};

/* What is known of one host. */
struct esi_host_entry {
    char host[64];
    char cluster[64]; /* "" = none, or not known */
    char gateway[64];
    char address[ES_ADDRESS_BYTES]; /* by which others reach its server */
    int pid;                        /* its server's */
    int ranks;                      /* that live there */
    bool home;
    enum es_server_state state;
    enum esi_run_end known_end; /* what its server knows of the run's end */
    uint64_t heard_ns;          /* when it registered last, CLOCK_MONOTONIC */
    struct esi_lost_rank *lost; /* owned by the registry */
    size_t lost_count;
    size_t lost_capacity;
};

struct esi_host_registry;

/* The registry of the server on `host`, which others reach at `address`. */
int esi_host_registry_create(const char *run,
                             const char *host,
                             bool home,
                             struct esi_host_registry **ret_registry);
/* Accepts NULL. */
void esi_host_registry_destroy(struct esi_host_registry *registry);

/* --- The own host --- */

/* `is_final`: others reach it by this address, whatever they report. */
void esi_host_registry_set_address(struct esi_host_registry *registry,
                                   const char *address,
                                   bool is_final);
/* Where this host lies, for servers that register with the home server. */
void esi_host_registry_set_site(struct esi_host_registry *registry,
                                const char *cluster,
                                const char *gateway);
void esi_host_registry_set_ranks(struct esi_host_registry *registry, int ranks);
/* -ENOMEM; more than ES_LOST_RANKS_MAX are passed over. */
int esi_host_registry_add_lost(struct esi_host_registry *registry,
                               const struct esi_lost_rank *lost);

/* --- All hosts --- */

/* The own host first.  Entries are borrowed until the visit returns; what it returns
 * other than 0 ends the visits and is returned. */
int esi_host_registry_foreach(struct esi_host_registry *registry,
                              int (*visit)(void *data,
                                           const struct esi_host_entry *entry),
                              void *data);
/* Hosts but the own one that are there. */
size_t esi_host_registry_others(struct esi_host_registry *registry);

/* A server registers over `connection`, which is compared only: replaces what was known
 * of its host, or adds it.  Takes entry->lost, also on failure.
 * -ENOMEM, or -EEXIST: it is the own host's name. */
int esi_host_registry_register(struct esi_host_registry *registry,
                               const struct esi_host_entry *entry,
                               const void *connection);
/* The connection has ended: the host that registered over it is silent from now on,
 * unless its server has reported that it ends. */
void esi_host_registry_leave(struct esi_host_registry *registry,
                             const void *connection);

/* --- The run's end --- */

/* The run has ended.  Not undone; ENDED after ENDED_KEEP counts. */
void esi_host_registry_end(struct esi_host_registry *registry, enum esi_run_end end);
enum esi_run_end esi_host_registry_ending(struct esi_host_registry *registry);
/* Readable once an end was reported: for poll(2). */
int esi_host_registry_descriptor(const struct esi_host_registry *registry);
/* The reply to the request that ends the run is sent before the server ends: owed
 * before esi_host_registry_end(), answered when it is sent. */
void esi_host_registry_answered(struct esi_host_registry *registry);
void esi_host_registry_await_answers(struct esi_host_registry *registry,
                                     uint64_t timeout_ns);
/* The server stops: nobody waits here any more. */
void esi_host_registry_close(struct esi_host_registry *registry);

/* --- In messages --- */

/* "no", "keep", "yes". */
const char *esi_run_end_name(enum esi_run_end end);
/* Any other text means that it goes on. */
enum esi_run_end esi_run_end_find(const char *name);
/* Writes the members that a server registers and that clients receive of it. */
void esi_host_entry_write(const struct esi_host_entry *entry, struct esi_json_out *out);

#endif
