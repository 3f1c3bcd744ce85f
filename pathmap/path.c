/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A path of an expanded map. */
#include "config.h"

#include "pathmap/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "pathmap/validate.h"
#include "tuplespace/layout.h"

enum { COLLECTOR, ELEMENT };

const struct esi_path_stage esi_path_stages[ESI_PATH_STAGES] = {
    {"collector", "collector_properties", {"enabled", "polls"}},
    {"element", "element_properties", {"threshold", "on_full"}},
};

/* Formats "RANK.THREAD/COLLECTOR".  Returns `out`. */
static const char *path_id(int rank,
                           int thread,
                           const char *collector,
                           char out[ESI_PATH_NAME_BYTES])
{
    snprintf(out, ESI_PATH_NAME_BYTES, "%d.%d/%s", rank, thread, collector);
    return out;
}

/* Formats the id with "[comm=*]" and "[peer=*]" by enum esi_split.  Returns `out`. */
static const char *path_element(const char *id,
                                int split,
                                char out[ESI_PATH_NAME_BYTES])
{
    snprintf(out, ESI_PATH_NAME_BYTES, "%.63s%s%s", id,
             split == ES_SPLIT_COMMUNICATOR || split == ES_SPLIT_BOTH ? "[comm=*]" : "",
             split == ES_SPLIT_PEER || split == ES_SPLIT_BOTH ? "[peer=*]" : "");
    return out;
}

/* --- Reading ---------------------------------------------------------------------- */

static bool is_true(const struct esi_pathmap_stage *stage, const char *name)
{
    const struct esi_pathmap_property *property =
        esi_pathmap_stage_property(stage, name);

    return property != NULL && property->boolean;
}

void esi_path_settings(const struct esi_pathmap_path *path,
                       struct esi_path_settings *ret_settings)
{
    const struct esi_pathmap_stage *collector = &path->stages[COLLECTOR];
    const struct esi_pathmap_stage *element = &path->stages[ELEMENT];
    const struct esi_pathmap_property *threshold =
        esi_pathmap_stage_property(element, "threshold");
    const struct esi_pathmap_property *full =
        esi_pathmap_stage_property(element, "on_full");
    bool block = full != NULL && strcmp(full->text, "block") == 0;
    const char *own = collector->host, *other = element->host;

    *ret_settings = (struct esi_path_settings){
        .enabled = is_true(collector, "enabled"),
        .polls = is_true(collector, "polls"),
        .threshold = threshold != NULL ? threshold->integer : 0,
        .full = block ? ES_ON_FULL_BLOCK : ES_ON_FULL_DISCARD,
        .host = own != NULL && other != NULL && strcmp(own, other) == 0 ? NULL : other,
    };
}

bool esi_path_settings_equal(const struct esi_path_settings *a,
                             const struct esi_path_settings *b)
{
    bool same_host = a->host == NULL || b->host == NULL ? a->host == b->host
                                                        : strcmp(a->host, b->host) == 0;

    return same_host && a->enabled == b->enabled && a->polls == b->polls &&
           a->threshold == b->threshold && a->full == b->full;
}

/* --- Creating --------------------------------------------------------------------- */

static int set_property(struct esi_pathmap_property *property,
                        const char *name,
                        enum esi_pathmap_value kind,
                        const char *text)
{
    property->kind = kind;
    property->boolean = kind == ES_PATHMAP_VALUE_BOOLEAN && strcmp(text, "true") == 0;
    property->integer = kind == ES_PATHMAP_VALUE_INTEGER ? strtoll(text, NULL, 10) : 0;
    property->real = (double)property->integer;
    property->name = strdup(name);
    property->text = strdup(text);
    return property->name != NULL && property->text != NULL ? 0 : -ENOMEM;
}

static int init_stage(struct esi_pathmap_stage *stage,
                      const char *type,
                      const char *host)
{
    stage->type = strdup(type);
    stage->host = host != NULL ? strdup(host) : NULL;
    stage->properties = calloc(ESI_PATH_PROPERTIES, sizeof(*stage->properties));
    if (stage->type == NULL || (host != NULL && stage->host == NULL) ||
        stage->properties == NULL)
        return -ENOMEM;
    stage->property_count = ESI_PATH_PROPERTIES;
    return 0;
}

