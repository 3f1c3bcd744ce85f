/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_rules_text.c - tree rules as text: the long form for processes, the short form
 * for people.  The observed process parses the long form when it starts, and when an
 * operator changes the rules. */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "tuplespace/plan/lines.h"

/* More would not fit into the environment. */
enum { RULES_MOST = 1024, HOSTS_MOST = 65536 };

#define PLAN_HEAD "eventspace-trees"

static const struct esi_text_span no_text = {.text = NULL};

static const struct esi_field *field_of(const char *name)
{
    return esi_fields_find(&esi_tree_rule_fields, name);
}

static struct esi_text_span key_of(const struct esi_line_members *members,
                                   const char *name)
{
    return members->keys[field_of(name) - esi_tree_rule_fields.rows];
}

/* --- Long form: reading ----------------------------------------------------------- */

/* Checks members that only rules of some shapes have. */
static int check_shape(const struct esi_lines *lines,
                       const struct esi_line_members *members,
                       const struct esi_tree_rule *rule)
{
    struct esi_text_span fan_out = key_of(members, "fan_out");
    struct esi_text_span levels = key_of(members, "levels");
    struct esi_text_span edges = key_of(members, "edges");

    if (fan_out.text && rule->shape != ES_TREE_KARY && rule->shape != ES_TREE_LEVELS)
        return esi_lines_fault(lines, fan_out, "member",
                               "it only for the shapes kary and levels");
    if (levels.text && rule->shape != ES_TREE_LEVELS)
        return esi_lines_fault(lines, levels, "member", "it only for the shape levels");
    if (edges.text && rule->shape != ES_TREE_EXPLICIT)
        return esi_lines_fault(lines, edges, "member",
                               "it only for the shape explicit");
    if (!edges.text && rule->shape == ES_TREE_EXPLICIT)
        return esi_lines_fault(lines, no_text, "end of line", "edges=PARENT-CHILD,...");
    return 0;
}

static int check_levels(const struct esi_lines *lines,
                        struct esi_text_span text,
                        const struct esi_tree_rule *rule)
{
    if ((rule->levels & ES_TREE_LEVEL_GATEWAY) != 0 &&
        (rule->levels & ES_TREE_LEVEL_CLUSTER) == 0)
        return esi_lines_fault(lines, text, "levels",
                               "cluster with gateway, which belongs to a cluster");
    return 0;
}

static int check_name_is_new(const struct esi_lines *lines,
                             const struct esi_tree_rules *rules)
{
    const struct esi_tree_rule *last = &rules->rules[rules->count - 1];
    struct esi_lines again = *lines;

    for (size_t i = 0; i + 1 < rules->count; i++) {
        if (strcmp(rules->rules[i].name, last->name) != 0)
            continue;
        again.rest = lines->line;
        esi_lines_word(&again);
        return esi_lines_fault(lines, esi_lines_word(&again), "tree",
                               "another name: this one is already used");
    }
    return 0;
}

static int read_rule(struct esi_lines *lines, struct esi_tree_rules *rules)
{
    struct esi_tree_rule *rule = &rules->rules[rules->count - 1];
    struct esi_line_members members;
    int code = esi_lines_text(lines, "tree", rule->name, sizeof rule->name);

    if (code == 0)
        code = check_name_is_new(lines, rules);
    if (code == 0)
        code = esi_lines_members(lines, &esi_tree_rule_fields, rule, &members);
    if (code == 0)
        code = check_shape(lines, &members, rule);
    if (code == 0)
        code = check_levels(
            lines, members.values[field_of("levels") - esi_tree_rule_fields.rows],
            rule);
    esi_tree_rule_complete(rule);
    return code;
}

static int add_rule(struct esi_lines *lines,
                    struct esi_text_span word,
                    struct esi_tree_rules *rules)
{
    struct esi_tree_rule *rule;

    if (rules->count >= RULES_MOST)
        return esi_lines_fault(lines, word, "rule", "at most 1024 of them");
    if (ESI_ARRAY_RESERVE(rules->rules, rules->capacity, rules->count + 1) < 0)
        return -ENOMEM;
    rule = &rules->rules[rules->count++];
    *rule = (struct esi_tree_rule){.edges = NULL};
    esi_fields_init(&esi_tree_rule_fields, rule);
    return read_rule(lines, rules);
}

static const struct esi_field host_rows[] = {
    {.name = "cluster",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct esi_tree_host, cluster),
     .maximum = sizeof(((struct esi_tree_host *)NULL)->cluster) - 1},
    {.name = "gateway",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct esi_tree_host, gateway),
     .maximum = sizeof(((struct esi_tree_host *)NULL)->gateway) - 1},
};

