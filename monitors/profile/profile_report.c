/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_report.c - sums up profiles and sorts the result. */
#include "config.h"

#include "monitors/profile/profile_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Minimum distance of an outlier from the median, and as a multiple of the median
 * distance. */
static const double outlier_least = 0.05;
static const double outlier_times = 3;

/* --- Adding ----------------------------------------------------------------------- */

/* State of adding a process. */
struct profile_adding {
    struct esi_profile_report *report;
    const struct esi_profile_process *process;
    struct esi_profile_rank *rank;
};

static uint64_t span_of(const struct profile_adding *adding, uint64_t ticks)
{
    const struct es_clock *clock = adding->process->clock;

    return clock ? es_clock_span_ns(clock, ticks) : ticks;
}

static bool is_outer(uint16_t code)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize",
                                        "MPI_Session_init", "MPI_Session_finalize"};
    const char *name = es_operation_name(code);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum es_class class_of(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    return operation ? (enum es_class)operation->op_class : ES_CLASS_OTHER;
}

static int find_operation(struct esi_profile_report *report,
                          uint16_t code,
                          struct esi_profile_sums **ret_sums)
{
    for (size_t i = 0; i < report->operation_count; i++)
        if (report->operations[i].code == code) {
            *ret_sums = &report->operations[i].sums;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(report->operations, report->operation_capacity,
                          report->operation_count + 1) < 0)
        return -ENOMEM;
    report->operations[report->operation_count] =
        (struct esi_profile_operation){.code = code,
                                       .is_outer = is_outer(code),
                                       .sums = {.longest_rank = -1, .last_rank = -1}};
    *ret_sums = &report->operations[report->operation_count++].sums;
    return 0;
}

static int find_site(struct esi_profile_report *report,
                     const char *text,
                     uint16_t code,
                     struct esi_profile_sums **ret_sums)
{
    uint64_t hash = esi_hash_u64(esi_hash_mix((uintptr_t)text, code));
    struct esi_profile_site *site;

    ESI_HASH_FOREACH(slot, &report->site_hash, hash) {
        site = &report->sites[esi_hash_index(&report->site_hash, slot)];
        if (site->text == text && site->code == code) {
            *ret_sums = &site->sums;
            return 0;
        }
    }
    if (ESI_ARRAY_RESERVE(report->sites, report->site_capacity,
                          report->site_count + 1) < 0 ||
        esi_hash_reserve(&report->site_hash, report->site_count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&report->site_hash, hash, report->site_count);
    site = &report->sites[report->site_count++];
    *site = (struct esi_profile_site){.text = text,
                                      .code = code,
                                      .is_outer = is_outer(code),
                                      .sums = {.longest_rank = -1, .last_rank = -1}};
    *ret_sums = &site->sums;
    return 0;
}

/* Operations that are only part of a call: the receive of a send-receive, the send of a
 * start. */
static bool is_part(uint16_t code)
{
    enum { FIRST_PART = 900, LAST_PART = 999 }; /* pseudo-operations */

    return code >= FIRST_PART && code <= LAST_PART;
}

/* Parts have no time, nor have successful tests: they are points in time. */
static bool has_time(const struct esi_profile_row *row)
{
    return row->ticks != 0 || row->longest != 0;
}

static void add_row(const struct profile_adding *adding,
                    const struct esi_profile_row *row,
                    struct esi_profile_sums *sums)
{
    uint64_t shortest_ns = span_of(adding, row->shortest);
    uint64_t longest_ns = span_of(adding, row->longest);

    if (has_time(row)) {
        if (sums->timed == 0 || shortest_ns < sums->shortest_ns)
            sums->shortest_ns = shortest_ns;
        if (sums->longest_rank < 0 || longest_ns > sums->longest_ns) {
            sums->longest_ns = longest_ns;
            sums->longest_rank = adding->process->rank;
        }
        sums->timed += row->calls;
        sums->time_ns += span_of(adding, row->ticks);
    }
    sums->calls += row->calls;
    sums->bytes += row->bytes;
    if (sums->last_rank != adding->process->rank) {
        sums->last_rank = adding->process->rank;
        sums->ranks++;
    }
}

/* A call in progress has a duration, but does not count as a call yet. */
static void add_open_call(const struct profile_adding *adding,
                          const struct esi_profile_call *call,
                          struct esi_profile_sums *sums)
{
    uint64_t span_ns = span_of(adding, call->ticks);

    sums->time_ns += span_ns;
    sums->open_ns += span_ns;
    if (span_ns > sums->longest_ns || sums->longest_rank < 0) {
        sums->longest_ns = span_ns;
        sums->longest_rank = adding->process->rank;
    }
    if (sums->last_rank != adding->process->rank) {
        sums->last_rank = adding->process->rank;
        sums->ranks++;
    }
}

/* The sums of an operation, and those of the operation at a site. */
static int find_sums(const struct profile_adding *adding,
                     uint16_t code,
                     uint64_t address,
                     struct esi_profile_sums *ret_sums[2])
{
    const struct esi_profile_process *process = adding->process;
    const char *text =
        process->format_site ? process->format_site(process->data, address) : "";
    int rc = find_operation(adding->report, code, &ret_sums[0]);

