/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One path of an expanded map: its names, and what its two stages say. */
#ifndef ES_PATHMAP_PATH_H
#define ES_PATHMAP_PATH_H

#include "pathmap/pathmap.h"

enum { ESI_PATH_NAME_BYTES = 96 };

/* The two stages of a path, and those fields of their collector that they carry as
 * properties: all are required. */
enum { ESI_PATH_STAGES = 2, ESI_PATH_PROPERTIES = 2 };

struct esi_path_stage {
    const char *type;
    const char *definition; /* of its properties in docs/pathmap.schema.json */
    const char *properties[ESI_PATH_PROPERTIES]; /* names in esi_collector_fields */
};

extern const struct esi_path_stage esi_path_stages[ESI_PATH_STAGES];

/* What may differ between ranks that share a collector. */
struct esi_path_settings {
    bool enabled;
    bool polls;
    int64_t threshold;
    int full;
    const char *host; /* of the element, borrowed; NULL = the rank's own */
};

/* Of a path that has been checked, or is as this folder makes it. */
void esi_path_settings(const struct esi_pathmap_path *path,
                       struct esi_path_settings *ret_settings);
bool esi_path_settings_equal(const struct esi_path_settings *a,
                             const struct esi_path_settings *b);

/* Fills a zeroed path of a collector.  `host` is the rank's, may be NULL.  -ENOMEM: the
 * path is to be finished all the same. */
int esi_path_init(struct esi_pathmap_path *path,
                  int rank,
                  int thread,
                  const struct esi_pathmap_collector *collector,
                  const char *host);

/* Change the threshold of a path, and whether its full element blocks; -ENOMEM: nothing
 * has changed. */
int esi_path_set_threshold(struct esi_pathmap_path *path, uint32_t threshold);
int esi_path_set_block(struct esi_pathmap_path *path, bool block);

#endif
