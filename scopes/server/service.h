/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The service of a tuple server to its clients: a table of requests, and pulls.
 *
 * Requests are JSON objects with a member "request".  Each is a row of a table in the
 * file of its subject.  The service runs one thread per connection; data shared by
 * connections is protected by its owner.
 */
#ifndef ES_SCOPES_SERVER_SERVICE_H
#define ES_SCOPES_SERVER_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/json_out.h"
#include "eventspace/error.h"
#include "eventspace/run.h"
#include "pathmap/message.h"
#include "scopes/server/element_store.h"
#include "tuplespace/transport/acceptor.h"

struct esi_segment_set; /* the host's segments: tuplespace/segment_set.h */
struct esi_subtree;
struct esi_element_session;
struct esi_scope_entry;
struct esi_scope_registry; /* live scopes: scopes/server/scope_registry.h */
struct esi_clock_registry; /* the hosts' clocks: scopes/remote/clock_registry.h */
struct esi_host_registry;  /* the run's hosts: scopes/server/host_registry.h */

/* One per tuple server.  Registries and stores do their own locking. */
struct esi_service {
    const char *run;                  /* borrowed */
    const char *host;                 /* borrowed */
    struct esi_server *server;        /* for its log; set after its start */
    struct esi_segment_set *segments; /* of the run, shared by all connections */
    struct esi_scope_registry *scopes;
    struct esi_host_registry *hosts; /* borrowed */
    struct esi_clock_registry *clocks;
    struct esi_element_store *elements;
    atomic_size_t subtrees; /* currently open on all connections */
    atomic_bool stops;      /* all waits must end */
};

/* The connection of one client. */
struct esi_service_connection {
    struct esi_service *service; /* borrowed */
    struct es_link *link;        /* borrowed */
    struct es_run *reading;      /* on the service's segments; see esi_service_run() */
    struct esi_subtree *subtree; /* opened by it, or NULL */
    struct esi_scope_entry *scope;       /* registered by it, or NULL */
    bool owes_answer;                    /* the server ends after the reply */
    struct esi_element_session *element; /* opened by it, or NULL */
    struct esi_element_share share;      /* of the elements held by the server */
};

/* A request in progress. */
struct esi_service_call {
    struct esi_service_connection *connection;
    const struct es_member *body;
    struct esi_json_out *reply; /* an object; begun and ended by the caller */
    struct es_error *error;
    int code; /* 0, or the first failure of the reads below */
};

/* Read the members of the request.  After a failure they read nothing and return NULL,
 * `minimum` or false; call->code is the error, call->error its text. */
const char *esi_service_text(struct esi_service_call *call, const char *name);
int64_t esi_service_integer(struct esi_service_call *call,
                            const char *name,
                            int64_t minimum,
                            int64_t maximum);
bool esi_service_boolean(struct esi_service_call *call, const char *name);
/* The connection's own run, opened or refreshed.  Borrowed from the connection. */
struct es_run *esi_service_run(struct esi_service_call *call);

/* Writes the members of the reply.  On -errno with a text, a FAILURE is sent
 * instead. */
typedef int (*esi_request_fn)(struct esi_service_call *call);

struct esi_request_row {
    const char *name;
    esi_request_fn serve;
    bool changes; /* refused to clients with the read-only key */
};

/* Tables of rows, each terminated by a row with name NULL; the list is terminated by
 * NULL. */
extern const struct esi_request_row *const esi_request_tables[];
extern const struct esi_request_row esi_run_requests[];     /* catalog, collect, ... */
extern const struct esi_request_row esi_subtree_requests[]; /* open, close, costs */
extern const struct esi_request_row esi_host_requests[];    /* hosts, register, clock */
extern const struct esi_request_row esi_scope_requests[];   /* scopes, announce, ... */
extern const struct esi_request_row esi_element_requests[]; /* element.create, ... */

/* Creates the registries and stores; run, host and hosts are set by the caller. */
int esi_service_init(struct esi_service *service, struct es_error *error);
/* Returns true if a subtree of a consumer's scope is open here. */
bool esi_service_is_read(struct esi_service *service);
/* Removes the names of the server's shared memory while its threads may still run: for
 * a server that has to end at once. */
void esi_service_abandon(struct esi_service *service);
/* Called after the server has stopped.  The caller keeps `hosts`. */
void esi_service_fini(struct esi_service *service);
/* Elements (scopes/server/element_requests.c): answers a WRITE or READ frame; closes
 * the element opened by the connection. */
int esi_element_serve(struct esi_service_connection *connection,
                      const struct esi_frame *frame);
void esi_element_close(struct esi_service_connection *connection);

/* Answers with a FAILURE.  The result is for the connection. */
int esi_service_fail(struct esi_service_connection *connection,
                     uint64_t id,
                     int code,
                     const struct es_error *error);

/* Fills in the service for esi_acceptor_start(); `service` is borrowed. */
void esi_service_fill(struct esi_service *service,
                      struct esi_server_service *ret_service);

#endif
