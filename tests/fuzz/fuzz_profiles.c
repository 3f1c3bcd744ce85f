/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Any text as the profiles of an archive, and so as what a tuple server replies: what
 * is read is written as something that reads alike. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_profiles.h"
#include "tests/fuzz/fuzz_target.h"

enum { PROCESSES = 4 };

/* Caller frees. */
static char *written(const struct esi_archive_profiles *profiles, size_t *ret_length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, ret_length);

    require(stream != NULL);
    esi_archive_profiles_write(profiles, stream);
    require(fclose(stream) == 0);
    return text;
}

FUZZ_TARGET(fuzz_profiles, data, size)
{
    struct es_error error = {.text = ""};
    struct esi_archive_profiles profiles, again;
    size_t length, length_again;
    char *text, *text_again;
    int rc = esi_archive_profiles_parse((const char *)data, size, PROCESSES, &error,
                                        &profiles);

    if (rc != 0) {
        require(rc == -EINVAL && error.text[0] != '\0' && error.line > 0);
        return 0;
    }
    text = written(&profiles, &length);
    require(esi_archive_profiles_parse(text, length, PROCESSES, &error, &again) == 0);
    text_again = written(&again, &length_again);
    require(length == length_again && memcmp(text, text_again, length) == 0);
    esi_archive_profiles_fini(&profiles);
    esi_archive_profiles_fini(&again);
    free(text);
    free(text_again);
    return 0;
}
