/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A path of an expanded map: its names and the settings of its two stages. */
#ifndef ES_PATHMAP_PATH_H
#define ES_PATHMAP_PATH_H

#include "pathmap/pathmap.h"

enum { ESI_PATH_NAME_BYTES = 96 };

/* The two stages of a path, and the fields of the collector that they contain as
 * properties, all of which are required. */
enum { ESI_PATH_STAGES = 2, ESI_PATH_PROPERTIES = 2 };

struct esi_path_stage {
    const char *type;
    const char *definition; /* name of its properties in docs/pathmap.schema.json */
    const char *properties[ESI_PATH_PROPERTIES]; /* names in esi_collector_fields */
};

extern const struct esi_path_stage esi_path_stages[ESI_PATH_STAGES];

/* Settings that may differ between ranks with the same collector. */
struct esi_path_settings {
    bool enabled;
    bool polls;
    int64_t threshold;
    int full;
    const char *host; /* of the element; borrowed; NULL for the rank's own host */
};

/* The settings of a path that was validated or created by this folder. */
void esi_path_settings(const struct esi_pathmap_path *path,
                       struct esi_path_settings *ret_settings);
bool esi_path_settings_equal(const struct esi_path_settings *a,
                             const struct esi_path_settings *b);

/* Fills a zeroed path of a collector.  `host` is that of the rank, and may be NULL.
 * Returns 0 or -ENOMEM; the caller frees the path in either case. */
int esi_path_init(struct esi_pathmap_path *path,
                  int rank,
                  int thread,
                  const struct esi_pathmap_collector *collector,
                  const char *host);

/* Set the threshold of a path, and whether its element blocks when full.  Return 0; or
 * -ENOMEM, and then change nothing. */
int esi_path_set_threshold(struct esi_pathmap_path *path, uint32_t threshold);
int esi_path_set_block(struct esi_pathmap_path *path, bool block);

#endif
