/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * planner.h - what a plan is made from, and the subtree of one host.
 *
 * planner.c orders the elements, finds their hosts and reads the settings; host_tree.c
 * plans what stands on one host; stage_tree.c groups hosts below joints.
 */
#ifndef ES_SCOPES_PLANNER_H
#define ES_SCOPES_PLANNER_H

#include "scopes/stage_tree.h"

/* One host that has elements of the view. */
struct esi_host_location {
    const char *host;
    const struct es_host_info *site; /* NULL = not known */
    size_t first;                    /* its elements: planner->order[first .. end) */
    size_t end;
    bool here;   /* the consumer runs there */
    bool direct; /* its elements are read in the consumer */
};

enum { ESI_REDUCE_OPTIONS = 2 };

/* What `tree.reduce` says, taken apart. */
struct esi_reduction {
    char text[96];  /* with blanks replaced by ends of texts */
    const char *to; /* into text; NULL = nothing is reduced */
    struct {
        const char *name; /* static */
        const char *value;
    } options[ESI_REDUCE_OPTIONS];
    size_t option_count;
    bool summarizes; /* what it gives is no operation, but merges with its like */
};

/* What `tree.observe` says. */
struct esi_observation {
    bool hosts;
    bool joints;
    bool threads;
    char name[32]; /* what the stage takes */
};

struct esi_planner {
    const struct es_origin *origins;
    size_t count;
    const struct es_scope_config *config;
    const struct esi_host_infos *sites; /* NULL = none */
    const char *view_filter;            /* NULL = none */
    size_t *order;                      /* indices of origins, by place and thread */
    int *sockets;                       /* of each origin; NULL = not asked for */
    const struct es_host_info **hosts_sorted; /* by name */
    struct esi_host_location *places;         /* by gateway, cluster and name */
    size_t place_count;
    const struct es_host_info *
        *joints;        /* hosts for joints, as the person listed them */
    size_t *joint_uses; /* joints that stand there so far */
    size_t joint_count;
    struct esi_reduction reduction;
    struct esi_observation observation;
};

/* A subtree, and what has to be known of it to arrange it among others. */
struct esi_tree_piece {
    struct esi_stage_node *node; /* owned */
    size_t first;                /* places it stands for */
    size_t end;
};

/* --- planner.c ------------------------------------------------------------------ */

/* Fills order, sockets, hosts_sorted, places.  -ENOMEM. */
int esi_locations_find(struct esi_planner *planner);
/* NULL: no such host. */
const struct es_host_info *esi_locations_host_info(const struct esi_planner *planner,
                                                   const char *host);
/* First place in planner->order behind `from` whose thread, or socket, is another. */
size_t esi_locations_end_of_thread(const struct esi_planner *planner,
                                   size_t from,
                                   size_t end);
size_t esi_locations_end_of_socket(const struct esi_planner *planner,
                                   size_t from,
                                   size_t end);
/* Likewise whose process. */
size_t esi_locations_end_of_process(const struct esi_planner *planner,
                                    size_t from,
                                    size_t end);
/* The cluster of a place, and the host that leads into it; NULL = none. */
const char *esi_host_location_cluster(const struct esi_host_location *place);
const char *esi_host_location_gateway(const struct esi_host_location *place);

/* --- Settings ---- */

/* Takes apart what persons wrote as text: joints, reduce, observe.  -EINVAL with words,
 * -ENOMEM. */
int esi_settings_read(struct esi_planner *planner, struct es_error *error);

/* --- host_tree.c ------------------------------------------------------------- */

/* Whether a node of `host` is opened in the consumer. */
bool esi_host_tree_is_here(const struct esi_planner *planner, const char *host);
/* A stage that joins what its children give: gather, sort or reduce.  NULL: no memory.
 */
struct esi_stage_node *esi_host_tree_aggregator(const struct esi_planner *planner,
                                                const char *host,
                                                const char *label);
/* The same over hosts: it also says in which order they are asked. */
struct esi_stage_node *esi_hosts_aggregator(const struct esi_planner *planner,
                                            const char *host,
                                            const char *label);
/* Puts an observing stage on top of `node`, which it takes, if `wanted`.  NULL: no
 * memory. */
struct esi_stage_node *esi_host_tree_observed(const struct esi_planner *planner,
                                              struct esi_stage_node *node,
                                              bool wanted);
/* Whether the joint that stands for a host can be left out where another one of the
 * same host takes its children: nobody asked for it, and nothing stands on top. */
bool esi_host_tree_is_detour(const struct esi_planner *planner,
                             const struct esi_host_location *place);
/* Adds what lies below the joint of a host to `parent`. */
int esi_host_tree_fill(const struct esi_planner *planner,
                       struct esi_stage_node *parent,
                       const struct esi_host_location *place);
/* The subtree of one host.  NULL: no memory. */
struct esi_stage_node *esi_host_tree_plan(const struct esi_planner *planner,
                                          const struct esi_host_location *place);
/* Puts the view's filters on top of `node`, which it takes.  NULL: no memory. */
struct esi_stage_node *esi_host_tree_filtered(const struct esi_planner *planner,
                                              struct esi_stage_node *node);

/* --- stage_tree.c ------------------------------------------------------------- */

/* Adds a piece to a joint, which takes its node, also on failure. */
int esi_arrange_add(const struct esi_planner *planner,
                    struct esi_stage_node *joint,
                    struct esi_tree_piece *piece);
/* Puts joints over neighbours among the pieces, until there are no more than `fan_out`
 * of them.  The pieces move up.  On failure those that still have a node are to be
 * freed. */
int esi_arrange_groups(struct esi_planner *planner,
                       struct esi_tree_piece *pieces,
                       size_t *count,
                       size_t fan_out);
/* Puts a joint over the pieces of each cluster, and over those behind each gateway, as
 * tree.levels says. */
int esi_arrange_levels(struct esi_planner *planner,
                       struct esi_tree_piece *pieces,
                       size_t *count);

#endif
