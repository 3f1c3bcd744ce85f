/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The home server of a run started by `eventspace run`. */
#ifndef ES_CLI_LAUNCH_RUN_SERVER_H
#define ES_CLI_LAUNCH_RUN_SERVER_H

#include <stdbool.h>

struct esi_run_network {
    bool others;           /* ranks may be on other hosts: it listens on a network */
    const char *advertise; /* address of this host for them; NULL = automatic */
    bool everywhere;       /* listen on all addresses of this host */
    bool shared;           /* they share the run directory, and read the key there */
};

/* Creates the run's keys and starts the server.  If ranks may be on other hosts, sets
 * the environment with which they reach it.  On failure prints one line, and the
 * program runs nevertheless. */
void esi_run_server_start(const char *run, const struct esi_run_network *network);

/* Removes the key from this process; call after the launcher was started. */
void esi_run_server_hide_key(void);

/* Announces the end of the run; with `keep` its data remains readable.  Waits until the
 * server has ended, unless it stays for other hosts. */
void esi_run_server_end(const char *run, bool keep);

#endif
