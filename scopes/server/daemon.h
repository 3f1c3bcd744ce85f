/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The daemon of a tuple server: `eventspaced` detaches from its caller and serves. */
#ifndef ES_SCOPES_SERVER_DAEMON_H
#define ES_SCOPES_SERVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scopes/server/server_location.h"

enum { ES_DAEMON_ADDRESSES = 8 };

/* Exit statuses, like those of the commands. */
enum { ES_DAEMON_OK = 0, ES_DAEMON_FAULT = 2 };

struct esi_daemon_options {
    const char *run;
    const char *home; /* the home server's addresses, with commas; NULL if this is it */
    const char *addresses[ES_DAEMON_ADDRESSES + 1]; /* to listen on */
    size_t address_count;
    const char *former;    /* tried instead of the last address if a server of this
                              host and run was killed; NULL if there was none */
    const char *advertise; /* host name used by others; NULL: from connections */
    const char *log;
    const char *host;
    const char *cluster;
    const char *gateway;
    uint64_t grace_ns;      /* time to serve without a process of the run */
    uint64_t keep_grace_ns; /* time to keep the data of a run that has ended */
    bool foreground;
};

/* Detaches from the caller's session, descriptors and directory; only the descriptor
 * `keep` stays open.  Returns in the new process, with the descriptor for the report.
 * The calling process never returns: it prints the report and exits with 0, or with 2
 * after a fault. */
int esi_daemon_detach(int keep);
/* Gives the process a low priority and lets it run on any CPU. */
void esi_daemon_step_back(void);

/* Serves until a request, a signal, the grace time or the removal of its files ends it.
 * `lock` is held; `ready` is the descriptor from esi_daemon_detach(), or -1 to print to
 * standard output.  Returns the exit status. */
int esi_daemon_serve(const struct esi_daemon_options *options,
                     const struct esi_server_location *location,
                     int lock,
                     int ready);

#endif
