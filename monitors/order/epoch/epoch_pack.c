/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_pack.c - packs parts of logs sorted by traces. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/epoch/epoch_layout.h"

static const uint64_t HASH_FACTOR = UINT64_C(0x9e3779b97f4a7c15);

/* --- Sorting ---------------------------------------------------------------------- */

static int compare_steps(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Determines the order of the traces and where the steps of each begin. */
static void place_traces(struct esi_sorting *sorting, uint32_t traces)
{
    const struct esi_steps_tally *tallies = sorting->tallies;
    uint32_t *in_order = sorting->traces, known = 0, place = 0;

    if (sorting->trace_count < traces / 16)
        qsort(in_order, sorting->trace_count, sizeof *in_order, compare_steps);
    else
        for (uint32_t trace = 0; trace < traces; trace++) {
            /* Without a branch, as in tally_entries(). */
            in_order[known] = trace;
            known += tallies[trace].count > 0;
        }
    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        sorting->places[in_order[i]] = place;
        place += tallies[in_order[i]].count;
    }
}

/* Counts the traces that only the previous part knows. */
static void count_earlier(struct esi_sorting *sorting,
                          const struct esi_steps_part *part)
{
    struct esi_steps_layout layout;
    const unsigned char *root;
    uint32_t head;

    sorting->earlier_count = 0;
    if (!part->before)
        return;
    root = esi_steps_root(part->before);
    layout = esi_steps_layout_of(root);
    head = esi_steps_head(part->before, &part->before_place, part->last);
    for (uint32_t i = 0; i < layout.header.traces; i++) {
        uint32_t trace = esi_steps_trace(root, &layout, i), value;

        if (sorting->tallies[trace].count > 0)
            continue;
        value = esi_steps_value(root, &layout, &part->before_place, head, i);
        if (value == 0)
            continue;
        sorting->tallies[trace] = (struct esi_steps_tally){
            .heads = 1, .count = 1, .last = value, .least = UINT32_MAX};
        sorting->traces[sorting->trace_count++] = trace;
        sorting->earlier[sorting->earlier_count++] = (uint64_t)trace << 32 | value;
    }
}

static uint32_t entries_of(const struct esi_steps_part *part)
{
    return part->heads ? (uint32_t)esi_log_head(part->log, part->heads - 1) : 0;
}

/* Tallies the entries of a head without a branch, since the data are unpredictable.
 * Returns whether a trace has two steps at that head, if heads are bits. */
static bool tally_entries(struct esi_sorting *sorting,
                          const _Atomic uint64_t *entries,
                          uint32_t count,
                          uint64_t head)
{
    uint64_t factor = sorting->has_bits ? 1 : HASH_FACTOR, twice = 0;
    uint64_t bit = sorting->has_bits ? UINT64_C(1) << head : head + 1;
    struct esi_steps_tally *tallies = sorting->tallies;
    uint32_t *traces = sorting->traces, known = sorting->trace_count;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = atomic_load_explicit(&entries[i], memory_order_relaxed);
        uint32_t trace = (uint32_t)(entry >> 32), value = (uint32_t)entry;
        struct esi_steps_tally *tally = &tallies[trace];
        uint32_t rise = value - tally->last;
        uint32_t first = -(uint32_t)(tally->count++ == 0); /* all bits or none */

        traces[known] = trace;
        known += first & 1;
        tally->last = value;
        tally->least = (rise < tally->least ? rise : tally->least) | first;
        tally->most = rise > tally->most ? rise & ~first : tally->most;
        twice |= tally->heads & bit;
        tally->heads = tally->heads * factor + bit;
    }
    sorting->trace_count = known;
    return sorting->has_bits && twice;
}

static void tally_steps(struct esi_sorting *sorting, const struct esi_steps_part *part)
{
    const _Atomic uint64_t *entries = esi_log_words(&part->log->entries) + 1;
    bool has_twice = false;
    uint32_t at = 0;

    sorting->trace_count = 0;
    sorting->has_bits = part->heads < ESI_STEPS_MOST_BITS;
    for (uint32_t head = 0; head < part->heads; head++) {
        uint32_t end = (uint32_t)esi_log_head(part->log, head);

        has_twice |= tally_entries(sorting, &entries[at], end - at, head + 1);
        at = end;
    }
    sorting->has_bits = sorting->has_bits && !has_twice;
    count_earlier(sorting, part);
}

