/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * strategy.h - parses names of clustering strategies: our names, the short names of the
 * papers, and either with a number after a colon ("nth:10").
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_STRATEGY_H
#define ES_MONITORS_ORDER_CLUSTER_STRATEGY_H

#include "eventspace/error.h"
#include "monitors/order/cluster/clustering.h"

/* Finds a strategy by its name or alias.  If there is none, returns NULL with a
 * message, which suggests the nearest name. */
const struct esi_clustering_ops *esi_strategy_find(const char *name,
                                                   struct es_error *error);

/* Sets `strategy` and, if a number follows the name, `threshold` or `prefix`.  Returns
 * which of the two was set, an enum esi_strategy_number.  If the text is invalid, sets
 * nothing and returns -EINVAL with a message, which suggests the nearest name. */
int esi_strategy_parse(const char *text,
                       struct esi_cluster_tuning *tuning,
                       struct es_error *error);

/* Sets `threshold`.  Returns ES_STRATEGY_THRESHOLD, or -EINVAL with a message unless
 * `number` is 0 or more. */
int esi_strategy_parse_threshold(const char *number,
                                 struct esi_cluster_tuning *tuning,
                                 struct es_error *error);

#endif
