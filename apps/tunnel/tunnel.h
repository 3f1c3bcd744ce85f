/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The wind tunnel: its size, its walls and obstacle, its wind. */
#ifndef APPS_TUNNEL_H
#define APPS_TUNNEL_H

#include "gas.h"

#include <stdbool.h>
#include <stdint.h>

enum tunnel_obstacle { OBSTACLE_NONE, OBSTACLE_DISC, OBSTACLE_PLATE };

/*
 * All parameters that determine the result, and no others: two runs with equal tunnels
 * and numbers of iterations have the same result, with any number of ranks, slices and
 * threads. Shared by all threads; read-only while they run.
 */
struct tunnel {
    struct gas gas;
    long rows, columns;
    int matrices; /* independent tunnels with the same walls, for an ensemble average */
    uint64_t seed;
    enum tunnel_obstacle obstacle;
};

/* The purpose of a random number; part of its coordinates. */
enum tunnel_purpose { PURPOSE_START, PURPOSE_COLLISION, PURPOSE_INFLOW };

/* Where and when a random number is used. */
struct tunnel_place {
    enum tunnel_purpose purpose;
    int matrix;
    long step, row, column;
};

/* Returns the obstacle of that name, or -1. */
int tunnel_find_obstacle(const char *name);

bool tunnel_is_solid(const struct tunnel *tunnel, long row, long column);

/* 64 random bits that depend only on the seed and the place. */
uint64_t tunnel_random(const struct tunnel *tunnel, const struct tunnel_place *place);

/* A random fluid cell of the undisturbed wind, which blows east. */
uint8_t tunnel_wind(const struct tunnel *tunnel, const struct tunnel_place *place);

#endif