    return rc < 0 ? rc : find_site(adding->report, text, code, &ret_sums[1]);
}

/* Size 0 is counted only for messages: other operations without data are not
 * transfers. */
static void add_sizes(struct esi_profile_report *report,
                      const struct esi_profile_row *row)
{
    enum es_class op_class = class_of(row->operation);
    bool is_message = op_class == ES_CLASS_SEND || op_class == ES_CLASS_RECEIVE;

    if (op_class >= ES_CLASS_MONITOR)
        return;
    for (int i = is_message ? 0 : 1; i < ESI_PROFILE_SIZES; i++)
        report->sizes[op_class][i] += row->sizes[i];
}

/* Rows are grouped by thread. */
static int add_rows(const struct profile_adding *adding,
                    const struct esi_profile *profile)
{
    struct esi_profile_sums *sums[2];
    int32_t thread = -1;

    for (size_t i = 0; i < profile->row_count; i++) {
        const struct esi_profile_row *row = &profile->rows[i];
        int rc = find_sums(adding, row->operation, row->site, sums);

        if (rc < 0)
            return rc;
        add_row(adding, row, sums[0]);
        add_row(adding, row, sums[1]);
        if (row->has_sizes)
            add_sizes(adding->report, row);
        if (!is_outer(row->operation)) {
            adding->rank->mpi_ns += span_of(adding, row->ticks);
            adding->rank->calls += is_part(row->operation) ? 0 : row->calls;
        }
        adding->rank->threads += row->thread != thread;
        thread = row->thread;
    }
    return 0;
}

static int add_open(const struct profile_adding *adding,
                    const struct esi_profile *profile)
{
    struct esi_profile_sums *sums[2];

    for (size_t i = 0; i < profile->open_count; i++) {
        const struct esi_profile_call *call = &profile->open[i];
        int rc = find_sums(adding, call->operation, call->site, sums);

        if (rc < 0)
            return rc;
        add_open_call(adding, call, sums[0]);
        add_open_call(adding, call, sums[1]);
        if (!is_outer(call->operation))
            adding->rank->mpi_ns += span_of(adding, call->ticks);
    }
    return 0;
}

static int add_pairs(const struct profile_adding *adding,
                     const struct esi_profile *profile)
{
    struct esi_profile_report *report = adding->report;

    if (ESI_ARRAY_RESERVE(report->pairs, report->pair_capacity,
                          report->pair_count + profile->peer_count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < profile->peer_count; i++) {
        const struct esi_profile_peer *peer = &profile->peers[i];

        adding->rank->messages += peer->messages;
        adding->rank->bytes += peer->bytes;
        if (peer->messages > 0)
            report->pairs[report->pair_count++] =
                (struct esi_profile_pair){.from = adding->process->rank,
                                          .to = peer->world,
                                          .messages = peer->messages,
                                          .bytes = peer->bytes};
    }
    return 0;
}

/* Computes the total time of its threads. */
static void close_rank(const struct profile_adding *adding)
{
    struct esi_profile_rank *rank = adding->rank;
    uint64_t all_ns;

    if (rank->threads == 0)
        rank->threads = 1;
    all_ns = rank->run_ns * rank->threads;
    /* The two are read one after the other. */
    if (rank->mpi_ns > all_ns)
        rank->mpi_ns = all_ns;
    rank->share = all_ns > 0 ? (double)rank->mpi_ns / (double)all_ns : 0;
    adding->report->run_ns += all_ns;
    adding->report->mpi_ns += rank->mpi_ns;
}

int esi_profile_report_add(struct esi_profile_report *report,
                           const struct esi_profile_process *process,
                           const struct esi_profile *profile)
{
    struct profile_adding adding = {.report = report, .process = process};
    int rc =
        ESI_ARRAY_RESERVE(report->ranks, report->rank_capacity, report->rank_count + 1);

    if (rc < 0)
        return rc;
    adding.rank = &report->ranks[report->rank_count++];
    *adding.rank = (struct esi_profile_rank){.rank = process->rank,
                                             .pid = process->pid,
                                             .ended = profile->ended,
                                             .partial = profile->partial};
    snprintf(adding.rank->host, sizeof adding.rank->host, "%s", process->host);
    if (profile->began != 0 && profile->until > profile->began)
        adding.rank->run_ns = span_of(&adding, profile->until - profile->began);
    rc = add_rows(&adding, profile);
    if (rc == 0)
        rc = add_open(&adding, profile);
    if (rc == 0)
        rc = add_pairs(&adding, profile);
    close_rank(&adding);
    return rc;
}

void esi_profile_report_fini(struct esi_profile_report *report)
{
    free(report->ranks);
    free(report->operations);
    free(report->sites);
    free(report->pairs);
    esi_hash_fini(&report->site_hash);
    *report = (struct esi_profile_report){.rank_count = 0};
}

/* --- Sorting ---------------------------------------------------------------------- */

double esi_profile_sums_mean(const struct esi_profile_sums *sums)
{
    return sums->timed > 0
               ? (double)(sums->time_ns - sums->open_ns) / (double)sums->timed
               : 0;
}

static double weight_of(const struct esi_profile_sums *sums,
                        enum esi_profile_order order)
{
    switch (order) {
    case ESI_PROFILE_BY_CALLS:
        return (double)sums->calls;
    case ESI_PROFILE_BY_BYTES:
        return (double)sums->bytes;
    case ESI_PROFILE_BY_MEAN:
        return esi_profile_sums_mean(sums);
    case ESI_PROFILE_BY_MAX:
        return (double)sums->longest_ns;
    case ESI_PROFILE_BY_NAME:
        return 0;
    case ESI_PROFILE_BY_TIME:
        break;
    }
    return (double)sums->time_ns;
}

/* Higher weight first; equal ones by time. */
static int compare_sums(const struct esi_profile_sums *a,
                        const struct esi_profile_sums *b,
                        enum esi_profile_order order)
{
    double x = weight_of(a, order), y = weight_of(b, order);

    if (x == y && order != ESI_PROFILE_BY_NAME) {
        x = (double)a->time_ns;
        y = (double)b->time_ns;
    }
    return (x < y) - (x > y);
}

static int compare_operations(const void *left, const void *right, void *order)
{
    const struct esi_profile_operation *a = left, *b = right;
    int result = compare_sums(&a->sums, &b->sums, *(enum esi_profile_order *)order);

    return result != 0 ? result
                       : strcmp(es_operation_name(a->code), es_operation_name(b->code));
}

static int compare_sites(const void *left, const void *right, void *order)
{
    const struct esi_profile_site *a = left, *b = right;
    int result = compare_sums(&a->sums, &b->sums, *(enum esi_profile_order *)order);

    if (result == 0)
        result = strcmp(a->text, b->text);
    return result != 0 ? result : a->code - b->code;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct esi_profile_rank *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_pairs(const void *left, const void *right)
{
    const struct esi_profile_pair *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

void esi_profile_report_sort(struct esi_profile_report *report,
                             enum esi_profile_order order)
{
    if (report->operation_count > 0)
        qsort_r(report->operations, report->operation_count, sizeof *report->operations,
                compare_operations, &order);
    if (report->site_count > 0)
        qsort_r(report->sites, report->site_count, sizeof *report->sites, compare_sites,
                &order);
    if (report->rank_count > 0)
        qsort(report->ranks, report->rank_count, sizeof *report->ranks, compare_ranks);
    if (report->pair_count > 0)
        qsort(report->pairs, report->pair_count, sizeof *report->pairs, compare_pairs);
}

/* --- Shares ----------------------------------------------------------------------- */

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Sorts the values, of which there must be at least one. */
static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_reals);
    return count % 2 != 0 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void find_ends(const struct esi_profile_report *report,
                      struct esi_profile_spread *spread)
{
    for (size_t i = 0; i < report->rank_count; i++) {
        const struct esi_profile_rank *rank = &report->ranks[i];

        if (rank->run_ns == 0)
            continue;
        if (spread->count == 0 || rank->share < spread->least) {
            spread->least = rank->share;
            spread->least_rank = rank->rank;
        }
        if (spread->count == 0 || rank->share > spread->most) {
            spread->most = rank->share;
            spread->most_rank = rank->rank;
        }
        spread->count++;
    }
}

/* With two ranks there is no outlier. */
static void find_outlier(double *values, struct esi_profile_spread *spread)
{
    bool is_most = spread->most - spread->median > spread->median - spread->least;
    double distance =
        is_most ? spread->most - spread->median : spread->median - spread->least;

    for (size_t i = 0; i < spread->count; i++)
        values[i] = fabs(values[i] - spread->median);
    if (spread->count < 3 || distance < outlier_least ||
        distance <= outlier_times * median_of(values, spread->count))
        return;
    spread->outlier = is_most ? spread->most_rank : spread->least_rank;
    spread->outlier_share = is_most ? spread->most : spread->least;
}

int esi_profile_report_spread(const struct esi_profile_report *report,
                              struct esi_profile_spread *ret_spread)
{
    struct esi_profile_spread spread = {
        .least_rank = -1, .most_rank = -1, .outlier = -1};
    double *values = calloc(report->rank_count + 1, sizeof *values);
    size_t count = 0;

    if (!values)
        return -ENOMEM;
    find_ends(report, &spread);
    for (size_t i = 0; i < report->rank_count; i++)
        if (report->ranks[i].run_ns != 0)
            values[count++] = report->ranks[i].share;
    if (spread.count > 0) {
        spread.median = median_of(values, spread.count);
        find_outlier(values, &spread);
    }
    free(values);
    *ret_spread = spread;
    return 0;
}
