/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Selects elements by their attributes. */
#include "config.h"

#include "eventspace/run.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "tuplespace/plan/plan.h"
#include "tuplespace/segment_set.h"
#include "tuplespace/started.h"
#include "tuplespace/view_private.h"

/* A set of ranks, in a form for fast tests. */
struct rank_set {
    struct esi_rank_range *ranges;
    size_t count;
};

void es_selection_init(struct es_selection *selection)
{
    *selection = (struct es_selection){.thread = -1};
}

static int open_ranks(const struct es_selection *selection,
                      struct es_error *error,
                      struct rank_set *ret_set)
{
    int count = 0;

    ret_set->ranges = NULL;
    if (selection->ranks)
        count = esi_rank_ranges_parse(selection->ranks, error, &ret_set->ranges);
    ret_set->count = count > 0 ? (size_t)count : 0;
    return count < 0 ? count : 0;
}

int es_selection_check(const struct es_selection *selection, struct es_error *error)
{
    struct rank_set set;
    int rc = open_ranks(selection, error, &set);

    if (rc == 0)
        free(set.ranges);
    return rc;
}

static bool selection_agrees(const struct es_selection *selection,
                             const struct rank_set *ranks,
                             const struct es_element_info *info)
{
    if (info->moved || (selection->host && strcmp(selection->host, info->host) != 0))
        return false;
    if (!esi_rank_ranges_have(ranks->ranges, ranks->count, info->rank))
        return false;
    if (selection->thread >= 0 && selection->thread != info->thread)
        return false;
    if (selection->classes != 0 && (selection->classes & info->classes) == 0)
        return false;
    /* Elements of consumers themselves, and of collective trees, are selected on
     * request only. */
    if (selection->classes == 0 && info->classes != 0 &&
        (info->classes &
         ~(ES_CLASSES_TREE | ES_CLASSES_STARTED | 1u << ES_CLASS_MONITOR)) == 0)
        return false;
    if (selection->collector && strcmp(selection->collector, info->collector) != 0)
        return false;
    return !selection->name || fnmatch(selection->name, info->name, 0) == 0;
}

/* Readers find its tuples on another host. */
static bool is_moved(const struct es_element_view *element)
{
    return esi_location_is_elsewhere(
        atomic_load_explicit(&element->layout->location, memory_order_relaxed));
}

/* The attributes that a selection tests, without counters. */
static struct es_element_info attributes_of(const struct es_element_view *element)
{
    return (struct es_element_info){.name = element->name,
                                    .collector = element->collector,
                                    .host = element->segment->host,
                                    .rank = element->rank,
                                    .thread = element->thread,
                                    .classes = element->classes,
                                    .moved = is_moved(element)};
}

bool es_selection_has_info(const struct es_selection *selection,
                           const struct es_element_info *info)
{
    struct rank_set set;
    bool has;

    if (open_ranks(selection, NULL, &set) != 0)
        return false;
    has = selection_agrees(selection, &set, info);
    free(set.ranges);
    return has;
}

bool es_selection_has(const struct es_selection *selection,
                      const struct es_element_view *element)
{
    struct es_element_info info = attributes_of(element);

    return es_selection_has_info(selection, &info);
}

/* As of the last refresh: others may be adding elements to the segments. */
static size_t count_elements(const struct esi_segment_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->items[i].elements;
    return count;
}

static int selection_compare(const void *a, const void *b)
{
    const struct es_element_view *x = *(struct es_element_view *const *)a;
    const struct es_element_view *y = *(struct es_element_view *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->segment != y->segment)
        return x->segment->pid < y->segment->pid ? -1 : 1;
    /* Directory order: the entries of a segment are in one array. */
    return (x->layout > y->layout) - (x->layout < y->layout);
}

int es_run_select(const struct es_run *run,
                  const struct es_selection *selection,
                  struct es_element_view ***ret_elements)
{
    const struct esi_segment_list *list = esi_run_segments(run);
    size_t count = 0;
    struct es_element_view **elements;
    struct rank_set set;
    int rc = open_ranks(selection, NULL, &set);

    if (rc != 0)
        return rc;
    elements = calloc(count_elements(list) + 1, sizeof(*elements));
    if (!elements) {
        free(set.ranges);
        return -ENOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = 0; j < list->items[i].elements; j++) {
            struct es_element_view *element =
                es_segment_view_element(list->items[i].view, j);
            struct es_element_info info = attributes_of(element);

            if (selection_agrees(selection, &set, &info))
                elements[count++] = element;
        }
    }
    free(set.ranges);
    qsort(elements, count, sizeof(*elements), selection_compare);
    *ret_elements = elements;
    return (int)count;
}
