/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Positions that have come although others before them have not yet.
 *
 * A tuple server whose stages keep tuples back tells, for each element, the first
 * position that it has not given.  If it is lost, reading begins anew there, and what
 * came from behind that position comes again: this is to be dropped.  There is little
 * of it: what overtook another tuple of the same element, mostly in long runs.
 *
 * Pure logic.  Threads may use different origins at the same time, up to the count that
 * was reserved.
 */
#ifndef ES_SCOPES_REMOTE_GIVEN_H
#define ES_SCOPES_REMOTE_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ES_GIVEN_MOST = 65536 }; /* runs of one element; of more the lowest are lost */

/* Positions from `begin` up to, not with, `end`. */
struct es_given_run {
    uint64_t begin;
    uint64_t end;
};

/* The positions of one element, in order. */
struct es_given_list {
    struct es_given_run *runs; /* owned */
    size_t count;
    size_t capacity;
};

/* Caller's memory, all zero is an empty one. */
struct es_given {
    struct es_given_list *lists; /* owned; by the origin's index */
    size_t list_count;
};

/* Makes room for origins below `count`.  -ENOMEM. */
int es_given_reserve(struct es_given *given, size_t count);
/* A position that is there already stays.  The origin must be below what was reserved.
 * O(log runs) in the usual case that it is the highest.  -ENOMEM. */
int es_given_add(struct es_given *given, uint32_t origin, uint64_t position);
/* Forgets the position.  -ENOMEM: then it stays. */
int es_given_remove(struct es_given *given, uint32_t origin, uint64_t position);
/* O(log runs). */
bool es_given_has(const struct es_given *given, uint32_t origin, uint64_t position);
/* Forgets all positions of the origin below `position`. */
void es_given_cut(struct es_given *given, uint32_t origin, uint64_t position);
void es_given_fini(struct es_given *given);

static inline bool es_given_is_empty(const struct es_given *given, uint32_t origin)
{
    return origin >= given->list_count || given->lists[origin].count == 0;
}

#endif
