/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* element.c - the leaf of a gather tree: reads one trace element.
 *
 * It advances the cursor of its place.  Tuples overwritten before they were read are
 * counted as lost. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
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

/* What is read in addition to tuples, as bits. */
enum { DETAIL_OPEN = 1, DETAIL_COUNTERS = 2, DETAIL_SITES = 4 };

struct element_stage {
    const struct es_element_view *view; /* borrowed */
    enum read_mode mode;
    unsigned details;
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
    unsigned details;

    if (!context || !context->origins || !context->places ||
        stage->origin >= context->origins->count ||
        stage->origin >= context->places->count ||
        !context->origins->items[stage->origin].element)
        return es_error_set(error, -EINVAL,
                            "element: there is no such element on this host");
    details = (values[PROPERTY_OPEN].integer ? DETAIL_OPEN : 0) |
              (values[PROPERTY_COUNTERS].integer ? DETAIL_COUNTERS : 0) |
              (values[PROPERTY_SITES].integer ? DETAIL_SITES : 0);
    if (values[PROPERTY_READ].integer == READ_LATEST && details == 0) {
        open_latest(stage, context->origins->items[stage->origin].element);
        return 0;
    }
    element = calloc(1, sizeof *element);
    if (!element)
        return -ENOMEM;
    element->view = context->origins->items[stage->origin].element;
    element->mode = (enum read_mode)values[PROPERTY_READ].integer;
    element->details = details;
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
    uint64_t *wanted_sites = (element->details & DETAIL_SITES) ? sites : NULL;
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
static int read_one(const struct element_stage *element,
                    uint32_t origin,
                    int (*read)(const struct es_element_view *view,
                                struct es_tuple *ret_tuple,
                                uint64_t *ret_position,
                                uint64_t *ret_site),
                    struct es_batch *batch)
{
    uint64_t position, site;
    int result = es_batch_reserve(batch, 1);

    if (result < 0)
        return result;
    if (read(element->view, batch->tuples + batch->count, &position, &site) > 0)
        mark_tuples(batch, 1, position, origin,
                    (element->details & DETAIL_SITES) ? &site : NULL);
    return 0;
}

/* Fills a report in place. */
static void fill_report(const struct es_element_view *view,
                        uint32_t origin,
                        uint64_t lost,
                        struct es_report *report)
{
    bool enabled = esi_element_view_counters(view, &report->head, &report->polls);

