/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* chosen_scope.h - scopes over elements of other hosts that their consumer chooses one
 * by one: for the tuple server, which also reads elements that other readers leave out.
 */
#ifndef ES_SCOPES_CHOSEN_SCOPE_H
#define ES_SCOPES_CHOSEN_SCOPE_H

#include <stdbool.h>

#include "eventspace/scope.h"

struct esi_catalog_element;

/* Whether the element joins the scope.  It is borrowed for the call. */
typedef bool (*esi_scope_choose_fn)(void *data,
                                    const struct esi_catalog_element *element);

/* As es_scope_open(), over those elements of other hosts that `choose` takes, in the
 * order in which it takes them, wherever readers find them otherwise.  It is called
 * once for each element that is new; again where es_scope_refresh() has failed.  The
 * view's selection does not matter, and `config->servers` must be set. */
int esi_scope_open_chosen(struct es_run *run,
                          const struct es_scope_config *config,
                          esi_scope_choose_fn choose,
                          void *data,
                          struct es_scope **ret_scope);

#endif
