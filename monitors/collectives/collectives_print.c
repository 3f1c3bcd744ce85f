/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_print.c - collective operations as a table and as JSON Lines, and the
 * culprits in words; docs/formats.md has the fields. */
#include "config.h"

#include "monitors/collectives/collectives_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/collectives/size_class.h"
#include "monitors/follow/describe.h"

enum { WORDS = 160, SENTENCE = 640, BLAMED = 5 };

/* --- Most expensive groups -------------------------------------------------------- */

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

/* Groups by time lost, then by duration, in descending order.  Caller frees.  NULL if
 * out of memory. */
static const struct esi_collective_group **sort_groups(
    const struct esi_collectives_report *report)
{
    size_t count = esi_collective_statistics_count(report->statistics);
    const struct esi_collective_group **groups = calloc(count + 1, sizeof *groups);

    for (size_t i = 0; groups && i < count; i++)
        groups[i] = esi_collective_statistics_at(report->statistics, i);
    if (groups)
        qsort(groups, count, sizeof *groups, compare_groups);
    return groups;
}

/* What a rank has cost the others in a group. */
struct collectives_debt {
    const struct esi_collective_group *group;
    const struct esi_collective_rank *rank;
    int member; /* its rank in the communicator */
};

/* `lost_ns` relative to the time of `ranks` ranks. */
static double share_of(const struct esi_collectives_report *report,
                       uint64_t lost_ns,
                       int ranks)
{
    double span = (double)(report->last_ns - report->first_ns) * ranks;

    return span > 0 ? (double)lost_ns / span : 0;
}

/* Inserts a debt into the sorted largest ones. */
static size_t insert_debt(struct collectives_debt *debts,
                          size_t count,
                          size_t max,
                          struct collectives_debt debt)
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

/* Finds the largest debts, at most `max`, in descending order.  Returns their
 * number. */
