/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The cluster map out of a hostfile and what this host says of itself. */
#ifndef ES_PATHMAP_GENERATE_H
#define ES_PATHMAP_GENERATE_H

#include "pathmap/map.h"

/* Fills an empty cluster map with one host at least.  On failure nothing is in it. */
int esi_cluster_generate(const struct esi_pathmap_request *request,
                         struct es_error *error,
                         struct esi_cluster_map *cluster);

#endif
