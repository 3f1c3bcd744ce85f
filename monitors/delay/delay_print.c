/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_print.c - prints where the time goes, for people and for programs. */
#include "config.h"

#include "monitors/delay/delay_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/quantity.h"

#define OPEN_NS UINT64_C(1000000000) /* a shorter wait is usual */

/* --- Records ---------------------------------------------------------------------- */

struct shown_row {
    const struct esi_delay_row *row;
    const struct esi_delay_totals *totals;
};

static int64_t whole_ns(double ns)
{
    return ns > 0 ? (int64_t)(ns + 0.5) : 0;
}

static void describe_times(struct esi_row *row, const struct esi_delay_times *times)
{
    esi_row_unsigned(esi_row_minor(row, 2), "calls", "CALLS", times->calls);
    esi_row_time(row, "waited_ns", "WAITED", whole_ns(times->waited));
    esi_row_time(row, "waited_nonblocking_ns", NULL, whole_ns(times->nonblocking));
    esi_row_time(row, "waited_polling_ns", NULL, whole_ns(times->polling));
}

static double share_of(const struct esi_delay_totals *totals, double critical)
{
    return totals->critical > 0 ? 100 * critical / totals->critical : 0;
}

static void describe_cost(struct esi_row *row, const struct shown_row *shown)
{
    const struct esi_delay_times *times = &shown->row->times;

    esi_row_time(row, "caused_ns", "CAUSED", whole_ns(times->caused));
    esi_row_time(row, "critical_ns", "CRITICAL", whole_ns(times->critical));
    esi_row_quantity(esi_row_minor(row, 1), "PATH %", "%.1f",
                     share_of(shown->totals, times->critical));
}

static void describe_rank(struct esi_row *row, const void *record)
{
    const struct shown_row *shown = record;
    const struct esi_delay_times *times = &shown->row->times;

    if (esi_row_is_json(row))
        esi_row_text(row, "type", NULL, "rank");
    esi_row_signed(row, "rank", "RANK", shown->row->rank);
    describe_times(row, times);
    describe_cost(row, shown);
    esi_row_time(row, "caused_directly_ns", NULL, whole_ns(times->direct));
    esi_row_time(row, "computed_ns", "COMPUTED", whole_ns(times->computed));
    esi_row_time(row, "called_ns", "IN MPI", whole_ns(times->called));
}

static void describe_named(struct esi_row *row,
                           const struct shown_row *shown,
                           const char *type,
                           const char *heading)
{
    const char *name = shown->row->name;

    if (esi_row_is_json(row))
        esi_row_text(row, "type", NULL, type);
    esi_row_long_text(row, type, heading, 16, name && *name ? name : "(not known)");
}

static void describe_operation(struct esi_row *row, const void *record)
{
    const struct shown_row *shown = record;

    describe_named(row, shown, "operation", "OPERATION");
    describe_times(row, &shown->row->times);
    describe_cost(row, shown);
    esi_row_time(row, "called_ns", "IN MPI", whole_ns(shown->row->times.called));
}

static void describe_communicator(struct esi_row *row, const void *record)
{
    const struct shown_row *shown = record;

    describe_named(row, shown, "communicator", "COMMUNICATOR");
    describe_times(row, &shown->row->times);
    esi_row_time(row, "called_ns", "IN MPI", whole_ns(shown->row->times.called));
}

static void describe_kind(struct esi_row *row, const void *record)
{
    const struct shown_row *shown = record;

    describe_named(row, shown, "kind", "WAITED FOR");
    esi_row_unsigned(row, "waits", "WAITS", shown->row->times.calls);
    esi_row_time(row, "waited_ns", "WAITED", whole_ns(shown->row->times.waited));
    esi_row_time(row, "waited_nonblocking_ns", "OF NONBLOCKING",
                 whole_ns(shown->row->times.nonblocking));
    esi_row_time(row, "waited_polling_ns", "OF POLLING",
                 whole_ns(shown->row->times.polling));
}

