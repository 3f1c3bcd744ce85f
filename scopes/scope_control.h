/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a live scope does on demand.  A command and its answer are JSON objects:
 *
 *     {"do": "show"}
 *         {"settings": {NAME: VALUE, ...}, "cost": {...}, "stages": [ROW, ...],
 *          "decisions": [...]}
 *     {"do": "set", "settings": {NAME: VALUE, ...}}
 *         {"settings": {...}}
 *     {"do": "rate", "budget": SHARE, "rate": HZ}      both 0: no longer
 *         {"settings": {...}}
 *
 * or {"code": ERRNO, "text": WORDS} where it cannot be done.  ROW has the members of
 * struct esi_stage_row.
 */
#ifndef ES_SCOPES_SCOPE_CONTROL_H
#define ES_SCOPES_SCOPE_CONTROL_H

#include <stddef.h>

#include "eventspace/scope.h"
#include "pathmap/message.h"

/* Does what `command` says.  The answer is the text of an object; caller frees.
 * -ENOMEM. */
int esi_scope_command(struct es_scope *scope,
                      const struct es_member *command,
                      char **ret_answer);

#endif
