/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_steps.c - parts of logs sorted by traces: see epoch_steps.h.
 *
 * Header; own indices of the heads; for each trace where its steps begin and its first
 * value; unless they follow each other nearly without a gap, the traces; the bits of
 * the steps.
 */
#include "config.h"

#include "monitors/order/epoch_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/order/epoch_number.h"

struct header {
    uint8_t kind; /* 0; records begin with something else */
    uint8_t own_bytes, start_bytes, first_bytes;
    uint8_t trace_bytes; /* 0: traces are `lowest` + place */
    uint8_t head_bits, value_bits, unused;
    uint32_t heads;
    uint32_t traces; /* places */
    uint32_t lowest; /* trace */
    uint32_t least;  /* first value */
};

struct layout {
    struct header header;
    size_t owns, starts, firsts, traces, bits; /* where they begin */
};

void esi_sorting_fini(struct esi_sorting *sorting)
{
    free(sorting->places);
    free(sorting->traces);
    free(sorting->steps);
    free(sorting->earlier);
    *sorting = (struct esi_sorting){0};
}

uint64_t esi_sorting_bytes(const struct esi_sorting *sorting)
{
    return sorting->trace_room * (sizeof *sorting->places + sizeof *sorting->traces +
                                  sizeof *sorting->earlier) +
           sorting->step_room * sizeof *sorting->steps;
}

/* --- Layout ------------------------------------------------------------------------
 */

static void lay_out(struct layout *layout)
{
    const struct header *header = &layout->header;

    layout->owns = sizeof *header;
    layout->starts = layout->owns + (size_t)header->heads * header->own_bytes;
    layout->firsts =
        layout->starts + ((size_t)header->traces + 1) * header->start_bytes;
    layout->traces = layout->firsts + (size_t)header->traces * header->first_bytes;
    layout->bits = layout->traces + (size_t)header->traces * header->trace_bytes;
}

static struct layout layout_of(const unsigned char *block)
{
    struct layout layout;

    memcpy(&layout.header, block, sizeof layout.header);
    lay_out(&layout);
    return layout;
}

/* --- Reading ----------------------------------------------------------------------
 */

static uint32_t base_of(const struct esi_block_place *place, uint32_t trace)
{
    return esi_cut_base(place->cuts, place->cut, trace);
}

/* The trace of a place. */
static inline uint32_t trace_at(const unsigned char *block,
                                const struct layout *layout,
                                uint32_t at)
{
    const struct header *header = &layout->header;

    return header->trace_bytes
               ? esi_number_get(block + layout->traces, header->trace_bytes, at)
               : header->lowest + at;
}

/* The value of a place at a head; 0 = not known yet. */
static uint32_t value_at(const unsigned char *block,
                         const struct layout *layout,
                         const struct esi_block_place *place,
                         uint32_t at,
                         uint32_t trace,
                         uint32_t head)
{
    const struct header *header = &layout->header;
    uint32_t step = esi_number_get(block + layout->starts, header->start_bytes, at);
    uint32_t end = esi_number_get(block + layout->starts, header->start_bytes, at + 1);
    unsigned width = header->head_bits + header->value_bits;
    uint64_t heads = (UINT64_C(1) << header->head_bits) - 1;
    uint64_t values = (UINT64_C(1) << header->value_bits) - 1;
    uint32_t reached = 0, value = 0;
    bool is_known = false;

    for (; step < end; step++) {
        uint64_t bits = esi_bits_get(block + layout->bits, (uint64_t)step * width);

        reached += (uint32_t)(bits & heads);
        if (reached > head)
            break;
        value += (uint32_t)(bits >> header->head_bits & values);
        is_known = true;
    }
    if (!is_known)
        return 0;
    return value + header->least + base_of(place, trace) +
           esi_number_get(block + layout->firsts, header->first_bytes, at);
}

static uint32_t head_at(const unsigned char *block,
                        const struct layout *layout,
                        const struct esi_block_place *place,
                        uint32_t own)
{
    return own < place->first
               ? 0
               : esi_number_rank(block + layout->owns, layout->header.own_bytes,
                                 layout->header.heads, own - place->first);
}

/* --- Sorting -----------------------------------------------------------------------
 */

