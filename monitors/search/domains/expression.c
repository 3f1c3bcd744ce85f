/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* expression.c - regular expressions on the texts of events. */
#include "config.h"

#include "monitors/search/domains/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "monitors/search/language/pattern_regex.h"

enum { MATCH_LIMIT = 1000000, HEAP_LIMIT_KIB = 16384 };

struct esi_expression {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* Uses JIT compilation if it is available, which only affects speed. */
static int compile_expression(const char *text,
                              struct esi_expression *expression,
                              struct es_error *error)
{
    char words[ESI_REGEX_WORDS];
    size_t at = 0;
    int result = esi_regex_compile(text, &expression->code, &at, words);

    if (result == -EINVAL)
        return es_error_set(error, -EINVAL, "%s, at byte %zu of '%s'", words, at + 1,
                            text);
    if (result < 0)
        return result;
    pcre2_jit_compile(expression->code, PCRE2_JIT_COMPLETE);
    expression->data = pcre2_match_data_create_from_pattern(expression->code, NULL);
    expression->context = pcre2_match_context_create(NULL);
    return expression->data && expression->context ? 0 : -ENOMEM;
}

int esi_expression_create(const char *text,
                          struct esi_expression **ret_expression,
                          struct es_error *error)
{
    struct esi_expression *expression = calloc(1, sizeof *expression);
    int result = expression ? compile_expression(text, expression, error) : -ENOMEM;

    if (result < 0) {
        esi_expression_destroy(expression);
        return result;
    }
    pcre2_set_match_limit(expression->context, MATCH_LIMIT);
    pcre2_set_heap_limit(expression->context, HEAP_LIMIT_KIB);
    *ret_expression = expression;
    return 0;
}

void esi_expression_destroy(struct esi_expression *expression)
{
    if (!expression)
        return;
    pcre2_match_context_free(expression->context);
    pcre2_match_data_free(expression->data);
    pcre2_code_free(expression->code);
    free(expression);
}

bool esi_expression_matches(const struct esi_expression *expression, const char *text)
{
    return pcre2_match(expression->code, (PCRE2_SPTR)text, strlen(text), 0, 0,
                       expression->data, expression->context) >= 0;
}
