/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Options of the stores of an order. */
#include "config.h"

#include "cli/order/store_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/options.h"
#include "cli/command.h"
#include "monitors/order/cluster/communications.h"
#include "monitors/order/cluster/strategy.h"

enum {
    OPTION_STORE = 256,
    OPTION_STRATEGY,
    OPTION_MAX_SIZE,
    OPTION_LEVELS,
    OPTION_THRESHOLD,
    OPTION_TUNE,
    OPTION_MEMORY,
    OPTION_SPILL,
};

enum { SIZE_STEP = 4 }; /* factor between the cluster sizes of two levels */

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How the order is stored:", 2},
    {"store", OPTION_STORE, "STORE", 0, "its name", 2},
    {"memory", OPTION_MEMORY, "SIZE", 0,
     "of epoch: limit for events before the last cut", 2},
    {"spill", OPTION_SPILL, "DIR", 0, "of epoch: folder for events beyond --memory", 2},
    {"strategy", OPTION_STRATEGY, "STRATEGY", 0,
     "of cluster: fixed, merge-first, merge-nth (default), static, collect, migrate",
     2},
    {"max-size", OPTION_MAX_SIZE, "SIZE[,SIZE...]", 0,
     "of cluster: maximum number of traces (13), by level", 2},
    {"levels", OPTION_LEVELS, "COUNT", OPTION_HIDDEN,
     "of cluster: number of levels below the top", 2},
    {"threshold", OPTION_THRESHOLD, "NUMBER", OPTION_HIDDEN,
     "of merge-nth and migrate: communications (10)", 2},
    {"tune", OPTION_TUNE, "KEY=VALUE,...", OPTION_HIDDEN,
     "for experiments; see the manual", 2},
    {0},
};

static char *help_filter(int key, const char *text, void *input)
{
    char stores[ES_ORDER_STORES];

    (void)input;
    return key == OPTION_STORE ? strdup(esi_order_stores(" (default)", stores))
                               : (char *)text;
}

static void parse_sizes(const char *text,
                        struct esi_store_options *given,
                        struct argp_state *state)
{
    char *copy = strdup(text);
    char *rest = copy;
    const char *word;

    given->sizes = 0;
    while (copy && (word = strsep(&rest, ","))) {
        if (given->sizes == ES_ORDER_LEVELS)
            argp_error(state, "--max-size: there are at most %d levels",
                       ES_ORDER_LEVELS);
        given->cluster.max_sizes[given->sizes++] =
            (uint32_t)esi_option_number(word, "--max-size", 1, INT32_MAX, state);
    }
    free(copy);
}

static bool set_tuning(void *data,
                       const char *key,
                       const char *value,
                       struct argp_state *state)
{
    struct esi_store_options *given = data;

    if (strcmp(key, "fixed-vector") == 0) {
        given->config.fixed_vector =
            (uint32_t)esi_option_number(value, key, 1, INT32_MAX, state);
        return true; /* also valid for other stores */
    }
    given->clusters = true;
    if (strcmp(key, "prefix") == 0)
        given->cluster.prefix =
            (uint64_t)esi_option_number(value, key, 1, INT64_MAX, state);
    else if (strcmp(key, "seed-hosts") == 0)
        given->seed_hosts = esi_option_bool(value, key, state);
    else
        return false;
    return true;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct esi_store_options *given = state->input;
    struct es_error error = {.text = ""};
    int number;

