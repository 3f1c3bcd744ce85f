/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads tree rules in short: "kary:4/1048576". */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tuplespace/plan/tree_rules_private.h"

/* "host,cluster" or "host,cluster:4"; a number alone is a fan-out. */
static int parse_levels_part(const struct esi_tree_line *line,
                             struct esi_tree_word word,
                             struct es_tree_rule *rule)
{
    struct esi_tree_word fan_out = word;
    struct esi_tree_word levels = esi_tree_word_split(&fan_out, ':');
    int code = esi_tree_parse_levels(line, levels, rule);

    if (code == 0 && fan_out.text)
        code = esi_tree_parse_fan_out(line, fan_out, rule);
    return code;
}

/* What stands behind the shape's colon. */
static int parse_details(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule)
{
    switch (rule->shape) {
    case ES_TREE_KARY:
        return esi_tree_parse_fan_out(line, word, rule);
    case ES_TREE_LEVELS:
        return parse_levels_part(line, word, rule);
    case ES_TREE_EXPLICIT:
        return esi_tree_parse_edges(line, word, rule);
    default:
        return esi_tree_fault(line, word, "text behind the colon",
                              "none: only kary, levels and explicit have one");
    }
}

static int parse_shape_part(const struct esi_tree_line *line,
                            struct esi_tree_word word,
                            struct es_tree_rule *rule)
{
    struct esi_tree_word details = word;
    struct esi_tree_word shape = esi_tree_word_split(&details, ':');
    int code = esi_tree_parse_shape(line, shape, rule);

    if (code != 0)
        return code;
    if (details.text)
        return parse_details(line, details, rule);
    if (rule->shape == ES_TREE_EXPLICIT)
        return esi_tree_fault(line, word, "tree", "explicit:PARENT-CHILD,...");
    return 0;
}

int es_tree_rule_parse_short(const char *text,
                             struct es_error *error,
                             struct es_tree_rule *ret_rule)
{
    struct esi_tree_line line = {.error = error, .text = text};
    struct esi_tree_word segment = {.text = text, .length = strlen(text)};
    struct esi_tree_word word = esi_tree_word_split(&segment, '/');
    struct es_tree_rule rule;
    int code;

    es_tree_rule_init(&rule, ES_TREE_LIBRARY);
    code = parse_shape_part(&line, word, &rule);
    if (code == 0 && segment.text)
        code = esi_tree_parse_segment(&line, segment, &rule);
    if (code != 0) {
        es_tree_rule_fini(&rule);
        return code;
    }
    snprintf(rule.name, sizeof rule.name, "%s", es_tree_shape_name(rule.shape));
    *ret_rule = rule;
    return 0;
}

int es_tree_rule_parse_operations(const char *text,
                                  struct es_error *error,
                                  struct es_tree_rule *rule)
{
    struct esi_tree_line line = {.error = error, .text = text};
    struct esi_tree_word word = {.text = text, .length = strlen(text)};

    return esi_tree_parse_operations(&line, word, rule);
}

int es_tree_rule_parse_bytes(const char *text,
                             struct es_error *error,
                             struct es_tree_rule *rule)
{
    struct esi_tree_line line = {.error = error, .text = text};
    struct esi_tree_word word = {.text = text, .length = strlen(text)};

    return esi_tree_parse_bytes(&line, word, rule);
}
