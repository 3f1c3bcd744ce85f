/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Compiles the regular expressions of patterns. */
#include "config.h"

#include "monitors/search/language/pattern_regex.h"

#include <errno.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/library_words.h"

int esi_regex_compile(const char *expression,
                      struct pcre2_real_code_8 **ret_code,
                      size_t *ret_offset,
                      char words[ESI_REGEX_WORDS])
{
    char text[ESI_REGEX_WORDS];
    PCRE2_SIZE offset = 0;
    int fault = 0;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &fault, &offset, NULL);

    if (code) {
        *ret_code = code;
        return 0;
    }
    if (fault == PCRE2_ERROR_HEAP_FAILED)
        return -ENOMEM;
    pcre2_get_error_message(fault, (PCRE2_UCHAR *)text, sizeof text);
    esi_library_words(text, words, ESI_REGEX_WORDS);
    *ret_offset = offset;
    return -EINVAL;
}
