/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The home server of a run that `eventspace run` starts. */
#ifndef ES_CLI_LAUNCH_RUN_SERVER_H
#define ES_CLI_LAUNCH_RUN_SERVER_H

#include <stdbool.h>

struct esi_run_network {
    bool others;           /* ranks may be on other hosts: it listens on a network */
    const char *advertise; /* by which they reach this host; NULL = found out */
    bool everywhere;       /* listen on all addresses of this host */
    bool shared;           /* they see the run directory: the key is there for them */
};

/* Makes the run's keys and starts the server.  Where ranks may be on other hosts, the
 * environment tells them how to reach it.  What fails is said in one line: the program
 * runs all the same. */
void esi_run_server_start(const char *run, const struct esi_run_network *network);

/* The launcher has been started: takes the key out of this process again. */
void esi_run_server_hide_key(void);

/* Says that the run has ended; with `keep` what is left stays readable.  Waits till the
 * server is gone, unless it stays for other hosts. */
void esi_run_server_end(const char *run, bool keep);

#endif
