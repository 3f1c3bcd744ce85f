/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The members of every object in a pathmap, in the order in which they are written. */
#include "config.h"

#include "pathmap/schema.h"

#include "pathmap/map.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NAME_BYTES = 31, HOST_BYTES = 63, PATTERN_BYTES = 63, TEXT_BYTES = 4096 };

static const char *const split_choices[] = {
    [ES_SPLIT_NONE] = "none",
    [ES_SPLIT_PEER] = "peer",
    [ES_SPLIT_COMMUNICATOR] = "communicator",
    [ES_SPLIT_BOTH] = "both",
    NULL,
};

static const char *const on_full_choices[] = {"discard", "block", NULL};

static const char *const per_choices[] = {
    [ES_PER_SCOPE] = "scope",
    [ES_PER_CLUSTER] = "cluster",
    [ES_PER_HOST] = "host",
    [ES_PER_RANK] = "rank",
    [ES_PER_THREAD] = "thread",
    [ES_PER_ELEMENT] = "element",
    NULL,
};

/* --- Application map -------------------------------------------------------------- */

static const struct esi_member group_members[] = {
    {.name = "ranks",
     .kind = ESI_RANGES,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_group, ranks)},
    {.name = "threads",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_group, threads),
     .minimum = 1,
     .maximum = ESI_MAX_THREADS},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_group, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema group_schema = {"group", sizeof(struct esi_group),
                                               group_members, COUNT(group_members)};

static const struct esi_member application_members[] = {
    {.name = "program",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_application, program),
     .maximum = TEXT_BYTES},
    {.name = "ranks",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_application, ranks),
     .minimum = 1,
     .maximum = ESI_MAX_RANKS},
    {.name = "threads",
     .kind = ESI_INTEGER,
     .offset = offsetof(struct esi_application, threads),
     .minimum = 1,
     .maximum = ESI_MAX_THREADS,
     .initial = 1},
    {.name = "groups",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct esi_application, groups),
     .count_offset = offsetof(struct esi_application, group_count),
     .schema = &group_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_application, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema application_schema = {
    "application", sizeof(struct esi_application), application_members,
    COUNT(application_members)};

/* --- Cluster map ------------------------------------------------------------------ */

static const struct esi_member core_members[] = {
    {.name = "pus",
     .kind = ESI_INTEGERS,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_core, pus),
     .count_offset = offsetof(struct es_pathmap_core, pu_count),
     .minimum = 0,
     .maximum = ESI_MAX_CORES},
};

static const struct esi_schema core_schema = {"core", sizeof(struct es_pathmap_core),
                                              core_members, COUNT(core_members)};

static const struct esi_member package_members[] = {
    {.name = "cores",
     .kind = ESI_OBJECTS,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_package, cores),
     .count_offset = offsetof(struct es_pathmap_package, core_count),
     .schema = &core_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_package, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema package_schema = {
    "package", sizeof(struct es_pathmap_package), package_members,
    COUNT(package_members)};

static const struct esi_member host_members[] = {
    {.name = "name",
     .kind = ESI_HOST,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_host, name),
     .maximum = HOST_BYTES},
    {.name = "cluster",
     .kind = ESI_NAME,
     .offset = offsetof(struct es_pathmap_host, cluster),
     .maximum = HOST_BYTES},
    {.name = "address",
     .kind = ESI_PATTERN,
     .offset = offsetof(struct es_pathmap_host, address),
     .maximum = 255},
    {.name = "slots",
     .kind = ESI_INTEGER,
     .offset = offsetof(struct es_pathmap_host, slots),
     .minimum = 1,
     .maximum = ESI_MAX_RANKS,
     .initial = 1},
    {.name = "cores",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_host, cores),
     .minimum = 1,
     .maximum = ESI_MAX_CORES},
    {.name = "pus",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_host, pus),
     .minimum = 1,
     .maximum = ESI_MAX_CORES},
    {.name = "memory_bytes",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_host, memory_bytes),
     .minimum = 1,
     .maximum = INT64_MAX},
    {.name = "packages",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap_host, packages),
     .count_offset = offsetof(struct es_pathmap_host, package_count),
     .schema = &package_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_host, comment),
     .maximum = TEXT_BYTES},
};

