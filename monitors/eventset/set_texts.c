/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_texts.c - texts in blocks that never move. */
#include "config.h"

#include "monitors/eventset/set_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16 };

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
    esi_hash_fini(&texts->numbers);
    esi_segmented_fini(&texts->rows);
}

static uint64_t hash_text(const char *text, size_t length)
{
    return esi_hash_mix_bytes(0, text, length);
}

static uint32_t find_text(const struct esi_texts *texts,
                          const char *text,
                          size_t length,
                          uint64_t hash)
{
    ESI_HASH_FOREACH(slot, &texts->numbers, hash) {
        uint32_t number = esi_hash_index(&texts->numbers, slot);
        const struct esi_text_row *row = esi_segmented_at(&texts->rows, number);
        if (row->length == length && memcmp(row->text, text, length) == 0)
            return number;
    }
    return UINT32_MAX;
}

uint32_t esi_texts_find(const struct esi_texts *texts, const char *text, size_t length)
{
    return find_text(texts, text, length, hash_text(text, length));
}

/* Copies a text with its terminating 0. */
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
    uint64_t hash = hash_text(text, length);
    uint32_t number = find_text(texts, text, length, hash);
    uint32_t count = esi_texts_count(texts);
    struct esi_text_row row = {NULL, length};

    if (number == UINT32_MAX) {
        if (count == UINT32_MAX - 1)
            return -EOVERFLOW;
        if (esi_hash_reserve(&texts->numbers, count + 1u) < 0)
            return -ENOMEM;
        row.text = keep_text(texts, text, length);
        if (!row.text || esi_segmented_push(&texts->rows, &row) < 0)
            return -ENOMEM;
        esi_hash_insert(&texts->numbers, hash, count);
        number = count;
    }
    *ret_number = number;
    return 0;
}

uint32_t esi_texts_count(const struct esi_texts *texts)
{
    return (uint32_t)esi_segmented_count(&texts->rows);
}

uint64_t esi_texts_bytes(const struct esi_texts *texts)
{
    return texts->block_bytes + esi_segmented_bytes(&texts->rows) +
           esi_hash_bytes(&texts->numbers);
}
