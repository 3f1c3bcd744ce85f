/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds lines NAME=VALUE to the reader of scope settings. Accepted settings are printed
 * and must be accepted again. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/scope.h"
#include "tests/fuzz/fuzz_target.h"

static void set_again(void *data, const char *name, const char *value, const char *help)
{
    struct es_scope_config copy = *(struct es_scope_config *)data;

    (void)help;
    require(es_scope_config_set(&copy, name, value, NULL) == 0);
}

static void set_line(struct es_scope_config *config, char *line)
{
    struct es_error error = {.text = ""};
    char *value = strchr(line, '=');

    if (!value)
        return;
    *value++ = '\0';
    require(es_scope_config_set(config, line, value, &error) == 0 ||
            error.text[0] != '\0');
    es_scope_config_foreach(config, set_again, config);
}

FUZZ_TARGET(fuzz_scope_config, data, size)
{
    struct es_scope_config config;
    char *text = malloc(size + 1);
    char *rest = text;
    char *line;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    es_scope_config_init(&config);
    while ((line = strsep(&rest, "\n")))
        set_line(&config, line);
    free(text);
    return 0;
}
