/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of pattern searches: the cases measured by Nichols, with his engines with
 * and without each of his improvements and with ours, all in one run.
 *
 *   bench/patterns_bench [-q] [-t SECONDS] [-r ROUNDS] [-S STORE] [-d FOLDER] [-c CASE]
 *                        [-w WAY]
 *
 * -q omits searches that take long.  A search that has not finished after -t seconds
 * (60) is aborted and reported as "> 60 s".  Short searches are repeated -r times (7),
 * and the median is reported.  FOLDER contains the pattern files (bench/patterns of the
 * sources); CASE and WAY are prefixes of printed names.  Exits with 1 if a search finds
 * other matches than those in the synthetic sets.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "bench/pattern_cases.h"
#include "bench/pattern_data.h"

#define SECOND_NS UINT64_C(1000000000)

enum { ROUNDS_MAX = 101 };

struct bench {
    bool is_quick;
    uint64_t limit_s;
    uint64_t rounds;
    const char *store;
    const char *folder;
    const char *only_case;
    const char *only_way;
    bool differs; /* some search found something else */
};

/* A search for all predicates of a case with one engine. */
struct cell {
    double ms;
    uint64_t comparisons;
    uint64_t matches;
    uint64_t assignments;
    uint64_t pattern_size;
    uint64_t bytes;
    bool is_complete;
};

/* --- A cell ----------------------------------------------------------------------- */

static int ignore_match(void *data, const struct es_event_id *events, size_t count)
{
    (void)data;
    (void)events;
    (void)count;
    return 0;
}

static void add_statistics(struct cell *cell,
                           const struct esi_search_statistics *statistics)
{
    cell->comparisons += statistics->comparisons;
    cell->matches += statistics->matches;
    cell->assignments += statistics->assignments;
    cell->pattern_size += statistics->pattern_size;
    cell->bytes = cell->bytes > statistics->bytes ? cell->bytes : statistics->bytes;
    cell->is_complete = cell->is_complete && statistics->is_complete;
}

