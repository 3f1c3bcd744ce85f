/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of the stores of the order, side by side in one run: a synthetic load is
 * streamed into each, then each answers the same questions.  Exits with 1 if the
 * answers of stores differ.
 *
 *   bench/order_stores -p production -n 1024 -e 5300000 epoch cluster:max=13
 *
 * Without arguments: all stores.  A store "dense" that does not fit into memory (-m
 * megabytes) is only calculated.  The row "alone" is the load without a store; its time
 * is included in all others.  Bytes of the heap are those that the store really used.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "bench/order_choice.h"
#include "bench/order_questions.h"

enum { NAME_WIDTH = 48 };

struct bench {
    struct order_load_config load;
    size_t question_count;
    uint64_t rounds;      /* of filling a store; the best one counts */
    uint64_t dense_bytes; /* maximum size of vectors */
    uint32_t traces;
    uint32_t *counts;
    uint64_t events;
    struct order_questions questions;
    struct order_answers first; /* answers of the first store */
    bool has_first;
    bool differs;
    FILE *figures; /* printed after the table */
};

static const struct {
    const char *name;
    const char *help;
} stores[] = {
    {"dense", "a vector of all traces for each event (Fidge/Mattern); the reference"},
    {"cluster", "vectors of clusters of traces (Ward and Taylor's cluster timestamps)"},
    {"epoch", "clocks relative to the last global cut; the default"},
};

enum { STORES = sizeof stores / sizeof stores[0] };

/* --- The load alone --------------------------------------------------------------- */

static int count_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static int count_event(void *data, const struct es_set_event *event)
{
    struct bench *bench = data;

    bench->counts[event->id.trace] = event->id.index;
    bench->events++;
    return 0;
}

/* Counts the load's events and creates questions about them. */
static int measure_alone(struct bench *bench, struct es_error *error)
{
    struct es_set_sink sink = {
        .trace = count_trace, .event = count_event, .data = bench};
    uint64_t best_ns = UINT64_MAX;

    bench->traces = order_load_traces(&bench->load);
    bench->counts = calloc(bench->traces, sizeof *bench->counts);
    if (!bench->counts)
        return es_error_set(error, -ENOMEM, "out of memory");
    for (uint64_t round = 0; round < bench->rounds; round++) {
        uint64_t begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID), ns;
        int code;

        bench->events = 0;
        code = order_load_stream(&bench->load, &sink, error);
        if (code < 0)
            return code;
        ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    printf("%-*s %9.1f\n", NAME_WIDTH, "alone",
           (double)best_ns / (double)bench->events);
    return order_questions_make(&bench->questions, bench->question_count, bench->counts,
                                bench->traces, bench->load.seed);
}

/* --- A store ---------------------------------------------------------------------- */

/* A store that contains the load. */
struct filled {
    struct es_order *order;
    uint64_t best_ns;
    double heap_bytes; /* growth of the heap */
};

/* figure: order_PATTERN_RANKS_STORE_WHAT. */
static void print_figure(const struct bench *bench,
                         const char *store,
                         const char *what,
                         double value,
                         const char *unit)
{
    char name[320];

    snprintf(name, sizeof name, "order_%s_%" PRIu32 "%s%s_%s_%s", bench->load.pattern,
             bench->load.ranks, bench->load.every ? "_all" : "",
             bench->load.rooted ? "_rooted" : "", store, what);
    for (char *at = name; *at; at++)
        if (strchr(":=,/-.", *at))
            *at = '_';
    fprintf(bench->figures, "figure: %s %.6g %s\n", name, value, unit);
}

static void print_heading(const struct bench *bench)
{
    printf("%s, %" PRIu32 " ranks", bench->load.pattern, bench->load.ranks);
    if (bench->load.every)
        printf(", all-to-all every %" PRIu32, bench->load.every);
    if (bench->load.rooted)
        printf(", reduce and bcast every %" PRIu32, bench->load.rooted);
    printf("\n%-*s %9s %10s | %8s %8s %8s | %8s %7s %7s %7s %7s | %7s %7s %7s %7s\n",
           NAME_WIDTH, "store", "ns/event", "events/s", "B/event", "heap", "writer",
           "elements", "actual", "fixed", "c.act.", "c.fixed", "random", "near",
           "across", "greatest");
}

