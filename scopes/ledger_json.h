/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A ledger (tuplespace/ledger.h) as JSON: what tuple servers send, and what archives
 * hold.
 *
 * Tables are arrays of numbers, a row behind the other, each with the columns of
 * docs/archive.md; other members are objects and numbers.  A reader takes a row only if
 * all its numbers fit.
 */
#ifndef ES_SCOPES_LEDGER_JSON_H
#define ES_SCOPES_LEDGER_JSON_H

#include "base/json_out.h"
#include "eventspace/error.h"
#include "pathmap/message.h"
#include "tuplespace/ledger.h"

/* Writes the ledger's members into the object that is being written. */
void esi_ledger_json_write(const struct esi_ledger *ledger, struct esi_json_out *out);

/* Reads them from an object.  Free with esi_ledger_fini().  -EINVAL with words: a table
 * is no ledger's; -ENOMEM. */
int esi_ledger_json_read(const struct es_member *object,
                         struct es_error *error,
                         struct esi_ledger *ret_ledger);

#endif
