/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the scope share; nobody else includes it. */
#ifndef ES_SCOPES_SCOPE_PRIVATE_H
#define ES_SCOPES_SCOPE_PRIVATE_H

#include "eventspace/scope.h"
#include "wrappers/stage.h"

struct es_scope {
    struct es_run *run;            /* borrowed */
    struct es_scope_config config; /* its texts are owned */
    char *view_filter;             /* owned; NULL = none */

    struct es_origins origins; /* owned */
    struct es_places places;   /* owned; as many as origins */
    struct es_stage_context context;
    struct es_stage *root; /* owned */

    struct es_batch batch; /* what the last pull gave */
    struct es_batch
        kept; /* it again, where its stages are gone: see esi_scope_rebuild() */
    struct es_batch carried; /* what stages gave up that were replaced */
    uint64_t carried_serial; /* of the pull that gave it; 0 = not given yet */
    uint64_t serial;
    uint64_t acknowledged;
    bool succeeded; /* the last pull */

    struct es_scope_cost cost;
    char communicator[64]; /* last name that was asked for */
};

/* Makes the texts of `config` the scope's own, checks them and computes the view's
 * filter. */
int esi_scope_take_config(struct es_scope *scope,
                          const struct es_scope_config *config,
                          struct es_error *error);
void esi_scope_free_config(struct es_scope *scope);

/* Adds the elements that are selected and not yet known.  Returns their number or
 * -errno. */
int esi_scope_find_origins(struct es_scope *scope, bool joining);

/* Lets the writers that wait for this scope go on. */
void esi_scope_unregister(struct es_scope *scope);

/* The context's function. */
const char *esi_scope_communicator_name(void *data,
                                        uint32_t origin,
                                        uint16_t communicator);

#endif