/* How much longer the path is here than the average per rank: an upper bound of what
 * balancing can save. */
static double imbalance_of(const struct shown_row *shown)
{
    const struct esi_delay_times *times = &shown->row->times;
    double mean = times->computed;

    if (shown->totals->threads > 0)
        mean /= (double)shown->totals->threads;
    return times->critical_computing > mean ? times->critical_computing - mean : 0;
}

static void describe_line(struct esi_row *row, const void *record)
{
    const struct shown_row *shown = record;
    const struct esi_delay_times *times = &shown->row->times;

    describe_named(row, shown, "line", "LINE");
    esi_row_text(row, "operation", "OPERATION", shown->row->operation);
    describe_times(row, times);
    describe_cost(row, shown);
    esi_row_time(row, "caused_computing_ns", NULL, whole_ns(times->caused_computing));
    esi_row_time(row, "critical_computing_ns", NULL,
                 whole_ns(times->critical_computing));
    esi_row_time(row, "computed_ns", "COMPUTED", whole_ns(times->computed));
    esi_row_time(row, "imbalance_ns", "UNEVEN", whole_ns(imbalance_of(shown)));
    esi_row_time(row, "called_ns", NULL, whole_ns(times->called));
}

static esi_row_describe *const descriptions[] = {
    [ESI_DELAY_BY_RANK] = describe_rank,
    [ESI_DELAY_BY_OPERATION] = describe_operation,
    [ESI_DELAY_BY_COMMUNICATOR] = describe_communicator,
    [ESI_DELAY_BY_LINE] = describe_line,
    [ESI_DELAY_BY_KIND] = describe_kind,
};

void esi_delay_describe_row(struct esi_row *row,
                            enum esi_delay_group group,
                            const struct esi_delay_row *shown)
{
    struct esi_delay_totals totals = {.critical = 0};

    descriptions[group](row, &(struct shown_row){shown, &totals});
}

void esi_delay_describe_blame(struct esi_row *row,
                              int rank,
                              const struct esi_delay_blame *blame)
{
    esi_row_text(row, "type", NULL, "cause");
    esi_row_signed(row, "rank", NULL, rank);
    esi_row_time(row, "waited_ns", NULL, whole_ns(blame->waited));
    esi_row_time(row, "own_ns", NULL, whole_ns(blame->own));
    esi_row_signed(row, "causing", NULL, blame->causing);
    esi_row_time(row, "caused_ns", NULL, whole_ns(blame->caused));
    esi_row_text(row, "line", NULL, blame->line);
    esi_row_text(row, "operation", NULL, blame->operation);
    esi_row_bool(row, "computing", NULL, blame->computing);
}

static void describe_cause(struct esi_row *row, const void *record)
{
    const struct esi_delay_pair *pair = record;

    esi_row_text(row, "type", NULL, "cause");
    esi_row_signed(esi_row_if(row, pair->waiting >= 0), "waiting", NULL, pair->waiting);
    esi_row_signed(row, "causing", NULL, pair->causing);
    esi_row_text(row, "line", NULL, pair->line);
    esi_row_text(row, "operation", NULL, pair->operation);
    esi_row_bool(row, "computing", NULL, pair->computing);
    esi_row_time(row, "waited_ns", NULL, whole_ns(pair->waited));
}