static int search_once(const struct pattern_data *data,
                       const struct pattern_case *one,
                       const struct esi_search_config *config,
                       struct cell *ret_cell,
                       struct es_error *error)
{
    static const struct esi_match_sink sink = {.match = ignore_match};
    uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC);
    struct cell cell = {.is_complete = true};

    for (int i = 0; i < PATTERN_CASE_PREDICATES && one->predicates[i]; i++) {
        uint32_t predicate = es_pattern_find(data->file, one->predicates[i]);
        struct esi_search_statistics statistics;
        int code;

        if (predicate == ES_PATTERN_NONE)
            return es_error_set(error, -EINVAL, "no predicate '%s' in %s",
                                one->predicates[i], one->file);
        code = esi_search_run(data->file, predicate, data->domains, data->order, config,
                              &sink, &statistics, error);
        if (code < 0)
            return code;
        add_statistics(&cell, &statistics);
    }
    cell.ms = (double)(esi_now_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6;
    *ret_cell = cell;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of several rounds, as long as they take at most `seconds`. */
static int measure(const struct bench *bench,
                   const struct pattern_data *data,
                   const struct pattern_case *one,
                   struct esi_search_config *config,
                   struct cell *ret_cell,
                   struct es_error *error)
{
    double times[ROUNDS_MAX], sum = 0;
    uint64_t rounds = 0;

    do {
        int code;

        config->deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + bench->limit_s * SECOND_NS;
        code = search_once(data, one, config, ret_cell, error);
        if (code < 0)
            return code;
        times[rounds++] = ret_cell->ms;
        sum += ret_cell->ms;
    } while (rounds < bench->rounds && sum < 2000 && ret_cell->is_complete);
    qsort(times, rounds, sizeof *times, compare_numbers);
    ret_cell->ms = times[rounds / 2];
    return 0;
}

/* --- Printing --------------------------------------------------------------------- */

static void print_figure(const struct pattern_case *one,
                         const struct pattern_way *way,
                         const char *what,
                         double value,
                         const char *unit)
{
    char name[96];

    snprintf(name, sizeof name, "patterns_%s_%s_%s", one->name, way->name, what);
    for (char *at = name; *at; at++)
        if (*at == '.')
            *at = '_';
    printf("figure: %s %.10g %s\n", name, value, unit);
}

static void print_cell(const struct bench *bench,
                       const struct pattern_case *one,
                       const struct pattern_way *way,
                       const struct cell *cell)
{
    if (!cell->is_complete) {
        printf("%-4s %-18s > %9" PRIu64 " s\n", one->name, way->name, bench->limit_s);
        print_figure(one, way, "limit", (double)bench->limit_s, "s");
        return;
    }
    printf("%-4s %-18s %11.3f ms %14" PRIu64 " comparisons %5" PRIu64
           " matches %5" PRIu64 " assignments %4" PRIu64 " relations %8" PRIu64
           " bytes\n",
           one->name, way->name, cell->ms, cell->comparisons, cell->matches,
           cell->assignments, cell->pattern_size, cell->bytes);
    print_figure(one, way, "ms", cell->ms, "ms");
    print_figure(one, way, "comparisons", (double)cell->comparisons, "comparisons");
    print_figure(one, way, "matches", (double)cell->matches, "matches");
    print_figure(one, way, "size", (double)cell->pattern_size, "relations");
}

/* --- Cases ------------------------------------------------------------------------ */

static bool is_chosen(const char *chosen, const char *name)
{
    return !chosen || strncmp(chosen, name, strlen(chosen)) == 0;
}

static void run_way(struct bench *bench,
                    const struct pattern_data *data,
                    const struct pattern_case *one,
                    const struct pattern_way *way)
{
    struct esi_closure_tuning closure = way->closure;
    struct esi_search_config config;
    struct es_error error;
    struct cell cell = {.ms = 0};

    if (!pattern_way_has(way, one->name) || !is_chosen(bench->only_way, way->name) ||
        (bench->is_quick && pattern_way_is_slow(way, one->name)))
        return;
    closure.successors = data->successors;
    esi_search_config_init(&config);
    config.engine = way->engine;
    config.threads = way->threads;
    if (strcmp(way->engine, "closure") == 0)
        config.tuning = &closure;
    else if (strcmp(way->engine, "rewrite") == 0)
        config.tuning = &way->rewrite;
    if (measure(bench, data, one, &config, &cell, &error) < 0) {
        /* "brute" rejects patterns that are too large for it. */
        printf("%-4s %-18s %s\n", one->name, way->name, error.text);
        return;
    }
    print_cell(bench, one, way, &cell);
    fflush(stdout);
    if (cell.is_complete && cell.matches != one->matches) {
        fprintf(stderr,
                "patterns_bench: case %s by %s: %" PRIu64 " matches, expected %" PRIu64
                "\n",
                one->name, way->name, cell.matches, one->matches);
        bench->differs = true;
    }
}

static int run_case(struct bench *bench,
                    const struct pattern_case *one,
                    struct es_error *error)
{
    struct pattern_set_config set;
    struct pattern_data data;
    char path[4096];
    int code;

    pattern_set_config_init(&set, one->set);
    snprintf(path, sizeof path, "%s/%s", bench->folder, one->file);
    code = pattern_data_load(&set, path, bench->store, true, &data, error);
    if (code < 0)
        return code;
    for (const struct pattern_way *way = pattern_ways; way->name; way++)
        run_way(bench, &data, one, way);
    pattern_data_fini(&data);
    return 0;
}

/* --- The command line ------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *ret_number)
{
    char *end;

    *ret_number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *ret_number > 0;
}

static bool parse_option(struct bench *bench, int option, const char *text)
{
    switch (option) {
    case 'q':
        bench->is_quick = true;
        return true;
    case 't':
        return parse_number(text, &bench->limit_s);
    case 'r':
        return parse_number(text, &bench->rounds) && bench->rounds <= ROUNDS_MAX;
    case 'S':
        bench->store = text;
        return true;
    case 'd':
        bench->folder = text;
        return true;
    case 'c':
        bench->only_case = text;
        return true;
    case 'w':
        bench->only_way = text;
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {.limit_s = 60, .rounds = 7, .folder = "bench/patterns"};
    struct es_error error;
    int option;

    while ((option = getopt(argc, argv, "qt:r:S:d:c:w:")) != -1)
        if (!parse_option(&bench, option, optarg))
            optind = argc + 1;
    if (optind != argc) {
        fputs("usage: patterns_bench [-q] [-t SECONDS] [-r ROUNDS] [-S STORE] [-d "
              "FOLDER] [-c CASE] [-w WAY]\n",
              stderr);
        return 2;
    }
    for (const struct pattern_case *one = pattern_cases; one->name; one++)
        if (is_chosen(bench.only_case, one->name) &&
            run_case(&bench, one, &error) < 0) {
            fprintf(stderr, "patterns_bench: %s\n", error.text);
            return 2;
        }
    return bench.differs ? 1 : 0;
}
