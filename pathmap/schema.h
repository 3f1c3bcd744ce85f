/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The members of all objects in a pathmap, as tables of fields (base/fields.h).
 *
 * Reading, checking, writing, freeing and documentation use the same rows, so a new
 * member is a new row (and one in docs/pathmap.schema.json, which a test compares).
 */
#ifndef ES_PATHMAP_SCHEMA_H
#define ES_PATHMAP_SCHEMA_H

#include "base/fields.h"

extern const struct esi_fields esi_map_fields;
extern const struct esi_fields esi_host_fields;
extern const struct esi_fields esi_stage_fields;
extern const struct esi_fields esi_rules_fields;

#endif
