/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * causality_archive.c - converts the tuples of an archive to an event set.
 *
 * The archive returns tuples by completion, each element in its order.  The tuples up
 * to some time are those that a complete reading of the run at that time would have
 * returned.
 */
#include "config.h"

#include "monitors/causality/causality_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "monitors/run/run_archive.h"
#include "monitors/sites/sites.h"

/* Number of items between two settlements; items per batch; batches between the two
 * threads.  The batches hold more items than a settlement interval, so that neither
 * thread waits. */
enum { READING_ITEMS = 8192, BATCH_ITEMS = 4096, BATCHES = 4 };

#define NO_OPEN SIZE_MAX

struct feed {
    struct esi_causality *causality;
    const struct esi_archive_tables *tables;
    struct esi_run_process **processes; /* by number in the archive; owned */
    uint32_t *elements;                 /* numbers in causality; owned */
    size_t *first_open;                 /* operation under way of each process; owned */
    size_t *next_open;                  /* the next of the same process; owned */
    struct esi_sites *sites; /* owned; processes are numbered as in the archive; NULL =
                                sites are not used */
    bool is_threaded;
};

struct item_batch {
    size_t count;
    struct esi_archive_item items[BATCH_ITEMS];
};

/* State of reading: one thread reads the archive, another one matches its items. */
struct item_reading {
    const struct feed *feed;         /* borrowed */
    struct esi_archive_merge *merge; /* belongs to the reader, like `error` */
    struct es_error error;
    uint64_t count;  /* number of items added */
    bool is_refused; /* adding an item failed */
    struct item_batch batches[BATCHES];
};

/* --- Elements --------------------------------------------------------------------- */

static int tell_element(struct feed *feed, uint32_t number)
{
    const struct esi_archive_element *row = &feed->tables->elements[number];
    int result =
        esi_causality_add_element(feed->causality, feed->processes[row->process],
                                  row->thread, &feed->elements[number]);

    if (result == 0)
        esi_causality_lose(feed->causality, feed->elements[number], row->missed, 0);
    return result;
}

/* Orders elements by rank and thread; otherwise keeps the order in which they were
 * found. */
static int compare_elements(const void *left, const void *right, void *data)
{
    const struct esi_archive_tables *tables = data;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    const struct esi_archive_element *x = &tables->elements[a];
    const struct esi_archive_element *y = &tables->elements[b];
    int32_t x_rank = tables->processes[x->process].rank;
    int32_t y_rank = tables->processes[y->process].rank;

    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Adds the elements in the order in which a finished run is read, so that the names of
 * traces do not depend on the order in which the recorder found the elements. */
static int tell_elements(struct feed *feed)
{
    size_t count = feed->tables->element_count;
    uint32_t *sorted = calloc(count + 1, sizeof *sorted);
    int result = sorted ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && sorted; i++)
        sorted[i] = (uint32_t)i;
    if (sorted)
        qsort_r(sorted, count, sizeof *sorted, compare_elements, (void *)feed->tables);
    for (size_t i = 0; i < count && result == 0; i++)
        result = tell_element(feed, sorted[i]);
    free(sorted);
    return result;
}

/* --- Gaps ------------------------------------------------------------------------- */

/* The number of tuples that were lost is known only if the recording has ended. */
static bool has_gap(const struct feed *feed, const struct esi_archive_element *element)
{
    return element->missed > 0 || element->lost > 0 ||
           feed->tables->facts.ended_ns == 0;
}

/* Finds the gaps of an element up to its last tuple. */
static int tell_gaps_of(const struct feed *feed,
                        struct esi_archive_reader *reader,
                        uint32_t number,
                        struct es_error *error)
{
    const struct esi_archive_element *element = &feed->tables->elements[number];
    struct esi_gap gap = {
        .begin_ns = feed->tables->processes[element->process].clock.base_realtime_ns};
    bool is_only_first = element->lost == 0 && feed->tables->facts.ended_ns > 0;
    bool in_gap = element->missed > 0;
    struct esi_archive_cursor *cursor;
    struct esi_archive_item item;
    int told = 0;
    int result = esi_archive_cursor_create(reader, number, error, &cursor);

