/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Shared by the files of the scope; not included elsewhere. */
#ifndef ES_SCOPES_SCOPE_PRIVATE_H
#define ES_SCOPES_SCOPE_PRIVATE_H

#include "base/json_out.h"
#include "eventspace/scope.h"
#include "scopes/scope_config.h"
#include "scopes/scope_origins.h"
#include "wrappers/stages/stage.h"

struct esi_scope_control;
struct esi_pace;
struct esi_pathmap;

struct es_scope {
    struct es_scope_config config; /* owns its texts */
    char *view_filter;             /* owned; NULL if none */
    struct esi_scope_origins from; /* where its tuples come from */

    struct es_server_info *infos; /* owned; the hosts of the plan */
    struct esi_pathmap *map;      /* owned; NULL if not needed, or not known */

    struct es_stage_context context;
    struct es_stage *root; /* owned */

    struct es_batch batch; /* result of the last pull, kept until it was used */
    uint64_t serial;
    uint64_t measured_ns; /* last time that stages were timed,
                             CLOCK_MONOTONIC_COARSE; 0 if never */
    bool repeats;         /* the last pull failed: the batch is delivered again */
    bool broken;          /* the tree failed: a new one reads again from the places */

    struct esi_scope_control *control; /* owned; NULL if the scope has no name */
    struct esi_pace *pace;             /* owned; NULL if the consumer sets the pace */

    struct es_scope_cost cost;
};

/* --- The rate controller: scope_pace.c ------------------------------------------- */

/* Assigns a rate controller with these goals, 0 for none, to the scope; removes it if
 * both are 0.  Returns 0, -EINVAL with a text, or -ENOMEM. */
int esi_scope_set_pace(struct es_scope *scope,
                       double budget,
                       double wanted_hz,
                       struct es_error *error);
void esi_scope_end_pace(struct es_scope *scope);
/* Measures, changes the scope if the controller decided so, and waits until the next
 * pull is due.  Called before a pull. */
void esi_scope_keep_pace(struct es_scope *scope);
/* Records the cost of a pull.  Called after it. */
void esi_scope_note_pull(struct es_scope *scope);
/* Writes the decisions and their reasons. */
void esi_scope_write_pace(const struct es_scope *scope, struct esi_json_out *out);

#endif
