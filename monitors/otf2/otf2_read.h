/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_read.h - reads an OTF2 archive, of this or another tool, as an ordered stream of
 * events (docs/exports.md).
 *
 * Converts its events to tuples, which are matched like those of a run (causality.h).
 * The events are read twice.  Memory: that of causality.h, and 32 bytes per receive and
 * collective operation.  One thread at a time.  Only available if the library was found
 * (HAVE_OTF2).
 */
#ifndef ES_MONITORS_OTF2_OTF2_READ_H
#define ES_MONITORS_OTF2_OTF2_READ_H

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/causality/causality.h"

/* Facts about an archive. */
struct esi_otf2_read_facts {
    bool is_incomplete; /* the order is a lower bound: see `totals` */
    struct esi_causality_totals totals;
    uint64_t records; /* of events, of any kind */
    uint64_t skipped; /* number of these that are not of MPI, or of no rank's thread */
};

/* Reads an archive by its anchor file (traces.otf2). Returns 0; -EINVAL (with `error`
 * filled) if it is not one or damaged; another -errno with `error` filled; or the error
 * of the sink. */
int esi_otf2_read(const char *path,
                  const struct es_set_sink *sink,
                  struct esi_otf2_read_facts *ret_facts,
                  struct es_error *error);

#endif
