/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of convex closures: random sets of events of the synthetic event sets, with
 * each algorithm, and closures combined or computed anew (Nichols, tables 4.3 to 4.14).
 *
 *   bench/closures_bench [-q] [-r RUNS] [-n CLOSURES] [-s SEED] [-S STORE] [SET...]
 *
 * Prints the milliseconds of -n closures (5,000; 100 if walking takes long), minimum,
 * average and maximum of -r runs (20), and the comparisons of timestamps.  -q: 3 runs.
 * Exits with 1 if two algorithms find different closures.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/closure_costs.h"
#include "bench/pattern_sets.h"

enum { MANY = 5000, FEW = 100, MANY_EVENTS = 100000, SIZES = 5, METHODS = 4 };

struct options {
    unsigned runs;
    size_t count; /* 0 selects MANY or FEW */
    uint64_t seed;
    const char *store;
};

static const struct {
    const char *name;
    uint32_t least, most;
} sizes[SIZES] = {{"2", 2, 2},
                  {"4", 4, 4},
                  {"6", 6, 6},
                  {"8-10", 8, 10},
                  {"15-20", 15, 20}};

static const struct {
    const char *name;
    enum esi_closure_method method;
} methods[METHODS] = {{"existing", ES_CLOSURE_EXISTING},
                      {"step", ES_CLOSURE_STEP},
                      {"binary", ES_CLOSURE_BINARY},
                      {"jump", ES_CLOSURE_JUMP}};

/* --- An event set in memory ------------------------------------------------------- */

struct data {
    struct es_order *order;
    struct esi_successors *successors;
    uint64_t events;
};

struct both {
    struct es_set_sink order;
    struct es_set_sink successors;
    uint64_t events;
};

static int both_trace(void *data, uint32_t trace, const char *name)
{
    struct both *both = data;
    int result = both->order.trace(both->order.data, trace, name);

    return result < 0 ? result
                      : both->successors.trace(both->successors.data, trace, name);
}

static int both_event(void *data, const struct es_set_event *event)
{
    struct both *both = data;
    int result = both->order.event(both->order.data, event);

    both->events++;
    return result < 0 ? result : both->successors.event(both->successors.data, event);
}

static void fini(struct data *data)
{
    esi_successors_destroy(data->successors);
    es_order_destroy(data->order);
}

static int load(const char *name,
                const struct options *options,
                struct data *data,
                struct es_error *error)
{
    struct pattern_set_config set;
    struct esi_order_config config = {.store = options->store};
    struct both both = {.events = 0};
    struct es_set_sink sink = {both_trace, both_event, &both};
    int result;

    result = esi_order_create(&config, error, &data->order);
    if (result == 0)
        result = esi_successors_create(&data->successors);
    if (result < 0)
        return result;
    both.order = es_order_sink(data->order);
    both.successors = esi_successors_sink(data->successors);
    pattern_set_config_init(&set, name);
    result = pattern_set_stream(&set, &sink, error);
    if (result == 0)
        result = es_order_sink_end(data->order);
    esi_successors_finish(data->successors);
    data->events = both.events;
    return result;
}

/* --- Tables ----------------------------------------------------------------------- */

static void print_costs(const struct closure_costs *costs)
{
    printf(" %.1f | %.1f | %.1f | %" PRIu64 " |", costs->min_ms, costs->average_ms,
           costs->max_ms, costs->comparisons);
}

static void print_head(const char *first,
                       const char *const *columns,
                       unsigned count,
                       const char *last)
{
    printf("| %s |", first);
    for (unsigned i = 0; i < count; i++)
        printf(" %s: min ms | avg | max | comparisons |", columns[i]);
    printf("%s\n|---|", last);
    for (unsigned i = 0; i < count; i++)
        fputs("---|---|---|---|", stdout);
    puts(*last ? "---|" : "");
}

static int is_same(const char *name, uint64_t a, uint64_t b)
{
    if (a == b)
        return 0;
    fprintf(stderr,
            "closures: %s finds closures of %" PRIu64 " events, not %" PRIu64 "\n",
            name, a, b);
    return -ERANGE;
}

