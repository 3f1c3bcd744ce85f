/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_open.c - an order with the settings that are of use outside experiments. */
#include "config.h"

#include "eventspace/order.h"

#include <errno.h>
#include <string.h>

#include "monitors/order/order.h"

int es_order_open(const char *store,
                  uint64_t memory_bytes,
                  const char *spill_folder,
                  struct es_error *error,
                  struct es_order **ret_order)
{
    struct esi_order_config config;
    int result;

    esi_order_config_init(&config);
    config.store = store;
    config.memory_bytes = memory_bytes;
    config.spill_folder = spill_folder;
    result = esi_order_create(&config, error, ret_order);
    return result < 0 ? es_error_set(error, result, "%s", strerror(-result)) : 0;
}