    switch (key) {
    case OPTION_STORE:
        given->config.store = text;
        return 0;
    case OPTION_MEMORY:
        given->config.memory_bytes = esi_option_bytes(text, "--memory", state);
        return 0;
    case OPTION_SPILL:
        given->config.spill_folder = text;
        return 0;
    case OPTION_TUNE:
        esi_option_settings(text, "--tune", state, set_tuning, given);
        return 0;
    case OPTION_STRATEGY: /* a number after the name is its threshold or prefix */
        number = esi_strategy_parse(text, &given->cluster, &error);
        if (number < 0)
            argp_error(state, "--strategy: %s", error.text);
        given->threshold |= number == ES_STRATEGY_THRESHOLD;
        break;
    case OPTION_MAX_SIZE:
        parse_sizes(text, given, state);
        break;
    case OPTION_LEVELS:
        given->cluster.levels =
            (unsigned)esi_option_number(text, "--levels", 1, ES_ORDER_LEVELS, state);
        break;
    case OPTION_THRESHOLD:
        if (esi_strategy_parse_threshold(text, &given->cluster, &error) < 0)
            argp_error(state, "--threshold: %s", error.text);
        given->threshold = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    given->clusters = true;
    return 0;
}

const struct argp esi_store_options_argp = {.options = options,
                                            .parser = parse_option,
                                            .help_filter = help_filter};

/* Sets the sizes of levels that were not given. */
static void fill_sizes(struct esi_store_options *given, struct argp_state *state)
{
    struct esi_cluster_tuning *tuning = &given->cluster;
    unsigned sizes = given->sizes ? given->sizes : 1;

    if (tuning->levels == 0)
        tuning->levels = sizes;
    if (sizes > tuning->levels)
        argp_error(state, "--max-size has %u sizes, but --levels is %u", sizes,
                   tuning->levels);
    for (unsigned i = sizes; i < tuning->levels; i++) {
        uint64_t size = (uint64_t)tuning->max_sizes[i - 1] * SIZE_STEP;

        tuning->max_sizes[i] = size > INT32_MAX ? INT32_MAX : (uint32_t)size;
    }
}

static void check_clusters(struct esi_store_options *given, struct argp_state *state)
{
    struct esi_order_config *config = &given->config;
    const struct esi_clustering_ops *strategy =
        esi_strategy_find(given->cluster.strategy, NULL);

    if (given->clusters && !config->store)
        config->store = "cluster";
    if (given->clusters && strcmp(config->store, "cluster") != 0)
        argp_error(state, "--store %s has no clusters", config->store);
    if (given->threshold && strategy->number != ES_STRATEGY_THRESHOLD)
        argp_error(state, "--threshold needs --strategy merge-nth or migrate");
    if (given->cluster.prefix && strategy->number != ES_STRATEGY_PREFIX)
        argp_error(state, "--tune prefix needs --strategy collect");
    if (!given->cluster.prefix && strategy->number == ES_STRATEGY_PREFIX)
        argp_error(state, "--strategy collect needs a prefix, such as collect:1000");
    if (given->seed_hosts && !strategy->takes_seeds)
        argp_error(
            state,
            "--tune seed-hosts needs --strategy merge-first, merge-nth or migrate");
    fill_sizes(given, state);
    if (config->store && strcmp(config->store, "cluster") == 0)
        config->tuning = &given->cluster;
}

void esi_store_options_check(struct esi_store_options *given, struct argp_state *state)
{
    const struct esi_order_config *config = &given->config;

    check_clusters(given, state);
    if (config->memory_bytes && config->store && strcmp(config->store, "epoch") != 0)
        argp_error(state, "--memory needs --store epoch");
    if (config->spill_folder && !config->memory_bytes)
        argp_error(state, "--spill needs --memory");
    if (config->spill_folder && access(config->spill_folder, W_OK | X_OK) < 0)
        argp_error(state, "--spill: %s: %s", config->spill_folder, strerror(errno));
}

/* --- First pass over the events --------------------------------------------------- */

#define NO_HOST UINT32_MAX

static int add_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_store_options *given = data;

    (void)trace;
    (void)name;
    if (ESI_ARRAY_RESERVE(given->host_of, given->capacity, given->traces + 1) < 0)
        return -ENOMEM;
    given->host_of[given->traces++] = NO_HOST;
    return 0;
}

static int note_host(void *data, const struct es_set_event *event)
{
    struct esi_store_options *given = data;
    uint32_t *host = &given->host_of[event->id.trace];

    for (size_t i = 0; *host == NO_HOST && i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];

        if (strcmp(attribute->name, "host") == 0 && attribute->text)
            return esi_texts_add(&given->hosts, attribute->text,
                                 strlen(attribute->text), host);
    }
    return 0;
}

int esi_store_options_prepare(struct esi_store_options *given,
                              struct esi_event_source *source)
{
    struct esi_cluster_tuning *tuning = &given->cluster;
    struct es_set_sink sinks[2];
    size_t count = 0;
    uint32_t next;
    int status;

    if (given->seed_hosts)
        sinks[count++] =
            (struct es_set_sink){.trace = add_trace, .event = note_host, .data = given};
    if (esi_strategy_find(tuning->strategy, NULL)->needs_communications) {
        if (esi_communications_create(&given->communications) < 0)
            return esi_command_fail(ES_EXIT_USAGE, "no memory");
        sinks[count++] = esi_communications_sink(given->communications);
    }
    if (count == 0)
        return ES_EXIT_SUCCESS;
    status = esi_event_source_keep(source);
    if (status == ES_EXIT_SUCCESS)
        status = esi_event_source_read(source, given->seed_hosts, sinks, count, NULL);
    /* Each trace without a host gets a number of its own. */
    next = esi_texts_count(&given->hosts);
    for (size_t i = 0; i < given->traces; i++)
        if (given->host_of[i] == NO_HOST)
            given->host_of[i] = next++;
    tuning->communications = given->communications;
    tuning->seeds = given->host_of;
    tuning->seed_count = given->traces;
    return status;
}

void esi_store_options_init(struct esi_store_options *given)
{
    *given = (struct esi_store_options){.cluster = esi_cluster_defaults};
    given->cluster.levels = 0; /* as many as sizes */
    esi_texts_init(&given->hosts);
}

void esi_store_options_fini(struct esi_store_options *given)
{
    esi_communications_destroy(given->communications);
    esi_texts_fini(&given->hosts);
    free(given->host_of);
}
