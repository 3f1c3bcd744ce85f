/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The members of every object in a pathmap, in the order of output. */
#include "config.h"

#include "pathmap/schema.h"

#include "pathmap/map.h"
#include "tuplespace/operation_table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NAME_BYTES = 31, HOST_BYTES = 63, PATTERN_BYTES = 63, TEXT_BYTES = 4096 };

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

static const struct esi_field group_members[] = {
    {.name = "ranks",
     .kind = ESI_FIELD_RANGES,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_group, ranks)},
    {.name = "threads",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_group, threads),
     .minimum = 1,
     .maximum = ESI_MAX_THREADS},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_group, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields group_schema = {.name = "group",
                                               .size = sizeof(struct esi_group),
                                               .rows = group_members,
                                               .row_count = COUNT(group_members)};

static const struct esi_field application_members[] = {
    {.name = "program",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_application, program),
     .maximum = TEXT_BYTES},
    {.name = "ranks",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_application, ranks),
     .minimum = 1,
     .maximum = ESI_MAX_RANKS},
    {.name = "threads",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct esi_application, threads),
     .minimum = 1,
     .maximum = ESI_MAX_THREADS,
     .initial = 1},
    {.name = "groups",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_application, groups),
     .count_offset = offsetof(struct esi_application, group_count),
     .fields = &group_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_application, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields application_schema = {
    .name = "application",
    .size = sizeof(struct esi_application),
    .rows = application_members,
    .row_count = COUNT(application_members)};

/* --- Cluster map ------------------------------------------------------------------ */

static const struct esi_field core_members[] = {
    {.name = "pus",
     .kind = ESI_FIELD_INTEGERS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_core, pus),
     .count_offset = offsetof(struct esi_pathmap_core, pu_count),
     .minimum = 0,
     .maximum = ESI_MAX_CORES},
};

static const struct esi_fields core_schema = {.name = "core",
                                              .size = sizeof(struct esi_pathmap_core),
                                              .rows = core_members,
                                              .row_count = COUNT(core_members)};

static const struct esi_field package_members[] = {
    {.name = "cores",
     .kind = ESI_FIELD_OBJECTS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_package, cores),
     .count_offset = offsetof(struct esi_pathmap_package, core_count),
     .fields = &core_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_package, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields package_schema = {.name = "package",
                                                 .size =
                                                     sizeof(struct esi_pathmap_package),
                                                 .rows = package_members,
                                                 .row_count = COUNT(package_members)};

static const struct esi_field host_members[] = {
    {.name = "name",
     .kind = ESI_FIELD_HOST,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_host, name),
     .maximum = HOST_BYTES},
    {.name = "cluster",
     .kind = ESI_FIELD_NAME,
     .offset = offsetof(struct esi_pathmap_host, cluster),
     .maximum = HOST_BYTES},
    {.name = "address",
     .kind = ESI_FIELD_PATTERN,
     .offset = offsetof(struct esi_pathmap_host, address),
     .maximum = 255},
    {.name = "slots",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct esi_pathmap_host, slots),
     .minimum = 1,
     .maximum = ESI_MAX_RANKS,
     .initial = 1},
    {.name = "cores",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_pathmap_host, cores),
     .minimum = 1,
     .maximum = ESI_MAX_CORES},
    {.name = "pus",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_pathmap_host, pus),
     .minimum = 1,
     .maximum = ESI_MAX_CORES},
    {.name = "memory_bytes",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_pathmap_host, memory_bytes),
     .minimum = 1,
     .maximum = INT64_MAX},
    {.name = "packages",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap_host, packages),
     .count_offset = offsetof(struct esi_pathmap_host, package_count),
     .fields = &package_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_host, comment),
     .maximum = TEXT_BYTES},
};

const struct esi_fields esi_host_fields = {.name = "host",
                                           .size = sizeof(struct esi_pathmap_host),
                                           .rows = host_members,
                                           .row_count = COUNT(host_members)};

