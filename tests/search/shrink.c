/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* shrink.c - reduces a failing case: a change is kept if the case still fails. */
#include "config.h"

#include "tests/search/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "tests/search/random_pattern.h"

enum { WORK = 1000000 };

struct shrinking {
    struct shrink_case *best;
    struct shrink_case tried;
    shrink_fails_fn fails;
    void *data;
    bool is_changed; /* a change was kept in this pass */
};

static struct shrink_case *begin(struct shrinking *shrinking)
{
    shrinking->tried = *shrinking->best;
    return &shrinking->tried;
}

static bool keep_if_failing(struct shrinking *shrinking)
{
    if (!shrinking->fails(shrinking->data, &shrinking->tried))
        return false;
    *shrinking->best = shrinking->tried;
    shrinking->is_changed = true;
    return true;
}

/* --- Events ----------------------------------------------------------------------- */

static void try_events(struct shrinking *shrinking)
{
    for (uint32_t number = shrinking->best->set.count; number-- > 0;) {
        if (number >= shrinking->best->set.count)
            continue;
        small_set_remove(&begin(shrinking)->set, number);
        keep_if_failing(shrinking);
    }
}

static void try_attributes(struct shrinking *shrinking)
{
    for (uint32_t number = 0; number < shrinking->best->set.count; number++)
        for (uint32_t i = shrinking->best->set.events[number].attribute_count;
             i-- > 0;) {
            struct small_event *event = &begin(shrinking)->set.events[number];

            event->attributes[i] = event->attributes[--event->attribute_count];
            keep_if_failing(shrinking);
        }
}

/* --- Clauses ---------------------------------------------------------------------- */

static void mark(const struct reference_predicate *predicate, int number, bool *is_used)
{
    const struct reference_node *node = &predicate->nodes[number];

    if (node->occurrence != REFERENCE_NONE)
        is_used[node->occurrence] = true;
    if (node->right_occurrence != REFERENCE_NONE)
        is_used[node->right_occurrence] = true;
    if (node->left != REFERENCE_NONE)
        mark(predicate, node->left, is_used);
    if (node->right != REFERENCE_NONE)
        mark(predicate, node->right, is_used);
}

/* Removes occurrences that no node of the clause uses any more. */
static void drop_unused(struct reference_predicate *predicate)
{
    bool is_used[REFERENCE_OCCURRENCES] = {false};
    int places[REFERENCE_OCCURRENCES], count = 0;

    mark(predicate, predicate->root, is_used);
    for (int i = 0; i < predicate->occurrence_count; i++) {
        places[i] = is_used[i] ? count : REFERENCE_NONE;
        if (is_used[i])
            predicate->occurrences[count++] = predicate->occurrences[i];
    }
    predicate->occurrence_count = count;
    for (int i = 0; i < predicate->node_count; i++) {
        struct reference_node *node = &predicate->nodes[i];

        if (node->occurrence != REFERENCE_NONE)
            node->occurrence = places[node->occurrence];
        if (node->right_occurrence != REFERENCE_NONE)
            node->right_occurrence = places[node->right_occurrence];
    }
}

/* Replaces a node by one of its sides. */
static void try_side(struct shrinking *shrinking, int predicate, int node, bool is_left)
{
    struct reference_predicate *of = &begin(shrinking)->file.predicates[predicate];
    int side = is_left ? of->nodes[node].left : of->nodes[node].right;

    if (side == REFERENCE_NONE || of->nodes[side].kind == REFERENCE_COUNT)
        return;
    of->nodes[node] = of->nodes[side];
    drop_unused(of);
    keep_if_failing(shrinking);
}

static void try_plainer(struct shrinking *shrinking, int predicate, int number)
{
    struct reference_predicate *of = &begin(shrinking)->file.predicates[predicate];
    struct reference_node *node = &of->nodes[number];

    if (node->kind == REFERENCE_LIMITED) {
        node->kind = REFERENCE_RELATION;
        node->op = REFERENCE_BEFORE;
        node->occurrence = REFERENCE_NONE;
    } else if (node->kind == REFERENCE_RELATION && node->is_negated) {
        node->is_negated = false;
    } else {
        return;
    }
    drop_unused(of);
    keep_if_failing(shrinking);
}

static void try_nodes(struct shrinking *shrinking, int predicate)
{
    const struct reference_predicate *of = &shrinking->best->file.predicates[predicate];

    for (int node = of->node_count; node-- > 0;) {
        try_side(shrinking, predicate, node, true);
        try_side(shrinking, predicate, node, false);
        try_plainer(shrinking, predicate, node);
    }
}

/* --- Occurrences and classes ------------------------------------------------------ */

/* Replaces occurrences by the first predicate, which stands for a class. */
static void try_occurrences(struct shrinking *shrinking, int predicate)
{
    const struct reference_predicate *of = &shrinking->best->file.predicates[predicate];

    for (int i = 0; i < of->occurrence_count; i++) {
        struct reference_occurrence *occurrence =
            &begin(shrinking)->file.predicates[predicate].occurrences[i];

        if (predicate == 0 || occurrence->predicate == 0)
            continue;
        occurrence->class_number = REFERENCE_NONE;
        occurrence->predicate = 0;
        keep_if_failing(shrinking);
    }
}

static void clear_conditions(struct reference_class *class)
{
    for (int i = 0; i < class->condition_count; i++) {
        class->conditions[i].test = REFERENCE_GLOB;
        class->conditions[i].is_negated = false;
        class->conditions[i].text[0] = '\0';
    }
}

static void try_classes(struct shrinking *shrinking)
{
    for (int i = 0; i < shrinking->best->file.class_count; i++) {
        struct reference_class *class = &begin(shrinking)->file.classes[i];

        if (class->partner_count > 0 && class->named == REFERENCE_NONE) {
            class->partner_count = 0;
            keep_if_failing(shrinking);
        }
        class = &begin(shrinking)->file.classes[i];
        clear_conditions(class);
        if (memcmp(class, &shrinking->best->file.classes[i], sizeof *class) != 0)
            keep_if_failing(shrinking);
    }
}

/* --- All -------------------------------------------------------------------------- */

void shrink(struct shrink_case *failing, shrink_fails_fn fails, void *data)
{
    struct shrinking *shrinking = calloc(1, sizeof *shrinking);

    if (!shrinking)
        abort();
    shrinking->best = failing;
    shrinking->fails = fails;
    shrinking->data = data;
    do {
        shrinking->is_changed = false;
        for (int i = failing->predicate; i >= 0; i--) {
            try_nodes(shrinking, i);
            try_occurrences(shrinking, i);
        }
        try_classes(shrinking);
        try_events(shrinking);
        try_attributes(shrinking);
    } while (shrinking->is_changed);
    free(shrinking);
}

void shrink_print(const struct shrink_case *failing, FILE *out)
{
    struct reference_answers *answers =
        reference_search(&failing->file, &failing->set, WORK);
    const struct reference_answer *answer = &answers->of[failing->predicate];

    random_pattern_write(&failing->file, failing->predicate, NULL, out);
    small_set_print(&failing->set, out);
    fprintf(out, "expected of %s, %u assignments:",
            failing->file.predicates[failing->predicate].name, answer->assignments);
    for (uint32_t i = 0; i < answer->count; i++) {
        putc(' ', out);
        small_set_print_events(&failing->set, answer->matches[i], out);
    }
    putc('\n', out);
    reference_answers_destroy(answers);
}
