/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* servers.h - functions on the tuple servers of a run that are not public. */
#ifndef ES_SCOPES_REMOTE_SERVERS_H
#define ES_SCOPES_REMOTE_SERVERS_H

#include "base/host_clock.h"
#include "eventspace/servers.h"
#include "scopes/remote/rpc.h"

/* Sends a request to the server of `host` (NULL: the home server) over the control
 * connection and waits for the reply, at most `timeout_ns` in all.  Reopens the
 * connection once if it was closed.  `ret_reply` and errors are as in
 * esi_rpc_call(). */
int esi_servers_call(struct es_servers *servers,
                     const char *host,
                     const struct esi_rpc_request *request,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_message **ret_reply);

/* es_servers_refresh() with a shorter time limit. */
int esi_servers_refresh_within(struct es_servers *servers, uint64_t timeout_ns);

/* Opens a new connection to the server of `host`, for a remote stage.  The caller
 * closes it. */
int esi_servers_connect(struct es_servers *servers,
                        const char *host,
                        uint64_t timeout_ns,
                        struct es_error *error,
                        struct es_link **ret_link);

/* For the tuple server: creates a set of hosts whose addresses are provided by an
 * "open" request. */
int esi_servers_create(const char *run,
                       const struct esi_run_key *key,
                       struct es_servers **ret_servers);
int esi_servers_add(struct es_servers *servers, const char *host, const char *address);

/* The clock of a host relative to the home server's.  Refreshes improve it.  Borrowed;
 * it lives as long as the set.  NULL if out of memory. */
const struct es_host_clock *esi_servers_clock(struct es_servers *servers,
                                              const char *host);

/* The address of a host's tuple server as used by other hosts, for servers that have to
 * connect to it.  Returns 0, -ENOENT or -ENOSPC. */
int esi_servers_address(struct es_servers *servers,
                        const char *host,
                        char *out,
                        size_t size);

struct esi_servers_found {
    char run[64];
    char home[ES_ADDRESS_BYTES];   /* the home server's address */
    char socket[ES_ADDRESS_BYTES]; /* of this host's server; "" if not known */
};

/* Finds the addresses of a run's servers.  `run` NULL: the only live run; `home` NULL:
 * as in the run's directory.  Returns -ENOENT if there is no such run or it has no
 * server, and -ENOTUNIQ if there are several runs. */
int esi_servers_find(const char *run,
                     const char *home,
                     struct es_error *error,
                     struct esi_servers_found *ret_found);

#endif
