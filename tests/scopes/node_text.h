/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_text.h - the plan of a tree as text, to compare it with one that is expected. */
#ifndef ES_TESTS_SCOPES_NODE_TEXT_H
#define ES_TESTS_SCOPES_NODE_TEXT_H

#include <stdio.h>

#include "scopes/stage_node.h"

/* Writes " NAME=VALUE". */
void node_property_print(const struct esi_node_property *property, FILE *out);

/* One line per stage, indented by depth: "gather \"host a\"", followed by "@HOST" if
 * the host differs from the parent's.  The caller frees it. */
char *node_text(const struct esi_stage_node *root);

#endif
