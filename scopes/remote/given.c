/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* given.c - positions that came out of turn: a short sorted list of runs per element.
 */
#include "config.h"

#include "scopes/remote/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int es_given_reserve(struct es_given *given, size_t count)
{
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

static int reserve_run(struct es_given_list *list)
{
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    struct es_given_run *runs;

    if (list->count < list->capacity)
        return 0;
    runs = reallocarray(list->runs, capacity, sizeof *runs);
    if (!runs)
        return -ENOMEM;
    list->runs = runs;
    list->capacity = capacity;
    return 0;
}

/* First run that ends behind the position. */
static size_t find(const struct es_given_list *list, uint64_t position)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->runs[middle].end <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_runs(struct es_given_list *list, size_t from, size_t count)
{
    memmove(list->runs + from, list->runs + from + count,
            (list->count - from - count) * sizeof *list->runs);
    list->count -= count;
}

/* Makes the run before `at`, or the one there, longer where it touches the position. */
static bool extend(struct es_given_list *list, size_t at, uint64_t position)
{
    bool follows = at > 0 && list->runs[at - 1].end == position;
    bool precedes = at < list->count && list->runs[at].begin == position + 1;

    if (follows && precedes) {
        list->runs[at - 1].end = list->runs[at].end;
        remove_runs(list, at, 1);
    } else if (follows) {
        list->runs[at - 1].end++;
    } else if (precedes) {
        list->runs[at].begin--;
    }
    return follows || precedes;
}

static int insert_run(struct es_given_list *list, size_t at, struct es_given_run run)
{
    int result = reserve_run(list);

    if (result < 0)
        return result;
    memmove(list->runs + at + 1, list->runs + at,
            (list->count - at) * sizeof *list->runs);
    list->runs[at] = run;
    list->count++;
    return 0;
}

int es_given_add(struct es_given *given, uint32_t origin, uint64_t position)
{
    struct es_given_list *list = &given->lists[origin];
    size_t at = find(list, position);

    if (at < list->count && list->runs[at].begin <= position)
        return 0;
    if (extend(list, at, position))
        return 0;
    if (list->count == ES_GIVEN_MOST) {
        /* Many at once, so that few calls move them all. */
        remove_runs(list, 0, ES_GIVEN_MOST / 2);
        at = find(list, position);
    }
    return insert_run(list, at, (struct es_given_run){position, position + 1});
}

int es_given_remove(struct es_given *given, uint32_t origin, uint64_t position)
{
    struct es_given_list *list;
    struct es_given_run rest;
    size_t at;

    if (!es_given_has(given, origin, position))
        return 0;
    list = &given->lists[origin];
    at = find(list, position);
    rest = (struct es_given_run){position + 1, list->runs[at].end};
    if (rest.begin < rest.end) {
        int result = insert_run(list, at + 1, rest);

        if (result < 0)
            return result;
    }
    list->runs[at].end = position;
    if (list->runs[at].begin == position)
        remove_runs(list, at, 1);
    return 0;
}

bool es_given_has(const struct es_given *given, uint32_t origin, uint64_t position)
{
    const struct es_given_list *list;
    size_t at;

    if (es_given_is_empty(given, origin))
        return false;
    list = &given->lists[origin];
    at = find(list, position);
    return at < list->count && list->runs[at].begin <= position;
}

void es_given_cut(struct es_given *given, uint32_t origin, uint64_t position)
{
    struct es_given_list *list;

    if (es_given_is_empty(given, origin))
        return;
    list = &given->lists[origin];
    remove_runs(list, 0, find(list, position));
    if (list->count && list->runs[0].begin < position)
        list->runs[0].begin = position;
}

void es_given_fini(struct es_given *given)
{
    for (size_t i = 0; i < given->list_count; i++)
        free(given->lists[i].runs);
    free(given->lists);
    *given = (struct es_given){.list_count = 0};
}
