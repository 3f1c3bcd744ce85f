/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_pack.c - sorts parts of logs by traces: see epoch_block.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/order/epoch/epoch_layout.h"

/* --- Memory ----------------------------------------------------------------------- */

void esi_sorting_fini(struct esi_sorting *sorting)
{
    free(sorting->places);
    free(sorting->traces);
    free(sorting->steps);
    free(sorting->earlier);
    free(sorting->evens);
    *sorting = (struct esi_sorting){0};
}

uint64_t esi_sorting_bytes(const struct esi_sorting *sorting)
{
    return sorting->trace_room * (sizeof *sorting->places + sizeof *sorting->traces) +
           sorting->earlier_room * (sizeof *sorting->earlier + sizeof *sorting->evens) +
           sorting->step_room * sizeof *sorting->steps;
}

/* --- Sorting ---------------------------------------------------------------------- */

/* Room for so many traces; places of those without steps are 0. */
static int reserve_traces(struct esi_sorting *sorting, uint32_t traces)
{
    size_t before = sorting->trace_room;

    if (ESI_ARRAY_RESERVE_PAIR(sorting->earlier, sorting->evens, sorting->earlier_room,
                               traces) < 0 ||
        ESI_ARRAY_RESERVE_PAIR(sorting->places, sorting->traces, sorting->trace_room,
                               traces) < 0)
        return -ENOMEM;
    memset(&sorting->places[before], 0,
           (sorting->trace_room - before) * sizeof *sorting->places);
    return 0;
}

/* Exactly so many: with few traces they are most of what the store takes. */
static int reserve_steps(struct esi_sorting *sorting, size_t steps)
{
    if (steps <= sorting->step_room)
        return 0;
    free(sorting->steps);
    sorting->steps = malloc(steps * sizeof *sorting->steps);
    sorting->step_room = sorting->steps ? steps : 0;
    return sorting->steps ? 0 : -ENOMEM;
}

static void count_step(struct esi_sorting *sorting, uint32_t trace)
{
    if (sorting->places[trace]++ == 0)
        sorting->traces[sorting->trace_count++] = trace;
}

static int compare_steps(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Traces in order, and where the steps of each begin. */
static void place_traces(struct esi_sorting *sorting, uint32_t traces)
{
    uint32_t place = 0;

    if (sorting->trace_count >= traces / 16) {
        sorting->trace_count = 0;
        for (uint32_t trace = 0; trace < traces; trace++)
            if (sorting->places[trace])
                sorting->traces[sorting->trace_count++] = trace;
    } else {
        qsort(sorting->traces, sorting->trace_count, sizeof *sorting->traces,
              compare_steps);
    }
    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t *at = &sorting->places[sorting->traces[i]], steps = *at;

        *at = place;
        place += steps;
    }
}

/* A step goes to its place; afterwards the places are behind the traces' last steps. */
static void put_step(struct esi_sorting *sorting,
                     uint32_t trace,
                     uint32_t head,
                     uint32_t value)
{
    sorting->steps[sorting->places[trace]++] = (uint64_t)head << 32 | value;
}

/* What only the part before knows. */
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

        if (sorting->places[trace] != 0)
            continue;
        esi_steps_entry(part->before, &part->before_place, head, i, &trace, &value);
        if (value == 0)
            continue;
        count_step(sorting, trace);
        sorting->earlier[sorting->earlier_count++] = (uint64_t)trace << 32 | value;
    }
}

static uint32_t entries_of(const struct esi_steps_part *part)
{
    return part->heads ? (uint32_t)esi_log_head(part->log, part->heads - 1) : 0;
}

static void count_steps(struct esi_sorting *sorting, const struct esi_steps_part *part)
{
    uint32_t entries = entries_of(part);

    sorting->trace_count = 0;
    for (uint32_t i = 0; i < entries; i++)
        count_step(sorting, (uint32_t)(esi_log_entry(part->log, i) >> 32));
    count_earlier(sorting, part);
}

static void put_steps(struct esi_sorting *sorting, const struct esi_steps_part *part)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < sorting->earlier_count; i++)
        put_step(sorting, (uint32_t)(sorting->earlier[i] >> 32), 0,
                 (uint32_t)sorting->earlier[i]);
    for (uint32_t head = 0; head < part->heads; head++) {
        uint32_t end = (uint32_t)esi_log_head(part->log, head);

        for (; at < end; at++) {
            uint64_t entry = esi_log_entry(part->log, at);

            put_step(sorting, (uint32_t)(entry >> 32), head + 1, (uint32_t)entry);
        }
    }
}

