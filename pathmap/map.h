/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The pathmap as a record: the fields of struct esi_pathmap, private to this folder. */
#ifndef ES_PATHMAP_MAP_H
#define ES_PATHMAP_MAP_H

#include "pathmap/pathmap.h"

/* Limits of a map, so that no input exhausts memory. */
enum {
    ESI_MAX_RANKS = 1 << 20,
    ESI_MAX_THREADS = 4096,
    ESI_MAX_PATHS = 1 << 20,
    ESI_MAX_CORES = 1 << 20,
    ESI_MAX_DEPTH = 64, /* of stages in a tree and of lists in a property */
};

/* Ranks with their own number of threads. */
struct esi_group {
    char *ranks;
    int64_t threads;
    char *comment;
};

struct esi_application {
    char *program;
    int64_t ranks;
    int64_t threads;
    struct esi_group *groups;
    size_t group_count;
    char *comment;
};

struct esi_cluster_map {
    struct esi_pathmap_cluster *clusters;
    size_t cluster_count;
    struct esi_pathmap_host *hosts;
    size_t host_count;
    char *comment;
};

struct esi_rank_mapping {
    char *ranks;
    char *host;
    char *cores; /* assigned to the ranks in turn; NULL for any */
    char *comment;
};

struct esi_stage_mapping {
    char *scope;
    char *stage;
    char *host;
    char *comment;
};

struct esi_mapping {
    struct esi_rank_mapping *ranks;
    size_t rank_count;
    struct esi_stage_mapping *stages;
    size_t stage_count;
    char *comment;
};

/* Rules of collective trees, in a map or in a separate document. */
struct esi_rules {
    struct esi_pathmap_collective *collectives;
    size_t collective_count;
    char *comment; /* of the separate document */
};

/* Adds the rules to an empty plan (collection.c).  Returns 0 or -ENOMEM; the caller
 * frees the plan in either case. */
int esi_rules_fill(const struct esi_rules *said, struct esi_tree_plan *plan);

/* Where a rank runs, and its number of threads. */
struct esi_rank_placement {
    int host; /* index; -1 if the map has no hosts */
    int core; /* of the host; -1 for any */
    int threads;
};

/* Lists missing in the document are NULL, empty ones are not. */
struct esi_pathmap {
    char *schema; /* location of docs/pathmap.schema.json, for editors */
    int64_t version;
    char *name;
    char *comment;
    struct esi_application application;
    struct esi_cluster_map cluster;
    struct esi_mapping mapping;
    struct esi_pathmap_collector *collectors;
    size_t collector_count;
    struct esi_rules rules;
    struct esi_pathmap_scope *scopes;
    size_t scope_count;
    struct esi_pathmap_path *paths;
    size_t path_count;

    /* Not in the document. */
    bool observes; /* the application is a monitor, whose scopes
                      read the ranks of another application */
    char *source;
    struct esi_rank_placement
        *placements; /* one per rank, after validation (rank_placement.c) */
};

#endif
