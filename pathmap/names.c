/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Finds records by name. */
#include "config.h"

#include "pathmap/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* By name; equal names in the order of the records. */
static int names_compare(const void *a, const void *b)
{
    const struct esi_name *left = a, *right = b;
    int order = strcmp(left->text, right->text);

    if (order != 0)
        return order;
    return (left->index > right->index) - (left->index < right->index);
}

int esi_names_init(struct esi_names *names,
                   const void *records,
                   size_t count,
                   size_t size,
                   size_t offset,
                   bool in_place)
{
    *names = (struct esi_names){.items = calloc(count + 1, sizeof(*names->items))};
    if (names->items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const void *place = (const char *)records + i * size + offset;
        const char *text = place;

        if (!in_place)
            memcpy(&text, place, sizeof text);
        if (text != NULL)
            names->items[names->count++] = (struct esi_name){text, i};
    }
    qsort(names->items, names->count, sizeof(*names->items), names_compare);
    return 0;
}

void esi_names_fini(struct esi_names *names)
{
    free(names->items);
    *names = (struct esi_names){0};
}

bool esi_names_find(const struct esi_names *names, const char *text, size_t *ret_index)
{
    size_t from = 0, to = names->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(names->items[middle].text, text) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == names->count || strcmp(names->items[from].text, text) != 0)
        return false;
    *ret_index = names->items[from].index;
    return true;
}

bool esi_names_repeat(const struct esi_names *names,
                      size_t *ret_index,
                      size_t *ret_earlier)
{
    bool found = false;

    for (size_t i = 1; i < names->count; i++) {
        const struct esi_name *a = &names->items[i - 1], *b = &names->items[i];
        if (strcmp(a->text, b->text) != 0 || (found && b->index >= *ret_index))
            continue;
        found = true;
        *ret_index = b->index;
        *ret_earlier = a->index;
    }
    return found;
}
