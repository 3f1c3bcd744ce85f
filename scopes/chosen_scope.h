/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* chosen_scope.h - scopes over individually chosen elements of other hosts: for the
 * tuple server, which also reads elements that other readers skip. */
#ifndef ES_SCOPES_CHOSEN_SCOPE_H
#define ES_SCOPES_CHOSEN_SCOPE_H

#include <stdbool.h>

#include "eventspace/scope.h"

struct esi_catalog_element;

/* Returns true if the element joins the scope.  It is borrowed for the call. */
typedef bool (*esi_scope_choose_fn)(void *data,
                                    const struct esi_catalog_element *element);

/* Like es_scope_open(), for the elements of other hosts that `choose` accepts, in that
 * order, including those that other readers find elsewhere.  `choose` is called once
 * for each new element, and again after a failed es_scope_refresh().  The view's
 * selection is ignored, and `config->servers` is required. */
int esi_scope_open_chosen(struct es_run *run,
                          const struct es_scope_config *config,
                          esi_scope_choose_fn choose,
                          void *data,
                          struct es_scope **ret_scope);

#endif
