/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Regular expressions on the texts of events (PCRE2).  An expression matches anywhere
 * in the text.  A text that is not UTF-8 does not match, nor one on which the
 * expression takes too long.
 *
 * An expression may be used by one thread at a time.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EXPRESSION_H
#define ES_MONITORS_SEARCH_DOMAINS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"

struct esi_expression;

/* Returns 0, -EINVAL with a message if the text is not a regular expression, or
 * -ENOMEM. */
int esi_expression_create(const char *text,
                          struct esi_expression **ret_expression,
                          struct es_error *error);
/* Accepts NULL. */
void esi_expression_destroy(struct esi_expression *expression);

bool esi_expression_matches(const struct esi_expression *expression, const char *text);

#endif