/* Stores the steps of the entries of a head. */
static void put_entries(struct esi_sorting *sorting,
                        const _Atomic uint64_t *entries,
                        uint32_t count,
                        uint64_t head)
{
    uint32_t *places = sorting->places;
    uint64_t *steps = sorting->steps;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = atomic_load_explicit(&entries[i], memory_order_relaxed);

        steps[places[entry >> 32]++] = head << 32 | (uint32_t)entry;
    }
}

/* Stores all steps; afterwards `places` are behind the last steps of the traces. */
static void put_steps(struct esi_sorting *sorting, const struct esi_steps_part *part)
{
    const _Atomic uint64_t *entries = esi_log_words(&part->log->entries) + 1;
    uint32_t at = 0;

    for (uint32_t i = 0; i < sorting->earlier_count; i++) {
        uint64_t entry = sorting->earlier[i];

        sorting->steps[sorting->places[entry >> 32]++] = (uint32_t)entry;
    }
    for (uint32_t head = 0; head < part->heads; head++) {
        uint32_t end = (uint32_t)esi_log_head(part->log, head);

        put_entries(sorting, &entries[at], end - at, head + 1);
        at = end;
    }
}

/* --- Measuring -------------------------------------------------------------------- */

static uint32_t base_of(const struct esi_steps_part *part, uint32_t trace)
{
    return esi_cut_base(part->place.cuts, part->place.cut, trace);
}

/* Steps are numbers like entries.  Their difference is that of the heads << 32 plus
 * that of the values, because values increase, too. */
static uint64_t gap_at(const struct esi_sorting *sorting, uint64_t at)
{
    return sorting->steps[at] - sorting->steps[at - 1];
}

static void raise_to(uint32_t *most, uint64_t number)
{
    *most = number > *most ? (uint32_t)number : *most;
}

static bool has_heads(const struct esi_sorting *sorting,
                      const struct esi_steps_pattern *pattern,
                      const struct esi_steps_tally *tally,
                      uint32_t from)
{
    uint64_t differs = 0;

    if (pattern->heads != tally->heads || pattern->count != tally->count)
        return false;
    for (uint32_t i = 0; !sorting->has_bits && i < tally->count; i++)
        differs |= sorting->steps[pattern->start + i] ^ sorting->steps[from + i];
    return differs >> 32 == 0;
}

/* Returns the number of the pattern of a trace's steps. */
static uint32_t find_pattern(struct esi_sorting *sorting,
                             const struct esi_steps_tally *tally,
                             uint32_t from)
{
    uint32_t mask = sorting->slot_mask;
    uint32_t at = (uint32_t)(tally->heads * HASH_FACTOR >> 32) & mask;

    for (; sorting->slots[at]; at = (at + 1) & mask)
        if (has_heads(sorting, &sorting->patterns[sorting->slots[at]], tally, from))
            return sorting->slots[at];
    sorting->slots[at] = sorting->pattern_count;
    sorting->patterns[sorting->pattern_count] = (struct esi_steps_pattern){
        .heads = tally->heads, .start = from, .count = tally->count};
    return sorting->pattern_count++;
}

/* Makes the column of the steps, with `rise`, their minimum increment, and with the
 * first value beyond `base`. */
static void make_column(struct esi_sorting *sorting,
                        const struct esi_steps_tally *tally,
                        uint32_t from,
                        uint32_t base,
                        struct esi_steps_column *column)
{
    uint32_t least = tally->count > 1 ? tally->least : 0;

    column->pattern = find_pattern(sorting, tally, from);
    column->first = (uint32_t)sorting->steps[from] - base;
    column->rise = least;
    column->width = esi_bits_of(tally->most - least);
}

/* The largest numbers to be written. */
struct measures {
    int64_t least, greatest; /* first values of columns, minus their bases */
    uint32_t rise, width;    /* of columns */
    uint32_t listed;         /* heads of patterns */
    uint64_t bits;           /* of all steps */
    uint64_t excess[33];     /* by bits of the rise: bits that steps take in addition if
                                the rise is stored as less */
};

