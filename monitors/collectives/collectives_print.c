/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_print.c - collective operations as a table, and who is to blame in words.
 */
#include "config.h"

#include "monitors/collectives/collectives_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/collectives/size_class.h"
#include "monitors/follow/describe.h"

enum { WORDS = 160, BLAMED = 5 };

/* --- What costs most -------------------------------------------------------------- */

static int compare_groups(const void *left, const void *right)
{
    const struct esi_collective_group *a =
        *(const struct esi_collective_group *const *)left;
    const struct esi_collective_group *b =
        *(const struct esi_collective_group *const *)right;

    if (a->lost.sum != b->lost.sum)
        return a->lost.sum < b->lost.sum ? 1 : -1;
    if (a->time.sum != b->time.sum)
        return a->time.sum < b->time.sum ? 1 : -1;
    return a->operation - b->operation;
}

size_t esi_collectives_top(const struct esi_collectives_report *report,
                           const struct esi_collective_group **ret_groups,
                           size_t max)
{
    size_t count = esi_collective_statistics_count(report->statistics);
    const struct esi_collective_group **groups = calloc(count + 1, sizeof *groups);

    if (!groups)
        return 0;
    for (size_t i = 0; i < count; i++)
        groups[i] = esi_collective_statistics_at(report->statistics, i);
    qsort(groups, count, sizeof *groups, compare_groups);
    count = count < max ? count : max;
    memcpy(ret_groups, groups, count * sizeof *groups);
    free(groups);
    return count;
}

/* The part that `lost_ns` is of the time of `ranks` ranks. */
static double share_of(const struct esi_collectives_report *report,
                       uint64_t lost_ns,
                       int ranks)
{
    double span = (double)(report->last_ns - report->first_ns) * ranks;

    return span > 0 ? (double)lost_ns / span : 0;
}

/* Puts a debt in its place among the greatest. */
static size_t insert_debt(struct esi_collectives_debt *debts,
                          size_t count,
                          size_t max,
                          struct esi_collectives_debt debt)
{
    size_t at = count < max ? count : max - 1;

    if (count == max && debts[at].rank->debt_ns >= debt.rank->debt_ns)
        return count;
    while (at > 0 && debts[at - 1].rank->debt_ns < debt.rank->debt_ns) {
        debts[at] = debts[at - 1];
        at--;
    }
    debts[at] = debt;
    return count < max ? count + 1 : count;
}

/* Debts, the greatest first; at most `max`.  Returns their number. */
static size_t find_debts(const struct esi_collectives_report *report,
                         struct esi_collectives_debt *ret_debts,
                         size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(report->statistics, i);

        for (int member = 0; member < group->size && max > 0; member++) {
            const struct esi_collective_rank *rank = &group->ranks[member];
            struct esi_collectives_debt debt = {
                group, rank, member, share_of(report, rank->debt_ns, group->size)};

            if (rank->debt_ns > 0)
                count = insert_debt(ret_debts, count, max, debt);
        }
    }
    return count;
}

double esi_collectives_worst(const struct esi_collectives_report *report, int *ret_rank)
{
    uint64_t *debts = calloc((size_t)report->ranks + 1, sizeof *debts);
    int worst = -1;
    double share = 0;

    for (size_t i = 0; debts && i < esi_collective_statistics_count(report->statistics);
         i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(report->statistics, i);

        for (int member = 0; member < group->size; member++) {
            int rank = group->ranks[member].world_rank;

            if (rank >= 0 && rank < report->ranks)
                debts[rank] += group->ranks[member].debt_ns;
        }
    }
    for (int rank = 0; debts && rank < report->ranks; rank++)
        if (debts[rank] > 0 && (worst < 0 || debts[rank] > debts[worst]))
            worst = rank;
    if (worst >= 0)
        share = share_of(report, debts[worst], report->ranks);
    free(debts);
    *ret_rank = worst;
    return share;
}