const struct esi_schema esi_schema_host = {"host", sizeof(struct es_pathmap_host),
                                           host_members, COUNT(host_members)};

static const struct esi_member site_members[] = {
    {.name = "name",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_cluster, name),
     .maximum = HOST_BYTES},
    {.name = "gateway",
     .kind = ESI_HOST,
     .offset = offsetof(struct es_pathmap_cluster, gateway),
     .maximum = HOST_BYTES},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_cluster, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema site_schema = {"site", sizeof(struct es_pathmap_cluster),
                                              site_members, COUNT(site_members)};

static const struct esi_member cluster_members[] = {
    {.name = "clusters",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct esi_cluster_map, clusters),
     .count_offset = offsetof(struct esi_cluster_map, cluster_count),
     .schema = &site_schema},
    {.name = "hosts",
     .kind = ESI_OBJECTS,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_cluster_map, hosts),
     .count_offset = offsetof(struct esi_cluster_map, host_count),
     .schema = &esi_schema_host},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_cluster_map, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema cluster_schema = {
    "cluster", sizeof(struct esi_cluster_map), cluster_members, COUNT(cluster_members)};

/* --- Mapping ---------------------------------------------------------------------- */

static const struct esi_member rank_mapping_members[] = {
    {.name = "ranks",
     .kind = ESI_RANGES,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_rank_mapping, ranks)},
    {.name = "host",
     .kind = ESI_HOST,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_rank_mapping, host),
     .maximum = HOST_BYTES},
    {.name = "cores",
     .kind = ESI_RANGES,
     .offset = offsetof(struct esi_rank_mapping, cores)},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_rank_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema rank_mapping_schema = {
    "rank_mapping", sizeof(struct esi_rank_mapping), rank_mapping_members,
    COUNT(rank_mapping_members)};

static const struct esi_member stage_mapping_members[] = {
    {.name = "scope",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, scope),
     .maximum = NAME_BYTES},
    {.name = "stage",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, stage),
     .maximum = HOST_BYTES},
    {.name = "host",
     .kind = ESI_HOST,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, host),
     .maximum = HOST_BYTES},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_stage_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema stage_mapping_schema = {
    "stage_mapping", sizeof(struct esi_stage_mapping), stage_mapping_members,
    COUNT(stage_mapping_members)};

static const struct esi_member mapping_members[] = {
    {.name = "ranks",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct esi_mapping, ranks),
     .count_offset = offsetof(struct esi_mapping, rank_count),
     .schema = &rank_mapping_schema},
    {.name = "stages",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct esi_mapping, stages),
     .count_offset = offsetof(struct esi_mapping, stage_count),
     .schema = &stage_mapping_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema mapping_schema = {
    "mapping", sizeof(struct esi_mapping), mapping_members, COUNT(mapping_members)};

/* --- Collectors ------------------------------------------------------------------- */

