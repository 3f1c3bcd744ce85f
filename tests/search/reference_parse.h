/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_parse.h - files of patterns that were parsed, for the reference. */
#ifndef ES_TESTS_SEARCH_REFERENCE_PARSE_H
#define ES_TESTS_SEARCH_REFERENCE_PARSE_H

#include "monitors/search/language/pattern.h"
#include "tests/search/reference.h"

/* The same trees; names of variables are left out.  What has no room ends the program.
 */
void reference_convert(const struct es_pattern_file *file,
                       struct reference_file *ret_file);

#endif
