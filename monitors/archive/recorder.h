/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records a run: pulls all of a view through a scope and writes it to an archive
 * (monitors/archive).
 *
 *   esi_recorder_create(run, &config, &error, &recorder);
 *   while ((result = esi_recorder_read(recorder, over)) > 0 || !over) ...
 *   esi_recorder_close(recorder, &totals, &error);
 *
 * What is there when it begins is recorded first.  Where elements are set to block and
 * the recorder is lossless nothing is lost; else what is, is counted and stands in the
 * archive at its place.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_RECORDER_H
#define ES_MONITORS_ARCHIVE_RECORDER_H

#include "eventspace/scope.h"
#include "monitors/follow/follower.h"

struct esi_recorder_config {
    const char *directory;        /* of the archive; borrowed for the call */
    struct es_scope_config scope; /* texts borrowed for the call; a selection without
                                     classes means those of MPI and of collective
                                     trees */
    size_t packet_bytes;          /* 0 = as archives do */
    uint64_t flush_ns;            /* packets are on disk after this time; 0 = 250 ms */
};

struct esi_recorder;

/* Borrows the run.  -EINVAL with words where the view is not understood, -EEXIST and
 * others where the directory cannot be used. */
int esi_recorder_create(struct es_run *run,
                        const struct esi_recorder_config *config,
                        struct es_error *error,
                        struct esi_recorder **ret_recorder);

/* Records what has come since; `last`: the run is over, nothing will come behind this.
 * Returns 1 when there is more to be had at once, else 0, or -errno: the archive cannot
 * be written (esi_recorder_close() says why), or the run cannot be read. */
int esi_recorder_read(struct esi_recorder *recorder, bool last);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_recorder_follower(const struct esi_recorder *recorder);

struct esi_recorder_totals {
    uint64_t tuples;
    uint64_t lost;   /* while recording */
    uint64_t missed; /* gone before recording began */
    uint64_t open;   /* operations under way at the end */
    uint64_t bytes;  /* of tuples */
    uint64_t lag_ns; /* the newest tuple read was so old in the last reading that did
                        not get all there was; 0 = all was read */
    uint64_t lag_most_ns;
    size_t hosts;
    size_t processes;
    size_t elements;
};
void esi_recorder_totals(const struct esi_recorder *recorder,
                         struct esi_recorder_totals *ret_totals);

/* Records the operations under way and ends the archive; after a failure it ends where
 * that was.  `ret_totals` may be NULL.  Frees the recorder in any case.  0, or -errno
 * with words: the archive is not complete. */
int esi_recorder_close(struct esi_recorder *recorder,
                       struct esi_recorder_totals *ret_totals,
                       struct es_error *error);

#endif