static const struct esi_member collector_members[] = {
    {.name = "name",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_collector, name),
     .maximum = NAME_BYTES},
    {.name = "classes",
     .kind = ESI_CLASSES,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_collector, classes)},
    {.name = "ranks",
     .kind = ESI_RANGES,
     .offset = offsetof(struct es_pathmap_collector, ranks)},
    {.name = "communicator",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_collector, communicator),
     .maximum = PATTERN_BYTES},
    {.name = "split",
     .kind = ESI_CHOICE,
     .offset = offsetof(struct es_pathmap_collector, split),
     .choices = split_choices},
    {.name = "threshold",
     .kind = ESI_INTEGER,
     .offset = offsetof(struct es_pathmap_collector, threshold),
     .minimum = 1,
     .maximum = ES_PLAN_THRESHOLD_MAX,
     .initial = ES_PLAN_THRESHOLD},
    {.name = "on_full",
     .kind = ESI_CHOICE,
     .offset = offsetof(struct es_pathmap_collector, full),
     .choices = on_full_choices},
    {.name = "enabled",
     .kind = ESI_BOOLEAN,
     .offset = offsetof(struct es_pathmap_collector, enabled),
     .initial = 1},
    {.name = "polls",
     .kind = ESI_BOOLEAN,
     .offset = offsetof(struct es_pathmap_collector, polls)},
    {.name = "host",
     .kind = ESI_HOST,
     .offset = offsetof(struct es_pathmap_collector, host),
     .maximum = HOST_BYTES},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_collector, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema collector_schema = {
    "collector", sizeof(struct es_pathmap_collector), collector_members,
    COUNT(collector_members)};

/* --- Collective trees ------------------------------------------------------------- */

/* By bit of enum es_tree_kind, the nonblocking forms behind. */
static const char *const operation_choices[] = {
    "barrier",    "bcast",     "reduce",   "allreduce",  "gather",
    "scatter",    "allgather", "ibarrier", "ibcast",     "ireduce",
    "iallreduce", "igather",   "iscatter", "iallgather", NULL,
};

static const char *const shape_choices[] = {
    [ES_TREE_LIBRARY] = "library",
    [ES_TREE_LINEAR] = "linear",
    [ES_TREE_KARY] = "kary",
    [ES_TREE_BINOMIAL] = "binomial",
    [ES_TREE_LEVELS] = "levels",
    [ES_TREE_EXPLICIT] = "explicit",
    NULL,
};

/* By bit of enum es_tree_level. */
static const char *const level_choices[] = {"core",    "socket",  "host",
                                            "cluster", "gateway", NULL};

static const struct esi_member collective_members[] = {
    {.name = "name",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_collective, name),
     .maximum = NAME_BYTES},
    {.name = "operations",
     .kind = ESI_FLAGS,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, operations),
     .choices = operation_choices},
    {.name = "communicator",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_collective, communicator),
     .maximum = PATTERN_BYTES},
    {.name = "min_bytes",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, min_bytes),
     .maximum = INT64_MAX},
    {.name = "max_bytes",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, max_bytes),
     .maximum = INT64_MAX,
     .initial = INT64_MAX},
    {.name = "shape",
     .kind = ESI_CHOICE,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_collective, shape),
     .choices = shape_choices},
    {.name = "fan_out",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, fan_out),
     .minimum = 2,
     .maximum = ES_TREE_FAN_OUT_MAX},
    {.name = "levels",
     .kind = ESI_FLAGS,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, levels),
     .choices = level_choices},
    {.name = "segment_bytes",
     .kind = ESI_INTEGER,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_collective, segment_bytes),
     .maximum = INT64_MAX,
     .initial = ES_TREE_SEGMENT_BYTES},
    {.name = "edges",
     .kind = ESI_EDGES,
     .offset = offsetof(struct es_pathmap_collective, edges),
     .count_offset = offsetof(struct es_pathmap_collective, edge_count),
     .maximum = ESI_MAX_RANKS - 1},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_collective, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema collective_schema = {
    "collective", sizeof(struct es_pathmap_collective), collective_members,
    COUNT(collective_members)};

/* A list of rules by itself. */
static const struct esi_member rules_members[] = {
    {.name = "collectives",
     .kind = ESI_OBJECTS,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct esi_rules, collectives),
     .count_offset = offsetof(struct esi_rules, collective_count),
     .schema = &collective_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct esi_rules, comment),
     .maximum = TEXT_BYTES},
};

const struct esi_schema esi_schema_rules = {"rules", sizeof(struct esi_rules),
                                            rules_members, COUNT(rules_members)};

/* --- Scopes ----------------------------------------------------------------------- */

