/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * compare.h - what two runs do differently: where the time grew, and where they first
 * communicate otherwise (docs/compare.md).
 *
 *   esi_compare_create(&compare);
 *   causality_config.listener = esi_compare_listener(compare, ESI_COMPARE_A);
 *   ...all events of one, then with ESI_COMPARE_B of the other...
 *   esi_compare_finish(compare);
 *
 * The yardstick is how much the runs' own iterations vary: each thread's calls make up
 * to 64 blocks, and a difference counts that nearly all samples of these blocks have
 * (bootstrap.h).  Pure logic; one object is one thread's at a time.
 */
#ifndef ES_MONITORS_COMPARE_COMPARE_H
#define ES_MONITORS_COMPARE_COMPARE_H

#include "monitors/compare/bootstrap.h"
#include "monitors/compare/sequences.h"
#include "monitors/delay/delay.h"
#include "monitors/profile/profile_report.h"

enum esi_compare_run { ESI_COMPARE_A, ESI_COMPARE_B, ESI_COMPARE_RUNS };

struct esi_compare;

/* 0 or -ENOMEM. */
int esi_compare_create(struct esi_compare **ret_compare);
/* Accepts NULL. */
void esi_compare_destroy(struct esi_compare *compare);

/* Takes the events of one of the runs. */
struct esi_causal_listener esi_compare_listener(struct esi_compare *compare,
                                                enum esi_compare_run run);
/* Also compares the runs' profiles.  Borrowed; must outlive the object. */
void esi_compare_set_profile(struct esi_compare *compare,
                             enum esi_compare_run run,
                             const struct esi_profile_report *report);
/* Both are read.  0 or -ENOMEM. */
int esi_compare_finish(struct esi_compare *compare);

/* --- What is found ---------------------------------------------------------------- */

enum esi_compare_metric {
    ESI_COMPARE_WAITED,
    ESI_COMPARE_CAUSED,
    ESI_COMPARE_COMPUTED,
    ESI_COMPARE_CALLED,
    ESI_COMPARE_CRITICAL,
    ESI_COMPARE_TIMES,
    /* Of the profiles; calls without a unit, bytes, nanoseconds in calls. */
    ESI_COMPARE_CALLS = ESI_COMPARE_TIMES,
    ESI_COMPARE_BYTES,
    ESI_COMPARE_TIME,
    ESI_COMPARE_METRICS,
};

/* "waited" and so on. */
const char *esi_compare_metric_name(enum esi_compare_metric metric);

/* Values are nanoseconds but of CALLS and BYTES.  Texts are borrowed. */
struct esi_compare_row {
    enum esi_delay_group group; /* by rank, operation or line */
    int rank;                   /* of a rank, else -1 */
    const char *name;           /* else */
    const char *operation;      /* of a line */
    enum esi_compare_metric metric;
    double a, b;
    struct esi_bootstrap noise;
    bool differs; /* more than chance explains, and by more than 1 % of the run */
};

/* Times; those that differ first, by how much. */
const struct esi_compare_row *esi_compare_rows(const struct esi_compare *compare,
                                               size_t *ret_count);
/* What profiles have, by operation and line; those that differ first, by metric. */
const struct esi_compare_row *esi_compare_profile_rows(
    const struct esi_compare *compare,
    size_t *ret_count);

struct esi_compare_totals {
    struct esi_delay_totals runs[ESI_COMPARE_RUNS];
    size_t differing; /* rows */
    bool profiled;    /* both runs' profiles were compared */
    size_t profile_differing;
    uint64_t alike; /* steps of communication up to where threads first differ */
    bool orders_differ;
    struct esi_sequence_difference first; /* difference of the orders */
};
void esi_compare_totals(const struct esi_compare *compare,
                        struct esi_compare_totals *ret_totals);

#endif
