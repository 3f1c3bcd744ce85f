/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Generates the collision rules; see gas.h. */
#include "gas.h"

#include <stdbool.h>

enum { MOVING = 0x3f, FLUID = GAS_STATES / 2 };

static const struct gas_sum unit[GAS_PARTICLES] = {
    {1, 2, 0}, {1, 1, 1}, {1, -1, 1}, {1, -2, 0}, {1, -1, -1}, {1, 1, -1}, {1, 0, 0},
};

void gas_add(struct gas_sum *sum, const struct gas_sum *addend)
{
    sum->particles += addend->particles;
    sum->east += addend->east;
    sum->north += addend->north;
}

void gas_subtract(struct gas_sum *sum, const struct gas_sum *subtrahend)
{
    sum->particles -= subtrahend->particles;
    sum->east -= subtrahend->east;
    sum->north -= subtrahend->north;
}

static bool same_sum(const struct gas_sum *a, const struct gas_sum *b)
{
    return a->particles == b->particles && a->east == b->east && a->north == b->north;
}

static struct gas_sum sum_of(int state)
{
    struct gas_sum sum = {0};

    for (int i = 0; i < GAS_PARTICLES; i++)
        if (state & 1 << i)
            gas_add(&sum, &unit[i]);
    return sum;
}

/*
 * States with equal particle number and momentum form a cycle; a collision moves a cell
 * one state forward or backward in it, according to the random bit. Every collision
 * that conserves both is therefore possible, and as likely as its reverse.
 */
static int neighbour_in_cycle(const struct gas *gas, int state, int step)
{
    int other = state;

    do
        other = (other + step + FLUID) % FLUID;
    while (!same_sum(&gas->sum[other], &gas->sum[state]));
    return other;
}

/* A solid cell sends every particle back where it came from. */
static int reversed(int state)
{
    int moving = state & MOVING;
    int turned = (moving << 3 | moving >> 3) & MOVING;

    return turned | (state & ~MOVING);
}

static bool conserves(const struct gas *gas, int state)
{
    for (int bit = 0; bit < 2; bit++) {
        struct gas_sum after = gas->sum[gas->collided[bit][state]];
        if (state & GAS_SOLID) {
            after.east = -after.east;
            after.north = -after.north;
        }
        if (!same_sum(&gas->sum[state], &after))
            return false;
    }
    return true;
}

int gas_init(struct gas *gas)
{
    for (int state = 0; state < GAS_STATES; state++)
        gas->sum[state] = sum_of(state);
    for (int state = 0; state < FLUID; state++) {
        gas->collided[0][state] = (uint8_t)neighbour_in_cycle(gas, state, -1);
        gas->collided[1][state] = (uint8_t)neighbour_in_cycle(gas, state, 1);
    }
    for (int state = FLUID; state < GAS_STATES; state++)
        gas->collided[0][state] = gas->collided[1][state] = (uint8_t)reversed(state);
    for (int state = 0; state < GAS_STATES; state++)
        if (!conserves(gas, state))
            return -1;
    return 0;
}
