/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_print.c - prints the matches of a predicate, at once or sorted; and shows on a
 * terminal that the search is running. */
#include "config.h"

#include "cli/search/search_print.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/now.h"
#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"
#include "eventspace/operation.h"

#define FIRST_NS UINT64_C(2000000000) /* no progress is shown before */
#define NEXT_NS UINT64_C(500000000)
#define SECOND_NS UINT64_C(1000000000)
#define FLUSH_NS UINT64_C(100000000) /* maximum delay until matches are visible */

enum { FEW = 16 }; /* events of most matches */

/* --- Progress --------------------------------------------------------------------- */

/* Shown by a separate thread. */
struct esi_search_progress {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    const char *pattern; /* borrowed */
    uint64_t start_ns;
    uint64_t matches; /* protected by the mutex, like the next */
    bool is_shown;
    bool is_over;
};

static void show_line(struct esi_search_progress *progress)
{
    uint64_t elapsed_ns = esi_now_ns(CLOCK_MONOTONIC) - progress->start_ns;

    fputs("\r\033[K", stderr);
    esi_plain_print(stderr, "%s: %" PRIu64 " matches in %" PRIu64 " s ...",
                    progress->pattern, progress->matches, elapsed_ns / SECOND_NS);
    progress->is_shown = true;
}

static void *run_progress(void *data)
{
    struct esi_search_progress *progress = data;
    uint64_t next_ns = progress->start_ns + FIRST_NS;

    pthread_mutex_lock(&progress->mutex);
    while (!progress->is_over) {
        if (esi_now_ns(CLOCK_MONOTONIC) >= next_ns) {
            show_line(progress);
            next_ns += NEXT_NS;
        } else
            esi_condition_wait(&progress->ended, &progress->mutex, next_ns);
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

/* Signals are handled by the searching thread. */
static int start_thread(struct esi_search_progress *progress)
{
    sigset_t all;
    sigset_t before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&progress->thread, NULL, run_progress, progress);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

struct esi_search_progress *esi_search_progress_start(const char *pattern)
{
    struct esi_search_progress *progress;

    if (!esi_command_is_terminal(stderr))
        return NULL;
    progress = calloc(1, sizeof *progress);
    if (!progress)
        return NULL;
    progress->pattern = pattern;
    progress->start_ns = esi_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&progress->mutex, NULL);
    esi_condition_init(&progress->ended);
    if (start_thread(progress) == 0)
        return progress;
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
    return NULL;
}

static void clear_line(struct esi_search_progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}

void esi_search_progress_stop(struct esi_search_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->is_over = true;
    clear_line(progress);
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}

/* Counts a match; `clears` the line if the match is about to be printed. */
static void count_match(struct esi_search_progress *progress, bool clears)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->matches++;
    if (clears)
        clear_line(progress);
    pthread_mutex_unlock(&progress->mutex);
}

/* --- A match ---------------------------------------------------------------------- */

/* An event of a match. */
struct match_row {
    struct es_event_id id;
    const char *trace;
    const char *type; /* "": the event is in no known class */
    bool has_detail;
    struct esi_detail detail;
};

static const char *type_of(const struct esi_search_print *print, struct es_event_id id)
{
    for (uint32_t i = 0; i < esi_pattern_classes(print->file); i++) {
        const struct esi_domain *domain = esi_domains_class(print->domains, i);
        struct esi_domain_value value;

        if (domain && esi_domain_find(domain, id, &value))
            return esi_domain_type(domain, value);
    }
    return "";
}

static void make_row(const struct esi_search_print *print,
                     struct es_event_id id,
                     struct match_row *row)
{
    row->id = id;
    row->trace = esi_domains_trace_name(print->domains, id.trace);
    row->has_detail =
        print->details && esi_details_find(print->details, id, &row->detail);
    row->type = row->has_detail && esi_detail_has(&row->detail, ES_DETAIL_TYPE)
                    ? row->detail.values[ES_DETAIL_TYPE].text
                    : type_of(print, id);
}

static bool has_row(const struct match_row *row, enum esi_detail_name name)
{
    return row->has_detail && esi_detail_has(&row->detail, name);
}

static int64_t number_of(const struct match_row *row, enum esi_detail_name name)
{
    return row->detail.values[name].number;
}

static const char *text_of(const struct match_row *row, enum esi_detail_name name)
{
    return has_row(row, name) ? row->detail.values[name].text : "";
}

