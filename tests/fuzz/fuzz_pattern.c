/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds texts to the parser of patterns.  Each error has a text; an accepted pattern is
 * printed as a text with the same meaning.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "monitors/search/language/pattern.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/search/pattern_compare.h"

/* An input that is not text has no lines. */
static void check_error(const struct es_error *error, const char *text, size_t length)
{
    size_t mark = esi_input_mark(text, length);
    bool is_text = esi_input_check(text + mark, length - mark, NULL, NULL) == 0;

    require(error->text[0] != '\0' && strlen(error->text) < sizeof error->text - 1);
    require(!is_text || (error->line >= 1 && error->column >= 1));
}

static void check_reach(const struct es_pattern_file *file)
{
    uint32_t predicates = es_pattern_predicates(file);
    bool *is_predicate_needed = calloc(predicates + 1, sizeof(bool));
    bool *is_class_needed = calloc(esi_pattern_classes(file) + 1, sizeof(bool));

    require(is_predicate_needed && is_class_needed);
    if (predicates > 0)
        esi_pattern_reach(file, predicates - 1, is_predicate_needed, is_class_needed);
    free(is_predicate_needed);
    free(is_class_needed);
}

FUZZ_TARGET(fuzz_pattern, data, size)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;
    struct es_pattern_file *again;
    char *text;

    if (es_pattern_file_parse((const char *)data, size, "input", &file, &error) < 0) {
        check_error(&error, (const char *)data, size);
        return 0;
    }
    check_reach(file);
    text = pattern_file_text(file);
    require(es_pattern_file_parse(text, strlen(text), "printed", &again, &error) >= 0);
    require(pattern_files_are_alike(file, again));
    free(text);
    es_pattern_file_destroy(file);
    es_pattern_file_destroy(again);
    return 0;
}
