/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* How operators, tests and fields are written. */
#include "config.h"

#include "monitors/search/language/pattern.h"

const char *esi_pattern_operator_text(enum esi_pattern_operator op, bool is_negated)
{
    static const char *const texts[][2] = {
        [ES_OPERATOR_BEFORE] = {"-->", "!-->"},
        [ES_OPERATOR_CONCURRENT] = {"||", "!||"},
        [ES_OPERATOR_ENTANGLED] = {"<->", "!<->"},
        [ES_OPERATOR_RECEIVED] = {"=>", "!=>"},
    };

    return texts[op][is_negated];
}

const char *esi_pattern_test_text(enum esi_pattern_test test, bool is_negated)
{
    static const char *const texts[][2] = {
        [ES_TEST_GLOB] = {"=", "!="},           [ES_TEST_REGEX] = {"=~", "!~"},
        [ES_TEST_EQUAL] = {"=", "!="},          [ES_TEST_LESS] = {"<", "<"},
        [ES_TEST_LESS_EQUAL] = {"<=", "<="},    [ES_TEST_GREATER] = {">", ">"},
        [ES_TEST_GREATER_EQUAL] = {">=", ">="},
    };

    return texts[test][is_negated];
}

const char *esi_pattern_field_name(const struct es_pattern_file *file,
                                   enum esi_pattern_field field,
                                   uint32_t attribute)
{
    static const char *const names[] = {
        [ES_FIELD_PROCESS] = "process",
        [ES_FIELD_TYPE] = "type",
        [ES_FIELD_TEXT] = "text",
        [ES_FIELD_KIND] = "kind",
    };

    return field == ES_FIELD_ATTRIBUTE ? esi_pattern_attribute(file, attribute)
                                       : names[field];
}
