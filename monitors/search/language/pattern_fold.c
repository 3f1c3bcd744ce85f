/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_fold.c - splits predicates with more occurrences than engines have bits for.
 *
 * A side of `|` that has no occurrence in common with the rest of its predicate can be
 * made a predicate of its own, whose matches are found separately and represent the
 * side.  Adjacent sides of this kind become predicates without a name in the file,
 * "Race#1", "Race#2" ..., and these are folded again, until there are few enough.
 *
 * Excluded are sides that may hold without any value, since then no other side belongs
 * to a minimal match, and, inside a `within`, sides with hidden values.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/language/pattern_parse_private.h"

enum { GROUP_SIDES = 32, GROUP_OCCURRENCES = 24 };

struct folding {
    struct esi_parser *parser;
    const struct esi_token *id; /* name of the predicate */
    uint32_t *uses;             /* by occurrence, in the whole predicate */
    uint32_t *inside;           /* the same for one side; zeros between sides */
    uint32_t *moved;            /* its number in a group; ES_PATTERN_NONE: not moved */
    uint32_t room;
    uint32_t *groups; /* created so far */
    bool has_folded;
};

/* The tree may be modified until the predicate is stored. */
static struct esi_pattern_node *own_node(const struct esi_pattern_node *node)
{
    return (struct esi_pattern_node *)(uintptr_t)node;
}

/* --- Occurrences of a tree -------------------------------------------------------- */

/* Calls `visit` for each place that names an occurrence. */
static void each_use(struct esi_pattern_node *node,
                     void (*visit)(void *data, uint32_t *occurrence),
                     void *data)
{
    uint32_t *const places[] = {&node->occurrence, &node->operands[0].occurrence,
                                &node->operands[1].occurrence};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (*places[i] != ES_PATTERN_NONE)
            visit(data, places[i]);
    if (node->left)
        each_use(own_node(node->left), visit, data);
    if (node->right)
        each_use(own_node(node->right), visit, data);
}

static void count_use(void *data, uint32_t *occurrence)
{
    ((uint32_t *)data)[*occurrence]++;
}

static void clear_use(void *data, uint32_t *occurrence)
{
    ((uint32_t *)data)[*occurrence] = 0;
}

static void renumber_variables(void *data, uint32_t *occurrence)
{
    *occurrence = ((uint32_t *)data)[*occurrence];
}

/* --- Sides that can be folded ----------------------------------------------------- */

/* Whether the node can only hold if some variable has a value. */
static bool needs_values(const struct esi_parser *parser,
                         const struct esi_pattern_node *node)
{
    bool left = node->left && needs_values(parser, node->left);
    bool right = node->right && needs_values(parser, node->right);

    switch (node->kind) {
    case ES_NODE_TERM:
        return parser->occurrences[node->occurrence].sign != ES_SIGN_UNIVERSAL;
    case ES_NODE_OR:
        return left && right;
    case ES_NODE_COUNT:
    case ES_NODE_COMPARE:
        return false;
    default:
        return left || right;
    }
}

struct check {
    struct folding *folding;
    bool is_timed;
    bool is_apart;
    uint32_t occurrences;
};

static void check_use(void *data, uint32_t *occurrence)
{
    struct check *check = data;
    const struct folding *folding = check->folding;
    const struct esi_pattern_occurrence *used =
        &folding->parser->occurrences[*occurrence];

    if (folding->inside[*occurrence] != folding->uses[*occurrence] ||
        (check->is_timed && !esi_pattern_is_returned(used)))
        check->is_apart = false;
    check->occurrences++;
}

/* Number of occurrences of a side that may be folded; 0 if it may not. */
static uint32_t is_foldable(struct folding *folding,
                            const struct esi_pattern_node *side,
                            bool is_timed)
{
    struct check check = {.folding = folding, .is_timed = is_timed, .is_apart = true};

    each_use(own_node(side), count_use, folding->inside);
    each_use(own_node(side), check_use, &check);
    each_use(own_node(side), clear_use, folding->inside);
    return check.is_apart && check.occurrences <= ES_PATTERN_OCCURRENCES &&
                   needs_values(folding->parser, side)
               ? check.occurrences
               : 0;
}

