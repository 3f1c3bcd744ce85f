/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* described_tree.h - plans the tree that the setting `stages` describes
 * (ES_SHAPE_STAGES). */
#ifndef ES_SCOPES_DESCRIBED_TREE_H
#define ES_SCOPES_DESCRIBED_TREE_H

#include "scopes/planner.h"

/* Parses and checks the description, and plans its tree below a root of the consumer
 * that gathers.  Returns 0; -EINVAL or -ENOENT with a text; or -ENOMEM. */
int esi_described_tree_plan(struct esi_planner *planner,
                            struct es_error *error,
                            struct esi_stage_node **ret_root);

#endif
