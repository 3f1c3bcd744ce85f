/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domains_ask.c - determines which data of events the predicates use, by class. */
#include "config.h"

#include "monitors/search/domains/domains_ask.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A walk over the tree of one predicate. */
struct ask_walk {
    const struct es_pattern_file *file;
    const struct esi_pattern_predicate *predicate;
    struct esi_ask *asks;
    bool *predicates; /* scratch for esi_pattern_reach() */
    bool *classes;
    struct es_error *error;
};

/* The data needed of the values of a part of the tree. */
struct class_demand {
    bool times;
    bool partners;
};

static void demand_of_class(struct ask_walk *walk,
                            uint32_t class_number,
                            struct class_demand demand)
{
    walk->asks[class_number].keeps.times |= demand.times;
    walk->asks[class_number].keeps.partners |= demand.partners;
}

/* Adds the needs of an occurrence to its class, or to all classes below its
 * predicate. */
static void demand_of(struct ask_walk *walk,
                      uint32_t occurrence,
                      struct class_demand demand)
{
    const struct esi_pattern_occurrence *of = &walk->predicate->occurrences[occurrence];

    if (!demand.times && !demand.partners)
        return;
    if (of->class_number != ES_PATTERN_NONE) {
        demand_of_class(walk, of->class_number, demand);
        return;
    }
    for (uint32_t p = 0; p < es_pattern_predicates(walk->file); p++)
        walk->predicates[p] = false;
    for (uint32_t c = 0; c < esi_pattern_classes(walk->file); c++)
        walk->classes[c] = false;
    esi_pattern_reach(walk->file, of->predicate, walk->predicates, walk->classes);
    for (uint32_t c = 0; c < esi_pattern_classes(walk->file); c++)
        if (walk->classes[c])
            demand_of_class(walk, c, demand);
}

uint32_t esi_keeps_find(const struct esi_keeps *keeps,
                        const struct esi_pattern_node *node,
                        const struct esi_pattern_operand *operand)
{
    const struct esi_pattern_node *wanted = node->test == ES_TEST_REGEX ? node : NULL;
    uint32_t at = 0;

    for (; at < keeps->asked_count; at++) {
        const struct esi_asked *asked = &keeps->asked[at];

        if (asked->node == wanted && asked->field == operand->field &&
            (asked->field != ES_FIELD_ATTRIBUTE ||
             asked->attribute == operand->attribute))
            break;
    }
    return at;
}

/* Adds an attribute used by one side of a comparison to the data kept by its class. */
static int demand_value(struct ask_walk *walk,
                        const struct esi_pattern_node *node,
                        const struct esi_pattern_operand *operand)
{
    const struct esi_pattern_node *of = node->test == ES_TEST_REGEX ? node : NULL;
    struct esi_asked asked = {operand->field, operand->attribute, of, NULL};
    struct esi_keeps *keeps;
    uint32_t class_number;
    int result;

    if (operand->occurrence == ES_PATTERN_NONE)
        return 0;
    class_number = walk->predicate->occurrences[operand->occurrence].class_number;
    keeps = &walk->asks[class_number].keeps;
    if (esi_keeps_find(keeps, node, operand) < keeps->asked_count)
        return 0;
    if (ESI_ARRAY_RESERVE(keeps->asked, keeps->asked_capacity,
                          keeps->asked_count + 1u) < 0)
        return -ENOMEM;
    if (of) {
        result = esi_expression_create(node->operands[1].constant.text,
                                       &asked.expression, walk->error);
        if (result < 0)
            return result;
    }
    keeps->asked[keeps->asked_count++] = asked;
    return 0;
}

/* The compared values may also be inside a `within`. */
static int visit_comparison(struct ask_walk *walk,
                            const struct esi_pattern_node *node,
                            struct class_demand demand)
{
    int result = 0;

    for (unsigned side = 0; side < 2 && result == 0; side++) {
        const struct esi_pattern_operand *operand = &node->operands[side];

        if (operand->occurrence != ES_PATTERN_NONE)
            demand_of(walk, operand->occurrence, demand);
        result = demand_value(walk, node, operand);
    }
    return result;
}

/* The parser limits the depth of trees. */
static int visit_node(struct ask_walk *walk,
                      const struct esi_pattern_node *node,
                      struct class_demand demand)
{
    struct class_demand left = demand;
    struct class_demand right = demand;
    int result;

    switch (node->kind) {
    case ES_NODE_TERM:
    case ES_NODE_COUNT:
        demand_of(walk, node->occurrence, demand);
        return 0;
    case ES_NODE_COMPARE:
        return visit_comparison(walk, node, demand);
    case ES_NODE_WITHIN:
        demand.times = true;
        return visit_node(walk, node->left, demand);
    case ES_NODE_LIMITED:
        demand_of(walk, node->occurrence, demand);
        break;
    case ES_NODE_RELATION:
        /* The halves of a sync name each other: live searches check both. */
        right.partners |= node->op == ES_OPERATOR_RECEIVED;
        left.partners |= node->op == ES_OPERATOR_RECEIVED;
        break;
    case ES_NODE_AND:
    case ES_NODE_OR:
        break;
    }
    result = visit_node(walk, node->left, left);
    return result < 0 ? result : visit_node(walk, node->right, right);
}

int esi_ask_predicate(const struct es_pattern_file *file,
                      uint32_t predicate,
                      struct esi_ask *asks,
                      struct es_error *error)
{
    struct ask_walk walk = {
        .file = file,
        .predicate = esi_pattern_predicate(file, predicate),
        .asks = asks,
        .predicates = calloc(es_pattern_predicates(file) + 1, sizeof(bool)),
        .classes = calloc(esi_pattern_classes(file) + 1, sizeof(bool)),
        .error = error,
    };
    int result = -ENOMEM;

    if (walk.predicates && walk.classes) {
        for (uint32_t i = 0; i < walk.predicate->occurrence_count; i++)
            if (walk.predicate->occurrences[i].class_number != ES_PATTERN_NONE)
                asks[walk.predicate->occurrences[i].class_number].is_value = true;
        result = visit_node(&walk, walk.predicate->root,
                            (struct class_demand){false, false});
    }
    free(walk.predicates);
    free(walk.classes);
    return result;
}

void esi_ask_fini(struct esi_ask *ask)
{
    for (uint32_t i = 0; i < ask->keeps.asked_count; i++)
        esi_expression_destroy(ask->keeps.asked[i].expression);
    free(ask->keeps.asked);
}