/* --- Groups ----------------------------------------------------------------------- */

/* Collects the occurrences of a group and numbers them. */
struct gathering {
    struct folding *folding;
    struct esi_pattern_occurrence *occurrences;
    uint32_t count;
};

static void move_use(void *data, uint32_t *occurrence)
{
    struct gathering *gathering = data;
    uint32_t *moved = &gathering->folding->moved[*occurrence];

    if (*moved == ES_PATTERN_NONE) {
        *moved = gathering->count;
        gathering->occurrences[gathering->count++] =
            gathering->folding->parser->occurrences[*occurrence];
    }
    *occurrence = *moved;
}

/* Creates a predicate from the sides; it is the value of a new occurrence. */
static int make_group(struct folding *folding,
                      const struct esi_side *sides,
                      size_t count,
                      uint32_t occurrences,
                      struct esi_side *ret_side)
{
    struct esi_parser *parser = folding->parser;
    struct es_pattern_file *file = parser->file;
    struct gathering gathering = {
        folding,
        esi_arena_alloc(&file->memory,
                        occurrences * sizeof(struct esi_pattern_occurrence)),
        0};
    struct esi_pattern_predicate *predicate;
    struct esi_reference reference = {.class_number = ES_PATTERN_NONE,
                                      .predicate = file->predicate_count,
                                      .place = sides[0].node->place};
    const struct esi_pattern_node *root;
    struct esi_pattern_node *term;
    char name[64];
    int code;

    snprintf(name, sizeof name, "%.*s#%u",
             (int)(folding->id->length < 48 ? folding->id->length : 48),
             folding->id->text, (unsigned)++*folding->groups);
    reference.name = esi_arena_text(&file->memory, name, strlen(name));
    if (!gathering.occurrences || !reference.name)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        each_use(own_node(sides[i].node), move_use, &gathering);
    code = esi_join_sides(parser, sides, count, &root);
    if (code == 0)
        code = esi_pattern_add_predicate(file, &predicate);
    if (code < 0)
        return code;
    *predicate = (struct esi_pattern_predicate){.name = reference.name,
                                                .place = folding->id->place,
                                                .root = root,
                                                .occurrences = gathering.occurrences,
                                                .occurrence_count = gathering.count,
                                                .is_folded = true};
    term = esi_node_create(parser, ES_NODE_TERM, sides[0].node->place);
    if (!term)
        return -ENOMEM;
    *ret_side = (struct esi_side){.node = term, .place = sides[0].place};
    folding->has_folded = true;
    return esi_add_occurrence(parser, ES_SIGN_NONE, &reference, &term->occurrence);
}

/* --- The tree --------------------------------------------------------------------- */

static int fold_node(struct folding *folding,
                     const struct esi_pattern_node **node,
                     bool is_timed);

static size_t count_sides(const struct esi_pattern_node *node)
{
    return node->kind == ES_NODE_OR ? count_sides(node->left) + count_sides(node->right)
                                    : 1;
}

static void list_sides(const struct esi_pattern_node *node,
                       struct esi_pattern_place place,
                       struct esi_side *sides,
                       size_t *count)
{
    if (node->kind != ES_NODE_OR) {
        sides[(*count)++] = (struct esi_side){.node = node, .place = place};
        return;
    }
    list_sides(node->left, node->place, sides, count);
    list_sides(node->right, place, sides, count);
}

/* Folds adjacent sides, starting at `from`, as far as they form a group; descends into
 * a side that cannot be folded.  Returns the position of the next side. */
static int fold_some(struct folding *folding,
                     struct esi_side *sides,
                     size_t count,
                     size_t *from,
                     bool is_timed,
                     struct esi_side *ret_side)
{
    size_t first = *from, end = first;
    uint32_t occurrences = 0, more;

