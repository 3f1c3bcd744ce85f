/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Requests over one's own link to a tuple server, one at a time. */
#ifndef ES_SCOPES_REMOTE_SERVER_TALK_H
#define ES_SCOPES_REMOTE_SERVER_TALK_H

#include "base/json_out.h"
#include "pathmap/message.h"
#include "scopes/remote/element_wire.h"
#include "tuplespace/transport/link.h"

/* Sends the request whose members `write` writes and waits for the reply, which the
 * caller destroys.  A failure that the server reports becomes its code and words. */
int esi_server_talk(struct es_link *link,
                    uint64_t id,
                    void (*write)(struct es_json_out *out, void *data),
                    void *data,
                    uint64_t limit_ns,
                    struct es_error *error,
                    struct es_message **ret_reply);

/* Sends tuples and waits for the answer. */
int esi_server_write(struct es_link *link,
                     uint64_t id,
                     const struct es_write_header *header,
                     const void *tuples,
                     size_t count,
                     uint64_t limit_ns,
                     struct es_tuples_header *ret_answer);

/* Waits for a TUPLES frame; *ret_tuples is borrowed until the next receive. */
int esi_server_await_tuples(struct es_link *link,
                            uint64_t id,
                            uint64_t limit_ns,
                            struct es_tuples_header *ret_answer,
                            const void **ret_tuples);

#endif
