/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_values.c - columns of values in packed blocks. */
#include "config.h"

#include "monitors/order/set_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 64, KIND_BYTES = BLOCK_ROWS / 4, KIND_MIXED = 3 };

struct head {
    uint64_t base; /* the least number */
    uint8_t count;
    uint8_t kind;  /* of all rows, or KIND_MIXED */
    uint8_t width; /* bytes of a row */
};

struct esi_values_block {
    struct head head;
    /* Where the kinds are mixed KIND_BYTES of them, two bits each; then the rows. */
    unsigned char bytes[];
};

struct esi_values_open {
    uint32_t count;
    uint8_t kinds[BLOCK_ROWS];
    uint64_t numbers[BLOCK_ROWS];
};

void esi_values_fini(struct esi_values *values)
{
    for (uint32_t i = 0; i < values->block_count; i++)
        free(values->blocks[i]);
    free(values->blocks);
    free(values->open);
}

/* --- Blocks ----------------------------------------------------------------------- */

/* Numbers are compared with their sign, which flipping the highest bit does. */
static uint64_t rank_of(uint64_t number)
{
    return number ^ UINT64_C(1) << 63;
}

static uint8_t width_of(uint64_t range)
{
    return range == 0            ? 0
           : range <= UINT8_MAX  ? 1
           : range <= UINT16_MAX ? 2
           : range <= UINT32_MAX ? 4
                                 : 8;
}

static size_t block_bytes(const struct head *head)
{
    return sizeof(struct esi_values_block) +
           (head->kind == KIND_MIXED ? KIND_BYTES : 0) +
           (size_t)head->width * head->count;
}

/* What a block of these rows begins with. */
static struct head describe(const struct esi_values_open *open)
{
    struct head block = {.count = (uint8_t)open->count, .kind = open->kinds[0]};
    uint64_t least = UINT64_MAX, most = 0;

    for (uint32_t i = 0; i < open->count; i++) {
        uint64_t rank = rank_of(open->numbers[i]);
        if (open->kinds[i] != block.kind)
            block.kind = KIND_MIXED;
        if (open->kinds[i] == ES_VALUE_ABSENT)
            continue;
        least = rank < least ? rank : least;
        most = rank > most ? rank : most;
    }
    if (least <= most) {
        block.base = rank_of(least);
        block.width = width_of(most - least);
    }
    return block;
}

static void put_row(unsigned char *at, uint8_t width, uint64_t above)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (unsigned char)(above >> 8 * i);
}

static uint64_t get_row(const unsigned char *at, uint8_t width)
{
    uint64_t above = 0;

    for (unsigned i = 0; i < width; i++)
        above |= (uint64_t)at[i] << 8 * i;
    return above;
}

static int pack(const struct esi_values_open *open, struct esi_values_block **ret_block)
{
    struct head head = describe(open);
    struct esi_values_block *block = NULL;
    unsigned char *rows;

    if (head.kind != ES_VALUE_ABSENT) {
        block = calloc(1, block_bytes(&head));
        if (!block)
            return -ENOMEM;
        block->head = head;
        rows = block->bytes + (head.kind == KIND_MIXED ? KIND_BYTES : 0);
        for (uint32_t i = 0; i < open->count; i++) {
            if (head.kind == KIND_MIXED)
                block->bytes[i / 4] |= (unsigned char)(open->kinds[i] << (i % 4 * 2));
            if (open->kinds[i] != ES_VALUE_ABSENT)
                put_row(rows + (size_t)i * head.width, head.width,
                        open->numbers[i] - head.base);
        }
    }
    *ret_block = block;
    return 0;
}

static struct es_event_value unpack(const struct esi_values_block *block, uint32_t row)
{
    const unsigned char *rows = block->bytes;
    const struct head *head = &block->head;
    unsigned kind = head->kind;

