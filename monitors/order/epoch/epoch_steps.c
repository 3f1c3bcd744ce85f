/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_steps.c - reads parts of logs sorted by traces: see epoch_steps.h. */
#include "config.h"

#include "monitors/order/epoch/epoch_steps.h"

#include "monitors/order/epoch/epoch_steps_private.h"

bool esi_steps_is_more(const unsigned char *block)
{
    return esi_steps_layout_of(block).header.is_more;
}

/* By how much a column has risen at a head; false = not known yet. */
static bool rise_even(const struct esi_steps_header *header,
                      const struct esi_column *column,
                      uint32_t head,
                      uint32_t *ret_rise)
{
    uint32_t step = column->count - 1;

    if (column->count == 0 || column->at > head)
        return false;
    if (step > 0 && header->stride > 0) {
        uint32_t reached = (head - column->at) / header->stride;

        /* What is more of the block goes on. */
        step = reached < step || head > header->heads ? reached : step;
    }
    *ret_rise = step * column->rise;
    return true;
}

static bool rise_uneven(const unsigned char *block,
                        const struct esi_steps_layout *layout,
                        const struct esi_column *column,
                        uint32_t head,
                        uint32_t *ret_rise)
{
    uint64_t heads = esi_low_bits(layout->header.head_bits);
    uint64_t values = esi_low_bits(layout->header.value_bits);
    uint32_t reached = 0, rise = 0, i;

    for (i = 0; i < column->count; i++) {
        uint64_t step = esi_bits_get(block + layout->steps,
                                     ((uint64_t)column->at + i) * layout->step_bits);

        reached += (uint32_t)(step & heads);
        if (reached > head)
            break;
        rise += (uint32_t)(step >> layout->header.head_bits & values);
    }
    *ret_rise = rise;
    return i > 0;
}

/* The value of a place at a head where there are rows; 0 = not known yet. */
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

/* The value of a column at a head; 0 = not known yet. */
static uint32_t value_at(const unsigned char *block,
                         const struct esi_steps_layout *layout,
                         const struct esi_block_place *place,
                         const struct esi_column *column,
                         uint32_t trace,
                         uint32_t head)
{
    uint32_t rise;

    if (column->is_even ? !rise_even(&layout->header, column, head, &rise)
                        : !rise_uneven(block, layout, column, head, &rise))
        return 0;
    return column->first + rise + layout->header.least +
           esi_cut_base(place->cuts, place->cut, trace);
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

bool esi_steps_place(const unsigned char *root,
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

int64_t esi_steps_find(const unsigned char *block,
                       const struct esi_block_place *place,
                       uint32_t own,
                       uint32_t trace)
{
    const unsigned char *root = esi_steps_root(block);
    struct esi_steps_layout layout = esi_steps_layout_of(root);
    struct esi_column column;
    uint32_t at, head, value;

    if (!esi_steps_place(root, &layout, trace, &at))
        return ESI_BLOCK_NOWHERE;
    if (layout.header.row_bytes) {
        head = esi_steps_head(block, place, own);
        value = row_value(root, &layout, place, at, head);
        return value || head < layout.header.heads ? (int64_t)value : ESI_BLOCK_NOWHERE;
    }
    column = esi_steps_column(root, &layout, at);
    if (column.count == 0)
        return ESI_BLOCK_NOWHERE;
    return value_at(root, &layout, place, &column, trace,
                    esi_steps_head(block, place, own));
}

bool esi_steps_is_end(const unsigned char *block, uint32_t head)
{
    struct esi_steps_header header = esi_steps_layout_of(block).header;
    uint32_t before = header.is_more ? esi_steps_more_of(block).heads : 0;

    return head == before + header.heads;
}

uint32_t esi_steps_count(const unsigned char *block)
{
    return esi_steps_layout_of(esi_steps_root(block)).header.traces;
}

void esi_steps_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t head,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value)
{
    const unsigned char *root = esi_steps_root(block);
    struct esi_steps_layout layout = esi_steps_layout_of(root);
    struct esi_column column;

    *ret_trace = esi_steps_trace(root, &layout, at);
    if (layout.header.row_bytes) {
        *ret_value = row_value(root, &layout, place, at, head);
        return;
    }
    column = esi_steps_column(root, &layout, at);
    *ret_value = value_at(root, &layout, place, &column, *ret_trace, head);
}
