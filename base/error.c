/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Error records: the first error wins; texts are truncated. */
#include "config.h"

#include "eventspace/error.h"

#include <stddef.h>
#include <stdio.h>

void es_error_clear(struct es_error *error)
{
    if (!error)
        return;
    error->source[0] = '\0';
    error->line = 0;
    error->column = 0;
    error->text[0] = '\0';
}

__attribute__((format(printf, 5, 0))) static void error_fill(struct es_error *error,
                                                             const char *source,
                                                             int line,
                                                             int column,
                                                             const char *format,
                                                             va_list arguments)
{
    snprintf(error->source, sizeof error->source, "%s", source ? source : "");
    error->line = line;
    error->column = column;
    vsnprintf(error->text, sizeof error->text, format, arguments);
}

int es_error_set(struct es_error *error, int code, const char *format, ...)
{
    va_list arguments;

    if (!error || error->text[0] != '\0')
        return code;
    va_start(arguments, format);
    error_fill(error, NULL, 0, 0, format, arguments);
    va_end(arguments);
    return code;
}

int es_error_set_at(struct es_error *error,
                    int code,
                    const char *source,
                    int line,
                    int column,
                    const char *format,
                    ...)
{
    va_list arguments;

    if (!error || error->text[0] != '\0')
        return code;
    va_start(arguments, format);
    error_fill(error, source, line, column, format, arguments);
    va_end(arguments);
    return code;
}

const char *es_error_format(const struct es_error *error, char *out, unsigned long size)
{
    const char *colon = error->source[0] != '\0' ? ": " : "";

    if (error->line > 0 && error->column > 0)
        snprintf(out, size, "%s:%d:%d: %s", error->source, error->line, error->column,
                 error->text);
    else if (error->line > 0)
        snprintf(out, size, "%s:%d: %s", error->source, error->line, error->text);
    else
        snprintf(out, size, "%s%s%s", error->source, colon, error->text);
    return out;
}
