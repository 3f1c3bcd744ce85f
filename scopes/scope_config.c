/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_config.c - the settings of a scope: a view's conditions on elements and tuples,
 * checked and formatted for stages, and a table of the settings as text fields. */
#include "config.h"

#include "scopes/scope_config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/nearest.h"
#include "eventspace/operation.h"
#include "wrappers/stages/filter.h"

#define SECOND_NS INT64_C(1000000000)

enum { LONGEST_TEXT = 4095 };

static const char *const shapes[] = {
    [ES_SHAPE_VIEWS] = "views",   [ES_SHAPE_FLAT] = "flat",
    [ES_SHAPE_HOSTS] = "hosts",   [ES_SHAPE_KARY] = "kary",
    [ES_SHAPE_LEVELS] = "levels", [ES_SHAPE_STAGES] = "stages",
    [ES_SHAPE_STAGES + 1] = NULL};
const char *esi_scope_shape_name(enum es_shape shape)
{
    return (unsigned)shape <= ES_SHAPE_STAGES ? shapes[shape] : "?";
}

static const char *const modes[] =
    {[ES_MODE_CONCURRENT] = "concurrent", [ES_MODE_SEQUENTIAL] = "sequential", NULL};
static const char *const sortings[] = {[ES_SORTING_NONE] = "none",
                                       [ES_SORTING_STOP] = "stop",
                                       [ES_SORTING_START] = "start",
                                       NULL};

/* By bit of enum es_level. */
static const char *const level_names[] = {"thread",  "socket",  "host",
                                          "cluster", "gateway", NULL};
static const struct esi_field_group level_groups[] = {{"all", ES_LEVELS_ALL},
                                                      {NULL, 0}};

/* The text remains the caller's; "none" and "" mean no text. */
static int parse_name(const struct esi_field *field,
                      struct esi_text_span text,
                      struct esi_field_fault *fault,
                      void *record)
{
    bool is_none = text.length == 0 || esi_text_span_is(text, "none");
    const char *name = is_none ? NULL : text.text;

    (void)fault;
    if (text.length > LONGEST_TEXT)
        return -EINVAL;
    memcpy((char *)record + field->offset, &name, sizeof name);
    return 0;
}

static void format_name(const struct esi_field *field, const void *record, FILE *out)
{
    const char *name;

    memcpy(&name, (const char *)record + field->offset, sizeof name);
    fputs(name ? name : "none", out);
}

static const struct esi_field_text name_text = {
    .expected = "a text of a length from 0 to 4095",
    .parse = parse_name,
    .format = format_name,
};

/* The defaults are those of es_scope_config_init(). */
static const struct esi_field rows[] = {
    {.name = "shape",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct es_scope_config, tree.shape),
     .choices = shapes,
     .help = "how the tree is laid out"},
    {.name = "levels",
     .kind = ESI_FIELD_FLAGS,
     .offset = offsetof(struct es_scope_config, tree.levels),
     .choices = level_names,
     .groups = level_groups,
     .help = "what has joints in the shape 'levels'"},
    {.name = "stages",
     .kind = ESI_FIELD_OTHER,
     .offset = offsetof(struct es_scope_config, tree.stages),
     .text = &name_text,
     .help = "the tree of the shape 'stages', as in a pathmap"},
    {.name = "fan-out",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, tree.fan_out),
     .size = sizeof(unsigned),
     .maximum = 1 << 20,
     .help = "most children of a joint of hosts; 0 = any number"},
    {.name = "mode",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct es_scope_config, tree.mode),
     .choices = modes,
     .help = "whether all servers are asked before one is awaited"},
    {.name = "threads",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, tree.threads),
     .size = sizeof(unsigned),
     .maximum = 64,
     .help = "that pull at the same time; 0 = the consumer's alone"},
    {.name = "ahead",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, tree.ahead),
     .size = sizeof(unsigned),
     .maximum = 64,
     .help = "pulls in flight to a server beyond the one awaited"},
    {.name = "joints",
     .kind = ESI_FIELD_OTHER,
     .offset = offsetof(struct es_scope_config, tree.joints),
     .text = &name_text,
     .help = "hosts for joints of several hosts, with commas"},
    {.name = "reduce",
     .kind = ESI_FIELD_OTHER,
     .offset = offsetof(struct es_scope_config, tree.reduce),
     .text = &name_text,
     .help = "reduction of each thread's tuples, or none"},
    {.name = "batch",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, tree.batch),
     .maximum = INT64_C(1) << 30,
     .help = "tuples a server collects before it answers"},
    {.name = "batch-wait",
     .kind = ESI_FIELD_DURATION,
     .offset = offsetof(struct es_scope_config, tree.batch_wait_ns),
     .maximum = 3600 * SECOND_NS,
     .help = "longest time that it waits for them"},
    {.name = "limit",
     .kind = ESI_FIELD_DURATION,
     .offset = offsetof(struct es_scope_config, tree.limit_ns),
     .minimum = INT64_C(1000000),
     .maximum = 3600 * SECOND_NS,
     .help = "how long a server may take to answer"},
    {.name = "nodes",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct es_scope_config, tree.nodes),
     .help = "nodes of collective trees are analysed on their hosts"},
    {.name = "node-threads",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, tree.node_threads),
     .size = sizeof(unsigned),
     .maximum = 256,
     .help = "that do this on each host; 0 = the server's"},
    {.name = "through-server",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct es_scope_config, tree.through_server),
     .help = "this host's elements, too, are read by its "
             "tuple server"},
    {.name = "observe",
     .kind = ESI_FIELD_OTHER,
     .offset = offsetof(struct es_scope_config, tree.observe),
     .text = &name_text,
     .help = "stages that carry collectors: hosts, joints, all"},
    {.name = "sort",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct es_scope_config, sorting),
     .choices = sortings,
     .help = "the time that orders the tuples"},
    {.name = "window",
     .kind = ESI_FIELD_DURATION,
     .offset = offsetof(struct es_scope_config, window_ns),
     .maximum = 3600 * SECOND_NS,
     .help = "how long sorting keeps tuples back"},
    {.name = "max",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct es_scope_config, max),
     .minimum = 1,
     .maximum = INT64_MAX / 2,
     .help = "tuples in one pull at most"},
    {.name = "lossless",
     .kind = ESI_FIELD_BOOLEAN,
     .offset = offsetof(struct es_scope_config, lossless),
     .help = "programs wait where their elements are set to block"},
};

