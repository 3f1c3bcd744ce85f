/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_config.c - the settings of a scope as people write them: one table says their
 * names, what they may be and which field they are. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/scope.h"
#include "base/nearest.h"

#define SECOND_NS INT64_C(1000000000)

enum setting {
    SETTING_SHAPE,
    SETTING_LEVELS,
    SETTING_FAN_OUT,
    SETTING_MODE,
    SETTING_THREADS,
    SETTING_AHEAD,
    SETTING_JOINTS,
    SETTING_REDUCE,
    SETTING_BATCH,
    SETTING_BATCH_WAIT,
    SETTING_LIMIT,
    SETTING_NODES,
    SETTING_NODE_THREADS,
    SETTING_THROUGH_SERVER,
    SETTING_OBSERVE,
    SETTING_SORT,
    SETTING_WINDOW,
    SETTING_MAX,
    SETTING_LOSSLESS,
    SETTING_COUNT,
};

enum { LONGEST_TEXT = 4095 };

static const char *const shapes[] = {
    [ES_SHAPE_VIEWS] = "views",   [ES_SHAPE_FLAT] = "flat",
    [ES_SHAPE_HOSTS] = "hosts",   [ES_SHAPE_KARY] = "kary",
    [ES_SHAPE_LEVELS] = "levels", [ES_SHAPE_LEVELS + 1] = NULL};
static const char *const modes[] =
    {[ES_MODE_CONCURRENT] = "concurrent", [ES_MODE_SEQUENTIAL] = "sequential", NULL};
static const char *const sortings[] = {[ES_SORTING_NONE] = "none",
                                       [ES_SORTING_STOP] = "stop",
                                       [ES_SORTING_START] = "start",
                                       NULL};

/* Bit number `index` of enum es_level. */
static const char *const level_names[] = {"thread", "socket", "host", "cluster",
                                          "gateway"};
enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

/* What may be written.  The fallbacks are only what the parser of properties wants: the
 * defaults are es_scope_config_init()'s. */
static const struct es_property_schema schema[SETTING_COUNT] = {
    [SETTING_SHAPE] = {.name = "shape",
                       .type = ES_PROPERTY_CHOICE,
                       .fallback = "views",
                       .choices = shapes,
                       .help = "how the tree is laid out"},
    [SETTING_LEVELS] = {.name = "levels",
                        .type = ES_PROPERTY_TEXT,
                        .fallback = "all",
                        .minimum = 1,
                        .maximum = LONGEST_TEXT,
                        .help = "what has joints in the shape \"levels\""},
    [SETTING_FAN_OUT] = {.name = "fan-out",
                         .type = ES_PROPERTY_INTEGER,
                         .fallback = "0",
                         .maximum = 1 << 20,
                         .help = "most children of a joint of hosts; 0 = any number"},
    [SETTING_MODE] = {.name = "mode",
                      .type = ES_PROPERTY_CHOICE,
                      .fallback = "concurrent",
                      .choices = modes,
                      .help = "whether all servers are asked before one is awaited"},
    [SETTING_THREADS] = {.name = "threads",
                         .type = ES_PROPERTY_INTEGER,
                         .fallback = "0",
                         .maximum = 64,
                         .help =
                             "that pull at the same time; 0 = the consumer's alone"},
    [SETTING_AHEAD] = {.name = "ahead",
                       .type = ES_PROPERTY_INTEGER,
                       .fallback = "0",
                       .maximum = 64,
                       .help = "pulls in flight to a server beyond the one awaited"},
    [SETTING_JOINTS] = {.name = "joints",
                        .type = ES_PROPERTY_TEXT,
                        .fallback = "",
                        .maximum = LONGEST_TEXT,
                        .help = "hosts for joints of several hosts, with commas"},
    [SETTING_REDUCE] = {.name = "reduce",
                        .type = ES_PROPERTY_TEXT,
                        .fallback = "",
                        .maximum = LONGEST_TEXT,
                        .help = "reduction of each thread's tuples, or none"},
    [SETTING_BATCH] = {.name = "batch",
                       .type = ES_PROPERTY_INTEGER,
                       .fallback = "0",
                       .maximum = INT64_C(1) << 30,
                       .help = "tuples a server collects before it answers"},
    [SETTING_BATCH_WAIT] = {.name = "batch-wait",
                            .type = ES_PROPERTY_DURATION,
                            .fallback = "0",
                            .maximum = 3600 * SECOND_NS,
                            .help = "how long it waits for them at most"},
    [SETTING_LIMIT] = {.name = "limit",
                       .type = ES_PROPERTY_DURATION,
                       .fallback = "5s",
                       .minimum = INT64_C(1000000),
                       .maximum = 3600 * SECOND_NS,
                       .help = "how long a server may take to answer"},
    [SETTING_NODES] = {.name = "nodes",
                       .type = ES_PROPERTY_BOOLEAN,
                       .fallback = "no",
                       .help = "nodes of collective trees are analysed on their hosts"},
    [SETTING_NODE_THREADS] = {.name = "node-threads",
                              .type = ES_PROPERTY_INTEGER,
                              .fallback = "0",
                              .maximum = 256,
                              .help = "that do this on each host; 0 = the server's"},
    [SETTING_THROUGH_SERVER] = {.name = "through-server",
                                .type = ES_PROPERTY_BOOLEAN,
                                .fallback = "no",
                                .help = "this host's elements, too, are read by its "
                                        "tuple server"},
    [SETTING_OBSERVE] = {.name = "observe",
                         .type = ES_PROPERTY_TEXT,
                         .fallback = "",
                         .maximum = LONGEST_TEXT,
                         .help = "stages that carry collectors: hosts, joints, all"},
    [SETTING_SORT] = {.name = "sort",
                      .type = ES_PROPERTY_CHOICE,
                      .fallback = "none",
                      .choices = sortings,
                      .help = "the time that orders the tuples"},
    [SETTING_WINDOW] = {.name = "window",
                        .type = ES_PROPERTY_DURATION,
                        .fallback = "10ms",
                        .maximum = 3600 * SECOND_NS,
                        .help = "how long sorting keeps tuples back"},
    [SETTING_MAX] = {.name = "max",
                     .type = ES_PROPERTY_INTEGER,
                     .fallback = "65536",
                     .minimum = 1,
                     .maximum = INT64_MAX / 2,
                     .help = "tuples in one pull at most"},
    [SETTING_LOSSLESS] = {.name = "lossless",
                          .type = ES_PROPERTY_BOOLEAN,
                          .fallback = "no",
                          .help =
                              "programs wait where their elements are set to block"},
};

