/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* filter.h - conditions on tuples, as people write them.
 *
 *   expression = conjunction { "||" conjunction }
 *   conjunction = term { "&&" term }
 *   term       = "!" term | "(" expression ")" | field comparison value
 *   comparison = "==" | "!=" | "<" | "<=" | ">" | ">="
 *   field      = "operation" | "class" | "communicator" | "peer" | "tag" | "bytes"
 *              | "sequence" | "duration" | "rank" | "thread"
 *   value      = [ "-" ] digits [ "." digits ] [ unit ] | word | '"' any text '"'
 *
 * operation, class and communicator take names, and == and != only; communicator also
 * takes an index.  duration takes ns, us, ms, s, min and h; bytes may have KiB, MiB or
 * GiB.  peer and tag know the words any and none.
 */
#ifndef ES_WRAPPERS_STAGES_FILTER_H
#define ES_WRAPPERS_STAGES_FILTER_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "eventspace/stage.h"

struct esi_filter;

/* A tuple to be tested; all pointers are borrowed. */
struct esi_filter_event {
    const struct es_tuple *tuple;
    const struct es_origin *origin;
    uint32_t origin_index;
    uint64_t realtime_ns; /* the current time: the end of operations under way */
    const struct es_stage_context *context; /* provides names of communicators */
};

/* Compiles an expression.  Returns 0; -EINVAL, with the column in `error`, counted from
 * 1, or from `column` if the text began there; or -ENOMEM.  Free with
 * esi_filter_destroy(). */
int esi_filter_create(const char *text,
                      int line,
                      int column,
                      struct es_error *error,
                      struct esi_filter **ret_filter);
/* Frees the filter.  Accepts NULL. */
void esi_filter_destroy(struct esi_filter *filter);

bool esi_filter_matches(const struct esi_filter *filter,
                        const struct esi_filter_event *event);

#endif
