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
static void put_lines(struct esi_json_out *out, const char *key, char *lines)
{
    char *rest = lines;

    esi_json_out_begin_array(out, key);
    for (char *line = lines ? strsep(&rest, "\n") : NULL; line;
         line = strsep(&rest, "\n"))
        if (*line)
            esi_json_out_raw(out, NULL, line);
    esi_json_out_end(out);
}

void esi_page_make_verdict(struct esi_page_asked *asked)
{
    struct esi_page_verdict verdict;
    struct esi_json_text json;

    if (esi_page_watch_copy(asked->model->watch, &verdict) < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return;
    }
    if (esi_page_begin_json(asked, &json)) {
        esi_json_out_bool(&json.out, "looked", verdict.lines != NULL);
        put_lines(&json.out, "lines", verdict.lines);
        esi_json_out_string(&json.out, "text", verdict.text ? verdict.text : "");
        esi_page_end_json(asked, &json);
    }
    esi_page_verdict_fini(&verdict);
}

/* --- Waits ------------------------------------------------------------------------ */

/* A request while the waits are locked. */
struct waits_writing {
    struct esi_page_asked *asked;
    struct esi_json_out *out;
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

static void put_rank(struct esi_json_out *out, const struct esi_delay_row *row)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_signed(out, "rank", row->rank);
    esi_json_out_real(out, "waited_ns", round(row->times.waited));
    esi_json_out_real(out, "caused_ns", round(row->times.caused));
    esi_json_out_real(out, "critical_ns", round(row->times.critical));
    esi_json_out_real(out, "computed_ns", round(row->times.computed));
    esi_json_out_end(out);
}

static void put_cause(void *data, const char *text, double waited_ns)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "text", text);
    esi_json_out_real(out, "ns", round(waited_ns));
    esi_json_out_end(out);
}

static int write_waits(void *data, struct esi_delay *delay)
{
    struct waits_writing *writing = data;
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
    esi_json_out_string(writing->out, "seen", seen);
    esi_json_out_begin_array(writing->out, "ranks");
    for (size_t i = 0; i < count && i < top; i++)
        put_rank(writing->out, sorted[i]);
    esi_json_out_end(writing->out);
    free(sorted);
    esi_json_out_begin_array(writing->out, "causes");
    result = esi_delay_foreach_cause(delay, top, put_cause, writing->out);
    esi_json_out_end(writing->out);
    return result;
}

/* --- Collective operations -------------------------------------------------------- */

static bool is_collective(const struct esi_delay_row *row)
{
    const struct es_operation *operation =
        row->name ? es_operation_by_name(row->name) : NULL;

    return operation && operation->order != ES_ORDER_NONE;
}

static void put_operation(struct esi_json_out *out, const struct esi_delay_row *row)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "operation", row->name);
    esi_json_out_unsigned(out, "calls", row->times.calls);
    esi_json_out_real(out, "lost_ns", round(row->times.waited));
    esi_json_out_end(out);
}

/* A rank that others waited for, and the rank that caused it. */
static void put_late(struct esi_json_out *out,
                     int rank,
                     const struct esi_delay_blame *blame)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_signed(out, "rank", rank);
    esi_json_out_real(out, "waited_ns", round(blame->waited));
    esi_json_out_real(out, "own_ns", round(blame->own));
    esi_json_out_signed(out, "causing", blame->causing);
    esi_json_out_real(out, "caused_ns", round(blame->caused));
    esi_json_out_string(out, "operation", blame->operation);
    esi_json_out_string(out, "site", blame->line);
    esi_json_out_bool(out, "computing", blame->computing);
    esi_json_out_end(out);
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
                        struct esi_json_out *out,
                        const char *key,
                        const struct esi_diagram_arrival *arrival)
{
    esi_json_out_begin_array(out, key);
    esi_json_out_unsigned(out, NULL, arrival->row);
    esi_json_out_unsigned(out, NULL, arrival->event);
    esi_json_out_real(out, NULL, esi_page_ns(asked, arrival->ns));
    if (arrival->level > 0)
        esi_json_out_unsigned(out, NULL, arrival->level);
    esi_json_out_end(out);
}

/* The cause of the longest wait, if it is still kept. */
static void put_cause_of(const struct esi_page_asked *asked,
                         struct esi_json_out *out,
                         const struct esi_delay *delay,
                         const struct esi_diagram_arrival *longest)
{
    struct esi_diagram_row row;
    struct esi_delay_wait wait;

    if (esi_diagram_row(asked->diagram, longest->row, &row) < 0 ||
        !esi_delay_find_wait(delay, row.trace, longest->ns, &wait)) {
        esi_json_out_null(out, "cause");
        return;
    }
    esi_json_out_begin_object(out, "cause");
    esi_json_out_signed(out, "rank", wait.causing);
    esi_json_out_string(out, "operation", wait.operation);
    esi_json_out_string(out, "site", wait.line);
    esi_json_out_bool(out, "computing", wait.computing);
    esi_json_out_real(out, "waited_ns", round(wait.waited));
    esi_json_out_real(out, "caused_ns", round(wait.caused));
    esi_json_out_end(out);
}

static int rank_of(const struct esi_page_asked *asked, int64_t number)
{
    struct esi_diagram_row row;

    return number >= 0 && esi_diagram_row(asked->diagram, (uint32_t)number, &row) == 0
               ? row.rank
               : -1;
}

