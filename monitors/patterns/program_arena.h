/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory that is given back all at once: for programs and rewritten patterns, which are
 * made of many small parts that live as long as the whole.
 */
#ifndef ES_MONITORS_PATTERNS_PROGRAM_ARENA_H
#define ES_MONITORS_PATTERNS_PROGRAM_ARENA_H

#include <stddef.h>

struct esi_arena_block;

struct esi_arena {
    struct esi_arena_block *blocks; /* the newest first; {NULL} is an empty arena */
};

/* Zeroed, aligned for any type; NULL: no memory.  Of 0 bytes not NULL either. */
void *esi_arena_alloc(struct esi_arena *arena, size_t size);
/* A copy of `size` bytes. */
void *esi_arena_copy(struct esi_arena *arena, const void *data, size_t size);
void esi_arena_free(struct esi_arena *arena);

#endif
