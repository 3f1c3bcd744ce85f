/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the parsers of the long and the short form of tree rules: an error has
 * a position, and accepted rules are the same when they are written and read again. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/plan/tree_rules.h"

static void check_long(const char *text)
{
    struct es_error error = {.text = ""};
    struct esi_tree_plan plan, again;
    char *first, *second;
    int rc = esi_tree_plan_parse(text, "input", &error, &plan);

    if (rc != 0) {
        require(rc == -EINVAL && error.text[0] != '\0' && error.line > 0);
        return;
    }
    require(esi_tree_plan_format(&plan, &first) == 0);
    require(esi_tree_plan_parse(first, "again", NULL, &again) == 0);
    require(esi_tree_plan_format(&again, &second) == 0);
    require(strcmp(first, second) == 0);
    esi_tree_rules_find(&plan.rules, 1, "MPI_COMM_WORLD", 8);
    free(first);
    free(second);
    esi_tree_plan_fini(&plan);
    esi_tree_plan_fini(&again);
}

static void check_short(const char *text)
{
    struct es_error error = {.text = ""};
    struct esi_tree_rule rule, again;
    size_t room = strlen(text) + 64;
    char *first = malloc(2 * room);
    int rc = esi_tree_rule_parse_short(text, &error, &rule);

    if (rc != 0) {
        require(rc == -EINVAL && error.text[0] != '\0' && error.column > 0);
    } else {
        esi_tree_rule_format_short(&rule, first, room);
        require(esi_tree_rule_parse_short(first, NULL, &again) == 0);
        esi_tree_rule_format_short(&again, first + room, room);
        require(strcmp(first, first + room) == 0);
        esi_tree_rule_fini(&rule);
        esi_tree_rule_fini(&again);
    }
    free(first);
}

FUZZ_TARGET(fuzz_tree_rules, data, size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_long(text);
    check_short(text);
    free(text);
    return 0;
}
