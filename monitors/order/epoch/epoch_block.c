/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_block.c - packs and reads records, and reads steps.
 *
 * A record consists of a header, the traces of the entries, their values, the ends of
 * the heads, and the own indices of the heads.  Numbers are arrays of 1, 2 or 4 bytes
 * in native byte order.
 */
#include "config.h"

#include "monitors/order/epoch/epoch_block.h"

#include <errno.h>
#include <string.h>

#include "monitors/order/epoch/epoch_layout.h"
#include "monitors/order/epoch/epoch_number.h"

/* === Parts sorted by traces ======================================================= */

bool esi_steps_is_more(const unsigned char *block)
{
    return esi_steps_layout_of(block).header.is_more;
}

/* Returns the number of steps that a column of a pattern has made at a head. */
static inline uint32_t steps_until(const unsigned char *block,
                                   const struct esi_steps_layout *layout,
                                   const struct esi_steps_pattern *pattern,
                                   uint32_t head)
{
    uint32_t low = 0, high = pattern->count;

    if (head > layout->header.heads)
        /* The block continues in others; its steps repeat with the stride. */
        return (head - esi_steps_first_head(block, layout, pattern)) /
                   layout->header.stride +
               1;
    if (head == layout->header.heads)
        return pattern->count;
    if (!layout->header.start_bits)
        return esi_bits_count(pattern->heads & esi_low_bits(head + 1));
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (esi_steps_listed(block, layout, pattern->start + middle) <= head)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the bit at which the steps of a place begin. */
static uint64_t first_bit(const unsigned char *block,
                          const struct esi_steps_layout *layout,
                          uint32_t at)
{
    uint32_t group = at / ESI_STEPS_GROUP;
    uint64_t bit =
        esi_number_get(block + layout->groups, layout->header.group_bytes, group);

    for (uint32_t i = group * ESI_STEPS_GROUP; i < at; i++) {
        struct esi_steps_column column = esi_steps_column(block, layout, i);

        if (column.width > 0)
            bit += (esi_steps_pattern(block, layout, column.pattern).count - 1ull) *
                   column.width;
    }
    return bit;
}

/* Returns the sum by which the first steps of a column exceed the minimum increment;
 * the column must have bits for that, from `bit` on. */
static uint32_t rise_beyond(const unsigned char *block,
                            const struct esi_steps_layout *layout,
                            uint64_t bit,
                            const struct esi_steps_column *column,
                            uint32_t steps)
{
    uint32_t rise = 0;

    for (uint32_t i = 0; i < steps; i++, bit += column->width)
        rise += (uint32_t)(esi_bits_get(block + layout->steps, bit) &
                           esi_low_bits(column->width));
    return rise;
}

/* Returns the value of a place at a head in a block with rows; 0 = not known yet. */
static uint32_t row_value(const unsigned char *block,
                          const struct esi_steps_layout *layout,
                          const struct esi_block_place *place,
                          uint32_t at,
                          uint32_t head)
{
    const struct esi_steps_header *header = &layout->header;
    const unsigned char *row = block + layout->columns +
                               (size_t)(head - 1) * header->traces * header->row_bytes;
    uint32_t value = head ? esi_number_get(row, header->row_bytes, at) : 0;

    return value ? value + esi_cut_base(place->cuts, place->cut, header->lowest + at)
                 : 0;
}

/* Returns the value after some steps if all rise by the minimum. */
static inline uint32_t least_value(const unsigned char *block,
                                   const struct esi_steps_layout *layout,
                                   const struct esi_block_place *place,
                                   uint32_t at,
                                   const struct esi_steps_column *column,
                                   uint32_t steps)
{
    return column->first + (steps - 1) * column->rise + layout->header.least +
           esi_steps_base(&layout->header, place, esi_steps_trace(block, layout, at));
}

/* Returns the value at a head of a place with the given column, or a smaller value on
 * the same side of `enough`; 0 = not known yet. */
static uint32_t value_at(const unsigned char *block,
                         const struct esi_steps_layout *layout,
                         const struct esi_block_place *place,
                         uint32_t at,
                         const struct esi_steps_column *column,
                         uint32_t head,
                         uint32_t enough)
{
    struct esi_steps_pattern pattern =
        esi_steps_pattern(block, layout, column->pattern);
    uint32_t steps = 0, value;
    uint64_t most;

    if (pattern.count > 0)
        steps = steps_until(block, layout, &pattern, head);
    if (steps == 0)
        return 0;
    value = least_value(block, layout, place, at, column, steps);
    most = value + (steps - 1) * esi_low_bits(column->width);
    if (most == value || value >= enough || (most < enough && enough != ESI_EXACTLY))
        return value;
    return value +
           rise_beyond(block, layout, first_bit(block, layout, at), column, steps - 1);
}

uint32_t esi_steps_head(const unsigned char *block,
                        const struct esi_block_place *place,
                        uint32_t own)
{
    struct esi_steps_layout layout = esi_steps_layout_of(block);
    uint32_t before = layout.header.is_more ? esi_steps_more_of(block).heads : 0;

    if (own < place->first)
        return before;
    return before + esi_number_rank(block + layout.owns, layout.header.own_bytes,
                                    layout.header.heads, own - place->first);
}

/* Finds the place of a trace in a root; returns false if there is none. */
static bool steps_place(const unsigned char *root,
                        const struct esi_steps_layout *layout,
                        uint32_t trace,
                        uint32_t *ret_at)
{
    const struct esi_steps_header *header = &layout->header;
    uint32_t at = trace - header->lowest;

    if (trace < header->lowest)
        return false;
    if (header->trace_bytes) {
        at = esi_number_rank(root + layout->traces, header->trace_bytes, header->traces,
                             trace) -
             1;
        if (esi_number_get(root + layout->traces, header->trace_bytes, at) != trace)
            return false;
    } else if (at >= header->traces) {
        return false;
    }
    *ret_at = at;
    return true;
}

/* Like esi_block_find(). */
static int64_t steps_find(const unsigned char *block,
                          const struct esi_block_place *place,
                          uint32_t own,
                          uint32_t trace,
                          uint32_t enough)
{
    const unsigned char *root = esi_steps_root(block);
    struct esi_steps_layout layout = esi_steps_layout_of(root);
    struct esi_steps_column column;
    uint32_t at, head, value;

    if (!steps_place(root, &layout, trace, &at))
        return ESI_BLOCK_NOWHERE;
    /* Prefetch, so that the cache misses overlap. */
    __builtin_prefetch(root + layout.columns + at * layout.column_bits / 8);
    __builtin_prefetch(root + layout.groups +
                       at / ESI_STEPS_GROUP * layout.header.group_bytes);
    __builtin_prefetch(root + layout.patterns); /* usually there are few */
    __builtin_prefetch(block + layout.owns);
    if (layout.header.reference)
        __builtin_prefetch(&layout.header.reference[trace]);
    if (layout.header.row_bytes) {
        head = esi_steps_head(block, place, own);
        value = row_value(root, &layout, place, at, head);
        return value || head < layout.header.heads ? (int64_t)value : ESI_BLOCK_NOWHERE;
    }
    column = esi_steps_column(root, &layout, at);
    if (column.pattern == 0)
        return ESI_BLOCK_NOWHERE;
    return value_at(root, &layout, place, at, &column,
                    esi_steps_head(block, place, own), enough);
}

bool esi_steps_is_end(const unsigned char *block, uint32_t head)
{
    struct esi_steps_header header = esi_steps_layout_of(block).header;
    uint32_t before = header.is_more ? esi_steps_more_of(block).heads : 0;

    return head == before + header.heads;
}

/* Returns the number of places. */
static uint32_t steps_count(const unsigned char *block)
{
    return esi_steps_layout_of(esi_steps_root(block)).header.traces;
}

uint32_t esi_steps_value(const unsigned char *root,
                         const struct esi_steps_layout *layout,
                         const struct esi_block_place *place,
                         uint32_t head,
                         uint32_t at)
{
    struct esi_steps_column column;

    if (layout->header.row_bytes)
        return row_value(root, layout, place, at, head);
    column = esi_steps_column(root, layout, at);
    return value_at(root, layout, place, at, &column, head, ESI_EXACTLY);
}

uint32_t esi_steps_next(const unsigned char *root,
                        const struct esi_steps_layout *layout,
                        const struct esi_block_place *place,
                        uint32_t head,
                        uint32_t at,
                        uint64_t *bit)
{
    uint64_t begin = *bit;
    struct esi_steps_column column;
    struct esi_steps_pattern pattern;
    uint32_t steps;

    if (layout->header.row_bytes)
        return row_value(root, layout, place, at, head);
    column = esi_steps_column(root, layout, at);
    pattern = esi_steps_pattern(root, layout, column.pattern);
    if (pattern.count == 0)
        return 0;
    *bit += (pattern.count - 1ull) * column.width;
    steps = steps_until(root, layout, &pattern, head);
    return steps == 0 ? 0
                      : least_value(root, layout, place, at, &column, steps) +
                            (column.width
                                 ? rise_beyond(root, layout, begin, &column, steps - 1)
                                 : 0);
}

/* === Records ====================================================================== */

struct header {
    uint8_t trace_bytes, value_bytes, end_bytes, own_bytes;
    uint32_t heads;
    uint32_t entries;
};

struct layout {
    struct header header;
    size_t values, ends, owns, bytes; /* offsets of the arrays, and the total size */
};

static void lay_out(struct layout *layout)
{
    const struct header *header = &layout->header;

    layout->values = sizeof *header + (size_t)header->entries * header->trace_bytes;
    layout->ends = layout->values + (size_t)header->entries * header->value_bytes;
    layout->owns = layout->ends + (size_t)header->heads * header->end_bytes;
    layout->bytes = layout->owns + (size_t)header->heads * header->own_bytes;
}

static struct layout layout_of(const unsigned char *block)
{
    struct layout layout;

    memcpy(&layout.header, block, sizeof layout.header);
    lay_out(&layout);
    return layout;
}

/* --- Packing ---------------------------------------------------------------------- */

/* Returns the difference of a value to its base. */
static uint32_t record_beyond(const struct esi_block_place *place, uint64_t entry)
{
    return (uint32_t)entry -
           esi_cut_base(place->cuts, place->cut, (uint32_t)(entry >> 32));
}

static uint32_t heads_at(const struct esi_log *log, uint32_t own)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);

    while (count > 0 && esi_log_head(log, count - 1) >> 32 > own)
        count--;
    return count;
}

