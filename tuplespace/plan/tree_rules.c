/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_rules.c - tree rules: names, fields, defaults, edges, and finding the rule for
 * an operation.  tree_rules_text.c parses whole texts. */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/operation_codes.h"

#define LEVELS (ES_TREE_LEVEL_HOST | ES_TREE_LEVEL_CLUSTER | ES_TREE_LEVEL_GATEWAY)

/* Added to the codes of large-count variants. */
#define LARGE_COUNT 2000

/* --- Names ------------------------------------------------------------------------ */

/* By bit; NULL beyond the last. */
static const char *const operation_names[] = {
    [ES_TREE_BARRIER] = "barrier",
    [ES_TREE_BCAST] = "bcast",
    [ES_TREE_REDUCE] = "reduce",
    [ES_TREE_ALLREDUCE] = "allreduce",
    [ES_TREE_GATHER] = "gather",
    [ES_TREE_SCATTER] = "scatter",
    [ES_TREE_ALLGATHER] = "allgather",
    [ES_TREE_KIND_COUNT + ES_TREE_BARRIER] = "ibarrier",
    [ES_TREE_KIND_COUNT + ES_TREE_BCAST] = "ibcast",
    [ES_TREE_KIND_COUNT + ES_TREE_REDUCE] = "ireduce",
    [ES_TREE_KIND_COUNT + ES_TREE_ALLREDUCE] = "iallreduce",
    [ES_TREE_KIND_COUNT + ES_TREE_GATHER] = "igather",
    [ES_TREE_KIND_COUNT + ES_TREE_SCATTER] = "iscatter",
    [ES_TREE_KIND_COUNT + ES_TREE_ALLGATHER] = "iallgather",
    [2 * ES_TREE_KIND_COUNT] = NULL,
};

/* By bit. */
static const uint16_t operation_codes[2 * ES_TREE_KIND_COUNT] = {
    [ES_TREE_BARRIER] = ES_OP_MPI_Barrier,
    [ES_TREE_BCAST] = ES_OP_MPI_Bcast,
    [ES_TREE_REDUCE] = ES_OP_MPI_Reduce,
    [ES_TREE_ALLREDUCE] = ES_OP_MPI_Allreduce,
    [ES_TREE_GATHER] = ES_OP_MPI_Gather,
    [ES_TREE_SCATTER] = ES_OP_MPI_Scatter,
    [ES_TREE_ALLGATHER] = ES_OP_MPI_Allgather,
    [ES_TREE_KIND_COUNT + ES_TREE_BARRIER] = ES_OP_MPI_Ibarrier,
    [ES_TREE_KIND_COUNT + ES_TREE_BCAST] = ES_OP_MPI_Ibcast,
    [ES_TREE_KIND_COUNT + ES_TREE_REDUCE] = ES_OP_MPI_Ireduce,
    [ES_TREE_KIND_COUNT + ES_TREE_ALLREDUCE] = ES_OP_MPI_Iallreduce,
    [ES_TREE_KIND_COUNT + ES_TREE_GATHER] = ES_OP_MPI_Igather,
    [ES_TREE_KIND_COUNT + ES_TREE_SCATTER] = ES_OP_MPI_Iscatter,
    [ES_TREE_KIND_COUNT + ES_TREE_ALLGATHER] = ES_OP_MPI_Iallgather,
};

#define OPERATION_COUNT (sizeof operation_codes / sizeof operation_codes[0])

_Static_assert(ES_OP_MPI_Allreduce_c == ES_OP_MPI_Allreduce + LARGE_COUNT,
               "large counts have codes of their own");

static const struct esi_field_group operation_groups[] = {
    {"all", ES_TREE_ALL},
    {"blocking", ES_TREE_ALL_BLOCKING},
    {"nonblocking", ES_TREE_ALL & ~ES_TREE_ALL_BLOCKING},
    {NULL, 0},
};

