/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_findings.c - replies about results of analyses: verdict and waits. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "cli/page/page_asked.h"
#include "cli/page/page_watch.h"
#include "eventspace/operation.h"
#include "monitors/delay/delay_print.h"
#include "monitors/metrics/metrics.h"
#include "scopes/remote/remote.h"

/* --- Verdict ---------------------------------------------------------------------- */

/* Writes JSON Lines as items of an array. */
static void put_lines(struct esi_row *row, const char *key, char *lines)
{
    char *rest = lines;

    esi_row_begin_array(row, key);
    for (char *line = lines ? strsep(&rest, "\n") : NULL; line;
         line = strsep(&rest, "\n"))
        if (*line)
            esi_row_raw(row, NULL, line);
    esi_row_end(row);
}

void esi_page_make_verdict(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct esi_page_verdict verdict;

    if (esi_page_watch_copy(asked->model->watch, &verdict) < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return;
    }
    esi_row_bool(row, "looked", NULL, verdict.lines != NULL);
    put_lines(row, "lines", verdict.lines);
    esi_row_text(row, "text", NULL, verdict.text ? verdict.text : "");
    esi_page_verdict_fini(&verdict);
}

/* --- Waits ------------------------------------------------------------------------ */

/* A request while the waits are locked. */
struct waits_writing {
    const struct esi_page_asked *asked;
    struct esi_row *row;
};

static int compare_costs(const void *left, const void *right)
{
    const struct esi_delay_times *a =
        &(*(const struct esi_delay_row *const *)left)->times;
    const struct esi_delay_times *b =
        &(*(const struct esi_delay_row *const *)right)->times;
    double x = a->caused + a->waited, y = b->caused + b->waited;

    return (x < y) - (x > y);
}

/* Sorts rows by cost or waiting time, in descending order.  NULL if out of memory;
 * owned by the caller. */
static const struct esi_delay_row **sort_rows(const struct esi_delay_row *rows,
                                              size_t count)
{
    const struct esi_delay_row **sorted = calloc(count + 1, sizeof *sorted);

    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = &rows[i];
    if (sorted)
        qsort(sorted, count, sizeof *sorted, compare_costs);
    return sorted;
}

/* As in the output of `time`. */
static void put_delay_row(const struct waits_writing *writing,
                          enum esi_delay_group group,
                          const struct esi_delay_row *shown)
{
    esi_row_begin_object(writing->row, NULL);
    esi_delay_describe_row(writing->row, group, shown);
    esi_row_end(writing->row);
}

static void put_cause(void *data, const char *text, double waited_ns)
{
    struct esi_row *row = data;

    esi_row_begin_object(row, NULL);
    esi_row_text(row, "text", NULL, text);
    esi_row_real(row, "ns", NULL, round(waited_ns));
    esi_row_end(row);
}

static int write_waits(void *data, struct esi_delay *delay)
{
    struct waits_writing *writing = data;
    struct esi_row *row = writing->row;
    size_t top = writing->asked->query->top, count;
    const struct esi_delay_row **sorted;
    const struct esi_delay_row *rows;
    struct esi_delay_totals totals;
    char seen[ESI_COVERAGE_BYTES];
    int result = esi_delay_find_critical(delay);

    if (result < 0)
        return result;
    rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
    sorted = sort_rows(rows, count);
    if (!sorted)
        return -ENOMEM;
    esi_delay_totals(delay, &totals);
    esi_coverage_describe(&totals.seen, seen);
    esi_row_text(row, "seen", NULL, seen);
    esi_row_begin_array(row, "ranks");
    for (size_t i = 0; i < count && i < top; i++)
        put_delay_row(writing, ESI_DELAY_BY_RANK, sorted[i]);
    esi_row_end(row);
    free(sorted);
    esi_row_begin_array(row, "causes");
    result = esi_delay_foreach_cause(delay, top, put_cause, row);
    esi_row_end(row);
    return result;
}

/* --- Collective operations -------------------------------------------------------- */

static bool is_collective(const struct esi_delay_row *row)
{
    const struct es_operation *operation =
        row->name ? es_operation_by_name(row->name) : NULL;

    return operation && operation->order != ES_ORDER_NONE;
}

/* The most expensive operations of a window: those with the largest loss or, if waits
 * are not known, the largest spread of arrivals. */
struct instance_list {
    struct esi_diagram_instance *items; /* owned */
    struct esi_heap cheapest;           /* of the items, by cost */
    size_t room;
    uint64_t count; /* number in the window */
};

static uint64_t cost_of(const struct esi_diagram_instance *instance)
{
    return instance->waits_known ? instance->lost_ns
                                 : instance->last.ns - instance->first.ns;
}

static int take_instance(void *data, const struct esi_diagram_instance *instance)
{
    struct instance_list *list = data;
    uint64_t cost = cost_of(instance);
    size_t place = list->cheapest.count;

    list->count++;
    if (place < list->room) {
        list->items[place] = *instance;
        esi_heap_push(&list->cheapest, cost, place);
    } else if (cost > esi_heap_top(&list->cheapest).key) {
        place = esi_heap_top(&list->cheapest).item;
        list->items[place] = *instance;
        esi_heap_replace_top(&list->cheapest, cost, place);
    }
    return 0;
}