static int init_collector(struct esi_pathmap_stage *stage,
                          const struct esi_pathmap_collector *collector,
                          const char *host)
{
    int code = init_stage(stage, "collector", host);

    if (code == 0)
        code = set_property(&stage->properties[0], "enabled", ES_PATHMAP_VALUE_BOOLEAN,
                            collector->plan.enabled ? "true" : "false");
    if (code == 0)
        code = set_property(&stage->properties[1], "polls", ES_PATHMAP_VALUE_BOOLEAN,
                            collector->plan.polls ? "true" : "false");
    return code;
}

static int init_element(struct esi_pathmap_stage *stage,
                        const struct esi_pathmap_collector *collector,
                        const char *host)
{
    int code =
        init_stage(stage, "element",
                   collector->plan.host[0] != '\0' ? collector->plan.host : host);
    char threshold[24];

    snprintf(threshold, sizeof(threshold), "%" PRIu32, collector->plan.threshold);
    if (code == 0)
        code = set_property(&stage->properties[0], "threshold",
                            ES_PATHMAP_VALUE_INTEGER, threshold);
    if (code == 0)
        code = set_property(&stage->properties[1], "on_full", ES_PATHMAP_VALUE_STRING,
                            collector->plan.on_full == ES_ON_FULL_BLOCK ? "block"
                                                                        : "discard");
    return code;
}

int esi_path_init(struct esi_pathmap_path *path,
                  int rank,
                  int thread,
                  const struct esi_pathmap_collector *collector,
                  const char *host)
{
    char id[ESI_PATH_NAME_BYTES], element[ESI_PATH_NAME_BYTES];

    path->rank = rank;
    path->thread = thread;
    path->id = strdup(path_id(rank, thread, collector->plan.name, id));
    path->collector = strdup(collector->plan.name);
    path->element = strdup(path_element(id, (int)collector->plan.split, element));
    path->stages = calloc(ESI_PATH_STAGES, sizeof(*path->stages));
    if (path->id == NULL || path->collector == NULL || path->element == NULL ||
        path->stages == NULL)
        return -ENOMEM;
    path->stage_count = ESI_PATH_STAGES;
    int code = init_collector(&path->stages[COLLECTOR], collector, host);
    return code == 0 ? init_element(&path->stages[ELEMENT], collector, host) : code;
}

/* Sets the text of a property of a path's element.  NULL, with -ENOMEM in *ret_code, if
 * out of memory, or if there is no such property. */
static struct esi_pathmap_property *set_element_text(struct esi_pathmap_path *path,
                                                     const char *name,
                                                     const char *text,
                                                     int *ret_code)
{
    struct esi_pathmap_stage *element = &path->stages[ELEMENT];

    *ret_code = 0;
    for (size_t i = 0; i < element->property_count; i++) {
        struct esi_pathmap_property *property = &element->properties[i];
        if (strcmp(property->name, name) != 0)
            continue;
        char *copy = strdup(text);
        if (copy == NULL) {
            *ret_code = -ENOMEM;
            return NULL;
        }
        free(property->text);
        property->text = copy;
        return property;
    }
    return NULL;
}

int esi_path_set_threshold(struct esi_pathmap_path *path, uint32_t threshold)
{
    struct esi_pathmap_property *property;
    char text[24];
    int code;

    snprintf(text, sizeof(text), "%" PRIu32, threshold);
    property = set_element_text(path, "threshold", text, &code);
    if (property) {
        property->integer = threshold;
        property->real = (double)threshold;
    }
    return code;
}

int esi_path_set_block(struct esi_pathmap_path *path, bool block)
{
    int code;

    set_element_text(path, "on_full", block ? "block" : "discard", &code);
    return code;
}

/* --- Checking paths --------------------------------------------------------------- */

/*
 * Validates the paths of an expanded map.
 *
 * A path is a "collector" stage followed by an "element" stage.  The threads of a rank
 * share the properties of their collectors, because the observed process creates its
 * elements by rank.
 */
enum { WAY = 128 };