static const char *const shape_names[] = {
    [ES_TREE_LIBRARY] = "library",   [ES_TREE_LINEAR] = "linear",
    [ES_TREE_KARY] = "kary",         [ES_TREE_BINOMIAL] = "binomial",
    [ES_TREE_EXCHANGE] = "exchange", [ES_TREE_LEVELS] = "levels",
    [ES_TREE_EXPLICIT] = "explicit", [ES_TREE_EXPLICIT + 1] = NULL,
};

/* By bit of enum esi_tree_level. */
static const char *const level_names[] = {"core",    "socket",  "host",
                                          "cluster", "gateway", NULL};

const char *esi_tree_operation_name(uint32_t operation)
{
    for (unsigned int i = 0; i < OPERATION_COUNT; i++)
        if (operation == 1u << i)
            return operation_names[i];
    return "?";
}

uint32_t esi_tree_operation_of_code(uint16_t operation)
{
    for (unsigned int i = 0; i < OPERATION_COUNT; i++)
        if (operation == operation_codes[i] ||
            operation == operation_codes[i] + LARGE_COUNT)
            return 1u << i;
    return 0;
}

const char *esi_tree_shape_name(enum esi_tree_shape shape)
{
    return (unsigned int)shape <= ES_TREE_EXPLICIT ? shape_names[shape] : "?";
}

