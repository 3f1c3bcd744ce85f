/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules: names, defaults, and which rule is for an operation.
 *
 * Reading is in tree_rules_parse.c, tree_rules_short.c and tree_rules_values.c, writing
 * in tree_rules_format.c.
 */
#include "config.h"

#include "tuplespace/plan/tree_rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tuplespace/operation_codes.h"
#include "tuplespace/plan/tree_rules_private.h"

#define LEVELS (ES_TREE_LEVEL_HOST | ES_TREE_LEVEL_CLUSTER | ES_TREE_LEVEL_GATEWAY)

/* Codes of large-count variants lie so much higher. */
#define LARGE_COUNT 2000

/* --- Names ------------------------------------------------------------------------ */

/* By bit. */
static const struct {
    const char *name;
    uint16_t code;
} operations[2 * ES_TREE_KIND_COUNT] = {
    [ES_TREE_BARRIER] = {"barrier", ES_OP_MPI_Barrier},
    [ES_TREE_BCAST] = {"bcast", ES_OP_MPI_Bcast},
    [ES_TREE_REDUCE] = {"reduce", ES_OP_MPI_Reduce},
    [ES_TREE_ALLREDUCE] = {"allreduce", ES_OP_MPI_Allreduce},
    [ES_TREE_GATHER] = {"gather", ES_OP_MPI_Gather},
    [ES_TREE_SCATTER] = {"scatter", ES_OP_MPI_Scatter},
    [ES_TREE_ALLGATHER] = {"allgather", ES_OP_MPI_Allgather},
    [ES_TREE_KIND_COUNT + ES_TREE_BARRIER] = {"ibarrier", ES_OP_MPI_Ibarrier},
    [ES_TREE_KIND_COUNT + ES_TREE_BCAST] = {"ibcast", ES_OP_MPI_Ibcast},
    [ES_TREE_KIND_COUNT + ES_TREE_REDUCE] = {"ireduce", ES_OP_MPI_Ireduce},
    [ES_TREE_KIND_COUNT + ES_TREE_ALLREDUCE] = {"iallreduce", ES_OP_MPI_Iallreduce},
    [ES_TREE_KIND_COUNT + ES_TREE_GATHER] = {"igather", ES_OP_MPI_Igather},
    [ES_TREE_KIND_COUNT + ES_TREE_SCATTER] = {"iscatter", ES_OP_MPI_Iscatter},
    [ES_TREE_KIND_COUNT + ES_TREE_ALLGATHER] = {"iallgather", ES_OP_MPI_Iallgather},
};

#define OPERATION_COUNT (sizeof operations / sizeof operations[0])

_Static_assert(ES_OP_MPI_Allreduce_c == ES_OP_MPI_Allreduce + LARGE_COUNT,
               "large counts have codes of their own");

const char *es_tree_operation_name(uint32_t operation)
{
    for (unsigned int i = 0; i < OPERATION_COUNT; i++)
        if (operation == 1u << i)
            return operations[i].name;
    return "?";
}

uint32_t es_tree_operation_by_name(const char *name)
{
    for (unsigned int i = 0; i < OPERATION_COUNT; i++)
        if (strcmp(name, operations[i].name) == 0)
            return 1u << i;
    return 0;
}

uint32_t es_tree_operation_of_code(uint16_t operation)
{
    for (unsigned int i = 0; i < OPERATION_COUNT; i++)
        if (operation == operations[i].code ||
            operation == operations[i].code + LARGE_COUNT)
            return 1u << i;
    return 0;
}

static const char *const shape_names[] = {
    [ES_TREE_LIBRARY] = "library", [ES_TREE_LINEAR] = "linear",
    [ES_TREE_KARY] = "kary",       [ES_TREE_BINOMIAL] = "binomial",
    [ES_TREE_LEVELS] = "levels",   [ES_TREE_EXPLICIT] = "explicit",
};

#define SHAPE_COUNT (sizeof shape_names / sizeof shape_names[0])

const char *es_tree_shape_name(enum es_tree_shape shape)
{
    return (unsigned int)shape < SHAPE_COUNT ? shape_names[shape] : "?";
}

int es_tree_shape_by_name(const char *name, enum es_tree_shape *ret_shape)
{
    for (unsigned int i = 0; i < SHAPE_COUNT; i++) {
        if (strcmp(name, shape_names[i]) == 0) {
            *ret_shape = (enum es_tree_shape)i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *es_tree_level_name(uint32_t level)
{
    switch (level) {
    case ES_TREE_LEVEL_CORE:
        return "core";
    case ES_TREE_LEVEL_SOCKET:
        return "socket";
    case ES_TREE_LEVEL_HOST:
        return "host";
    case ES_TREE_LEVEL_CLUSTER:
        return "cluster";
    case ES_TREE_LEVEL_GATEWAY:
        return "gateway";
    default:
        return "?";
    }
}

/* --- Rules ------------------------------------------------------------------------ */

void esi_tree_rule_set_shape(struct es_tree_rule *rule, enum es_tree_shape shape)
{
    rule->shape = shape;
    rule->fan_out = shape == ES_TREE_LEVELS ? 0 : 2;
}

void es_tree_rule_init(struct es_tree_rule *rule, enum es_tree_shape shape)
{
    *rule = (struct es_tree_rule){.operations = ES_TREE_ALL_BLOCKING,
                                  .communicator = "*",
                                  .max_bytes = UINT64_MAX,
                                  .levels = LEVELS,
                                  .segment_bytes = ES_TREE_SEGMENT_BYTES};
    esi_tree_rule_set_shape(rule, shape);
}

void es_tree_rule_fini(struct es_tree_rule *rule)
{
    free(rule->edges);
    *rule = (struct es_tree_rule){.edges = NULL};
}

void es_tree_plan_fini(struct es_tree_plan *plan)
{
    for (size_t i = 0; i < plan->rules.count; i++)
        es_tree_rule_fini(&plan->rules.rules[i]);
    free(plan->rules.rules);
    free(plan->hosts);
    *plan = (struct es_tree_plan){.hosts = NULL};
}

const struct es_tree_rule *es_tree_rules_find(const struct es_tree_rules *rules,
                                              uint32_t operation,
                                              const char *communicator,
                                              uint64_t bytes)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct es_tree_rule *rule = &rules->rules[i];

        if ((rule->operations & operation) != 0 && bytes >= rule->min_bytes &&
            bytes <= rule->max_bytes &&
            (strcmp(rule->communicator, "*") == 0 ||
             fnmatch(rule->communicator, communicator, 0) == 0))
            return rule;
    }
    return NULL;
}
