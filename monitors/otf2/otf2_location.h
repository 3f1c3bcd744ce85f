/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_location.h - the events of one location, from its operations in the order of
 * otf2_sort.h.
 *
 * A call is a region, and regions nest: a call that would end after the enclosing one
 * ends with it.  A posted operation is not a region but a request, which completes
 * within the call in progress at that time.
 */
#ifndef ES_MONITORS_OTF2_OTF2_LOCATION_H
#define ES_MONITORS_OTF2_OTF2_LOCATION_H

#include "monitors/otf2/otf2_definitions.h"
#include "monitors/otf2/otf2_sort.h"

struct esi_otf2_location;

/* Borrows the definitions.  Returns 0 or -ENOMEM. */
int esi_otf2_location_create(struct esi_otf2_definitions *definitions,
                             struct esi_otf2_location **ret_location);
/* Accepts NULL. */
void esi_otf2_location_destroy(struct esi_otf2_location *location);

/* Sets the writer of the following events, which is borrowed. */
void esi_otf2_location_begin(struct esi_otf2_location *location,
                             OTF2_EvtWriter *writer);
OTF2_ErrorCode esi_otf2_location_add(struct esi_otf2_location *location,
                                     const struct esi_otf2_record *record);
/* Ends open regions and requests; `ret_open` counts those marked as in progress. */
OTF2_ErrorCode esi_otf2_location_end(struct esi_otf2_location *location,
                                     uint64_t *ret_open);

#endif
