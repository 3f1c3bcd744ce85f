/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* element.c - the leaf of a gather tree: reads one trace element.
 *
 * It advances the cursor of its place.  Tuples overwritten before they were read are
 * counted as lost. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "tuplespace/element_view.h"
#include "wrappers/stages/stage.h"

enum read_mode { READ_EVERY, READ_LATEST };
enum { PROPERTY_READ, PROPERTY_OPEN, PROPERTY_COUNTERS, PROPERTY_SITES };
enum { CHUNK = 256 }; /* tuples for which room is made at once */

static const char *const modes[] =
    {[READ_EVERY] = "every", [READ_LATEST] = "latest", [READ_LATEST + 1] = NULL};

static const struct es_property_schema properties[] = {
    [PROPERTY_READ] = {.name = "read",
                       .type = ES_PROPERTY_CHOICE,
                       .fallback = "every",
                       .choices = modes,
                       .help = "every tuple since the last pull, or only the latest"},
    [PROPERTY_OPEN] = {.name = "open",
                       .type = ES_PROPERTY_BOOLEAN,
                       .fallback = "no",
                       .help = "also the operation under way"},
    [PROPERTY_COUNTERS] = {.name = "counters",
                           .type = ES_PROPERTY_BOOLEAN,
                           .fallback = "no",
                           .help = "a report of events and polls in each pull"},
    [PROPERTY_SITES] = {.name = "sites",
                        .type = ES_PROPERTY_BOOLEAN,
                        .fallback = "no",
                        .help = "also where in the program operations were called"},
};

struct element_stage {
    const struct es_element_view *view; /* borrowed */
    enum read_mode mode;
    bool open;
    bool counters;
    bool sites;
};

/* --- Latest tuples only ----------------------------------------------------------- */

/* Views of the latest tuples consist of one such stage per element and little else.
 * Therefore these have a fast path: the state is the element itself, and siblings are
 * read in one loop. */

static int pull_latest(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct es_mark *mark;
    int result = es_batch_reserve(batch, 1);

    if (result < 0 || pull->max == 0)
        return result;
    mark = &batch->marks[batch->count];
    if (es_element_latest(stage->state, &batch->tuples[batch->count], &mark->position) >
        0) {
        mark->origin = stage->origin;
        mark->flags = 0;
        mark->site = 0;
        batch->count++;
    }
    return 0;
}

enum { TOGETHER = 64 }; /* elements read at once */

/* Reads up to TOGETHER siblings starting at `first` into the batch, which has room. */
static void read_siblings(struct es_stage *parent,
                          size_t first,
                          size_t count,
                          struct es_batch *batch)
{
    const struct es_stage_sibling *siblings = parent->siblings + first;
    const struct es_element_view *elements[TOGETHER];
    struct es_mark *marks = batch->marks + batch->count;
    uint64_t positions[TOGETHER];
    uint32_t indices[TOGETHER];
    size_t found;

    for (size_t i = 0; i < count; i++)
        elements[i] = siblings[i].state;
    found = es_element_latest_of_each(elements, count, batch->tuples + batch->count,
                                      positions, indices);
    for (size_t i = 0; i < found; i++)
        marks[i] = (struct es_mark){.position = positions[i],
                                    .origin = siblings[indices[i]].origin};
    batch->count += found;
    if (found == count)
        return;
    for (size_t i = 0, next = 0; i < count; i++) {
        if (next < found && indices[next] == i)
            next++;
        else
            esi_stage_missed(siblings[i].stage, parent);
    }
}

static int pull_latest_siblings(struct es_stage *parent,
                                const struct es_pull *pull,
                                struct es_batch *batch)
{
    size_t count = parent->sibling_count;
    int result = es_batch_reserve(batch, count);

    (void)pull;
    if (result < 0)
        return result;
    for (size_t i = 0; i < count; i += TOGETHER)
        read_siblings(parent, i, count - i < TOGETHER ? count - i : TOGETHER, batch);
    return 0;
}

/* Looks for the newest tuple of up to TOGETHER siblings from `first` on; returns the
 * sibling that has it, or `newest` where that of the others, `*stop`, is newer. */
static const struct es_stage_sibling *find_newer(const struct es_stage *parent,
                                                 size_t first,
                                                 size_t count,
                                                 const struct es_stage_sibling *newest,
                                                 uint64_t *stop)
{
    const struct es_stage_sibling *siblings = parent->siblings + first;
    const struct es_element_view *elements[TOGETHER];
    uint64_t stops[TOGETHER];

    for (size_t i = 0; i < count; i++)
        elements[i] = siblings[i].state;
    esi_element_view_latest_stops(elements, count, stops);
    for (size_t i = 0; i < count; i++) {
        if (stops[i] == 0)
            esi_stage_missed(siblings[i].stage, parent);
        if (stops[i] > *stop) {
            *stop = stops[i];
            newest = &siblings[i];
        }
    }
    return newest;
}

bool esi_element_can_pull_newest(const struct es_stage *parent)
{
    return parent->sibling_count > 1 &&
           parent->siblings->stage->pull_siblings == pull_latest_siblings;
}

/* An element that is written meanwhile may have an even newer tuple. */
int esi_element_pull_newest(struct es_stage *parent, struct es_batch *batch)
{
    const struct es_pull one = {.max = 1};
    const struct es_stage_sibling *newest = NULL;
    size_t count = parent->sibling_count;
    uint64_t stop = 0;

    for (size_t i = 0; i < count; i += TOGETHER)
        newest = find_newer(parent, i, count - i < TOGETHER ? count - i : TOGETHER,
                            newest, &stop);
    parent->together++;
    return newest ? pull_latest(newest->stage, &one, batch) : 0;
}