static const struct esi_fields settings = {
    .name = "scope",
    .size = sizeof(struct es_scope_config),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

static int refuse_name(const char *name, struct es_error *error)
{
    const char *nearest = esi_fields_nearest(&settings, name);

    if (nearest)
        return es_error_set(error, -EINVAL,
                            "scope has no property '%.60s': did you mean '%s'?", name,
                            nearest);
    return es_error_set(error, -EINVAL, "scope has no property '%.60s'", name);
}

/* For levels, the message names the unknown one. */
static int refuse_value(const char *name,
                        const char *value,
                        const struct esi_field_fault *fault,
                        struct es_error *error)
{
    bool is_level = strcmp(name, "levels") == 0 && *value;
    struct esi_nearest nearest;
    char word[64];

    snprintf(word, sizeof word, "%.*s",
             (int)(fault->at.length < 63 ? fault->at.length : 63), fault->at.text);
    esi_nearest_init(&nearest, word);
    for (size_t i = 0; is_level && level_names[i]; i++)
        esi_nearest_try(&nearest, level_names[i]);
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "scope: there is no level '%s'; did you mean '%s'?", word,
                            nearest.name);
    if (is_level)
        return es_error_set(error, -EINVAL,
                            "scope: there is no level '%s': expected %s", word,
                            fault->expected);
    return es_error_set(error, -EINVAL, "scope: property '%s' is '%s': expected %s",
                        name, word, fault->expected);
}

int es_scope_config_set(struct es_scope_config *config,
                        const char *name,
                        const char *value,
                        struct es_error *error)
{
    const struct esi_field *field = esi_fields_find(&settings, name);
    struct esi_field_fault fault;
    int result;

    if (!field)
        return refuse_name(name, error);
    result = esi_field_parse(field, esi_text_span_of(value), &fault, config);
    return result == -EINVAL ? refuse_value(name, value, &fault, error) : result;
}

void es_scope_config_foreach(const struct es_scope_config *config,
                             es_setting_visit_fn visit,
                             void *data)
{
    for (size_t i = 0; i < settings.row_count; i++) {
        char text[LONGEST_TEXT + 1] = "";
        FILE *out = fmemopen(text, sizeof text, "w");

        if (!out)
            return;
        esi_field_format(&rows[i], config, out);
        fclose(out);
        visit(data, rows[i].name, text, rows[i].help);
    }
}

/* The texts owned by a scope's configuration; those of the tree come first. */
static const size_t owned_texts[] = {
    offsetof(struct es_scope_config, tree.joints),
    offsetof(struct es_scope_config, tree.reduce),
    offsetof(struct es_scope_config, tree.observe),
    offsetof(struct es_scope_config, tree.stages),
    offsetof(struct es_scope_config, view.selection.host),
    offsetof(struct es_scope_config, view.selection.ranks),
    offsetof(struct es_scope_config, view.selection.collector),
    offsetof(struct es_scope_config, view.selection.name),
    offsetof(struct es_scope_config, view.communicator),
    offsetof(struct es_scope_config, view.operation),
    offsetof(struct es_scope_config, view.filter),
    offsetof(struct es_scope_config, name),
};
enum { TREE_TEXTS = 4, ALL_TEXTS = sizeof owned_texts / sizeof *owned_texts };

static char **text_of(struct es_scope_config *config, size_t index)
{
    return (char **)((char *)config + owned_texts[index]);
}

static void free_texts(struct es_scope_config *config, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(*text_of(config, i));
}

