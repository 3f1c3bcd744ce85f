/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rate_search.h - the search for the settings of a scope that serve its goals best. */
#ifndef ES_SCOPES_RATE_SEARCH_H
#define ES_SCOPES_RATE_SEARCH_H

#include "scopes/rate.h"

/* What settings have cost, on the average of some samples. */
struct esi_rate_measure {
    double hz;          /* pulls a second that were made */
    double possible_hz; /* that the pulls themselves allow: one after the other */
    double share;       /* of a core on the busiest host */
    double tuples_hz;
    double lost_hz;
    double full; /* share of pulls that delivered all they might */
};

enum { ESI_RATE_TRIALS = 40 }; /* settings that one search tries at most */

/* A walk over settings that differ in one thing from the best so far. */
struct esi_rate_search {
    bool active;
    struct esi_rate_settings tried[ESI_RATE_TRIALS];
    size_t tried_count;
    struct esi_rate_settings best;
    struct esi_rate_measure best_measure;
};

/* CPU seconds of a pull on the busiest host. */
double esi_rate_pull_cost(const struct esi_rate_measure *measure);
/* The rate that these settings could be used at under the goals of `config`. */
double esi_rate_reach(const struct esi_rate_config *config,
                      const struct esi_rate_measure *measure);

/* Begins at settings that have been measured. */
void esi_rate_search_start(struct esi_rate_search *search,
                           const struct esi_rate_settings *settings,
                           const struct esi_rate_measure *measure);
/* Takes in what the settings that were tried last have cost. */
void esi_rate_search_judge(struct esi_rate_search *search,
                           const struct esi_rate_config *config,
                           const struct esi_rate_measure *measure);
/* The settings to try next, `servers` being in the tree.  False: there is nothing left
 * to try, the best is found. */
bool esi_rate_search_next(struct esi_rate_search *search,
                          const struct esi_rate_config *config,
                          size_t servers,
                          struct esi_rate_settings *ret_settings);

/* What share of the budget is aimed at, so that what varies stays inside. */
#define ESI_RATE_AIM 0.85

#endif
