/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_location.h - the events of one location, from its operations in the order of
 * otf2_sort.h.
 *
 * A call is a region, and regions nest: what would end after the call around it ends
 * with it.  What was posted is no region but a request: it is complete within
 * whichever call the thread is in then.
 */
#ifndef ES_MONITORS_OTF2_OTF2_LOCATION_H
#define ES_MONITORS_OTF2_OTF2_LOCATION_H

#include "monitors/otf2/otf2_definitions.h"
#include "monitors/otf2/otf2_sort.h"

struct esi_otf2_location;

/* Borrows the definitions.  0 or -ENOMEM. */
int esi_otf2_location_create(struct esi_otf2_definitions *definitions,
                             struct esi_otf2_location **ret_location);
/* Accepts NULL. */
void esi_otf2_location_destroy(struct esi_otf2_location *location);

/* From now on events go to this writer, which is borrowed. */
void esi_otf2_location_begin(struct esi_otf2_location *location,
                             OTF2_EvtWriter *writer);
OTF2_ErrorCode esi_otf2_location_add(struct esi_otf2_location *location,
                                     const struct esi_otf2_record *record);
/* Ends what is open; `ret_open` counts what is marked as under way. */
OTF2_ErrorCode esi_otf2_location_end(struct esi_otf2_location *location,
                                     uint64_t *ret_open);

#endif