/* --- The table -------------------------------------------------------------------- */

static const struct esi_text_table_column columns[] = {
    {"COMM", ES_TABLE_LEFT, 8},       {"OPERATION", ES_TABLE_LEFT, 12},
    {"COUNT", ES_TABLE_RIGHT, 0},     {"MEAN", ES_TABLE_RIGHT, 0},
    {"P95", ES_TABLE_RIGHT, 0},       {"MAX", ES_TABLE_RIGHT, 0},
    {"SPREAD", ES_TABLE_RIGHT, 0},    {"IN TREE", ES_TABLE_RIGHT, 0},
    {"LOST", ES_TABLE_RIGHT, 0},      {"%", ES_TABLE_RIGHT, 0},
    {"IMBALANCE", ES_TABLE_RIGHT, 0}, {"LAST", ES_TABLE_LEFT, 0},
    {"BLAME", ES_TABLE_LEFT, 0},
};

/* What fits where all of it does not: who waits how long for whom. */
static const struct esi_text_table_column narrow_columns[] = {
    {"COMM", ES_TABLE_LEFT, 8},   {"OPERATION", ES_TABLE_LEFT, 12},
    {"COUNT", ES_TABLE_RIGHT, 0}, {"MEAN", ES_TABLE_RIGHT, 0},
    {"LOST", ES_TABLE_RIGHT, 0},  {"%", ES_TABLE_RIGHT, 0},
    {"LAST", ES_TABLE_LEFT, 0},   {"BLAME", ES_TABLE_LEFT, 0},
};
enum { NARROW = 120 }; /* terminals of fewer columns */

static void add_span(struct es_table *table, bool known, double span_ns)
{
    char words[WORDS];

    esi_text_table_cell(table, "%s",
                        known ? esi_describe_time(words, sizeof words, span_ns) : "-");
}

static int shown_rank(const struct esi_collective_group *group, int member)
{
    int rank = group->ranks[member].world_rank;

    return rank >= 0 ? rank : member;
}

/* The member for whom most of what `field` says was counted; -1 = none. */
static int find_greatest(const struct esi_collective_group *group, bool last)
{
    uint64_t most = 0;
    int greatest = -1;

    for (int member = 0; member < group->size; member++) {
        const struct esi_collective_rank *rank = &group->ranks[member];
        uint64_t value = last ? rank->last : rank->debt_ns;

        if (value > most) {
            most = value;
            greatest = member;
        }
    }
    return greatest;
}

static void add_last(struct es_table *table, const struct esi_collective_group *group)
{
    int member = find_greatest(group, true);

    if (member < 0)
        esi_text_table_cell(table, "-");
    else
        esi_text_table_cell(table, "%d (%.0f %%)", shown_rank(group, member),
                            100.0 * (double)group->ranks[member].last /
                                (double)group->complete);
}

static void add_blame(struct es_table *table, const struct esi_collective_group *group)
{
    int member = find_greatest(group, false);
    char words[WORDS];

    if (member < 0)
        esi_text_table_cell(table, "%s", group->judged ? "nobody" : "-");
    else
        esi_text_table_cell(table, "%d: %s", shown_rank(group, member),
                            esi_describe_time(words, sizeof words,
                                              (double)group->ranks[member].debt_ns));
}

/* ", 8-63 B", or nothing where sizes are not told apart. */
static const char *describe_sizes(const struct esi_collective_group *group,
                                  char *out,
                                  size_t size)
{
    out[0] = '\0';
    if (group->size_class == 1)
        snprintf(out, size, ", 0 B");
    else if (group->size_class > 1)
        snprintf(out, size, ", %" PRIu64 "-%" PRIu64 " B",
                 esi_size_class_least(group->size_class),
                 esi_size_class_most(group->size_class));
    return out;
}

