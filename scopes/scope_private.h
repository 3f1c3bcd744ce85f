/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the scope share; nobody else includes it. */
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
    struct es_scope_config config; /* its texts are owned */
    char *view_filter;             /* owned; NULL = none */
    struct esi_scope_origins from; /* where its tuples come from */

    struct es_server_info *infos; /* owned; the plan's hosts */
    struct esi_pathmap *map;      /* owned; NULL = not asked for, or not known */

    struct es_stage_context context;
    struct es_stage *root; /* owned */

    struct es_batch batch; /* what the last pull delivered; kept until it was used */
    uint64_t serial;
    uint64_t measured_ns; /* when stages were timed last, CLOCK_MONOTONIC_COARSE; 0 =
                             never */
    bool repeats; /* the last pull failed: what the batch has is delivered again */
    bool broken;  /* the tree has failed: another one reads again from the places */

    struct esi_scope_control *control; /* owned; NULL = the scope has no name */
    struct esi_pace *pace;             /* owned; NULL = pulls when its consumer likes */

    struct es_scope_cost cost;
};

/* --- The rate controller: scope_pace.c ------------------------------------------- */

/* Gives the scope to a rate controller with these goals, 0 = none; both 0: takes it
 * back. -EINVAL with words, -ENOMEM. */
int esi_scope_set_pace(struct es_scope *scope,
                       double budget,
                       double wanted_hz,
                       struct es_error *error);
void esi_scope_end_pace(struct es_scope *scope);
/* Measures, changes the scope where that was decided, and waits until the next pull is
 * due.  Before a pull. */
void esi_scope_keep_pace(struct es_scope *scope);
/* Takes what the pull has cost into the account.  After a pull. */
void esi_scope_note_pull(struct es_scope *scope);
/* Writes what was decided, and why. */
void esi_scope_write_pace(const struct es_scope *scope, struct esi_json_out *out);

#endif
