/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the readers of tree rules share: words with their place, and the values that
 * rules have both in long and in short. */
#ifndef ES_TUPLESPACE_PLAN_TREE_RULES_PRIVATE_H
#define ES_TUPLESPACE_PLAN_TREE_RULES_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/plan/tree_rules.h"

/* The line that is being read. */
struct esi_tree_line {
    const char *source; /* NULL = none */
    struct es_error *error;
    const char *text; /* its start: columns count from here */
    int number;       /* 0 = there are no lines, only this text */
};

/* A piece of the line, not terminated. */
struct esi_tree_word {
    const char *text;
    size_t length;
};

bool esi_tree_word_is(struct esi_tree_word word, const char *text);

/* Takes the text up to the next `separator` from the rest, and the separator too.  The
 * last piece leaves rest->text NULL. */
struct esi_tree_word esi_tree_word_split(struct esi_tree_word *rest, char separator);

/* `what` "WORD": expected `expected`.  -EINVAL. */
int esi_tree_fault(const struct esi_tree_line *line,
                   struct esi_tree_word word,
                   const char *what,
                   const char *expected);

/* Digits only, at most `max`. */
bool esi_tree_number(struct esi_tree_word word, uint64_t max, uint64_t *ret_number);

/* "allreduce,ibcast" or "all" (blocking and nonblocking), "blocking", "nonblocking". */
int esi_tree_parse_operations(const struct esi_tree_line *line,
                              struct esi_tree_word word,
                              struct es_tree_rule *rule);
/* "0-4096", "4096-" (no end), "*", or one number for just that. */
int esi_tree_parse_bytes(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule);
int esi_tree_parse_shape(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule);
/* For the shape that the rule has by now. */
int esi_tree_parse_fan_out(const struct esi_tree_line *line,
                           struct esi_tree_word word,
                           struct es_tree_rule *rule);
int esi_tree_parse_levels(const struct esi_tree_line *line,
                          struct esi_tree_word word,
                          struct es_tree_rule *rule);
int esi_tree_parse_segment(const struct esi_tree_line *line,
                           struct esi_tree_word word,
                           struct es_tree_rule *rule);
/* Replaces the rule's edges. */
int esi_tree_parse_edges(const struct esi_tree_line *line,
                         struct esi_tree_word word,
                         struct es_tree_rule *rule);

/* Sets the shape and what depends on it. */
void esi_tree_rule_set_shape(struct es_tree_rule *rule, enum es_tree_shape shape);

#endif
