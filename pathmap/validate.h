/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What a pathmap must keep to beyond the types of its members: names, references,
 * places. */
#ifndef ES_PATHMAP_VALIDATE_H
#define ES_PATHMAP_VALIDATE_H

#include "pathmap/map.h"
#include "pathmap/names.h"
#include "pathmap/record.h"

/* Checks the whole map and fills its placements.  -EINVAL, -ENOMEM. */
int esi_map_validate(const struct esi_reader *reader, struct esi_pathmap *map);

/* What the parts of the check share. */
struct esi_check {
    const struct esi_reader *reader;
    struct esi_pathmap *map; /* NULL: rules by themselves */
    struct esi_names hosts;
    struct esi_names collectors;
};

/* The named host must be there; NULL is fine, and any for rules by themselves.  `path`
 * is the way to the member. */
int esi_check_host(const struct esi_check *check, const char *host, const char *path);
/* Ranges must stay below `limit` of `what` ("ranks"); NULL is fine. */
int esi_check_ranges(const struct esi_check *check,
                     const char *ranges,
                     int64_t limit,
                     const char *what,
                     const char *path);

/* Fills map->placements from the mapping, the groups and the hosts' slots
 * (rank_placement.c). */
int esi_rank_placements_fill(const struct esi_check *check);
int esi_check_rules(const struct esi_check *check, const struct esi_rules *rules);
/* path.c */
int esi_check_paths(const struct esi_check *check);

#endif
