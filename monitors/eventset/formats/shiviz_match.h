/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shiviz_match.h - regular expressions as in ShiViz: JavaScript syntax with named
 * groups, `^` and `$` match at lines.  Encapsulates pcre2.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_MATCH_H
#define ES_MONITORS_EVENTSET_FORMATS_SHIVIZ_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

struct esi_shiviz_pair;

/* A piece of a text; length SIZE_MAX: the group did not participate. */
struct esi_shiviz_piece {
    size_t start;
    size_t length;
};

/* Returns 0, or -EINVAL (with `error` filled, naming it `what`) if the expression is
 * invalid. */
int esi_match_create(const char *expression,
                     const char *what,
                     struct es_error *error,
                     struct esi_shiviz_pair **ret_match);
/* Accepts NULL. */
void esi_match_destroy(struct esi_shiviz_pair *match);

/* Named groups are numbered from 0. */
size_t esi_match_names(const struct esi_shiviz_pair *match);
/* Borrowed for the life of the expression. */
const char *esi_match_name(const struct esi_shiviz_pair *match, size_t name);
/* -1 if no group has this name. */
int esi_match_find_name(const struct esi_shiviz_pair *match, const char *name);

/* Finds the first match in [start, end) of a valid UTF-8 text (esi_match_check_text).
 * Returns 1 and its position in *ret_whole; 0 if there is none; -E2BIG if matching
 * takes too long; or -ENOMEM. */
int esi_match_next(struct esi_shiviz_pair *match,
                   const char *text,
                   size_t start,
                   size_t end,
                   struct esi_shiviz_piece *ret_whole);
/* Position of the character after the one at `at`, if that is before `end`; otherwise
 * end + 1. */
size_t esi_match_step(const char *text, size_t at, size_t end);
/* The named group of the last match. */
struct esi_shiviz_piece esi_match_group(const struct esi_shiviz_pair *match,
                                        size_t name);

/* Returns whether a text is UTF-8; if not, *ret_at is the position of the error. */
bool esi_match_check_text(struct esi_shiviz_pair *match,
                          const char *text,
                          size_t length,
                          size_t *ret_at);

#endif
