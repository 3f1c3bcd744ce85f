/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parses pathmaps: JSON, then the tables, then validation; and formats them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/library_words.h"
#include "pathmap/generate.h"
#include "pathmap/file.h"
#include "pathmap/layout.h"
#include "pathmap/map.h"
#include "pathmap/record.h"
#include "pathmap/text_location.h"
#include "pathmap/validate.h"

static const struct esi_step root = {0};

static int parse_json(const struct esi_reader *reader, json_t **ret_json)
{
    char words[JSON_ERROR_TEXT_LENGTH];
    json_error_t fault;
    json_t *json;
    int code =
        esi_input_check(reader->text, reader->length, reader->source, reader->error);

    if (code < 0)
        return code;
    esi_json_seed();
    json = json_loadb(reader->text, reader->length, JSON_REJECT_DUPLICATES, &fault);
    if (json != NULL) {
        *ret_json = json;
        return 0;
    }
    /* If out of memory, the parser usually has no memory for a message either. */
    if (fault.text[0] == '\0' || json_error_code(&fault) == json_error_out_of_memory)
        return esi_reader_fail_memory(reader);
    return es_error_set_at(reader->error, -EINVAL, reader->source,
                           fault.line > 0 ? fault.line : 0,
                           fault.column > 0 ? fault.column : fault.line > 0, "JSON: %s",
                           esi_library_words(fault.text, words, sizeof words));
}

/* First of all, because members of another version would look like typing errors. */
static int check_version(const struct esi_reader *reader, const json_t *json)
{
    const json_t *version = json_object_get(json, "version");
    struct esi_step step = {&root, "version", 0};

    if (!json_is_integer(version) || json_integer_value(version) == ES_PATHMAP_VERSION)
        return 0;
    return esi_reader_fail(reader, &step, -EINVAL,
                           "found %" JSON_INTEGER_FORMAT
                           ", expected %d, the version that this program reads",
                           json_integer_value(version), ES_PATHMAP_VERSION);
}

static void place_scopes(const struct esi_reader *reader, struct esi_pathmap *map)
{
    struct esi_step step = {&root, "scopes", 0};
    struct esi_text_cursor cursor;

    esi_text_cursor_init(&cursor, reader->text, reader->length);
    if (esi_text_cursor_seek(&cursor, &step, false))
        esi_scopes_locate(&cursor, map->scopes, map->scope_count);
}

static int read_map(const struct esi_reader *reader,
                    const json_t *json,
                    struct esi_pathmap *map)
{
    int code = check_version(reader, json);

    if (code == 0)
        code = esi_record_read(reader, &root, &esi_map_fields, json, map);
    if (code < 0)
        return code;
    map->source = strdup(reader->source);
    if (map->source == NULL || esi_map_complete(map) < 0)
        return esi_reader_fail_memory(reader);
    place_scopes(reader, map);
    return esi_map_validate(reader, map);
}

static int parse_map(const struct esi_reader *reader,
                     bool observes,
                     struct esi_pathmap **ret_map)
{
    struct esi_pathmap *map = calloc(1, sizeof(*map));
    json_t *json = NULL;

    if (map == NULL)
        return esi_reader_fail_memory(reader);
    map->observes = observes;
    int code = parse_json(reader, &json);
    if (code == 0)
        code = read_map(reader, json, map);
    json_decref(json);
    if (code < 0) {
        esi_pathmap_destroy(map);
        return code;
    }
    *ret_map = map;
    return 0;
}

int esi_pathmap_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct esi_pathmap **ret_map)
{
    struct esi_reader reader = {text, length, source != NULL ? source : "", error};

    return parse_map(&reader, false, ret_map);
}

int esi_pathmap_parse_observer(const char *text,
                               size_t length,
                               const char *source,
                               struct es_error *error,
                               struct esi_pathmap **ret_map)
{
    struct esi_reader reader = {text, length, source != NULL ? source : "", error};

    return parse_map(&reader, true, ret_map);
}

/* --- The tree of a scope alone ---------------------------------------------------- */

static int read_stages(const struct esi_reader *reader,
                       const json_t *json,
                       struct esi_pathmap_stage *stages)
{
    int code = esi_record_read(reader, &root, &esi_stage_fields, json, stages);

