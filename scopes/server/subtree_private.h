/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the subtree share; nobody else includes it. */
#ifndef ES_SCOPES_SERVER_SUBTREE_PRIVATE_H
#define ES_SCOPES_SERVER_SUBTREE_PRIVATE_H

#include "scopes/remote/batch_wire.h"
#include "scopes/server/subtree.h"
#include "scopes/server/subtree_reader.h"
#include "scopes/remote/subtree_wire.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/stage_node.h"
#include "wrappers/stages/stage.h"

/* A text that an origin has and no segment here. */
struct esi_part_text {
    struct esi_part_text *next;
    char text[];
};

struct esi_subtree {
    struct esi_service_connection *connection; /* borrowed */
    struct es_run *run;                        /* the connection's */
    struct es_origins origins;                 /* owned, in the order of the request */
    struct es_places places;
    struct es_clock *clocks;               /* of the processes in the request */
    const struct es_host_clock *own_clock; /* of this host; the service's */
    struct esi_part_text *texts;
    struct es_servers *servers; /* for remote stages within; NULL until one is opened */
    struct es_stage_context context;
    struct es_stage *root;
    char communicator[64]; /* last name that was asked for */

    uint64_t serial;     /* of the last pull of the stages */
    bool moves;          /* positions move: not only latest tuples are read */
    uint64_t *positions; /* first tuple of each origin that has not been given */
    struct es_batch batch;
    struct esi_wire_state wire; /* the same as the other end knows it */
    struct esi_wire_buffer buffer;
    uint64_t cpu_ns;      /* of this thread, as it was told last */
    uint64_t cpu_told_ns; /* when that was */

    struct esi_subtree_reader **readers; /* per origin; NULL = does not wait for us */
};

/* Fills origins, places and clocks from the request; positions of elements that are not
 * there stay as they were asked for. */
int esi_subtree_read_origins(struct esi_subtree *subtree,
                             const struct es_member *request,
                             struct es_error *error);
void esi_subtree_free_origins(struct esi_subtree *subtree);

#endif
