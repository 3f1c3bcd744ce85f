/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* strategy.c - a table of the names of strategies. */
#include "config.h"

#include "monitors/order/cluster/strategy.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

enum { NAME_BYTES = 32 };

static const struct strategy_name {
    const char *name;
    const char *strategy; /* name in esi_order_config */
    enum esi_strategy_number number;
} strategy_names[] = {
    {"fixed", "fixed", ES_STRATEGY_NO_NUMBER},
    {"contiguous", "fixed", ES_STRATEGY_NO_NUMBER},
    {"merge-first", "merge-first", ES_STRATEGY_NO_NUMBER},
    {"first", "merge-first", ES_STRATEGY_NO_NUMBER},
    {"merge-nth", "merge-nth", ES_STRATEGY_THRESHOLD},
    {"nth", "merge-nth", ES_STRATEGY_THRESHOLD},
    {"static", "static", ES_STRATEGY_NO_NUMBER},
    {"greedy", "static", ES_STRATEGY_NO_NUMBER},
    {"collect", "collect", ES_STRATEGY_PREFIX},
    {"migrate", "migrate", ES_STRATEGY_THRESHOLD},
};

enum { NAMES = sizeof strategy_names / sizeof strategy_names[0] };

static const struct strategy_name *find_name(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(strategy_names[i].name, name) == 0)
            return &strategy_names[i];
    return NULL;
}

static int fail_name(const char *name, struct es_error *error)
{
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < NAMES; i++)
        esi_nearest_try(&nearest, strategy_names[i].name);
    return es_error_set(error, -EINVAL,
                        "no strategy of clusters is named '%s'%s%s%s; expected fixed "
                        "(contiguous), merge-first (first), merge-nth (nth), "
                        "static (greedy), collect or migrate",
                        name, nearest.name ? ", did you mean '" : "",
                        nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

int esi_strategy_parse_threshold(const char *number,
                                 struct esi_order_config *config,
                                 struct es_error *error)
{
    char *end;
    double threshold = strtod(number, &end);

    if (end == number || *end || !(threshold >= 0) || threshold > 1e15)
        return es_error_set(error, -EINVAL, "'%s' is not a number of communications",
                            number);
    config->threshold = threshold;
    return ES_STRATEGY_THRESHOLD;
}

static int set_prefix(const char *number,
                      struct esi_order_config *config,
                      struct es_error *error)
{
    char *end;
    long long prefix;

    errno = 0;
    prefix = strtoll(number, &end, 10);
    if (errno || !isdigit((unsigned char)*number) || *end || prefix < 1)
        return es_error_set(error, -EINVAL, "'%s' is not a number of events", number);
    config->prefix = (uint64_t)prefix;
    return ES_STRATEGY_PREFIX;
}

static int set_number(const struct strategy_name *name,
                      const char *number,
                      struct esi_order_config *config,
                      struct es_error *error)
{
    switch (name->number) {
    case ES_STRATEGY_THRESHOLD:
        return esi_strategy_parse_threshold(number, config, error);
    case ES_STRATEGY_PREFIX:
        return set_prefix(number, config, error);
    case ES_STRATEGY_NO_NUMBER:
        break;
    }
    return es_error_set(error, -EINVAL, "the strategy '%s' has no number, found ':%s'",
                        name->name, number);
}

int esi_strategy_parse(const char *text,
                       struct esi_order_config *config,
                       struct es_error *error)
{
    const char *colon = strchrnul(text, ':');
    const struct strategy_name *found = NULL;
    char name[NAME_BYTES] = "";
    int result = ES_STRATEGY_NO_NUMBER;

    if ((size_t)(colon - text) < sizeof name) {
        memcpy(name, text, (size_t)(colon - text));
        found = find_name(name);
    }
    if (!found)
        return fail_name(*name ? name : text, error);
    if (*colon)
        result = set_number(found, colon + 1, config, error);
    if (result >= 0)
        config->strategy = found->strategy;
    return result;
}