static void describe_totals(struct esi_row *row, const void *record)
{
    const struct esi_delay_totals *totals = record;

    esi_row_text(row, "type", NULL, "totals");
    esi_row_unsigned(row, "events", NULL, totals->events);
    esi_row_unsigned(row, "calls", NULL, totals->calls);
    esi_row_unsigned(row, "threads", NULL, totals->threads);
    esi_row_unsigned(row, "begin_ns", NULL, totals->begin_ns);
    esi_row_unsigned(row, "end_ns", NULL, totals->end_ns);
    esi_row_unsigned(row, "seen_ns", NULL, totals->seen.seen_ns);
    esi_row_unsigned(row, "run_ns", NULL, totals->seen.end_ns - totals->seen.begin_ns);
    esi_row_unsigned(row, "waits", NULL, totals->waits);
    esi_row_time(row, "waited_ns", NULL, whole_ns(totals->waited));
    esi_row_time(row, "direct_ns", NULL, whole_ns(totals->direct));
    esi_row_time(row, "indirect_ns", NULL, whole_ns(totals->indirect));
    esi_row_time(row, "elsewhere_ns", NULL, whole_ns(totals->elsewhere));
    esi_row_unsigned(row, "open", NULL, totals->open);
    esi_row_time(row, "open_ns", NULL, whole_ns(totals->open_waited));
    esi_row_unsigned(row, "open_longest_ns", NULL, totals->open_ns);
    esi_row_time(row, "critical_ns", NULL, whole_ns(totals->critical));
    esi_row_unsigned(row, "truncated", NULL, totals->truncated);
    esi_row_unsigned(row, "forgotten", NULL, totals->forgotten);
    esi_row_unsigned(row, "doubtful", NULL, totals->doubtful);
    esi_row_unsigned(row, "detours", NULL, totals->detours);
    esi_row_unsigned(esi_row_if(row, totals->worst_error_ns != UINT64_MAX), "error_ns",
                     NULL, totals->worst_error_ns);
}

/* --- Order ------------------------------------------------------------------------ */

/* Ranks by number; others by cost, then by waiting time. */
static int compare_rows(const void *left, const void *right)
{
    const struct esi_delay_row *a = *(const struct esi_delay_row *const *)left;
    const struct esi_delay_row *b = *(const struct esi_delay_row *const *)right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->times.caused != b->times.caused)
        return a->times.caused > b->times.caused ? -1 : 1;
    if (a->times.waited != b->times.waited)
        return a->times.waited > b->times.waited ? -1 : 1;
    return a->times.called > b->times.called ? -1 : a->times.called < b->times.called;
}

/* If there are many ranks, selects the most expensive. */
static int compare_costs(const void *left, const void *right)
{
    const struct esi_delay_row *a = *(const struct esi_delay_row *const *)left;
    const struct esi_delay_row *b = *(const struct esi_delay_row *const *)right;

    if (a->times.caused != b->times.caused)
        return a->times.caused > b->times.caused ? -1 : 1;
    return compare_rows(left, right);
}

static bool is_shown(enum esi_delay_group group, const struct esi_delay_row *row)
{
    return group != ESI_DELAY_BY_KIND || row->times.calls > 0;
}

/* The rows to print, sorted.  NULL if out of memory; owned by the caller. */
static const struct esi_delay_row **choose_rows(const struct esi_delay *delay,
                                                enum esi_delay_group group,
                                                size_t top,
                                                size_t *ret_count)
{
    size_t all, count = 0;
    const struct esi_delay_row *rows = esi_delay_rows(delay, group, &all);
    const struct esi_delay_row **chosen = calloc(all + 1, sizeof *chosen);

    if (!chosen)
        return NULL;
    for (size_t i = 0; i < all; i++)
        if (is_shown(group, &rows[i]))
            chosen[count++] = &rows[i];
    if (top > 0 && count > top) {
        qsort(chosen, count, sizeof *chosen, compare_costs);
        count = top;
    }
    qsort(chosen, count, sizeof *chosen, compare_rows);
    *ret_count = count;
    return chosen;
}