/* --- Measuring -------------------------------------------------------------------- */

static uint32_t base_of(const struct esi_steps_part *part, uint32_t trace)
{
    return esi_cut_base(part->place.cuts, part->place.cut, trace);
}

/* Steps are numbers like entries: their difference is that of heads << 32 and that of
 * values, which rise, too. */
static uint64_t gap_at(const struct esi_sorting *sorting, uint64_t at)
{
    return sorting->steps[at] - sorting->steps[at - 1];
}

/* The heads between the last steps of most columns, if most have as many (R. S. Boyer
 * and J S. Moore, MJRTY: a fast majority vote algorithm, 1991). */
static uint32_t common_stride(const struct esi_sorting *sorting)
{
    uint32_t stride = 0, votes = 0;
    uint64_t from = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint64_t end = sorting->places[sorting->traces[i]];

        if (end - from > 1) {
            uint32_t last = (uint32_t)(gap_at(sorting, end - 1) >> 32);

            stride = votes ? stride : last;
            if (last == stride)
                votes++;
            else
                votes--;
        }
        from = end;
    }
    return stride;
}

/* Largest numbers that are to be written. */
struct measures {
    uint32_t at, count, least, greatest, rise; /* of columns */
    uint64_t gaps;                             /* all bits of those between steps */
    uint64_t steps;                            /* of uneven columns, behind the first */
    bool is_lasting;                           /* all are even to the end */
    uint32_t stride;
};

/* Steps from `from` on: by how much one rises; 0 = it is the only one. */
static uint32_t rise_of(const struct esi_sorting *sorting, uint64_t from, uint64_t end)
{
    return end - from > 1 ? (uint32_t)gap_at(sorting, from + 1) : 0;
}

static bool is_even(const struct esi_sorting *sorting,
                    uint64_t from,
                    uint64_t end,
                    uint32_t stride)
{
    uint64_t gap = (uint64_t)stride << 32 | rise_of(sorting, from, end), differs = 0;

    for (uint64_t at = from + 1; at < end; at++)
        differs |= gap_at(sorting, at) ^ gap;
    return differs == 0;
}

static void raise_to(uint32_t *most, uint64_t number)
{
    *most = number > *most ? (uint32_t)number : *most;
}

static void measure_uneven(const struct esi_sorting *sorting,
                           uint64_t from,
                           uint64_t end,
                           struct measures *most)
{
    most->steps += end - from - 1;
    for (uint64_t at = from + 1; at < end; at++)
        most->gaps |= gap_at(sorting, at);
}

static struct measures measure_steps(struct esi_sorting *sorting,
                                     const struct esi_steps_part *part)
{
    struct measures most = {
        .least = UINT32_MAX, .is_lasting = true, .stride = common_stride(sorting)};
    uint64_t from = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];
        uint64_t end = sorting->places[trace];
        uint32_t first = (uint32_t)sorting->steps[from] - base_of(part, trace);

        most.least = first < most.least ? first : most.least;
        raise_to(&most.greatest, first);
        raise_to(&most.count, end - from);
        raise_to(&most.at, sorting->steps[from] >> 32);
        sorting->evens[i] = is_even(sorting, from, end, most.stride);
        if (sorting->evens[i])
            raise_to(&most.rise, rise_of(sorting, from, end));
        else
            measure_uneven(sorting, from, end, &most);
        most.is_lasting = most.is_lasting && sorting->evens[i] &&
                          part->heads - (sorting->steps[end - 1] >> 32) < most.stride;
        from = end;
    }
    return most;
}

/* --- Packing ---------------------------------------------------------------------- */

