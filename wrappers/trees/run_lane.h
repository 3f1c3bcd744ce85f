/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_lane.h - the messages in one direction over an edge: pieces of one stream. */
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
    MPI_Aint step;   /* from one piece to the next in memory */
    int ring;        /* pieces that the memory holds; 0 = all of them */
    MPI_Count units; /* elements of the type in all pieces */
    MPI_Count per_piece;
    MPI_Count pieces;
    MPI_Count posted;
    MPI_Count done; /* in order, from the first */
    uint64_t bytes; /* payload */
    uint64_t start; /* ticks */
};

/* The memory of a piece. */
static inline char *esi_run_lane_piece(const struct esi_run_lane *lane, MPI_Count piece)
{
    MPI_Count slot = lane->ring > 0 ? piece % lane->ring : piece;

    return lane->base + (MPI_Aint)slot * lane->step;
}

/* How many elements a piece has. */
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

/* Bytes from the stream's begin that are done. */
static inline MPI_Count esi_run_lane_bytes_done(const struct esi_run_lane *lane)
{
    return esi_run_lane_is_done(lane) ? (MPI_Count)lane->bytes
                                      : lane->done * lane->per_piece;
}

/* Elements as they lie, in pieces of `per_piece`. */
void esi_run_lane_set_typed(struct esi_run_lane *lane,
                            const struct esi_data *data,
                            MPI_Count per_piece);
/* Packed bytes. */
void esi_run_lane_set_bytes(struct esi_run_lane *lane,
                            MPI_Count piece_bytes,
                            char *base,
                            MPI_Count bytes);
/* Sends from, or receives into, the program's memory if possible: typed in one message
 * if the other end is `typed` too, else as bytes if elements are plain.  False: they
 * have to be packed.  (MPI allows a typed message to be received packed and the other
 * way round. MPICH 4.0.2 takes some for truncated, of types like MPI_DOUBLE_INT.) */
bool esi_run_lane_set_direct(struct esi_run_lane *lane,
                             MPI_Count piece_bytes,
                             struct esi_data *data,
                             bool typed);

#endif