static const struct esi_fields host_fields = {
    .name = "host",
    .size = sizeof(struct esi_tree_host),
    .rows = host_rows,
    .row_count = sizeof host_rows / sizeof *host_rows,
};

static int add_host(struct esi_lines *lines,
                    struct esi_text_span word,
                    struct esi_tree_plan *plan)
{
    struct esi_line_members members;
    struct esi_tree_host *host;
    int code;

    if (plan->rules.count > 0)
        return esi_lines_fault(lines, word, "line", "hosts only before the first tree");
    if (plan->host_count >= HOSTS_MOST)
        return esi_lines_fault(lines, word, "line", "at most 65536 of them");
    if (ESI_ARRAY_RESERVE(plan->hosts, plan->host_capacity, plan->host_count + 1) < 0)
        return -ENOMEM;
    host = &plan->hosts[plan->host_count++];
    *host = (struct esi_tree_host){.name = ""};
    code = esi_lines_text(lines, "host", host->name, sizeof host->name);
    return code == 0 ? esi_lines_members(lines, &host_fields, host, &members) : code;
}

static int read_line(struct esi_lines *lines,
                     struct esi_text_span word,
                     struct esi_tree_plan *plan)
{
    if (esi_text_span_is(word, "host"))
        return add_host(lines, word, plan);
    if (esi_text_span_is(word, "tree"))
        return add_rule(lines, word, &plan->rules);
    return esi_lines_fault(lines, word, "first word", "tree, host or end");
}

int esi_tree_plan_parse(const char *text,
                        const char *source,
                        struct es_error *error,
                        struct esi_tree_plan *ret_plan)
{
    struct esi_lines lines = {
        .source = source, .error = error, .text = text, .line_end = "\n;"};
    struct esi_tree_plan plan = {.hosts = NULL};
    struct esi_text_span word;
    int code = esi_lines_head(&lines, PLAN_HEAD);

    while (code == 0 && (code = esi_lines_next(&lines, &word)) > 0)
        code = read_line(&lines, word, &plan);
    if (code < 0) {
        esi_tree_plan_fini(&plan);
        return code;
    }
    *ret_plan = plan;
    return 0;
}

/* --- Long form: writing ----------------------------------------------------------- */

void esi_tree_text_flatten(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ';';
}

static void print_host(FILE *out, const struct esi_tree_host *host)
{
    static const struct esi_tree_host defaults;

    fputs("host ", out);
    esi_lines_print_text(out, host->name);
    esi_lines_print(out, &host_fields, host, &defaults);
    fputs("\n", out);
}

static void print_rule(FILE *out, const struct esi_tree_rule *rule)
{
    struct esi_tree_rule defaults;

    /* The shape is always written. */
    esi_tree_rule_init(&defaults, rule->shape);
    defaults.shape = rule->shape == ES_TREE_LIBRARY ? ES_TREE_LINEAR : ES_TREE_LIBRARY;
    fputs("tree ", out);
    esi_lines_print_text(out, rule->name);
    esi_lines_print(out, &esi_tree_rule_fields, rule, &defaults);
    fputs("\n", out);
}

static void print_plan(FILE *out, const void *record)
{
    const struct esi_tree_plan *plan = record;

    for (size_t i = 0; i < plan->host_count; i++)
        print_host(out, &plan->hosts[i]);
    for (size_t i = 0; i < plan->rules.count; i++)
        print_rule(out, &plan->rules.rules[i]);
}

int esi_tree_plan_format(const struct esi_tree_plan *plan, char **ret_text)
{
    return esi_lines_format(PLAN_HEAD, print_plan, plan, ret_text);
}

/* --- Short form: reading ---------------------------------------------------------- */

/* "host,cluster" or "host,cluster:4"; a number alone is a fan-out. */
static int parse_levels_part(const struct esi_lines *lines,
                             struct esi_text_span word,
                             struct esi_tree_rule *rule)
{
    struct esi_text_span fan_out = word;
    struct esi_text_span levels = esi_text_span_split(&fan_out, ':');
    int code = esi_lines_value(lines, field_of("levels"), levels, rule);

    if (code == 0)
        code = check_levels(lines, levels, rule);
    if (code == 0 && fan_out.text)
        code = esi_lines_value(lines, field_of("fan_out"), fan_out, rule);
    return code;
}

