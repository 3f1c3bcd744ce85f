/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rate_search.h - searches for the settings of a scope that serve its goals best. */
#ifndef ES_SCOPES_RATE_SEARCH_H
#define ES_SCOPES_RATE_SEARCH_H

#include "scopes/rate.h"

/* The measured cost of settings, averaged over some samples. */
struct esi_rate_measure {
    double hz;          /* pulls per second */
    double possible_hz; /* upper limit of `hz`: pulls without pauses */
    double share;       /* of a core on the busiest host */
    double tuples_hz;
    double lost_hz;
    double full; /* share of pulls that returned `max` tuples */
};

enum { ESI_RATE_TRIALS = 40 }; /* most settings tried by one search */

/* A local search over settings that differ in one respect from the best so far. */
struct esi_rate_search {
    bool active;
    struct esi_rate_settings tried[ESI_RATE_TRIALS];
    size_t tried_count;
    struct esi_rate_settings best;
    struct esi_rate_measure best_measure;
};

/* CPU seconds of a pull on the busiest host. */
double esi_rate_pull_cost(const struct esi_rate_measure *measure);
/* The rate that these settings can reach under the goals of `config`. */
double esi_rate_reach(const struct esi_rate_config *config,
                      const struct esi_rate_measure *measure);

/* Starts from settings that have been measured. */
void esi_rate_search_start(struct esi_rate_search *search,
                           const struct esi_rate_settings *settings,
                           const struct esi_rate_measure *measure);
/* Evaluates the measure of the settings tried last. */
void esi_rate_search_judge(struct esi_rate_search *search,
                           const struct esi_rate_config *config,
                           const struct esi_rate_measure *measure);
/* The settings to try next, with `servers` in the tree.  Returns false if there are
 * none, and the best are found. */
bool esi_rate_search_next(struct esi_rate_search *search,
                          const struct esi_rate_config *config,
                          size_t servers,
                          struct esi_rate_settings *ret_settings);

/* The share of the budget aimed at, so that variations stay within the budget. */
#define ESI_RATE_AIM 0.85

#endif