int esi_tree_shape_by_name(const char *name, enum esi_tree_shape *ret_shape)
{
    for (unsigned int i = 0; shape_names[i]; i++) {
        if (strcmp(name, shape_names[i]) == 0) {
            *ret_shape = (enum esi_tree_shape)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* --- The fields of a rule --------------------------------------------------------- */

/* "0-4096", "4096-" (unbounded), "*", or one number for exactly that. */
static int parse_bytes(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       void *record)
{
    struct esi_tree_rule *rule = record;
    struct esi_text_span last = text;
    struct esi_text_span first = esi_text_span_split(&last, '-');
    uint64_t min = 0;
    uint64_t max = UINT64_MAX;

    (void)field;
    if (!esi_text_span_is(text, "*")) {
        if (!esi_text_span_number(first, UINT64_MAX, &min) ||
            (last.text && last.length > 0 &&
             !esi_text_span_number(last, UINT64_MAX, &max)))
            return -EINVAL;
        if (!last.text)
            max = min;
        if (max < min) {
            fault->at = last;
            snprintf(fault->expected, sizeof fault->expected,
                     "a last number not below the first");
            return -EINVAL;
        }
    }
    rule->min_bytes = min;
    rule->max_bytes = max;
    return 0;
}

static void format_bytes(const struct esi_field *field, const void *record, FILE *out)
{
    const struct esi_tree_rule *rule = record;

    (void)field;
    fprintf(out, "%" PRIu64 "-", rule->min_bytes);
    if (rule->max_bytes != UINT64_MAX)
        fprintf(out, "%" PRIu64, rule->max_bytes);
}

static const struct esi_field_text bytes_text = {
    .expected = "'FIRST-LAST', 'FIRST-', 'NUMBER' or '*'",
    .parse = parse_bytes,
    .format = format_bytes,
};

/* The valid range depends on the shape, which has been parsed before. */
static int parse_fan_out(const struct esi_field *field,
                         struct esi_text_span text,
                         struct esi_field_fault *fault,
                         void *record)
{
    struct esi_tree_rule *rule = record;
    bool may_be_zero = rule->shape == ES_TREE_LEVELS;
    uint64_t number;

    if (esi_text_span_number(text, (uint64_t)field->maximum, &number) && number != 1 &&
        (number != 0 || may_be_zero)) {
        rule->fan_out = (int)number;
        return 0;
    }
    snprintf(fault->expected, sizeof fault->expected, "%sa number from 2 to %d",
             may_be_zero ? "0 or " : "", ES_TREE_FAN_OUT_MAX);
    return -EINVAL;
}

static void format_fan_out(const struct esi_field *field, const void *record, FILE *out)
{
    const struct esi_tree_rule *rule = record;

    (void)field;
    fprintf(out, "%d", rule->fan_out);
}

static const struct esi_field_text fan_out_text = {.expected = "a number",
                                                   .parse = parse_fan_out,
                                                   .format = format_fan_out};

/* All 64 bits. */
static int parse_segment(const struct esi_field *field,
                         struct esi_text_span text,
                         struct esi_field_fault *fault,
                         void *record)
{
    struct esi_tree_rule *rule = record;

    (void)field;
    (void)fault;
    return esi_text_span_number(text, UINT64_MAX, &rule->segment_bytes) ? 0 : -EINVAL;
}

static void format_segment(const struct esi_field *field, const void *record, FILE *out)
{
    const struct esi_tree_rule *rule = record;

    (void)field;
    fprintf(out, "%" PRIu64, rule->segment_bytes);
}

static const struct esi_field_text segment_text = {
    .expected = "a number of bytes, or 0",
    .parse = parse_segment,
    .format = format_segment,
};

static int parse_edges(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       void *record);
static void format_edges(const struct esi_field *field, const void *record, FILE *out);

static const struct esi_field_text edges_text = {
    .expected = "'PARENT-CHILD', two ranks",
    .parse = parse_edges,
    .format = format_edges,
};

static const struct esi_field rule_rows[] = {
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED | ESI_FIELD_IN_PLACE | ESI_FIELD_JSON_ONLY,
     .offset = offsetof(struct esi_tree_rule, name),
     .minimum = 1,
     .maximum = sizeof(((struct esi_tree_rule *)NULL)->name) - 1,
     .help = "name of the rule"},
    {.name = "operations",
     .kind = ESI_FIELD_FLAGS,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_tree_rule, operations),
     .choices = operation_names,
     .groups = operation_groups,
     .help = "operations that it is for; none = all that block"},
    {.name = "communicator",
     .kind = ESI_FIELD_STRING,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct esi_tree_rule, communicator),
     .minimum = 1,
     .maximum = sizeof(((struct esi_tree_rule *)NULL)->communicator) - 1,
     .initial_text = "*",
     .help = "pattern of the names of the communicators that it is for"},
    {.name = "bytes",
     .kind = ESI_FIELD_OTHER,
     .flags = ESI_FIELD_LINE_ONLY,
     .offset = offsetof(struct esi_tree_rule, min_bytes),
     .size = 2 * sizeof(uint64_t),
     .text = &bytes_text,
     .help = "sizes of the payload that it is for"},
    {.name = "min_bytes",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET | ESI_FIELD_JSON_ONLY,
     .offset = offsetof(struct esi_tree_rule, min_bytes),
     .maximum = INT64_MAX,
     .help = "the smallest payload that it is for"},
    {.name = "max_bytes",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET | ESI_FIELD_JSON_ONLY | ESI_FIELD_ENDLESS,
     .offset = offsetof(struct esi_tree_rule, max_bytes),
     .maximum = INT64_MAX,
     .initial = INT64_MAX,
     .help = "the largest payload that it is for"},
    {.name = "shape",
     .kind = ESI_FIELD_CHOICE,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_tree_rule, shape),
     .choices = shape_names,
     .help = "what the tree looks like"},
    {.name = "fan_out",
     .line_name = "fan-out",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_tree_rule, fan_out),
     .size = sizeof(int),
     .minimum = 2,
     .maximum = ES_TREE_FAN_OUT_MAX,
     .text = &fan_out_text,
     .help = "most children of a node"},
    {.name = "levels",
     .kind = ESI_FIELD_FLAGS,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_tree_rule, levels),
     .choices = level_names,
     .help = "what has a leader of its own"},
    {.name = "segment_bytes",
     .line_name = "segment",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_tree_rule, segment_bytes),
     .maximum = INT64_MAX,
     .initial = ES_TREE_SEGMENT_BYTES,
     .text = &segment_text,
     .help = "pieces that large messages travel in; 0 = whole"},
    {.name = "edges",
     .kind = ESI_FIELD_EDGES,
     .offset = offsetof(struct esi_tree_rule, edges),
     .count_offset = offsetof(struct esi_tree_rule, edge_count),
     .maximum = ES_TREE_RANKS_MAX - 1,
     .text = &edges_text,
     .help = "parent and child of each edge of the tree"},
};

