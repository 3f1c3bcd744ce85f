/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Synthetic event sets of the shapes of those on which Nichols measured pattern
 * searches (3.5, 4.7), and a large one, passed to a sink as an ordered stream.
 *
 *   pattern_set_config_init(&config, "tcp");
 *   pattern_set_stream(&config, &sink, &error);
 *
 * The same configuration produces the same stream.  The files of the makers explain
 * what the thesis states about each set, and what follows from its numbers of matches
 * and comparisons.
 */
#ifndef ES_BENCH_PATTERN_SETS_H
#define ES_BENCH_PATTERN_SETS_H

#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct pattern_set_config {
    const char *name; /* borrowed; of pattern_sets() */
    uint64_t seed;
    uint32_t ranks;  /* of "large" only, 2 or more */
    uint64_t events; /* of "large" only; rounded up to the end of a step */
};

struct pattern_set_help {
    const char *name;
    const char *help;
};

/* Terminated by a row with name NULL. */
const struct pattern_set_help *pattern_sets(void);

/* The seed with which the numbers of matches are those of the thesis; 1,000 ranks and
 * 10^6 events. */
void pattern_set_config_init(struct pattern_set_config *config, const char *name);

/* Streams traces, then events; those of "tcp" are announced when they begin.  Returns
 * 0, the error of the sink, -EINVAL with a text, or -ENOMEM. */
int pattern_set_stream(const struct pattern_set_config *config,
                       const struct es_set_sink *sink,
                       struct es_error *error);

#endif
