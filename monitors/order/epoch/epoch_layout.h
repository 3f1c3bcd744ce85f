/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_layout.h - how parts of logs that are sorted by traces lie in memory.
 *
 * Header; own indices of the heads; unless they follow each other nearly without a gap,
 * the traces; where the steps of each group of columns begin; patterns; for each trace
 * its column; steps.
 *
 * News of many traces come by the same messages, so that their columns have steps at
 * the same heads: such a set of heads is a *pattern*, kept once: as a bit for each head
 * where there are few, else as where its list begins, and the list.  A column has the
 * number of its pattern, its first value, and by how much it rises from a step to the
 * next at least.  Its steps are what it rises more, with as many bits as the largest
 * needs: with none in a computation that does the same again and again.
 *
 * Where columns would take more memory than vectors there are *rows*: for each head the
 * values of all places, without the base, as narrow as the largest needs; 0 = not
 * known.
 *
 * Where all columns of a part rise by the same at every so many heads, to its end, and
 * the next part goes on like that, the next one consists of a header, where it goes on,
 * and own indices of its heads.
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
    /* Bits of a column's fields. */
    uint8_t pattern_bits, first_bits, rise_bits, width_bits;
    /* Of where a pattern's list begins, and of each head in it; 0: bits of heads. */
    uint8_t start_bits, head_bits;
    uint8_t is_more;   /* of another block, the root: struct esi_steps_more follows */
    uint8_t row_bytes; /* of a value, where there are rows instead of columns; else 0 */
    uint8_t group_bytes; /* of the bit where a group's steps begin; 0: no steps */
    uint32_t heads;
    uint32_t patterns; /* the first one is without heads: of traces not named */
    uint32_t listed;   /* heads in the lists of all patterns */
    uint32_t traces;   /* places */
    uint32_t lowest;   /* trace */
    uint32_t least;    /* first value */
    uint32_t lasting;  /* traces that have columns, if all of them rise by the same */
    uint32_t stride;   /* every so many heads, to the end; else 0 */
};

struct esi_steps_more {
    const unsigned char *root; /* of the same arena */
    uint32_t heads;            /* of the root and of what is more of it, before this */
};

enum {
    ESI_STEPS_MOST_BITS = 57, /* of a column, a pattern, and where two lists begin */
    ESI_STEPS_GROUP = 8       /* columns */
};

struct esi_steps_layout {
    struct esi_steps_header header;
    unsigned column_bits;
    /* Where they begin. */
    size_t owns, traces, groups, patterns, listed, columns, steps;
};

/* What a place has. */
struct esi_steps_column {
    uint32_t pattern;
    uint32_t first; /* value, without the base and the least one */
    uint32_t rise;  /* from a step to the next, at least */
    uint32_t width; /* bits of what each step but the first rises more */
};

struct esi_steps_pattern {
    uint64_t heads; /* a bit for each, where there is no list */
    uint32_t start; /* its first head's number in the lists of all */
    uint32_t count; /* of heads */
};

/* Bits of a pattern besides its list. */
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
        pattern.count = (uint32_t)__builtin_popcountll(pattern.heads);
    }
    return pattern;
}

/* A head, by its number in the lists of all patterns. */
static inline uint32_t esi_steps_listed(const unsigned char *block,
                                        const struct esi_steps_layout *layout,
                                        uint32_t at)
{
    unsigned head_bits = layout->header.head_bits;

    return (uint32_t)(esi_bits_get(block + layout->listed, (uint64_t)at * head_bits) &
                      esi_low_bits(head_bits));
}

/* The first head of a pattern that has some. */
static inline uint32_t esi_steps_first_head(const unsigned char *block,
                                            const struct esi_steps_layout *layout,
                                            const struct esi_steps_pattern *pattern)
{
    return layout->header.start_bits ? esi_steps_listed(block, layout, pattern->start)
                                     : (uint32_t)__builtin_ctzll(pattern->heads);
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

/* The value of a place in a root at a head, of the root or of what is more of it: 0 =
 * not known then, or, at other heads than the last, only in a part before. */
uint32_t esi_steps_value(const unsigned char *root,
                         const struct esi_steps_layout *layout,
                         const struct esi_block_place *place,
                         uint32_t head,
                         uint32_t at);

#endif
