/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_rows.c - cells, order, filters and groups of rows; strips. */
#include "config.h"

#include "monitors/top/top_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lower_bound.h"
#include "base/quantity.h"
#include "monitors/follow/describe.h"
#include "monitors/verdict/verdict.h"
#include "tuplespace/plan/plan.h"

enum { WORDS = 256 };

static const struct esi_top_column_info columns[ESI_TOP_COLUMNS] = {
    [ESI_TOP_RANK] = {"rank", "RANK", true, 6, 0, false},
    [ESI_TOP_HOST] = {"host", "HOST", false, 12, 9, false},
    [ESI_TOP_STATE] = {"state", "STATE", false, 11, 0, true},
    [ESI_TOP_FOR] = {"for", "FOR", true, 9, 1, true},
    [ESI_TOP_DOING] = {"doing", "DOING", false, 12, 0, false},
    [ESI_TOP_PEER] = {"peer", "PEER", false, 8, 7, false},
    [ESI_TOP_RATE] = {"events", "EVENTS/S", true, 8, 3, true},
    [ESI_TOP_SHARE] = {"mpi", "MPI", true, 5, 4, true},
    [ESI_TOP_CAUSED] = {"caused", "CAUSED", true, 9, 5, true},
    [ESI_TOP_SUFFERED] = {"suffered", "SUFFERED", true, 9, 6, true},
    [ESI_TOP_LINE] = {"line", "LINE", false, 12, 8, false},
};

const struct esi_top_column_info *esi_top_column_info(enum esi_top_column column)
{
    return &columns[column];
}

/* --- Cells ------------------------------------------------------------------------ */

const char *esi_top_row_state(const struct esi_top_row *row)
{
    return row->finding >= 0
               ? esi_verdict_kind_name((enum esi_verdict_kind)row->finding)
               : esi_verdicts[row->verdict].name;
}

/* The operation that the row shows; NULL = none yet. */
static const struct esi_activity *activity_of(const struct esi_top_row *row)
{
    if (!row->thread)
        return NULL;
    if (row->thread->open.present)
        return &row->thread->open;
    return row->thread->last.present ? &row->thread->last : NULL;
}

static bool is_over(const struct esi_top_row *row)
{
    return row->verdict == ES_VERDICT_FINISHED;
}

/* "3 stalled, 5 computing" */
static void describe_host(const struct esi_top_row *row, char *out, size_t size)
{
    out[0] = '\0';
    for (int order = ES_VERDICTS - 1; order >= 0; order--)
        for (int i = 0; i < ES_VERDICTS; i++)
            if (esi_verdicts[i].severity == order && row->verdicts[i])
                esi_describe_append(out, size, "%s%zu %s", out[0] ? ", " : "",
                                    row->verdicts[i], esi_verdicts[i].name);
}

static void describe_doing(const struct esi_top_row *row, char *out, size_t size)
{
    const struct esi_thread_state *thread = row->thread;
    const struct esi_activity *activity = activity_of(row);
    char end[WORDS];

    if (!thread) {
        describe_host(row, out, size);
        return;
    }
    esi_describe_end(end, sizeof end, thread);
    snprintf(out, size, "%s", row->verdict == ES_VERDICT_DEAD ? end : "");
    if (row->verdict == ES_VERDICT_UNKNOWN)
        snprintf(out, size, "collectors are off");
    else if (activity && !is_over(row))
        esi_describe_append(out, size, "%s%s%s", out[0] ? ", " : "",
                            activity == &thread->last ? "after " : "",
                            es_operation_name(activity->operation));
}

/* The ranks it waits for, otherwise its peer. */
static void describe_peer(const struct esi_top_row *row, char *out, size_t size)
{
    const struct esi_activity *activity = activity_of(row);
    const struct esi_wait *wait = row->wait;
    char ranks[WORDS];

    out[0] = '\0';
    if (wait && wait->target_count > 0 && esi_thread_is_blocked(row->thread)) {
        esi_describe_ranks(ranks, sizeof ranks, wait->targets, wait->target_count);
        snprintf(out, size, "%s%s",
                 wait->any && wait->target_count > 1 ? "any of " : "",
                 strchr(ranks, ' ') ? strchr(ranks, ' ') + 1 : ranks);
    } else if (activity && !is_over(row)) {
        if (activity->peer >= 0)
            snprintf(out, size, "%d", activity->peer);
        else if (activity->peer == ES_PEER_ANY)
            snprintf(out, size, "any");
    }
}

