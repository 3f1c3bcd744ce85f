/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Medians of rounds, and of the ratios within them. */
#include "config.h"

#include "bench/collective_report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct interval {
    double median;
    double low; /* the true median is between `low` and `high` with 95 % */
    double high;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* From order statistics; the range of all values if they are too few.  Sorts them. */
static struct interval interval_of(double *values, int count)
{
    int rank = 0;
    double chance = 1;
    double below = 0;

    qsort(values, (size_t)count, sizeof *values, compare);
    for (int i = 0; i < count; i++)
        chance /= 2;
    for (; rank < count / 2; rank++) {
        below += chance;
        if (below > 0.025)
            break;
        chance *= (double)(count - rank) / (rank + 1);
    }
    if (rank == 0)
        rank = 1;
    return (struct interval){
        .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
        .low = values[rank - 1],
        .high = values[count - rank],
    };
}

static double time_of(const struct rounds *rounds, int variant)
{
    double values[ROUNDS_MAX];

    memcpy(values, rounds->ns[variant], sizeof *values * (size_t)rounds->count);
    return interval_of(values, rounds->count).median;
}

/* Ratio of the variant's time to the other's, per round. */
static struct interval ratio_of(const struct rounds *rounds, int variant, int other)
{
    double values[ROUNDS_MAX];

    for (int i = 0; i < rounds->count; i++)
        values[i] = rounds->ns[variant][i] / rounds->ns[other][i];
    return interval_of(values, rounds->count);
}

/* The variant that only differs in that edges are not recorded; -1 if none. */
static int quiet_twin(const struct rounds *rounds, int variant)
{
    char name[128];

    snprintf(name, sizeof name, "%s.quiet", rounds->variants[variant]);
    for (int i = 0; i < rounds->variant_count; i++)
        if (strcmp(rounds->variants[i], name) == 0)
            return i;
    return -1;
}

/* --- The table ------------------------------------------------------------------- */

void report_heading(const struct rounds *rounds)
{
    printf("| operation | bytes |");
    for (int i = 0; i < rounds->variant_count; i++)
        printf(" %s, us |%s", rounds->variants[i],
               i == rounds->reference ? "" : " ratio |");
    printf("\n| --- | --- |");
    for (int i = 0; i < rounds->variant_count; i++)
        printf(" --- |%s", i == rounds->reference ? "" : " --- |");
    printf("\n");
}

void report_row(const struct rounds *rounds)
{
    printf("| %s | %zu |", rounds->operation, rounds->bytes);
    for (int i = 0; i < rounds->variant_count; i++) {
        printf(" %.2f |", time_of(rounds, i) / 1e3);
        if (i != rounds->reference)
            printf(" %.2f |", ratio_of(rounds, i, rounds->reference).median);
    }
    printf("\n");
    fflush(stdout);
}

/* --- Figures --------------------------------------------------------------------- */

static void print_figure(FILE *file,
                         const struct rounds *rounds,
                         int variant,
                         const char *what,
                         double value,
                         const char *unit)
{
    char name[128];

    snprintf(name, sizeof name, "%s", rounds->variants[variant]);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    fprintf(file, "figure: %s_%s_%zu_%s_%s %.4f %s\n", rounds->prefix,
            rounds->operation, rounds->bytes, name, what, value, unit);
}

static void print_ratio(FILE *file, const struct rounds *rounds, int variant)
{
    struct interval ratio = ratio_of(rounds, variant, rounds->reference);

    print_figure(file, rounds, variant, "ratio", ratio.median, "ratio");
    print_figure(file, rounds, variant, "ratio_low", ratio.low, "ratio");
    print_figure(file, rounds, variant, "ratio_high", ratio.high, "ratio");
}

static void print_edges(FILE *file, const struct rounds *rounds, int variant, int quiet)
{
    double added[ROUNDS_MAX];

    for (int i = 0; i < rounds->count; i++)
        added[i] = rounds->ns[variant][i] - rounds->ns[quiet][i];
    print_figure(file, rounds, variant, "edges",
                 ratio_of(rounds, variant, quiet).median, "ratio");
    print_figure(file, rounds, variant, "edges_added",
                 interval_of(added, rounds->count).median, "ns");
}

void report_figures(const struct rounds *rounds, FILE *file)
{
    for (int i = 0; i < rounds->variant_count; i++) {
        int quiet = quiet_twin(rounds, i);

        print_figure(file, rounds, i, "time", time_of(rounds, i) / 1e3, "us");
        if (i != rounds->reference)
            print_ratio(file, rounds, i);
        if (quiet >= 0)
            print_edges(file, rounds, i, quiet);
    }
}