/* --- Cells of a table ------------------------------------------------------------- */

enum column {
    COLUMN_EVENT,
    COLUMN_TYPE,
    COLUMN_RANK,
    COLUMN_PEER,
    COLUMN_TAG,
    COLUMN_COMMUNICATOR,
    COLUMN_INSTANCE,
    COLUMN_BYTES,
    COLUMN_START,
    COLUMN_LENGTH,
    COLUMNS,
};

enum { CELL = 256 }; /* bytes; longer text is truncated */

/* Properties shared by the rows. */
struct match_table {
    int width[COLUMNS]; /* 0 = not shown */
    int64_t begin_ns;   /* of the run */
    bool has_hosts;     /* events are on several hosts, which are shown */
};

static enum es_class class_of(const struct match_row *row)
{
    return es_class_by_name(text_of(row, ES_DETAIL_CLASS));
}

static bool is_message(const struct match_row *row)
{
    return class_of(row) == ES_CLASS_SEND || class_of(row) == ES_CLASS_RECEIVE;
}

/* Waits and tests, whose `bytes` is a number of requests; probes have the same
 * class. */
static bool is_about_requests(const struct match_row *row)
{
    const struct es_operation *operation;

    if (class_of(row) != ES_CLASS_COMPLETION)
        return false;
    operation = es_operation_by_name(row->type);
    return !operation || !operation->probe;
}

/* The preposition before the peer. */
static const char *peer_word(const struct match_row *row)
{
    switch (class_of(row)) {
    case ES_CLASS_SEND:
        return "to";
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COMPLETION:
        return "from";
    case ES_CLASS_COLLECTIVE:
        return "root";
    default:
        return "with";
    }
}

static void write_rank(const struct match_row *row, bool has_hosts, char *cell)
{
    if (!has_row(row, ES_DETAIL_RANK))
        return;
    snprintf(cell, CELL, "rank %" PRId64 "%s%s", number_of(row, ES_DETAIL_RANK),
             has_hosts ? " on " : "", has_hosts ? text_of(row, ES_DETAIL_HOST) : "");
}

static void write_peer(const struct match_row *row, char *cell)
{
    if (has_row(row, ES_DETAIL_PEER))
        snprintf(cell, CELL, "%s %" PRId64 "%s", peer_word(row),
                 number_of(row, ES_DETAIL_PEER),
                 strcmp(text_of(row, ES_DETAIL_SOURCE), "any") == 0 ? " (of any)" : "");
}

static void write_instance(const struct match_row *row, char *cell)
{
    if (has_row(row, ES_DETAIL_WINDOW))
        snprintf(cell, CELL, "window %" PRId64, number_of(row, ES_DETAIL_WINDOW));
    else if (has_row(row, ES_DETAIL_INSTANCE))
        snprintf(cell, CELL, "instance %" PRId64, number_of(row, ES_DETAIL_INSTANCE));
}

/* A size of 0 is only relevant for messages. */
static void write_bytes(const struct match_row *row, char *cell)
{
    int64_t number =
        has_row(row, ES_DETAIL_BYTES) ? number_of(row, ES_DETAIL_BYTES) : 0;

    if (is_about_requests(row))
        snprintf(cell, CELL, "%" PRId64 " request%s", number, number == 1 ? "" : "s");
    else if (number > 0 || (is_message(row) && has_row(row, ES_DETAIL_BYTES)))
        snprintf(cell, CELL, "%" PRId64 " B", number);
}

