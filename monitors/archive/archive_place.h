/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_place.h - where the parts of an archive lie: names follow from the tables, so
 * that no name is taken from a file. */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_PLACE_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_PLACE_H

#include <stddef.h>

#include "monitors/archive/archive_tables.h"

#define ESI_ARCHIVE_SIDE ".eventspace"
#define ESI_ARCHIVE_TABLES "archive.jsonl"
#define ESI_ARCHIVE_MAP "map.json"
#define ESI_ARCHIVE_METADATA "metadata"

enum {
    ESI_ARCHIVE_NAME_BYTES = 256, /* of names in the archive, with their ends */
    ESI_ARCHIVE_LATE_MAX = 256,   /* late streams of an element */
};

/* The directory of a host within the archive. */
void esi_archive_host_directory(const struct es_archive_tables *tables,
                                uint32_t host,
                                char out[ESI_ARCHIVE_NAME_BYTES]);

/* The file of an element within its host's directory: `late` 0 = the ordered stream, 1
 * and up = late ones. */
void esi_archive_stream_name(const struct es_archive_tables *tables,
                             uint32_t element,
                             unsigned late,
                             char out[ESI_ARCHIVE_NAME_BYTES]);

#endif
