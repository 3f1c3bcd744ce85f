/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The path map of the collective-operation monitor itself (paper, section 5.3): its
 * threads, their hosts, and the scopes with which they observe the run.
 *
 * It is an ordinary path map (docs/pathmap.md) in which the monitor is the application:
 * thread 0 is the front end, thread 1 reads the contributions, and each further thread
 * analyses internal nodes of trees on the host that it is mapped to.  The scopes
 * "contributions" and "nodes" have the settings of eventspace-scope(1) as properties.
 * Users can print the map, edit it and pass it back:
 *
 *   eventspace collectives --print-map > mine.json
 *   eventspace collectives --map mine.json
 */
#ifndef ES_MONITORS_COLLECTIVES_COLLECTIVES_MAP_H
#define ES_MONITORS_COLLECTIVES_COLLECTIVES_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/scope.h"

enum { ES_COLLECTIVES_NODE_THREADS = 16 }; /* limit per host, by default */

/* The input of a generated map: a host of the run and its number of arrival
 * elements. */
struct esi_collectives_host {
    const char *name; /* borrowed */
    size_t nodes;     /* ranks with arrival elements: internal nodes or leaves */
};

struct esi_collectives_map;

/* Generates the default map of a run: one thread per internal node, at most
 * ES_COLLECTIVES_NODE_THREADS per host.  `front` is the host of the front end.  Returns
 * 0 or -ENOMEM. */
int esi_collectives_map_generate(const struct esi_collectives_host *hosts,
                                 size_t count,
                                 const char *front,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map);

/* Does the same for a run, after finding its ranks with arrival elements.  `servers` as
 * for scopes. */
int esi_collectives_map_discover(const char *run,
                                 struct es_servers *servers,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map);

/* Reads a map from a file or from text (`source` names it in errors). Returns 0, or
 * -EINVAL with the position. */
int esi_collectives_map_load(const char *path,
                             struct es_error *error,
                             struct esi_collectives_map **ret_map);
int esi_collectives_map_parse(const char *text,
                              size_t length,
                              const char *source,
                              struct es_error *error,
                              struct esi_collectives_map **ret_map);
/* Formats a map as JSON text that esi_collectives_map_parse() reads.  The caller frees
 * *ret_text. */
int esi_collectives_map_format(const struct esi_collectives_map *map, char **ret_text);
/* Accepts NULL. */
void esi_collectives_map_destroy(struct esi_collectives_map *map);

/* Number of threads that analyse the nodes of a host.  0 if the host is not in the map
 * or has no threads: then its server's own thread analyses them. */
unsigned esi_collectives_map_threads(const struct esi_collectives_map *map,
                                     const char *host);

/* Set view, tree, sorting and limits of a scope configuration, which the caller has
 * initialised and completes with servers and name.  Texts are borrowed from the map.
 * Return false if the map does not have the scope, so that this half of the monitor is
 * disabled. */
bool esi_collectives_map_contributions(const struct esi_collectives_map *map,
                                       struct es_scope_config *config);
bool esi_collectives_map_nodes(const struct esi_collectives_map *map,
                               struct es_scope_config *config);

#endif
