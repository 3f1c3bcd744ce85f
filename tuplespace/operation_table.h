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

/* Whether it asks for a message that another call receives: of the completion class,
 * but described as a receive is. */
bool esi_operation_is_probe(const struct es_operation *operation);

/* Sorted by name, as strcmp() does. */
extern const struct es_routine esi_routines[];
extern const size_t esi_routine_count;

/* By enum es_class; NULL behind the last. */
extern const char *const esi_class_names[];

#endif
