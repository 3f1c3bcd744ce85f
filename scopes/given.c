/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* given.c - positions that were given out of turn: a short sorted list per element. */
#include "config.h"

#include "scopes/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve_lists(struct es_given *given, uint32_t origin)
{
    size_t count = (size_t)origin + 1;
    struct es_given_list *lists;

    if (count <= given->list_count)
        return 0;
    if (count < given->list_count * 2)
        count = given->list_count * 2;
    lists = reallocarray(given->lists, count, sizeof *lists);
    if (!lists)
        return -ENOMEM;
    memset(lists + given->list_count, 0, (count - given->list_count) * sizeof *lists);
    given->lists = lists;
    given->list_count = count;
    return 0;
}

static int reserve_position(struct es_given_list *list)
{
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    uint64_t *positions;

    if (list->count < list->capacity)
        return 0;
    positions = reallocarray(list->positions, capacity, sizeof *positions);
    if (!positions)
        return -ENOMEM;
    list->positions = positions;
    list->capacity = capacity;
    return 0;
}

/* First index whose position is not below. */
static size_t find(const struct es_given_list *list, uint64_t position)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->positions[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void forget_lowest(struct es_given *given, struct es_given_list *list)
{
    memmove(list->positions, list->positions + 1,
            (list->count - 1) * sizeof *list->positions);
    list->count--;
    given->total--;
}

int es_given_add(struct es_given *given, uint32_t origin, uint64_t position)
{
    int result = reserve_lists(given, origin);
    struct es_given_list *list;
    size_t at;

    if (result < 0)
        return result;
    list = &given->lists[origin];
    if (es_given_has(given, origin, position))
        return 0;
    if (list->count == ES_GIVEN_MOST)
        forget_lowest(given, list);
    result = reserve_position(list);
    if (result < 0)
        return result;
    at = find(list, position);
    memmove(list->positions + at + 1, list->positions + at,
            (list->count - at) * sizeof *list->positions);
    list->positions[at] = position;
    list->count++;
    given->total++;
    return 0;
}

bool es_given_has(const struct es_given *given, uint32_t origin, uint64_t position)
{
    const struct es_given_list *list;
    size_t at;

    if (origin >= given->list_count)
        return false;
    list = &given->lists[origin];
    at = find(list, position);
    return at < list->count && list->positions[at] == position;
}

void es_given_fini(struct es_given *given)
{
    for (size_t i = 0; i < given->list_count; i++)
        free(given->lists[i].positions);
    free(given->lists);
    *given = (struct es_given){.total = 0};
}