/* Tables 4.3 to 4.10. */
static int make_row(const struct data *data,
                    const struct options *options,
                    size_t count,
                    unsigned size,
                    uint64_t *seed)
{
    struct closure_sets sets;
    uint64_t events = 0;
    int result = closure_sets_draw(data->order, count, sizes[size].least,
                                   sizes[size].most, seed, &sets);

    if (result < 0)
        return result;
    printf("| %s |", sizes[size].name);
    for (unsigned i = 0; i < METHODS && result == 0; i++) {
        struct closure_costs costs;

        result = closure_costs_make(data->order, data->successors, methods[i].method,
                                    &sets, options->runs, &costs);
        if (result < 0)
            break;
        print_costs(&costs);
        fflush(stdout);
        events = i ? events : costs.events;
        result = is_same(methods[i].name, costs.events, events);
    }
    if (result == 0)
        printf(" %.1f |\n", (double)events / (double)count);
    closure_sets_fini(&sets);
    return result;
}

/* Tables 4.11 to 4.14. */
static int combine_row(const struct data *data,
                       const struct options *options,
                       unsigned size,
                       uint64_t *seed)
{
    size_t count = options->count ? options->count : MANY;
    struct closure_costs anew, combined;
    struct closure_sets sets;
    int result = closure_sets_draw(data->order, 2 * count, sizes[size].least,
                                   sizes[size].most, seed, &sets);

    if (result < 0)
        return result;
    result = closure_costs_combine(data->order, false, &sets, options->runs, &anew);
    if (result == 0)
        result =
            closure_costs_combine(data->order, true, &sets, options->runs, &combined);
    closure_sets_fini(&sets);
    if (result < 0)
        return result;
    printf("| %s |", sizes[size].name);
    print_costs(&anew);
    print_costs(&combined);
    putchar('\n');
    return is_same("combining", combined.events, anew.events);
}

static int print_tables(const char *name,
                        const struct data *data,
                        const struct options *options)
{
    static const char *const names[] = {"existing", "step", "binary", "jump"};
    static const char *const ways[] = {"made anew", "combined"};
    size_t count = data->events < MANY_EVENTS ? MANY : FEW;
    uint64_t seed = options->seed;
    int result = 0;

    if (options->count)
        count = options->count;
    printf("\n%s: %" PRIu64 " events, %" PRIu32 " traces; %zu closures, %u runs\n\n",
           name, data->events, es_order_traces(data->order), count, options->runs);
    print_head("events of a set", names, METHODS, " events of a closure |");
    for (unsigned i = 0; i < SIZES && result == 0; i++)
        result = make_row(data, options, count, i, &seed);
    if (result < 0)
        return result;
    putchar('\n');
    print_head("events of each", ways, 2, "");
    for (unsigned i = 0; i < SIZES && result == 0; i++)
        result = combine_row(data, options, i, &seed);
    return result;
}

static int run_set(const char *name, const struct options *options)
{
    struct es_error error = {{0}, 0, 0, {0}};
    struct data data = {.order = NULL};
    int result = load(name, options, &data, &error);

    if (result == 0)
        result = print_tables(name, &data, options);
    if (result < 0)
        fprintf(stderr, "closures: %s: %s\n", name,
                error.text[0] ? error.text : strerror(-result));
    fini(&data);
    return result;
}

/* --- Options ---------------------------------------------------------------------- */

static int usage(void)
{
    fputs("usage: closures_bench [-q] [-r RUNS] [-n CLOSURES] [-s SEED] [-S STORE] "
          "[SET...]\n",
          stderr);
    return 2;
}

/* 1 to 10^6; 0 is an error. */
static uint64_t parse(const char *text)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    return *text == '-' || *end || number > 1000000 ? 0 : number;
}

static int parse_options(int argc, char **argv, struct options *options)
{
    int letter;

    *options = (struct options){.runs = 20, .seed = 1, .store = "dense"};
    while ((letter = getopt(argc, argv, "qr:n:s:S:")) != -1) {
        uint64_t number = strchr("rns", letter) ? parse(optarg) : 1;

        if (letter == '?' || number == 0)
            return -EINVAL;
        if (letter == 'q')
            options->runs = 3;
        else if (letter == 'r')
            options->runs = (unsigned)number;
        else if (letter == 'n')
            options->count = number;
        else if (letter == 's')
            options->seed = number;
        else
            options->store = optarg;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"tcp", "ucpp", "pvm-merge", "pvm-life", NULL};
    struct options options;
    int result = 0;

    if (parse_options(argc, argv, &options) < 0)
        return usage();
    for (int i = optind; i < argc && result == 0; i++)
        result = run_set(argv[i], &options);
    for (unsigned i = 0; optind == argc && all[i] && result == 0; i++)
        result = run_set(all[i], &options);
    return result < 0;
}
