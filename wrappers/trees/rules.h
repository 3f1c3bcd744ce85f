/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tree rules as the communicators of a process share them: read once, kept as long as
 * one of them follows them.
 *
 *   may run at the same time: everything.
 */
#ifndef ES_WRAPPERS_TREES_RULES_H
#define ES_WRAPPERS_TREES_RULES_H

#include "tuplespace/plan/tree_rules.h"

struct esi_shared_rules;

/* The rules of a text, with a reference; those of the same text that were asked for
 * last are not read again.  -EINVAL with the fault, -ENOMEM. */
int esi_rules_get(const char *text,
                  struct es_error *error,
                  struct esi_shared_rules **ret_rules);

struct esi_shared_rules *esi_rules_ref(struct esi_shared_rules *rules);
/* Accepts NULL. */
void esi_rules_unref(struct esi_shared_rules *rules);

/* Borrowed as long as the reference. */
const struct esi_tree_plan *esi_rules_plan(const struct esi_shared_rules *rules);
const char *esi_rules_text(const struct esi_shared_rules *rules);

#endif
