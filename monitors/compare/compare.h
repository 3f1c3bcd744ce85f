/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * compare.h - the differences of two runs: where the time increased, and where their
 * communication first differs (docs/compare.md).
 *
 *   esi_compare_create(&compare);
 *   causality_config.listener = esi_compare_listener(compare, ESI_COMPARE_A);
 *   ...all events of one, then with ESI_COMPARE_B of the other...
 *   esi_compare_finish(compare);
 *
 * Differences are compared with the variation within each run: each thread's calls form
 * up to 64 blocks, and a difference is significant if nearly all samples of these
 * blocks show it (bootstrap.h). Pure logic; one thread at a time.
 */
#ifndef ES_MONITORS_COMPARE_COMPARE_H
#define ES_MONITORS_COMPARE_COMPARE_H

#include "monitors/compare/bootstrap.h"
#include "monitors/compare/sequences.h"
#include "monitors/delay/delay.h"
#include "monitors/profile/profile_report.h"

enum esi_compare_run { ESI_COMPARE_A, ESI_COMPARE_B, ESI_COMPARE_RUNS };

struct esi_compare;

/* Returns 0 or -ENOMEM. */
int esi_compare_create(struct esi_compare **ret_compare);
/* Accepts NULL. */
void esi_compare_destroy(struct esi_compare *compare);

/* The input: the events of one of the runs. */
struct esi_causal_listener esi_compare_listener(struct esi_compare *compare,
                                                enum esi_compare_run run);
/* Adds a profile to be compared.  Borrowed; must outlive the object. */
void esi_compare_set_profile(struct esi_compare *compare,
                             enum esi_compare_run run,
                             const struct esi_profile_report *report);
/* Call after both runs were read.  Returns 0 or -ENOMEM. */
int esi_compare_finish(struct esi_compare *compare);

/* --- Results ---------------------------------------------------------------------- */

enum esi_compare_metric {
    ESI_COMPARE_WAITED,
    ESI_COMPARE_CAUSED,
    ESI_COMPARE_COMPUTED,
    ESI_COMPARE_CALLED,
    ESI_COMPARE_CRITICAL,
    ESI_COMPARE_TIMES,
    /* From the profiles: number of calls, bytes, nanoseconds in calls. */
    ESI_COMPARE_CALLS = ESI_COMPARE_TIMES,
    ESI_COMPARE_BYTES,
    ESI_COMPARE_TIME,
    ESI_COMPARE_METRICS,
};

/* "waited" etc. */
const char *esi_compare_metric_name(enum esi_compare_metric metric);

/* Values are nanoseconds except CALLS and BYTES. Texts are borrowed. */
struct esi_compare_row {
    enum esi_delay_group group; /* rank, operation or line */
    int rank;                   /* for a rank, otherwise -1 */
    const char *name;           /* for an operation or line */
    const char *operation;      /* for a line */
    enum esi_compare_metric metric;
    double a, b;
    struct esi_bootstrap noise;
    bool differs; /* beyond chance, and by more than 1 % of the run */
};

/* Rows of times; significant ones first, by size of the difference. */
const struct esi_compare_row *esi_compare_rows(const struct esi_compare *compare,
                                               size_t *ret_count);
/* Rows of the profiles, by operation and line; significant ones first, by metric. */
const struct esi_compare_row *esi_compare_profile_rows(
    const struct esi_compare *compare,
    size_t *ret_count);

struct esi_compare_totals {
    struct esi_delay_totals runs[ESI_COMPARE_RUNS];
    size_t differing; /* number of significant rows */
    bool profiled;    /* the profiles of both runs were compared */
    size_t profile_differing;
    uint64_t alike; /* communication steps before threads first differ */
    bool orders_differ;
    struct esi_sequence_difference first; /* first difference of the orders */
};
void esi_compare_totals(const struct esi_compare *compare,
                        struct esi_compare_totals *ret_totals);

#endif