    if (row >= head->count)
        return (struct es_event_value){ES_VALUE_ABSENT, 0};
    if (kind == KIND_MIXED) {
        kind = (unsigned)block->bytes[row / 4] >> (row % 4 * 2) & 3u;
        rows += KIND_BYTES;
    }
    if (kind == ES_VALUE_ABSENT)
        return (struct es_event_value){ES_VALUE_ABSENT, 0};
    return (struct es_event_value){
        (enum es_value_kind)kind,
        (int64_t)(head->base + get_row(rows + (size_t)row * head->width, head->width))};
}

/* --- Columns ---------------------------------------------------------------------- */

/* The rows that are open become the last block. */
int esi_values_pack(struct esi_values *values, struct esi_values_memory *memory)
{
    struct esi_values_block *block;

    if (!values->open)
        return 0;
    if (values->block_count == values->block_capacity) {
        uint32_t capacity = values->block_capacity ? 2 * values->block_capacity : 1;
        struct esi_values_block **blocks =
            reallocarray(values->blocks, capacity, sizeof(struct esi_values_block *));
        if (!blocks)
            return -ENOMEM;
        memory->bytes += (capacity - values->block_capacity) * sizeof *blocks;
        values->blocks = blocks;
        values->block_capacity = capacity;
    }
    if (pack(values->open, &block) < 0)
        return -ENOMEM;
    values->blocks[values->block_count++] = block;
    memory->bytes += block ? block_bytes(&block->head) : 0;
    free(values->open);
    values->open = NULL;
    memory->bytes -= sizeof *values->open;
    return 0;
}

/* Rows to append to: the last block again where it is not full. */
static int open_rows(struct esi_values *values, struct esi_values_memory *memory)
{
    struct esi_values_open *open = calloc(1, sizeof *open);
    struct esi_values_block *last;

    if (!open)
        return -ENOMEM;
    memory->bytes += sizeof *open;
    values->open = open;
    if (values->count % BLOCK_ROWS == 0)
        return 0;
    open->count = values->count % BLOCK_ROWS;
    last = values->blocks[--values->block_count];
    for (uint32_t i = 0; last && i < open->count; i++) {
        struct es_event_value value = unpack(last, i);
        open->kinds[i] = (uint8_t)value.kind;
        open->numbers[i] = (uint64_t)value.number;
    }
    memory->bytes -= last ? block_bytes(&last->head) : 0;
    free(last);
    return 0;
}

static int append(struct esi_values *values,
                  struct esi_values_memory *memory,
                  struct es_event_value value)
{
    struct esi_values_open *open;

    if (!values->open && open_rows(values, memory) < 0)
        return -ENOMEM;
    open = values->open;
    open->kinds[open->count] = (uint8_t)value.kind;
    open->numbers[open->count] = (uint64_t)value.number;
    open->count++;
    values->count++;
    return open->count == BLOCK_ROWS ? esi_values_pack(values, memory) : 0;
}

int esi_values_put(struct esi_values *values,
                   struct esi_values_memory *memory,
                   uint32_t row,
                   struct es_event_value value)
{
    static const struct es_event_value absent = {ES_VALUE_ABSENT, 0};
    int code = 0;

    if (values->count == 0)
        values->first = row;
    while (code == 0 && values->count < row - values->first)
        code = append(values, memory, absent);
    return code < 0 ? code : append(values, memory, value);
}

struct es_event_value esi_values_get(const struct esi_values *values, uint32_t row)
{
    static const struct es_event_value absent = {ES_VALUE_ABSENT, 0};
    uint32_t block = (row - values->first) / BLOCK_ROWS;
    uint32_t within = (row - values->first) % BLOCK_ROWS;

    if (row < values->first || row - values->first >= values->count)
        return absent;
    if (block < values->block_count)
        return values->blocks[block] ? unpack(values->blocks[block], within) : absent;
    return (struct es_event_value){(enum es_value_kind)values->open->kinds[within],
                                   (int64_t)values->open->numbers[within]};
}