    if (result < 0)
        return result;
    while (told == 0 && (in_gap || !is_only_first) &&
           (result = esi_archive_cursor_next(cursor, &item, error)) > 0) {
        if (item.lost > 0) {
            in_gap = true;
            continue;
        }
        gap.end_ns =
            esi_causality_gap_end(&item.tuple, item.tuple.start, item.tuple.stop);
        if (in_gap)
            told = esi_causality_miss(feed->causality, feed->elements[number], &gap);
        in_gap = false;
        if (item.tuple.stop > gap.begin_ns)
            gap.begin_ns = item.tuple.stop;
    }
    esi_archive_cursor_destroy(cursor);
    return told < 0 ? told : result < 0 ? result : 0;
}

/* All events of a gap come after it is known. */
static int tell_gaps(const struct feed *feed,
                     struct esi_archive_reader *reader,
                     struct es_error *error)
{
    int result = 0;

    if (!esi_causality_wants_gaps(feed->causality))
        return 0;
    for (uint32_t i = 0; i < feed->tables->element_count && result == 0; i++)
        if (has_gap(feed, &feed->tables->elements[i]))
            result = tell_gaps_of(feed, reader, i, error);
    return result;
}

/* --- Tuples ----------------------------------------------------------------------- */

static int add_tuple(const struct feed *feed,
                     uint32_t element,
                     const struct es_tuple *tuple,
                     uint64_t site)
{
    int process = (int)feed->tables->elements[element].process;
    uint64_t ended_ns = feed->tables->processes[process].ended_realtime_ns;
    uint32_t host = feed->tables->processes[process].host;
    /* Nanoseconds can replace ticks because they have the same order. */
    struct esi_causal_tuple timed = {
        .tuple = *tuple,
        .start_ns = tuple->start,
        .stop_ns = tuple->stop,
        .until_ns = tuple->stop ? 0
                    : ended_ns  ? ended_ns
                                : feed->tables->facts.ended_ns,
        .error_ns = feed->tables->hosts[host].clock_error_ns,
        .site = feed->sites ? esi_sites_format_in(feed->sites, process, site) : NULL};

    return esi_causality_add(feed->causality, feed->elements[element], &timed);
}

/* Adds the operations that were under way in the process's threads, and ends it. */
static int end_process(const struct feed *feed, uint32_t process)
{
    int result = 0;

    for (size_t i = feed->first_open[process]; i != NO_OPEN && result == 0;
         i = feed->next_open[i]) {
        const struct esi_archive_open *open = &feed->tables->open[i];

        result = add_tuple(feed, open->element, &open->tuple, open->site);
    }
    feed->processes[process]->ended = true;
    return result;
}

static int add_item(const struct feed *feed, const struct esi_archive_item *item)
{
    int result = 0;

    if (item->lost > 0)
        esi_causality_lose(feed->causality, feed->elements[item->element], item->lost,
                           0);
    else
        result = add_tuple(feed, item->element, &item->tuple, item->site);
    if (result == 0 && item->ends_process)
        result = end_process(feed, feed->tables->elements[item->element].process);
    return result;
}

/* Reads items into a batch while there is room.  Returns 1, 0 at the end, or -errno. */
static int read_batch(struct esi_archive_merge *merge,
                      struct item_batch *batch,
                      struct es_error *error)
{
    int result = 1;

    batch->count = 0;
    while (result > 0 && batch->count < BATCH_ITEMS) {
        result = esi_archive_merge_next(merge, &batch->items[batch->count], error);
        batch->count += result > 0;
    }
    return result;
}

