/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The lattice gas of one cell: particles, momentum, collisions. */
#ifndef APPS_TUNNEL_GAS_H
#define APPS_TUNNEL_GAS_H

#include <stdint.h>

/*
 * A cell is one byte. Bits 0 to 5: a particle moves east, north-east, north-west, west,
 * south-west, south-east; bit 6: one is at rest; bit 7: the cell is solid.
 */
enum {
    GAS_EAST = 1 << 0,
    GAS_NORTH_EAST = 1 << 1,
    GAS_NORTH_WEST = 1 << 2,
    GAS_WEST = 1 << 3,
    GAS_SOUTH_WEST = 1 << 4,
    GAS_SOUTH_EAST = 1 << 5,
    GAS_REST = 1 << 6,
    GAS_SOLID = 1 << 7,
};

enum { GAS_DIRECTIONS = 6, GAS_PARTICLES = 7, GAS_STATES = 256 };

/*
 * Particle number and momentum of any set of cells. The momentum counts half lattice
 * constants to the east and row distances to the north, so it is exact in integers.
 */
struct gas_sum {
    int64_t particles, east, north;
};

/* Properties of each of the 256 states of a cell; read-only after gas_init(). */
struct gas {
    uint8_t collided[2][GAS_STATES]; /* by the random bit and the state */
    struct gas_sum sum[GAS_STATES];
};

/*
 * Computes the collision rules of the saturated FHP gas with rest particles (Frisch et
 * al., Lattice gas hydrodynamics in two and three dimensions, 1987). Returns 0, or -1
 * if a rule violates conservation.
 */
int gas_init(struct gas *gas);

void gas_add(struct gas_sum *sum, const struct gas_sum *addend);
void gas_subtract(struct gas_sum *sum, const struct gas_sum *subtrahend);

#endif
