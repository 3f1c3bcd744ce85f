/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The topology of this host: packages, cores, processing units, memory. */
#ifndef ES_PATHMAP_TOPOLOGY_H
#define ES_PATHMAP_TOPOLOGY_H

#include "pathmap/pathmap.h"

/* Fills cores, pus, memory_bytes and packages of a host that has none.  `synthetic`
 * describes a machine in hwloc's syntax ("package:2 core:4 pu:2"); NULL to detect this
 * one.  Returns 0; -EINVAL for a wrong description; -ENOMEM; or -EIO if hwloc fails. */
int esi_topology_describe(const char *synthetic,
                          struct es_error *error,
                          struct esi_pathmap_host *host);

#endif
