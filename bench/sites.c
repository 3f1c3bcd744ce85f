/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of naming the site of one live tuple among many processes.
 *
 *   sites [PROCESSES]
 *
 * Each tuple is of one of PROCESSES (default 1024) processes on hosts of 32, in turn,
 * or of the only one; both take turns in 31 rounds, of which the fastest counts.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/now.h"
#include "monitors/sites/sites.h"

enum { ROUNDS = 31, TUPLES = 1 << 16, PER_HOST = 32 };

static size_t letters; /* prevents the compiler from removing the calls */

static double name_ns(struct esi_sites *sites, int processes)
{
    uint64_t begin_ns = esi_now_ns(CLOCK_MONOTONIC);

    for (int i = 0; i < TUPLES; i++) {
        int process = i % processes;
        char host[16];
        int number;

        snprintf(host, sizeof host, "node%d", process / PER_HOST);
        number = esi_sites_process(sites, host, 1000 + process % PER_HOST, 1);
        if (number < 0)
            abort();
        letters += (size_t)esi_sites_format_in(sites, number, 0x1000)[0];
    }
    return (double)(esi_now_ns(CLOCK_MONOTONIC) - begin_ns) / TUPLES;
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 1024;
    double best_ns[2] = {1e9, 1e9};
    struct esi_sites *sites[2];

    if (processes < 1 || esi_sites_create(&sites[0]) < 0 ||
        esi_sites_create(&sites[1]) < 0)
        return 2;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            double ns = name_ns(sites[i], i == 0 ? 1 : processes);

            if (ns < best_ns[i])
                best_ns[i] = ns;
        }
    printf("a site of 1 process %.0f ns, of %d processes %.0f ns\n", best_ns[0],
           processes, best_ns[1]);
    printf("figure: sites_process_ratio %.2f ratio\n", best_ns[1] / best_ns[0]);
    esi_sites_destroy(sites[0]);
    esi_sites_destroy(sites[1]);
    return letters == 0;
}
