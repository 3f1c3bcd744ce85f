/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* planner.h - the input of a plan: elements in order, their hosts, and the settings
 * that people write as text. */
#ifndef ES_SCOPES_PLANNER_H
#define ES_SCOPES_PLANNER_H

#include "scopes/stage_tree.h"

/* A host that has elements of the view. */
struct esi_host_location {
    const char *host;
    const struct es_host_info *info; /* NULL if not known */
    size_t first;                    /* its elements: planner->order[first .. end) */
    size_t end;
    bool here;   /* the consumer runs there */
    bool direct; /* its elements are read in the consumer */
};

/* The parsed `tree.reduce`. */
struct esi_reduction {
    char text[96];  /* blanks replaced by NUL */
    const char *to; /* into text; NULL if nothing is reduced */
    const char *of; /* likewise; NULL if not given */
    const char *by;
    bool summarizes; /* emits summaries, which can be merged, not operations */
};

/* A host listed by the user for aggregators. */
struct esi_listed_host {
    const struct es_host_info *info;
    size_t uses; /* number of aggregators placed there so far */
};

/* The parsed `tree.observe`. */
struct esi_observed_stages {
    bool hosts;
    bool joints;
    bool threads;
    char name[32]; /* property `name` of the stage */
};

/* The caller sets the first five members. */
struct esi_planner {
    const struct es_origin *origins;
    size_t count;
    const struct es_scope_config *config;
    const struct esi_host_infos *infos; /* NULL if none */
    const char *view_filter;            /* NULL if none */

    size_t *order; /* indices of origins, ordered by location and thread */
    int *sockets;  /* by origin; NULL if not needed */
    const struct es_host_info **hosts_sorted; /* ordered by name */
    struct esi_host_location *locations;      /* ordered by gateway, cluster and name */
    size_t location_count;
    struct esi_listed_host *listed; /* in the user's order */
    size_t listed_count;
    size_t listed_capacity;
    struct esi_reduction reduction;
    struct esi_observed_stages observation;
    bool sites; /* elements deliver call sites */
};

/* Orders the elements, finds their hosts, and parses the settings given as text:
 * joints, reduce, observe.  Returns 0, -EINVAL with a text, or -ENOMEM; in any case
 * call esi_planner_fini(). */
int esi_planner_init(struct esi_planner *planner, struct es_error *error);
void esi_planner_fini(struct esi_planner *planner);
/* Returns NULL if there is no such host. */
const struct es_host_info *esi_planner_host_info(const struct esi_planner *planner,
                                                 const char *host);

/* Finds a host for stages by name; errors begin with `what`.  Returns 0, and then
 * *ret_info is NULL if the host has lost its server since it was configured; or -EINVAL
 * with a text. */
int esi_planner_find_host(const struct esi_planner *planner,
                          const char *what,
                          const char *name,
                          struct es_error *error,
                          const struct es_host_info **ret_info);

/* The host on which elements of `host` are read.  Elements of a host that no server
 * reports were found in this host's memory, and are read from here, whatever host name
 * their process has. */
const char *esi_planner_stage_host(const struct esi_planner *planner, const char *host);
/* Returns true if a node of `host` is opened in the consumer. */
bool esi_planner_is_here(const struct esi_planner *planner, const char *host);

/* Properties shared by elements. */
enum esi_planner_group {
    ESI_GROUP_HOST,
    ESI_GROUP_SOCKET,
    ESI_GROUP_PROCESS,
    ESI_GROUP_THREAD
};

/* First slot of planner->order after `from` whose element is in another group. */
size_t esi_planner_group_end(const struct esi_planner *planner,
                             enum esi_planner_group group,
                             size_t from,
                             size_t end);
/* First location after `from` that is in another cluster. */
size_t esi_planner_cluster_end(const struct esi_planner *planner,
                               size_t from,
                               size_t end);
/* The cluster of a location, and its gateway host; NULL if none. */
const char *esi_host_location_cluster(const struct esi_host_location *location);
const char *esi_host_location_gateway(const struct esi_host_location *location);

#endif
