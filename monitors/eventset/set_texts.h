/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A table of distinct texts, numbered in order of insertion.
 */
#ifndef ES_MONITORS_EVENTSET_SET_TEXTS_H
#define ES_MONITORS_EVENTSET_SET_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "monitors/eventset/segmented.h"

struct esi_texts_block;

/* Caller's memory; its fields are private. */
struct esi_texts {
    struct esi_segmented rows; /* by number */
    struct esi_hash numbers;   /* by text */
    struct esi_texts_block *blocks;
    uint64_t block_bytes; /* total size of the blocks */
};

struct esi_text_row {
    const char *text;
    size_t length;
};

void esi_texts_init(struct esi_texts *texts);
void esi_texts_fini(struct esi_texts *texts);

/* Finds or inserts a text and returns its number.  Returns 0, -EOVERFLOW or -ENOMEM. */
int esi_texts_add(struct esi_texts *texts,
                  const char *text,
                  size_t length,
                  uint32_t *ret_number);
/* UINT32_MAX if there is none. */
uint32_t esi_texts_find(const struct esi_texts *texts, const char *text, size_t length);

static inline const char *esi_texts_at(const struct esi_texts *texts, uint32_t number)
{
    return ((const struct esi_text_row *)esi_segmented_at(&texts->rows, number))->text;
}

uint32_t esi_texts_count(const struct esi_texts *texts);
/* Bytes allocated. */
uint64_t esi_texts_bytes(const struct esi_texts *texts);

#endif
