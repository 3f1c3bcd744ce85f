/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The whole pathmap as a record: what lies behind struct esi_pathmap, for this folder
 * only. */
#ifndef ES_PATHMAP_MAP_H
#define ES_PATHMAP_MAP_H

#include "pathmap/pathmap.h"

/* What a map may be at most, so that no input takes the machine's memory. */
enum {
    ESI_MAX_RANKS = 1 << 20,
    ESI_MAX_THREADS = 4096,
    ESI_MAX_PATHS = 1 << 20,
    ESI_MAX_CORES = 1 << 20,
    ESI_MAX_DEPTH = 64, /* of stages in a tree and of lists in a property */
};

/* Ranks with a number of threads of their own. */
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
    char *cores; /* given to the ranks in turn; NULL = any */
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

/* Rules of collective trees, in a map or in a document of their own. */
struct esi_rules {
    struct esi_pathmap_collective *collectives;
    size_t collective_count;
    char *comment; /* of the document of their own */
};

/* Adds the rules to an empty plan (collection.c).  -ENOMEM; the plan is to be finished
 * then too. */
int esi_rules_fill(const struct esi_rules *said, struct esi_tree_plan *plan);

/* Where a rank runs and how wide it is. */
struct esi_rank_placement {
    int host; /* index, -1 = the map has no hosts */
    int core; /* of the host, -1 = any */
    int threads;
};

/* Lists that the document leaves out are NULL, empty ones are not. */
struct esi_pathmap {
    char *schema; /* where editors find docs/pathmap.schema.json */
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
    bool observes; /* the application is a monitor: scopes read another's ranks */
    char *source;
    struct esi_rank_placement
        *placements; /* one per rank, once the map is checked (rank_placement.c) */
};

#endif
