/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_parse.h - parsed pattern files for the reference. */
#ifndef ES_TESTS_SEARCH_REFERENCE_PARSE_H
#define ES_TESTS_SEARCH_REFERENCE_PARSE_H

#include "monitors/search/language/pattern.h"
#include "tests/search/reference.h"

/* Makes equal trees without names of variables.  Ends the program
 * if there is no room. */
void reference_convert(const struct es_pattern_file *file,
                       struct reference_file *ret_file);

#endif