static const struct esi_field site_members[] = {
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_cluster, name),
     .maximum = HOST_BYTES},
    {.name = "gateway",
     .kind = ESI_FIELD_HOST,
     .offset = offsetof(struct esi_pathmap_cluster, gateway),
     .maximum = HOST_BYTES},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_cluster, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields site_schema = {.name = "site",
                                              .size =
                                                  sizeof(struct esi_pathmap_cluster),
                                              .rows = site_members,
                                              .row_count = COUNT(site_members)};

static const struct esi_field cluster_members[] = {
    {.name = "clusters",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_cluster_map, clusters),
     .count_offset = offsetof(struct esi_cluster_map, cluster_count),
     .fields = &site_schema},
    {.name = "hosts",
     .kind = ESI_FIELD_OBJECTS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_cluster_map, hosts),
     .count_offset = offsetof(struct esi_cluster_map, host_count),
     .fields = &esi_host_fields},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_cluster_map, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields cluster_schema = {.name = "cluster",
                                                 .size = sizeof(struct esi_cluster_map),
                                                 .rows = cluster_members,
                                                 .row_count = COUNT(cluster_members)};

/* --- Mapping ---------------------------------------------------------------------- */

static const struct esi_field rank_mapping_members[] = {
    {.name = "ranks",
     .kind = ESI_FIELD_RANGES,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_rank_mapping, ranks)},
    {.name = "host",
     .kind = ESI_FIELD_HOST,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_rank_mapping, host),
     .maximum = HOST_BYTES},
    {.name = "cores",
     .kind = ESI_FIELD_RANGES,
     .offset = offsetof(struct esi_rank_mapping, cores)},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_rank_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields rank_mapping_schema = {
    .name = "rank_mapping",
    .size = sizeof(struct esi_rank_mapping),
    .rows = rank_mapping_members,
    .row_count = COUNT(rank_mapping_members)};

static const struct esi_field stage_mapping_members[] = {
    {.name = "scope",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, scope),
     .maximum = NAME_BYTES},
    {.name = "stage",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, stage),
     .maximum = HOST_BYTES},
    {.name = "host",
     .kind = ESI_FIELD_HOST,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_stage_mapping, host),
     .maximum = HOST_BYTES},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_stage_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields stage_mapping_schema = {
    .name = "stage_mapping",
    .size = sizeof(struct esi_stage_mapping),
    .rows = stage_mapping_members,
    .row_count = COUNT(stage_mapping_members)};

static const struct esi_field mapping_members[] = {
    {.name = "ranks",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_mapping, ranks),
     .count_offset = offsetof(struct esi_mapping, rank_count),
     .fields = &rank_mapping_schema},
    {.name = "stages",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_mapping, stages),
     .count_offset = offsetof(struct esi_mapping, stage_count),
     .fields = &stage_mapping_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_mapping, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields mapping_schema = {.name = "mapping",
                                                 .size = sizeof(struct esi_mapping),
                                                 .rows = mapping_members,
                                                 .row_count = COUNT(mapping_members)};

/* --- Collectors ------------------------------------------------------------------- */

static const struct esi_field collector_members[] = {
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_collector, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields collector_schema = {
    .name = "collector",
    .size = sizeof(struct esi_pathmap_collector),
    .rows = collector_members,
    .row_count = COUNT(collector_members),
    .base = &esi_collector_fields};

/* --- Collective trees ------------------------------------------------------------- */

static const struct esi_field collective_members[] = {
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_collective, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields collective_schema = {
    .name = "collective",
    .size = sizeof(struct esi_pathmap_collective),
    .rows = collective_members,
    .row_count = COUNT(collective_members),
    .base = &esi_tree_rule_fields};

/* A separate list of rules. */
static const struct esi_field rules_members[] = {
    {.name = "collectives",
     .kind = ESI_FIELD_OBJECTS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_rules, collectives),
     .count_offset = offsetof(struct esi_rules, collective_count),
     .fields = &collective_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_rules, comment),
     .maximum = TEXT_BYTES},
};

