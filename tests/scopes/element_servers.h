/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuple servers in the process of the test, each for a named host, on a Unix socket. */
#ifndef ES_TESTS_ELEMENT_SERVERS_H
#define ES_TESTS_ELEMENT_SERVERS_H

#include "scopes/server/host_registry.h"
#include "scopes/remote/servers.h"
#include "scopes/server/service.h"

struct element_server {
    char run[64];
    char host[64];
    char folder[64];
    char address[128];
    struct esi_service service;
    struct esi_server *server;
};

/* Starts the server; fails the test if that fails. */
void element_server_start(struct element_server *made,
                          const char *run,
                          const char *host);
/* Stops the server and releases its elements. */
void element_server_stop(struct element_server *made);

/* The set of servers, as seen by a consumer. */
struct es_servers *element_servers(struct element_server *made, size_t count);

#endif
