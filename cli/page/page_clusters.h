/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_clusters.h - which cluster each host of a run is in, told to its diagram. */
#ifndef ES_CLI_PAGE_PAGE_CLUSTERS_H
#define ES_CLI_PAGE_PAGE_CLUSTERS_H

#include "cli/consumer.h"
#include "monitors/diagram/diagram.h"

/* As the path map in an archive says.  Without one, or without memory, hosts are in
 * none. */
void esi_page_clusters_of_archive(const char *directory, struct esi_diagram *diagram);

/* As the path map of a run says. */
void esi_page_clusters_of_run(const struct esi_consumer *consumer,
                              struct esi_diagram *diagram);
/* As its tuple servers say, which were told when they were started, or have looked into
 * the path map. */
void esi_page_clusters_of_servers(const struct esi_consumer *consumer,
                                  struct esi_diagram *diagram);

#endif
