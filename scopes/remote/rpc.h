/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The RPC client: requests to a tuple server, replies and failures.
 *
 * A request is a REQUEST frame with a JSON object that has a member "request".  The
 * answer is a REPLY frame with a JSON object, or a FAILURE frame with an error number
 * and a text.  esi_rpc_call() performs a complete request.  Callers that do not wait,
 * or that also wait for other things, send, receive and read in three steps.
 *
 * A link is used by one thread at a time.  The functions have no state of their own.
 */
#ifndef ES_SCOPES_RPC_H
#define ES_SCOPES_RPC_H

#include <stdint.h>

#include "base/json_out.h"
#include "pathmap/message.h"
#include "tuplespace/transport/link.h"

struct esi_rpc_request {
    const char *name;
    /* Writes the members after "request"; NULL if there are none. */
    void (*write)(struct esi_json_out *out, void *data);
    void *data;
};

/* The greeting that this process sends on a connection of `run`. */
struct esi_greeting esi_rpc_greeting(const char *run,
                                     const char *host,
                                     const char *program);

/* Connects to the first of the addresses (separated by commas) that answers, with
 * `timeout_ns` for each.  *ret_address (may be NULL) receives that address.  Errors are
 * those of esi_link_connect() for the last address. */
int esi_rpc_connect(const char *addresses,
                    const struct esi_greeting *greeting,
                    const struct esi_run_key *key,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct es_link **ret_link,
                    char ret_address[ES_ADDRESS_BYTES]);

/* Sends the request and waits for the reply, with `timeout_ns` for each of the two.
 * The caller destroys *ret_reply; `ret_reply` is NULL if the reply's members are not
 * needed.  Returns 0, an error of the link, the error of the server's FAILURE, or
 * -EPROTO. */
int esi_rpc_call(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns,
                 struct es_error *error,
                 struct es_message **ret_reply);

/* --- In steps ----------------------------------------------------------------- */

/* Sends a request.  Returns 0, -ENOMEM, or an error of esi_link_send(), after which the
 * link can only be closed. */
int esi_rpc_send(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns);

/* Waits for the frame with that id.  Discards others: nobody waits for them any more.
 * Errors are those of esi_link_receive(). */
int esi_rpc_receive(struct es_link *link,
                    uint64_t id,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct esi_frame *ret_frame);

/* Returns 0 if the frame has type `wanted`; otherwise the error code and text of a
 * FAILURE, or -EPROTO. */
int esi_rpc_check(const struct esi_frame *frame,
                  enum esi_frame_type wanted,
                  struct es_error *error);

/* Parses the reply.  The caller destroys *ret_reply; if `ret_reply` is NULL, the frame
 * is only checked.  Returns 0, -ENOMEM, or an error of esi_rpc_check(). */
int esi_rpc_read(const struct esi_frame *frame,
                 struct es_error *error,
                 struct es_message **ret_reply);

/* --- The server's side ---------------------------------------------------------- */

/* Sends a FAILURE with the code (-errno) and the text of `error`, which may be NULL or
 * empty.  Errors are those of esi_link_send(). */
int esi_rpc_fail(struct es_link *link,
                 uint64_t id,
                 int code,
                 const struct es_error *error,
                 uint64_t timeout_ns);

#endif
