/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One path of an expanded map. */
#include "config.h"

#include "pathmap/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/layout.h"

enum { COLLECTOR, ELEMENT };

const struct esi_path_stage esi_path_stages[ESI_PATH_STAGES] = {
    {"collector", "collector_properties", {"enabled", "polls"}},
    {"element", "element_properties", {"threshold", "on_full"}},
};

const char *esi_path_id(int rank,
                        int thread,
                        const char *collector,
                        char out[ESI_PATH_NAME_BYTES])
{
    snprintf(out, ESI_PATH_NAME_BYTES, "%d.%d/%s", rank, thread, collector);
    return out;
}

const char *esi_path_element(const char *id, int split, char out[ESI_PATH_NAME_BYTES])
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

/* --- Making ----------------------------------------------------------------------- */

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
    path->id = strdup(esi_path_id(rank, thread, collector->plan.name, id));
    path->collector = strdup(collector->plan.name);
    path->element = strdup(esi_path_element(id, (int)collector->plan.split, element));
    path->stages = calloc(ESI_PATH_STAGES, sizeof(*path->stages));
    if (path->id == NULL || path->collector == NULL || path->element == NULL ||
        path->stages == NULL)
        return -ENOMEM;
    path->stage_count = ESI_PATH_STAGES;
    int code = init_collector(&path->stages[COLLECTOR], collector, host);
    return code == 0 ? init_element(&path->stages[ELEMENT], collector, host) : code;
}

int esi_path_set_threshold(struct esi_pathmap_path *path, uint32_t threshold)
{
    struct esi_pathmap_stage *element = &path->stages[ELEMENT];

    for (size_t i = 0; i < element->property_count; i++) {
        struct esi_pathmap_property *property = &element->properties[i];
        char text[24];
        if (strcmp(property->name, "threshold") != 0)
            continue;
        snprintf(text, sizeof(text), "%" PRIu32, threshold);
        char *copy = strdup(text);
        if (copy == NULL)
            return -ENOMEM;
        free(property->text);
        property->text = copy;
        property->integer = threshold;
        property->real = (double)threshold;
    }
    return 0;
}
