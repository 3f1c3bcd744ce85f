/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* library_words.c - a table of the messages that name a flag or the library. */
#include "config.h"

#include "base/library_words.h"

#include <stdio.h>
#include <string.h>

static const struct wording {
    const char *theirs; /* anywhere in the text, at most once */
    const char *ours;
} wordings[] = {
    /* jansson */
    {"\\u0000 is not allowed without JSON_ALLOW_NUL",
     "the character \\u0000 is not allowed"},
    {"NUL byte in object key not supported",
     "the character \\u0000 is not allowed in a member's name"},
    {"string or '}' expected",
     "a name in quotes or '}' expected"}, /* before the next */
    {"'}' expected", "',' or '}' expected"},
    {"']' expected", "',' or ']' expected"},
    /* PCRE2 */
    {" (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)", ""},
    {" (PCRE2_DUPNAMES not set)", ""},
    {"PCRE2 does not support", "there is no"},
    {"this version of PCRE2 does not have support for", "there is no support here for"},
    {", which this version of PCRE2 does not have", ""},
    {"this version of PCRE2 does not have Unicode support",
     "there is no support here for Unicode"},
    {"using \\C is disabled in this PCRE2 library", "\\C is not allowed"},
    {"using \\C is disabled by the application", "\\C is not allowed"},
};

const char *esi_library_words(const char *text, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof wordings / sizeof wordings[0]; i++) {
        const char *at = strstr(text, wordings[i].theirs);

        if (at) {
            snprintf(out, size, "%.*s%s%s", (int)(at - text), text, wordings[i].ours,
                     at + strlen(wordings[i].theirs));
            return out;
        }
    }
    snprintf(out, size, "%s", text);
    return out;
}
