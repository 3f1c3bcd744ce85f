/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Starts and ends tuple servers for `run`, `exec` and `clean`.
 *
 * Single-threaded programs only, with the signal settings that the server is to have
 * replaced.
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
    const char *advertise; /* NULL = found out; it listens there, if that is possible */
    bool everywhere;       /* it listens on all addresses of this host */
    bool local;            /* nobody comes from other hosts: a Unix socket only */
};

enum { ES_UNREACHED_BYTES = 1024 };

/* Starts `eventspaced` and waits (some seconds at most) until it is ready; fine if one
 * is there already.  `out` gets its addresses, one a line, "" in that case.  -errno
 * with words. */
int esi_server_start(const struct esi_server_order *order,
                     struct es_error *error,
                     char *out,
                     size_t size);

/* Tells the run's server on this host that the run has ended, and waits (some seconds
 * at most) until it is gone, unless it stays with `keep` for other hosts' sake.
 * -ENOENT: there is none.  One that does not answer is ended by a signal.
 * `ret_unreached` gets the hosts that did not hear of it, with commas; "" if all did.
 */
int esi_server_end(const char *run,
                   bool keep,
                   struct es_error *error,
                   char ret_unreached[ES_UNREACHED_BYTES]);

#endif