static int add_batch(struct item_reading *reading, const struct item_batch *batch)
{
    int result = 0;

    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        result = add_item(reading->feed, &batch->items[i]);
        if (result == 0 && ++reading->count % READING_ITEMS == 0)
            result = esi_causality_advance(reading->feed->causality);
    }
    return result;
}

/* Items that were read before an error are passed on, too. */
static int produce_items(void *data, struct esi_pipeline *pipeline)
{
    struct item_reading *reading = data;
    size_t slot = 0;
    int result, passed;

    do {
        result = read_batch(reading->merge, &reading->batches[slot], &reading->error);
        passed = esi_pipeline_pass(pipeline, &slot);
    } while (result > 0 && passed == 0);
    return result < 0 ? result : passed;
}

static int consume_items(void *data, size_t slot)
{
    struct item_reading *reading = data;
    int result = add_batch(reading, &reading->batches[slot]);

    reading->is_refused = result < 0;
    return result;
}

static int read_items(const struct feed *feed,
                      struct esi_archive_merge *merge,
                      struct es_error *error)
{
    struct item_reading *reading = calloc(1, sizeof *reading);
    int result;

    if (!reading)
        return -ENOMEM;
    reading->feed = feed;
    reading->merge = merge;
    if (error)
        reading->error = *error;
    result = esi_pipeline_run(&(struct esi_pipeline_stages){
        produce_items, consume_items, reading, BATCHES, !feed->is_threaded});
    if (error && !reading->is_refused)
        *error = reading->error;
    free(reading);
    return result;
}

static int read_all(struct feed *feed,
                    struct esi_archive_reader *reader,
                    struct es_error *error)
{
    struct esi_archive_merge *merge;
    int result = tell_elements(feed);

    if (result == 0)
        result = tell_gaps(feed, reader, error);
    if (result < 0)
        return result;
    result = esi_archive_merge_create(reader, error, &merge);
    if (result < 0)
        return result;
    result = read_items(feed, merge, error);
    esi_archive_merge_destroy(merge);
    /* Processes without tuples. */
    for (uint32_t i = 0; i < feed->tables->process_count && result == 0; i++)
        if (!feed->processes[i]->ended)
            result = end_process(feed, i);
    return result < 0 ? result : esi_causality_finish(feed->causality);
}

/* Lists the operations under way of each process, in their order. */
static void list_open(struct feed *feed)
{
    const struct esi_archive_tables *tables = feed->tables;

    for (size_t i = 0; i < tables->process_count; i++)
        feed->first_open[i] = NO_OPEN;
    for (size_t i = tables->open_count; i-- > 0;) {
        size_t *first =
            &feed->first_open[tables->elements[tables->open[i].element].process];

        feed->next_open[i] = *first;
        *first = i;
    }
}

int esi_causality_read_archive(struct esi_causality *causality,
                               struct esi_archive_reader *reader,
                               bool is_threaded,
                               struct es_error *error)
{
    const struct esi_archive_tables *tables = esi_archive_tables(reader);
    struct feed feed = {
        .causality = causality,
        .tables = tables,
        .elements = calloc(tables->element_count + 1, sizeof *feed.elements),
        .first_open = calloc(tables->process_count + 1, sizeof *feed.first_open),
        .next_open = calloc(tables->open_count + 1, sizeof *feed.next_open),
        .is_threaded = is_threaded,
    };
    int result = esi_causality_wants_sites(causality)
                     ? esi_archive_sites(reader, &feed.sites)
                     : 0;

    if (result == 0)
        result =
            esi_run_read_archive(esi_causality_run(causality), tables, &feed.processes);
    if (result == 0 && !(feed.elements && feed.first_open && feed.next_open))
        result = -ENOMEM;
    if (result == 0) {
        list_open(&feed);
        result = read_all(&feed, reader, error);
    }
    esi_sites_destroy(feed.sites);
    free(feed.processes);
    free(feed.elements);
    free(feed.first_open);
    free(feed.next_open);
    return result;
}