/* Without overflow for any values in a file. */
static int64_t time_difference(int64_t later, int64_t earlier)
{
    return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

static void write_length(const struct match_row *row, char *cell)
{
    char time[CELL / 2];

    if (has_row(row, ES_DETAIL_START) && has_row(row, ES_DETAIL_STOP))
        snprintf(cell, CELL, "for %s",
                 esi_quantity_time(
                     time, sizeof time,
                     (double)time_difference(number_of(row, ES_DETAIL_STOP),
                                             number_of(row, ES_DETAIL_START))));
    else if (has_row(row, ES_DETAIL_STATE))
        snprintf(cell, CELL, "%s", text_of(row, ES_DETAIL_STATE));
}

/* A cell is empty if the event has no such data. */
static void write_cell(const struct match_row *row,
                       const struct match_table *table,
                       enum column column,
                       char *cell)
{
    cell[0] = '\0';
    switch (column) {
    case COLUMN_EVENT:
        snprintf(cell, CELL, "%s:%" PRIu32, row->trace, row->id.index);
        break;
    case COLUMN_TYPE:
        snprintf(cell, CELL, "%s", row->type);
        break;
    case COLUMN_RANK:
        write_rank(row, table->has_hosts, cell);
        break;
    case COLUMN_PEER:
        write_peer(row, cell);
        break;
    case COLUMN_TAG:
        if (has_row(row, ES_DETAIL_TAG))
            snprintf(cell, CELL, "tag %" PRId64, number_of(row, ES_DETAIL_TAG));
        break;
    case COLUMN_COMMUNICATOR:
        snprintf(cell, CELL, "%s", text_of(row, ES_DETAIL_COMMUNICATOR));
        break;
    case COLUMN_INSTANCE:
        write_instance(row, cell);
        break;
    case COLUMN_BYTES:
        write_bytes(row, cell);
        break;
    case COLUMN_START:
        if (has_row(row, ES_DETAIL_START))
            snprintf(cell, CELL, "at %.6f s",
                     (double)time_difference(number_of(row, ES_DETAIL_START),
                                             table->begin_ns) /
                         1e9);
        break;
    case COLUMN_LENGTH:
        write_length(row, cell);
        break;
    default:
        break;
    }
    for (; *cell; cell++) /* names come from the program */
        if ((unsigned char)*cell < ' ' || *cell == 0x7f)
            *cell = '?';
}

/* --- Text ------------------------------------------------------------------------- */

/* The rows of a match. */
struct rows {
    const char *pattern; /* its name; NULL if there is only one */
    const struct match_row *items;
    size_t count;
};

static bool have_details(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].has_detail)
            return true;
    return false;
}

static bool have_hosts(const struct rows *rows)
{
    const char *host = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        if (!has_row(&rows->items[i], ES_DETAIL_HOST))
            continue;
        if (host && strcmp(host, text_of(&rows->items[i], ES_DETAIL_HOST)) != 0)
            return true;
        host = text_of(&rows->items[i], ES_DETAIL_HOST);
    }
    return false;
}

static void measure_widths(const struct esi_search_print *print,
                           const struct rows *rows,
                           struct match_table *table)
{
    char cell[CELL];

    *table = (struct match_table){.begin_ns = esi_details_begin(print->details),
                                  .has_hosts = have_hosts(rows)};
    for (size_t i = 0; i < rows->count; i++) {
        for (unsigned column = 0; column < COLUMNS; column++) {
            int length;

            write_cell(&rows->items[i], table, (enum column)column, cell);
            length = (int)esi_text_table_text_width(cell);
            if (length > table->width[column])
                table->width[column] = length;
        }
    }
}

static void print_row(const struct match_row *row, const struct match_table *table)
{
    int gap = 4; /* spaces before the next cell, if there is one */
    char cell[CELL];

    for (unsigned column = 0; column < COLUMNS; column++) {
        bool is_number = column == COLUMN_BYTES || column == COLUMN_START;
        int width = table->width[column];
        int left, length;

        if (width == 0)
            continue;
        write_cell(row, table, (enum column)column, cell);
        length = (int)esi_text_table_text_width(cell);
        left = is_number ? width - length : 0;
        if (length > 0) {
            esi_plain_print(stdout, "%*s%s", gap + left, "", cell);
            gap = 0;
            width -= left + length;
        }
        gap += width + 2;
    }
    putchar('\n');
}

static void print_text(const struct esi_search_print *print, const struct rows *rows)
{
    struct match_table table;

    if (rows->pattern)
        esi_plain_print(stdout, "%s: ", rows->pattern);
    if (rows->count == 0)
        fputs("the pattern holds", stdout);
    for (size_t i = 0; i < rows->count; i++) {
        const struct match_row *row = &rows->items[i];

        esi_plain_print(stdout, "%s%s:%" PRIu32 "%s%s", i == 0 ? "" : ", ", row->trace,
                        row->id.index, *row->type ? " " : "", row->type);
    }
    putchar('\n');
    if (!have_details(rows))
        return;
    measure_widths(print, rows, &table);
    for (size_t i = 0; i < rows->count; i++)
        print_row(&rows->items[i], &table);
}