/* The operation, with the version of its tree and its sizes. */
static void add_operation(struct es_table *table,
                          const struct esi_collective_group *group)
{
    const char *name = es_operation_name(group->operation);
    char sizes[48];

    describe_sizes(group, sizes, sizeof sizes);
    if (group->by_tree)
        esi_text_table_cell(table, "%s, tree %" PRIu32 "%s", name, group->version,
                            sizes);
    else
        esi_text_table_cell(table, "%s%s", name, sizes);
}

static const char *communicator_of(const struct esi_collective_group *group)
{
    return group->communicator[0] ? group->communicator : "(no name)";
}

static void add_row(struct es_table *table,
                    const struct esi_collectives_report *report,
                    const struct esi_collective_group *group,
                    bool narrow)
{
    bool some = group->complete > 0;
    bool judged = group->judged > 0;

    esi_text_table_cell(table, "%s", communicator_of(group));
    add_operation(table, group);
    esi_text_table_cell(table, "%" PRIu64, group->complete);
    add_span(table, some, group->time.mean);
    if (!narrow) {
        add_span(table, some, (double)esi_quantiles_at(&group->time.quantiles, 0.95));
        add_span(table, some, (double)group->time.greatest);
        add_span(table, some, group->spread.mean);
        add_span(table, some, group->tree.mean);
    }
    add_span(table, judged, (double)group->lost.sum);
    if (judged)
        esi_text_table_cell(table, "%.1f",
                            100 * share_of(report, group->lost.sum, group->size));
    else
        esi_text_table_cell(table, "-");
    if (!narrow && group->imbalance.count)
        esi_text_table_cell(table, "%.0f %%", group->imbalance.mean / 10);
    else if (!narrow)
        esi_text_table_cell(table, "-");
    add_last(table, group);
    add_blame(table, group);
}

static int print_table(const struct esi_collectives_report *report,
                       size_t top,
                       FILE *stream,
                       size_t width)
{
    size_t count = esi_collective_statistics_count(report->statistics);
    const struct esi_collective_group **groups = calloc(count + 1, sizeof *groups);
    bool narrow = width > 0 && width < NARROW;
    struct es_table *table;
    int result = -ENOMEM;

    if (groups)
        result = esi_text_table_create(narrow ? narrow_columns : columns,
                                       narrow ? sizeof narrow_columns / sizeof *columns
                                              : sizeof columns / sizeof *columns,
                                       &table);
    if (result == 0) {
        count = esi_collectives_top(report, groups, top < count ? top : count);
        for (size_t i = 0; i < count; i++)
            add_row(table, report, groups[i], narrow);
        result = esi_text_table_print(table, stream, width);
        esi_text_table_destroy(table);
    }
    free(groups);
    return result;
}

/* --- In words --------------------------------------------------------------------- */

/* "rank 3 on host b arrives last in 97 % of 1200 MPI_Allreduce on MPI_COMM_WORLD; the
 * others lost 12.3 s waiting for it (8.1 % of their time)" */
static void print_debt(const struct esi_collectives_report *report,
                       const struct esi_collectives_debt *debt,
                       FILE *stream)
{
    const struct esi_collective_group *group = debt->group;
    int rank = shown_rank(group, debt->member);
    const char *host = esi_collectives_report_host(report, rank);
    char words[WORDS];

    esi_plain_print(
        stream, "rank %d%s%s arrives last in %.0f %% of %" PRIu64 " %s on %s; ", rank,
        *host ? " on " : "", host,
        group->complete ? 100.0 * (double)debt->rank->last / (double)group->complete
                        : 0.0,
        group->complete, es_operation_name(group->operation), communicator_of(group));
    esi_plain_print(
        stream, "the others lost %s waiting for it (%.1f %% of the %d ranks' time)\n",
        esi_describe_time(words, sizeof words, (double)debt->rank->debt_ns),
        100 * debt->share, group->size);
}

