/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records a run: pulls all tuples of a view through a scope and writes them to an
 * archive (monitors/archive).
 *
 *   esi_recorder_create(run, &config, &error, &recorder);
 *   while ((result = esi_recorder_read(recorder, over)) > 0 || !over) ...
 *   esi_recorder_close(recorder, &totals, &error);
 *
 * Recording starts with the tuples that already exist.  Nothing is lost if elements are
 * set to block and the recorder is lossless.  Otherwise losses are counted and recorded
 * at their position in the archive.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_RECORDER_H
#define ES_MONITORS_ARCHIVE_RECORDER_H

#include "eventspace/scope.h"
#include "monitors/follow/follower.h"

struct esi_recorder_config {
    const char *directory;        /* of the archive; borrowed for the call */
    struct es_scope_config scope; /* strings are borrowed for the call; a selection
                                     without classes means the classes of MPI and of
                                     collective trees */
    size_t packet_bytes;          /* 0 = the default of archives */
    uint64_t flush_ns; /* packets are on disk after at most this time; 0 = 250 ms */
};

struct esi_recorder;

/* Creates a recorder; borrows the run.  Returns 0, -EINVAL with a message if the view
 * is invalid, or -EEXIST or another errno if the directory cannot be used. */
int esi_recorder_create(struct es_run *run,
                        const struct esi_recorder_config *config,
                        struct es_error *error,
                        struct esi_recorder **ret_recorder);

/* Records the new tuples.  `last`: the run is over and no more will follow.  Returns 1
 * if more is available immediately, otherwise 0; or -errno if the archive cannot be
 * written (esi_recorder_close() returns the reason) or the run cannot be read. */
int esi_recorder_read(struct esi_recorder *recorder, bool last);

/* For information about the run and the reading.  Borrowed. */
const struct esi_follower *esi_recorder_follower(const struct esi_recorder *recorder);

struct esi_recorder_totals {
    uint64_t tuples;
    uint64_t lost;   /* while recording */
    uint64_t missed; /* gone before recording began */
    uint64_t open;   /* operations under way at the end */
    uint64_t bytes;  /* bytes of tuples */
    uint64_t lag_ns; /* age of the newest tuple read in the last reading that did not
                        get everything; 0 = everything was read */
    uint64_t lag_most_ns;
    size_t hosts;
    size_t processes; /* that called MPI */
    size_t elements;
};
void esi_recorder_totals(const struct esi_recorder *recorder,
                         struct esi_recorder_totals *ret_totals);

/* Stores in the archive why the recording ends before the run. */
void esi_recorder_end_early(struct esi_recorder *recorder, const char *why);

/* Records the operations under way and closes the archive; after a failure, the archive
 * ends there.  `ret_totals` may be NULL.  Always frees the recorder.  Returns 0, or
 * -errno with a message if the archive is incomplete. */
int esi_recorder_close(struct esi_recorder *recorder,
                       struct esi_recorder_totals *ret_totals,
                       struct es_error *error);

#endif