static const struct esi_member view_members[] = {
    {.name = "ranks",
     .kind = ESI_RANGES,
     .offset = offsetof(struct es_pathmap_view, ranks)},
    {.name = "threads",
     .kind = ESI_RANGES,
     .offset = offsetof(struct es_pathmap_view, threads)},
    {.name = "hosts",
     .kind = ESI_PATTERN,
     .offset = offsetof(struct es_pathmap_view, hosts),
     .maximum = PATTERN_BYTES},
    {.name = "collectors",
     .kind = ESI_PATTERN,
     .offset = offsetof(struct es_pathmap_view, collectors),
     .maximum = PATTERN_BYTES},
    {.name = "communicator",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_view, communicator),
     .maximum = PATTERN_BYTES},
    {.name = "elements",
     .kind = ESI_PATTERN,
     .offset = offsetof(struct es_pathmap_view, elements),
     .maximum = PATTERN_BYTES},
    {.name = "classes",
     .kind = ESI_CLASSES,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_view, classes)},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_view, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema view_schema = {"view", sizeof(struct es_pathmap_view),
                                              view_members, COUNT(view_members)};

static const struct esi_schema stage_schema;

static const struct esi_member stage_members[] = {
    {.name = "type",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_stage, type),
     .maximum = NAME_BYTES},
    {.name = "name",
     .kind = ESI_NAME,
     .offset = offsetof(struct es_pathmap_stage, name),
     .maximum = HOST_BYTES},
    {.name = "per",
     .kind = ESI_CHOICE,
     .flags = ESI_QUIET,
     .offset = offsetof(struct es_pathmap_stage, per),
     .choices = per_choices},
    {.name = "host",
     .kind = ESI_HOST,
     .offset = offsetof(struct es_pathmap_stage, host),
     .maximum = HOST_BYTES},
    {.name = "collector",
     .kind = ESI_NAME,
     .offset = offsetof(struct es_pathmap_stage, collector),
     .maximum = NAME_BYTES},
    {.name = "properties",
     .kind = ESI_PROPERTIES,
     .offset = offsetof(struct es_pathmap_stage, properties),
     .count_offset = offsetof(struct es_pathmap_stage, property_count)},
    {.name = "children",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap_stage, children),
     .count_offset = offsetof(struct es_pathmap_stage, child_count),
     .schema = &stage_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_stage, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema stage_schema = {"stage", sizeof(struct es_pathmap_stage),
                                               stage_members, COUNT(stage_members)};

static const struct esi_member scope_members[] = {
    {.name = "name",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_scope, name),
     .maximum = NAME_BYTES},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_scope, comment),
     .maximum = TEXT_BYTES},
    {.name = "view",
     .kind = ESI_OBJECT,
     .offset = offsetof(struct es_pathmap_scope, view),
     .schema = &view_schema},
    {.name = "properties",
     .kind = ESI_PROPERTIES,
     .offset = offsetof(struct es_pathmap_scope, properties),
     .count_offset = offsetof(struct es_pathmap_scope, property_count)},
    {.name = "tree",
     .kind = ESI_OBJECT,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_scope, tree),
     .schema = &stage_schema},
};

const struct esi_schema esi_schema_scope = {"scope", sizeof(struct es_pathmap_scope),
                                            scope_members, COUNT(scope_members)};

/* --- Paths ------------------------------------------------------------------------ */

static const struct esi_member path_stage_members[] = {
    {.name = "type",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_stage, type),
     .maximum = NAME_BYTES},
    {.name = "host",
     .kind = ESI_HOST,
     .offset = offsetof(struct es_pathmap_stage, host),
     .maximum = HOST_BYTES},
    {.name = "properties",
     .kind = ESI_PROPERTIES,
     .offset = offsetof(struct es_pathmap_stage, properties),
     .count_offset = offsetof(struct es_pathmap_stage, property_count)},
};