    return code < 0 ? code : esi_check_stages(reader, stages);
}

int esi_pathmap_stages_parse(const char *text,
                             size_t length,
                             const char *source,
                             struct es_error *error,
                             struct esi_pathmap_stage **ret_stages)
{
    struct esi_reader reader = {text, length, source != NULL ? source : "", error};
    struct esi_pathmap_stage *stages = calloc(1, sizeof(*stages));
    json_t *json = NULL;

    if (stages == NULL)
        return esi_reader_fail_memory(&reader);
    int code = parse_json(&reader, &json);
    if (code == 0)
        code = read_stages(&reader, json, stages);
    json_decref(json);
    if (code < 0) {
        esi_pathmap_stages_destroy(stages);
        return code;
    }
    *ret_stages = stages;
    return 0;
}

void esi_pathmap_stages_destroy(struct esi_pathmap_stage *stages)
{
    int saved = errno;

    if (stages == NULL)
        return;
    esi_record_fini(&esi_stage_fields, stages);
    free(stages);
    errno = saved;
}

/* Adds the hosts that the mapping assigns to the stages. */
static int place_stages(const struct esi_pathmap *map,
                        const struct esi_pathmap_scope *scope,
                        const struct esi_pathmap_stage *stage,
                        json_t *json)
{
    const char *host = esi_pathmap_stage_host(map, scope, stage);
    const json_t *children = json_object_get(json, "children");
    int code = 0;

    if (host != NULL && json_object_set_new(json, "host", json_string(host)) != 0)
        return -ENOMEM;
    for (size_t i = 0; i < stage->child_count && code == 0; i++)
        code =
            place_stages(map, scope, &stage->children[i], json_array_get(children, i));
    return code;
}

int esi_pathmap_stages_format(const struct esi_pathmap *map,
                              const struct esi_pathmap_scope *scope,
                              char **ret_text)
{
    json_t *json;
    int code = esi_record_write(&esi_stage_fields, &scope->tree, &json);

    if (code < 0)
        return code;
    code = place_stages(map, scope, &scope->tree, json);
    *ret_text = code == 0 ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return *ret_text != NULL ? 0 : -ENOMEM;
}

/* --- Maps ------------------------------------------------------------------------- */

int esi_pathmap_format(const struct esi_pathmap *map, char **ret_text)
{
    json_t *json;
    int code = esi_record_write(&esi_map_fields, map, &json);

    if (code < 0)
        return code;
    code = esi_layout_format(json, ret_text);
    json_decref(json);
    return code;
}

void esi_pathmap_destroy(struct esi_pathmap *map)
{
    int saved = errno;

    if (map == NULL)
        return;
    free(map->source);
    free(map->placements);
    esi_record_fini(&esi_map_fields, map);
    free(map);
    errno = saved;
}

/* --- Documents of tree rules ------------------------------------------------------ */

static int read_rules(const struct esi_reader *reader,
                      struct esi_rules *rules,
                      struct esi_tree_plan *ret_plan)
{
    struct esi_check check = {.reader = reader};
    struct esi_tree_plan plan = {.hosts = NULL};
    json_t *json = NULL;
    int code = parse_json(reader, &json);

    if (code == 0)
        code = esi_record_read(reader, &root, &esi_rules_fields, json, rules);
    json_decref(json);
    if (code < 0)
        return code;
    esi_rules_complete(rules);
    code = esi_check_rules(&check, rules);
    if (code < 0)
        return code;
    if (esi_rules_fill(rules, &plan) < 0) {
        esi_tree_plan_fini(&plan);
        return esi_reader_fail_memory(reader);
    }
    *ret_plan = plan;
    return 0;
}

int esi_pathmap_rules_load(const char *path,
                           struct es_error *error,
                           struct esi_tree_plan *ret_plan)
{
    struct esi_reader reader = {.source = path, .error = error};
    struct esi_rules rules = {.collectives = NULL};
    char *text = NULL;
    int code = esi_file_read(path, error, &text, &reader.length);

    if (code < 0)
        return code;
    reader.text = text;
    code = read_rules(&reader, &rules, ret_plan);
    esi_record_fini(&esi_rules_fields, &rules);
    free(text);
    return code;
}
