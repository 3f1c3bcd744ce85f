/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A ledger (tuplespace/ledger.h) as JSON, used by tuple servers and in archives.
 *
 * Tables are arrays of numbers, row after row, with the columns of docs/archive.md;
 * other members are objects and numbers.  The reader accepts a row only if all its
 * numbers are in range.
 */
#ifndef ES_SCOPES_LEDGER_JSON_H
#define ES_SCOPES_LEDGER_JSON_H

#include "base/json_out.h"
#include "eventspace/error.h"
#include "pathmap/message.h"
#include "tuplespace/ledger.h"

/* Writes the ledger's members into the current object. */
void esi_ledger_json_write(const struct esi_ledger *ledger, struct esi_json_out *out);

/* Reads a ledger from an object.  Free with esi_ledger_fini().  Returns 0, -EINVAL with
 * a text if a table is malformed, or -ENOMEM. */
int esi_ledger_json_read(const struct es_member *object,
                         struct es_error *error,
                         struct esi_ledger *ret_ledger);

#endif