static const struct esi_schema path_stage_schema = {
    "path_stage", sizeof(struct es_pathmap_stage), path_stage_members,
    COUNT(path_stage_members)};

static const struct esi_member path_members[] = {
    {.name = "id",
     .kind = ESI_PATTERN,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, id),
     .maximum = PATTERN_BYTES},
    {.name = "rank",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, rank),
     .minimum = 0,
     .maximum = ESI_MAX_RANKS - 1},
    {.name = "thread",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, thread),
     .minimum = 0,
     .maximum = ESI_MAX_THREADS - 1},
    {.name = "collector",
     .kind = ESI_NAME,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, collector),
     .maximum = NAME_BYTES},
    {.name = "element",
     .kind = ESI_PATTERN,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, element),
     .maximum = PATTERN_BYTES},
    {.name = "stages",
     .kind = ESI_OBJECTS,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap_path, stages),
     .count_offset = offsetof(struct es_pathmap_path, stage_count),
     .schema = &path_stage_schema},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap_path, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_schema path_schema = {"path", sizeof(struct es_pathmap_path),
                                              path_members, COUNT(path_members)};

static const struct esi_member collector_property_members[] = {
    {.name = "enabled", .kind = ESI_BOOLEAN, .flags = ESI_REQUIRED},
    {.name = "polls", .kind = ESI_BOOLEAN, .flags = ESI_REQUIRED},
};

const struct esi_schema esi_schema_collector_properties = {
    "collector_properties", 0, collector_property_members,
    COUNT(collector_property_members)};

static const struct esi_member element_property_members[] = {
    {.name = "threshold",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .minimum = 1,
     .maximum = ES_PLAN_THRESHOLD_MAX},
    {.name = "on_full",
     .kind = ESI_CHOICE,
     .flags = ESI_REQUIRED,
     .choices = on_full_choices},
};

const struct esi_schema esi_schema_element_properties = {
    "element_properties", 0, element_property_members, COUNT(element_property_members)};

/* --- The document ----------------------------------------------------------------- */

static const struct esi_member map_members[] = {
    {.name = "$schema",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap, schema),
     .maximum = TEXT_BYTES},
    {.name = "version",
     .kind = ESI_INTEGER,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap, version),
     .minimum = ES_PATHMAP_VERSION,
     .maximum = ES_PATHMAP_VERSION},
    {.name = "name",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap, name),
     .maximum = TEXT_BYTES},
    {.name = "comment",
     .kind = ESI_STRING,
     .offset = offsetof(struct es_pathmap, comment),
     .maximum = TEXT_BYTES},
    {.name = "application",
     .kind = ESI_OBJECT,
     .flags = ESI_REQUIRED,
     .offset = offsetof(struct es_pathmap, application),
     .schema = &application_schema},
    {.name = "cluster",
     .kind = ESI_OBJECT,
     .offset = offsetof(struct es_pathmap, cluster),
     .schema = &cluster_schema},
    {.name = "mapping",
     .kind = ESI_OBJECT,
     .offset = offsetof(struct es_pathmap, mapping),
     .schema = &mapping_schema},
    {.name = "collectors",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap, collectors),
     .count_offset = offsetof(struct es_pathmap, collector_count),
     .schema = &collector_schema},
    {.name = "collectives",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap, rules.collectives),
     .count_offset = offsetof(struct es_pathmap, rules.collective_count),
     .schema = &collective_schema},
    {.name = "scopes",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap, scopes),
     .count_offset = offsetof(struct es_pathmap, scope_count),
     .schema = &esi_schema_scope},
    {.name = "paths",
     .kind = ESI_OBJECTS,
     .offset = offsetof(struct es_pathmap, paths),
     .count_offset = offsetof(struct es_pathmap, path_count),
     .schema = &path_schema},
};

const struct esi_schema esi_schema_map = {"map", sizeof(struct es_pathmap), map_members,
                                          COUNT(map_members)};