static int fail_in(const struct esi_check *check,
                   size_t path,
                   const char *member,
                   const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

static int fail_in(const struct esi_check *check,
                   size_t path,
                   const char *member,
                   const char *format,
                   ...)
{
    char way[WAY], words[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    snprintf(way, sizeof(way), "paths[%zu]%s", path, member);
    return esi_reader_fail_path(check->reader, way, "%s", words);
}

static bool value_fits(const struct esi_field *member,
                       const struct esi_pathmap_property *property)
{
    switch (member->kind) {
    case ESI_FIELD_BOOLEAN:
        return property->kind == ES_PATHMAP_VALUE_BOOLEAN;
    case ESI_FIELD_INTEGER:
        return property->kind == ES_PATHMAP_VALUE_INTEGER &&
               property->integer >= member->minimum &&
               property->integer <= member->maximum;
    default:
        return property->kind == ES_PATHMAP_VALUE_STRING &&
               (uint64_t)esi_field_choice(member, esi_text_span_of(property->text)) <=
                   (uint64_t)member->maximum;
    }
}

static int fail_unknown(const struct esi_check *check,
                        size_t path,
                        size_t stage,
                        const char *name)
{
    const char *const *known = esi_path_stages[stage].properties;
    struct esi_nearest nearest;
    struct esi_step steps[6] = {{.key = NULL}};
    const size_t indices[] = {0, 0, path, 0, stage, 0};
    const char *const keys[] = {NULL, "paths", NULL, "stages", NULL, "properties"};
    struct esi_step last = {&steps[5], name, 0};

    for (size_t i = 1; i < 6; i++)
        steps[i] = (struct esi_step){&steps[i - 1], keys[i], indices[i]};
    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < ESI_PATH_PROPERTIES; i++)
        esi_nearest_try(&nearest, known[i]);
    if (nearest.name != NULL)
        return esi_reader_fail_name(
            check->reader, &last, "unknown property, did you mean '%s'?", nearest.name);
    return esi_reader_fail_name(check->reader, &last,
                                "unknown property, expected one of '%s', '%s'",
                                known[0], known[1]);
}

/* NULL if the stage has no such property. */
static const struct esi_field *find_field(size_t stage, const char *name)
{
    for (size_t i = 0; i < ESI_PATH_PROPERTIES; i++)
        if (strcmp(esi_path_stages[stage].properties[i], name) == 0)
            return esi_fields_find(&esi_collector_fields, name);
    return NULL;
}

static int check_property(const struct esi_check *check,
                          size_t path,
                          size_t index,
                          const struct esi_pathmap_property *property)
{
    const struct esi_field *known = find_field(index, property->name);
    char member[WAY], expected[160];

    if (known == NULL)
        return fail_unknown(check, path, index, property->name);
    if (value_fits(known, property))
        return 0;
    snprintf(member, sizeof(member), ".stages[%zu].properties.%s", index, known->name);
    const char *quote = property->kind == ES_PATHMAP_VALUE_STRING ? "'" : "";
    return fail_in(
        check, path, member, "found %s%.60s%s, expected %s", quote, property->text,
        quote, esi_field_expected(known, ESI_FORM_JSON, expected, sizeof(expected)));
}

static int check_properties(const struct esi_check *check, size_t path, size_t index)
{
    const struct esi_pathmap_stage *stage = &check->map->paths[path].stages[index];
    char member[WAY], expected[160];

    for (size_t i = 0; i < stage->property_count; i++) {
        int code = check_property(check, path, index, &stage->properties[i]);
        if (code < 0)
            return code;
    }
    for (size_t i = 0; i < ESI_PATH_PROPERTIES; i++) {
        const char *name = esi_path_stages[index].properties[i];
        if (esi_pathmap_stage_property(stage, name) != NULL)
            continue;
        snprintf(member, sizeof(member), ".stages[%zu]", index);
        return fail_in(check, path, member, "property '%s' is missing, expected %s",
                       name,
                       esi_field_expected(find_field(index, name), ESI_FORM_JSON,
                                          expected, sizeof(expected)));
    }
    return 0;
}

static int check_stages(const struct esi_check *check, size_t index)
{
    const struct esi_pathmap_path *path = &check->map->paths[index];
    int code = 0;

    if (path->stage_count != ESI_PATH_STAGES)
        return fail_in(check, index, ".stages",
                       "found %zu stages, expected a collector and an element",
                       path->stage_count);
    for (size_t i = 0; i < ESI_PATH_STAGES && code == 0; i++) {
        const char *type = esi_path_stages[i].type;
        char way[WAY], member[WAY];
        snprintf(member, sizeof(member), ".stages[%zu].type", i);
        if (strcmp(path->stages[i].type, type) != 0)
            return fail_in(check, index, member, "found '%s', expected '%s'",
                           path->stages[i].type, type);
        snprintf(way, sizeof(way), "paths[%zu].stages[%zu].host", index, i);
        code = esi_check_host(check, path->stages[i].host, way);
        if (code == 0)
            code = check_properties(check, index, i);
    }
    return code;
}

/* The collector must be on the host of the rank. */
static int check_collector_host(const struct esi_check *check, size_t index)
{
    const struct esi_pathmap_path *path = &check->map->paths[index];
    const struct esi_pathmap_host *host =
        esi_pathmap_rank_host(check->map, (int)path->rank);
    const char *said = path->stages[0].host;

    if (said == NULL || host == NULL || strcmp(said, host->name) == 0)
        return 0;
    return fail_in(check, index, ".stages[0].host",
                   "found '%s', expected '%s', where rank %" PRId64 " runs", said,
                   host->name, path->rank);
}

static int check_path(const struct esi_check *check, size_t index)
{
    const struct esi_pathmap_path *path = &check->map->paths[index];
    char id[ESI_PATH_NAME_BYTES], element[ESI_PATH_NAME_BYTES];
    size_t collector;

    if (path->rank >= check->map->application.ranks)
        return fail_in(check, index, ".rank",
                       "found %" PRId64 ", expected a rank from 0 to %" PRId64,
                       path->rank, check->map->application.ranks - 1);
    if (!esi_names_find(&check->collectors, path->collector, &collector))
        return fail_in(check, index, ".collector",
                       "found '%s', expected the name of a collector in collectors",
                       path->collector);
    path_id((int)path->rank, (int)path->thread, path->collector, id);
    if (strcmp(path->id, id) != 0)
        return fail_in(check, index, ".id", "found '%s', expected '%s'", path->id, id);
    path_element(id, (int)check->map->collectors[collector].plan.split, element);
    if (strcmp(path->element, element) != 0)
        return fail_in(check, index, ".element", "found '%s', expected '%s'",
                       path->element, element);
    int code = check_stages(check, index);
    return code == 0 ? check_collector_host(check, index) : code;
}

/* --- Paths of one rank and collector ---------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    const struct esi_pathmap_path *left = *(const struct esi_pathmap_path *const *)a;
    const struct esi_pathmap_path *right = *(const struct esi_pathmap_path *const *)b;
    int order = strcmp(left->collector, right->collector);

    if (order != 0)
        return order;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return (left > right) - (left < right);
}

static int check_pair(const struct esi_check *check,
                      const struct esi_pathmap_path *earlier,
                      const struct esi_pathmap_path *path)
{
    struct esi_path_settings a, b;
    size_t index = (size_t)(path - check->map->paths);

    if (path->rank != earlier->rank || strcmp(path->collector, earlier->collector) != 0)
        return 0;
    if (path->thread == earlier->thread)
        return fail_in(check, index, ".id",
                       "found '%s' a second time, expected each path once", path->id);
    esi_path_settings(earlier, &a);
    esi_path_settings(path, &b);
    if (esi_path_settings_equal(&a, &b))
        return 0;
    return fail_in(
        check, index, ".stages",
        "found properties other than those of path '%s', expected the threads of a "
        "rank to share them",
        earlier->id);
}

static int check_pairs(const struct esi_check *check)
{
    const struct esi_pathmap *map = check->map;
    const struct esi_pathmap_path **sorted =
        calloc(map->path_count + 1, sizeof(*sorted));
    int code = 0;

    if (sorted == NULL)
        return esi_reader_fail_memory(check->reader);
    for (size_t i = 0; i < map->path_count; i++)
        sorted[i] = &map->paths[i];
    qsort(sorted, map->path_count, sizeof(*sorted), compare_paths);
    for (size_t i = 1; i < map->path_count && code == 0; i++)
        code = check_pair(check, sorted[i - 1], sorted[i]);
    free(sorted);
    return code;
}

int esi_check_paths(const struct esi_check *check)
{
    for (size_t i = 0; i < check->map->path_count; i++) {
        int code = check_path(check, i);
        if (code < 0)
            return code;
    }
    return check_pairs(check);
}