static void record_measure(const struct esi_log *log,
                           uint32_t own,
                           const struct esi_block_place *place,
                           struct header *header)
{
    uint32_t trace = 0, value = 0;

    header->entries = esi_log_end_at(log, own);
    header->heads = heads_at(log, own);
    for (uint32_t i = 0; i < header->entries; i++) {
        uint64_t entry = esi_log_entry(log, i);
        uint32_t more = record_beyond(place, entry);

        trace = entry >> 32 > trace ? (uint32_t)(entry >> 32) : trace;
        value = more > value ? more : value;
    }
    header->trace_bytes = trace <= UINT16_MAX ? 2 : 4;
    header->value_bytes = esi_width_of(value);
    header->end_bytes = esi_width_of(header->entries);
    header->own_bytes = esi_width_of(own - place->first);
}

int esi_block_pack(const struct esi_log *log,
                   uint32_t own,
                   const struct esi_block_place *place,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block)
{
    struct layout layout;
    struct header *header = &layout.header;
    unsigned char *block;

    record_measure(log, own, place, header);
    *ret_block = NULL;
    if (header->entries == 0)
        return 0;
    lay_out(&layout);
    block = esi_arena_take(arena, layout.bytes);
    if (!block)
        return -ENOMEM;
    memcpy(block, header, sizeof *header);
    for (uint32_t i = 0; i < header->entries; i++) {
        uint64_t entry = esi_log_entry(log, i);

        esi_number_put(block + sizeof *header, header->trace_bytes, i,
                       (uint32_t)(entry >> 32));
        esi_number_put(block + layout.values, header->value_bytes, i,
                       record_beyond(place, entry));
    }
    for (uint32_t i = 0; i < header->heads; i++) {
        uint64_t head = esi_log_head(log, i);

        esi_number_put(block + layout.ends, header->end_bytes, i, (uint32_t)head);
        esi_number_put(block + layout.owns, header->own_bytes, i,
                       (uint32_t)(head >> 32) - place->first);
    }
    *ret_block = block;
    return 0;
}

