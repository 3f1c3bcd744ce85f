/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The pathmap: which thread communicates through which paths, on which hosts, collected
 * by what, and which scopes read it (docs/pathmap.md, eventspace-pathmap(5)).
 *
 * A map is made from a JSON text or by the generator, is valid from then on, and is not
 * changed but by the functions below that say so.  What the accessors lend lives until
 * the map is changed or destroyed.  Different threads may read one map at the same
 * time.
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

/* Parses and validates.  `source` names the text in errors.  -EINVAL with file, line,
 * column and the member's path in `error`, or -ENOMEM. */
int esi_pathmap_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct esi_pathmap **ret_map);

/* The same from a file; also -errno when it cannot be read. */
int esi_pathmap_load(const char *path,
                     struct es_error *error,
                     struct esi_pathmap **ret_map);

/* The same of a monitor's own map: its scopes read the ranks of the application that
 * is observed, which may be more than the monitor's threads. */
int esi_pathmap_parse_observer(const char *text,
                               size_t length,
                               const char *source,
                               struct es_error *error,
                               struct esi_pathmap **ret_map);
int esi_pathmap_load_observer(const char *path,
                              struct es_error *error,
                              struct esi_pathmap **ret_map);

/* The map as JSON text, ending in a newline: members in the order of the documentation,
 * defaults spelled out.  Parsing it gives an equal map.  Caller frees *ret_text. */
int esi_pathmap_format(const struct esi_pathmap *map, char **ret_text);

/* Writes the text to a file that appears whole or not at all. */
int esi_pathmap_save(const struct esi_pathmap *map,
                     const char *path,
                     struct es_error *error);

/* Accepts NULL. */
void esi_pathmap_destroy(struct esi_pathmap *map);

/* --- Generators ------------------------------------------------------------------- */

/* What to generate.  Zero means the default of each field. */
struct esi_pathmap_request {
    int ranks;              /* 0 = one for each slot of the hosts */
    int threads;            /* per rank, whose paths are spelled out; 0 = 1 */
    const char *hostfile;   /* NULL = this host alone */
    const char *synthetic;  /* describe this host by hwloc's synthetic text, for tests;
                               NULL = look */
    const char *local_name; /* this host's name; NULL = ask the system */
    uint32_t threshold;     /* of all collectors; 0 = as esi_plan_default() */
};

/* The default map: the hosts with this one's topology, ranks placed on the hosts' slots
 * in turn, the collectors of esi_plan_default(), and the scopes "heartbeat" and
 * "events". */
int esi_pathmap_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_pathmap **ret_map);

/* Spells the mapping and every path out, in place.  A map that has paths keeps them as
 * they are. */
int esi_pathmap_expand(struct esi_pathmap *map, struct es_error *error);

/* Changes the threshold of all collectors and of all paths. */
int esi_pathmap_set_threshold(struct esi_pathmap *map,
                              uint32_t threshold,
                              struct es_error *error);

/* Sets whether the elements of all collectors and of all paths block their writers when
 * they are full, or discard. */
int esi_pathmap_set_block(struct esi_pathmap *map, bool block, struct es_error *error);

/* What the observed processes of `host` (NULL = of all hosts) are to collect.  Where
 * the map is expanded its paths decide, else its collectors.  Caller finishes the plan
 * with esi_plan_fini(). */
int esi_pathmap_plan(const struct esi_pathmap *map,
                     const char *host,
                     struct es_error *error,
                     struct es_plan *ret_plan);

/* --- Application ------------------------------------------------------------------ */

int esi_pathmap_rank_count(const struct esi_pathmap *map);

/* --- Cluster and mapping ---------------------------------------------------------- */

/* Records below are open because they are what the document says, member for member;
 * only the pathmap writes them.  A string that the document leaves out is NULL. */

struct esi_pathmap_cluster {
    char *name;
    char *gateway; /* host that leads into it, or NULL */
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
    char *address;                        /* how others reach it; NULL = the name */
    int64_t slots;                        /* ranks meant to run there */
    int64_t cores;                        /* 0 = not known */
    int64_t pus;                          /* 0 = not known */
    int64_t memory_bytes;                 /* 0 = not known */
    struct esi_pathmap_package *packages; /* none = topology not known */
    size_t package_count;
    char *comment;
};

size_t esi_pathmap_cluster_count(const struct esi_pathmap *map);
const struct esi_pathmap_cluster *esi_pathmap_cluster(const struct esi_pathmap *map,
                                                      size_t index);
size_t esi_pathmap_host_count(const struct esi_pathmap *map);
const struct esi_pathmap_host *esi_pathmap_host(const struct esi_pathmap *map,
                                                size_t index);
/* NULL when there is no such host. */
const struct esi_pathmap_host *esi_pathmap_find_host(const struct esi_pathmap *map,
                                                     const char *name);

/* Where a rank runs.  A map without mapping places ranks as the generator does. */
const struct esi_pathmap_host *esi_pathmap_rank_host(const struct esi_pathmap *map,
                                                     int rank);
