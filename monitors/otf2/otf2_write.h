/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_write.h - the operations of a run as an archive of OTF2 (docs/exports.md).
 *
 *   esi_otf2_write_open(&config, &error, &write);
 *   ... events of an archive or a run into esi_otf2_write_sink(write), what is said of
 *       their calls into esi_otf2_write_listener(write) ...
 *   esi_otf2_write_communicators(write, esi_causality_run(causality));
 *   esi_otf2_write_close(write, &counts, &error);
 *
 * In memory are 2^19 operations, and the requests that are open on one location; other
 * operations wait in a file without a name.  One thread at a time.  Only where the
 * library was found (HAVE_OTF2).
 */
#ifndef ES_MONITORS_OTF2_OTF2_WRITE_H
#define ES_MONITORS_OTF2_OTF2_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/causality/causality.h"

struct esi_otf2_write_config {
    const char *path; /* of the new folder; borrowed */
    /* Selects ranks; NULL = all. */
    bool (*has_rank)(void *data, int rank);
    void *data; /* borrowed */
};

struct esi_otf2_write_counts {
    uint64_t lost; /* tuples */
    uint64_t open; /* operations in progress at the end */
};

struct esi_otf2_write;

/* Returns 0, -EEXIST if the path exists, or another -errno; both with `error`
 * filled. */
int esi_otf2_write_open(const struct esi_otf2_write_config *config,
                        struct es_error *error,
                        struct esi_otf2_write **ret_write);
struct es_set_sink esi_otf2_write_sink(struct esi_otf2_write *write);
struct esi_causal_listener esi_otf2_write_listener(struct esi_otf2_write *write);
/* Call after the last event, with the run of the events.  Returns 0 or -ENOMEM. */
int esi_otf2_write_communicators(struct esi_otf2_write *write,
                                 const struct esi_run_model *run);
/* Writes the archive.  Returns 0, or -errno with `error` filled; then there is no
 * archive. */
int esi_otf2_write_close(struct esi_otf2_write *write,
                         struct esi_otf2_write_counts *ret_counts,
                         struct es_error *error);
/* Accepts NULL. Discards an archive that was not closed. */
void esi_otf2_write_destroy(struct esi_otf2_write *write);

#endif
