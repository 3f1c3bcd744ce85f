/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Regular expressions on the texts of events (PCRE2): somewhere in the text.  A text
 * that is not UTF-8 does not match, nor does one on which an expression takes too long.
 *
 * One thread at a time for each expression.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EXPRESSION_H
#define ES_MONITORS_SEARCH_DOMAINS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

struct esi_expression;

/* -EINVAL with words: it is none; -ENOMEM. */
int esi_expression_create(const char *text,
                          struct esi_expression **ret_expression,
                          struct es_error *error);
/* Accepts NULL. */
void esi_expression_destroy(struct esi_expression *expression);

bool esi_expression_matches(const struct esi_expression *expression, const char *text);

#endif