static const char *line_of(const struct esi_top_row *row)
{
    const struct esi_activity *activity = is_over(row) ? NULL : activity_of(row);

    return activity && activity->site ? activity->site : "";
}

/* "" if not known. */
static void describe_time(double span_ns, char *out, size_t size)
{
    out[0] = '\0';
    if (span_ns >= 0)
        esi_quantity_time(out, size, span_ns);
}

static void describe_number(const struct esi_top_row *row,
                            enum esi_top_column column,
                            char *out,
                            size_t size)
{
    out[0] = '\0';
    if (column == ESI_TOP_CAUSED)
        describe_time(row->caused_ns, out, size);
    else if (column == ESI_TOP_SUFFERED)
        describe_time(row->suffered_ns, out, size);
    else if (column == ESI_TOP_FOR && !is_over(row) && row->quiet_ns > 0)
        esi_quantity_time(out, size, (double)row->quiet_ns);
    else if (column == ESI_TOP_RATE && row->rate >= 0)
        esi_quantity_number(out, size, row->rate);
    else if (column == ESI_TOP_SHARE && row->share >= 0)
        snprintf(out, size, "%.0f %%", 100 * row->share);
}

const char *esi_top_cell(const struct esi_top_row *row,
                         enum esi_top_column column,
                         char *out,
                         size_t size)
{
    switch (column) {
    case ESI_TOP_RANK:
        if (row->rank < 0)
            snprintf(out, size, "%zu", row->ranks);
        else
            snprintf(out, size, "%d", row->rank);
        break;
    case ESI_TOP_HOST:
        snprintf(out, size, "%s", row->host);
        break;
    case ESI_TOP_STATE:
        snprintf(out, size, "%s", esi_top_row_state(row));
        break;
    case ESI_TOP_DOING:
        describe_doing(row, out, size);
        break;
    case ESI_TOP_PEER:
        describe_peer(row, out, size);
        break;
    case ESI_TOP_LINE:
        snprintf(out, size, "%s", line_of(row));
        break;
    default:
        describe_number(row, column, out, size);
        break;
    }
    return out;
}

/* --- Filters ---------------------------------------------------------------------- */

static bool has_rank(const struct esi_top_row *row, const char *word)
{
    struct esi_rank_range *ranges;
    int count = esi_rank_ranges_parse(word, NULL, &ranges);
    bool found;

    if (count <= 0)
        return false;
    found = row->rank >= 0 && esi_rank_ranges_have(ranges, (size_t)count, row->rank);
    free(ranges);
    return found;
}

static bool has_text(const struct esi_top_row *row, const char *word)
{
    static const enum esi_top_column texts[] = {ESI_TOP_HOST, ESI_TOP_STATE,
                                                ESI_TOP_DOING, ESI_TOP_LINE};
    char cell[WORDS];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcasestr(esi_top_cell(row, texts[i], cell, sizeof cell), word))
            return true;
    return false;
}

bool esi_top_row_matches(const struct esi_top_row *row, const char *text)
{
    char word[WORDS];

    for (text = text ? text : ""; *text;) {
        size_t length = strcspn(text, " ");

        snprintf(word, sizeof word, "%.*s", (int)length, text);
        text += length + strspn(text + length, " ");
        if (*word &&
            !(strspn(word, "0123456789,-") == strlen(word) ? has_rank(row, word)
                                                           : has_text(row, word)))
            return false;
    }
    return true;
}

/* --- Order ------------------------------------------------------------------------ */

static int compare_numbers(double a, double b)
{
    return a < b ? -1 : a > b;
}

