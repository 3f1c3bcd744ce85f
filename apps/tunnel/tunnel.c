/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Geometry and randomness of the wind tunnel; see tunnel.h. */
#include "tunnel.h"

#include <stdlib.h>
#include <string.h>

static const char *const obstacle_names[] =
    {[OBSTACLE_NONE] = "none", [OBSTACLE_DISC] = "disc", [OBSTACLE_PLATE] = "plate"};

int tunnel_find_obstacle(const char *name)
{
    int count = sizeof obstacle_names / sizeof obstacle_names[0];

    for (int i = 0; i < count; i++)
        if (strcmp(obstacle_names[i], name) == 0)
            return i;
    return -1;
}

/*
 * Odd rows are shifted east by half a cell, and rows are sqrt(3)/2 apart: in half
 * cells, the square of the distance is an integer.
 */
static bool is_in_disc(const struct tunnel *tunnel, long row, long column)
{
    long radius = 2 * (tunnel->rows / 8);
    long north = row - tunnel->rows / 2;
    long east = 2 * column + (row & 1) - 2 * (tunnel->columns / 4);

    return east * east + 3 * north * north <= radius * radius;
}

static bool is_in_plate(const struct tunnel *tunnel, long row, long column)
{
    long thickness = tunnel->columns / 128 + 1;
    long east = column - tunnel->columns / 4;

    return labs(row - tunnel->rows / 2) <= tunnel->rows / 8 && east >= 0 &&
           east < thickness;
}

bool tunnel_is_solid(const struct tunnel *tunnel, long row, long column)
{
    if (row == 0 || row == tunnel->rows - 1)
        return true;
    switch (tunnel->obstacle) {
    case OBSTACLE_DISC:
        return is_in_disc(tunnel, row, column);
    case OBSTACLE_PLATE:
        return is_in_plate(tunnel, row, column);
    default:
        return false;
    }
}

/* The finalizer of splitmix64 (Steele et al., Fast splittable generators, 2014). */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

uint64_t tunnel_random(const struct tunnel *tunnel, const struct tunnel_place *place)
{
    static const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t value = mix(tunnel->seed + golden);

    value = mix(value + (uint64_t)place->step * golden);
    value = mix(value ^ ((uint64_t)place->matrix << 8 | place->purpose));
    return mix(value + ((uint64_t)place->row << 32 | (uint64_t)place->column) * golden);
}

uint8_t tunnel_wind(const struct tunnel *tunnel, const struct tunnel_place *place)
{
    /* Probabilities of a particle in each direction and at rest, in 256ths. */
    static const unsigned chance[GAS_PARTICLES] = {120, 90, 45, 30, 45, 90, 60};
    uint64_t random = tunnel_random(tunnel, place);
    int cell = 0;

    for (int i = 0; i < GAS_PARTICLES; i++, random >>= 8)
        if ((random & 0xff) < chance[i])
            cell |= 1 << i;
    return (uint8_t)cell;
}
