/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_show.h - what an order holds and what it takes, for people and programs. */
#ifndef ES_CLI_ORDER_SHOW_H
#define ES_CLI_ORDER_SHOW_H

#include "cli/command.h"
#include "cli/unmatched.h"
#include "monitors/order/order.h"
#include "monitors/causality/set_source.h"

/* `config` is what the order was made with, `facts` and `unmatched` are what was said
 * of its source; building it took `time_ns`. */
void esi_order_show(const struct es_order *order,
                    const struct esi_order_config *config,
                    const struct esi_set_source_facts *facts,
                    const struct esi_unmatched *unmatched,
                    uint64_t time_ns,
                    enum esi_format format);

#endif
