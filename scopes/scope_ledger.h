/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The outstanding operations of a scope's processes on all hosts (scope_origins.c). */
#ifndef ES_SCOPES_SCOPE_LEDGER_H
#define ES_SCOPES_SCOPE_LEDGER_H

#include <stdint.h>

struct es_scope;
struct esi_ledger;

/* The current ledger of an origin's process, read from its segment or requested from
 * the tuple server of its host.  Free with esi_ledger_fini().  Returns 0; -ENOENT if
 * there is none; -ENOSYS if the server does not support ledgers; or the error of a host
 * that did not answer. */
int esi_scope_read_ledger(const struct es_scope *scope,
                          uint32_t origin,
                          struct esi_ledger *ret_ledger);

#endif
