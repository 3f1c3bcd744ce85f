/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What this host is made of: packages, cores, processing units, memory. */
#ifndef ES_PATHMAP_TOPOLOGY_H
#define ES_PATHMAP_TOPOLOGY_H

#include "pathmap/pathmap.h"

/* Fills cores, pus, memory_bytes and packages of a host that has none.  `synthetic`
 * describes another machine than this one in hwloc's words ("package:2 core:4 pu:2"),
 * NULL = look. -EINVAL: the description is wrong; -ENOMEM; -EIO: hwloc found nothing.
 */
int esi_topology_describe(const char *synthetic,
                          struct es_error *error,
                          struct esi_pathmap_host *host);

#endif