static int reserve_traces(struct esi_sorting *sorting, uint32_t traces)
{
    uint32_t *places = calloc(traces, sizeof *places);
    uint32_t *kept = malloc(traces * sizeof *kept);
    uint64_t *earlier = malloc(traces * sizeof *earlier);

    if (!places || !kept || !earlier) {
        free(places);
        free(kept);
        free(earlier);
        return -ENOMEM;
    }
    free(sorting->places);
    free(sorting->traces);
    free(sorting->earlier);
    sorting->places = places;
    sorting->traces = kept;
    sorting->earlier = earlier;
    sorting->trace_room = traces;
    return 0;
}

static int reserve_steps(struct esi_sorting *sorting, uint64_t steps)
{
    uint64_t *larger = malloc(steps * sizeof *larger);

    if (!larger)
        return -ENOMEM;
    free(sorting->steps);
    sorting->steps = larger;
    sorting->step_room = steps;
    return 0;
}

static void count_step(struct esi_sorting *sorting, uint32_t trace)
{
    if (sorting->places[trace]++ == 0)
        sorting->traces[sorting->trace_count++] = trace;
    sorting->step_count++;
}

static int compare(const void *a, const void *b)
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
        qsort(sorting->traces, sorting->trace_count, sizeof *sorting->traces, compare);
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
    struct layout layout;
    uint32_t head;

    sorting->earlier_count = 0;
    if (!part->before)
        return;
    layout = layout_of(part->before);
    head = head_at(part->before, &layout, &part->before_place, part->last);
    for (uint32_t i = 0; i < layout.header.traces; i++) {
        uint32_t trace = trace_at(part->before, &layout, i), value;

        if (sorting->places[trace] != 0)
            continue;
        value = value_at(part->before, &layout, &part->before_place, i, trace, head);
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
    sorting->step_count = 0;
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

/* --- Packing -----------------------------------------------------------------------
 */

/* Largest numbers that are to be written. */
struct measures {
    uint32_t head, value, least, greatest;
};

static struct measures measure(const struct esi_sorting *sorting,
                               const struct esi_block_place *place)
{
    struct measures most = {.least = UINT32_MAX};
    uint64_t at = 0;

    for (uint32_t i = 0; i < sorting->trace_count; i++) {
        uint32_t trace = sorting->traces[i];
        uint64_t before = (uint32_t)sorting->steps[at]; /* at head 0 */
        uint32_t first = (uint32_t)before - base_of(place, trace);

        most.least = first < most.least ? first : most.least;
        most.greatest = first > most.greatest ? first : most.greatest;
        for (; at < sorting->places[trace]; at++) {
            uint64_t gap = sorting->steps[at] - before;

            most.head = gap >> 32 > most.head ? (uint32_t)(gap >> 32) : most.head;
            most.value = (uint32_t)gap > most.value ? (uint32_t)gap : most.value;
            before = sorting->steps[at];
        }
    }
    return most;
}

static struct header make_header(const struct esi_sorting *sorting,
                                 const struct esi_steps_part *part)
{
    struct measures most = measure(sorting, &part->place);
    uint32_t lowest = sorting->traces[0];
    uint32_t highest = sorting->traces[sorting->trace_count - 1];
    uint64_t head = esi_log_head(part->log, part->heads - 1);
    struct header header = {
        .own_bytes = esi_width_of((uint32_t)(head >> 32) - part->place.first),
        .start_bytes = esi_width_of((uint32_t)sorting->step_count),
        .first_bytes = esi_width_of(most.greatest - most.least),
        .head_bits = esi_bits_of(most.head),
        .value_bits = esi_bits_of(most.value),
        .heads = part->heads,
        .traces = sorting->trace_count,
        .lowest = lowest,
        .least = most.least,
    };

    if ((highest - lowest) / 2 < sorting->trace_count)
        header.traces = highest - lowest + 1;
    else
        header.trace_bytes = esi_width_of(highest);
    return header;
}

/* Steps of one trace; `bits` holds what is not written yet. */
static void write_steps(const struct esi_sorting *sorting,
                        const struct header *header,
                        uint64_t from,
                        uint64_t to,
                        struct esi_bits *bits)
{
    unsigned width = header->head_bits + header->value_bits;
    uint64_t before = (uint32_t)sorting->steps[from];

    for (uint64_t at = from; at < to; at++) {
        uint64_t gap = sorting->steps[at] - before;

        esi_bits_add(bits, width, gap >> 32 | (gap & UINT32_MAX) << header->head_bits);
        before = sorting->steps[at];
    }
}

static void write_block(const struct esi_sorting *sorting,
                        const struct esi_steps_part *part,
                        const struct layout *layout,
                        unsigned char *block)
{
    const struct header *header = &layout->header;
    unsigned char *starts = block + layout->starts;
    struct esi_bits bits = {.next = block + layout->bits};
    uint64_t at = 0;
    uint32_t next = 0;

    memcpy(block, header, sizeof *header);
    for (uint32_t i = 0; i < header->heads; i++)
        esi_number_put(block + layout->owns, header->own_bytes, i,
                       (uint32_t)(esi_log_head(part->log, i) >> 32) -
                           part->place.first);
    for (uint32_t i = 0; i < header->traces; i++) {
        uint32_t trace = header->trace_bytes ? sorting->traces[i] : header->lowest + i;

        esi_number_put(starts, header->start_bytes, i, (uint32_t)at);
        if (trace != sorting->traces[next])
            continue;
        next++;
        esi_number_put(block + layout->firsts, header->first_bytes, i,
                       (uint32_t)sorting->steps[at] - base_of(&part->place, trace) -
                           header->least);
        if (header->trace_bytes)
            esi_number_put(block + layout->traces, header->trace_bytes, i, trace);
        write_steps(sorting, header, at, sorting->places[trace], &bits);
        at = sorting->places[trace];
    }
    esi_number_put(starts, header->start_bytes, header->traces, (uint32_t)at);
}

static void forget(struct esi_sorting *sorting)
{
    for (uint32_t i = 0; i < sorting->trace_count; i++)
        sorting->places[sorting->traces[i]] = 0;
}

static int pack(const struct esi_sorting *sorting,
                const struct esi_steps_part *part,
                struct esi_arena *arena,
                const unsigned char **ret_block)
{
    struct layout layout = {.header = make_header(sorting, part)};
    unsigned width = layout.header.head_bits + layout.header.value_bits;
    unsigned char *block;
    size_t bytes;

    lay_out(&layout);
    bytes = layout.bits + (sorting->step_count * width + 7) / 8 + ESI_BITS_SLACK;
    if (width > 57)
        return -EOVERFLOW;
    block = esi_arena_take(arena, bytes);
    if (!block)
        return -ENOMEM;
    memset(block, 0, bytes);
    write_block(sorting, part, &layout, block);
    *ret_block = block;
    return 0;
}

int esi_steps_pack(const struct esi_steps_part *part,
                   struct esi_sorting *sorting,
                   struct esi_arena *arena,
                   const unsigned char **ret_block)
{
    uint64_t most = (uint64_t)entries_of(part) + part->traces;
    int code = 0;

    if (part->traces > sorting->trace_room)
        code = reserve_traces(sorting, part->traces);
    if (code >= 0 && most > sorting->step_room)
        code = reserve_steps(sorting, most);
    if (code < 0)
        return code;
    count_steps(sorting, part);
    place_traces(sorting, part->traces);
    put_steps(sorting, part);
    code = pack(sorting, part, arena, ret_block);
    forget(sorting);
    return code;
}

/* --- Finding -----------------------------------------------------------------------
 */

/* The place of a trace; false = it is not named. */
static bool find_place(const unsigned char *block,
                       const struct layout *layout,
                       uint32_t trace,
                       uint32_t *ret_at)
{
    const struct header *header = &layout->header;
    uint32_t at = trace - header->lowest;

    if (trace < header->lowest)
        return false;
    if (header->trace_bytes) {
        at = esi_number_rank(block + layout->traces, header->trace_bytes,
                             header->traces, trace) -
             1;
        if (esi_number_get(block + layout->traces, header->trace_bytes, at) != trace)
            return false;
    } else if (at >= header->traces ||
               esi_number_get(block + layout->starts, header->start_bytes, at) ==
                   esi_number_get(block + layout->starts, header->start_bytes,
                                  at + 1)) {
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
    struct layout layout = layout_of(block);
    uint32_t at;

    if (!find_place(block, &layout, trace, &at))
        return ESI_BLOCK_NOWHERE;
    return value_at(block, &layout, place, at, trace,
                    head_at(block, &layout, place, own));
}

uint32_t esi_steps_count(const unsigned char *block)
{
    return layout_of(block).header.traces;
}

void esi_steps_entry(const unsigned char *block,
                     const struct esi_block_place *place,
                     uint32_t own,
                     uint32_t at,
                     uint32_t *ret_trace,
                     uint32_t *ret_value)
{
    struct layout layout = layout_of(block);

    *ret_trace = trace_at(block, &layout, at);
    *ret_value = value_at(block, &layout, place, at, *ret_trace,
                          head_at(block, &layout, place, own));
}
