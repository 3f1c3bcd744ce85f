/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_config.h - configurations of scopes, checked and with texts of their own. */
#ifndef ES_SCOPES_SCOPE_CONFIG_H
#define ES_SCOPES_SCOPE_CONFIG_H

#include "eventspace/scope.h"

/* Makes `own` a copy of `config` with texts of its own, checks it, and computes the
 * condition that the view puts on tuples: *ret_filter, which stays as it is where there
 * is none; caller frees.  -EINVAL with words, -ENOMEM; in any case
 * esi_scope_config_fini() follows. */
int esi_scope_config_take(struct es_scope_config *own,
                          const struct es_scope_config *config,
                          char **ret_filter,
                          struct es_error *error);
void esi_scope_config_fini(struct es_scope_config *config);

/* Takes from `config` what can be changed while the scope is open.  The texts that
 * `own` had before stay with whoever copied it; esi_scope_config_fini_tree() frees
 * them.  On failure nothing has changed. */
int esi_scope_config_take_tree(struct es_scope_config *own,
                               const struct es_scope_config *config,
                               struct es_error *error);
void esi_scope_config_fini_tree(struct es_scope_config *config);

/* "views"; "?" for what is none. */
const char *esi_scope_shape_name(enum es_shape shape);

/* Whether positions move: not only the latest tuples are read. */
static inline bool esi_scope_config_reads_every(const struct es_scope_config *config)
{
    return config->take == ES_TAKE_EVERY || config->take == ES_TAKE_NEW;
}

#endif
