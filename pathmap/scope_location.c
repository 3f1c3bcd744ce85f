/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Notes where stages and properties stand in the text.
 *
 * The records were read from the same text, so their order is the text's: the cursor
 * and the records go side by side.
 */
#include "config.h"

#include "pathmap/scope_location.h"

#include <stdint.h>

#include "pathmap/pathmap.h"

static void place_value(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *property);

static void place_items(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *items,
                        size_t count,
                        bool named)
{
    size_t i = 0;

    for (bool more = esi_text_cursor_enter(cursor); more && i < count; i++) {
        if (named) {
            esi_text_cursor_locate(cursor, &items[i].name_line, &items[i].name_column);
            esi_text_cursor_read_name(cursor, items[i].name);
        }
        place_value(cursor, &items[i]);
        more = esi_text_cursor_next(cursor);
    }
}

/* Leaves the cursor behind the value. */
static void place_value(struct esi_text_cursor *cursor,
                        struct esi_pathmap_property *property)
{
    esi_text_cursor_locate(cursor, &property->line, &property->column);
    if (property->kind == ES_PATHMAP_VALUE_LIST)
        place_items(cursor, property->items, property->item_count, false);
    else if (property->kind == ES_PATHMAP_VALUE_OBJECT)
        place_items(cursor, property->items, property->item_count, true);
    else
        esi_text_cursor_skip(cursor);
}

static void place_stage(struct esi_text_cursor *cursor,
                        struct esi_pathmap_stage *stage);

static void place_children(struct esi_text_cursor *cursor,
                           struct esi_pathmap_stage *stage)
{
    size_t i = 0;

    for (bool more = esi_text_cursor_enter(cursor); more && i < stage->child_count;
         i++) {
        place_stage(cursor, &stage->children[i]);
        more = esi_text_cursor_next(cursor);
    }
}

static void place_stage(struct esi_text_cursor *cursor, struct esi_pathmap_stage *stage)
{
    esi_text_cursor_locate(cursor, &stage->line, &stage->column);
    for (bool more = esi_text_cursor_enter(cursor); more;
         more = esi_text_cursor_next(cursor)) {
        struct esi_text_cursor name = *cursor;
        if (esi_text_cursor_read_name(cursor, "children")) {
            place_children(cursor, stage);
            continue;
        }
        *cursor = name;
        if (esi_text_cursor_read_name(cursor, "properties"))
            place_items(cursor, stage->properties, stage->property_count, true);
        else
            esi_text_cursor_skip(cursor);
    }
}

void esi_scope_locate(struct esi_text_cursor *cursor, struct esi_pathmap_scope *scope)
{
    for (bool more = esi_text_cursor_enter(cursor); more;
         more = esi_text_cursor_next(cursor)) {
        struct esi_text_cursor name = *cursor;
        if (esi_text_cursor_read_name(cursor, "tree")) {
            place_stage(cursor, &scope->tree);
            continue;
        }
        *cursor = name;
        if (esi_text_cursor_read_name(cursor, "properties"))
            place_items(cursor, scope->properties, scope->property_count, true);
        else
            esi_text_cursor_skip(cursor);
    }
}

void esi_scopes_locate(struct esi_text_cursor *cursor,
                       struct esi_pathmap_scope *scopes,
                       size_t count)
{
    size_t i = 0;

    for (bool more = esi_text_cursor_enter(cursor); more && i < count; i++) {
        esi_scope_locate(cursor, &scopes[i]);
        more = esi_text_cursor_next(cursor);
    }
}
