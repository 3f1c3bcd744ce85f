/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tables that are generated from wrappers/mpi/operations.tab into
 * operation_table.c. */
#ifndef ES_TUPLESPACE_OPERATION_TABLE_H
#define ES_TUPLESPACE_OPERATION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/operation.h"

/* Sorted by name, as strcmp() does. */
extern const struct es_operation esi_operations[];
extern const size_t esi_operation_count;

/* By code, up to the last: 1 + the place in esi_operations; 0 = no such code. */
extern const uint16_t esi_operation_positions[];
extern const uint16_t esi_operation_last;

/* Codes of the variants NAME_c, for large counts, are so much higher than NAME's. */
enum { ESI_OPERATION_LARGE = 2000 };

/* The code without the large-count variant's. */
static inline uint16_t esi_operation_family(const struct es_operation *operation)
{
    return operation->code < ESI_OPERATION_LARGE
               ? operation->code
               : (uint16_t)(operation->code - ESI_OPERATION_LARGE);
}

/* Sorted by name, as strcmp() does. */
extern const struct es_routine esi_routines[];
extern const size_t esi_routine_count;

/* By enum es_class; NULL behind the last. */
extern const char *const esi_class_names[];

#endif