const struct esi_fields esi_tree_rule_fields = {
    .name = "collective",
    .size = sizeof(struct esi_tree_rule),
    .rows = rule_rows,
    .row_count = sizeof rule_rows / sizeof *rule_rows,
};

_Static_assert(offsetof(struct esi_tree_rule, max_bytes) ==
                   offsetof(struct esi_tree_rule, min_bytes) + sizeof(uint64_t),
               "bytes is both");

/* --- Rules ------------------------------------------------------------------------ */

void esi_tree_rule_complete(struct esi_tree_rule *rule)
{
    if (rule->operations == 0)
        rule->operations = ES_TREE_ALL_BLOCKING;
    if (rule->levels == 0)
        rule->levels = LEVELS;
    if (rule->fan_out == 0 && rule->shape != ES_TREE_LEVELS)
        rule->fan_out = 2;
}

void esi_tree_rule_init(struct esi_tree_rule *rule, enum esi_tree_shape shape)
{
    *rule = (struct esi_tree_rule){.edges = NULL};
    esi_fields_init(&esi_tree_rule_fields, rule);
    rule->shape = shape;
    esi_tree_rule_complete(rule);
}

int esi_tree_rule_copy(const struct esi_tree_rule *rule, struct esi_tree_rule *ret_copy)
{
    struct esi_tree_rule copy = *rule;

    if (rule->edge_count > 0) {
        copy.edges = calloc(rule->edge_count, sizeof *copy.edges);
        if (!copy.edges)
            return -ENOMEM;
        memcpy(copy.edges, rule->edges, rule->edge_count * sizeof *copy.edges);
    }
    *ret_copy = copy;
    return 0;
}

void esi_tree_rule_fini(struct esi_tree_rule *rule)
{
    free(rule->edges);
    *rule = (struct esi_tree_rule){.edges = NULL};
}

void esi_tree_plan_fini(struct esi_tree_plan *plan)
{
    for (size_t i = 0; i < plan->rules.count; i++)
        esi_tree_rule_fini(&plan->rules.rules[i]);
    free(plan->rules.rules);
    free(plan->hosts);
    *plan = (struct esi_tree_plan){.hosts = NULL};
}

const struct esi_tree_rule *esi_tree_rules_find(const struct esi_tree_rules *rules,
                                                uint32_t operation,
                                                const char *communicator,
                                                uint64_t bytes)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct esi_tree_rule *rule = &rules->rules[i];

        if ((rule->operations & operation) != 0 && bytes >= rule->min_bytes &&
            bytes <= rule->max_bytes &&
            (strcmp(rule->communicator, "*") == 0 ||
             fnmatch(rule->communicator, communicator, 0) == 0))
            return rule;
    }
    return NULL;
}

/* --- Edges ------------------------------------------------------------------------ */

static int parse_rank(struct esi_text_span word, int *ret_rank)
{
    uint64_t number;

    if (!word.text || !esi_text_span_number(word, INT32_MAX, &number))
        return -EINVAL;
    *ret_rank = (int)number;
    return 0;
}

static size_t count_edges(struct esi_text_span word)
{
    size_t count = 1;

    for (size_t i = 0; i < word.length; i++)
        if (word.text[i] == ',')
            count++;
    return count;
}

/* Returns whether the path from a rank to the root ends.  `parents` has `count` + 1
 * entries, -1 for none; ranks on the path are marked as sound, so that all walks
 * together take O(count). */