static int print_group(const struct esi_delay *delay,
                       enum esi_delay_group group,
                       size_t top,
                       enum esi_rows_format format,
                       FILE *stream)
{
    struct esi_delay_totals totals;
    struct esi_delay_row empty = {.name = "", .operation = ""};
    struct shown_row shown = {.row = &empty, .totals = &totals};
    struct esi_rows rows;
    size_t count;
    const struct esi_delay_row **chosen = choose_rows(delay, group, top, &count);
    int result;

    if (!chosen)
        return -ENOMEM;
    esi_delay_totals(delay, &totals);
    esi_rows_init(&rows, format, stream, descriptions[group]);
    result = esi_rows_begin(&rows, &shown);
    for (size_t i = 0; i < count && result == 0; i++) {
        shown.row = chosen[i];
        esi_rows_add(&rows, &shown);
    }
    if (result == 0)
        result = esi_rows_finish(&rows);
    free(chosen);
    return result;
}

/* --- Causes ----------------------------------------------------------------------- */

/* A cause, summed over all waiting ranks. */
struct cause_sum {
    struct esi_delay_pair pair; /* the one with the largest wait, but with the total
                                   `waited` */
    double greatest;
    size_t ranks; /* number of waiting ranks */
};

static int compare_places(const void *left, const void *right)
{
    const struct esi_delay_pair *a = left;
    const struct esi_delay_pair *b = right;

    if (a->causing != b->causing)
        return a->causing < b->causing ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->operation != b->operation)
        return a->operation < b->operation ? -1 : 1;
    return a->computing - b->computing;
}

static int compare_sums(const void *left, const void *right)
{
    const struct cause_sum *a = left;
    const struct cause_sum *b = right;

    if (a->pair.waited != b->pair.waited)
        return a->pair.waited > b->pair.waited ? -1 : 1;
    return compare_places(&a->pair, &b->pair);
}

static size_t join_causes(struct esi_delay_pair *pairs,
                          size_t count,
                          struct cause_sum *sums)
{
    size_t sum_count = 0;

    qsort(pairs, count, sizeof *pairs, compare_places);
    for (size_t i = 0; i < count; i++) {
        struct cause_sum *sum = &sums[sum_count];

        if (sum_count > 0 && compare_places(&sums[sum_count - 1].pair, &pairs[i]) == 0)
            sum = &sums[sum_count - 1];
        else
            *sum = (struct cause_sum){.pair = pairs[i], .greatest = -1}, sum_count++,
            sum->pair.waited = 0;
        sum->pair.waited += pairs[i].waited;
        sum->ranks += pairs[i].waiting != pairs[i].causing;
        if (pairs[i].waited > sum->greatest) {
            sum->greatest = pairs[i].waited;
            sum->pair.waiting = pairs[i].waiting;
        }
    }
    return sum_count;
}

enum { SENTENCES = 3, CAUSE_BYTES = 1024 };

/* "rank 3 costs the others 12.5 ms (40 % of all waiting): ..." */
static void describe_sum(const struct cause_sum *sum,
                         const struct esi_delay_totals *totals,
                         char *out,
                         size_t size)
{
    const struct esi_delay_pair *pair = &sum->pair;
    bool has_line = pair->line && *pair->line;
    char waited[ESI_QUANTITY_BYTES];

    snprintf(out, size,
             "rank %d costs the others %s (%.0f %% of all waiting): %s %s%s%s%s",
             pair->causing, esi_quantity_time(waited, sizeof waited, pair->waited),
             totals->waited > 0 ? 100 * pair->waited / totals->waited : 0,
             pair->computing ? "computation before" : "in", pair->operation,
             has_line ? " at " : "", has_line ? pair->line : "",
             pair->waiting >= 0 ? "" : "; many ranks wait");
}

