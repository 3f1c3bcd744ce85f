/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Who is whose parent, one function a shape.  Each fills the parents of all ranks, -1
 * for the root.
 */
#ifndef ES_WRAPPERS_SHAPES_SHAPE_PRIVATE_H
#define ES_WRAPPERS_SHAPES_SHAPE_PRIVATE_H

#include "wrappers/shapes/shape.h"

struct esi_shape_input {
    const struct esi_tree_rule *rule;
    int size;
    int root;
    const struct esi_location *locations; /* NULL = nothing is known */
    struct es_error *error;
};

/* Leaders of the levels that the rule names (shape_levels.c).  -ENOMEM.
 * O(size log size). */
int esi_shape_levels(const struct esi_shape_input *input, int *parents);

/* What a person wrote, checked and turned to the root (shape_explicit.c).  -EINVAL.
 * O(size). */
int esi_shape_explicit(const struct esi_shape_input *input, int *parents);

#endif