/* Prints nothing if the store has no such vectors. */
static void print_ratio(double ratio)
{
    if (ratio > 0)
        printf(" %6.2f%%", 100 * ratio);
    else
        printf(" %7s", "-");
}

static void print_sizes(const struct esi_order_statistics *statistics, double held)
{
    double events = (double)statistics->events;
    struct esi_order_ratios ratios;

    esi_order_ratios(statistics, &ratios);
    printf(" | %8.1f %8.1f %7.1fM | %8.1f", (double)statistics->stored_bytes / events,
           held / events, (double)statistics->writer_bytes / 1e6,
           (double)statistics->actual_elements / events);
    print_ratio(ratios.actual);
    print_ratio(ratios.fixed);
    print_ratio(ratios.communication_actual);
    print_ratio(ratios.communication_fixed);
}

static void print_size_figures(const struct bench *bench,
                               const char *store,
                               const struct esi_order_statistics *statistics,
                               double held)
{
    double events = (double)statistics->events;
    struct esi_order_ratios ratios;

    esi_order_ratios(statistics, &ratios);
    print_figure(bench, store, "bytes", (double)statistics->stored_bytes / events,
                 "B/event");
    print_figure(bench, store, "heap", held / events, "B/event");
    print_figure(bench, store, "writer", (double)statistics->writer_bytes, "B");
    print_figure(bench, store, "stored_ratio", ratios.stored, "ratio");
    print_figure(bench, store, "actual_ratio", ratios.actual, "ratio");
    print_figure(bench, store, "fixed_ratio", ratios.fixed, "ratio");
    print_figure(bench, store, "communication_actual_ratio",
                 ratios.communication_actual, "ratio");
    print_figure(bench, store, "communication_fixed_ratio", ratios.communication_fixed,
                 "ratio");
    print_figure(bench, store, "cuts", (double)statistics->cuts, "cuts");
    print_figure(bench, store, "cluster_receives",
                 (double)statistics->cluster_receives[0], "events");
}

/* Compares the answers with those of the first store. */
static void compare(struct bench *bench,
                    const char *store,
                    struct order_answers *answers)
{
    if (!bench->has_first) {
        bench->first = *answers;
        bench->has_first = true;
    }
    for (int kind = 0; kind < ORDER_QUESTION_KINDS; kind++)
        if (answers->mixed[kind] != bench->first.mixed[kind] || answers->failure < 0) {
            fprintf(stderr, "order_stores: %s answers '%s' questions otherwise%s%s\n",
                    store, order_question_name((enum order_question_kind)kind),
                    answers->failure ? ": " : "",
                    answers->failure ? strerror((int)-answers->failure) : "");
            bench->differs = true;
        }
}

static uint64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void print_row(const struct bench *bench,
                      const char *store,
                      const struct esi_order_statistics *statistics,
                      const struct order_answers *answers,
                      const struct filled *filled)
{
    double ns = (double)filled->best_ns / (double)statistics->events;

    printf("%-*s %9.1f %10.0f", NAME_WIDTH, store, ns, 1e9 / ns);
    print_sizes(statistics, filled->heap_bytes);
    printf(" | %7.0f %7.0f %7.0f %7.0f\n", answers->ns[0], answers->ns[1],
           answers->ns[2], answers->ns[3]);
    print_figure(bench, store, "ingest", ns, "ns/event");
    print_size_figures(bench, store, statistics, filled->heap_bytes);
    for (int kind = 0; kind < ORDER_QUESTION_KINDS; kind++)
        print_figure(bench, store, order_question_name((enum order_question_kind)kind),
                     answers->ns[kind], "ns");
    if (answers->stale > 0)
        printf("%-*s of these questions %" PRIu64 " were about forgotten events\n",
               NAME_WIDTH, "", answers->stale);
}

/* Fills the store once per round; the last one is kept. */
static int fill(const struct bench *bench,
                const struct order_choice *choice,
                struct es_error *error,
                struct filled *ret_filled)
{
    struct filled filled = {.best_ns = UINT64_MAX};

    for (uint64_t round = 0; round < bench->rounds; round++) {
        uint64_t ns, before;
        int code;

        es_order_destroy(filled.order);
        before = heap_bytes();
        code = order_choice_fill(choice, &bench->load, error, &filled.order, &ns);
        if (code < 0)
            return code;
        filled.heap_bytes = (double)(heap_bytes() - before);
        filled.best_ns = ns < filled.best_ns ? ns : filled.best_ns;
    }
    *ret_filled = filled;
    return 0;
}

