/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* strategy.c - the table of strategies. */
#include "config.h"

#include "monitors/order/cluster/strategy.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

enum { NAME_BYTES = 32 };

static const struct esi_clustering_ops *const strategies[] = {
    &esi_clustering_fixed,  &esi_clustering_merge_first, &esi_clustering_merge_nth,
    &esi_clustering_static, &esi_clustering_collect,     &esi_clustering_migrate,
};

enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };

const struct esi_clustering_ops *esi_strategy_find(const char *name,
                                                   struct es_error *error)
{
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < STRATEGIES; i++) {
        const char *alias = strategies[i]->alias;

        if (strcmp(strategies[i]->name, name) == 0 ||
            (alias && strcmp(alias, name) == 0))
            return strategies[i];
        esi_nearest_try(&nearest, strategies[i]->name);
        if (alias)
            esi_nearest_try(&nearest, alias);
    }
    es_error_set(error, -EINVAL,
                 "no strategy of clusters is named '%s'%s%s%s; expected fixed "
                 "(contiguous), merge-first (first), merge-nth (nth), "
                 "static (greedy), collect or migrate",
                 name, nearest.name ? ", did you mean '" : "",
                 nearest.name ? nearest.name : "", nearest.name ? "'" : "");
    return NULL;
}

int esi_strategy_parse_threshold(const char *number,
                                 struct esi_cluster_tuning *tuning,
                                 struct es_error *error)
{
    char *end;
    double threshold = strtod(number, &end);

    if (end == number || *end || !(threshold >= 0) || threshold > 1e15)
        return es_error_set(error, -EINVAL, "'%s' is not a number of communications",
                            number);
    tuning->threshold = threshold;
    return ES_STRATEGY_THRESHOLD;
}

static int set_prefix(const char *number,
                      struct esi_cluster_tuning *tuning,
                      struct es_error *error)
{
    char *end;
    long long prefix;

    errno = 0;
    prefix = strtoll(number, &end, 10);
    if (errno || !isdigit((unsigned char)*number) || *end || prefix < 1)
        return es_error_set(error, -EINVAL, "'%s' is not a number of events", number);
    tuning->prefix = (uint64_t)prefix;
    return ES_STRATEGY_PREFIX;
}

int esi_strategy_parse(const char *text,
                       struct esi_cluster_tuning *tuning,
                       struct es_error *error)
{
    size_t length = strcspn(text, ":");
    const char *number = text[length] ? &text[length + 1] : NULL;
    const struct esi_clustering_ops *strategy;
    char name[NAME_BYTES];
    int result = ES_STRATEGY_NO_NUMBER;

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    strategy =
        esi_strategy_find(length > 0 && length < sizeof name ? name : text, error);
    if (!strategy)
        return -EINVAL;
    if (number && strategy->number == ES_STRATEGY_THRESHOLD)
        result = esi_strategy_parse_threshold(number, tuning, error);
    else if (number && strategy->number == ES_STRATEGY_PREFIX)
        result = set_prefix(number, tuning, error);
    else if (number)
        result =
            es_error_set(error, -EINVAL, "the strategy '%s' has no number, found ':%s'",
                         name, number);
    if (result >= 0)
        tuning->strategy = strategy->name;
    return result;
}
