/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the first rank on a host other than the run's home lays out there. */
#ifndef ES_CLI_LAUNCH_RANK_HOST_H
#define ES_CLI_LAUNCH_RANK_HOST_H

/* If `eventspace run` has said in the environment where the run's home server is, and
 * that is on another host: makes the run directory here with key and plan, and starts
 * this host's tuple server, once for all ranks.  Takes what is not for the program out
 * of the environment.  What fails is said in one line by one rank: the program runs all
 * the same. */
void esi_rank_host_prepare(void);

#endif
