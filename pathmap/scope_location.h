/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Notes in the records of scopes where their stages and properties stand in the text.
 */
#ifndef ES_PATHMAP_SCOPE_LOCATION_H
#define ES_PATHMAP_SCOPE_LOCATION_H

#include "pathmap/text_location.h"

struct esi_pathmap_scope;

/* `cursor` is at the list of scopes, or at the one scope.  One walk over their text. */
void esi_scopes_locate(struct esi_text_cursor *cursor,
                       struct esi_pathmap_scope *scopes,
                       size_t count);
void esi_scope_locate(struct esi_text_cursor *cursor, struct esi_pathmap_scope *scope);

#endif