const struct esi_fields esi_rules_fields = {.name = "rules",
                                            .size = sizeof(struct esi_rules),
                                            .rows = rules_members,
                                            .row_count = COUNT(rules_members)};

/* --- Scopes ----------------------------------------------------------------------- */

static const struct esi_field view_members[] = {
    {.name = "ranks",
     .kind = ESI_FIELD_RANGES,
     .offset = offsetof(struct esi_pathmap_view, ranks)},
    {.name = "threads",
     .kind = ESI_FIELD_RANGES,
     .offset = offsetof(struct esi_pathmap_view, threads)},
    {.name = "hosts",
     .kind = ESI_FIELD_PATTERN,
     .offset = offsetof(struct esi_pathmap_view, hosts),
     .maximum = PATTERN_BYTES},
    {.name = "collectors",
     .kind = ESI_FIELD_PATTERN,
     .offset = offsetof(struct esi_pathmap_view, collectors),
     .maximum = PATTERN_BYTES},
    {.name = "communicator",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_view, communicator),
     .maximum = PATTERN_BYTES},
    {.name = "elements",
     .kind = ESI_FIELD_PATTERN,
     .offset = offsetof(struct esi_pathmap_view, elements),
     .maximum = PATTERN_BYTES},
    {.name = "classes",
     .kind = ESI_FIELD_FLAGS,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_pathmap_view, classes),
     .minimum = ES_CLASS_NONE + 1,
     .choices = esi_class_names},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_view, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields view_schema = {.name = "view",
                                              .size = sizeof(struct esi_pathmap_view),
                                              .rows = view_members,
                                              .row_count = COUNT(view_members)};

static const struct esi_field stage_members[] = {
    {.name = "type",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_stage, type),
     .maximum = NAME_BYTES},
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .offset = offsetof(struct esi_pathmap_stage, name),
     .maximum = HOST_BYTES},
    {.name = "per",
     .kind = ESI_FIELD_CHOICE,
     .flags = ESI_FIELD_QUIET,
     .offset = offsetof(struct esi_pathmap_stage, per),
     .choices = per_choices},
    {.name = "host",
     .kind = ESI_FIELD_HOST,
     .offset = offsetof(struct esi_pathmap_stage, host),
     .maximum = HOST_BYTES},
    {.name = "collector",
     .kind = ESI_FIELD_NAME,
     .offset = offsetof(struct esi_pathmap_stage, collector),
     .maximum = NAME_BYTES},
    {.name = "properties",
     .kind = ESI_FIELD_PROPERTIES,
     .offset = offsetof(struct esi_pathmap_stage, properties),
     .count_offset = offsetof(struct esi_pathmap_stage, property_count)},
    {.name = "children",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap_stage, children),
     .count_offset = offsetof(struct esi_pathmap_stage, child_count),
     .fields = &esi_stage_fields},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_stage, comment),
     .maximum = TEXT_BYTES},
};

const struct esi_fields esi_stage_fields = {.name = "stage",
                                            .size = sizeof(struct esi_pathmap_stage),
                                            .rows = stage_members,
                                            .row_count = COUNT(stage_members)};

static const struct esi_field scope_members[] = {
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_scope, name),
     .maximum = NAME_BYTES},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_scope, comment),
     .maximum = TEXT_BYTES},
    {.name = "view",
     .kind = ESI_FIELD_OBJECT,
     .offset = offsetof(struct esi_pathmap_scope, view),
     .fields = &view_schema},
    {.name = "properties",
     .kind = ESI_FIELD_PROPERTIES,
     .offset = offsetof(struct esi_pathmap_scope, properties),
     .count_offset = offsetof(struct esi_pathmap_scope, property_count)},
    {.name = "tree",
     .kind = ESI_FIELD_OBJECT,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_scope, tree),
     .fields = &esi_stage_fields},
};

static const struct esi_fields scope_schema = {.name = "scope",
                                               .size = sizeof(struct esi_pathmap_scope),
                                               .rows = scope_members,
                                               .row_count = COUNT(scope_members)};

