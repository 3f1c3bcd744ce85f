/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The home server of a run that `eventspace run` starts. */
#ifndef ES_CLI_RUN_SERVER_H
#define ES_CLI_RUN_SERVER_H

#include <stdbool.h>

/* Makes the run's key and starts the server.  Where ranks may be on other hosts
 * (`others`), it listens on the network, and the environment tells them how to reach
 * it: by the name `advertise`, NULL = by this host's addresses.  What fails is said in
 * one line: the program runs all the same. */
void esi_run_server_start(const char *run, bool others, const char *advertise);

/* Says that the run has ended; with `keep` what is left stays readable.  Waits till the
 * server is gone, unless it stays for other hosts. */
void esi_run_server_end(const char *run, bool keep);

#endif
