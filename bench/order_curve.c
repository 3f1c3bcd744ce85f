/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The size of cluster timestamps relative to Fidge/Mattern vectors, by maximum cluster
 * size: one line per store and size, for bench/order_curves.py.
 *
 *   bench/order_curve -p life -n 300 -e 30000 -f 2 -t 50 cluster:strategy=static
 *
 * The columns are separated by tabs: load, store, size, then the ratios to vectors as
 * long as there are traces (actual), to fixed ones (fixed), and both for communication
 * events only; clusters; cluster receives; events.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/order_choice.h"

struct curve {
    struct order_load_config load;
    uint64_t from, to; /* sizes */
};

static void print_row(const struct curve *curve,
                      const char *store,
                      uint32_t size,
                      const struct esi_order_statistics *statistics)
{
    struct esi_order_ratios ratios;

    esi_order_ratios(statistics, &ratios);
    printf("%s%s\t%s\t%" PRIu32 "\t%.6f\t%.6f\t%.6f\t%.6f\t%" PRIu64 "\t%" PRIu64
           "\t%" PRIu64 "\n",
           curve->load.pattern, curve->load.every ? "+collectives" : "", store, size,
           ratios.actual, ratios.fixed, ratios.communication_actual,
           ratios.communication_fixed, statistics->clusters[0],
           statistics->cluster_receives[0], statistics->events);
}

/* Measures one store with one size. */
static int measure(const struct curve *curve,
                   const char *store,
                   uint32_t size,
                   struct es_error *error)
{
    struct esi_order_statistics statistics;
    struct order_choice choice;
    struct es_order *order;
    uint64_t ns;
    int code = order_choice_parse(store, &choice, error);

    if (code < 0)
        return code;
    choice.cluster.levels = 1;
    choice.cluster.max_sizes[0] = size;
    code = order_choice_fill(&choice, &curve->load, error, &order, &ns);
    if (code < 0)
        return code;
    esi_order_statistics(order, &statistics);
    print_row(curve, store, size, &statistics);
    es_order_destroy(order);
    return 0;
}

static bool parse(struct curve *curve, int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, ORDER_LOAD_OPTIONS "f:t:")) != -1) {
        bool is_right;

        if (option == 'f')
            is_right = order_load_number(optarg, &curve->from);
        else if (option == 't')
            is_right = order_load_number(optarg, &curve->to);
        else
            is_right = option != '?' && order_load_option(&curve->load, option, optarg);
        if (!is_right)
            return false;
    }
    return optind < argc && curve->from >= 1 && curve->to <= 100000;
}

int main(int argc, char **argv)
{
    struct curve curve = {
        .load = {.pattern = "stencil", .ranks = 300, .events = 30000, .seed = 1},
        .from = 2,
        .to = 50};
    struct es_error error = {.text = ""};

    if (!parse(&curve, argc, argv)) {
        fprintf(stderr, "usage: order_curve " ORDER_LOAD_USAGE
                        " [-f SIZE] [-t SIZE] STORE[:KEY=VALUE,...]...\n");
        return 2;
    }
    for (char **store = &argv[optind]; *store; store++)
        for (uint64_t size = curve.from; size <= curve.to; size++)
            if (measure(&curve, *store, (uint32_t)size, &error) < 0) {
                fprintf(stderr, "order_curve: %s\n", error.text);
                return 2;
            }
    return 0;
}
