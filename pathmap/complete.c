/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a map says when it says nothing: the default collectors and scopes. */
#include "config.h"

#include "pathmap/complete.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int set_text(char **field, const char *text)
{
    if (*field != NULL)
        return 0;
    *field = strdup(text);
    return *field != NULL ? 0 : -ENOMEM;
}

static int add_collectors(struct esi_pathmap *map)
{
    struct es_plan plan = {.collectors = NULL};
    int code = esi_plan_default(&plan);

    if (code == 0 && esi_pathmap_has_collectives(map))
        code = esi_plan_add_trees(&plan);
    if (code < 0)
        goto free_plan;
    map->collectors = calloc(plan.count, sizeof(*map->collectors));
    if (map->collectors == NULL)
        code = -ENOMEM;
    else
        map->collector_count = plan.count;
    for (size_t i = 0; i < map->collector_count; i++)
        map->collectors[i].plan = plan.collectors[i]; /* they have no ranges */
free_plan:
    esi_plan_fini(&plan);
    return code;
}

int esi_map_complete(struct esi_pathmap *map)
{
    int code = map->collectors == NULL ? add_collectors(map) : 0;

    esi_rules_complete(&map->rules);
    return code;
}

void esi_rules_complete(struct esi_rules *rules)
{
    for (size_t i = 0; i < rules->collective_count; i++)
        if (rules->collectives[i].rule.operations == 0)
            rules->collectives[i].rule.operations = ES_TREE_ALL_BLOCKING;
}

/* --- Scopes ----------------------------------------------------------------------- */

/* The two shapes of the EventSpace paper, section 5: elements under their thread,
 * threads under their host, hosts under the consumer. */
struct complete_level {
    const char *type;
    int per;
    const char *property;
    const char *value;
};

enum { LEVELS = 4 };

static const struct {
    const char *name;
    const char *comment;
    struct complete_level levels[LEVELS];
} defaults[] = {
    {"heartbeat",
     "the newest event of each thread",
     {{"gather", ES_PER_SCOPE, NULL, NULL},
      {"gather", ES_PER_HOST, NULL, NULL},
      {"reduce", ES_PER_THREAD, "to", "latest"},
      {"element", ES_PER_ELEMENT, "read", "latest"}}},
    {"events",
     "every event as it was recorded",
     {{"gather", ES_PER_SCOPE, NULL, NULL},
      {"gather", ES_PER_HOST, NULL, NULL},
      {"gather", ES_PER_THREAD, NULL, NULL},
      {"element", ES_PER_ELEMENT, "read", "every"}}},
};

static int add_property(struct esi_pathmap_stage *stage,
                        const struct complete_level *level)
{
    if (level->property == NULL)
        return 0;
    stage->properties = calloc(1, sizeof(*stage->properties));
    if (stage->properties == NULL)
        return -ENOMEM;
    stage->property_count = 1;
    stage->properties[0].kind = ES_PATHMAP_VALUE_STRING;
    int code = set_text(&stage->properties[0].name, level->property);
    return code == 0 ? set_text(&stage->properties[0].text, level->value) : code;
}

/* A stage, and below it the stages of the levels that are left. */
static int fill_stage(struct esi_pathmap_stage *stage,
                      const struct complete_level *level,
                      int left)
{
    stage->per = level->per;
    if (set_text(&stage->type, level->type) < 0 || add_property(stage, level) < 0)
        return -ENOMEM;
    if (left == 1)
        return 0;
    stage->children = calloc(1, sizeof(*stage->children));
    if (stage->children == NULL)
        return -ENOMEM;
    stage->child_count = 1;
    return fill_stage(&stage->children[0], level + 1, left - 1);
}

static int add_scope(struct esi_pathmap_scope *scope, size_t index)
{
    if (set_text(&scope->name, defaults[index].name) < 0 ||
        set_text(&scope->comment, defaults[index].comment) < 0 ||
        set_text(&scope->tree.name, "root") < 0)
        return -ENOMEM;
    return fill_stage(&scope->tree, defaults[index].levels, LEVELS);
}

int esi_map_add_scopes(struct esi_pathmap *map)
{
    const size_t count = sizeof(defaults) / sizeof(defaults[0]);
    int code = 0;

    if (map->scopes != NULL)
        return 0;
    map->scopes = calloc(count, sizeof(*map->scopes));
    if (map->scopes == NULL)
        return -ENOMEM;
    map->scope_count = count;
    for (size_t i = 0; i < count && code == 0; i++)
        code = add_scope(&map->scopes[i], i);
    return code;
}
