/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_otf2.h - exports an archive or a run as an OTF2 archive. */
#ifndef ES_CLI_EXPORT_OTF2_H
#define ES_CLI_EXPORT_OTF2_H

#include "cli/event_source.h"
#include "tuplespace/plan/plan.h"

/* Writes the events of these ranks (none = all) to a new folder.  Sets the listener of
 * `source`. Returns 0, or the exit status after a message. */
int esi_export_otf2(struct esi_event_source *source,
                    const char *path,
                    const struct esi_rank_range *ranges,
                    size_t range_count);

#endif
