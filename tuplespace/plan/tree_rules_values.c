/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads the values of tree rules' members. */
#include "config.h"

#include "tuplespace/plan/tree_rules_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Words ------------------------------------------------------------------------ */

bool esi_tree_word_is(struct esi_tree_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

struct esi_tree_word esi_tree_word_split(struct esi_tree_word *rest, char separator)
{
    const char *found = memchr(rest->text, separator, rest->length);
    struct esi_tree_word piece = *rest;

    if (!found) {
        *rest = (struct esi_tree_word){.text = NULL};
        return piece;
    }
    piece.length = (size_t)(found - piece.text);
    rest->text = found + 1;
    rest->length -= piece.length + 1;
    return piece;
}

int esi_tree_fault(const struct esi_tree_line *line,
                   struct esi_tree_word word,
                   const char *what,
                   const char *expected)
{
    return es_error_set_at(
        line->error, -EINVAL, line->source, line->number,
        (int)(word.text - line->text) + 1, "%s \"%.*s\": expected %s", what,
        (int)(word.length < 64 ? word.length : 64), word.text, expected);
}

bool esi_tree_number(struct esi_tree_word word, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (size_t i = 0; i < word.length; i++) {
        uint64_t digit = (uint64_t)(word.text[i] - '0');

        if (word.text[i] < '0' || word.text[i] > '9' || number > max / 10 ||
            digit > max - number * 10)
            return false;
        number = number * 10 + digit;
    }
    if (word.length == 0)
        return false;
    *ret_number = number;
    return true;
}

/* 0 = no such name. */
static uint32_t bit_of(struct esi_tree_word word,
                       const char *(*name)(uint32_t bit),
                       uint32_t all)
{
    for (uint32_t bit = 1; bit != 0 && bit <= all; bit <<= 1)
        if (esi_tree_word_is(word, name(bit)))
            return bit;
    return 0;
}

/* --- Members ---------------------------------------------------------------------- */

int esi_tree_parse_operations(const struct esi_tree_line *line,
                              struct esi_tree_word word,
                              struct es_tree_rule *rule)
{
    uint32_t operations = 0;

    while (word.text) {
        struct esi_tree_word piece = esi_tree_word_split(&word, ',');
        uint32_t bits = bit_of(piece, es_tree_operation_name, ES_TREE_ALL);

        if (esi_tree_word_is(piece, "all"))
            bits = ES_TREE_ALL;
        else if (esi_tree_word_is(piece, "blocking"))
            bits = ES_TREE_ALL_BLOCKING;
        else if (esi_tree_word_is(piece, "nonblocking"))
            bits = ES_TREE_ALL & ~ES_TREE_ALL_BLOCKING;
        if (bits == 0)
            return esi_tree_fault(line, piece, "operation",
                                  "barrier, bcast, reduce, allreduce, gather, scatter, "
                                  "allgather, one of them with an i before it, all, "
                                  "blocking or nonblocking");
        operations |= bits;
    }
    rule->operations = operations;
    return 0;
}

int esi_tree_parse_bytes(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule)
{
    struct esi_tree_word last = word;
    struct esi_tree_word first = esi_tree_word_split(&last, '-');
    uint64_t min = 0;
    uint64_t max = UINT64_MAX;

    if (!esi_tree_word_is(word, "*")) {
        if (!esi_tree_number(first, UINT64_MAX, &min) ||
            (last.text && last.length > 0 && !esi_tree_number(last, UINT64_MAX, &max)))
            return esi_tree_fault(line, word, "bytes",
                                  "\"FIRST-LAST\", \"FIRST-\", \"NUMBER\" or \"*\"");
        if (!last.text)
            max = min;
        if (max < min)
            return esi_tree_fault(line, last, "last number of bytes",
                                  "one not below the first");
    }
    rule->min_bytes = min;
    rule->max_bytes = max;
    return 0;
}

int esi_tree_parse_shape(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule)
{
    for (int i = ES_TREE_LIBRARY; i <= ES_TREE_EXPLICIT; i++) {
        if (esi_tree_word_is(word, es_tree_shape_name((enum es_tree_shape)i))) {
            esi_tree_rule_set_shape(rule, (enum es_tree_shape)i);
            return 0;
        }
    }
    return esi_tree_fault(line, word, "shape",
                          "library, linear, kary, binomial, levels or explicit");
}

int esi_tree_parse_fan_out(const struct esi_tree_line *line,
                           struct esi_tree_word word,
                           struct es_tree_rule *rule)
{
    bool may_be_zero = rule->shape == ES_TREE_LEVELS;
    uint64_t number;

    if (!esi_tree_number(word, ES_TREE_FAN_OUT_MAX, &number) || number == 1 ||
        (number == 0 && !may_be_zero))
        return esi_tree_fault(line, word, "fan-out",
                              may_be_zero ? "0 or a number from 2 to 1024"
                                          : "a number from 2 to 1024");
    rule->fan_out = (int)number;
    return 0;
}

int esi_tree_parse_levels(const struct esi_tree_line *line,
                          struct esi_tree_word word,
                          struct es_tree_rule *rule)
{
    struct esi_tree_word rest = word;
    uint32_t levels = 0;

    while (rest.text) {
        struct esi_tree_word piece = esi_tree_word_split(&rest, ',');
        uint32_t bit = bit_of(piece, es_tree_level_name, ES_TREE_LEVEL_GATEWAY);

        if (bit == 0)
            return esi_tree_fault(line, piece, "level",
                                  "core, socket, host, cluster or gateway");
        levels |= bit;
    }
    if ((levels & ES_TREE_LEVEL_GATEWAY) != 0 && (levels & ES_TREE_LEVEL_CLUSTER) == 0)
        return esi_tree_fault(line, word, "levels",
                              "cluster where there is gateway: it is the cluster's");
    rule->levels = levels;
    return 0;
}

int esi_tree_parse_segment(const struct esi_tree_line *line,
                           struct esi_tree_word word,
                           struct es_tree_rule *rule)
{
    uint64_t number;

    if (!esi_tree_number(word, UINT64_MAX, &number))
        return esi_tree_fault(line, word, "segment", "a number of bytes, or 0");
    rule->segment_bytes = number;
    return 0;
}

/* --- Edges ------------------------------------------------------------------------ */

static int parse_rank(struct esi_tree_word word, int *ret_rank)
{
    uint64_t number;

    if (!word.text || !esi_tree_number(word, INT32_MAX, &number))
        return -EINVAL;
    *ret_rank = (int)number;
    return 0;
}

static size_t count_edges(struct esi_tree_word word)
{
    size_t count = 1;

    for (size_t i = 0; i < word.length; i++)
        if (word.text[i] == ',')
            count++;
    return count;
}

/* Whether the way up from a rank ends.  `parents` has `count` + 1 entries, -1 = none;
 * the ranks passed are marked as sound afterwards, so that all walks together take
 * O(count). */
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

/* `parents` and `sound` have an entry for each rank.  The index of the faulty edge and
 * what is wrong with it, or -1. */
static ptrdiff_t find_fault(const struct es_tree_edge *edges,
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
    *ret_expected = "a tree, but here is a ring";
    for (size_t i = 0; i < count; i++)
        if (!ends_above(parents, sound, edges[i].child, count))
            return (ptrdiff_t)i;
    return -1;
}

int es_tree_edges_check(const struct es_tree_edge *edges,
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

static struct esi_tree_word piece_at(struct esi_tree_word word, size_t index)
{
    struct esi_tree_word piece = esi_tree_word_split(&word, ',');

    for (size_t i = 0; i < index; i++)
        piece = esi_tree_word_split(&word, ',');
    return piece;
}

int esi_tree_parse_edges(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule)
{
    struct es_tree_edge *edges = calloc(count_edges(word), sizeof *edges);
    struct esi_tree_word rest = word;
    const char *expected = "\"PARENT-CHILD\", two ranks";
    size_t count = 0;
    size_t fault;
    int code = edges ? 0 : -ENOMEM;

    while (code == 0 && rest.text) {
        struct esi_tree_word child = esi_tree_word_split(&rest, ',');
        struct esi_tree_word edge = child;
        struct esi_tree_word parent = esi_tree_word_split(&child, '-');

        if (parse_rank(parent, &edges[count].parent) != 0 ||
            parse_rank(child, &edges[count].child) != 0)
            code = esi_tree_fault(line, edge, "edge", expected);
        count++;
    }
    if (code == 0) {
        code = es_tree_edges_check(edges, count, &fault, &expected);
        if (code == -EINVAL)
            esi_tree_fault(line, piece_at(word, fault), "edge", expected);
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