/* --- Levels ------------------------------------------------------------------- */

static int find_level(const char *word, size_t length)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (strlen(level_names[i]) == length &&
            strncmp(level_names[i], word, length) == 0)
            return i;
    return -1;
}

static int refuse_level(const char *word, size_t length, struct es_error *error)
{
    struct esi_nearest nearest;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    esi_nearest_init(&nearest, name);
    for (int i = 0; i < LEVEL_COUNT; i++)
        esi_nearest_try(&nearest, level_names[i]);
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "scope: there is no level \"%s\"; did you mean \"%s\"?",
                            name, nearest.name);
    return es_error_set(error, -EINVAL,
                        "scope: there is no level \"%s\": expected thread, socket, "
                        "host, cluster, gateway with commas between, or all",
                        name);
}

static int parse_levels(const char *text, struct es_error *error, unsigned *ret_levels)
{
    unsigned levels = 0;

    if (strcmp(text, "all") == 0) {
        *ret_levels = ES_LEVELS_ALL;
        return 0;
    }
    for (;;) {
        size_t length = strcspn(text, ",");
        int level = find_level(text, length);

        if (level < 0)
            return refuse_level(text, length, error);
        levels |= 1u << level;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_levels = levels;
    return 0;
}

static void format_levels(unsigned levels, char *out, size_t size)
{
    size_t length = 0;

    if (levels == ES_LEVELS_ALL) {
        snprintf(out, size, "all");
        return;
    }
    out[0] = '\0';
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (levels & 1u << i)
            length += (size_t)snprintf(out + length, size - length, "%s%s",
                                       length ? "," : "", level_names[i]);
}

/* --- Setting ------------------------------------------------------------------- */

/* Where in struct es_scope_config a setting's value lies. */
#define FIELD(member)                                                                  \
    {                                                                                  \
        offsetof(struct es_scope_config, member),                                      \
            sizeof((struct es_scope_config *)0)->member                                \
    }

static const struct {
    size_t offset;
    size_t size;
} fields[SETTING_COUNT] = {
    [SETTING_SHAPE] = FIELD(tree.shape),
    [SETTING_LEVELS] = FIELD(tree.levels),
    [SETTING_FAN_OUT] = FIELD(tree.fan_out),
    [SETTING_MODE] = FIELD(tree.mode),
    [SETTING_THREADS] = FIELD(tree.threads),
    [SETTING_AHEAD] = FIELD(tree.ahead),
    [SETTING_JOINTS] = FIELD(tree.joints),
    [SETTING_REDUCE] = FIELD(tree.reduce),
    [SETTING_BATCH] = FIELD(tree.batch),
    [SETTING_BATCH_WAIT] = FIELD(tree.batch_wait_ns),
    [SETTING_LIMIT] = FIELD(tree.limit_ns),
    [SETTING_NODES] = FIELD(tree.nodes),
    [SETTING_NODE_THREADS] = FIELD(tree.node_threads),
    [SETTING_THROUGH_SERVER] = FIELD(tree.through_server),
    [SETTING_OBSERVE] = FIELD(tree.observe),
    [SETTING_SORT] = FIELD(sorting),
    [SETTING_WINDOW] = FIELD(window_ns),
    [SETTING_MAX] = FIELD(max),
    [SETTING_LOSSLESS] = FIELD(lossless),
};

static bool is_name(enum setting setting)
{
    return schema[setting].type == ES_PROPERTY_TEXT && setting != SETTING_LEVELS;
}

/* Settings that are numbers, choices, or yes and no. */
static void set_number(struct es_scope_config *config,
                       enum setting setting,
                       int64_t value)
{
    char *field = (char *)config + fields[setting].offset;
    uint64_t wide = (uint64_t)value;
    unsigned narrow = (unsigned)value;
    bool truth = value != 0;

    if (fields[setting].size == sizeof wide)
        memcpy(field, &wide, sizeof wide);
    else if (fields[setting].size == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &truth, sizeof truth);
}

static int64_t get_number(const struct es_scope_config *config, enum setting setting)
{
    const char *field = (const char *)config + fields[setting].offset;
    uint64_t wide;
    unsigned narrow;
    bool truth;

    if (fields[setting].size == sizeof wide) {
        memcpy(&wide, field, sizeof wide);
        return (int64_t)wide;
    }
    if (fields[setting].size == sizeof narrow) {
        memcpy(&narrow, field, sizeof narrow);
        return narrow;
    }
    memcpy(&truth, field, sizeof truth);
    return truth;
}

/* A text stays the caller's. */
static void set_name(struct es_scope_config *config,
                     enum setting setting,
                     const char *value)
{
    const char *name = *value && strcmp(value, "none") != 0 ? value : NULL;

    memcpy((char *)config + fields[setting].offset, &name, sizeof name);
}

static const char *get_name(const struct es_scope_config *config, enum setting setting)
{
    const char *name;

    memcpy(&name, (const char *)config + fields[setting].offset, sizeof name);
    return name ? name : "none";
}

static enum setting find_setting(const char *name)
{
    enum setting setting = 0;

    while (setting < SETTING_COUNT && strcmp(schema[setting].name, name) != 0)
        setting++;
    return setting;
}

int es_scope_config_set(struct es_scope_config *config,
                        const char *name,
                        const char *value,
                        struct es_error *error)
{
    struct es_property property = {.name = name, .value = value};
    enum setting setting = find_setting(name);
    struct es_property_value *values;
    int result = es_property_values_parse("scope", schema, SETTING_COUNT, &property, 1,
                                          error, &values);

    if (result < 0)
        return result;
    if (setting == SETTING_LEVELS)
        result = parse_levels(value, error, &config->tree.levels);
    else if (is_name(setting))
        set_name(config, setting, value);
    else
        set_number(config, setting, values[setting].integer);
    es_property_values_free(values, SETTING_COUNT);
    return result;
}

/* --- Showing ------------------------------------------------------------------- */

/* In the largest unit that needs no fraction. */
static void format_duration(uint64_t ns, char *out, size_t size)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{SECOND_NS, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t unit = 0;

    while (ns % units[unit].ns)
        unit++;
    snprintf(out, size, "%" PRIu64 "%s", ns / units[unit].ns, units[unit].name);
}

static void format_number(const struct es_property_schema *row,
                          int64_t value,
                          char *out,
                          size_t size)
{
    switch (row->type) {
    case ES_PROPERTY_CHOICE:
        snprintf(out, size, "%s", row->choices[value]);
        return;
    case ES_PROPERTY_BOOLEAN:
        snprintf(out, size, "%s", value ? "yes" : "no");
        return;
    case ES_PROPERTY_DURATION:
        format_duration((uint64_t)value, out, size);
        return;
    default:
        snprintf(out, size, "%" PRId64, value);
    }
}

void es_scope_config_foreach(const struct es_scope_config *config,
                             es_setting_visit_fn visit,
                             void *data)
{
    for (enum setting setting = 0; setting < SETTING_COUNT; setting++) {
        const char *value;
        char text[64];

        if (setting == SETTING_LEVELS)
            format_levels(config->tree.levels, text, sizeof text);
        else if (!is_name(setting))
            format_number(&schema[setting], get_number(config, setting), text,
                          sizeof text);
        value = is_name(setting) ? get_name(config, setting) : text;
        visit(data, schema[setting].name, value, schema[setting].help);
    }
}
