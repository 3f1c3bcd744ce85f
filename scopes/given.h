/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Positions that were given although others before them were not yet.
 *
 * A tuple server whose stages keep tuples back tells, for each element, the first
 * position that it has not given.  If it is lost, reading begins anew there, and what
 * was given behind that position comes again: these are to be dropped.  There are few:
 * only what overtook another tuple of the same element.
 *
 * Pure logic.
 */
#ifndef ES_SCOPES_GIVEN_H
#define ES_SCOPES_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ES_GIVEN_MOST = 4096 }; /* of one element; of more the lowest are forgotten */

/* The positions of one element, in order. */
struct es_given_list {
    uint64_t *positions; /* owned */
    size_t count;
    size_t capacity;
};

/* Caller's memory, all zero is an empty one. */
struct es_given {
    struct es_given_list *lists; /* owned; by the origin's index */
    size_t list_count;
    size_t total; /* positions in all lists */
};

/* A position that is there already stays.  O(positions behind it).  -ENOMEM. */
int es_given_add(struct es_given *given, uint32_t origin, uint64_t position);
/* O(log positions). */
bool es_given_has(const struct es_given *given, uint32_t origin, uint64_t position);
void es_given_fini(struct es_given *given);

#endif
