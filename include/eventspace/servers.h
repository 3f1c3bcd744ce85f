/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The tuple servers of a run, as one consumer reaches them.
 *
 *   struct es_servers *servers;
 *
 *   es_servers_open("myrun", NULL, &error, &servers);
 *   config.servers = servers;          scopes then see the elements of all hosts
 *   ...
 *   es_servers_close(servers);         after the scopes
 *
 * Every host of a run has one tuple server (eventspaced); the home server, on the host
 * where the run was started, knows the others.  Who is on one of the run's hosts finds
 * them through the run directory; who is elsewhere names the home server's address and
 * has the run's key in a run directory of its own.
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
    ES_SERVER_SILENT, /* does not answer, or cannot be reached */
    ES_SERVER_ENDED,  /* said that it ends */
};

struct es_server_info {
    char host[64];
    char cluster[64]; /* "" = none */
    char gateway[64]; /* host that leads into its cluster; "" = none */
    char address[300];
    enum es_server_state state;
    bool here; /* this is the consumer's own host */
    bool home;
    int ranks;          /* that live there now */
    uint64_t silent_ns; /* since when, if silent */
    /* Its CLOCK_MONOTONIC against the home server's, as of the last exchange. */
    bool clock_known;
    uint64_t clock_monotonic_ns; /* when that was, by the host's clock */
    int64_t clock_offset_ns;     /* home - host */
    double clock_drift_ppb;      /* by which the home clock runs faster */
    uint64_t clock_error_ns;     /* bound of the offset's error */
};

/* Finds the home server of `run` (NULL = the only live run on this host) through the
 * run directory, or at `home`.  -ENOENT: the run has no server that could be found,
 * which is usual for a run of one host; -EACCES: refused, with the server's words. */
ES_API int es_servers_open(const char *run,
                           const char *home,
                           struct es_error *error,
                           struct es_servers **ret_servers);
/* Accepts NULL. */
ES_API void es_servers_close(struct es_servers *servers);
ES_API const char *es_servers_run(const struct es_servers *servers);

/* Asks the home server which hosts there are.  Returns their number, or -errno. */
ES_API int es_servers_refresh(struct es_servers *servers);
ES_API size_t es_servers_count(struct es_servers *servers);
/* -ENOENT: no such index. */
ES_API int es_servers_at(struct es_servers *servers,
                         size_t index,
                         struct es_server_info *ret_info);

/* Run time now, in nanoseconds since 1970: see es_origin_run_ns(). */
ES_API uint64_t es_servers_run_now_ns(struct es_servers *servers);

#endif
