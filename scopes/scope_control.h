/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A named scope is registered with the home server, through which users show and change
 * it.  A command and its answer are JSON objects:
 *
 *     {"do": "show"}
 *         {"settings": {NAME: VALUE, ...}, "cost": {...}, "stages": [ROW, ...],
 *          "decisions": [...]}
 *     {"do": "set", "settings": {NAME: VALUE, ...}}
 *         {"settings": {...}}
 *     {"do": "rate", "budget": SHARE, "rate": HZ}      both 0: ends the control
 *         {"settings": {...}}
 *
 * or {"code": ERRNO, "text": WORDS} on failure.  ROW has the members of struct
 * esi_stage_row.
 */
#ifndef ES_SCOPES_SCOPE_CONTROL_H
#define ES_SCOPES_SCOPE_CONTROL_H

#include "base/json_out.h"
#include "eventspace/scope.h"

/* Registers the scope with the home server if it has a name.  Returns 0, even if no
 * server listens, or -ENOMEM. */
int esi_scope_register(struct es_scope *scope);
/* Writes "stages", an array of ROWs, into an object that was begun.  Omits the stages
 * of tuple servers that do not answer within the timeout.  Only between pulls. */
void esi_scope_write_stages(struct es_scope *scope,
                            uint64_t timeout_ns,
                            struct esi_json_out *out);
/* Executes commands to a registered scope.  Called before a pull. */
void esi_scope_poll(struct es_scope *scope);
void esi_scope_deregister(struct es_scope *scope);

#endif
