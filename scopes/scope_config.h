/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_config.h - checks configurations of scopes, and copies their texts. */
#ifndef ES_SCOPES_SCOPE_CONFIG_H
#define ES_SCOPES_SCOPE_CONFIG_H

#include "eventspace/scope.h"

/* Copies `config` with its texts to `own`, checks it, and computes the view's condition
 * on tuples: *ret_filter, which the caller frees; unchanged if there is none.  Returns
 * 0, -EINVAL with a text, or -ENOMEM; in any case call esi_scope_config_fini(). */
int esi_scope_config_take(struct es_scope_config *own,
                          const struct es_scope_config *config,
                          char **ret_filter,
                          struct es_error *error);
void esi_scope_config_fini(struct es_scope_config *config);

/* Copies from `config` the settings that can be changed while the scope is open.  The
 * previous texts of `own` stay with the copy that the caller made; free them with
 * esi_scope_config_fini_tree().  On failure, nothing is changed. */
int esi_scope_config_take_tree(struct es_scope_config *own,
                               const struct es_scope_config *config,
                               struct es_error *error);
void esi_scope_config_fini_tree(struct es_scope_config *config);

/* For example "views"; "?" for unknown shapes. */
const char *esi_scope_shape_name(enum es_shape shape);

/* Returns true if positions advance: not only the latest tuples are read. */
static inline bool esi_scope_config_reads_every(const struct es_scope_config *config)
{
    return config->take == ES_TAKE_EVERY || config->take == ES_TAKE_NEW;
}

#endif
