/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The values of a domain by one of their attributes, for comparisons `$a.tag = $b.tag`.
 *
 * Takes 8 bytes a value and some 32 to 40 for each distinct attribute.  Any number of
 * threads may look things up.
 */
#ifndef ES_MONITORS_PATTERNS_INDEXED_EQUAL_H
#define ES_MONITORS_PATTERNS_INDEXED_EQUAL_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/patterns/domain.h"

struct esi_equal_index;

/* Values, by slot and position. */
struct esi_listed {
    const struct es_domain_value *values;
    size_t count;
};

/* By what `side` of an EQUAL comparison is of each value.  0 or -ENOMEM. */
int esi_equal_index_create(const struct es_domain *domain,
                           const struct es_pattern_node *node,
                           unsigned side,
                           struct esi_equal_index **ret_index);
/* Accepts NULL. */
void esi_equal_index_destroy(struct esi_equal_index *index);

struct esi_listed esi_equal_index_find(const struct esi_equal_index *index,
                                       struct es_domain_key key);
/* Those that have no such attribute. */
struct esi_listed esi_equal_index_absent(const struct esi_equal_index *index);

uint64_t esi_equal_index_bytes(const struct esi_equal_index *index);

#endif
