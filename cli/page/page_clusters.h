/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_clusters.h - sets the clusters of the hosts of a run in its diagram. */
#ifndef ES_CLI_PAGE_PAGE_CLUSTERS_H
#define ES_CLI_PAGE_PAGE_CLUSTERS_H

#include "cli/consumer.h"
#include "monitors/diagram/diagram.h"

/* From the path map in an archive.  Without one, or if out of memory, hosts have no
 * cluster. */
void esi_page_clusters_of_archive(const char *directory, struct esi_diagram *diagram);

/* From the path map of a run. */
void esi_page_clusters_of_run(const struct esi_consumer *consumer,
                              struct esi_diagram *diagram);
/* From the run's tuple servers, which know it from their start or from the path map. */
void esi_page_clusters_of_servers(const struct esi_consumer *consumer,
                                  struct esi_diagram *diagram);

#endif
