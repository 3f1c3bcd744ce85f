/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tables generated from wrappers/mpi/operations.tab into operation_table.c. */
#ifndef ES_TUPLESPACE_OPERATION_TABLE_H
#define ES_TUPLESPACE_OPERATION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/operation.h"

/* Sorted by name in the order of strcmp(). */
extern const struct es_operation esi_operations[];
extern const size_t esi_operation_count;

/* Index in esi_operations plus 1, by code, up to the last code; 0 for unused codes. */
extern const uint16_t esi_operation_positions[];
extern const uint16_t esi_operation_last;

/* Added to the code of NAME for its large-count variant NAME_c. */
enum { ESI_OPERATION_LARGE = 2000 };

/* The code of the operation without its large-count variant. */
static inline uint16_t esi_operation_family(const struct es_operation *operation)
{
    return operation->code < ESI_OPERATION_LARGE
               ? operation->code
               : (uint16_t)(operation->code - ESI_OPERATION_LARGE);
}

/* What the operation with this code does with its window. */
static inline enum es_rma_kind esi_rma_kind(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    return operation ? (enum es_rma_kind)operation->rma : ES_RMA_NONE;
}

/* Sorted by name in the order of strcmp(). */
extern const struct es_routine esi_routines[];
extern const size_t esi_routine_count;

/* By enum es_class; NULL beyond the last. */
extern const char *const esi_class_names[];

#endif
