/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_server.h - serves the page to this user, on a Unix socket or on this host's
 * loopback, until it is stopped (docs/view.md: who can reach it).
 *
 * Read-only.  One thread per connection.
 */
#ifndef ES_CLI_PAGE_PAGE_SERVER_H
#define ES_CLI_PAGE_PAGE_SERVER_H

#include "cli/page/page_reply.h"

enum { ESI_PAGE_TOKEN_BYTES = 33 };

struct esi_page_server_config {
    const char *address; /* "unix:PATH" or "tcp:127.0.0.1:PORT"; port 0 = any */
    bool has_token;      /* a token is required */
    struct esi_page_model model;
};

struct esi_page_server;

/* Returns 0; -ENOSYS if built without the server; or another -errno if the address
 * cannot be used; both with `error` filled. */
int esi_page_server_start(const struct esi_page_server_config *config,
                          struct es_error *error,
                          struct esi_page_server **ret_server);
/* Ends all connections and removes the socket.  Accepts NULL. */
void esi_page_server_stop(struct esi_page_server *server);

/* With the actual port.  Borrowed. */
const char *esi_page_server_address(const struct esi_page_server *server);
/* In hexadecimal digits; "" = not required. */
const char *esi_page_server_token(const struct esi_page_server *server);

#endif
