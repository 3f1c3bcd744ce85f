/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * strategy.h - names of strategies of clusters as people write them: ours, the papers'
 * short ones, and either with its number behind a colon ("nth:10").
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_STRATEGY_H
#define ES_MONITORS_ORDER_CLUSTER_STRATEGY_H

#include "eventspace/error.h"
#include "monitors/order/order.h"

enum esi_strategy_number {
    ES_STRATEGY_NO_NUMBER,
    ES_STRATEGY_THRESHOLD, /* communications: a number of 0 or more */
    ES_STRATEGY_PREFIX,    /* events: a whole number of 1 or more */
};

/* Sets `strategy` of the configuration, and `threshold` or `prefix` if a number stands
 * behind the name: which one is returned, enum esi_strategy_number.  -EINVAL with
 * words,
 * also for the name that is nearest: nothing is set. */
int esi_strategy_parse(const char *text,
                       struct esi_order_config *config,
                       struct es_error *error);

/* Sets `threshold`.  ES_STRATEGY_THRESHOLD; -EINVAL with words: it is no number of 0 or
 * more. */
int esi_strategy_parse_threshold(const char *number,
                                 struct esi_order_config *config,
                                 struct es_error *error);

#endif