static void put_instance(const struct esi_page_asked *asked,
                         struct esi_json_out *out,
                         const struct esi_delay *delay,
                         const struct esi_diagram_instance *instance)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "operation",
                        instance->operation ? instance->operation->name : "?");
    esi_json_out_string(out, "communicator", instance->communicator);
    esi_json_out_unsigned(out, "instance", instance->number);
    esi_json_out_signed(out, "size", instance->size);
    esi_json_out_signed(out, "known", instance->known);
    put_arrival(asked, out, "first", &instance->first);
    put_arrival(asked, out, "last", &instance->last);
    esi_json_out_real(out, "end", esi_page_ns(asked, instance->end_ns));
    esi_json_out_unsigned(out, "spread_ns", instance->last.ns - instance->first.ns);
    esi_json_out_unsigned(out, "lead_ns", instance->lead_ns);
    esi_json_out_signed(out, "late_rank", rank_of(asked, instance->last.row));
    esi_json_out_signed(out, "late", instance->late);
    if (instance->waits_known)
        esi_json_out_unsigned(out, "lost_ns", instance->lost_ns);
    else
        esi_json_out_null(out, "lost_ns");
    esi_json_out_signed(out, "culprit", rank_of(asked, instance->culprit));
    esi_json_out_string(out, "site", instance->site);
    if (instance->waits_known && instance->lost_ns > 0)
        put_cause_of(asked, out, delay, &instance->longest);
    else
        esi_json_out_null(out, "cause");
    esi_json_out_end(out);
}

static int write_instances(const struct esi_page_asked *asked,
                           struct esi_json_out *out,
                           const struct esi_delay *delay)
{
    struct instance_list list;
    int result = list_instances(asked, &list);

    if (result < 0)
        return result;
    esi_json_out_unsigned(out, "count", list.count);
    esi_json_out_bool(out, "complete", list.count <= list.room);
    esi_json_out_begin_array(out, "instances");
    for (size_t i = 0; i < list.cheapest.count; i++)
        put_instance(asked, out, delay, &list.items[i]);
    esi_json_out_end(out);
    esi_heap_fini(&list.cheapest);
    free(list.items);
    return 0;
}

static int write_collectives(void *data, struct esi_delay *delay)
{
    struct waits_writing *writing = data;
    size_t top = writing->asked->query->top, count, shown = 0;
    const struct esi_delay_row *rows =
        esi_delay_rows(delay, ESI_DELAY_BY_OPERATION, &count);
    struct esi_delay_blame blame;

    esi_json_out_begin_array(writing->out, "operations");
    for (size_t i = 0; i < count; i++)
        if (is_collective(&rows[i]))
            put_operation(writing->out, &rows[i]);
    esi_json_out_end(writing->out);
    esi_json_out_begin_array(writing->out, "late");
    rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);
    for (size_t i = 0; i < count && shown < top; i++)
        if (esi_delay_find_blame(delay, rows[i].rank, &blame)) {
            put_late(writing->out, rows[i].rank, &blame);
            shown++;
        }
    esi_json_out_end(writing->out);
    return write_instances(writing->asked, writing->out, delay);
}

static void make_of_delay(struct esi_page_asked *asked,
                          int (*write)(void *data, struct esi_delay *delay))
{
    struct esi_json_text json;
    struct waits_writing writing = {asked, &json.out};
    int result;

    if (!esi_page_begin_json(asked, &json))
        return;
    result = esi_page_feed_use_delay(asked->model->feed, write, &writing);
    if (result == 0) {
        esi_page_end_json(asked, &json);
        return;
    }
    esi_page_drop_json(&json);
    esi_page_reply_fail(asked->reply, 503, "no memory");
}

void esi_page_make_waits(struct esi_page_asked *asked)
{
    make_of_delay(asked, write_waits);
}

void esi_page_make_collectives(struct esi_page_asked *asked)
{
    make_of_delay(asked, write_collectives);
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

void esi_page_make_trees(struct esi_page_asked *asked)
{
    struct esi_json_text json;
    char *lines;
    int result = esi_page_watch_copy_trees(asked->model->watch, &lines);

    if (result < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else if (esi_page_begin_json(asked, &json)) {
        esi_json_out_bool(&json.out, "looked", lines != NULL);
        esi_json_out_string(&json.out, "text", missing_trees(asked, lines, result > 0));
        put_lines(&json.out, "lines", lines);
        esi_page_end_json(asked, &json);
    }
    free(lines);
}

/* --- Metrics ---------------------------------------------------------------------- */

void esi_page_make_metrics(struct esi_page_asked *asked)
{
    struct esi_page_state state;
    char *text = NULL;

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

void esi_page_make_scope(struct esi_page_asked *asked)
{
    struct esi_json_text json;
    char *stages, *lines = NULL;
    int result = esi_page_feed_copy_stages(asked->model->feed, &stages);

    if (result == 0 && stages)
        result = format_stages(stages, &lines);
    if (result < 0) {
        esi_page_reply_fail(asked->reply, 503, "the scope: %s", strerror(-result));
    } else if (esi_page_begin_json(asked, &json)) {
        put_lines(&json.out, "stages", lines);
        esi_page_end_json(asked, &json);
    }
    free(lines);
    free(stages);
}