/* Copies the first `count` texts.  On -ENOMEM, those that were not copied are NULL. */
static int copy_texts(struct es_scope_config *config, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        char **text = text_of(config, i);

        if (*text && !(*text = strdup(*text)))
            result = -ENOMEM;
    }
    return result;
}

void esi_scope_config_fini_tree(struct es_scope_config *config)
{
    free_texts(config, TREE_TEXTS);
}

void esi_scope_config_fini(struct es_scope_config *config)
{
    free_texts(config, ALL_TEXTS);
}

/* Prints "(class == send || class == receive)". */
static void print_classes(FILE *out, uint32_t classes)
{
    const char *between = "(";

    for (int i = ES_CLASS_NONE + 1; i < ES_CLASS_COUNT; i++) {
        if (!(classes & 1u << i))
            continue;
        fprintf(out, "%sclass == %s", between, es_class_name((enum es_class)i));
        between = " || ";
    }
    fputs(")", out);
}

/* Combines the view's conditions on tuples; NULL if there are none. */
static int format_filter(const struct es_view *view, char **ret_text)
{
    uint32_t classes = view->selection.classes & ((1u << ES_CLASS_COUNT) - 2u);
    const char *between = "";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int result;

    if (!out)
        return -errno;
    if (view->operation) {
        fprintf(out, "operation == \"%s\"", view->operation);
        between = " && ";
    } else if (classes && classes != ES_CLASSES_ALL) {
        print_classes(out, classes);
        between = " && ";
    }
    if (view->communicator)
        fprintf(out, "%scommunicator == \"%s\"", between, view->communicator);
    result = fclose(out) != 0 ? -ENOMEM : 0;
    if (result < 0 || size == 0)
        free(text);
    else
        *ret_text = text;
    return result;
}

static int check_filter(const char *text, struct es_error *error)
{
    struct esi_filter *filter;
    int result = esi_filter_create(text, 1, 1, error, &filter);

    if (result == 0)
        esi_filter_destroy(filter);
    return result;
}

static int check_view(const struct es_view *view, struct es_error *error)
{
    if (view->communicator && strpbrk(view->communicator, "\"\n"))
        return es_error_set(error, -EINVAL,
                            "a communicator's name with a quote cannot be selected");
    if (view->operation && !es_operation_by_name(view->operation)) {
        /* The filter's parser suggests the nearest name; its column is meaningless
         * here. */
        char text[160];
        struct es_error found = {0};

        snprintf(text, sizeof text, "operation == \"%.100s\"", view->operation);
        check_filter(text, &found);
        return es_error_set(error, -EINVAL, "%s", found.text);
    }
    if (view->filter && check_filter(view->filter, error) < 0)
        return -EINVAL;
    return es_selection_check(&view->selection, error);
}

/* Checks the settings that can be changed later, too. */
static int check_tree(const struct es_scope_config *config, struct es_error *error)
{
    bool every = esi_scope_config_reads_every(config);

    if (config->max == 0)
        return es_error_set(error, -EINVAL, "a pull of at most 0 tuples gives nothing");
    if (config->sorting != ES_SORTING_NONE && !every)
        return es_error_set(error, -EINVAL, "the latest tuples alone cannot be sorted");
    if (config->tree.nodes &&
        (!every || config->sorting != ES_SORTING_NONE || config->tree.reduce))
        return es_error_set(error, -EINVAL,
                            "nodes of collective trees are analysed from every tuple, "
                            "unsorted and not reduced");
    if (config->lossless && !every)
        return es_error_set(error, -EINVAL, "reading without loss needs every tuple");
    return 0;
}

int esi_scope_config_take(struct es_scope_config *own,
                          const struct es_scope_config *config,
                          char **ret_filter,
                          struct es_error *error)
{
    struct es_view *view = &own->view;
    int result = check_view(&config->view, error);

    if (result == 0)
        result = check_tree(config, error);
    if (result < 0)
        return result;
    *own = *config;
    result = copy_texts(own, ALL_TEXTS);
    if (result == 0)
        result = format_filter(view, ret_filter);
    if (result == 0 && *ret_filter)
        result = check_filter(*ret_filter, error);
    if (result == 0 && view->operation)
        view->selection.classes = 1u << es_operation_by_name(view->operation)->op_class;
    return result;
}

int esi_scope_config_take_tree(struct es_scope_config *own,
                               const struct es_scope_config *config,
                               struct es_error *error)
{
    struct es_scope_config changed = *own;
    int result;

    changed.tree = config->tree;
    changed.sorting = config->sorting;
    changed.window_ns = config->window_ns;
    changed.max = config->max;
    changed.lossless = config->lossless;
    result = check_tree(&changed, error);
    if (result < 0)
        return result;
    result = copy_texts(&changed, TREE_TEXTS);
    if (result < 0) {
        free_texts(&changed, TREE_TEXTS);
        return result;
    }
    *own = changed;
    return 0;
}