enum { MANY_STEPS = 5 }; /* in a column */

/* Stores the rises of some columns as less than they are, and more in their steps, if
 * the rises of all columns then take so many bits less that it saves at least a bit per
 * column. */
static void lower_rises(struct esi_sorting *sorting, struct measures *most)
{
    unsigned present = esi_bits_of(most->rise), best = present;
    uint64_t excess = 0, saved = 0, most_saved = sorting->trace_count;

    for (unsigned bits = present; bits > 0; bits--) {
        excess += most->excess[bits];
        saved += sorting->trace_count;
        if (saved > excess && saved - excess > most_saved) {
            most_saved = saved - excess;
            best = bits - 1;
        }
    }
    if (best == present)
        return;
    most->rise = (uint32_t)esi_low_bits(best);
    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        const struct esi_steps_tally *tally = &sorting->tallies[sorting->traces[i]];
        struct esi_steps_column *column = &sorting->columns[i];

        if (column->rise <= most->rise)
            continue;
        most->bits -= (uint64_t)column->width * (tally->count - 1);
        column->rise = most->rise;
        column->width = esi_bits_of(tally->most - column->rise);
        most->bits += (uint64_t)column->width * (tally->count - 1);
        raise_to(&most->width, column->width);
    }
}

static struct measures measure_steps(struct esi_sorting *sorting,
                                     const struct esi_steps_part *part)
{
    struct measures most = {.least = INT64_MAX, .greatest = INT64_MIN};
    const struct esi_snapshot_entry *reference = sorting->reference;
    /* Otherwise it saves too little for the time that it takes. */
    bool has_many = entries_of(part) / MANY_STEPS >= sorting->trace_count;
    uint32_t from = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];
        const struct esi_steps_tally *tally = &sorting->tallies[trace];
        struct esi_steps_column *column = &sorting->columns[i];
        uint32_t base = reference ? reference[trace].count : base_of(part, trace);
        int64_t first = (int64_t)(uint32_t)sorting->steps[from] - base;

        make_column(sorting, tally, from, base, column);
        most.least = first < most.least ? first : most.least;
        most.greatest = first > most.greatest ? first : most.greatest;
        raise_to(&most.rise, column->rise);
        raise_to(&most.width, column->width);
        most.bits += (uint64_t)column->width * (tally->count - 1);
        if (has_many)
            most.excess[esi_bits_of(column->rise)] +=
                (esi_bits_of(tally->most) - column->width) * (tally->count - 1u);
        from += tally->count;
    }
    for (uint32_t i = 1; i < sorting->pattern_count; i++)
        most.listed += sorting->patterns[i].count;
    if (has_many)
        lower_rises(sorting, &most);
    return most;
}

/* Returns the distance of the heads of a pattern if it is constant and larger than the
 * number of heads after the last one; else 0. */
static uint32_t stride_of(const struct esi_sorting *sorting,
                          const struct esi_steps_pattern *pattern,
                          uint32_t heads)
{
    const uint64_t *steps = &sorting->steps[pattern->start];
    uint32_t stride;

    if (pattern->count < 2)
        return 0;
    stride = (uint32_t)((steps[1] >> 32) - (steps[0] >> 32));
    for (uint32_t i = 2; i < pattern->count; i++)
        if ((steps[i] >> 32) - (steps[i - 1] >> 32) != stride)
            return 0;
    return heads - (steps[pattern->count - 1] >> 32) < stride ? stride : 0;
}

/* Returns the stride if it is the same for all patterns; else 0. */
static uint32_t common_stride(const struct esi_sorting *sorting, uint32_t heads)
{
    uint32_t stride = stride_of(sorting, &sorting->patterns[1], heads);

    for (uint32_t i = 2; stride && i < sorting->pattern_count; i++)
        if (stride_of(sorting, &sorting->patterns[i], heads) != stride)
            return 0;
    return stride;
}

/* --- Packing ---------------------------------------------------------------------- */

