/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shiviz_match.h - regular expressions as ShiViz takes them: JavaScript's with named
 * groups, `^` and `$` at lines; pcre2 stays in here.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_MATCH_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

struct esi_shiviz_pair;

/* A piece of a text; length SIZE_MAX: the group took no part. */
struct esi_shiviz_piece {
    size_t start;
    size_t length;
};

/* -EINVAL with words, which call it `what`: the expression makes no sense. */
int esi_match_create(const char *expression,
                     const char *what,
                     struct es_error *error,
                     struct esi_shiviz_pair **ret_match);
/* Accepts NULL. */
void esi_match_destroy(struct esi_shiviz_pair *match);

/* Named groups are numbered from 0. */
size_t esi_match_names(const struct esi_shiviz_pair *match);
/* Borrowed for the expression's life. */
const char *esi_match_name(const struct esi_shiviz_pair *match, size_t name);
/* -1: no group has this name. */
int esi_match_find_name(const struct esi_shiviz_pair *match, const char *name);

/* The first match in [start, end) of a text, which is UTF-8 (esi_match_check_text).
 * 1: *ret_whole is where; 0: none; -E2BIG: matching takes too long; -ENOMEM. */
int esi_match_next(struct esi_shiviz_pair *match,
                   const char *text,
                   size_t start,
                   size_t end,
                   struct esi_shiviz_piece *ret_whole);
/* The place of the character behind the one at `at`, which is before `end`; else end
 * + 1.
 */
size_t esi_match_step(const char *text, size_t at, size_t end);
/* What the named group has of the last match. */
struct esi_shiviz_piece esi_match_group(const struct esi_shiviz_pair *match,
                                        size_t name);

/* Whether a text is UTF-8; else *ret_at is where it is not. */
bool esi_match_check_text(struct esi_shiviz_pair *match,
                          const char *text,
                          size_t length,
                          size_t *ret_at);

#endif
