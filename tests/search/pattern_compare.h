/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Comparison of pattern files, and pattern files as text. */
#ifndef ES_TESTS_SEARCH_PATTERN_COMPARE_H
#define ES_TESTS_SEARCH_PATTERN_COMPARE_H

#include <stdbool.h>

#include "monitors/search/language/pattern.h"

/* Whether both have the same predicates, trees and classes under the same numbers.
 * Positions in the text may differ. */
bool pattern_files_are_alike(const struct es_pattern_file *a,
                             const struct es_pattern_file *b);

/* All predicates as printed by esi_pattern_print().  Caller frees. */
char *pattern_file_text(const struct es_pattern_file *file);

#endif