    report->origin = origin;
    report->flags = enabled ? 0 : ES_REPORT_OFF;
    report->lost = lost;
}

static int pull_element(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    const struct element_stage *element = stage->state;
    const struct es_cursor *read = &stage->context->places->items[stage->origin].read;
    uint64_t lost = read->lost;
    size_t before = batch->count;
    struct es_report report;
    int result = 0;

    if (element->mode == READ_EVERY)
        result = read_every(stage, element, pull, batch);
    else if (pull->max > 0)
        result = read_one(element, stage->origin, esi_element_view_latest_site, batch);
    if (result < 0)
        return result;
    /* After the published tuples, so that no operation is seen both open and
     * completed. */
    if ((element->details & DETAIL_OPEN) && batch->count - before < pull->max)
        result = read_one(element, stage->origin, esi_element_view_open_site, batch);
    lost = read->lost - lost;
    if (result < 0 || pull->max == 0 ||
        (lost == 0 && !(element->details & DETAIL_COUNTERS)))
        return result;
    stage->cost.lost += lost;
    fill_report(element->view, stage->origin, lost, &report);
    return es_batch_report(batch, &report);
}

/* --- The newest of several elements ----------------------------------------------- */

struct esi_newest {
    unsigned details;
    size_t count;
    const struct es_element_view *views[]; /* borrowed */
};

/* The element of a stage that emits its latest tuple; NULL for other stages. */
static const struct es_element_view *view_of_latest(const struct es_stage *stage,
                                                    unsigned *ret_details)
{
    const struct element_stage *element = stage->state;

    *ret_details = 0;
    if (stage->pull == pull_latest)
        return stage->state;
    if (stage->pull != pull_element || element->mode != READ_LATEST)
        return NULL;
    *ret_details = element->details;
    return element->view;
}

int esi_newest_create(const struct es_stage *parent, struct esi_newest **ret_newest)
{
    size_t count = parent->child_count;
    struct esi_newest *newest =
        calloc(1, sizeof *newest + count * sizeof *newest->views);

    if (!newest)
        return -ENOMEM;
    while (newest->count < count) {
        const struct es_stage *child = parent->children[newest->count];
        unsigned details;

        newest->views[newest->count] = view_of_latest(child, &details);
        if (!newest->views[newest->count] ||
            (newest->count > 0 && newest->details != details))
            break;
        newest->details = details;
        newest->count++;
    }
    if (count < 2 || newest->count < count) {
        free(newest);
        newest = NULL;
    }
    *ret_newest = newest;
    return 0;
}

/* The element whose newest tuple completed last; the number of elements if none has a
 * tuple. */
static size_t find_newest(const struct es_stage *stage, const struct esi_newest *newest)
{
    size_t found = newest->count;
    uint64_t stop = 0;

    for (size_t first = 0, count; first < newest->count; first += count) {
        uint64_t stops[TOGETHER];

        count = newest->count - first;
        count = count < TOGETHER ? count : TOGETHER;
        esi_element_view_latest_stops(newest->views + first, count, stops);
        for (size_t i = 0; i < count; i++) {
            if (stops[i] == 0)
                esi_stage_missed(stage->children[first + i], stage);
            if (stops[i] > stop) {
                stop = stops[i];
                found = first + i;
            }
        }
    }
    return found;
}

/* Appends the operation under way that started last. */
static void read_newest_open(struct es_stage *stage,
                             const struct esi_newest *newest,
                             struct es_batch *batch)
{
    struct es_tuple *found = NULL;
    struct es_tuple tuple;
    uint64_t position, site;

    for (size_t i = 0; i < newest->count; i++) {
        struct es_stage *child = stage->children[i];

        if (esi_element_view_open_site(newest->views[i], &tuple, &position, &site) <= 0)
            continue;
        child->cost.tuples++;
        if (found && found->start >= tuple.start)
            continue;
        batch->count -= found != NULL;
        found = &batch->tuples[batch->count];
        *found = tuple;
        mark_tuples(batch, 1, position, child->origin,
                    newest->details & DETAIL_SITES ? &site : NULL);
    }
}

static int report_elements(const struct es_stage *stage,
                           const struct esi_newest *newest,
                           struct es_batch *batch)
{
    if (ESI_ARRAY_RESERVE(batch->reports, batch->report_capacity,
                          batch->report_count + newest->count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < newest->count; i++)
        fill_report(newest->views[i], stage->children[i]->origin, 0,
                    &batch->reports[batch->report_count++]);
    return 0;
}

/* An element that is written meanwhile may have an even newer tuple.  As in
 * pull_element(), operations under way are read after the completed one. */
int esi_newest_pull(const struct esi_newest *newest,
                    struct es_stage *parent,
                    struct es_batch *batch)
{
    size_t found = find_newest(parent, newest);
    int result = es_batch_reserve(batch, 2);

    parent->together++;
    if (result == 0 && found < newest->count) {
        const struct element_stage element = {.view = newest->views[found],
                                              .details = newest->details};

        result = read_one(&element, parent->children[found]->origin,
                          esi_element_view_latest_site, batch);
    }
    if (result == 0 && newest->details & DETAIL_OPEN)
        read_newest_open(parent, newest, batch);
    if (result == 0 && newest->details & DETAIL_COUNTERS)
        result = report_elements(parent, newest, batch);
    return result;
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