static void print_debts(const struct esi_collectives_report *report, FILE *stream)
{
    struct esi_collectives_debt debts[BLAMED];
    size_t count = find_debts(report, debts, BLAMED);

    for (size_t i = 0; i < count; i++)
        /* What is little against the greatest says nothing. */
        if (debts[i].rank->debt_ns >= debts[0].rank->debt_ns / 20)
            print_debt(report, &debts[i], stream);
}

static void print_counted(FILE *stream, uint64_t count, const char *what)
{
    if (count > 0)
        esi_plain_print(stream, ", %" PRIu64 " %s", count, what);
}

static void print_totals(const struct esi_collectives_report *report, FILE *stream)
{
    const struct esi_collectives_counts *counts = &report->counts;
    const struct esi_collectives_losses *losses = &report->losses;
    uint64_t shown = 0;
    char words[WORDS];

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++)
        shown += esi_collective_statistics_at(report->statistics, i)->complete;
    esi_plain_print(stream, "%" PRIu64 " operations in %s", shown,
                    esi_describe_time(words, sizeof words,
                                      (double)(report->last_ns - report->first_ns)));
    if (counts->complete > shown)
        print_counted(stream, counts->complete - shown, "others not shown");
    print_counted(stream, counts->open, "under way");
    print_counted(stream, counts->incomplete, "incomplete");
    print_counted(stream, counts->beginnings, "whose beginning is gone");
    fputc('\n', stream);
    if (losses->lost + losses->missed > 0)
        fprintf(stream,
                "%" PRIu64 " tuples were lost, %" PRIu64
                " were overwritten before the reading began\n",
                losses->lost, losses->missed);
    if (losses->unplaced + losses->between + counts->invalid + counts->mismatched +
            counts->duplicates + counts->late >
        0)
        fprintf(stream,
                "not analysed: %" PRIu64 " tuples without number, %" PRIu64
                " on intercommunicators, %" PRIu64 " that do not fit together\n",
                losses->unplaced, losses->between,
                counts->invalid + counts->mismatched + counts->duplicates +
                    counts->late);
    if (counts->repaired + counts->impossible > 0)
        fprintf(stream,
                "clocks: %" PRIu64 " impossible times repaired, %" PRIu64
                " beyond the clocks' bounds\n",
                counts->repaired, counts->impossible);
}

int esi_collectives_print_text(const struct esi_collectives_report *report,
                               size_t top,
                               FILE *stream,
                               size_t width)
{
    int result = print_table(report, top, stream, width);

    if (result < 0)
        return result;
    fputc('\n', stream);
    print_debts(report, stream);
    print_totals(report, stream);
    return ferror(stream) ? -EIO : 0;
}

void esi_collectives_print_instance(const struct esi_collective_instance *instance,
                                    uint64_t start_ns,
                                    FILE *stream)
{
    char spread[WORDS];
    char lost[WORDS];
    char span[WORDS];
    int last = instance->arrivals[instance->last].world_rank;

    esi_plain_print(stream, "%14.6f  %s on %s, instance %" PRIu32 ": ",
                    ((double)instance->first_enter_ns - (double)start_ns) / 1e9,
                    es_operation_name(instance->operation),
                    *instance->communicator ? instance->communicator : "(no name)",
                    instance->instance);
    if (instance->known < instance->size) {
        fprintf(stream, "incomplete, %d of %d ranks\n", instance->known,
                instance->size);
        return;
    }
    esi_plain_print(
        stream, "%s, spread %s, last %s%d",
        esi_describe_time(span, sizeof span, (double)instance->time_ns),
        esi_describe_time(spread, sizeof spread, (double)instance->spread_ns),
        instance->late > 1 ? "perhaps " : "", last);
    if (instance->waits_known)
        esi_plain_print(
            stream, ", lost %s",
            esi_describe_time(lost, sizeof lost, (double)instance->lost_ns));
    if (instance->culprit >= 0)
        fprintf(stream, " waiting for %d",
                instance->arrivals[instance->culprit].world_rank);
    fputc('\n', stream);
}