static bool ends_above(const int *parents, bool *sound, int rank, size_t count)
{
    size_t steps = 0;
    int at = rank;

    while (at >= 0 && !sound[at]) {
        if (steps++ > count)
            return false;
        at = parents[at];
    }
    for (at = rank; at >= 0 && !sound[at]; at = parents[at])
        sound[at] = true;
    return true;
}

/* Returns the index of the wrong edge and what is wrong with it, or -1.  `parents` and
 * `sound` have an entry for each rank. */
static ptrdiff_t find_fault(const struct esi_tree_edge *edges,
                            size_t count,
                            int *parents,
                            bool *sound,
                            const char **ret_expected)
{
    for (size_t i = 0; i <= count; i++)
        parents[i] = -1;
    for (size_t i = 0; i < count; i++) {
        *ret_expected = "ranks without a gap from 0 on, one more than there are edges";
        if ((size_t)edges[i].parent > count || (size_t)edges[i].child > count)
            return (ptrdiff_t)i;
        *ret_expected = "each rank to be a child once at most";
        if (parents[edges[i].child] >= 0)
            return (ptrdiff_t)i;
        parents[edges[i].child] = edges[i].parent;
    }
    *ret_expected = "a tree, but the edges form a cycle";
    for (size_t i = 0; i < count; i++)
        if (!ends_above(parents, sound, edges[i].child, count))
            return (ptrdiff_t)i;
    return -1;
}

int esi_tree_edges_check(const struct esi_tree_edge *edges,
                         size_t count,
                         size_t *ret_fault,
                         const char **ret_expected)
{
    int *parents = calloc(count + 1, sizeof *parents);
    bool *sound = calloc(count + 1, sizeof *sound);
    ptrdiff_t fault = -1;
    int code = 0;

    if (parents && sound)
        fault = find_fault(edges, count, parents, sound, ret_expected);
    else
        code = -ENOMEM;
    free(parents);
    free(sound);
    if (fault < 0)
        return code;
    *ret_fault = (size_t)fault;
    return -EINVAL;
}

static struct esi_text_span piece_at(struct esi_text_span word, size_t index)
{
    struct esi_text_span piece = esi_text_span_split(&word, ',');

    for (size_t i = 0; i < index; i++)
        piece = esi_text_span_split(&word, ',');
    return piece;
}

static int parse_edges(const struct esi_field *field,
                       struct esi_text_span text,
                       struct esi_field_fault *fault,
                       void *record)
{
    struct esi_tree_rule *rule = record;
    struct esi_tree_edge *edges = calloc(count_edges(text), sizeof *edges);
    struct esi_text_span rest = text;
    const char *expected;
    size_t count = 0;
    size_t wrong;
    int code = edges ? 0 : -ENOMEM;

    (void)field;
    while (code == 0 && rest.text) {
        struct esi_text_span child = esi_text_span_split(&rest, ',');
        struct esi_text_span parent;

        fault->at = child;
        parent = esi_text_span_split(&child, '-');
        if (parse_rank(parent, &edges[count].parent) != 0 ||
            parse_rank(child, &edges[count].child) != 0)
            code = -EINVAL;
        count++;
    }
    if (code == 0) {
        code = esi_tree_edges_check(edges, count, &wrong, &expected);
        if (code == -EINVAL) {
            fault->at = piece_at(text, wrong);
            snprintf(fault->expected, sizeof fault->expected, "%s", expected);
        }
    }
    if (code != 0) {
        free(edges);
        return code;
    }
    free(rule->edges);
    rule->edges = edges;
    rule->edge_count = count;
    return 0;
}

static void format_edges(const struct esi_field *field, const void *record, FILE *out)
{
    const struct esi_tree_rule *rule = record;

    (void)field;
    for (size_t i = 0; i < rule->edge_count; i++)
        fprintf(out, "%s%d-%d", i > 0 ? "," : "", rule->edges[i].parent,
                rule->edges[i].child);
}
