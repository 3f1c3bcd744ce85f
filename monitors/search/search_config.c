/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_config.c - the default settings of a search, and its early end. */
#include "config.h"

#include "monitors/search/search.h"

#include <stddef.h>

#include "base/now.h"

void esi_search_config_init(struct esi_search_config *config)
{
    *config = (struct esi_search_config){.threads = 1};
}

bool esi_search_is_over(const struct esi_search_config *config)
{
    return (config->is_cancelled &&
            atomic_load_explicit(config->is_cancelled, memory_order_relaxed)) ||
           (config->deadline_ns && esi_now_ns(CLOCK_MONOTONIC) >= config->deadline_ns);
}