/* --- Paths ------------------------------------------------------------------------ */

static const struct esi_field path_stage_members[] = {
    {.name = "type",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_stage, type),
     .maximum = NAME_BYTES},
    {.name = "host",
     .kind = ESI_FIELD_HOST,
     .offset = offsetof(struct esi_pathmap_stage, host),
     .maximum = HOST_BYTES},
    {.name = "properties",
     .kind = ESI_FIELD_PROPERTIES,
     .offset = offsetof(struct esi_pathmap_stage, properties),
     .count_offset = offsetof(struct esi_pathmap_stage, property_count)},
};

static const struct esi_fields path_stage_schema = {
    .name = "path_stage",
    .size = sizeof(struct esi_pathmap_stage),
    .rows = path_stage_members,
    .row_count = COUNT(path_stage_members)};

static const struct esi_field path_members[] = {
    {.name = "id",
     .kind = ESI_FIELD_PATTERN,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, id),
     .maximum = PATTERN_BYTES},
    {.name = "rank",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, rank),
     .minimum = 0,
     .maximum = ESI_MAX_RANKS - 1},
    {.name = "thread",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, thread),
     .minimum = 0,
     .maximum = ESI_MAX_THREADS - 1},
    {.name = "collector",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, collector),
     .maximum = NAME_BYTES},
    {.name = "element",
     .kind = ESI_FIELD_PATTERN,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, element),
     .maximum = PATTERN_BYTES},
    {.name = "stages",
     .kind = ESI_FIELD_OBJECTS,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap_path, stages),
     .count_offset = offsetof(struct esi_pathmap_path, stage_count),
     .fields = &path_stage_schema},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap_path, comment),
     .maximum = TEXT_BYTES},
};

static const struct esi_fields path_schema = {.name = "path",
                                              .size = sizeof(struct esi_pathmap_path),
                                              .rows = path_members,
                                              .row_count = COUNT(path_members)};

/* --- The document ----------------------------------------------------------------- */

static const struct esi_field map_members[] = {
    {.name = "$schema",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap, schema),
     .maximum = TEXT_BYTES},
    {.name = "version",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap, version),
     .minimum = ES_PATHMAP_VERSION,
     .maximum = ES_PATHMAP_VERSION},
    {.name = "name",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap, name),
     .maximum = TEXT_BYTES},
    {.name = "comment",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct esi_pathmap, comment),
     .maximum = TEXT_BYTES},
    {.name = "application",
     .kind = ESI_FIELD_OBJECT,
     .flags = ESI_FIELD_REQUIRED,
     .offset = offsetof(struct esi_pathmap, application),
     .fields = &application_schema},
    {.name = "cluster",
     .kind = ESI_FIELD_OBJECT,
     .offset = offsetof(struct esi_pathmap, cluster),
     .fields = &cluster_schema},
    {.name = "mapping",
     .kind = ESI_FIELD_OBJECT,
     .offset = offsetof(struct esi_pathmap, mapping),
     .fields = &mapping_schema},
    {.name = "collectors",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap, collectors),
     .count_offset = offsetof(struct esi_pathmap, collector_count),
     .fields = &collector_schema},
    {.name = "collectives",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap, rules.collectives),
     .count_offset = offsetof(struct esi_pathmap, rules.collective_count),
     .fields = &collective_schema},
    {.name = "scopes",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap, scopes),
     .count_offset = offsetof(struct esi_pathmap, scope_count),
     .fields = &scope_schema},
    {.name = "paths",
     .kind = ESI_FIELD_OBJECTS,
     .offset = offsetof(struct esi_pathmap, paths),
     .count_offset = offsetof(struct esi_pathmap, path_count),
     .fields = &path_schema},
};

const struct esi_fields esi_map_fields = {.name = "map",
                                          .size = sizeof(struct esi_pathmap),
                                          .rows = map_members,
                                          .row_count = COUNT(map_members)};
