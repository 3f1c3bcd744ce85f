/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_lane.c - the contents of a lane: elements in memory, or packed bytes. */
#include "config.h"

#include "wrappers/trees/run_lane.h"

void esi_run_lane_set_typed(struct esi_run_lane *lane,
                            const struct esi_data *data,
                            MPI_Count per_piece)
{
    lane->type = data->type;
    lane->base = data->base;
    lane->step = (MPI_Aint)per_piece * data->extent;
    lane->ring = 0;
    lane->units = data->count;
    lane->per_piece = per_piece > 0 ? per_piece : 1;
    lane->pieces = data->count / lane->per_piece + (data->count % lane->per_piece != 0);
    lane->bytes = (uint64_t)data->bytes;
}

void esi_run_lane_set_bytes(struct esi_run_lane *lane,
                            MPI_Count piece_bytes,
                            char *base,
                            MPI_Count bytes)
{
    struct esi_data data = {
        .base = base, .count = bytes, .type = MPI_PACKED, .extent = 1, .bytes = bytes};

    esi_run_lane_set_typed(lane, &data, piece_bytes);
}

bool esi_run_lane_set_direct(struct esi_run_lane *lane,
                             MPI_Count piece_bytes,
                             struct esi_data *data,
                             bool typed)
{
    if (typed && data->bytes <= piece_bytes)
        esi_run_lane_set_typed(lane, data, data->count);
    else if (data->is_plain)
        esi_run_lane_set_bytes(lane, piece_bytes, data->base, data->bytes);
    else
        return false;
    return true;
}
