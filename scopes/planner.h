/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* planner.h - what a plan is made from: elements in order, their hosts, and what people
 * write about trees as text. */
#ifndef ES_SCOPES_PLANNER_H
#define ES_SCOPES_PLANNER_H

#include "scopes/stage_tree.h"

/* One host that has elements of the view. */
struct esi_host_location {
    const char *host;
    const struct es_host_info *info; /* NULL = not known */
    size_t first;                    /* its elements: planner->order[first .. end) */
    size_t end;
    bool here;   /* the consumer runs there */
    bool direct; /* its elements are read in the consumer */
};

/* What `tree.reduce` says, taken apart. */
struct esi_reduction {
    char text[96];  /* with blanks replaced by ends of texts */
    const char *to; /* into text; NULL = nothing is reduced */
    const char *of; /* likewise; NULL = not said */
    const char *by;
    bool summarizes; /* what it emits is no operation, but merges with its like */
};

/* A host that a person listed for aggregators. */
struct esi_listed_host {
    const struct es_host_info *info;
    size_t uses; /* aggregators that stand there so far */
};

/* What `tree.observe` says. */
struct esi_observation {
    bool hosts;
    bool joints;
    bool threads;
    char name[32]; /* what the stage takes */
};

/* The first five members are the caller's. */
struct esi_planner {
    const struct es_origin *origins;
    size_t count;
    const struct es_scope_config *config;
    const struct esi_host_infos *infos; /* NULL = none */
    const char *view_filter;            /* NULL = none */

    size_t *order; /* indices of origins, by location and thread */
    int *sockets;  /* of each origin; NULL = not asked for */
    const struct es_host_info **hosts_sorted; /* by name */
    struct esi_host_location *locations;      /* by gateway, cluster and name */
    size_t location_count;
    struct esi_listed_host *listed; /* as the person listed them */
    size_t listed_count;
    size_t listed_capacity;
    struct esi_reduction reduction;
    struct esi_observation observation;
};

/* Brings the elements into order, finds their hosts, and takes apart what persons wrote
 * as text: joints, reduce, observe.  -EINVAL with words, -ENOMEM; in any case
 * esi_planner_fini() follows. */
int esi_planner_init(struct esi_planner *planner, struct es_error *error);
void esi_planner_fini(struct esi_planner *planner);
/* NULL: no such host. */
const struct es_host_info *esi_planner_host_info(const struct esi_planner *planner,
                                                 const char *host);

/* The host on which what belongs to `host` is read.  Elements of a host that no server
 * reports were found in this host's memory: they are read from here, whatever their
 * process calls its host. */
const char *esi_planner_stage_host(const struct esi_planner *planner, const char *host);
/* Whether a node of `host` is opened in the consumer. */
bool esi_planner_is_here(const struct esi_planner *planner, const char *host);

/* What elements have in common. */
enum esi_planner_group {
    ESI_GROUP_HOST,
    ESI_GROUP_SOCKET,
    ESI_GROUP_PROCESS,
    ESI_GROUP_THREAD
};

/* First slot of planner->order behind `from` whose element is of another group. */
size_t esi_planner_group_end(const struct esi_planner *planner,
                             enum esi_planner_group group,
                             size_t from,
                             size_t end);
/* The cluster of a location, and the host that leads into it; NULL = none. */
const char *esi_host_location_cluster(const struct esi_host_location *location);
const char *esi_host_location_gateway(const struct esi_host_location *location);

#endif