    while (end < count && end - first < GROUP_SIDES &&
           (more = is_foldable(folding, sides[end].node, is_timed)) > 0 &&
           (end == first || occurrences + more <= GROUP_OCCURRENCES)) {
        occurrences += more;
        end++;
    }
    *from = end > first ? end : first + 1;
    if (end - first > 1)
        return make_group(folding, sides + first, end - first, occurrences, ret_side);
    *ret_side = sides[first];
    return fold_node(folding, &ret_side->node, is_timed);
}

static int fold_or(struct folding *folding,
                   const struct esi_pattern_node **node,
                   bool is_timed)
{
    size_t count = count_sides(*node), listed = 0, kept = 0;
    struct esi_side *sides = calloc(count, sizeof *sides);
    int code = sides ? 0 : -ENOMEM;

    if (sides)
        list_sides(*node, (*node)->place, sides, &listed);
    for (size_t from = 0; code == 0 && from < count;) {
        struct esi_side side;

        code = fold_some(folding, sides, count, &from, is_timed, &side);
        sides[kept++] = side;
    }
    if (code == 0)
        code = esi_join_sides(folding->parser, sides, kept, node);
    free(sides);
    return code;
}

static int fold_node(struct folding *folding,
                     const struct esi_pattern_node **node,
                     bool is_timed)
{
    struct esi_pattern_node *inner = own_node(*node);
    int code = 0;

    if (inner->kind == ES_NODE_OR)
        return fold_or(folding, node, is_timed);
    is_timed = is_timed || inner->kind == ES_NODE_WITHIN;
    if (inner->left)
        code = fold_node(folding, &inner->left, is_timed);
    if (code == 0 && inner->right)
        code = fold_node(folding, &inner->right, is_timed);
    return code;
}

/* Removes the occurrences that were moved into groups from the predicate. */
static void drop_moved(struct folding *folding, const struct esi_pattern_node *root)
{
    struct esi_parser *parser = folding->parser;
    uint32_t kept = 0;
    uint32_t *numbers = folding->uses;

    for (uint32_t i = 0; i < parser->occurrence_count; i++) {
        if (i < folding->room && folding->moved[i] != ES_PATTERN_NONE)
            continue;
        numbers[i] = kept;
        parser->occurrences[kept++] = parser->occurrences[i];
    }
    parser->occurrence_count = kept;
    each_use(own_node(root), renumber_variables, numbers);
}

static int fold_once(struct folding *folding, const struct esi_pattern_node **root)
{
    uint32_t count = folding->parser->occurrence_count;
    int code = -ENOMEM;

    folding->has_folded = false;
    folding->room = count;
    /* There are fewer groups than occurrences. */
    folding->uses = calloc((size_t)count * 2, sizeof *folding->uses);
    folding->inside = calloc(count, sizeof *folding->inside);
    folding->moved = malloc(count * sizeof *folding->moved);
    if (folding->uses && folding->inside && folding->moved) {
        memset(folding->moved, 0xff, count * sizeof *folding->moved);
        each_use(own_node(*root), count_use, folding->uses);
        code = fold_node(folding, root, false);
        if (code == 0)
            drop_moved(folding, *root);
    }
    free(folding->uses);
    free(folding->inside);
    free(folding->moved);
    return code;
}

int esi_fold_predicate(struct esi_parser *parser,
                       const struct esi_token *id,
                       const struct esi_pattern_node **root)
{
    uint32_t groups = 0;
    struct folding folding = {
        .parser = parser, .id = id, .groups = &groups, .has_folded = true};
    int code = 0;

    while (code == 0 && folding.has_folded &&
           parser->occurrence_count > ES_PATTERN_OCCURRENCES)
        code = fold_once(&folding, root);
    if (code == 0 && parser->occurrence_count > ES_PATTERN_OCCURRENCES)
        code = esi_fault(parser, parser->occurrences[ES_PATTERN_OCCURRENCES].place,
                         "too many classes, names and variables in one predicate, "
                         "expected at most %d",
                         ES_PATTERN_OCCURRENCES);
    return code;
}