/* --- Search ----------------------------------------------------------------------- */

static uint32_t end_at(const unsigned char *block,
                       const struct layout *layout,
                       uint32_t own)
{
    const struct header *header = &layout->header;
    uint32_t low =
        esi_number_rank(block + layout->owns, header->own_bytes, header->heads, own);

    return low ? esi_number_get(block + layout->ends, header->end_bytes, low - 1) : 0;
}

uint32_t esi_block_end_at(const unsigned char *block,
                          const struct esi_block_place *place,
                          uint32_t own)
{
    struct layout layout;

    if (esi_steps_is(block))
        return steps_count(block);
    layout = layout_of(block);
    return end_at(block, &layout, own - place->first);
}

/* Returns the position, from 1, of the last of `count` numbers that equals `sought`; 0
 * = none. */
static uint32_t find_short(const uint16_t *numbers, uint32_t count, uint32_t sought)
{
    while (count > 0 && numbers[count - 1] != sought)
        count--;
    return count;
}

static uint32_t find_long(const uint32_t *numbers, uint32_t count, uint32_t sought)
{
    while (count > 0 && numbers[count - 1] != sought)
        count--;
    return count;
}

int64_t esi_block_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace,
                       uint32_t enough)
{
    struct layout layout;
    const void *traces = block + sizeof layout.header; /* blocks are aligned */
    uint32_t at;

    if (esi_steps_is(block))
        return steps_find(block, place, own, trace, enough);
    layout = layout_of(block);
    at = end_at(block, &layout, own - place->first);
    if (layout.header.trace_bytes == 2)
        at = trace > UINT16_MAX ? 0 : find_short(traces, at, trace);
    else
        at = find_long(traces, at, trace);
    if (at == 0)
        return 0;
    return esi_number_get(block + layout.values, layout.header.value_bytes, at - 1) +
           esi_cut_base(place->cuts, place->cut, trace);
}

void esi_block_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value)
{
    struct layout layout = layout_of(block);

    *ret_trace =
        esi_number_get(block + sizeof layout.header, layout.header.trace_bytes, at);
    *ret_value = esi_number_get(block + layout.values, layout.header.value_bytes, at) +
                 esi_cut_base(place->cuts, place->cut, *ret_trace);
}
