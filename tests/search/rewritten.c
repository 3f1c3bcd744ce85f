/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rewritten.c - predicates of a text in rewritten form. */
#include "config.h"

#include "rewritten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

const char rewritten_classes[] =
    "A := [\"\", \"A\", \"\"]; A $a, *a, ~a; B := [\"\", \"B\", \"\"]; B $b, *b, ~b;\n"
    "C := [\"\", \"C\", \"\"]; C $c, *c, ~c; D := [\"\", \"D\", \"\"]; D $d, *d, ~d;\n"
    "E := [\"\", \"E\", \"\"]; E $e, *e, ~e; F := [\"\", \"F\", \"\"]; F $f, *f, ~f;\n"
    "ANY := [\"\", \"\", \"\"];\n";

struct rewritten rewritten_of(const char *text)
{
    char whole[8192];
    struct rewritten rewritten = {.file = NULL};
    struct es_error error = {.text = ""};
    int length = snprintf(whole, sizeof whole, "%s%s\n", rewritten_classes, text);

    assert_in_range(length, 1, sizeof whole - 1);
    if (es_pattern_file_parse(whole, (size_t)length, "test", &rewritten.file, &error) ||
        esi_program_create(rewritten.file, es_pattern_find(rewritten.file, "Q"),
                           &rewritten.program, &error) ||
        esi_cnf_create(rewritten.program, 0, 0, &rewritten.cnf, &error))
        fail_msg("%s: %s", text, error.text);
    return rewritten;
}

void rewritten_free(struct rewritten *rewritten)
{
    esi_cnf_destroy(rewritten->cnf);
    esi_program_destroy(rewritten->program);
    es_pattern_file_destroy(rewritten->file);
}

void check_rewritten(const struct rewritten *rewritten, const char *expected)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);

    assert_non_null(out);
    esi_cnf_print(rewritten->program, rewritten->cnf, out);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
}