static double number_of(const struct esi_top_row *row, enum esi_top_column column)
{
    switch (column) {
    case ESI_TOP_STATE:
        return row->finding >= 0 ? 100 - row->finding
                                 : esi_verdicts[row->verdict].severity;
    case ESI_TOP_FOR:
        return is_over(row) ? 0 : (double)row->quiet_ns;
    case ESI_TOP_RATE:
        return row->rate;
    case ESI_TOP_SHARE:
        return row->share;
    case ESI_TOP_CAUSED:
        return row->caused_ns;
    case ESI_TOP_SUFFERED:
        return row->suffered_ns;
    case ESI_TOP_PEER:
        if (row->wait && row->wait->target_count > 0)
            return row->wait->targets[0];
        return activity_of(row) ? activity_of(row)->peer : ES_PEER_NONE;
    default:
        return row->rank;
    }
}

static int compare_cells(const struct esi_top_row *a,
                         const struct esi_top_row *b,
                         enum esi_top_column column)
{
    char left[WORDS], right[WORDS];

    switch (column) {
    case ESI_TOP_HOST:
        return strcmp(a->host, b->host);
    case ESI_TOP_LINE:
        return strcmp(line_of(a), line_of(b));
    case ESI_TOP_DOING:
        return strcmp(esi_top_cell(a, column, left, sizeof left),
                      esi_top_cell(b, column, right, sizeof right));
    default:
        return compare_numbers(number_of(a, column), number_of(b, column));
    }
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct esi_top_row *a = left, *b = right;
    const struct esi_top_choice *choice = data;
    int order = compare_cells(a, b, choice->sort);

    if (columns[choice->sort].descending != choice->turned)
        order = -order;
    if (order == 0)
        order = compare_numbers(a->rank, b->rank);
    if (order == 0)
        order = strcmp(a->host, b->host);
    return order ? order : compare_numbers(a->pid, b->pid);
}

/* --- Hosts ------------------------------------------------------------------------ */

static int compare_hosts(const void *left, const void *right)
{
    const struct esi_top_row *a = left, *b = right;

    return strcmp(a->host, b->host);
}

/* Adds known values only. */
static double add_known(double sum, double more)
{
    return more < 0 ? sum : sum < 0 ? more : sum + more;
}

static void add_to_host(struct esi_top_row *host, const struct esi_top_row *row)
{
    if (esi_verdicts[row->verdict].severity > esi_verdicts[host->verdict].severity)
        host->verdict = row->verdict;
    if (row->finding >= 0 && (host->finding < 0 || row->finding < host->finding))
        host->finding = row->finding;
    if (!is_over(row) && row->quiet_ns > host->quiet_ns)
        host->quiet_ns = row->quiet_ns;
    for (size_t i = 0; i < ES_VERDICTS; i++)
        host->verdicts[i] += row->verdicts[i];
    host->ranks += row->ranks;
    host->rate = add_known(host->rate, row->rate);
    host->share = add_known(host->share, row->share);
    host->caused_ns = add_known(host->caused_ns, row->caused_ns);
    host->suffered_ns = add_known(host->suffered_ns, row->suffered_ns);
}

