/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_groups.h - groups of exchangeable variables. */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_GROUPS_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"
#include "monitors/search/language/program.h"
#include "monitors/search/truth/cnf.h"

struct esi_indexed_plan;

/* Exchangeable variables: only increasing values are searched. */
struct esi_indexed_group {
    uint64_t members; /* two or more */
    bool is_distinct; /* no two of them have the same event */
    bool is_concurrent;
    bool is_multiplied; /* each permutation counts as a separate assignment (D10) */
};

struct esi_indexed_groups {
    struct esi_indexed_group items[ES_PROGRAM_VARIABLES / 2];
    unsigned count;
    uint8_t of[ES_PROGRAM_VARIABLES]; /* group number from 1; 0: none */
};

/* Finds the groups of a plan, from `cnf` before masks are extracted from it. */
void esi_groups_find(struct esi_indexed_groups *groups,
                     const struct esi_indexed_plan *plan,
                     const struct esi_cnf *cnf);

/* The group of v; NULL if it has none. */
static inline const struct esi_indexed_group *esi_groups_of(
    const struct esi_indexed_groups *groups,
    unsigned v)
{
    return groups->of[v] ? &groups->items[groups->of[v] - 1] : NULL;
}
/* The members of v's group; 0 if it has none. */
static inline uint64_t esi_groups_members(const struct esi_indexed_groups *groups,
                                          unsigned v)
{
    return groups->of[v] ? groups->items[groups->of[v] - 1].members : 0;
}
/* Whether v is the first unbound variable of its group, or has no group. */
static inline bool esi_groups_is_next(const struct esi_indexed_groups *groups,
                                      uint64_t bound,
                                      unsigned v)
{
    return !(esi_groups_members(groups, v) & ~bound & (esi_program_bit(v) - 1));
}

/* Number of permutations that an assignment with increasing values represents. */
uint64_t esi_groups_multiplicity(const struct esi_indexed_groups *groups,
                                 const struct esi_domain_value *values);

#endif