static int measure_store(struct bench *bench,
                         const struct order_choice *choice,
                         struct es_error *error)
{
    struct esi_order_statistics statistics;
    struct order_answers answers;
    struct filled filled;
    int code = fill(bench, choice, error, &filled);

    if (code < 0)
        return code;
    esi_order_statistics(filled.order, &statistics);
    order_questions_ask(&bench->questions, filled.order, &answers);
    print_row(bench, choice->text, &statistics, &answers, &filled);
    if (answers.stale == 0)
        compare(bench, choice->text, &answers);
    es_order_destroy(filled.order);
    return 0;
}

static int measure_choice(struct bench *bench, const char *text, struct es_error *error)
{
    uint64_t vectors = bench->events * bench->traces * sizeof(uint32_t);
    struct order_choice choice;
    int code = order_choice_parse(text, &choice, error);

    if (code < 0)
        return code;
    if (strcmp(choice.config.store, "dense") != 0 || vectors <= bench->dense_bytes)
        return measure_store(bench, &choice, error);
    printf("%-*s %9s %10s | %8.1f: computed, would take %.1f GB\n", NAME_WIDTH, text,
           "", "", (double)bench->traces * sizeof(uint32_t), (double)vectors / 1e9);
    print_figure(bench, text, "bytes", (double)bench->traces * sizeof(uint32_t),
                 "B/event");
    return 0;
}

static int measure(struct bench *bench, char *const *choices, struct es_error *error)
{
    int code;

    print_heading(bench);
    code = measure_alone(bench, error);
    if (*choices) {
        for (; code >= 0 && *choices; choices++)
            code = measure_choice(bench, *choices, error);
        return code;
    }
    for (size_t i = 0; code >= 0 && i < STORES; i++)
        code = measure_choice(bench, stores[i].name, error);
    return code;
}

/* --- The command line ------------------------------------------------------------- */

static void print_usage(FILE *out)
{
    const struct order_load_help *pattern = order_load_patterns();

    fprintf(
        out,
        "usage: order_stores " ORDER_LOAD_USAGE "\n"
        "           [-q QUESTIONS] [-m MEGABYTES] [-i ROUNDS] "
        "[STORE[:KEY=VALUE,...]]...\n"
        "  -k  steps between all-to-all operations    -r  between reduce with bcast\n"
        "  -m  the most that dense vectors may take   -q  questions of each kind\n"
        "  -i  of filling each store: the best time counts\n"
        "keys: strategy, max (13 or 13/50), threshold, prefix, vector, memory (MB)\n"
        "patterns:\n");
    for (; pattern->name; pattern++)
        fprintf(out, "  %-15s %s\n", pattern->name, pattern->help);
    fprintf(out, "stores:\n");
    for (size_t i = 0; i < STORES; i++)
        fprintf(out, "  %-15s %s\n", stores[i].name, stores[i].help);
}

static bool parse_option(struct bench *bench, int option, const char *text)
{
    uint64_t number = 0;

    if (!strchr("imq", option))
        return order_load_option(&bench->load, option, text);
    if (!order_load_number(text, &number))
        return false;
    if (option == 'm')
        bench->dense_bytes = number << 20;
    else if (option == 'i')
        bench->rounds = number;
    else
        bench->question_count = number;
    return option == 'm' || number > 0;
}

static bool parse(struct bench *bench, int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, ORDER_LOAD_OPTIONS "i:m:q:")) != -1)
        if (option == '?' || !parse_option(bench, option, optarg))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .load = {.pattern = "stencil", .ranks = 64, .events = 100000, .seed = 1},
        .question_count = 100000,
        .rounds = 1,
        .dense_bytes = UINT64_C(1) << 30};
    struct es_error error = {.text = ""};
    char *figures = NULL;
    size_t figure_bytes;
    int code;

    if (!parse(&bench, argc, argv)) {
        print_usage(stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    bench.figures = open_memstream(&figures, &figure_bytes);
    if (!bench.figures) {
        perror("order_stores");
        return 2;
    }
    code = measure(&bench, &argv[optind], &error);
    if (code < 0)
        fprintf(stderr, "order_stores: %s\n", error.text);
    fclose(bench.figures);
    fputs(figures, stdout);
    free(figures);
    order_questions_free(&bench.questions);
    free(bench.counts);
    return code < 0 ? 2 : bench.differs;
}