static struct esi_steps_header make_header(struct esi_sorting *sorting,
                                           const struct esi_steps_part *part,
                                           uint64_t *ret_steps)
{
    struct measures most = measure_steps(sorting, part);
    uint32_t lowest = sorting->traces[0];
    uint32_t highest = sorting->traces[sorting->trace_count - 1];
    uint64_t head = esi_log_head(part->log, part->heads - 1);
    struct esi_steps_header header = {
        .own_bytes = esi_width_of((uint32_t)(head >> 32) - part->place.first),
        .at_bits = esi_bits_of(most.at),
        .count_bits = esi_bits_of(most.count),
        .first_bits = esi_bits_of(most.greatest - most.least),
        .rise_bits = esi_bits_of(most.rise),
        .head_bits = esi_bits_of((uint32_t)(most.gaps >> 32)),
        .value_bits = esi_bits_of((uint32_t)most.gaps),
        .group_bytes = most.steps ? esi_width_of((uint32_t)most.steps) : 0,
        .heads = part->heads,
        .traces = sorting->trace_count,
        .lowest = lowest,
        .least = most.least,
        .stride = most.stride,
        .lasting = most.is_lasting ? sorting->trace_count : 0,
    };

    if ((highest - lowest) / 2 < sorting->trace_count)
        header.traces = highest - lowest + 1;
    else
        header.trace_bytes = esi_width_of(highest);
    *ret_steps = most.steps;
    return header;
}

static uint64_t column_of(const struct esi_steps_header *header,
                          const struct esi_steps_column *column)
{
    uint64_t bits = column->rise;

    bits = bits << header->first_bits | column->first;
    bits = bits << header->count_bits | column->count;
    bits = bits << header->at_bits | column->at;
    return bits << 1 | column->is_even;
}

static void write_columns(const struct esi_sorting *sorting,
                          const struct esi_steps_part *part,
                          const struct esi_steps_layout *layout,
                          unsigned char *block)
{
    const struct esi_steps_header *header = &layout->header;
    struct esi_bits bits = {.next = block + layout->columns};
    uint64_t from = 0;
    uint32_t next = 0, steps = 0;

    for (uint32_t i = 0; i < header->traces; i++) {
        uint32_t trace = header->trace_bytes ? sorting->traces[i] : header->lowest + i;
        uint64_t end = sorting->places[trace];
        struct esi_steps_column column = {.is_even = true};

        if (header->group_bytes && i % ESI_STEPS_GROUP == 0)
            esi_number_put(block + layout->groups, header->group_bytes,
                           i / ESI_STEPS_GROUP, steps);
        if (trace != sorting->traces[next]) {
            esi_bits_add(&bits, layout->column_bits, column_of(header, &column));
            continue;
        }
        if (header->trace_bytes)
            esi_number_put(block + layout->traces, header->trace_bytes, i, trace);
        column.is_even = sorting->evens[next];
        column.at = (uint32_t)(sorting->steps[from] >> 32);
        column.count = (uint32_t)(end - from);
        column.first =
            (uint32_t)sorting->steps[from] - base_of(part, trace) - header->least;
        column.rise = column.is_even ? rise_of(sorting, from, end) : 0;
        esi_bits_add(&bits, layout->column_bits, column_of(header, &column));
        steps += column.is_even ? 0 : column.count - 1;
        from = end;
        next++;
    }
}

/* Steps of uneven columns; after the columns, whose last bits are followed by zeros. */
static void write_steps(const struct esi_sorting *sorting,
                        const struct esi_steps_layout *layout,
                        unsigned char *block)
{
    struct esi_bits bits = {.next = block + layout->steps};
    unsigned head_bits = layout->header.head_bits;
    uint64_t from = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint64_t end = sorting->places[sorting->traces[i]];

        for (uint64_t at = from + 1; !sorting->evens[i] && at < end; at++) {
            uint64_t gap = gap_at(sorting, at);

            esi_bits_add(&bits, layout->step_bits,
                         gap >> 32 | (gap & UINT32_MAX) << head_bits);
        }
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
    write_columns(sorting, part, layout, block);
    write_steps(sorting, layout, block);
}

/* --- Rows ------------------------------------------------------------------------- */

/* The greatest value without its base. */
static uint32_t greatest_value(const struct esi_sorting *sorting,
                               const struct esi_steps_part *part)
{
    uint32_t greatest = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];

        raise_to(&greatest, (uint32_t)sorting->steps[sorting->places[trace] - 1] -
                                base_of(part, trace));
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

