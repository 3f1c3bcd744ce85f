/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Writes tree rules, in long for processes and in short for people. */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/plan/tree_rules_private.h"

static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c <= ' ' || c == '%' || c == ';' || c == 0x7f)
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

static void print_bits(FILE *out, uint32_t bits, const char *(*name)(uint32_t bit))
{
    const char *separator = "";

    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((bits & bit) == 0)
            continue;
        fprintf(out, "%s%s", separator, name(bit));
        separator = ",";
    }
}

static void print_edges(FILE *out, const struct es_tree_rule *rule)
{
    for (size_t i = 0; i < rule->edge_count; i++)
        fprintf(out, "%s%d-%d", i > 0 ? "," : "", rule->edges[i].parent,
                rule->edges[i].child);
}

/* --- In long ---------------------------------------------------------------------- */

static void print_bytes(FILE *out, const struct es_tree_rule *rule)
{
    fprintf(out, " bytes=%" PRIu64 "-", rule->min_bytes);
    if (rule->max_bytes != UINT64_MAX)
        fprintf(out, "%" PRIu64, rule->max_bytes);
}

/* What only rules of some shapes have. */
static void print_shape(FILE *out,
                        const struct es_tree_rule *rule,
                        const struct es_tree_rule *defaults)
{
    fprintf(out, " shape=%s", es_tree_shape_name(rule->shape));
    if (rule->fan_out != defaults->fan_out)
        fprintf(out, " fan-out=%d", rule->fan_out);
    if (rule->levels != defaults->levels) {
        fputs(" levels=", out);
        print_bits(out, rule->levels, es_tree_level_name);
    }
    if (rule->segment_bytes != defaults->segment_bytes)
        fprintf(out, " segment=%" PRIu64, rule->segment_bytes);
    if (rule->edge_count > 0) {
        fputs(" edges=", out);
        print_edges(out, rule);
    }
}

static void print_rule(FILE *out, const struct es_tree_rule *rule)
{
    struct es_tree_rule defaults;

    es_tree_rule_init(&defaults, rule->shape);
    fputs("tree ", out);
    print_escaped(out, rule->name);
    if (rule->operations != defaults.operations) {
        fputs(" operations=", out);
        print_bits(out, rule->operations, es_tree_operation_name);
    }
    if (strcmp(rule->communicator, defaults.communicator) != 0) {
        fputs(" communicator=", out);
        print_escaped(out, rule->communicator);
    }
    if (rule->min_bytes != defaults.min_bytes || rule->max_bytes != defaults.max_bytes)
        print_bytes(out, rule);
    print_shape(out, rule, &defaults);
    fputs("\n", out);
}

static void print_place(FILE *out, const char *key, const char *name)
{
    if (name[0] == '\0')
        return;
    fprintf(out, " %s=", key);
    print_escaped(out, name);
}

static void print_host(FILE *out, const struct es_tree_host *host)
{
    fputs("host ", out);
    print_escaped(out, host->name);
    print_place(out, "cluster", host->cluster);
    print_place(out, "gateway", host->gateway);
    fputs("\n", out);
}

void es_tree_text_flatten(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ';';
}

int es_tree_plan_format(const struct es_tree_plan *plan, char **ret_text)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    bool failed;

    if (!out)
        return -ENOMEM;
    fputs("eventspace-trees 1\n", out);
    for (size_t i = 0; i < plan->host_count; i++)
        print_host(out, &plan->hosts[i]);
    for (size_t i = 0; i < plan->rules.count; i++)
        print_rule(out, &plan->rules.rules[i]);
    fputs("end\n", out);
    failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

/* --- In short --------------------------------------------------------------------- */

static void print_short(FILE *out, const struct es_tree_rule *rule)
{
    fputs(es_tree_shape_name(rule->shape), out);
    if (rule->shape == ES_TREE_KARY)
        fprintf(out, ":%d", rule->fan_out);
    if (rule->shape == ES_TREE_LEVELS) {
        fputs(":", out);
        print_bits(out, rule->levels, es_tree_level_name);
        if (rule->fan_out != 0)
            fprintf(out, ":%d", rule->fan_out);
    }
    if (rule->shape == ES_TREE_EXPLICIT && rule->edge_count > 0) {
        fputs(":", out);
        print_edges(out, rule);
    }
    if (rule->segment_bytes != ES_TREE_SEGMENT_BYTES)
        fprintf(out, "/%" PRIu64, rule->segment_bytes);
}

const char *es_tree_rule_format_short(const struct es_tree_rule *rule,
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
