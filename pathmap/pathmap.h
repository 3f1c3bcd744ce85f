/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The pathmap: which threads communicate through which paths, on which hosts, recorded
 * by which collectors, and which scopes read the data (docs/pathmap.md,
 * eventspace-pathmap(5)).
 *
 * A map is created from JSON text or by the generator, is valid from then on, and is
 * only changed by functions below that say so.  Data returned by accessors is borrowed
 * until the map is changed or destroyed.  Different threads may read the same map.
 */
#ifndef ES_PATHMAP_H
#define ES_PATHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/plan/plan.h"
#include "tuplespace/plan/tree_rules.h"

#define ES_PATHMAP_VERSION 1

struct esi_pathmap;

/* --- From and to text ------------------------------------------------------------- */

/* Parses and validates a map.  `source` names the text in errors.  Returns 0; -EINVAL,
 * with file, line, column and the path of the member in `error`; or -ENOMEM. */
int esi_pathmap_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct esi_pathmap **ret_map);

/* Like esi_pathmap_parse(), from a file; also returns another -errno if it cannot be
 * read. */
int esi_pathmap_load(const char *path,
                     struct es_error *error,
                     struct esi_pathmap **ret_map);

/* Like these, for a monitor's own map, whose scopes read the ranks of the observed
 * application, which may be more than the monitor has. */
int esi_pathmap_parse_observer(const char *text,
                               size_t length,
                               const char *source,
                               struct es_error *error,
                               struct esi_pathmap **ret_map);
int esi_pathmap_load_observer(const char *path,
                              struct es_error *error,
                              struct esi_pathmap **ret_map);

/* Formats the map as JSON text with a newline at the end: members in the order of the
 * documentation, including defaults.  Parsing it yields an equal map.  The caller frees
 * *ret_text. */
int esi_pathmap_format(const struct esi_pathmap *map, char **ret_text);

/* Writes the text to a file, completely or not at all; but if it is not a regular file
 * (a terminal, a pipe), directly. */
int esi_pathmap_save(const struct esi_pathmap *map,
                     const char *path,
                     struct es_error *error);

/* Frees the map.  Accepts NULL. */
void esi_pathmap_destroy(struct esi_pathmap *map);

/* --- Generators ------------------------------------------------------------------- */

/* What to generate.  Zero is the default of each field. */
struct esi_pathmap_request {
    int ranks;              /* 0 for one per slot of the hosts */
    int threads;            /* threads per rank that have explicit paths; 0 for 1 */
    const char *hostfile;   /* NULL for this host only */
    const char *synthetic;  /* hwloc's synthetic description to use as topology
                               of this host, for tests; NULL to detect it */
    const char *local_name; /* name of this host; NULL to ask the system */
    uint32_t threshold;     /* of all collectors; 0 for that of esi_plan_default() */
};

/* Generates the default map: all hosts with the topology of this one, ranks assigned to
 * the hosts' slots in turn, the collectors of esi_plan_default(), and the scopes
 * "heartbeat" and "events". */
int esi_pathmap_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_pathmap **ret_map);

/* Adds the complete mapping and all paths.  Existing paths of a map are kept. */
int esi_pathmap_expand(struct esi_pathmap *map, struct es_error *error);

/* Sets the threshold of all collectors and all paths. */
int esi_pathmap_set_threshold(struct esi_pathmap *map,
                              uint32_t threshold,
                              struct es_error *error);

/* Sets whether the elements of all collectors and paths block their writers when full,
 * or discard the oldest tuple. */
int esi_pathmap_set_block(struct esi_pathmap *map, bool block, struct es_error *error);

/* The collection plan for the observed processes of `host`, or of all hosts if it is
 * NULL.  Uses the paths of an expanded map, otherwise the collectors.  The caller frees
 * the plan with esi_plan_fini(). */
int esi_pathmap_plan(const struct esi_pathmap *map,
                     const char *host,
                     struct es_error *error,
                     struct es_plan *ret_plan);

/* --- Application ------------------------------------------------------------------ */

int esi_pathmap_rank_count(const struct esi_pathmap *map);

/* --- Cluster and mapping ---------------------------------------------------------- */

/* The fields of the records below are public because they correspond to the members of
 * the document; only the pathmap writes them.  Strings missing in the document are
 * NULL. */

struct esi_pathmap_cluster {
    char *name;
    char *gateway; /* host through which it is reached, or NULL */
    char *comment;
};

