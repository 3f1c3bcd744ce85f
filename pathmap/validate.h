/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Validates a pathmap beyond the types of its members: names, references, placement. */
#ifndef ES_PATHMAP_VALIDATE_H
#define ES_PATHMAP_VALIDATE_H

#include "pathmap/map.h"
#include "pathmap/names.h"
#include "pathmap/record.h"

/* Validates the map and computes its placements.  Returns 0, -EINVAL or -ENOMEM. */
int esi_map_validate(const struct esi_reader *reader, struct esi_pathmap *map);

/* Shared by the parts of the validation. */
struct esi_check {
    const struct esi_reader *reader;
    struct esi_pathmap *map; /* NULL for tree rules or stages alone */
    struct esi_names hosts;
    struct esi_names collectors;
};

/* Checks that the named host exists.  Accepts NULL, and any host if there is no map.
 * `path` is the path to the member. */
int esi_check_host(const struct esi_check *check, const char *host, const char *path);
/* Checks that all ranges are below `limit` of `what` ("ranks").  Accepts NULL. */
int esi_check_ranges(const struct esi_check *check,
                     const char *ranges,
                     int64_t limit,
                     const char *what,
                     const char *path);

/* Computes map->placements from the mapping, the groups and the hosts' slots
 * (rank_placement.c). */
int esi_rank_placements_fill(const struct esi_check *check);
/* Checks the tree of a scope alone. */
int esi_check_stages(const struct esi_reader *reader,
                     const struct esi_pathmap_stage *stages);
int esi_check_rules(const struct esi_check *check, const struct esi_rules *rules);
/* path.c */
int esi_check_paths(const struct esi_check *check);

#endif