/* --- JSON ------------------------------------------------------------------------- */

static void describe_event(struct esi_row *row, const struct match_row *event)
{
    static const struct {
        enum esi_detail_name name;
        const char *key;
    } members[] = {
        {ES_DETAIL_CLASS, "class"},
        {ES_DETAIL_RANK, "rank"},
        {ES_DETAIL_HOST, "host"},
        {ES_DETAIL_COMMUNICATOR, "communicator"},
        {ES_DETAIL_PEER, "peer"},
        {ES_DETAIL_SOURCE, "source"},
        {ES_DETAIL_TAG, "tag"},
        {ES_DETAIL_WINDOW, "window"},
        {ES_DETAIL_BYTES, "bytes"},
        {ES_DETAIL_INSTANCE, "instance"},
        {ES_DETAIL_START, "start_unix_ns"},
        {ES_DETAIL_STOP, "stop_unix_ns"},
        {ES_DETAIL_STATE, "state"},
    };

    esi_row_begin_object(row, NULL);
    esi_row_text(row, "trace", NULL, event->trace);
    esi_row_text(row, "type", NULL, event->type);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        enum esi_detail_name name = members[i].name;

        if (!has_row(event, name))
            continue;
        if (event->detail.values[name].text)
            esi_row_text(row, members[i].key, NULL, text_of(event, name));
        else
            esi_row_signed(row, members[i].key, NULL, number_of(event, name));
    }
    esi_row_end(row);
}

static void describe_match(struct esi_row *row, const void *record)
{
    const struct rows *rows = record;

    esi_row_text(row, "type", NULL, "match");
    if (rows->pattern)
        esi_row_text(row, "pattern", NULL, rows->pattern);
    esi_row_begin_array(row, "match");
    for (size_t i = 0; i < rows->count; i++) {
        esi_row_begin_array(row, NULL);
        esi_row_unsigned(row, NULL, NULL, rows->items[i].id.trace);
        esi_row_unsigned(row, NULL, NULL, rows->items[i].id.index);
        esi_row_end(row);
    }
    esi_row_end(row);
    if (!have_details(rows))
        return;
    esi_row_begin_array(row, "events");
    for (size_t i = 0; i < rows->count; i++)
        describe_event(row, &rows->items[i]);
    esi_row_end(row);
}

/* The events are sorted; there may be none. */
static int print_match(void *data, const struct es_event_id *events, size_t count)
{
    const struct esi_search_print *print = data;
    struct match_row few[FEW];
    struct match_row *items =
        count <= FEW ? few : reallocarray(NULL, count, sizeof *items);
    struct rows rows = {print->pattern, items, count};

    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        make_row(print, events[i], &items[i]);
    if (print->format == ES_FORMAT_JSON)
        esi_rows_print_json(stdout, describe_match, &rows);
    else
        print_text(print, &rows);
    if (items != few)
        free(items);
    return 0;
}

/* --- All matches ------------------------------------------------------------------ */

static int print_now(struct esi_search_print *print,
                     const struct es_event_id *events,
                     size_t count)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result = print_match(print, events, count);

    if (now_ns - print->flushed_ns >= FLUSH_NS) {
        fflush(stdout);
        print->flushed_ns = now_ns;
    }
    return result;
}

static int take_match(void *data, const struct es_event_id *events, size_t count)
{
    struct esi_search_print *print = data;
    bool is_now = !print->is_sorted && !print->is_silent && !print->sum;
    bool is_enough = ++print->taken == print->limit;
    int result = 0;

    count_match(print->progress, is_now);
    if (print->sum)
        result =
            esi_search_sum_add(print->sum, print->name, print->details, events, count);
    else if (print->is_sorted)
        result = esi_match_list_add(&print->sorted, events, count);
    else if (is_now)
        result = print_now(print, events, count);
    /* main() reports the lost output. */
    return result < 0 ? result : is_enough || ferror(stdout);
}

struct esi_match_sink esi_search_print_sink(struct esi_search_print *print)
{
    return (struct esi_match_sink){.match = take_match, .data = print};
}

int esi_search_print_end(struct esi_search_print *print)
{
    const struct esi_match_sink sink = {.match = print_match, .data = print};

    return esi_match_list_sorted(&print->sorted, &sink);
}

void esi_search_print_fini(struct esi_search_print *print)
{
    esi_match_list_fini(&print->sorted);
}