static int compare_instances(const void *left, const void *right)
{
    const struct esi_diagram_instance *a = left, *b = right;
    uint64_t x = cost_of(a), y = cost_of(b);

    if (x != y)
        return x < y ? 1 : -1;
    return (a->first.ns < b->first.ns) - (a->first.ns > b->first.ns);
}

/* Returns 0 or -ENOMEM; the caller frees the items. */
static int list_instances(const struct esi_page_asked *asked,
                          struct instance_list *list)
{
    const struct esi_diagram_window window = esi_page_window_of(asked);

    *list = (struct instance_list){.room = asked->query->limit};
    list->items = calloc(list->room, sizeof *list->items);
    if (!list->items || esi_heap_reserve(&list->cheapest, list->room) < 0) {
        free(list->items);
        return -ENOMEM;
    }
    esi_diagram_foreach_instance(asked->diagram, &window, take_instance, list);
    qsort(list->items, list->cheapest.count, sizeof *list->items, compare_instances);
    return 0;
}

/* Writes it like an event, without the level if it is not known. */
static void put_arrival(const struct esi_page_asked *asked,
                        struct esi_row *row,
                        const char *key,
                        const struct esi_diagram_arrival *arrival)
{
    esi_row_begin_array(row, key);
    esi_row_unsigned(row, NULL, NULL, arrival->row);
    esi_row_unsigned(row, NULL, NULL, arrival->event);
    esi_row_real(row, NULL, NULL, esi_page_ns(asked, arrival->ns));
    if (arrival->level > 0)
        esi_row_unsigned(row, NULL, NULL, arrival->level);
    esi_row_end(row);
}

/* The cause of the longest wait, if there was one and it is still kept. */
static void put_cause_of(const struct esi_page_asked *asked,
                         struct esi_row *row,
                         const struct esi_delay *delay,
                         const struct esi_diagram_instance *instance)
{
    struct esi_diagram_row longest;
    struct esi_delay_wait wait;
    bool is_kept =
        instance->waits_known && instance->lost_ns > 0 &&
        esi_diagram_row(asked->diagram, instance->longest.row, &longest) == 0 &&
        esi_delay_find_wait(delay, longest.trace, instance->longest.ns, &wait);

    if (!esi_row_begin_object(esi_row_if(row, is_kept), "cause"))
        return;
    esi_row_signed(row, "rank", NULL, wait.causing);
    esi_row_text(row, "operation", NULL, wait.operation);
    esi_row_text(row, "site", NULL, wait.line);
    esi_row_bool(row, "computing", NULL, wait.computing);
    esi_row_real(row, "waited_ns", NULL, round(wait.waited));
    esi_row_real(row, "caused_ns", NULL, round(wait.caused));
    esi_row_end(row);
}

static int rank_of(const struct esi_page_asked *asked, int64_t number)
{
    struct esi_diagram_row row;

    return number >= 0 && esi_diagram_row(asked->diagram, (uint32_t)number, &row) == 0
               ? row.rank
               : -1;
}

static void put_instance(const struct esi_page_asked *asked,
                         struct esi_row *row,
                         const struct esi_delay *delay,
                         const struct esi_diagram_instance *instance)
{
    esi_row_begin_object(row, NULL);
    esi_row_text(row, "operation", NULL,
                 instance->operation ? instance->operation->name : "?");
    esi_row_text(row, "communicator", NULL, instance->communicator);
    esi_row_unsigned(row, "instance", NULL, instance->number);
    esi_row_signed(row, "size", NULL, instance->size);
    esi_row_signed(row, "known", NULL, instance->known);
    put_arrival(asked, row, "first", &instance->first);
    put_arrival(asked, row, "last", &instance->last);
    esi_row_real(row, "end", NULL, esi_page_ns(asked, instance->end_ns));
    esi_row_unsigned(row, "spread_ns", NULL, instance->last.ns - instance->first.ns);
    esi_row_unsigned(row, "lead_ns", NULL, instance->lead_ns);
    esi_row_signed(row, "late_rank", NULL, rank_of(asked, instance->last.row));
    esi_row_signed(row, "late", NULL, instance->late);
    esi_row_unsigned(esi_row_if(row, instance->waits_known), "lost_ns", NULL,
                     instance->lost_ns);
    esi_row_signed(row, "culprit", NULL, rank_of(asked, instance->culprit));
    esi_row_text(row, "site", NULL, instance->site);
    put_cause_of(asked, row, delay, instance);
    esi_row_end(row);
}

static int write_instances(const struct esi_page_asked *asked,
                           struct esi_row *row,
                           const struct esi_delay *delay)
{
    struct instance_list list;
    int result = list_instances(asked, &list);

    if (result < 0)
        return result;
    esi_row_unsigned(row, "count", NULL, list.count);
    esi_row_bool(row, "complete", NULL, list.count <= list.room);
    esi_row_begin_array(row, "instances");
    for (size_t i = 0; i < list.cheapest.count; i++)
        put_instance(asked, row, delay, &list.items[i]);
    esi_row_end(row);
    esi_heap_fini(&list.cheapest);
    free(list.items);
    return 0;
}

