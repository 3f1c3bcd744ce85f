/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_layout.h - how parts of logs that are sorted by traces lie in memory.
 *
 * Header; own indices of the heads; unless they follow each other nearly without a gap,
 * the traces; if there are steps, the number of the first one in each group of columns;
 * for each trace its column; steps of the columns that are not even.
 *
 * A column is even where its values rise by the same at every so many heads, as they do
 * in a computation that does the same again and again: then its first step, their
 * number and the rise tell all of them.  The heads are as many for all columns.  Of
 * other columns the first step is told by the column, and what follows are differences.
 *
 * Where columns would take more memory than vectors there are *rows*: for each head the
 * values of all places, without the base, as narrow as the largest needs; 0 = not
 * known.
 *
 * Where all columns of a part are even to its end and the next part goes on like that,
 * the next one consists of a header, where it goes on, and own indices of its heads.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_LAYOUT_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_LAYOUT_H

#include <stddef.h>
#include <string.h>

#include "monitors/order/epoch/epoch_number.h"
#include "monitors/order/epoch/epoch_block.h"

struct esi_steps_header {
    uint8_t kind; /* 0; records begin with something else */
    uint8_t own_bytes;
    uint8_t trace_bytes; /* 0: traces are `lowest` + place */
    /* Bits of a column's fields, after one that says whether it is even. */
    uint8_t at_bits, count_bits, first_bits, rise_bits;
    /* Of a step. */
    uint8_t head_bits, value_bits;
    uint8_t is_more;   /* of another block, the root: struct esi_steps_more follows */
    uint8_t row_bytes; /* of a value, where there are rows instead of columns; else 0 */
    uint8_t group_bytes; /* of the number of a group's first step; 0: no steps */
    uint32_t heads;
    uint32_t traces;  /* places */
    uint32_t lowest;  /* trace */
    uint32_t least;   /* first value */
    uint32_t stride;  /* heads from a step of an even column to the next */
    uint32_t lasting; /* traces that have columns, if all are even to the end; else 0 */
};

struct esi_steps_more {
    const unsigned char *root; /* of the same arena */
    uint32_t heads;            /* of the root and of what is more of it, before this */
};

enum {
    ESI_STEPS_MOST_BITS = 57, /* of a column, and of a step */
    ESI_STEPS_GROUP = 16      /* columns */
};

struct esi_steps_layout {
    struct esi_steps_header header;
    unsigned column_bits, step_bits;
    size_t owns, traces, groups, columns, steps; /* where they begin */
};

/* What a place has. */
struct esi_steps_column {
    bool is_even;
    uint32_t at;    /* its first step's head */
    uint32_t count; /* of steps; 0 = the trace is not named */
    uint32_t first; /* value, without the base and the least one */
    uint32_t rise;  /* even: from a step to the next */
};

static inline void esi_steps_lay_out(struct esi_steps_layout *layout)
{
    const struct esi_steps_header *header = &layout->header;

    layout->column_bits = 1u + header->at_bits + header->count_bits +
                          header->first_bits + header->rise_bits;
    layout->step_bits = header->head_bits + header->value_bits;
    layout->owns = sizeof *header + header->is_more * sizeof(struct esi_steps_more);
    layout->traces = layout->owns + (size_t)header->heads * header->own_bytes;
    layout->groups = layout->traces + (size_t)header->traces * header->trace_bytes;
    layout->columns = layout->groups + ((size_t)header->traces + ESI_STEPS_GROUP - 1) /
                                           ESI_STEPS_GROUP * header->group_bytes;
    layout->steps =
        layout->columns + ((uint64_t)header->traces * layout->column_bits + 7) / 8;
}

static inline struct esi_steps_layout esi_steps_layout_of(const unsigned char *block)
{
    struct esi_steps_layout layout;

    memcpy(&layout.header, block, sizeof layout.header);
    esi_steps_lay_out(&layout);
    return layout;
}

static inline struct esi_steps_more esi_steps_more_of(const unsigned char *block)
{
    struct esi_steps_more more;

    memcpy(&more, block + sizeof(struct esi_steps_header), sizeof more);
    return more;
}

/* Where columns are: the block itself, or its root. */
static inline const unsigned char *esi_steps_root(const unsigned char *block)
{
    return esi_steps_layout_of(block).header.is_more ? esi_steps_more_of(block).root
                                                     : block;
}

static inline uint64_t esi_low_bits(unsigned bits)
{
    return (UINT64_C(1) << bits) - 1;
}

static inline struct esi_steps_column esi_steps_column(
    const unsigned char *block,
    const struct esi_steps_layout *layout,
    uint32_t place)
{
    const struct esi_steps_header *header = &layout->header;
    uint64_t bits =
        esi_bits_get(block + layout->columns, (uint64_t)place * layout->column_bits);
    struct esi_steps_column column = {.is_even = bits & 1};

    bits >>= 1;
    column.at = (uint32_t)(bits & esi_low_bits(header->at_bits));
    bits >>= header->at_bits;
    column.count = (uint32_t)(bits & esi_low_bits(header->count_bits));
    bits >>= header->count_bits;
    column.first = (uint32_t)(bits & esi_low_bits(header->first_bits));
    bits >>= header->first_bits;
    column.rise = (uint32_t)(bits & esi_low_bits(header->rise_bits));
    return column;
}

/* The trace of a place in a root. */
static inline uint32_t esi_steps_trace(const unsigned char *root,
                                       const struct esi_steps_layout *layout,
                                       uint32_t at)
{
    const struct esi_steps_header *header = &layout->header;

    return header->trace_bytes
               ? esi_number_get(root + layout->traces, header->trace_bytes, at)
               : header->lowest + at;
}

/* The place of a trace in a root; false = there is none. */
bool esi_steps_place(const unsigned char *root,
                     const struct esi_steps_layout *layout,
                     uint32_t trace,
                     uint32_t *ret_at);

#endif
