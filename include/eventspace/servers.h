/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The tuple servers of a run, as used by a consumer.
 *
 *   struct es_servers *servers;
 *
 *   es_servers_open("myrun", NULL, &error, &servers);
 *   config.servers = servers;          scopes then see the elements of all hosts
 *   ...
 *   es_servers_close(servers);         after the scopes
 *
 * Each host of a run has one tuple server (eventspaced).  The home server, on the host
 * where the run was started, knows all others.  On hosts of the run, consumers find it
 * through the run directory.  Elsewhere they need its address and a run directory that
 * contains the run's key.
 *
 * Thread safe.
 */
#ifndef EVENTSPACE_SERVERS_H
#define EVENTSPACE_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"

struct es_servers;

enum es_server_state {
    ES_SERVER_UP,
    ES_SERVER_SILENT, /* does not answer, or is unreachable */
    ES_SERVER_ENDED,  /* announced that it ends */
};

struct es_server_info {
    char host[64];
    char cluster[64]; /* "" if none */
    char gateway[64]; /* host through which its cluster is reached; "" if none */
    char address[300];
    enum es_server_state state;
    bool here; /* the consumer's own host */
    bool home;
    int ranks;          /* number of ranks running there */
    uint64_t silent_ns; /* time since the last answer, if silent */
    /* Offset of its CLOCK_MONOTONIC from the home server's, at the last exchange. */
    bool clock_known;
    uint64_t clock_monotonic_ns; /* time of that exchange, by the host's clock */
    int64_t clock_offset_ns;     /* home clock minus host clock */
    double clock_drift_ppb;      /* how much faster the home clock
                                    runs, in parts per 10^9 */
    uint64_t clock_error_ns;     /* error bound of the offset */
};

/* Connects to the home server of `run` (NULL for the only live run on this host), found
 * through the run directory, or at the address `home`.  Returns 0; -ENOENT if no server
 * is found, which is normal for a run on one host; or -EACCES if the server refuses
 * (`error` contains its message).  The caller closes it with es_servers_close(). */
ES_API int es_servers_open(const char *run,
                           const char *home,
                           struct es_error *error,
                           struct es_servers **ret_servers);
/* Closes the connections.  Accepts NULL.  Close the scopes that use the servers
 * first. */
ES_API void es_servers_close(struct es_servers *servers);
/* Name of the run.  Borrowed until the servers are closed. */
ES_API const char *es_servers_run(const struct es_servers *servers);

/* Asks the home server for the hosts of the run.  Returns their number, or -errno. */
ES_API int es_servers_refresh(struct es_servers *servers);
/* Number of servers known since the last refresh. */
ES_API size_t es_servers_count(struct es_servers *servers);
/* Fills *ret_info.  Returns 0, or -ENOENT if there is no such index. */
ES_API int es_servers_at(struct es_servers *servers,
                         size_t index,
                         struct es_server_info *ret_info);

/* The current run time, in nanoseconds since 1970: see es_origin_run_ns(). */
ES_API uint64_t es_servers_run_now_ns(struct es_servers *servers);

#endif
