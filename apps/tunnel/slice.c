/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Collisions and movement on a slice; see slice.h. */
#include "slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adjacent solid cells of a row. */
struct slice_span {
    long row, begin, end;
};

enum { STAYING = GAS_REST | GAS_SOLID, WORD_CELLS = sizeof(uint64_t) };

uint8_t *slice_row(const struct slice *slice, int matrix, long row)
{
    long rows = (slice->rows + 2) * matrix + row;

    return slice->cells + rows * slice->tunnel->columns;
}

static long end_of_solid(const struct slice *slice, long row, long column)
{
    while (column < slice->tunnel->columns &&
           tunnel_is_solid(slice->tunnel, slice->first_row + row - 1, column))
        column++;
    return column;
}

static int add_span(struct slice *slice, struct slice_span span)
{
    size_t count = slice->span_count;

    if ((count & (count + 1)) == 0) { /* Grow if count is 0, 1, 3, 7 ... */
        struct slice_span *grown =
            realloc(slice->spans, (2 * count + 1) * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        slice->spans = grown;
    }
    slice->spans[slice->span_count++] = span;
    return 0;
}

static int find_spans(struct slice *slice)
{
    for (long row = 1; row <= slice->rows; row++) {
        slice->first_span[row] = slice->span_count;
        for (long column = 0; column < slice->tunnel->columns;) {
            long end = end_of_solid(slice, row, column);
            if (end > column && add_span(slice, (struct slice_span){row, column, end}))
                return -ENOMEM;
            column = end + 1;
        }
    }
    slice->first_span[slice->rows + 1] = slice->span_count;
    return 0;
}

static void fill_with_wind(struct slice *slice)
{
    struct tunnel_place place = {.purpose = PURPOSE_START};

    for (; place.matrix < slice->tunnel->matrices; place.matrix++)
        for (long row = 1; row <= slice->rows; row++) {
            uint8_t *cells = slice_row(slice, place.matrix, row);
            place.row = slice->first_row + row - 1;
            for (place.column = 0; place.column < slice->tunnel->columns;
                 place.column++)
                cells[place.column] = tunnel_wind(slice->tunnel, &place);
        }
}

static void fill_with_solid(struct slice *slice)
{
    for (int matrix = 0; matrix < slice->tunnel->matrices; matrix++)
        for (size_t i = 0; i < slice->span_count; i++) {
            const struct slice_span *span = &slice->spans[i];
            memset(slice_row(slice, matrix, span->row) + span->begin, GAS_SOLID,
                   (size_t)(span->end - span->begin));
        }
}

int slice_init(struct slice *slice, const struct tunnel *tunnel, int index, int count)
{
    size_t columns = (size_t)tunnel->columns;
    long end = tunnel->rows * (index + 1) / count;

    *slice = (struct slice){.tunnel = tunnel, .index = index};
    slice->first_row = tunnel->rows * index / count;
    slice->rows = end - slice->first_row;
    slice->cells =
        calloc((size_t)(slice->rows + 2) * (size_t)tunnel->matrices, columns);
    slice->saved[0] = calloc(1, columns);
    slice->saved[1] = calloc(1, columns);
    slice->first_span = calloc((size_t)slice->rows + 2, sizeof *slice->first_span);
    if (!slice->cells || !slice->saved[0] || !slice->saved[1] || !slice->first_span ||
        find_spans(slice))
        return -ENOMEM;
    fill_with_wind(slice);
    fill_with_solid(slice);
    return 0;
}

void slice_fini(struct slice *slice)
{
    free(slice->cells);
    free(slice->saved[0]);
    free(slice->saved[1]);
    free(slice->spans);
    free(slice->first_span);
}

/* Solids reverse particles: the tunnel gains minus twice their momentum. */
static void account_for_solids(struct slice *slice, const uint8_t *cells, long row)
{
    const struct gas *gas = &slice->tunnel->gas;

    for (size_t i = slice->first_span[row]; i < slice->first_span[row + 1]; i++) {
        const struct slice_span *span = &slice->spans[i];
        for (long column = span->begin; column < span->end; column++) {
            slice->balance.east -= 2 * gas->sum[cells[column]].east;
            slice->balance.north -= 2 * gas->sum[cells[column]].north;
        }
    }
}

void slice_collide_row(struct slice *slice, int matrix, long row, long step)
{
    const struct tunnel *tunnel = slice->tunnel;
    uint8_t *cells = slice_row(slice, matrix, row);
    struct tunnel_place place = {PURPOSE_COLLISION, matrix, step,
                                 slice->first_row + row - 1, 0};

    account_for_solids(slice, cells, row);
    for (; place.column < tunnel->columns; place.column += 64) {
        uint64_t random = tunnel_random(tunnel, &place);
        long end =
            place.column + 64 < tunnel->columns ? place.column + 64 : tunnel->columns;
        for (long column = place.column; column < end; column++, random >>= 1)
            cells[column] = tunnel->gas.collided[random & 1][cells[column]];
    }
}

/* The three rows from which a row receives particles, as they were after the
 * collisions. */
struct sources {
    const uint8_t *north, *same, *south;
    int shift; /* 1 if the rows to the north and south are shifted east, else 0 */
};

/* One cell at the end of a row, where the tunnel is closed to a ring. */
static uint8_t moved_cell(const struct sources *from, long column, long columns)
{
    long west = (column + columns - 1) % columns;
    long east = (column + 1) % columns;
    long from_west = from->shift ? west : column;
    long from_east = from->shift ? column : east;

    return (uint8_t)((from->same[column] & STAYING) | (from->same[west] & GAS_EAST) |
                     (from->same[east] & GAS_WEST) |
                     (from->south[from_west] & GAS_NORTH_EAST) |
                     (from->south[from_east] & GAS_NORTH_WEST) |
                     (from->north[from_west] & GAS_SOUTH_EAST) |
                     (from->north[from_east] & GAS_SOUTH_WEST));
}

static uint64_t pick(const uint8_t *cells, uint8_t particle)
{
    uint64_t word;

    memcpy(&word, cells, sizeof word);
    return word & 0x0101010101010101u * particle;
}

/* Eight cells at once, none at the end of the row. */
static void move_word(const struct sources *from, long column, uint8_t *to)
{
    long from_west = column - from->shift;
    long from_east = from_west + 1;
    uint64_t word = pick(from->same + column, STAYING) |
                    pick(from->same + column - 1, GAS_EAST) |
                    pick(from->same + column + 1, GAS_WEST) |
                    pick(from->south + from_west, GAS_NORTH_EAST) |
                    pick(from->south + from_east, GAS_NORTH_WEST) |
                    pick(from->north + from_west, GAS_SOUTH_EAST) |
                    pick(from->north + from_east, GAS_SOUTH_WEST);

    memcpy(to + column, &word, sizeof word);
}

static void move_row(const struct sources *from, uint8_t *to, long columns)
{
    long column = 1;

    to[0] = moved_cell(from, 0, columns);
    for (; column + WORD_CELLS < columns; column += WORD_CELLS)
        move_word(from, column, to);
    for (; column < columns; column++)
        to[column] = moved_cell(from, column, columns);
}

/*
 * Works in place, from north to south: only the current and the previous row are needed
 * in their old state.
 */
void slice_move(struct slice *slice, int matrix)
{
    long columns = slice->tunnel->columns;
    struct sources from = {.north = slice_row(slice, matrix, 0)};

    for (long row = 1; row <= slice->rows; row++) {
        uint8_t *to = slice_row(slice, matrix, row);
        uint8_t *saved = slice->saved[row & 1];
        memcpy(saved, to, (size_t)columns);
        from.same = saved;
        from.south = to + columns;
        from.shift = (int)(slice->first_row + row) & 1;
        move_row(&from, to, columns);
        from.north = saved;
    }
}

void slice_blow(struct slice *slice, int matrix, long step)
{
    const struct tunnel *tunnel = slice->tunnel;
    struct tunnel_place place = {
        .purpose = PURPOSE_INFLOW, .matrix = matrix, .step = step};

    for (long row = 1; row <= slice->rows; row++) {
        uint8_t *cells = slice_row(slice, matrix, row);
        place.row = slice->first_row + row - 1;
        for (int end = 0; end < 2; end++) {
            place.column = end ? tunnel->columns - 1 : 0;
            uint8_t *cell = &cells[place.column];
            if (*cell & GAS_SOLID)
                continue;
            gas_subtract(&slice->balance, &tunnel->gas.sum[*cell]);
            *cell = tunnel_wind(tunnel, &place);
            gas_add(&slice->balance, &tunnel->gas.sum[*cell]);
        }
    }
}

struct gas_sum slice_count(const struct slice *slice)
{
    const struct tunnel *tunnel = slice->tunnel;
    int64_t cells_in_state[GAS_STATES] = {0};
    struct gas_sum sum = {0};

    for (int matrix = 0; matrix < tunnel->matrices; matrix++) {
        const uint8_t *cells = slice_row(slice, matrix, 1);
        for (long i = 0; i < slice->rows * tunnel->columns; i++)
            cells_in_state[cells[i]]++;
    }
    for (int state = 0; state < GAS_STATES; state++) {
        const struct gas_sum *one = &tunnel->gas.sum[state];
        sum.particles += cells_in_state[state] * one->particles;
        sum.east += cells_in_state[state] * one->east;
        sum.north += cells_in_state[state] * one->north;
    }
    return sum;
}

/* FNV-1a over the row, seeded with its place in the tunnel. */
static uint64_t row_hash(const uint8_t *cells, long columns, uint64_t place)
{
    static const uint64_t prime = 0x100000001b3u;
    uint64_t hash = (0xcbf29ce484222325u ^ place) * prime;

    for (long column = 0; column < columns; column++)
        hash = (hash ^ cells[column]) * prime;
    return hash ^ hash >> 32;
}

uint64_t slice_hash(const struct slice *slice)
{
    const struct tunnel *tunnel = slice->tunnel;
    uint64_t hash = 0;

    for (int matrix = 0; matrix < tunnel->matrices; matrix++)
        for (long row = 1; row <= slice->rows; row++) {
            long place = tunnel->rows * matrix + slice->first_row + row - 1;
            hash ^= row_hash(slice_row(slice, matrix, row), tunnel->columns,
                             (uint64_t)place);
        }
    return hash;
}