static size_t find_debts(const struct esi_collectives_report *report,
                         struct collectives_debt *ret_debts,
                         size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(report->statistics, i);

        for (int member = 0; member < group->size; member++) {
            const struct esi_collective_rank *rank = &group->ranks[member];

            if (rank->debt_ns > 0)
                count = insert_debt(ret_debts, count, max,
                                    (struct collectives_debt){group, rank, member});
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

/* --- Operations ------------------------------------------------------------------- */

/* A row of the table and a JSON object. */
struct operation_row {
    const struct esi_collectives_report *report;
    const struct esi_collective_group *group;
    int member; /* of the communicator, for the row of a rank */
};

/* Relative to the start of the run; signed, since a clock may be behind.  Null if there
 * was no operation. */
static void describe_time(struct esi_row *row,
                          const char *name,
                          uint64_t time_ns,
                          uint64_t start_ns)
{
    esi_row_signed(esi_row_if(row, time_ns), name, NULL, (int64_t)(time_ns - start_ns));
}

static int shown_rank(const struct esi_collective_group *group, int member)
{
    int rank = group->ranks[member].world_rank;

    return rank >= 0 ? rank : member;
}

/* The member with the largest value of the counter; -1 = none. */
static int find_greatest(const struct esi_collective_group *group, bool last)
{
    uint64_t most = 0;
    int greatest = -1;

    for (int member = 0; group->ranks && member < group->size; member++) {
        const struct esi_collective_rank *rank = &group->ranks[member];
        uint64_t value = last ? rank->last : rank->debt_ns;

        if (value > most) {
            most = value;
            greatest = member;
        }
    }
    return greatest;
}

static void describe_blame(struct esi_row *row,
                           const struct esi_collective_group *group)
{
    int last = find_greatest(group, true);
    int blamed = find_greatest(group, false);
    char words[WORDS];

    if (last < 0)
        esi_row_none(esi_row_minor(row, 6), NULL, "LAST");
    else
        esi_row_words(
            esi_row_minor(row, 6), "LAST", 0, "%d (%.0f %%)", shown_rank(group, last),
            100.0 * (double)group->ranks[last].last / (double)group->complete);
    if (blamed < 0)
        esi_row_words(esi_row_minor(row, 2), "BLAME", 0, "%s",
                      group->judged ? "nobody" : "-");
    else
        esi_row_words(esi_row_minor(row, 2), "BLAME", 0, "%d: %s",
                      shown_rank(group, blamed),
                      esi_quantity_time(words, sizeof words,
                                        (double)group->ranks[blamed].debt_ns));
}

/* The operation with its tree version and size class: "MPI_Reduce, tree 2, 8-63 B". */
static void describe_operation_words(struct esi_row *row,
                                     const struct esi_collective_group *group)
{
    char tree[24] = "";
    char sizes[48] = "";

    if (group->by_tree)
        snprintf(tree, sizeof tree, ", tree %" PRIu32, group->version);
    if (group->size_class == 1)
        snprintf(sizes, sizeof sizes, ", 0 B");
    else if (group->size_class > 1)
        snprintf(sizes, sizeof sizes, ", %" PRIu64 "-%" PRIu64 " B",
                 esi_size_class_least(group->size_class),
                 esi_size_class_most(group->size_class));
    esi_row_words(row, "OPERATION", 12, "%s%s%s", es_operation_name(group->operation),
                  tree, sizes);
}

static const char *communicator_of(const char *name)
{
    return name && *name ? name : "(no name)";
}

static void describe_group(struct esi_row *row,
                           const char *type,
                           const struct esi_collective_group *group)
{
    esi_row_text(row, "type", NULL, type);
    esi_row_words(esi_row_minor(row, 3), "COMM", 8, "%s",
                  communicator_of(group->communicator));
    esi_row_text(esi_row_if(row, group->communicator[0]), "communicator", NULL,
                 group->communicator);
    esi_row_key(row, "key", group->key);
    describe_operation_words(row, group);
    esi_row_text(row, "operation", NULL, es_operation_name(group->operation));
    esi_row_bool(row, "tree", NULL, group->by_tree);
    esi_row_unsigned(row, "version", NULL, group->version);
    if (group->size_class == 0)
        return;
    esi_row_unsigned(row, "least_bytes", NULL, esi_size_class_least(group->size_class));
    esi_row_unsigned(row, "most_bytes", NULL, esi_size_class_most(group->size_class));
}

static void describe_measures(struct esi_row *row, const struct operation_row *shown)
{
    const struct esi_collective_group *group = shown->group;
    bool some = group->complete > 0;

    esi_measure_describe(row, "time_ns", &group->time, 1);
    esi_row_time(esi_row_minor(esi_row_if(row, some), 1), NULL, "MEAN",
                 (int64_t)group->time.mean);
    esi_row_time(esi_row_minor(esi_row_if(row, some), 8), NULL, "P95",
                 (int64_t)esi_quantiles_at(&group->time.quantiles, 0.95));
    esi_row_time(esi_row_minor(esi_row_if(row, some), 7), NULL, "MAX",
                 (int64_t)group->time.greatest);
    esi_measure_describe(row, "spread_ns", &group->spread, 1);
    esi_row_time(esi_row_if(row, some), NULL, "SPREAD", (int64_t)group->spread.mean);
    esi_row_time(esi_row_if(row, some), NULL, "IN TREE", (int64_t)group->tree.mean);
    esi_measure_describe(row, "lost_ns", &group->lost, 1);
    esi_row_time(esi_row_if(row, group->judged), NULL, "LOST",
                 (int64_t)group->lost.sum);
    esi_row_quantity(esi_row_minor(esi_row_if(row, group->judged), 5), "LOST %", "%.1f",
                     100 * share_of(shown->report, group->lost.sum, group->size));
    esi_measure_describe(row, "tree_ns", &group->tree, 1);
    esi_measure_describe(row, "departure_ns", &group->departure, 1);
    esi_measure_describe(row, "imbalance", &group->imbalance, 1000);
    esi_row_quantity(esi_row_minor(esi_row_if(row, group->imbalance.count), 9),
                     "IMBALANCE", "%.0f %%", group->imbalance.mean / 10);
}

static void describe_operation(struct esi_row *row, const void *record)
{
    const struct operation_row *shown = record;
    const struct esi_collective_group *group = shown->group;

    describe_group(row, "operation", group);
    esi_row_signed(row, "size", NULL, group->size);
    esi_row_unsigned(esi_row_minor(row, 4), "count", "COUNT", group->complete);
    esi_row_unsigned(row, "incomplete", NULL, group->incomplete);
    esi_row_unsigned(row, "judged", NULL, group->judged);
    esi_row_unsigned(row, "unsure", NULL, group->unsure);
    esi_row_unsigned(row, "bytes", NULL, group->bytes);
    describe_time(row, "first_ns", group->first_ns, shown->report->start_ns);
    describe_time(row, "last_ns", group->last_ns, shown->report->start_ns);
    esi_row_unsigned(esi_row_if(row, group->worst_error_ns != UINT64_MAX), "error_ns",
                     NULL, group->worst_error_ns);
    describe_measures(row, shown);
    describe_blame(row, group);
}

static void describe_rank(struct esi_row *row, const void *record)
{
    const struct operation_row *shown = record;
    const struct esi_collective_rank *rank = &shown->group->ranks[shown->member];
    struct esi_collective_line worst = esi_collective_rank_worst(rank);
    const char *host = esi_collectives_report_host(shown->report, rank->world_rank);

    describe_group(row, "rank", shown->group);
    esi_row_signed(row, "rank", NULL, rank->world_rank);
    esi_row_signed(row, "member", NULL, shown->member);
    esi_row_text(row, "host", NULL, *host ? host : NULL);
    esi_row_unsigned(row, "last", NULL, rank->last);
    esi_row_unsigned(row, "blamed", NULL, rank->blamed);
    esi_row_unsigned(row, "debt_ns", NULL, rank->debt_ns);
    esi_row_unsigned(row, "lead_ns", NULL, rank->lead_ns);
    esi_row_unsigned(row, "wait_ns", NULL, rank->wait_ns);
    esi_row_unsigned(row, "work_ns", NULL, rank->work_ns);
    esi_row_text(row, "site", NULL, worst.site);
    esi_row_unsigned(esi_row_if(row, worst.site), "site_debt_ns", NULL, worst.debt_ns);
}

static int print_groups(const struct esi_collectives_report *report,
                        size_t top,
                        enum esi_rows_format format,
                        FILE *stream)
{
    size_t count = esi_collective_statistics_count(report->statistics);
    const struct esi_collective_group **groups = sort_groups(report);
    const struct esi_collective_group none = {.size = 0};
    struct operation_row row = {report, &none, 0};
    struct esi_rows rows;

    esi_rows_init(&rows, format, stream, describe_operation);
    int result = groups ? esi_rows_begin(&rows, &row) : -ENOMEM;
    for (size_t i = 0; result == 0 && i < count && i < top; i++) {
        row.group = groups[i];
        esi_rows_add(&rows, &row);
        for (row.member = 0; format == ESI_ROWS_JSON && row.member < row.group->size;
             row.member++)
            esi_rows_print_json(stream, describe_rank, &row);
    }
    if (result == 0)
        result = esi_rows_finish(&rows);
    free(groups);
    return result;
}

/* --- In words --------------------------------------------------------------------- */

/* "97 % of 1200", "1 of 900" operations. */
static void append_part(char *out, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100 * (double)part / (double)whole : 0;
    char words[ESI_QUANTITY_BYTES];

    if (part == 0)
        esi_describe_append(out, SENTENCE, "some of %" PRIu64, whole);
    else if (percent < 1)
        esi_describe_append(out, SENTENCE, "%" PRIu64 " of %" PRIu64, part, whole);
    else
        esi_describe_append(out, SENTENCE, "%s of %" PRIu64,
                            esi_quantity_part(words, sizeof words, part, whole), whole);
}

/* ", most of it at solver.c:212 in exchange()": the source line of the late calls. */
static void append_line(char *out, const struct esi_collective_rank *rank)
{
    struct esi_collective_line worst = esi_collective_rank_worst(rank);
    char words[ESI_QUANTITY_BYTES];

    if (!worst.site)
        return;
    if (worst.debt_ns >= rank->debt_ns)
        esi_describe_append(out, SENTENCE, ", called at %s", worst.site);
    else
        esi_describe_append(
            out, SENTENCE, ", %s of that at %s",
            esi_quantity_part(words, sizeof words, worst.debt_ns, rank->debt_ns),
            worst.site);
}

/* "rank 3 on b arrives last in 97 % of 1200 MPI_Allreduce on MPI_COMM_WORLD; the others
 * lost 12.3 s waiting for it (8.1 % of the 4 ranks' time), called at solver.c:212 in
 * exchange()". With a root, only the root waits or is waited for. */
static void print_debt(const struct esi_collectives_report *report,
                       const struct collectives_debt *debt,
                       FILE *stream)
{
    const struct esi_collective_group *group = debt->group;
    const struct es_operation *operation = es_operation_find(group->operation);
    enum es_order_kind order =
        operation ? (enum es_order_kind)operation->order : ES_ORDER_NONE;
    bool has_root = order == ES_ORDER_ROOT_TO_ALL || order == ES_ORDER_ALL_TO_ROOT;
    int rank = shown_rank(group, debt->member);
    const char *host = esi_collectives_report_host(report, rank);
    char sentence[SENTENCE];
    char words[WORDS];

    snprintf(sentence, sizeof sentence, "%srank %d%s%s%s in ",
             order == ES_ORDER_ALL_TO_ROOT ? "the root waits for " : "", rank,
             *host ? " on " : "", host,
             order == ES_ORDER_ROOT_TO_ALL   ? " is the root that the others wait for"
             : order == ES_ORDER_ALL_TO_ROOT ? ""
             : debt->rank->last > 0          ? " arrives last"
                                             : " arrives late");
    append_part(sentence, has_root ? debt->rank->blamed : debt->rank->last,
                group->complete);
    esi_describe_append(
        sentence, sizeof sentence,
        " %s on %s; %s lost %s waiting for it (%.1f %% of "
        "the %d ranks' time)",
        es_operation_name(group->operation), communicator_of(group->communicator),
        order == ES_ORDER_ALL_TO_ROOT ? "the root" : "the others",
        esi_quantity_time(words, sizeof words, (double)debt->rank->debt_ns),
        100 * share_of(report, debt->rank->debt_ns, group->size), group->size);
    append_line(sentence, debt->rank);
    esi_text_prose_print(stream, "%s", sentence);
}

static void print_cause(const struct esi_collectives_causes *causes,
                        int rank,
                        FILE *stream)
{
    char words[SENTENCE] = "";

    if (rank >= 0 && causes->describe)
        causes->describe(causes->data, rank, words, sizeof words);
    if (words[0])
        esi_text_prose_print(stream, "  %s", words);
}

static void print_debts(const struct esi_collectives_report *report,
                        const struct esi_collectives_causes *causes,
                        FILE *stream)
{
    struct collectives_debt debts[BLAMED];
    size_t count = find_debts(report, debts, BLAMED);

    for (size_t i = 0; i < count; i++) {
        /* Omits debts that are small compared to the largest. */
        if (debts[i].rank->debt_ns < debts[0].rank->debt_ns / 20)
            continue;
        print_debt(report, &debts[i], stream);
        print_cause(causes, shown_rank(debts[i].group, debts[i].member), stream);
    }
}

static void append_counted(char *out, uint64_t count, const char *what)
{
    if (count > 0)
        esi_describe_append(out, SENTENCE, ", %" PRIu64 " %s", count, what);
}

/* Number of complete operations in all groups. */
static uint64_t count_operations(const struct esi_collectives_report *report)
{
    uint64_t count = 0;

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++)
        count += esi_collective_statistics_at(report->statistics, i)->complete;
    return count;
}

static void print_totals(const struct esi_collectives_report *report, FILE *stream)
{
    const struct esi_causality_totals *totals = &report->totals;
    uint64_t shown = count_operations(report);
    uint64_t unfit =
        totals->invalid + totals->mismatched + totals->duplicates + totals->late;
    char sentence[SENTENCE];
    char words[WORDS];

    if (shown > 0)
        snprintf(sentence, sizeof sentence, "%" PRIu64 " operations in %s", shown,
                 esi_quantity_time(words, sizeof words,
                                   (double)(report->last_ns - report->first_ns)));
    else
        snprintf(sentence, sizeof sentence, "no collective operation %s",
                 totals->collectives > 0 ? "matches the options" : "is complete");
    if (totals->collectives > shown)
        append_counted(sentence, totals->collectives - shown, "others not shown");
    append_counted(sentence, totals->held, "under way");
    append_counted(sentence, totals->incomplete, "incomplete");
    append_counted(sentence, totals->beginnings, "whose beginning is gone");
    esi_text_prose_print(stream, "%s", sentence);
    if (report->lost + report->missed > 0)
        esi_text_tone_print(stream, report->lost ? ESI_TONE_BAD : ESI_TONE_PLAIN,
                            "%" PRIu64 " tuples were lost, %" PRIu64
                            " were overwritten before the reading began",
                            report->lost, report->missed);
    if (totals->unplaced + totals->between + unfit > 0)
        esi_text_prose_print(stream,
                             "not analysed: %" PRIu64 " tuples without number, %" PRIu64
                             " on intercommunicators, %" PRIu64
                             " that are inconsistent",
                             totals->unplaced, totals->between, unfit);
    if (report->repaired + report->impossible > 0)
        esi_text_prose_print(stream,
                             "clocks: %" PRIu64 " impossible times repaired, %" PRIu64
                             " beyond the clocks' bounds",
                             report->repaired, report->impossible);
}

int esi_collectives_print_text(const struct esi_collectives_report *report,
                               size_t top,
                               const struct esi_collectives_causes *causes,
                               FILE *stream)
{
    bool is_empty = esi_collective_statistics_count(report->statistics) == 0;
    char seen[ESI_COVERAGE_BYTES];
    int result;

    if (esi_coverage_describe(&report->seen, seen))
        esi_text_prose_print(stream, "%s", seen);
    result = is_empty ? 0 : print_groups(report, top, ESI_ROWS_TABLE, stream);
    if (result < 0)
        return result;
    if (!is_empty)
        fputc('\n', stream);
    print_debts(report, causes, stream);
    print_totals(report, stream);
    return ferror(stream) ? -EIO : 0;
}

void esi_collectives_print_instance(const struct esi_collective_instance *instance,
                                    uint64_t start_ns,
                                    FILE *stream)
{
    char sentence[SENTENCE];
    char spread[WORDS];
    char lost[WORDS];
    char span[WORDS];
    int last = instance->arrivals[instance->last].world_rank;

    snprintf(sentence, sizeof sentence, "%14.6f  %s on %s, instance %" PRIu32 ": ",
             ((double)instance->first_enter_ns - (double)start_ns) / 1e9,
             es_operation_name(instance->operation),
             communicator_of(instance->communicator), instance->instance);
    if (instance->known < instance->size) {
        esi_text_prose_print(stream, "%sincomplete, %d of %d ranks", sentence,
                             instance->known, instance->size);
        return;
    }
    esi_describe_append(
        sentence, sizeof sentence, "%s, spread %s, last %s%d",
        esi_quantity_time(span, sizeof span, (double)instance->time_ns),
        esi_quantity_time(spread, sizeof spread, (double)instance->spread_ns),
        instance->late > 1 ? "perhaps " : "", last);
    if (instance->waits_known)
        esi_describe_append(
            sentence, sizeof sentence, ", lost %s",
            esi_quantity_time(lost, sizeof lost, (double)instance->lost_ns));
    if (instance->culprit >= 0)
        esi_describe_append(sentence, sizeof sentence, " waiting for %d",
                            instance->arrivals[instance->culprit].world_rank);
    esi_text_prose_print(stream, "%s", sentence);
}

/* --- JSON ------------------------------------------------------------------------- */

struct instance_row {
    const struct esi_collective_instance *instance;
    uint64_t start_ns;
};

static void describe_arrival(struct esi_row *row,
                             const struct esi_collective_instance *instance,
                             int member)
{
    const struct esi_collective_arrival *arrival = &instance->arrivals[member];
    bool is_known = instance->waits_known;

    esi_row_begin_object(row, NULL);
    esi_row_signed(row, "rank", NULL, arrival->world_rank);
    esi_row_signed(row, "member", NULL, member);
    esi_row_unsigned(row, "enter_ns", NULL,
                     arrival->enter_ns - instance->first_enter_ns);
    esi_row_unsigned(row, "exit_ns", NULL, arrival->exit_ns - instance->first_enter_ns);
    esi_row_unsigned(esi_row_if(row, is_known), "wait_ns", NULL, arrival->wait_ns);
    esi_row_unsigned(esi_row_if(row, is_known), "debt_ns", NULL, arrival->debt_ns);
    esi_row_end(row);
}

static void describe_member(struct esi_row *row,
                            const char *name,
                            const struct esi_collective_instance *instance,
                            int member)
{
    bool is_known =
        member >= 0 && member < instance->size && instance->arrivals[member].known;

    esi_row_signed(esi_row_if(row, is_known), name, NULL,
                   is_known ? instance->arrivals[member].world_rank : 0);
}

static void describe_instance(struct esi_row *row, const void *record)
{
    const struct instance_row *shown = record;
    const struct esi_collective_instance *instance = shown->instance;
    const char *communicator = instance->communicator;

    esi_row_text(row, "type", NULL, "instance");
    esi_row_text(row, "communicator", NULL,
                 communicator && *communicator ? communicator : NULL);
    esi_row_key(row, "key", instance->key);
    esi_row_text(row, "operation", NULL, es_operation_name(instance->operation));
    esi_row_unsigned(row, "instance", NULL, instance->instance);
    esi_row_bool(row, "tree", NULL, instance->tree);
    esi_row_unsigned(row, "version", NULL, instance->version);
    esi_row_signed(row, "size", NULL, instance->size);
    esi_row_signed(row, "known", NULL, instance->known);
    describe_member(row, "root", instance, instance->root);
    esi_row_unsigned(row, "bytes", NULL, instance->bytes);
    describe_time(row, "begin_ns", instance->first_enter_ns, shown->start_ns);
    esi_row_unsigned(row, "time_ns", NULL, instance->time_ns);
    esi_row_unsigned(row, "spread_ns", NULL, instance->spread_ns);
    esi_row_unsigned(row, "lead_ns", NULL, instance->lead_ns);
    esi_row_unsigned(row, "tree_ns", NULL, instance->tree_ns);
    esi_row_unsigned(row, "departure_ns", NULL, instance->departure_ns);
    esi_row_unsigned(esi_row_if(row, instance->waits_known), "lost_ns", NULL,
                     instance->lost_ns);
    describe_member(row, "last", instance, instance->last);
    esi_row_bool(row, "last_is_sure", NULL, instance->late == 1);
    describe_member(row, "culprit", instance, instance->culprit);
    esi_row_real(esi_row_if(row, !(instance->imbalance < 0)), "imbalance", NULL,
                 instance->imbalance);
    esi_row_unsigned(esi_row_if(row, instance->error_ns != UINT64_MAX), "error_ns",
                     NULL, instance->error_ns);
    esi_row_unsigned(row, "repaired", NULL, instance->repaired);
    esi_row_unsigned(row, "impossible", NULL, instance->impossible);
    esi_row_begin_array(row, "arrivals");
    for (int i = 0; i < instance->known; i++)
        describe_arrival(row, instance, instance->order[i]);
    esi_row_end(row);
}

void esi_collectives_print_instance_json(const struct esi_collective_instance *instance,
                                         uint64_t start_ns,
                                         FILE *stream)
{
    esi_rows_print_json(stream, describe_instance,
                        &(struct instance_row){instance, start_ns});
}

struct summary_row {
    const struct esi_collectives_report *report;
    const char *run;
};

static void describe_counts(struct esi_row *row,
                            const struct esi_collectives_report *report)
{
    const struct esi_causality_totals *totals = &report->totals;

    esi_row_unsigned(row, "complete", NULL, totals->collectives);
    esi_row_unsigned(row, "incomplete", NULL, totals->incomplete);
    esi_row_unsigned(row, "beginnings", NULL, totals->beginnings);
    esi_row_unsigned(row, "open", NULL, totals->held);
    esi_row_unsigned(row, "lost_tuples", NULL, report->lost);
    esi_row_unsigned(row, "overwritten_before", NULL, report->missed);
    esi_row_unsigned(row, "unplaced", NULL, totals->unplaced);
    esi_row_unsigned(row, "between_groups", NULL, totals->between);
    esi_row_unsigned(row, "invalid", NULL, totals->invalid);
    esi_row_unsigned(row, "mismatched", NULL, totals->mismatched);
    esi_row_unsigned(row, "duplicates", NULL, totals->duplicates);
    esi_row_unsigned(row, "late", NULL, totals->late);
    esi_row_unsigned(row, "repaired", NULL, report->repaired);
    esi_row_unsigned(row, "impossible", NULL, report->impossible);
}

static void describe_summary(struct esi_row *row, const void *record)
{
    const struct summary_row *shown = record;
    const struct esi_collectives_report *report = shown->report;
    double lost_ns = 0;
    int worst;
    double share = esi_collectives_worst(report, &worst);

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++)
        lost_ns +=
            (double)esi_collective_statistics_at(report->statistics, i)->lost.sum;
    esi_row_text(row, "type", NULL, "summary");
    esi_row_text(row, "run", NULL, shown->run);
    esi_row_signed(row, "ranks", NULL, report->ranks);
    esi_row_bool(row, "over", NULL, report->over);
    describe_time(row, "first_ns", report->first_ns, report->start_ns);
    describe_time(row, "last_ns", report->last_ns, report->start_ns);
    esi_row_unsigned(row, "seen_ns", NULL, report->seen.seen_ns);
    esi_row_unsigned(row, "run_ns", NULL, report->seen.end_ns - report->seen.begin_ns);
    esi_row_unsigned(row, "operations", NULL, count_operations(report));
    esi_row_real(row, "lost_ns", NULL, lost_ns);
    esi_row_signed(esi_row_if(row, worst >= 0), "culprit", NULL, worst);
    esi_row_real(row, "culprit_share", NULL, share);
    describe_counts(row, report);
}

int esi_collectives_print_json(const struct esi_collectives_report *report,
                               const char *run,
                               size_t top,
                               FILE *stream)
{
    int result = print_groups(report, top, ESI_ROWS_JSON, stream);

    if (result < 0)
        return result;
    return esi_rows_print_json(stream, describe_summary,
                               &(struct summary_row){report, run});
}
