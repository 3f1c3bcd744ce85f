/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Starts and ends tuple servers for `run`, `exec` and `clean`.
 *
 * For single-threaded programs only; the server inherits the signal settings.
 */
#ifndef ES_CLI_LAUNCH_SERVER_START_H
#define ES_CLI_LAUNCH_SERVER_START_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"
#include "scopes/server/server_location.h"

struct esi_server_order {
    const char *run;
    const char *home;      /* NULL = it is the home server */
    const char *advertise; /* NULL = automatic; it listens there if possible */
    bool everywhere;       /* it listens on all addresses of this host */
    bool local;            /* no other hosts: only a Unix socket */
};

enum { ES_UNREACHED_BYTES = 1024 };

/* Starts `eventspaced` and waits (at most some seconds) until it is ready; succeeds if
 * one is already running.  `out` receives its addresses, one per line, or "" in that
 * case.  Returns 0 or -errno with `error` filled. */
int esi_server_start(const struct esi_server_order *order,
                     struct es_error *error,
                     char *out,
                     size_t size);

/* Tells the run's server on this host that the run has ended, and waits (at most some
 * seconds) until it has ended, unless with `keep` it stays for other hosts.  -ENOENT if
 * there is none.  A server that does not answer is ended by a signal.  `ret_unreached`
 * receives the comma-separated hosts that were not notified; "" if all were. */
int esi_server_end(const char *run,
                   bool keep,
                   struct es_error *error,
                   char ret_unreached[ES_UNREACHED_BYTES]);

#endif