static struct esi_steps_header make_header(struct esi_sorting *sorting,
                                           const struct esi_steps_part *part,
                                           uint64_t *ret_bits)
{
    struct measures most = measure_steps(sorting, part);
    uint32_t lowest = sorting->traces[0];
    uint32_t highest = sorting->traces[sorting->trace_count - 1];
    uint64_t head = esi_log_head(part->log, part->heads - 1);
    uint64_t range = (uint64_t)(most.greatest - most.least);
    struct esi_steps_header header = {
        .own_bytes = esi_width_of((uint32_t)(head >> 32) - part->place.first),
        .pattern_bits = esi_bits_of(sorting->pattern_count - 1),
        .first_bits = esi_bits_of(range < UINT32_MAX ? (uint32_t)range : UINT32_MAX),
        .rise_bits = esi_bits_of(most.rise),
        .width_bits = esi_bits_of(most.width),
        .group_bytes = most.bits ? esi_width_of((uint32_t)most.bits) : 0,
        .heads = part->heads,
        .patterns = sorting->pattern_count,
        .traces = sorting->trace_count,
        .lowest = lowest,
        .least = (uint32_t)most.least,
        .stride = most.bits ? 0 : common_stride(sorting, part->heads),
        .reference = sorting->reference,
    };

    if (!sorting->has_bits) {
        header.start_bits = esi_bits_of(most.listed);
        header.head_bits = esi_bits_of(part->heads);
        header.listed = most.listed;
    }
    header.lasting = header.stride ? sorting->trace_count : 0;
    if ((highest - lowest) / 2 < sorting->trace_count)
        header.traces = highest - lowest + 1;
    else
        header.trace_bytes = esi_width_of(highest);
    *ret_bits = most.bits;
    return header;
}

static void write_lists(const struct esi_sorting *sorting,
                        const struct esi_steps_layout *layout,
                        unsigned char *block)
{
    struct esi_bits bits = {.next = block + layout->listed};

    for (uint32_t i = 0; i < layout->header.patterns; i++) {
        const uint64_t *steps = &sorting->steps[sorting->patterns[i].start];

        for (uint32_t j = 0; j < sorting->patterns[i].count; j++)
            esi_bits_add(&bits, layout->header.head_bits, steps[j] >> 32);
    }
}

static void write_patterns(const struct esi_sorting *sorting,
                           const struct esi_steps_layout *layout,
                           unsigned char *block)
{
    unsigned width = esi_steps_pattern_bits(&layout->header);
    struct esi_bits bits = {.next = block + layout->patterns};
    bool has_lists = layout->header.start_bits > 0;
    uint32_t start = 0;

    for (uint32_t i = 0; i < layout->header.patterns; i++) {
        const struct esi_steps_pattern *pattern = &sorting->patterns[i];

        esi_bits_add(&bits, width, has_lists ? start : pattern->heads);
        start += pattern->count;
    }
    if (!has_lists)
        return;
    esi_bits_add(&bits, width, start);
    write_lists(sorting, layout, block);
}

static uint64_t column_of(const struct esi_steps_header *header,
                          const struct esi_steps_column *column)
{
    uint64_t bits = column->width;

    bits = bits << header->rise_bits | column->rise;
    bits = bits << header->first_bits | (column->first - header->least);
    return bits << header->pattern_bits | column->pattern;
}

static void write_columns(const struct esi_sorting *sorting,
                          const struct esi_steps_layout *layout,
                          unsigned char *block)
{
    const struct esi_steps_header *header = &layout->header;
    struct esi_bits bits = {.next = block + layout->columns};
    uint32_t next = 0, step_bits = 0;

    for (uint32_t i = 0; i < header->traces; i++) {
        uint32_t trace = header->trace_bytes ? sorting->traces[i] : header->lowest + i;
        const struct esi_steps_column *column = &sorting->columns[next];

        if (header->group_bytes && i % ESI_STEPS_GROUP == 0)
            esi_number_put(block + layout->groups, header->group_bytes,
                           i / ESI_STEPS_GROUP, step_bits);
        if (trace != sorting->traces[next]) {
            esi_bits_add(&bits, layout->column_bits, 0);
            continue;
        }
        if (header->trace_bytes)
            esi_number_put(block + layout->traces, header->trace_bytes, i, trace);
        esi_bits_add(&bits, layout->column_bits, column_of(header, column));
        step_bits += (sorting->tallies[trace].count - 1) * column->width;
        next++;
    }
}

