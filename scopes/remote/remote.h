/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The stage `remote`: stands for a subtree that runs in another host's tuple server
 * (scopes/server/subtree.h), and has one connection to it.
 *
 * It keeps the last reply until its consumer acknowledges it.  A server that does not
 * answer within its limit shows as a notice in the batch; its reply is used when it
 * comes.  A connection that is lost is made again, at the positions reached, in the
 * pulls that follow.
 *
 * Of an origin whose place has position ES_POSITION_END reading begins behind what is
 * there when the subtree is opened for the first time.  Where places are `registered`
 * the subtree registers as the reader of the elements that are set to block.
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

/* Whether `stage` is of this type; the calls below take such stages only. */
bool esi_stage_is_remote(const struct es_stage *stage);

struct esi_remote_status {
    const char *host; /* borrowed */
    bool silent;      /* does not answer at the moment, or is not connected */
    uint64_t silent_ns;
    uint64_t pulls;         /* that were answered */
    uint64_t reopened;      /* times the connection was made again */
    uint64_t server_cpu_ns; /* what its pulls have cost the server's thread */
    uint64_t server_wall_ns;
};

/* Opens the stage that stands for `node` in this process: a remote stage.  `node`'s
 * origins are those of `context`. */
struct esi_stage_node;
int esi_remote_open(const struct esi_stage_node *node,
                    const struct es_stage_context *context,
                    struct es_error *error,
                    struct es_stage **ret_stage);

void esi_remote_status(const struct es_stage *stage,
                       struct esi_remote_status *ret_status);

/* Asks the server what its stages have cost, and calls `visit` for each, its root
 * first, with `depth` added; other servers below it are asked by it.  0, -ETIMEDOUT, or
 * -EPIPE while there is no connection.  Between pulls only. */
int esi_remote_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data);

/* Calls `visit` for `stage`, which has that depth, and for all below.  What stands in
 * tuple servers follows its remote stage; a server that does not answer within
 * `timeout_ns` leaves its remote stage alone.  Between pulls only. */
void esi_stage_foreach_row(struct es_stage *stage,
                           int depth,
                           uint64_t timeout_ns,
                           void (*visit)(void *data, const struct esi_stage_row *row),
                           void *data);

/* Writes the row into an object that is begun; all but `silent`. */
void esi_stage_row_write(const struct esi_stage_row *row, struct esi_json_out *out);

/* Reads what esi_stage_row_write() wrote, and `host` and `silent` with it; the texts
 * are borrowed from the member.  Depths count from `depth`; `host` (may be NULL) is
 * where the first row's stage stands if it does not say so. */
void esi_stage_row_read(const struct es_member *member,
                        int depth,
                        const char *host,
                        struct esi_stage_row *ret_row);

/* Prints an array of such rows: see esi_show_print(). */
int esi_stage_rows_print(const struct es_member *rows,
                         const char *format,
                         FILE *stream,
                         const struct esi_show_options *options);

#endif
