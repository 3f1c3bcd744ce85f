/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* servers.h - the calls on a run's tuple servers that consumers do not need themselves.
 */
#ifndef ES_SCOPES_REMOTE_SERVERS_H
#define ES_SCOPES_REMOTE_SERVERS_H

#include "base/host_clock.h"
#include "eventspace/servers.h"
#include "scopes/remote/rpc.h"

/* Makes a request of the server of `host` (NULL = the home server) over the connection
 * that is kept for requests, and waits for its reply, all within `timeout_ns`; the
 * connection is opened again, once, where it has ended.  `ret_reply` and errors as of
 * esi_rpc_call(). */
int esi_servers_call(struct es_servers *servers,
                     const char *host,
                     const struct esi_rpc_request *request,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_message **ret_reply);

/* es_servers_refresh() for those that do not wait so long. */
int esi_servers_refresh_within(struct es_servers *servers, uint64_t timeout_ns);

/* A new connection to the server of `host`, for a remote stage.  Caller closes it. */
int esi_servers_connect(struct es_servers *servers,
                        const char *host,
                        uint64_t timeout_ns,
                        struct es_error *error,
                        struct es_link **ret_link);

/* For the tuple server itself: a set of hosts whose addresses come from elsewhere (an
 * "open" request carries them). */
int esi_servers_create(const char *run,
                       const struct esi_run_key *key,
                       struct es_servers **ret_servers);
int esi_servers_add(struct es_servers *servers, const char *host, const char *address);

/* The clock of a host against the home server's; more becomes known of it with each
 * refresh.  Borrowed for as long as the set lives; NULL: no memory. */
const struct es_host_clock *esi_servers_clock(struct es_servers *servers,
                                              const char *host);

/* The address of a host's tuple server, as others reach it, for servers that are to
 * connect to it.  -ENOENT; -ENOSPC. */
int esi_servers_address(struct es_servers *servers,
                        const char *host,
                        char *out,
                        size_t size);

struct esi_servers_found {
    char run[64];
    char home[ES_ADDRESS_BYTES];   /* the home server's address */
    char socket[ES_ADDRESS_BYTES]; /* this host's server's; "" = not known */
};

/* `run` NULL: the only live run; `home` NULL: where the run's directory says.  -ENOENT:
 * there is no such run, or it has no server; -ENOTUNIQ: several runs. */
int esi_servers_find(const char *run,
                     const char *home,
                     struct es_error *error,
                     struct esi_servers_found *ret_found);

#endif
