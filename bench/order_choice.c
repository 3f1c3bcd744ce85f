/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_choice.c - parses configurations of stores, and creates orders from them. */
#include "config.h"

#include "bench/order_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "monitors/order/cluster/communications.h"

/* Parses "13" or "13/50/200". */
static int parse_sizes(struct esi_cluster_tuning *tuning, const char *text)
{
    tuning->levels = 0;
    while (tuning->levels < ES_ORDER_LEVELS) {
        char *end;

        tuning->max_sizes[tuning->levels++] = (uint32_t)strtoul(text, &end, 10);
        if (*end == '\0')
            return 0;
        if (*end != '/')
            return -EINVAL;
        text = end + 1;
    }
    return -EINVAL;
}

static int parse_option(struct order_choice *choice,
                        const char *name,
                        const char *value)
{
    struct esi_order_config *config = &choice->config;
    struct esi_cluster_tuning *tuning = &choice->cluster;

    if (strcmp(name, "max") == 0)
        return parse_sizes(tuning, value);
    if (strcmp(name, "strategy") == 0)
        tuning->strategy = value;
    else if (strcmp(name, "threshold") == 0)
        tuning->threshold = strtod(value, NULL);
    else if (strcmp(name, "prefix") == 0)
        tuning->prefix = strtoull(value, NULL, 10);
    else if (strcmp(name, "vector") == 0)
        config->fixed_vector = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "memory") == 0)
        config->memory_bytes = strtoull(value, NULL, 10) << 20;
    else
        return -EINVAL;
    return 0;
}

int order_choice_parse(const char *text,
                       struct order_choice *ret_choice,
                       struct es_error *error)
{
    char *option, *rest = ret_choice->words;

    *ret_choice = (struct order_choice){.text = text, .cluster = esi_cluster_defaults};
    if (strlen(text) >= sizeof ret_choice->words)
        return es_error_set(error, -EINVAL, "'%s' is too long", text);
    snprintf(ret_choice->words, sizeof ret_choice->words, "%s", text);
    ret_choice->config.store = strsep(&rest, ":");
    if (strcmp(ret_choice->config.store, "cluster") == 0)
        ret_choice->config.tuning = &ret_choice->cluster;
    while ((option = strsep(&rest, ",")) != NULL) {
        char *value = option;
        const char *name = strsep(&value, "=");

        if (!value || parse_option(ret_choice, name, value) < 0)
            return es_error_set(error, -EINVAL, "'%s' of '%s': expected KEY=VALUE",
                                name, text);
    }
    return 0;
}

static int count_communications(const struct order_load_config *load,
                                struct es_error *error,
                                struct esi_communications **ret_counts)
{
    struct es_set_sink sink;
    int code = esi_communications_create(ret_counts);

    if (code < 0)
        return es_error_set(error, code, "%s", strerror(-code));
    sink = esi_communications_sink(*ret_counts);
    code = order_load_stream(load, &sink, error);
    if (code < 0)
        esi_communications_destroy(*ret_counts);
    return code;
}

/* Streams the load into a new order. */
static int fill(struct es_order *order,
                const struct order_load_config *load,
                struct es_error *error,
                uint64_t *ret_ns)
{
    struct es_set_sink sink = es_order_sink(order);
    uint64_t begin_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    int code = order_load_stream(load, &sink, error);

    *ret_ns = esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
    return code;
}

int order_choice_fill(const struct order_choice *choice,
                      const struct order_load_config *load,
                      struct es_error *error,
                      struct es_order **ret_order,
                      uint64_t *ret_ns)
{
    struct esi_order_config config = choice->config;
    struct esi_cluster_tuning tuning = choice->cluster;
    struct esi_communications *counts = NULL;
    struct es_order *order;
    int code = 0;

    if (strcmp(tuning.strategy, "static") == 0)
        code = count_communications(load, error, &counts);
    if (code < 0)
        return code;
    tuning.communications = counts;
    if (config.tuning)
        config.tuning = &tuning;
    code = esi_order_create(&config, error, &order);
    esi_communications_destroy(counts);
    if (code < 0)
        return code;
    code = fill(order, load, error, ret_ns);
    if (code < 0) {
        es_order_destroy(order);
        return code;
    }
    *ret_order = order;
    return 0;
}
