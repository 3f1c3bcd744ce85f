/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_place.c - where the parts of an archive lie. */
#include "config.h"

#include "monitors/archive/archive_place.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What stays of a name in a file's name. */
enum { NAME_MAX_BYTES = 128 };

/* Copies what may stand in a file's name, in place of the rest `other`.  Returns
 * whether the name is still itself. */
static bool make_plain(const char *name, char other, char out[NAME_MAX_BYTES])
{
    size_t length = 0;
    bool same = true;

    for (; *name && length < NAME_MAX_BYTES - 1; name++, length++) {
        unsigned char c = (unsigned char)*name;
        bool plain =
            c < 0x80 && (isalnum(c) || strchr("_-:", c) || (c == '.' && length > 0));

        out[length] = plain ? (char)c : other;
        same &= plain;
    }
    out[length] = '\0';
    return same && *name == '\0' && length > 0;
}

void esi_archive_host_directory(const struct es_archive_tables *tables,
                                uint32_t host,
                                char out[ESI_ARCHIVE_NAME_BYTES])
{
    char plain[NAME_MAX_BYTES];

    if (make_plain(tables->hosts[host].name, '_', plain))
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s", plain);
    else
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "_%s.%u", plain, host);
}

void esi_archive_stream_name(const struct es_archive_tables *tables,
                             uint32_t element,
                             unsigned late,
                             char out[ESI_ARCHIVE_NAME_BYTES])
{
    char plain[NAME_MAX_BYTES];

    make_plain(tables->elements[element].name, '-', plain);
    if (late > 0)
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s.%u.late-%u", plain, element, late);
    else
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s.%u", plain, element);
}
