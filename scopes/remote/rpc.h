/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The rpc client: a request to a tuple server, its reply and its failure.
 *
 * A request is a JSON object with a member "request" in a REQUEST frame.  A REPLY frame
 * with a JSON object answers it, or a FAILURE frame with an error number and a text.
 * esi_rpc_call() does all of it.  Callers that do not wait, or that wait for something
 * else at the same time, send, receive and read in three steps.
 *
 * A link is used by one thread at a time; the functions have no state of their own.
 */
#ifndef ES_SCOPES_RPC_H
#define ES_SCOPES_RPC_H

#include <stdint.h>

#include "base/json_out.h"
#include "pathmap/message.h"
#include "tuplespace/transport/link.h"

struct esi_rpc_request {
    const char *name;
    /* Writes the members behind "request"; NULL = there are none. */
    void (*write)(struct esi_json_out *out, void *data);
    void *data;
};

/* What this process says of itself on a connection of `run`. */
struct esi_greeting esi_rpc_greeting(const char *run,
                                     const char *host,
                                     const char *program);

/* Connects to the first of the addresses (separated by commas) that answers, each
 * within `timeout_ns`.  ret_address, unless NULL, receives that address.  Errors as
 * of esi_link_connect(), of the last address. */
int esi_rpc_connect(const char *addresses,
                    const struct esi_greeting *greeting,
                    const struct esi_run_key *key,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct es_link **ret_link,
                    char ret_address[ES_ADDRESS_BYTES]);

/* Sends the request and waits for its reply, `timeout_ns` for each of the two.  Caller
 * destroys *ret_reply; `ret_reply` NULL = its members do not matter.  Errors of the
 * link, what the server's failure says, or -EPROTO. */
int esi_rpc_call(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns,
                 struct es_error *error,
                 struct es_message **ret_reply);

/* --- In steps ----------------------------------------------------------------- */

/* 0, -ENOMEM, or as esi_link_send(): then the link can only be closed. */
int esi_rpc_send(struct es_link *link,
                 uint64_t id,
                 const struct esi_rpc_request *request,
                 uint64_t timeout_ns);

/* Waits for the frame with that id.  Others are dropped: they answer requests whose
 * wait has ended.  As esi_link_receive(). */
int esi_rpc_receive(struct es_link *link,
                    uint64_t id,
                    uint64_t timeout_ns,
                    struct es_error *error,
                    struct esi_frame *ret_frame);

/* 0 for a frame of type `wanted`.  The code and the text of a FAILURE, else -EPROTO. */
int esi_rpc_check(const struct esi_frame *frame,
                  enum esi_frame_type wanted,
                  struct es_error *error);

/* Reads the reply from its frame.  Caller destroys *ret_reply; `ret_reply` NULL = it is
 * only checked.  -ENOMEM, or as esi_rpc_check(). */
int esi_rpc_read(const struct esi_frame *frame,
                 struct es_error *error,
                 struct es_message **ret_reply);

/* --- The server's side ---------------------------------------------------------- */

/* Sends a FAILURE with the code (-errno) and the words of `error`, which may be NULL or
 * empty.  As esi_link_send(). */
int esi_rpc_fail(struct es_link *link,
                 uint64_t id,
                 int code,
                 const struct es_error *error,
                 uint64_t timeout_ns);

#endif