/* Processing units of one core, by the operating system's numbers. */
struct esi_pathmap_core {
    int64_t *pus;
    size_t pu_count;
};

struct esi_pathmap_package {
    struct esi_pathmap_core *cores;
    size_t core_count;
    char *comment;
};

struct esi_pathmap_host {
    char *name;
    char *cluster;                        /* or NULL */
    char *address;                        /* how others reach it; NULL for the name */
    int64_t slots;                        /* number of ranks intended to run there */
    int64_t cores;                        /* 0 if not known */
    int64_t pus;                          /* 0 if not known */
    int64_t memory_bytes;                 /* 0 if not known */
    struct esi_pathmap_package *packages; /* none if the topology is not known */
    size_t package_count;
    char *comment;
};

size_t esi_pathmap_cluster_count(const struct esi_pathmap *map);
const struct esi_pathmap_cluster *esi_pathmap_cluster(const struct esi_pathmap *map,
                                                      size_t index);
size_t esi_pathmap_host_count(const struct esi_pathmap *map);
const struct esi_pathmap_host *esi_pathmap_host(const struct esi_pathmap *map,
                                                size_t index);
/* Finds a host by name; NULL if there is none. */
const struct esi_pathmap_host *esi_pathmap_find_host(const struct esi_pathmap *map,
                                                     const char *name);

/* The host of a rank.  Without a mapping, ranks are placed as by the generator. */
const struct esi_pathmap_host *esi_pathmap_rank_host(const struct esi_pathmap *map,
                                                     int rank);
/* The core of its host intended for the rank, counted through the packages; -1 for
 * any. */
int esi_pathmap_rank_core(const struct esi_pathmap *map, int rank);
/* --- Collectors ------------------------------------------------------------------- */

struct esi_pathmap_collector {
    struct esi_collector_plan plan; /* its members: esi_collector_fields */
    char *comment;
};

const struct esi_pathmap_collector *esi_pathmap_collector(const struct esi_pathmap *map,
                                                          size_t index);

/* --- Collective trees ------------------------------------------------------------- */

struct esi_pathmap_collective {
    struct esi_tree_rule rule; /* its members: esi_tree_rule_fields;
                                  0 if missing in the map */
    char *comment;
};

/* Returns whether the map has a list of collective trees, even an empty one; then trees
 * can be changed during the run. */
bool esi_pathmap_has_collectives(const struct esi_pathmap *map);
/* The rules for the observed processes as text, with the clusters and gateways of the
 * hosts, also for maps without rules.  `rule`, unless NULL, replaces the rules of the
 * map.  Returns 0 or -ENOMEM.  The caller frees *ret_text. */
int esi_pathmap_tree_text(const struct esi_pathmap *map,
                          const struct esi_tree_rule *rule,
                          struct es_error *error,
                          char **ret_text);
/* Makes the plan record events inside trees, unless it mentions them, with the
 * threshold unless that is 0.  Returns 0 or -ENOMEM. */
int esi_pathmap_add_trees(struct es_plan *plan, uint32_t threshold);
/* Reads the rules of a document that contains only {"collectives": [...]}.  Returns 0;
 * or -EINVAL, with the location of the error. */
int esi_pathmap_rules_load(const char *path,
                           struct es_error *error,
                           struct esi_tree_plan *ret_plan);

/* --- Scopes ----------------------------------------------------------------------- */

enum esi_pathmap_value {
    ES_PATHMAP_VALUE_NULL = 0,
    ES_PATHMAP_VALUE_BOOLEAN,
    ES_PATHMAP_VALUE_INTEGER,
    ES_PATHMAP_VALUE_REAL,
    ES_PATHMAP_VALUE_STRING,
    ES_PATHMAP_VALUE_LIST,
    ES_PATHMAP_VALUE_OBJECT,
};

/* A property of a stage or scope, as written.  Checked by the stage's type rather than
 * by the pathmap, with es_property_values_parse(), which uses text, line and column (of
 * the value; 0 if not from a text). */
struct esi_pathmap_property {
    char *name; /* NULL in a list */
    enum esi_pathmap_value kind;
    char *text; /* a string unchanged, other values as JSON: "true", "64" */
    bool boolean;
    int64_t integer;
    double real;                        /* also set for integers */
    struct esi_pathmap_property *items; /* of lists and objects */
    size_t item_count;
    int line;
    int column;
    int name_line; /* of the name, for unknown names */
    int name_column;
};

