/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_layout.h - memory layout of parts of logs that are sorted by traces.
 *
 * In this order: the header; the own indices of the heads; the traces, unless they are
 * nearly consecutive; the positions at which the steps of each group of columns begin;
 * the patterns; one column per trace; the steps.
 *
 * News of many traces arrive with the same messages, so their columns have steps at the
 * same heads.  Such a set of heads is a *pattern* and is stored once: as one bit per
 * head if there are few heads, otherwise as a list and the position where it begins.  A
 * column consists of the number of its pattern, its first value, and its minimum
 * increment from step to step.  Its steps store by how much the increment exceeds that
 * minimum, with as many bits as the largest needs: none in a computation that repeats
 * the same steps.  First values are relative to the numbers of events of the traces at
 * about that time, or to the base of the cut.
 *
 * If columns take more memory than vectors, there are *rows* instead: for each head the
 * values of all places, without the base, as narrow as the largest allows; 0 = not
 * known.
 *
 * If each column of a part has a constant increment, at steps that are a fixed number
 * of heads apart, up to the end, and the next part continues all columns like that,
 * then the next part consists only of a header, the position where it continues, and
 * the own indices of its heads.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_LAYOUT_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_LAYOUT_H

#include <stddef.h>
#include <string.h>

#include "monitors/order/epoch/epoch_number.h"
#include "monitors/order/epoch/epoch_block.h"

struct esi_steps_header {
    uint8_t kind; /* 0; records begin with another value */
    uint8_t own_bytes;
    uint8_t trace_bytes; /* 0: the trace is `lowest` + place */
    /* Bits per field of a column. */
    uint8_t pattern_bits, first_bits, rise_bits, width_bits;
    /* Bits of the position of a pattern's list, and of each head in it; 0: no lists,
     * but one bit per head. */
    uint8_t start_bits, head_bits;
    uint8_t is_more;     /* continues another block, the root; struct esi_steps_more
                            follows */
    uint8_t row_bytes;   /* bytes per value if there are rows instead of columns; else
                            0 */
    uint8_t group_bytes; /* bytes per bit position of a group's steps; 0: no steps */
    uint32_t heads;
    uint32_t patterns; /* the first one has no heads: for traces that are not named */
    uint32_t listed;   /* heads in the lists of all patterns together */
    uint32_t traces;   /* number of places */
    uint32_t lowest;   /* lowest trace */
    uint32_t least;    /* least first value, minus its base; may be negative */
    uint32_t lasting;  /* number of traces with steps if `stride` is not 0; else 0 */
    uint32_t stride;   /* heads from step to step, if that is constant in all columns up
                          to the end and so are the increments; else 0 */
    /* The numbers of events are the bases of columns; NULL: those of the cut. */
    const struct esi_snapshot_entry *reference;
};

struct esi_steps_more {
    const unsigned char *root; /* in the same arena */
    uint32_t heads; /* of the root and of the blocks that continue it before this one */
};

enum {
    ESI_STEPS_MOST_BITS = 57, /* per column, per pattern, and per pair of list
                                 positions */
    ESI_STEPS_GROUP = 8       /* columns per group */
};

struct esi_steps_layout {
    struct esi_steps_header header;
    unsigned column_bits;
    /* Offsets of the arrays. */
    size_t owns, traces, groups, patterns, listed, columns, steps;
};

/* The column of a place. */
struct esi_steps_column {
    uint32_t pattern;
    uint32_t first; /* first value, minus the base and the least first value */
    uint32_t rise;  /* minimum increment from step to step */
    uint32_t width; /* bits per step, except the first, for the excess over `rise` */
};

struct esi_steps_pattern {
    uint64_t heads; /* one bit per head; valid if there is no list */
    uint32_t start; /* position of its first head in the concatenated lists */
    uint32_t count; /* number of heads */
};

/* Returns the bits per pattern, without its list. */
static inline unsigned esi_steps_pattern_bits(const struct esi_steps_header *header)
{
    return header->start_bits ? header->start_bits : header->heads + 1;
}

