/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The stage `remote`: the proxy of a subtree that runs in the tuple server of another
 * host (scopes/server/subtree.h), with one connection to it.
 *
 * The stage keeps the last reply until its consumer acknowledges it.  If a server does
 * not answer within its limit, the batch contains a notice, and the reply is used when
 * it arrives.  A lost connection is reopened by later pulls, at the positions reached.
 *
 * If the place of an origin has position ES_POSITION_END, reading starts at the end of
 * the element when the subtree is first opened.  If places are `registered`, the
 * subtree registers as the reader of elements whose writers block.
 */
#ifndef ES_SCOPES_REMOTE_REMOTE_H
#define ES_SCOPES_REMOTE_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/stage.h"
#include "pathmap/message.h"
#include "scopes/show.h"

#define ES_POSITION_END UINT64_MAX

extern const struct es_stage_ops esi_stage_remote;

/* Returns true if `stage` has this type; the functions below require it. */
bool esi_stage_is_remote(const struct es_stage *stage);

struct esi_remote_status {
    const char *host; /* borrowed */
    bool silent;      /* does not answer at the moment, or is not connected */
    uint64_t silent_ns;
    uint64_t pulls;         /* answered pulls */
    uint64_t reopened;      /* number of reconnections */
    uint64_t server_cpu_ns; /* what its pulls cost the server's thread */
    uint64_t server_wall_ns;
};

/* Opens a remote stage in this process as the proxy of `node`.  The origins of `node`
 * are those of `context`. */
struct esi_stage_node;
int esi_remote_open(const struct esi_stage_node *node,
                    const struct es_stage_context *context,
                    struct es_error *error,
                    struct es_stage **ret_stage);

void esi_remote_status(const struct es_stage *stage,
                       struct esi_remote_status *ret_status);

/* Requests the costs of the server's stages, and calls `visit` for each, starting with
 * the root, with `depth` added.  The server asks the servers below it.  Returns 0,
 * -ETIMEDOUT, or -EPIPE without a connection.  Only between pulls. */
int esi_remote_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data);

/* Calls `visit` for `stage`, at depth `depth`, and for all stages below it.  Stages in
 * tuple servers follow their remote stage; they are omitted if the server does not
 * answer within `timeout_ns`.  Only between pulls. */
void esi_stage_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data);

/* Writes the members of a row, except `silent`, into an object that was begun. */
void esi_stage_row_write(const struct esi_stage_row *row, struct esi_json_out *out);

/* Reads the output of esi_stage_row_write(), and `host` and `silent`; texts are
 * borrowed from the member.  Depths count from `depth`.  `host` (may be NULL) is the
 * host of the first row if the row does not name one. */
void esi_stage_row_read(const struct es_member *member,
                        int depth,
                        const char *host,
                        struct esi_stage_row *ret_row);

/* Prints an array of such rows; see esi_show_print(). */
int esi_stage_rows_print(const struct es_member *rows,
                         const char *format,
                         FILE *stream,
                         const struct esi_show_options *options);

#endif