/* Selects elements; missing members select all. */
struct esi_pathmap_view {
    char *ranks;        /* "0-3,7" or NULL */
    char *threads;      /* thread numbers in the same form, or NULL */
    char *hosts;        /* name pattern or NULL */
    char *collectors;   /* name pattern or NULL */
    char *communicator; /* name pattern or NULL */
    char *elements;     /* pattern of the element's name or NULL */
    uint32_t classes;   /* bits; 0 for all */
    char *comment;
};

/* For which units a stage of a tree is created. */
enum esi_per {
    ES_PER_SCOPE = 0, /* once */
    ES_PER_CLUSTER,
    ES_PER_HOST,
    ES_PER_RANK,
    ES_PER_THREAD,
    ES_PER_ELEMENT,
};

/* A stage of a tree; results flow from the children to their parent.  Stages without
 * children read the elements of the view that belong to their unit. */
struct esi_pathmap_stage {
    char *name;      /* unique in its scope, or NULL */
    char *type;      /* a name of the stage registry */
    int per;         /* enum esi_per; not wider than that of the parent */
    char *host;      /* placement, or NULL */
    char *collector; /* collector that records this stage itself, or NULL */
    struct esi_pathmap_property *properties; /* in the order of the text */
    size_t property_count;
    struct esi_pathmap_stage *children;
    size_t child_count;
    char *comment;
    int line; /* of the stage; 0 if not from a text */
    int column;
};

struct esi_pathmap_scope {
    char *name;
    struct esi_pathmap_view view;
    struct esi_pathmap_property *properties; /* of the scope as a whole */
    size_t property_count;
    struct esi_pathmap_stage tree; /* its root */
    char *comment;
};

size_t esi_pathmap_scope_count(const struct esi_pathmap *map);
const struct esi_pathmap_scope *esi_pathmap_scope(const struct esi_pathmap *map,
                                                  size_t index);
/* Finds a scope by name; NULL if there is none. */
const struct esi_pathmap_scope *esi_pathmap_find_scope(const struct esi_pathmap *map,
                                                       const char *name);
/* Finds a property of a stage by name; NULL if there is none. */
const struct esi_pathmap_property *esi_pathmap_stage_property(
    const struct esi_pathmap_stage *stage,
    const char *name);
/* The host of a stage of a scope: from the mapping, else from the stage itself; NULL if
 * not specified. */
const char *esi_pathmap_stage_host(const struct esi_pathmap *map,
                                   const struct esi_pathmap_scope *scope,
                                   const struct esi_pathmap_stage *stage);
/* Parses the tree of a scope alone, without a map: an object like `tree`.  Hosts and
 * collectors are not looked up.  Returns 0, -EINVAL with a text, or -ENOMEM.  Destroy
 * it with esi_pathmap_stages_destroy(), which accepts NULL. */
int esi_pathmap_stages_parse(const char *text,
                             size_t length,
                             const char *source,
                             struct es_error *error,
                             struct esi_pathmap_stage **ret_stages);
void esi_pathmap_stages_destroy(struct esi_pathmap_stage *stages);
/* Formats the tree of a scope on one line, with the hosts from the mapping.  The caller
 * frees *ret_text.  Returns 0 or -ENOMEM. */
int esi_pathmap_stages_format(const struct esi_pathmap *map,
                              const struct esi_pathmap_scope *scope,
                              char **ret_text);
/* Name of the text from which the map was parsed, for errors about properties; "" if
 * none. */
const char *esi_pathmap_source(const struct esi_pathmap *map);

/* --- Paths: the expanded map ------------------------------------------------------ */

/* From a thread through its stages to the element.  The stages of a path have no
 * children. */
struct esi_pathmap_path {
    char *id; /* "RANK.THREAD/COLLECTOR" */
    int64_t rank;
    int64_t thread;
    char *collector;
    char *element;                    /* id, followed by "[comm=*]" or "[peer=*]"
                                         if it is split at run time */
    struct esi_pathmap_stage *stages; /* "collector", then "element" */
    size_t stage_count;
    char *comment;
};

/* --- Summary ---------------------------------------------------------------------- */

struct esi_pathmap_summary {
    size_t hosts;
    size_t ranks;
    size_t threads;
    size_t collectors;
    size_t collectives;
    size_t paths; /* number in the expanded map */
    size_t scopes;
    uint64_t ring_bytes; /* memory for the tuples of all paths; splits count once */
    bool expanded;
};

void esi_pathmap_summarize(const struct esi_pathmap *map,
                           struct esi_pathmap_summary *ret_summary);

#endif
