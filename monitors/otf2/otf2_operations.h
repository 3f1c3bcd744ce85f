/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_operations.h - maps MPI operations to OTF2. */
#ifndef ES_MONITORS_OTF2_OTF2_OPERATIONS_H
#define ES_MONITORS_OTF2_OTF2_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <otf2/otf2.h>

#include "eventspace/operation.h"

/* Not a collective operation record. */
#define ESI_OTF2_NO_COLLECTIVE OTF2_UNDEFINED_UINT8

/* The collective operation, including nonblocking and persistent variants and calls
 * that create or free communicators, windows and files; otherwise
 * ESI_OTF2_NO_COLLECTIVE. */
OTF2_CollectiveOp esi_otf2_collective(const struct es_operation *operation);

OTF2_RegionRole esi_otf2_role(const struct es_operation *operation);

/* The bytes that a rank of a collective operation sends and receives, as far as its
 * tuple contains them (docs/exports.md). */
struct esi_otf2_sizes {
    uint64_t sent;
    uint64_t received;
};
struct esi_otf2_sizes esi_otf2_sizes(const struct es_operation *operation,
                                     uint32_t bytes,
                                     bool is_root,
                                     uint32_t ranks);

/* The operation of a record: that of its region (NULL = none), if it is of the same
 * kind; the operation that the region starts; or its receiving half. */
uint16_t esi_otf2_code_for(const struct es_operation *region,
                           enum es_class op_class,
                           bool nonblocking,
                           uint16_t otherwise);
/* The blocking, or persistent, operation of a collective; 0 if none has an order of its
 * own. */
uint16_t esi_otf2_code_of(OTF2_CollectiveOp collective, bool persistent);
/* Likewise for windows. */
uint16_t esi_otf2_window_code_of(OTF2_CollectiveOp collective);
/* The bytes of a tuple with these sizes: the inverse of esi_otf2_sizes(). */
uint32_t esi_otf2_bytes_of(OTF2_CollectiveOp collective,
                           struct esi_otf2_sizes sizes,
                           uint32_t ranks);

#endif