/* Writes the steps of a column from `at` on, as many at once as possible. */
static void write_column_steps(const struct esi_sorting *sorting,
                               const struct esi_steps_column *column,
                               uint32_t at,
                               uint32_t end,
                               struct esi_bits *bits)
{
    uint64_t number = 0;
    unsigned filled = 0;

    for (; at < end; at++) {
        if (filled + column->width > ESI_STEPS_MOST_BITS) {
            esi_bits_add(bits, filled, number);
            number = filled = 0;
        }
        number |= (uint64_t)((uint32_t)gap_at(sorting, at) - column->rise) << filled;
        filled += column->width;
    }
    esi_bits_add(bits, filled, number);
}

/* Writes the steps after the columns, whose last bits are padded with zeros. */
static void write_steps(const struct esi_sorting *sorting,
                        const struct esi_steps_layout *layout,
                        unsigned char *block)
{
    struct esi_bits bits = {.next = block + layout->steps};
    uint32_t from = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        const struct esi_steps_column *column = &sorting->columns[i];
        uint32_t end = sorting->places[sorting->traces[i]];

        if (column->width > 0)
            write_column_steps(sorting, column, from + 1, end, &bits);
        from = end;
    }
}

static void write_owns(const struct esi_steps_part *part,
                       const struct esi_steps_layout *layout,
                       unsigned char *block)
{
    for (uint32_t i = 0; i < part->heads; i++)
        esi_number_put(block + layout->owns, layout->header.own_bytes, i,
                       (uint32_t)(esi_log_head(part->log, i) >> 32) -
                           part->place.first);
}

static void write_block(const struct esi_sorting *sorting,
                        const struct esi_steps_part *part,
                        const struct esi_steps_layout *layout,
                        unsigned char *block)
{
    memcpy(block, &layout->header, sizeof layout->header);
    write_owns(part, layout, block);
    write_patterns(sorting, layout, block);
    write_columns(sorting, layout, block);
    write_steps(sorting, layout, block);
}

/* --- Rows ------------------------------------------------------------------------- */

/* Returns the greatest value without its base. */
static uint32_t greatest_value(const struct esi_sorting *sorting,
                               const struct esi_steps_part *part)
{
    uint32_t greatest = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];

        raise_to(&greatest, sorting->tallies[trace].last - base_of(part, trace));
    }
    return greatest;
}

static struct esi_steps_layout lay_out_rows(const struct esi_sorting *sorting,
                                            const struct esi_steps_part *part,
                                            uint8_t own_bytes)
{
    uint32_t lowest = sorting->traces[0];
    struct esi_steps_layout layout = {
        .header = {.own_bytes = own_bytes,
                   .row_bytes = esi_width_of(greatest_value(sorting, part)),
                   .heads = part->heads,
                   .traces = sorting->traces[sorting->trace_count - 1] - lowest + 1,
                   .lowest = lowest}};

    esi_steps_lay_out(&layout);
    return layout;
}

static size_t bytes_of_rows(const struct esi_steps_layout *layout)
{
    return layout->columns + (size_t)layout->header.heads * layout->header.traces *
                                 layout->header.row_bytes;
}

/* Returns whether rows are smaller than columns that take `bytes` bytes. */
static bool prefers_rows(const struct esi_sorting *sorting,
                         const struct esi_steps_part *part,
                         uint8_t own_bytes,
                         size_t bytes,
                         struct esi_steps_layout *ret_layout)
{
    /* Usually they are not, even with one byte per number. */
    if ((uint64_t)part->heads * sorting->trace_count >= bytes)
        return false;
    *ret_layout = lay_out_rows(sorting, part, own_bytes);
    return bytes_of_rows(ret_layout) < bytes;
}