static inline void esi_steps_lay_out(struct esi_steps_layout *layout)
{
    const struct esi_steps_header *header = &layout->header;

    layout->column_bits = 0u + header->pattern_bits + header->first_bits +
                          header->rise_bits + header->width_bits;
    layout->owns = sizeof *header + header->is_more * sizeof(struct esi_steps_more);
    layout->traces = layout->owns + (size_t)header->heads * header->own_bytes;
    layout->groups = layout->traces + (size_t)header->traces * header->trace_bytes;
    layout->patterns = layout->groups + ((size_t)header->traces + ESI_STEPS_GROUP - 1) /
                                            ESI_STEPS_GROUP * header->group_bytes;
    layout->listed =
        layout->patterns + esi_bits_bytes((header->patterns + UINT64_C(1)) *
                                          esi_steps_pattern_bits(header));
    layout->columns =
        layout->listed + esi_bits_bytes((uint64_t)header->listed * header->head_bits);
    layout->steps = layout->columns +
                    esi_bits_bytes((uint64_t)header->traces * layout->column_bits);
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

/* Returns the block that contains the columns: the block itself or its root. */
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
    struct esi_steps_column column;

    column.pattern = (uint32_t)(bits & esi_low_bits(header->pattern_bits));
    bits >>= header->pattern_bits;
    column.first = (uint32_t)(bits & esi_low_bits(header->first_bits));
    bits >>= header->first_bits;
    column.rise = (uint32_t)(bits & esi_low_bits(header->rise_bits));
    bits >>= header->rise_bits;
    column.width = (uint32_t)(bits & esi_low_bits(header->width_bits));
    return column;
}

static inline struct esi_steps_pattern esi_steps_pattern(
    const unsigned char *block,
    const struct esi_steps_layout *layout,
    uint32_t number)
{
    unsigned width = esi_steps_pattern_bits(&layout->header);
    uint64_t bits = esi_bits_get(block + layout->patterns, (uint64_t)number * width);
    struct esi_steps_pattern pattern = {.heads = bits & esi_low_bits(width)};

    if (layout->header.start_bits) {
        pattern.start = (uint32_t)pattern.heads;
        pattern.count = (uint32_t)(bits >> width & esi_low_bits(width)) - pattern.start;
    } else {
        pattern.count = esi_bits_count(pattern.heads);
    }
    return pattern;
}

/* Returns a head by its position in the concatenated lists. */
static inline uint32_t esi_steps_listed(const unsigned char *block,
                                        const struct esi_steps_layout *layout,
                                        uint32_t at)
{
    unsigned head_bits = layout->header.head_bits;

    return (uint32_t)(esi_bits_get(block + layout->listed, (uint64_t)at * head_bits) &
                      esi_low_bits(head_bits));
}

/* Returns the first head of a nonempty pattern. */
static inline uint32_t esi_steps_first_head(const unsigned char *block,
                                            const struct esi_steps_layout *layout,
                                            const struct esi_steps_pattern *pattern)
{
    return layout->header.start_bits ? esi_steps_listed(block, layout, pattern->start)
                                     : (uint32_t)__builtin_ctzll(pattern->heads);
}

/* Returns the trace at a place of a root. */
static inline uint32_t esi_steps_trace(const unsigned char *root,
                                       const struct esi_steps_layout *layout,
                                       uint32_t at)
{
    const struct esi_steps_header *header = &layout->header;

    return header->trace_bytes
               ? esi_number_get(root + layout->traces, header->trace_bytes, at)
               : header->lowest + at;
}

/* Returns what the values of a column are relative to. */
static inline uint32_t esi_steps_base(const struct esi_steps_header *header,
                                      const struct esi_block_place *place,
                                      uint32_t trace)
{
    return header->reference ? header->reference[trace].count
                             : esi_cut_base(place->cuts, place->cut, trace);
}

/* Returns the value at a place of a root at a head, which may be in the root or in a
 * block that continues it.  0 means not known then, or, except at the last head, known
 * only from an earlier part. */
uint32_t esi_steps_value(const unsigned char *root,
                         const struct esi_steps_layout *layout,
                         const struct esi_block_place *place,
                         uint32_t head,
                         uint32_t at);

/* Does the same for all places, one after the other.  *bit is 0 for place 0, and is
 * updated. */
uint32_t esi_steps_next(const unsigned char *root,
                        const struct esi_steps_layout *layout,
                        const struct esi_block_place *place,
                        uint32_t head,
                        uint32_t at,
                        uint64_t *bit);

#endif
