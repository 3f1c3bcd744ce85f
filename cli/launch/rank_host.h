/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the first rank prepares on a host other than the home of the run. */
#ifndef ES_CLI_LAUNCH_RANK_HOST_H
#define ES_CLI_LAUNCH_RANK_HOST_H

/* If the environment from `eventspace run` names a home server on another host: creates
 * the run directory on this host with key and plan, and starts this host's tuple
 * server, once for all ranks.  Removes variables not meant for the program from the
 * environment.  On failure one rank prints one line, and the program runs
 * nevertheless. */
void esi_rank_host_prepare(void);

#endif