static void open_latest(struct es_stage *stage, const struct es_element_view *view)
{
    stage->state = (void *)view;
    stage->pull = pull_latest;
    stage->pull_siblings = pull_latest_siblings;
}

/* --- Other views ------------------------------------------------------------------ */

static int open_element(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    const struct es_stage_context *context = stage->context;
    struct element_stage *element;

    if (!context || !context->origins || !context->places ||
        stage->origin >= context->origins->count ||
        stage->origin >= context->places->count ||
        !context->origins->items[stage->origin].element)
        return es_error_set(error, -EINVAL,
                            "element: there is no such element on this host");
    if (values[PROPERTY_READ].integer == READ_LATEST &&
        !values[PROPERTY_OPEN].integer && !values[PROPERTY_COUNTERS].integer &&
        !values[PROPERTY_SITES].integer) {
        open_latest(stage, context->origins->items[stage->origin].element);
        return 0;
    }
    element = calloc(1, sizeof *element);
    if (!element)
        return -ENOMEM;
    element->view = context->origins->items[stage->origin].element;
    element->mode = (enum read_mode)values[PROPERTY_READ].integer;
    element->open = values[PROPERTY_OPEN].integer != 0;
    element->counters = values[PROPERTY_COUNTERS].integer != 0;
    element->sites = values[PROPERTY_SITES].integer != 0;
    stage->state = element;
    return 0;
}

static void close_element(struct es_stage *stage)
{
    if (stage->pull != pull_latest)
        free(stage->state);
}

/* `sites` is NULL if not requested. */
static void mark_tuples(struct es_batch *batch,
                        size_t count,
                        uint64_t position,
                        uint32_t origin,
                        const uint64_t *sites)
{
    struct es_mark *mark = batch->marks + batch->count;

    for (size_t i = 0; i < count; i++)
        mark[i] = (struct es_mark){.position = position + i, .origin = origin};
    for (size_t i = 0; sites && i < count; i++)
        mark[i].site = sites[i];
    batch->count += count;
}

/* Reads consecutive tuples, whose positions are thus known: after a gap, the first one
 * is read alone. */
static size_t read_run(const struct element_stage *element,
                       struct es_cursor *cursor,
                       struct es_tuple *ret_tuples,
                       uint64_t *ret_sites,
                       size_t max,
                       bool *ret_all)
{
    struct es_cursor before = *cursor;
    size_t count =
        esi_element_view_read_sites(element->view, cursor, ret_tuples, ret_sites, max);

    *ret_all = count < max;
    if (cursor->lost == before.lost || count <= 1)
        return count;
    *cursor = before;
    *ret_all = false;
    return esi_element_view_read_sites(element->view, cursor, ret_tuples, ret_sites, 1);
}

/* Appends new tuples, at most pull->max. */
static int read_every(const struct es_stage *stage,
                      const struct element_stage *element,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    struct esi_read_state *place = &stage->context->places->items[stage->origin];
    size_t left = pull->max;
    uint64_t sites[CHUNK];
    uint64_t *wanted_sites = element->sites ? sites : NULL;
    bool all = left == 0;

    while (left > 0 && !all) {
        size_t wanted = left < CHUNK ? left : CHUNK;
        size_t count;
        int result = es_batch_reserve(batch, wanted);

        if (result < 0)
            return result;
        count = read_run(element, &place->read, batch->tuples + batch->count,
                         wanted_sites, wanted, &all);
        mark_tuples(batch, count, place->read.position - count, stage->origin,
                    wanted_sites);
        left -= count;
    }
    if (!all)
        batch->more = true;
    return 0;
}

/* Appends the tuple found by `read`, if any. */
static int read_one(const struct es_stage *stage,
                    int (*read)(const struct es_element_view *view,
                                struct es_tuple *ret_tuple,
                                uint64_t *ret_position,
                                uint64_t *ret_site),
                    struct es_batch *batch)
{
    const struct element_stage *element = stage->state;
    uint64_t position, site;
    int result = es_batch_reserve(batch, 1);

    if (result < 0)
        return result;
    if (read(element->view, batch->tuples + batch->count, &position, &site) > 0)
        mark_tuples(batch, 1, position, stage->origin, element->sites ? &site : NULL);
    return 0;
}

/* Reports the `lost` tuples of this pull, and counters if requested. */
static int report_element(struct es_stage *stage,
                          const struct element_stage *element,
                          uint64_t lost,
                          struct es_batch *batch)
{
    struct es_report report = {.origin = stage->origin, .lost = lost};
    struct es_element_info info;

    if (report.lost == 0 && !element->counters)
        return 0;
    stage->cost.lost += report.lost;
    es_element_view_info(element->view, &info);
    report.head = info.head;
    report.polls = info.polls;
    report.flags = info.enabled ? 0 : ES_REPORT_OFF;
    return es_batch_report(batch, &report);
}

static int pull_element(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    const struct element_stage *element = stage->state;
    const struct es_cursor *read = &stage->context->places->items[stage->origin].read;
    uint64_t lost = read->lost;
    size_t before = batch->count;
    int result = 0;

    if (element->mode == READ_EVERY)
        result = read_every(stage, element, pull, batch);
    else if (pull->max > 0)
        result = read_one(stage, esi_element_view_latest_site, batch);
    if (result < 0)
        return result;
    /* After the published tuples, so that no operation is seen both open and
     * completed. */
    if (element->open && batch->count - before < pull->max)
        result = read_one(stage, esi_element_view_open_site, batch);
    if (result < 0 || pull->max == 0)
        return result;
    return report_element(stage, element, read->lost - lost, batch);
}

const struct es_stage_ops esi_stage_element = {
    .name = "element",
    .help = "reads one trace element",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .open = open_element,
    .pull = pull_element,
    .untimed = true,
    .close = close_element,
};