/* Writes the values of a trace into its column of the rows. */
static void write_column_of_rows(const struct esi_sorting *sorting,
                                 const struct esi_steps_part *part,
                                 const struct esi_steps_layout *layout,
                                 unsigned char *rows,
                                 uint64_t from,
                                 uint32_t trace)
{
    const struct esi_steps_header *header = &layout->header;
    uint64_t end = sorting->places[trace];
    uint32_t base = base_of(part, trace), value = 0;

    for (uint32_t head = 1; head <= header->heads; head++) {
        for (; from < end && sorting->steps[from] >> 32 <= head; from++)
            value = (uint32_t)sorting->steps[from] - base;
        esi_number_put(rows + (size_t)(head - 1) * header->traces * header->row_bytes,
                       header->row_bytes, trace - header->lowest, value);
    }
}

static int pack_rows(const struct esi_sorting *sorting,
                     const struct esi_steps_part *part,
                     const struct esi_steps_layout *layout,
                     struct esi_epoch_arena *arena,
                     const unsigned char **ret_block)
{
    size_t bytes = bytes_of_rows(layout);
    unsigned char *block = esi_arena_take(arena, bytes);
    uint64_t from = 0;

    if (!block)
        return -ENOMEM;
    memset(block, 0, bytes);
    memcpy(block, &layout->header, sizeof layout->header);
    write_owns(part, layout, block);
    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];

        write_column_of_rows(sorting, part, layout, block + layout->columns, from,
                             trace);
        from = sorting->places[trace];
    }
    *ret_block = block;
    return 0;
}

/* --- The smaller layout ----------------------------------------------------------- */

static void forget_steps(struct esi_sorting *sorting)
{
    for (uint32_t i = 0; i < sorting->trace_count; i++)
        sorting->tallies[sorting->traces[i]] = (struct esi_steps_tally){.count = 0};
}

static int pack_steps(struct esi_sorting *sorting,
                      const struct esi_steps_part *part,
                      struct esi_epoch_arena *arena,
                      const unsigned char **ret_block)
{
    struct esi_steps_layout layout, rows;
    unsigned char *block;
    uint64_t bits;
    size_t bytes;

    if (esi_sorting_reserve_patterns(sorting) < 0)
        return -ENOMEM;
    layout.header = make_header(sorting, part, &bits);
    esi_steps_lay_out(&layout);
    bytes = layout.steps + esi_bits_bytes(bits) + ESI_BITS_SLACK;
    if (layout.column_bits > ESI_STEPS_MOST_BITS ||
        layout.header.start_bits * 2u > ESI_STEPS_MOST_BITS || bits > UINT32_MAX)
        bytes = SIZE_MAX;
    if (prefers_rows(sorting, part, layout.header.own_bytes, bytes, &rows))
        return pack_rows(sorting, part, &rows, arena, ret_block);
    block = esi_arena_take(arena, bytes);
    if (!block)
        return -ENOMEM;
    memset(block, 0, bytes);
    write_block(sorting, part, &layout, block);
    *ret_block = block;
    return 0;
}

/* --- Continuation of a block ------------------------------------------------------ */

/* A root, and the number of heads before the part that continues it. */
struct root {
    const unsigned char *block;
    struct esi_steps_layout layout;
    uint32_t heads;
};

/* Finds the root of the previous part, if it can be continued. */
static bool root_of(const struct esi_steps_part *part, struct root *ret_root)
{
    struct esi_steps_header before;
    const unsigned char *block;

    if (!part->before || !part->is_before_near)
        return false;
    before = esi_steps_layout_of(part->before).header;
    block = esi_steps_root(part->before);
    *ret_root = (struct root){.block = block, .layout = esi_steps_layout_of(block)};
    ret_root->heads =
        before.heads + (before.is_more ? esi_steps_more_of(part->before).heads : 0);
    return ret_root->layout.header.lasting > 0 &&
           ret_root->layout.header.stride <= part->heads;
}

/* For each trace of the root, notes the next due step, in the representation of steps,
 * and its increment; 0 for other traces. */
static void note_due(const struct root *root,
                     const struct esi_steps_part *part,
                     struct esi_sorting *sorting)
{
    const struct esi_steps_header *header = &root->layout.header;

