/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_lane.h - the messages in one direction over an edge: the pieces of one stream. */
#ifndef ES_WRAPPERS_TREES_RUN_LANE_H
#define ES_WRAPPERS_TREES_RUN_LANE_H

#include "wrappers/trees/run_data.h"
#include "wrappers/trees/tree_run.h"

struct esi_run_lane {
    enum esi_edge_event event;
    int peer;
    bool sends;
    MPI_Datatype type;
    char *base;
    MPI_Aint step;   /* distance between pieces in memory */
    int ring;        /* number of pieces in memory; 0 for all */
    MPI_Count units; /* elements of the type in all pieces */
    MPI_Count per_piece;
    MPI_Count pieces;
    MPI_Count posted;
    MPI_Count done; /* in order, starting with the first */
    uint64_t bytes; /* payload size */
    uint64_t start; /* in ticks */
};

/* The address of a piece. */
static inline char *esi_run_lane_piece(const struct esi_run_lane *lane, MPI_Count piece)
{
    MPI_Count slot = lane->ring > 0 ? piece % lane->ring : piece;

    return lane->base + (MPI_Aint)slot * lane->step;
}

/* The number of elements in a piece. */
static inline MPI_Count esi_run_lane_count(const struct esi_run_lane *lane,
                                           MPI_Count piece)
{
    MPI_Count left = lane->units - piece * lane->per_piece;

    return left < lane->per_piece ? left : lane->per_piece;
}

static inline bool esi_run_lane_is_done(const struct esi_run_lane *lane)
{
    return lane->done == lane->pieces;
}

/* Bytes completed from the start of the stream. */
static inline MPI_Count esi_run_lane_bytes_done(const struct esi_run_lane *lane)
{
    return esi_run_lane_is_done(lane) ? (MPI_Count)lane->bytes
                                      : lane->done * lane->per_piece;
}

/* Sets elements of a datatype, in pieces of `per_piece`. */
void esi_run_lane_set_typed(struct esi_run_lane *lane,
                            const struct esi_data *data,
                            MPI_Count per_piece);
/* Sets packed bytes. */
void esi_run_lane_set_bytes(struct esi_run_lane *lane,
                            MPI_Count piece_bytes,
                            char *base,
                            MPI_Count bytes);
/* Sends from, or receives into, the program's memory if possible: as typed elements in
 * one message if the other end is `typed`, too; otherwise as bytes if elements are
 * plain.  Returns false if they have to be packed.  (MPI allows typed messages to be
 * received packed and vice versa, but MPICH 4.0.2 reports some as truncated, for types
 * like MPI_DOUBLE_INT.) */
bool esi_run_lane_set_direct(struct esi_run_lane *lane,
                             MPI_Count piece_bytes,
                             struct esi_data *data,
                             bool typed);

#endif
