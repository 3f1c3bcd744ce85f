/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What tuple servers tell each other of elements whose tuples they move, as JSON. */
#ifndef ES_SCOPES_SERVER_MOVING_WIRE_H
#define ES_SCOPES_SERVER_MOVING_WIRE_H

#include "base/json_out.h"
#include "eventspace/run.h"
#include "pathmap/message.h"
#include "scopes/server/element_store.h"

/* An element and its process.  Texts are borrowed from where they were read, the clock
 * from the struct itself: it must not be copied. */
struct es_moving_element {
    struct es_moved_process process;
    struct es_element_config element;
    struct es_clock clock;
};

/* The members of an "element.take" request. */
void es_moving_write(struct es_json_out *out, const struct es_element_view *element);
/* -EINVAL with words. */
int es_moving_read(const struct es_member *request,
                   struct es_error *error,
                   struct es_moving_element *ret_element);

struct es_moving_communicator {
    uint32_t id;
    uint16_t index;
    struct es_communicator_config config;
    int32_t *ranks[2]; /* owned: of the group, of the remote group */
};

/* The members of an "element.communicator" request, but for "id". */
void es_moving_write_communicator(struct es_json_out *out,
                                  const struct es_run *run,
                                  const struct es_segment_view *segment,
                                  uint16_t index,
                                  const struct es_communicator_info *info);
/* -EINVAL with words, -ENOMEM. */
int es_moving_read_communicator(const struct es_member *request,
                                struct es_error *error,
                                struct es_moving_communicator *ret_communicator);
void es_moving_fini_communicator(struct es_moving_communicator *communicator);

#endif
