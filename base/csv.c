/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Fields of comma-separated values. */
#include "config.h"

#include "base/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

/* Whether a spread sheet takes the text for more than a text or a number. */
static bool is_calculated(const char *text)
{
    if (*text == '+' || *text == '-')
        return text[1] == '\0' || text[1 + strspn(text + 1, "0123456789.")] != '\0';
    return *text == '=' || *text == '@';
}

void esi_csv_text(FILE *stream, const char *text)
{
    bool is_formula = is_calculated(text);

    if (!is_formula && !strpbrk(text, ",\"")) {
        esi_plain_write(stream, text);
        return;
    }
    char *plain = esi_plain_duplicate(text);
    fputs(is_formula ? "\"'" : "\"", stream);
    for (const char *next = plain ? plain : ""; *next; next++) {
        if (*next == '"')
            fputc('"', stream);
        fputc(*next, stream);
    }
    fputc('"', stream);
    free(plain);
}
