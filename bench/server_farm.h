/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuple servers of simulated hosts, each in its own process on this machine. */
#ifndef ES_BENCH_SERVER_FARM_H
#define ES_BENCH_SERVER_FARM_H

#include <stdint.h>
#include <sys/types.h>

#include "eventspace/error.h"
#include "eventspace/servers.h"

enum { FARM_HOSTS = 72 }; /* 64, and joints for groups of 8 */

/* FARM_BRIDGE: TCP, and each server has its own network namespace, connected to the
 * bridge br0 of this one; see bench/growth.sh. */
enum farm_transport { FARM_UNIX, FARM_TCP, FARM_TLS, FARM_BRIDGE };

struct server_farm {
    char run[64];
    char folder[64];
    pid_t pids[FARM_HOSTS];
    char addresses[FARM_HOSTS][300];
    int stop[FARM_HOSTS]; /* closing it ends the server */
    int count;
    struct es_servers *servers;
};

/* Starts a server for each of the hosts PREFIX-0, ...; the first is the home server.
 * Returns 0, or -errno with a text. */
int server_farm_start(struct server_farm *farm,
                      const char *run,
                      const char *host_prefix,
                      int count,
                      enum farm_transport transport,
                      struct es_error *error);
uint64_t server_farm_cpu_ns(const struct server_farm *farm);
void server_farm_stop(struct server_farm *farm);

#endif
