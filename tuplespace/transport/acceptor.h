/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The generic part of a tuple server: listens, greets clients, and runs one thread per
 * connection.
 *
 * The frames are processed by a service, a table of functions of the layer above
 * (scopes/server/service.h).
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ACCEPTOR_H
#define ES_TUPLESPACE_TRANSPORT_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"

struct esi_server;

/* The functions of one connection are called in its thread; those of different
 * connections may run concurrently. */
struct esi_server_service {
    /* A connection was greeted.  Returns 0; or -errno to close it. */
    int (*open)(void *data, struct es_link *link, void **ret_connection);
    /* A frame has arrived; replies through the link.  Returns 0; or -errno to close the
     * connection. */
    int (*serve)(void *connection, const struct esi_frame *frame);
    /* The connection ends, possibly because the server stops. */
    void (*close)(void *connection);
    void *data;
    /* The server stops: functions of the service must no longer wait for anything but
     * their link, which has been shut.  NULL if none waits. */
    void (*stop)(void *data);
};

struct esi_server_config {
    const char *run;
    const char *host;             /* name of this host */
    const char *const *addresses; /* to listen on; terminated by NULL */
    struct esi_run_key key;
    struct esi_server_service service;
    /* Writes one line to the server's log.  Called by any thread, but not
     * concurrently. */
    void (*log)(void *data, const char *line);
    void *log_data;
};

/* Starts listening and the server's threads.  The texts of the config are borrowed
 * until the server stops. */
int esi_acceptor_start(const struct esi_server_config *config,
                       struct es_error *error,
                       struct esi_server **ret_server);
/* Address by index on which the server listens; NULL beyond the last.  Borrowed. */
const char *esi_server_address(const struct esi_server *server, size_t index);
size_t esi_server_connection_count(struct esi_server *server);
/* Writes a line to the log, preceded by the time. */
void esi_acceptor_log(struct esi_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Shuts all connections, waits for their threads, and frees the server.  Accepts
 * NULL. */
void esi_server_stop(struct esi_server *server);

#endif
