/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory that is given back all at once: for files of patterns, programs and rewritten
 * patterns, which are made of many small parts that live as long as the whole.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_ARENA_H
#define ES_MONITORS_SEARCH_LANGUAGE_ARENA_H

#include <stddef.h>

struct esi_arena_block;

struct esi_arena {
    struct esi_arena_block *blocks; /* the newest first; {NULL} is an empty arena */
};

/* Zeroed, aligned for any type; NULL: no memory.  Of 0 bytes not NULL either. */
void *esi_arena_alloc(struct esi_arena *arena, size_t size);
/* A copy of a text, with a NUL behind it. */
char *esi_arena_text(struct esi_arena *arena, const char *text, size_t length);
void esi_arena_free(struct esi_arena *arena);

#endif
