/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The collective-operation monitor's own pathmap (paper, section 5.3): which threads it
 * has, on which hosts, and with which scopes they look at the observed run.
 *
 * It is a pathmap like any other (docs/pathmap.md) in which the monitor is the
 * application: thread 0 is the front end, thread 1 takes the contributions, each
 * further one looks after internal nodes of trees on the host that it is mapped to.
 * Its scopes "contributions" and "nodes" have the settings of eventspace-scope(1) as
 * properties.  Users print it, change it and give it back:
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

enum { ES_COLLECTIVES_NODE_THREADS = 16 }; /* most of one host, by default */

/* What to generate a map from: the run's hosts and where it has arrival elements. */
struct esi_collectives_host {
    const char *name; /* borrowed */
    size_t nodes;     /* ranks there with arrival elements: internal nodes, or leaves */
};

struct esi_collectives_map;

/* The default map of a run: one thread for each internal node, at most
 * ES_COLLECTIVES_NODE_THREADS a host.  `front` is the host of the front end.  -ENOMEM.
 */
int esi_collectives_map_generate(const struct esi_collectives_host *hosts,
                                 size_t count,
                                 const char *front,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map);

/* The same, found out from the run: which ranks have arrival elements.  `servers` as of
 * scopes. */
int esi_collectives_map_discover(const char *run,
                                 struct es_servers *servers,
                                 struct es_error *error,
                                 struct esi_collectives_map **ret_map);

/* From a file, or from text (`source` names it in errors).  -EINVAL with the place. */
int esi_collectives_map_load(const char *path,
                             struct es_error *error,
                             struct esi_collectives_map **ret_map);
int esi_collectives_map_parse(const char *text,
                              size_t length,
                              const char *source,
                              struct es_error *error,
                              struct esi_collectives_map **ret_map);
/* As JSON text that esi_collectives_map_parse() reads.  Caller frees *ret_text. */
int esi_collectives_map_format(const struct esi_collectives_map *map, char **ret_text);
/* Accepts NULL. */
void esi_collectives_map_destroy(struct esi_collectives_map *map);

/* How many threads look after nodes on a host; of a host that the map does not have, or
 * has none on: 0, its nodes are looked after by its server's own thread. */
unsigned esi_collectives_map_threads(const struct esi_collectives_map *map,
                                     const char *host);

/* What the scopes are to be opened with; texts are borrowed from the map.  `config` has
 * been initialised by the caller, who sets servers and name: view, tree, sorting and
 * limits are set here.  False: the map has no such scope, this half of the monitor is
 * not wanted. */
bool esi_collectives_map_contributions(const struct esi_collectives_map *map,
                                       struct es_scope_config *config);
bool esi_collectives_map_nodes(const struct esi_collectives_map *map,
                               struct es_scope_config *config);

#endif
