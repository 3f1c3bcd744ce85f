/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Array fields of records whose element type only the table knows: record*.c. */
#ifndef ES_PATHMAP_RECORD_PRIVATE_H
#define ES_PATHMAP_RECORD_PRIVATE_H

#include <string.h>

#include "pathmap/schema.h"

/* Pointers of any type are copied as bytes: they are no `void *` objects. */
static inline void *esi_field_array(const struct esi_field *member, const void *record)
{
    void *array;

    memcpy(&array, (const char *)record + member->offset, sizeof(array));
    return array;
}

static inline size_t esi_field_count(const struct esi_field *member, const void *record)
{
    size_t count;

    memcpy(&count, (const char *)record + member->count_offset, sizeof(count));
    return count;
}

static inline void esi_field_set_array(const struct esi_field *member,
                                       void *record,
                                       void *array,
                                       size_t count)
{
    memcpy((char *)record + member->offset, &array, sizeof(array));
    memcpy((char *)record + member->count_offset, &count, sizeof(count));
}

#endif