/* Parses the text after the shape's colon. */
static int parse_details(const struct esi_lines *lines,
                         struct esi_text_span word,
                         struct esi_tree_rule *rule)
{
    switch (rule->shape) {
    case ES_TREE_KARY:
        return esi_lines_value(lines, field_of("fan_out"), word, rule);
    case ES_TREE_LEVELS:
        return parse_levels_part(lines, word, rule);
    case ES_TREE_EXPLICIT:
        return esi_lines_value(lines, field_of("edges"), word, rule);
    default:
        return esi_lines_fault(lines, word, "text after the colon",
                               "none: only kary, levels and explicit have one");
    }
}

static int parse_shape_part(const struct esi_lines *lines,
                            struct esi_text_span word,
                            struct esi_tree_rule *rule)
{
    struct esi_text_span details = word;
    struct esi_text_span shape = esi_text_span_split(&details, ':');
    int code = esi_lines_value(lines, field_of("shape"), shape, rule);

    if (code != 0)
        return code;
    if (details.text)
        return parse_details(lines, details, rule);
    if (rule->shape == ES_TREE_EXPLICIT)
        return esi_lines_fault(lines, word, "tree", "explicit:PARENT-CHILD,...");
    return 0;
}

int esi_tree_rule_parse_short(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *ret_rule)
{
    struct esi_lines lines = {.error = error, .line = text};
    struct esi_text_span segment = esi_text_span_of(text);
    struct esi_text_span word = esi_text_span_split(&segment, '/');
    struct esi_tree_rule rule = {.edges = NULL};
    int code;

    esi_fields_init(&esi_tree_rule_fields, &rule);
    code = parse_shape_part(&lines, word, &rule);
    if (code == 0 && segment.text)
        code = esi_lines_value(&lines, field_of("segment_bytes"), segment, &rule);
    if (code != 0) {
        esi_tree_rule_fini(&rule);
        return code;
    }
    esi_tree_rule_complete(&rule);
    snprintf(rule.name, sizeof rule.name, "%s", esi_tree_shape_name(rule.shape));
    *ret_rule = rule;
    return 0;
}

static int parse_field(const char *name,
                       const char *text,
                       struct es_error *error,
                       struct esi_tree_rule *rule)
{
    struct esi_lines lines = {.error = error, .line = text};

    return esi_lines_value(&lines, field_of(name), esi_text_span_of(text), rule);
}

/* Converts "MPI_Allreduce,Ibcast" to "allreduce,ibcast". */
static void write_in_short(const char *text, char *out)
{
    for (bool begins = true; *text; begins = *text++ == ',') {
        if (begins && strncasecmp(text, "MPI_", 4) == 0)
            text += 4;
        *out++ = (char)tolower((unsigned char)*text);
    }
    *out = '\0';
}

int esi_tree_rule_parse_operations(const char *text,
                                   struct es_error *error,
                                   struct esi_tree_rule *rule)
{
    char *names = malloc(strlen(text) + 1);
    int result = -ENOMEM;

    if (names) {
        write_in_short(text, names);
        result = parse_field("operations", names, error, rule);
    }
    free(names);
    return result;
}

int esi_tree_rule_parse_bytes(const char *text,
                              struct es_error *error,
                              struct esi_tree_rule *rule)
{
    return parse_field("bytes", text, error, rule);
}

/* --- Short form: writing ---------------------------------------------------------- */

static void print_short(FILE *out, const struct esi_tree_rule *rule)
{
    fputs(esi_tree_shape_name(rule->shape), out);
    if (rule->shape == ES_TREE_KARY)
        fprintf(out, ":%d", rule->fan_out);
    if (rule->shape == ES_TREE_LEVELS) {
        fputs(":", out);
        esi_field_format(field_of("levels"), rule, out);
        if (rule->fan_out != 0)
            fprintf(out, ":%d", rule->fan_out);
    }
    if (rule->shape == ES_TREE_EXPLICIT && rule->edge_count > 0) {
        fputs(":", out);
        esi_field_format(field_of("edges"), rule, out);
    }
    if (rule->segment_bytes != ES_TREE_SEGMENT_BYTES)
        fprintf(out, "/%" PRIu64, rule->segment_bytes);
}

const char *esi_tree_rule_format_short(const struct esi_tree_rule *rule,
                                       char *out,
                                       size_t size)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (size > 0)
        out[0] = '\0';
    if (!file)
        return out;
    print_short(file, rule);
    if (fclose(file) == 0 && size > 0) {
        bytes = bytes < size - 1 ? bytes : size - 1;
        memcpy(out, text, bytes);
        out[bytes] = '\0';
    }
    free(text);
    return out;
}