    memset(sorting->earlier, 0, part->traces * sizeof *sorting->earlier);
    for (uint32_t at = 0; at < header->traces; at++) {
        struct esi_steps_column column =
            esi_steps_column(root->block, &root->layout, at);
        struct esi_steps_pattern pattern =
            esi_steps_pattern(root->block, &root->layout, column.pattern);
        uint32_t trace = esi_steps_trace(root->block, &root->layout, at), first, step;

        if (column.pattern == 0)
            continue;
        first = esi_steps_first_head(root->block, &root->layout, &pattern);
        step = (root->heads - first) / header->stride + 1;
        sorting->earlier[trace] =
            (uint64_t)(first + step * header->stride) << 32 |
            (column.first + header->least +
             esi_steps_base(header, &part->place, trace) + step * column.rise);
        sorting->traces[trace] = column.rise;
    }
}

/* In each stride of heads, each column has exactly one step.  So if all entries are due
 * and their number is right, none is missing. */
static bool is_more_of(const struct root *root,
                       const struct esi_steps_part *part,
                       struct esi_sorting *sorting)
{
    uint64_t stride = root->layout.header.stride;
    uint32_t entry_at = 0;

    if (entries_of(part) != part->heads / stride * root->layout.header.lasting)
        return false;
    note_due(root, part, sorting);
    for (uint32_t head = 0; head < part->heads; head++) {
        uint32_t end = (uint32_t)esi_log_head(part->log, head);

        for (; entry_at < end; entry_at++) {
            uint64_t entry = esi_log_entry(part->log, entry_at), trace = entry >> 32;
            uint64_t step = (uint64_t)(root->heads + head + 1) << 32 | (uint32_t)entry;

            if (sorting->earlier[trace] != step)
                return false;
            sorting->earlier[trace] += stride << 32 | sorting->traces[trace];
        }
    }
    return true;
}

static int pack_more(const struct root *root,
                     const struct esi_steps_part *part,
                     struct esi_epoch_arena *arena,
                     const unsigned char **ret_block)
{
    uint64_t last = esi_log_head(part->log, part->heads - 1) >> 32;
    struct esi_steps_more more = {.root = root->block, .heads = root->heads};
    struct esi_steps_layout layout = {
        .header = {.is_more = true,
                   .own_bytes = esi_width_of((uint32_t)last - part->place.first),
                   .heads = part->heads}};
    unsigned char *block;

    esi_steps_lay_out(&layout);
    block = esi_arena_take(arena, layout.traces);
    if (!block)
        return -ENOMEM;
    memcpy(block, &layout.header, sizeof layout.header);
    memcpy(block + sizeof layout.header, &more, sizeof more);
    write_owns(part, &layout, block);
    *ret_block = block;
    return 0;
}

/* --- Entry point ------------------------------------------------------------------ */

static int pack_anew(const struct esi_steps_part *part,
                     struct esi_sorting *sorting,
                     struct esi_epoch_arena *arena,
                     const unsigned char **ret_block)
{
    int code;

    if (esi_sorting_reserve_steps(sorting, (size_t)entries_of(part) + part->traces) < 0)
        return -ENOMEM;
    tally_steps(sorting, part);
    place_traces(sorting, part->traces);
    put_steps(sorting, part);
    code = pack_steps(sorting, part, arena, ret_block);
    forget_steps(sorting);
    return code;
}

/* Returns whether the next head, if there is one, belongs to another event. */
static bool is_whole(const struct esi_log *log, uint32_t heads)
{
    return heads == atomic_load_explicit(&log->head_count, memory_order_relaxed) ||
           esi_log_head(log, heads) >> 32 != esi_log_head(log, heads - 1) >> 32;
}

int esi_steps_pack(struct esi_steps_part *part,
                   struct esi_sorting *sorting,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block)
{
    struct esi_steps_part less = *part;
    struct root root = {0};

    if (esi_sorting_reserve_traces(sorting, part->traces) < 0)
        return -ENOMEM;
    if (root_of(part, &root)) {
        less.heads -= part->heads % root.layout.header.stride;
        if (is_whole(part->log, less.heads) && is_more_of(&root, &less, sorting)) {
            *part = less;
            return pack_more(&root, part, arena, ret_block);
        }
    }
    return pack_anew(part, sorting, arena, ret_block);
}