/* Core of its host the rank is meant for, counted through the packages; -1 = any. */
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
    struct esi_tree_rule rule; /* its members: esi_tree_rule_fields; what the map leaves
                                 out is 0 */
    char *comment;
};

/* Whether the map says anything of collective trees, and be it an empty list: then the
 * run can be switched. */
bool esi_pathmap_has_collectives(const struct esi_pathmap *map);
/* The rules for the observed processes as a text, with the clusters and gateways of the
 * hosts (of maps without rules too).  `rule` takes the place of the map's unless it is
 * NULL.  Caller frees *ret_text.  -ENOMEM. */
int esi_pathmap_tree_text(const struct esi_pathmap *map,
                          const struct esi_tree_rule *rule,
                          struct es_error *error,
                          char **ret_text);
/* Has the plan record what happens inside trees, if it says nothing of it, with the
 * threshold unless that is 0.  -ENOMEM. */
int esi_pathmap_add_trees(struct es_plan *plan, uint32_t threshold);
/* The rules of a document that holds nothing but {"collectives": [...]}.  -EINVAL with
 * the place. */
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

/* One property of a stage or scope, as written.  The stage's type says what is allowed,
 * not the pathmap; text, line and column (of the value; 0 = not from a text) are what
 * es_property_values_parse() of the stage registry wants. */
struct esi_pathmap_property {
    char *name; /* NULL in a list */
    enum esi_pathmap_value kind;
    char *text; /* a string as it is, everything else as JSON: "true", "64" */
    bool boolean;
    int64_t integer;
    double real;                        /* also set for integers */
    struct esi_pathmap_property *items; /* of lists and objects */
    size_t item_count;
    int line;
    int column;
    int name_line; /* of the name, for names nobody knows */
    int name_column;
};

/* Which elements; what is left out selects all. */
struct esi_pathmap_view {
    char *ranks;        /* "0-3,7" or NULL */
    char *threads;      /* thread numbers, the same form, or NULL */
    char *hosts;        /* name pattern or NULL */
    char *collectors;   /* name pattern or NULL */
    char *communicator; /* name pattern or NULL */
    char *elements;     /* pattern of the element's name or NULL */
    uint32_t classes;   /* bits, 0 = all */
    char *comment;
};

/* For each of what a stage of a tree is made. */
enum esi_per {
    ES_PER_SCOPE = 0, /* once */
    ES_PER_CLUSTER,
    ES_PER_HOST,
    ES_PER_RANK,
    ES_PER_THREAD,
    ES_PER_ELEMENT,
};

/* One stage; results flow from the children to their parent.  A stage without children
 * reads the elements of the view that belong to its part. */
struct esi_pathmap_stage {
    char *name;      /* unique in its scope, or NULL */
    char *type;      /* a name of the stage registry */
    int per;         /* enum esi_per; never wider than the parent's */
    char *host;      /* placement, or NULL */
    char *collector; /* collector that observes this stage itself, or NULL */
    struct esi_pathmap_property *properties; /* in the order of the text */
    size_t property_count;
    struct esi_pathmap_stage *children;
    size_t child_count;
    char *comment;
    int line; /* of the stage; 0 = not from a text */
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
/* NULL when there is no such scope. */
const struct esi_pathmap_scope *esi_pathmap_find_scope(const struct esi_pathmap *map,
                                                       const char *name);
/* NULL when the stage has no such property. */
const struct esi_pathmap_property *esi_pathmap_stage_property(
    const struct esi_pathmap_stage *stage,
    const char *name);
/* Where the map places a stage of a scope: mapping first, then the stage's own host.
 * NULL = nothing said. */
const char *esi_pathmap_stage_host(const struct esi_pathmap *map,
                                   const struct esi_pathmap_scope *scope,
                                   const struct esi_pathmap_stage *stage);
/* The name of the text that the map came from, for errors about properties; "" if none.
 */
const char *esi_pathmap_source(const struct esi_pathmap *map);

/* --- Paths: the expanded map ------------------------------------------------------ */

/* From one thread through its stages to the element; the stages of a path have no
 * children. */
struct esi_pathmap_path {
    char *id; /* "RANK.THREAD/COLLECTOR" */
    int64_t rank;
    int64_t thread;
    char *collector;
    char *element; /* id, with "[comm=*]", "[peer=*]" where it is split at run time */
    struct esi_pathmap_stage *stages; /* "collector", then "element" */
    size_t stage_count;
    char *comment;
};

/* --- Overview --------------------------------------------------------------------- */

struct esi_pathmap_summary {
    size_t hosts;
    size_t ranks;
    size_t threads;
    size_t collectors;
    size_t collectives;
    size_t paths; /* that the expanded map has */
    size_t scopes;
    uint64_t ring_bytes; /* of all paths' tuples; splits count once */
    bool expanded;
};

void esi_pathmap_summarize(const struct esi_pathmap *map,
                           struct esi_pathmap_summary *ret_summary);

#endif
