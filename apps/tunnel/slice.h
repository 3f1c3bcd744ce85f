/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A slice: the rows of all matrices that one thread moves, and their balance. */
#ifndef APPS_TUNNEL_SLICE_H
#define APPS_TUNNEL_SLICE_H

#include "tunnel.h"

#include <stddef.h>
#include <stdint.h>

struct slice_span;

/*
 * Adjacent rows of the tunnel. Local row r is row first_row + r - 1 of the tunnel;
 * local rows 0 and rows + 1 hold the neighbours' border rows. Only the thread that owns
 * the slice may use it.
 */
struct slice {
    const struct tunnel *tunnel; /* borrowed */
    int index;                   /* among all slices, from north to south */
    long first_row, rows;
    uint8_t *cells;           /* matrices of rows + 2 rows of columns */
    uint8_t *saved[2];        /* rows as they were before particles moved */
    struct slice_span *spans; /* the solid cells, sorted by row */
    size_t span_count;
    size_t *first_span;     /* by local row, and the end of the last row */
    struct gas_sum balance; /* inflow, minus outflow, plus the effect of solids */
};

/*
 * Creates slice `index` of `count` and fills it with undisturbed wind. Returns 0 or
 * -ENOMEM; in both cases slice_fini() may be called.
 */
int slice_init(struct slice *slice, const struct tunnel *tunnel, int index, int count);

void slice_fini(struct slice *slice);

uint8_t *slice_row(const struct slice *slice, int matrix, long row);

/* First half of a step: the particles of one row collide. */
void slice_collide_row(struct slice *slice, int matrix, long row, long step);

/* Second half: the particles of all rows move. Requires the neighbours' rows. */
void slice_move(struct slice *slice, int matrix);

/* Creates new wind at both ends of the tunnel. */
void slice_blow(struct slice *slice, int matrix, long step);

/* The current contents of all cells, recounted. */
struct gas_sum slice_count(const struct slice *slice);

/* A hash of all cells; the hash of the tunnel is the exclusive or of those of its
 * slices. */
uint64_t slice_hash(const struct slice *slice);

#endif