static int write_collectives(void *data, struct esi_delay *delay)
{
    struct waits_writing *writing = data;
    struct esi_row *row = writing->row;
    size_t top = writing->asked->query->top, count, shown = 0;
    const struct esi_delay_row *rows =
        esi_delay_rows(delay, ESI_DELAY_BY_OPERATION, &count);
    struct esi_delay_blame blame;

    esi_row_begin_array(row, "operations");
    for (size_t i = 0; i < count; i++)
        if (is_collective(&rows[i]))
            put_delay_row(writing, ESI_DELAY_BY_OPERATION, &rows[i]);
    esi_row_end(row);
    esi_row_begin_array(row, "late");
    rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
    for (size_t i = 0; i < count && shown < top; i++)
        if (esi_delay_find_blame(delay, rows[i].rank, &blame)) {
            esi_row_begin_object(row, NULL);
            esi_delay_describe_blame(row, rows[i].rank, &blame);
            esi_row_end(row);
            shown++;
        }
    esi_row_end(row);
    return write_instances(writing->asked, row, delay);
}

static void make_of_delay(const struct esi_page_asked *asked,
                          struct esi_row *row,
                          int (*write)(void *data, struct esi_delay *delay))
{
    struct waits_writing writing = {asked, row};

    if (esi_page_feed_use_delay(asked->model->feed, write, &writing) < 0)
        esi_page_reply_fail(asked->reply, 503, "no memory");
}

void esi_page_make_waits(const struct esi_page_asked *asked, struct esi_row *row)
{
    make_of_delay(asked, row, write_waits);
}

void esi_page_make_collectives(const struct esi_page_asked *asked, struct esi_row *row)
{
    make_of_delay(asked, row, write_collectives);
}

/* Why there is no data on trees; "" = there is. */
static const char *missing_trees(const struct esi_page_asked *asked,
                                 const char *lines,
                                 bool has_nodes)
{
    struct esi_page_state state;

    esi_page_feed_state(asked->model->feed, &state);
    if (!lines)
        return "The trees have not been read yet.";
    if (has_nodes)
        return "";
    if (state.is_archive)
        return "This archive holds no operations of instrumented trees: the run had no "
               "such trees (eventspace run --trees=kary:4), or they were not recorded.";
    return "No collective operation has gone through an instrumented tree. Trees need: "
           "eventspace run --trees=kary:4";
}

void esi_page_make_trees(const struct esi_page_asked *asked, struct esi_row *row)
{
    char *lines;
    int result = esi_page_watch_copy_trees(asked->model->watch, &lines);

    if (result < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else {
        esi_row_bool(row, "looked", NULL, lines != NULL);
        esi_row_text(row, "text", NULL, missing_trees(asked, lines, result > 0));
        put_lines(row, "lines", lines);
    }
    free(lines);
}

/* --- Metrics ---------------------------------------------------------------------- */

void esi_page_make_metrics(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct esi_page_state state;
    char *text = NULL;

    (void)row;
    esi_page_feed_state(asked->model->feed, &state);
    if (state.is_archive)
        esi_page_reply_fail(asked->reply, 404, "an archive has no metrics");
    else if (esi_page_watch_copy_metrics(asked->model->watch, &text) < 0)
        esi_page_reply_fail(asked->reply, 503, "no memory");
    else if (!text)
        esi_page_reply_fail(asked->reply, 503, "the run has not been read yet");
    else
        *asked->reply = (struct esi_page_reply){.status = 200,
                                                .type = ESI_METRICS_TYPE,
                                                .bytes = text,
                                                .length = strlen(text)};
}

/* --- The scope -------------------------------------------------------------------- */

/* Formats stages as JSON Lines, with elements folded.  Returns 0 or -errno; the caller
 * frees *ret_lines. */
static int format_stages(const char *stages, char **ret_lines)
{
    const struct es_member *rows;
    struct es_message *message;
    size_t length;
    FILE *out;
    int result = esi_message_parse(stages, strlen(stages), "stages", NULL, &message);

    *ret_lines = NULL;
    if (result < 0)
        return result;
    rows = esi_member_find(esi_message_root(message), "stages");
    out = open_memstream(ret_lines, &length);
    result = out ? esi_stage_rows_print(rows, "json", out, NULL) : -ENOMEM;
    if (out && fclose(out) != 0)
        result = -ENOMEM;
    esi_message_destroy(message);
    return result;
}

void esi_page_make_scope(const struct esi_page_asked *asked, struct esi_row *row)
{
    char *stages, *lines = NULL;
    int result = esi_page_feed_copy_stages(asked->model->feed, &stages);

    if (result == 0 && stages)
        result = format_stages(stages, &lines);
    if (result < 0) {
        esi_page_reply_fail(asked->reply, 503, "the scope: %s", strerror(-result));
    } else {
        put_lines(row, "stages", lines);
    }
    free(lines);
    free(stages);
}