/* Calls `use` for the largest summed causes, at most `top`. Returns 0 or -ENOMEM. */
static int foreach_sum(const struct esi_delay *delay,
                       size_t top,
                       void (*use)(void *data,
                                   const struct cause_sum *sum,
                                   const char *text),
                       void *data)
{
    size_t count = esi_delay_pair_count(delay);
    struct esi_delay_pair *pairs = calloc(count + 1, sizeof *pairs);
    struct cause_sum *sums = calloc(count + 1, sizeof *sums);
    struct esi_delay_totals totals;
    char text[CAUSE_BYTES];
    size_t sum_count;

    esi_delay_totals(delay, &totals);
    if (pairs && sums) {
        for (size_t i = 0; i < count; i++)
            pairs[i] = esi_delay_pair_at(delay, i);
        sum_count = join_causes(pairs, count, sums);
        qsort(sums, sum_count, sizeof *sums, compare_sums);
        for (size_t i = 0; i < sum_count && i < top; i++) {
            /* Omits causes below one percent. */
            if (sums[i].pair.waited * 100 <= totals.waited)
                continue;
            describe_sum(&sums[i], &totals, text, sizeof text);
            use(data, &sums[i], text);
        }
    }
    free(pairs);
    free(sums);
    return pairs && sums ? 0 : -ENOMEM;
}

static void print_sum(void *data, const struct cause_sum *sum, const char *text)
{
    FILE *stream = data;
    char greatest[ESI_QUANTITY_BYTES];

    esi_text_prose_print(stream, "%s", text);
    if (sum->pair.waiting >= 0)
        esi_text_prose_print(
            stream, "  rank %d waits longest for it, %s%s", sum->pair.waiting,
            esi_quantity_time(greatest, sizeof greatest, sum->greatest),
            sum->ranks > 1 ? ", among others" : "");
}

static int print_causes(const struct esi_delay *delay, size_t top, FILE *stream)
{
    if (top == 0 || top > SENTENCES)
        top = SENTENCES;
    return foreach_sum(delay, top, print_sum, stream);
}

/* State of esi_delay_foreach_cause(). */
struct cause_visit {
    void (*visit)(void *data, const char *text, double waited_ns);
    void *data;
};

static void visit_sum(void *data, const struct cause_sum *sum, const char *text)
{
    const struct cause_visit *visit = data;

    visit->visit(visit->data, text, sum->pair.waited);
}

int esi_delay_foreach_cause(const struct esi_delay *delay,
                            size_t top,
                            void (*visit)(void *data,
                                          const char *text,
                                          double waited_ns),
                            void *data)
{
    struct cause_visit visiting = {visit, data};

    return foreach_sum(delay, top, visit_sum, &visiting);
}

/* --- Text ------------------------------------------------------------------------- */

static void print_head(const struct esi_delay_totals *totals, FILE *stream)
{
    double span = (double)totals->seen.seen_ns;
    double all = span * (double)totals->threads;
    char time[ESI_QUANTITY_BYTES], waited[ESI_QUANTITY_BYTES], seen[ESI_COVERAGE_BYTES];

    if (esi_coverage_describe(&totals->seen, seen))
        esi_text_prose_print(stream, "%s", seen);
    esi_text_prose_print(
        stream,
        "%zu threads in %s: %s of waiting in %" PRIu64
        " waits (%.1f %% of their time), %.1f %% of it passed on by others that waited",
        totals->threads, esi_quantity_time(time, sizeof time, span),
        esi_quantity_time(waited, sizeof waited, totals->waited), totals->waits,
        all > 0 ? 100 * totals->waited / all : 0,
        totals->waited > 0 ? 100 * totals->indirect / totals->waited : 0);
}

/* Operations that have just begun are no finding. */
static void print_open(const struct esi_delay_totals *totals, FILE *stream)
{
    char time[ESI_QUANTITY_BYTES];

    if (totals->open_ns < OPEN_NS)
        return;
    esi_text_prose_print(stream, "%zu wait%s not ended, the longest of %s: see `why`",
                         totals->open, totals->open == 1 ? " has" : "s have",
                         esi_quantity_time(time, sizeof time, (double)totals->open_ns));
}