/* Adds a row for each host after those of the ranks, which are sorted by host. */
static int add_hosts(struct esi_top_list *list)
{
    size_t count = list->count;

    qsort(list->items, count, sizeof *list->items, compare_hosts);
    for (size_t i = 0; i < count;) {
        struct esi_top_row host = {.host = list->items[i].host,
                                   .rank = -1,
                                   .verdict = ES_VERDICT_FINISHED,
                                   .finding = -1,
                                   .rate = -1,
                                   .share = -1,
                                   .caused_ns = -1,
                                   .suffered_ns = -1};

        while (i < count && strcmp(list->items[i].host, host.host) == 0)
            add_to_host(&host, &list->items[i++]);
        if (host.share >= 0)
            host.share /= (double)host.ranks;
        if (ESI_ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
            return -ENOMEM;
        list->items[list->count++] = host;
    }
    return 0;
}

static bool is_folded(const struct esi_top_choice *choice, const char *host)
{
    for (size_t i = 0; i < choice->folded_count; i++)
        if (strcmp(choice->folded[i], host) == 0)
            return true;
    return choice->shape == ESI_TOP_BY_HOST;
}

/* --- Lists ------------------------------------------------------------------------ */

static void sort_rows(struct esi_top_row *rows,
                      size_t count,
                      const struct esi_top_choice *choice)
{
    struct esi_top_choice order = *choice;

    if (count > 1)
        qsort_r(rows, count, sizeof *rows, compare_rows, &order);
}

static bool is_host_before(const void *row, const void *host)
{
    return strcmp(((const struct esi_top_row *)row)->host, host) < 0;
}

/* The first rank of a host; ranks are sorted by host. */
static size_t find_host(const struct esi_top_row *rows, size_t count, const char *host)
{
    return esi_lower_bound(rows, count, sizeof *rows, is_host_before, host);
}

/* Each host followed by its ranks, both sorted. */
static int make_tree(struct esi_top_list *list, const struct esi_top_choice *choice)
{
    size_t ranks = list->count;
    int result = add_hosts(list);
    struct esi_top_row *hosts = list->items + ranks;
    size_t count = list->count - ranks, made = 0;
    struct esi_top_row *tree;

    if (result < 0)
        return result;
    tree = calloc(list->count + 1, sizeof *tree);
    if (!tree)
        return -ENOMEM;
    sort_rows(hosts, count, choice);
    for (size_t i = 0; i < count; i++) {
        struct esi_top_row *host = &tree[made++];
        size_t first = made;

        *host = hosts[i];
        host->is_folded = is_folded(choice, host->host);
        for (size_t j = find_host(list->items, ranks, host->host);
             !host->is_folded && j < ranks && !compare_hosts(&list->items[j], host);
             j++)
            tree[made++] = list->items[j];
        sort_rows(tree + first, made - first, choice);
    }
    free(list->items);
    *list = (struct esi_top_list){
        .items = tree, .count = made, .capacity = list->count + 1};
    return 0;
}

int esi_top_list_make(struct esi_top_list *list,
                      const struct esi_top_row *rows,
                      size_t count,
                      const struct esi_top_choice *choice)
{
    list->count = 0;
    if (ESI_ARRAY_RESERVE(list->items, list->capacity, count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (esi_top_row_matches(&rows[i], choice->filter))
            list->items[list->count++] = rows[i];
    if (choice->shape != ESI_TOP_BY_RANK)
        return make_tree(list, choice);
    sort_rows(list->items, list->count, choice);
    return 0;
}

void esi_top_list_fini(struct esi_top_list *list)
{
    free(list->items);
    *list = (struct esi_top_list){.count = 0};
}

/* --- Strips ----------------------------------------------------------------------- */

enum { MARKS = 'z' - 'A' + 1 };

/* The mark that covers most of a column. */
static char most_of_column(const struct esi_top_span *spans,
                           size_t count,
                           uint64_t begin_ns,
                           uint64_t end_ns)
{
    uint64_t filled[MARKS] = {0}, all = 0, most = 0;
    char mark = '.';

    for (size_t i = 0; i < count; i++) {
        uint64_t start = spans[i].start_ns > begin_ns ? spans[i].start_ns : begin_ns;
        uint64_t stop = spans[i].stop_ns < end_ns ? spans[i].stop_ns : end_ns;
        uint64_t *sum = &filled[spans[i].mark - 'A'];

        if (stop <= start)
            continue;
        all += stop - start;
        *sum += stop - start;
        if (*sum > most) {
            most = *sum;
            mark = spans[i].mark;
        }
    }
    return all * 2 >= end_ns - begin_ns ? mark : '.';
}

void esi_top_strip(const struct esi_top_span *spans,
                   size_t count,
                   uint64_t begin_ns,
                   uint64_t column_ns,
                   size_t width,
                   char *out)
{
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < count; i++)
        if (spans[i].start_ns < first_ns)
            first_ns = spans[i].start_ns;
    for (size_t i = 0; i < width; i++) {
        uint64_t from_ns = begin_ns + i * column_ns;

        out[i] = from_ns + column_ns <= first_ns
                     ? '?'
                     : most_of_column(spans, count, from_ns, from_ns + column_ns);
    }
    out[width] = '\0';
}
