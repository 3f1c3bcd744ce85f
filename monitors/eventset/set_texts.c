/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_texts.c - texts in blocks that never move, found by a table at most half full. */
#include "config.h"

#include "monitors/eventset/set_texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, CAPACITY_MIN = 64 };

struct esi_texts_block {
    struct esi_texts_block *next;
    size_t used;
    size_t capacity;
    char bytes[];
};

void esi_texts_init(struct esi_texts *texts)
{
    *texts = (struct esi_texts){0};
    esi_segmented_init(&texts->rows, sizeof(struct esi_text_row), 6);
}

void esi_texts_fini(struct esi_texts *texts)
{
    while (texts->blocks) {
        struct esi_texts_block *block = texts->blocks;
        texts->blocks = block->next;
        free(block);
    }
    free(texts->slots);
    esi_segmented_fini(&texts->rows);
}

/* Fowler, Noll and Vo's 1a, the halves folded. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

static const struct esi_text_row *row_at(const struct esi_texts *texts, uint32_t number)
{
    return esi_segmented_at(&texts->rows, number);
}

/* The slot of a text, or the free one where it would be put. */
static size_t slot_of(const struct esi_texts *texts,
                      const char *text,
                      size_t length,
                      uint32_t hash)
{
    size_t at = hash & (texts->capacity - 1);

    for (; texts->slots[at] != 0; at = (at + 1) & (texts->capacity - 1)) {
        const struct esi_text_row *row = row_at(texts, texts->slots[at] - 1);
        if (row->hash == hash && row->length == length &&
            memcmp(row->text, text, length) == 0)
            break;
    }
    return at;
}

static int grow_texts(struct esi_texts *texts)
{
    size_t capacity = texts->capacity ? 2 * texts->capacity : CAPACITY_MIN;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    uint32_t count = esi_texts_count(texts);

    if (!slots)
        return -ENOMEM;
    for (uint32_t number = 0; number < count; number++) {
        size_t at = row_at(texts, number)->hash & (capacity - 1);
        while (slots[at] != 0)
            at = (at + 1) & (capacity - 1);
        slots[at] = number + 1;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->capacity = capacity;
    return 0;
}

/* A copy of a text, with its end. */
static const char *keep_text(struct esi_texts *texts, const char *text, size_t length)
{
    struct esi_texts_block *block = texts->blocks;
    char *kept;

    if (!block || block->capacity - block->used < length + 1) {
        size_t capacity = length + 1 > BLOCK_BYTES ? length + 1 : BLOCK_BYTES;
        block = malloc(sizeof *block + capacity);
        if (!block)
            return NULL;
        *block = (struct esi_texts_block){texts->blocks, 0, capacity};
        texts->blocks = block;
        texts->block_bytes += capacity;
    }
    kept = block->bytes + block->used;
    memcpy(kept, text, length);
    kept[length] = '\0';
    block->used += length + 1;
    return kept;
}

int esi_texts_add(struct esi_texts *texts,
                  const char *text,
                  size_t length,
                  uint32_t *ret_number)
{
    uint32_t count = esi_texts_count(texts);
    struct esi_text_row row = {NULL, (uint32_t)length, hash_of(text, length)};
    size_t at;

    if (2 * ((size_t)count + 1) > texts->capacity && grow_texts(texts) < 0)
        return -ENOMEM;
    at = slot_of(texts, text, length, row.hash);
    if (texts->slots[at] == 0) {
        if (count == UINT32_MAX - 1 || length >= UINT32_MAX)
            return -EOVERFLOW;
        row.text = keep_text(texts, text, length);
        if (!row.text || esi_segmented_push(&texts->rows, &row) < 0)
            return -ENOMEM;
        texts->slots[at] = count + 1;
    }
    *ret_number = texts->slots[at] - 1;
    return 0;
}

uint32_t esi_texts_find(const struct esi_texts *texts, const char *text, size_t length)
{
    if (texts->capacity == 0)
        return UINT32_MAX;
    /* A free slot is 0: no number. */
    return texts->slots[slot_of(texts, text, length, hash_of(text, length))] - 1;
}

uint32_t esi_texts_count(const struct esi_texts *texts)
{
    return (uint32_t)esi_segmented_count(&texts->rows);
}

uint64_t esi_texts_bytes(const struct esi_texts *texts)
{
    return texts->block_bytes + esi_segmented_bytes(&texts->rows) +
           texts->capacity * sizeof *texts->slots;
}