/* The line whose computing takes the largest part of the path. */
static void print_path(const struct esi_delay *delay,
                       const struct esi_delay_totals *totals,
                       FILE *stream)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_LINE, &count);
    const struct esi_delay_row *most = NULL;
    char path[ESI_QUANTITY_BYTES], shorter[ESI_QUANTITY_BYTES];

    for (size_t i = 0; i < count; i++)
        if (!most || rows[i].times.critical_computing > most->times.critical_computing)
            most = &rows[i];
    if (!most || most->times.critical_computing <= 0)
        return;
    esi_text_prose_print(
        stream,
        "critical path %s; %.1f %% of it is computation before %s%s%s: 10 %% less "
        "there shortens the run by at most %s",
        esi_quantity_time(path, sizeof path, totals->critical),
        share_of(totals, most->times.critical_computing), most->operation,
        *most->name ? " at " : "", most->name,
        esi_quantity_time(shorter, sizeof shorter,
                          most->times.critical_computing / 10));
}

static void print_doubts(const struct esi_delay_totals *totals, FILE *stream)
{
    char time[ESI_QUANTITY_BYTES];

    if (totals->worst_error_ns == UINT64_MAX)
        esi_text_prose_print(stream, "some hosts' clocks are not known: waits for them "
                                     "are not counted");
    else if (totals->doubtful > 0)
        esi_text_prose_print(
            stream,
            "%" PRIu64 " waits are not counted: they are shorter than "
            "the clocks' error, %s at most",
            totals->doubtful,
            esi_quantity_time(time, sizeof time, (double)totals->worst_error_ns));
    if (totals->elsewhere > 0)
        esi_text_prose_print(stream,
                             "%s of waiting have causes that are not distinguished",
                             esi_quantity_time(time, sizeof time, totals->elsewhere));
    if (totals->truncated > 0 || totals->forgotten > 0)
        esi_text_prose_print(stream,
                             "%" PRIu64 " waits reach back further than the calls that "
                             "are kept, %" PRIu64 " were found too late to be "
                             "attributed",
                             totals->truncated, totals->forgotten);
}

int esi_delay_print_text(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream)
{
    struct esi_delay_totals totals;
    int result;

    esi_delay_totals(delay, &totals);
    print_head(&totals, stream);
    print_open(&totals, stream);
    result = print_causes(delay, style->top, stream);
    print_path(delay, &totals, stream);
    print_doubts(&totals, stream);
    for (int group = 0; group < ESI_DELAY_GROUPS && result == 0; group++) {
        if (!(style->groups & 1u << group))
            continue;
        fputc('\n', stream);
        result = print_group(delay, (enum esi_delay_group)group, style->top,
                             ESI_ROWS_TABLE, stream);
    }
    return result;
}

/* --- For programs ----------------------------------------------------------------- */

int esi_delay_print_json(const struct esi_delay *delay,
                         const struct esi_delay_style *style,
                         FILE *stream)
{
    struct esi_delay_totals totals;
    int result = 0;

    for (int group = 0; group < ESI_DELAY_GROUPS && result == 0; group++)
        if (style->groups & 1u << group)
            result = print_group(delay, (enum esi_delay_group)group, style->top,
                                 ESI_ROWS_JSON, stream);
    for (size_t i = 0; i < esi_delay_pair_count(delay) && result == 0; i++) {
        struct esi_delay_pair pair = esi_delay_pair_at(delay, i);

        result = esi_rows_print_json(stream, describe_cause, &pair);
    }
    esi_delay_totals(delay, &totals);
    return result < 0 ? result : esi_rows_print_json(stream, describe_totals, &totals);
}

int esi_delay_print_csv(const struct esi_delay *delay,
                        const struct esi_delay_style *style,
                        FILE *stream)
{
    int group = 0;

    while (group < ESI_DELAY_GROUPS - 1 && !(style->groups & 1u << group))
        group++;
    return print_group(delay, (enum esi_delay_group)group, style->top, ESI_ROWS_CSV,
                       stream);
}
