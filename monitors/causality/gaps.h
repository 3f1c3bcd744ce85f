/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * gaps.h - when operations of a run are missing, because they were overwritten before
 * they were read.
 *
 * In a gap of one thread nothing is known of this thread: neither that it computed, nor
 * what it waited for; so sums over a run leave the gap out for all its threads.
 * Causality finds the gaps (causality.h, struct esi_causal_listener).
 */
#ifndef ES_MONITORS_CAUSALITY_GAPS_H
#define ES_MONITORS_CAUSALITY_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_gap {
    uint64_t begin_ns; /* run time */
    uint64_t end_ns;
};

/* In order, without overlap.  Zero is an empty set. */
struct esi_gaps {
    struct esi_gap *items; /* owned */
    size_t count, capacity;
};

void esi_gaps_fini(struct esi_gaps *gaps);

/* Adds a gap; merges it with those that it overlaps or touches.  A gap that ends before
 * it begins is ignored.  Returns 0 or -ENOMEM. */
int esi_gaps_add(struct esi_gaps *gaps, uint64_t begin_ns, uint64_t end_ns);

/* The end of the last gap that begins before `ns`; 0 = none.  O(log n). */
uint64_t esi_gaps_end_before(const struct esi_gaps *gaps, uint64_t ns);

/* The part of an interval that lies in gaps.  O(log n + gaps in it). */
uint64_t esi_gaps_overlap(const struct esi_gaps *gaps,
                          uint64_t begin_ns,
                          uint64_t end_ns);

/* How much of a run is seen. */
struct esi_coverage {
    uint64_t begin_ns; /* run time; 0 = not known */
    uint64_t end_ns;
    uint64_t from_ns; /* before, everything is in a gap */
    uint64_t seen_ns; /* duration without gaps */
};

/* For a run of which something is seen from `begin_ns` to `end_ns`; the first gap may
 * begin earlier. */
struct esi_coverage esi_gaps_coverage(const struct esi_gaps *gaps,
                                      uint64_t begin_ns,
                                      uint64_t end_ns);

enum { ESI_COVERAGE_BYTES = 256 };

/* For the first line of a report: "the last 0.7 s of 11.9 s: ...".  Returns false, and
 * an empty text, if nothing is missing. */
bool esi_coverage_describe(const struct esi_coverage *seen,
                           char ret_text[ESI_COVERAGE_BYTES]);

#endif
