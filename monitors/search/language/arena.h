/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory that is freed all at once.  Pattern files, programs and rewritten patterns use
 * it for their many small parts, which live as long as the whole.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_ARENA_H
#define ES_MONITORS_SEARCH_LANGUAGE_ARENA_H

#include <stddef.h>

struct esi_arena_block;

struct esi_arena {
    struct esi_arena_block *blocks; /* newest first; {NULL} is an empty arena */
};

/* Returns zeroed memory, aligned for any type, or NULL if there is none.  The result
 * for size 0 is not NULL either. */
void *esi_arena_alloc(struct esi_arena *arena, size_t size);
/* Copies a text and terminates it with a NUL. */
char *esi_arena_text(struct esi_arena *arena, const char *text, size_t length);
void esi_arena_free(struct esi_arena *arena);

#endif
