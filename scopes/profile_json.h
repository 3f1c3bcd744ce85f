/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A profile (tuplespace/profile.h) as JSON, used by tuple servers and in archives.
 *
 * Tables are arrays of rows, which are arrays of numbers with the columns of
 * docs/archive.md.  The reader accepts a row only if all its numbers are in range.
 */
#ifndef ES_SCOPES_PROFILE_JSON_H
#define ES_SCOPES_PROFILE_JSON_H

#include "base/json_out.h"
#include "eventspace/error.h"
#include "pathmap/message.h"
#include "tuplespace/profile.h"

/* Writes the profile's members into the current object. */
void esi_profile_json_write(const struct esi_profile *profile,
                            struct esi_json_out *out);

/* Reads a profile from an object.  Free with esi_profile_fini().  Returns 0, -EINVAL
 * with a text if a row is malformed, or -ENOMEM. */
int esi_profile_json_read(const struct es_member *object,
                          struct es_error *error,
                          struct esi_profile *ret_profile);

#endif
