/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Made event sets of the shape of those on which Nichols measured searches of patterns
 * (3.5, 4.7), and a large one, given to a sink as an ordered stream.
 *
 *   pattern_set_config_init(&config, "tcp");
 *   pattern_set_stream(&config, &sink, &error);
 *
 * The same configuration gives the same stream.  What the thesis says of each set, and
 * what follows from its counts of matches and of comparisons, is said in the files that
 * make them.
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
    uint64_t events; /* of "large" only: some more come, to the end of a step */
};

struct pattern_set_help {
    const char *name;
    const char *help;
};

/* Ended by a name that is NULL. */
const struct pattern_set_help *pattern_sets(void);

/* The seed for which the sets' matches are those of the thesis; 1,000 ranks and 10^6
 * events. */
void pattern_set_config_init(struct pattern_set_config *config, const char *name);

/* Traces, then events; of "tcp" traces are told when they begin.  0, what the sink
 * gave, -EINVAL with words, -ENOMEM. */
int pattern_set_stream(const struct pattern_set_config *config,
                       const struct es_set_sink *sink,
                       struct es_error *error);

#endif
