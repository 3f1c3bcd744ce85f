/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What makes a daemon of a tuple server: `eventspaced` detaches and serves. */
#ifndef ES_SCOPES_SERVER_DAEMON_H
#define ES_SCOPES_SERVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scopes/server/server_location.h"

enum { ES_DAEMON_ADDRESSES = 8 };

/* Exit statuses, as those of the commands. */
enum { ES_DAEMON_OK = 0, ES_DAEMON_FAULT = 2 };

struct esi_daemon_options {
    const char *run;
    const char *home; /* addresses of the home server, with commas; NULL = this is it */
    const char *addresses[ES_DAEMON_ADDRESSES + 1]; /* to listen on */
    size_t address_count;
    const char *former;    /* to try in place of the last one, where a server of this
                              host and run was killed; NULL = there was none */
    const char *advertise; /* host by which others reach it; NULL = they find out */
    const char *log;
    const char *host;
    const char *cluster;
    const char *gateway;
    uint64_t grace_ns;      /* without a process of the run */
    uint64_t keep_grace_ns; /* after a bad end */
    bool foreground;
};

/* Leaves the caller's session, descriptors and folder behind; only `keep` (a
 * descriptor) stays open.  Returns in the new process, with the descriptor to report
 * to.  The calling process never returns: it prints the report and
 * ends with 0, or with 2 after a fault. */
int esi_daemon_detach(int keep);
/* Makes the process one that does not disturb: nice, on any CPU. */
void esi_daemon_step_back(void);

/* Serves until there is nothing to serve for any more.  `lock` is held; `ready` as of
 * esi_daemon_detach(), or -1 to print to standard output.  Returns the exit status. */
int esi_daemon_serve(const struct esi_daemon_options *options,
                     const struct esi_server_location *location,
                     int lock,
                     int ready);

#endif
