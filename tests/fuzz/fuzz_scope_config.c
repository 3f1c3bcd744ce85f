/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds lines NAME=VALUE to the reader of scope settings, and plans the tree of a run
 * on two hosts. Accepted settings are printed and must be accepted again. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/stage_tree.h"
#include "tests/fuzz/fuzz_target.h"

static void set_again(void *data, const char *name, const char *value, const char *help)
{
    struct es_scope_config copy = *(struct es_scope_config *)data;

    (void)help;
    require(es_scope_config_set(&copy, name, value, NULL) == 0);
}

static void set_line(struct es_scope_config *config, char *line)
{
    struct es_error error = {.text = ""};
    char *value = strchr(line, '=');

    if (!value)
        return;
    *value++ = '\0';
    require(es_scope_config_set(config, line, value, &error) == 0 ||
            error.text[0] != '\0');
    es_scope_config_foreach(config, set_again, config);
}

static void plan_tree(const struct es_scope_config *config)
{
    static const struct es_origin origins[] = {
        {.name = "0.0/a", .host = "a"},
        {.name = "1.0/a", .host = "b", .rank = 1},
        {.name = "1.1/a", .host = "b", .rank = 1, .thread = 1}};
    static const struct es_host_info items[] = {
        {.host = "a", .cluster = "x", .has_server = true},
        {.host = "b", .cluster = "y", .gateway = "a", .has_server = true},
        {.host = "c"}};
    const struct esi_host_infos infos = {.here = "a", .items = items, .count = 3};
    struct es_error error = {.text = ""};
    struct esi_stage_node *root;
    int result = esi_stage_tree_plan(origins, 3, config, &infos, NULL, &error, &root);

    require(result == 0 || error.text[0] != '\0');
    if (result == 0)
        esi_stage_node_destroy(root);
}

FUZZ_TARGET(fuzz_scope_config, data, size)
{
    struct es_scope_config config;
    char *text = malloc(size + 1);
    char *rest = text;
    char *line;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    es_scope_config_init(&config);
    while ((line = strsep(&rest, "\n")))
        set_line(&config, line);
    plan_tree(&config);
    free(text);
    return 0;
}
