/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the processes of a scope have outstanding, wherever they run
 * (scope_origins.c). */
#ifndef ES_SCOPES_SCOPE_LEDGER_H
#define ES_SCOPES_SCOPE_LEDGER_H

#include <stdint.h>

struct es_scope;
struct esi_ledger;

/* The ledger of an origin's process as it is now: read from its segment, or asked for
 * at the tuple server of its host.  Free with esi_ledger_fini().  -ENOENT: it has none;
 * -ENOSYS: that server does not know ledgers; or why its host did not answer. */
int esi_scope_read_ledger(const struct es_scope *scope,
                          uint32_t origin,
                          struct esi_ledger *ret_ledger);

#endif