/* Are rows smaller than columns that take so many bytes? */
static bool prefers_rows(const struct esi_sorting *sorting,
                         const struct esi_steps_part *part,
                         uint8_t own_bytes,
                         size_t bytes,
                         struct esi_steps_layout *ret_layout)
{
    /* Mostly they are not even where each number takes one byte. */
    if ((uint64_t)part->heads * sorting->trace_count >= bytes)
        return false;
    *ret_layout = lay_out_rows(sorting, part, own_bytes);
    return bytes_of_rows(ret_layout) < bytes;
}

/* The values of a trace go down its column of the rows. */
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

/* --- The smaller one -------------------------------------------------------------- */

static void forget_steps(struct esi_sorting *sorting)
{
    for (uint32_t i = 0; i < sorting->trace_count; i++)
        sorting->places[sorting->traces[i]] = 0;
}

static int pack_steps(struct esi_sorting *sorting,
                      const struct esi_steps_part *part,
                      struct esi_epoch_arena *arena,
                      const unsigned char **ret_block)
{
    struct esi_steps_layout layout, rows;
    unsigned char *block;
    uint64_t steps;
    size_t bytes;

    layout.header = make_header(sorting, part, &steps);
    esi_steps_lay_out(&layout);
    bytes = layout.steps + (steps * layout.step_bits + 7) / 8 + ESI_BITS_SLACK;
    if (layout.column_bits > ESI_STEPS_MOST_BITS ||
        layout.step_bits > ESI_STEPS_MOST_BITS)
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

/* --- More of the same ------------------------------------------------------------- */

/* A root, and what a part that is more of it has before. */
struct root {
    const unsigned char *block;
    struct esi_steps_layout layout;
    uint32_t heads;
};

/* The part before, if another may be more of it. */
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

/* For each place of the root the step that is due next, as steps are sorted, and by how
 * much the one behind it rises. */
static void note_due(const struct root *root,
                     const struct esi_steps_part *part,
                     struct esi_sorting *sorting)
{
    const struct esi_steps_header *header = &root->layout.header;

    for (uint32_t at = 0; at < header->traces; at++) {
        struct esi_steps_column column =
            esi_steps_column(root->block, &root->layout, at);
        uint32_t trace = esi_steps_trace(root->block, &root->layout, at);
        uint32_t step = (root->heads - column.at) / header->stride + 1;

        sorting->earlier[at] = 0;
        if (column.count == 0)
            continue;
        sorting->earlier[at] =
            (uint64_t)(column.at + step * header->stride) << 32 |
            (column.first + header->least + base_of(part, trace) + step * column.rise);
        sorting->traces[at] = column.rise;
    }
}

/* In each stride of heads each column has a step, at another head than others of its
 * own: if all entries are due and as many as there are to be, none is missing. */
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
        uint32_t end = (uint32_t)esi_log_head(part->log, head), at;

        for (; entry_at < end; entry_at++) {
            uint64_t entry = esi_log_entry(part->log, entry_at);
            uint64_t step = (uint64_t)(root->heads + head + 1) << 32 | (uint32_t)entry;

            if (!esi_steps_place(root->block, &root->layout, (uint32_t)(entry >> 32),
                                 &at) ||
                sorting->earlier[at] != step)
                return false;
            sorting->earlier[at] += stride << 32 | sorting->traces[at];
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

/* --- All of it -------------------------------------------------------------------- */

static int pack_anew(const struct esi_steps_part *part,
                     struct esi_sorting *sorting,
                     struct esi_epoch_arena *arena,
                     const unsigned char **ret_block)
{
    int code;

    if (reserve_steps(sorting, (size_t)entries_of(part) + part->traces) < 0)
        return -ENOMEM;
    count_steps(sorting, part);
    place_traces(sorting, part->traces);
    put_steps(sorting, part);
    code = pack_steps(sorting, part, arena, ret_block);
    forget_steps(sorting);
    return code;
}

/* The next head is of another event. */
static bool is_whole(const struct esi_log *log, uint32_t heads)
{
    return esi_log_head(log, heads) >> 32 != esi_log_head(log, heads - 1) >> 32;
}

int esi_steps_pack(struct esi_steps_part *part,
                   struct esi_sorting *sorting,
                   struct esi_epoch_arena *arena,
                   const unsigned char **ret_block)
{
    struct esi_steps_part less = *part;
    struct root root;

    if (reserve_traces(sorting, part->traces) < 0)
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
