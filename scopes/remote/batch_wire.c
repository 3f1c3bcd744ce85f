/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch_wire.c - one pull's reply as bytes.
 *
 * A run of tuples begins with a varint: (zigzag of the origin minus the one that was
 * expected) * 16 + kind.  Expected is the origin behind that of the run before, as
 * elements are pulled one after the other.  The kind says whether a count and a
 * difference of the position follow, and what its tuples are.
 *
 * Both ends move the positions they expect in the same way: a run of whole operations
 * moves its origin's behind itself, and at the end come those that lie elsewhere, as
 * tuples were filtered out or are kept.
 */
#include "config.h"

#include "scopes/remote/batch_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/summary.h"
#include "tuplespace/byte_order.h"

enum {
    RUN_HAS_COUNT = 1,
    RUN_HAS_DIFFERENCE = 2,
    RUN_OF_SHIFT = 2, /* enum run_of */
    RUN_KIND_BITS = 4
};
enum { FLAG_MORE = 1, FLAG_WHOLE = 2 };

/* What a run is made of.  Only whole operations move the position. */
enum run_of {
    RUN_OF_OPERATIONS,
    RUN_OF_SUMMARIES, /* ES_MARK_SUMMARY is set in all of its marks */
    RUN_OF_DERIVED,   /* likewise ES_MARK_DERIVED */
    RUN_OF_OPEN,      /* operations under way */
};

/* Most bytes that an entry takes. */
enum {
    MARK_BYTES = 16, /* a run of n has at most 16 (n = 1) or 21 */
    REPORT_BYTES = 35,
    NOTICE_BYTES = 96,
    MOVE_BYTES = 15,
    SPARE_BYTES = 32,
};

/* --- Buffers ----------------------------------------------------------------- */

int esi_wire_moves_add(struct esi_wire_moves *moves, uint32_t origin, uint64_t position)
{
    if (ESI_ARRAY_RESERVE(moves->items, moves->capacity, moves->count + 1) < 0)
        return -ENOMEM;
    moves->items[moves->count++] =
        (struct esi_wire_move){.position = position, .origin = origin};
    return 0;
}

void esi_wire_moves_fini(struct esi_wire_moves *moves)
{
    free(moves->items);
    *moves = (struct esi_wire_moves){0};
}

void esi_wire_buffer_fini(struct esi_wire_buffer *buffer)
{
    free(buffer->tail);
    *buffer = (struct esi_wire_buffer){.tail = NULL};
}

static int reserve_tail(struct esi_wire_buffer *buffer, size_t needed)
{
    unsigned char *tail;

    if (needed <= buffer->tail_capacity)
        return 0;
    needed += needed / 2;
    tail = realloc(buffer->tail, needed);
    if (!tail)
        return -ENOMEM;
    buffer->tail = tail;
    buffer->tail_capacity = needed;
    return 0;
}

/* --- Numbers ----------------------------------------------------------------- */

static void put_u32(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static void put_u64(unsigned char *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_u32(const unsigned char *in)
{
    return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static uint64_t get_u64(const unsigned char *in)
{
    return get_u32(in) | (uint64_t)get_u32(in + 4) << 32;
}

static unsigned char *put_varint(unsigned char *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (unsigned char)(value | 0x80);
    *out++ = (unsigned char)value;
    return out;
}

/* A difference modulo 2^64, so that small ones of either sign become small numbers. */
static uint64_t batch_wire_zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t batch_wire_unzigzag(uint64_t value)
{
    return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

/* What is left of a payload. */
struct input {
    const unsigned char *at;
    const unsigned char *end;
};

static bool get_long_varint(struct input *input, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64 && input->at < input->end; shift += 7) {
        uint64_t byte = *input->at++;

        if (shift == 63 && byte > 1)
            return false;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static inline bool get_varint(struct input *input, uint64_t *ret_value)
{
    if (input->at < input->end && *input->at < 0x80) {
        *ret_value = *input->at++;
        return true;
    }
    return get_long_varint(input, ret_value);
}

static bool get_varint_below(struct input *input, uint64_t limit, uint64_t *ret_value)
{
    return get_varint(input, ret_value) && *ret_value < limit;
}

/* --- Sending ----------------------------------------------------------------- */

static enum run_of what_is(const struct es_batch *batch, size_t index)
{
    uint32_t flags = batch->marks[index].flags;

    if (es_batch_is_open(batch, index))
        return RUN_OF_OPEN;
    return flags & ES_MARK_SUMMARY   ? RUN_OF_SUMMARIES
           : flags & ES_MARK_DERIVED ? RUN_OF_DERIVED
                                     : RUN_OF_OPERATIONS;
}

static size_t run_length(const struct es_batch *batch, size_t first, enum run_of of)
{
    const struct es_mark *marks = batch->marks + first;
    size_t left = batch->count - first;
    size_t count = 1;

    while (count < left && marks[count].origin == marks[0].origin &&
           marks[count].position == marks[0].position + count &&
           what_is(batch, first + count) == of)
        count++;
    return count;
}

/* Sets *ret_whole where the positions of the marks alone do not tell up to where a part
 * of the reply reaches. */
static unsigned char *put_marks(struct esi_wire_state *state,
                                const struct es_batch *batch,
                                unsigned char *out,
                                bool *ret_whole)
{
    uint32_t expected = 0;

    *ret_whole = false;
    for (size_t i = 0, count; i < batch->count; i += count) {
        const struct es_mark *mark = &batch->marks[i];
        enum run_of of = what_is(batch, i);
        uint64_t *next = &state->next[mark->origin];
        uint64_t difference = mark->position - *next;
        uint64_t begin = batch_wire_zigzag((uint64_t)mark->origin - expected)
                         << RUN_KIND_BITS;

        count = run_length(batch, i, of);
        begin |= (uint64_t)of << RUN_OF_SHIFT;
        begin |= count > 1 ? RUN_HAS_COUNT : 0;
        begin |= difference ? RUN_HAS_DIFFERENCE : 0;
        out = put_varint(out, begin);
        if (count > 1)
            out = put_varint(out, count);
        if (difference)
            out = put_varint(out, batch_wire_zigzag(difference));
        if (of == RUN_OF_OPERATIONS)
            *next = mark->position + count;
        *ret_whole |= of == RUN_OF_SUMMARIES || of == RUN_OF_DERIVED ||
                      (of == RUN_OF_OPERATIONS && difference > INT64_MAX);
        expected = mark->origin + 1;
    }
    return out;
}

static unsigned char *put_reports(const struct es_batch *batch, unsigned char *out)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];

        out = put_varint(out, report->origin);
        out = put_varint(out, report->lost);
        out = put_varint(out, report->head);
        out = put_varint(out, report->polls);
    }
    return out;
}

static unsigned char *put_notices(const struct es_batch *batch, unsigned char *out)
{
    for (size_t i = 0; i < batch->notice_count; i++) {
        const struct es_notice *notice = &batch->notices[i];
        size_t length = strnlen(notice->part, sizeof notice->part - 1);

        out = put_varint(out, length);
        memcpy(out, notice->part, length);
        out =
            put_varint(out + length, (uint64_t)(notice->code < 0 ? -notice->code : 0));
        out = put_varint(out, notice->silent_ns);
    }
    return out;
}

/* The positions that lie elsewhere than the marks end. */
static unsigned char *put_moves(struct esi_wire_state *state,
                                const uint64_t *positions,
                                unsigned char *out,
                                uint32_t *ret_count)
{
    uint32_t expected = 0;

    *ret_count = 0;
    for (uint32_t i = 0; positions && i < state->count; i++) {
        uint64_t difference = positions[i] - state->next[i];

        if (difference == 0)
            continue;
        out = put_varint(out, batch_wire_zigzag((uint64_t)i - expected));
        out = put_varint(out, batch_wire_zigzag(difference));
        state->next[i] = positions[i];
        expected = i + 1;
        ++*ret_count;
    }
    return out;
}

static void put_head(const struct es_batch *batch,
                     uint32_t move_count,
                     bool whole,
                     const struct esi_wire_cost *cost,
                     unsigned char head[ES_WIRE_HEAD_BYTES])
{
    put_u32(head, (uint32_t)batch->count);
    put_u32(head + 4, (uint32_t)batch->report_count);
    put_u32(head + 8, (uint32_t)batch->notice_count);
    put_u32(head + 12, move_count);
    put_u32(head + 16, (batch->more ? FLAG_MORE : 0) | (whole ? FLAG_WHOLE : 0));
    put_u32(head + 20, 0);
    put_u64(head + 24, cost->cpu_ns);
    put_u64(head + 32, cost->wall_ns);
}

int esi_batch_encode(struct esi_wire_state *state,
                     const struct es_batch *batch,
                     const uint64_t *positions,
                     const struct esi_wire_cost *cost,
                     struct esi_wire_buffer *buffer)
{
    size_t needed = batch->count * MARK_BYTES + batch->report_count * REPORT_BYTES +
                    batch->notice_count * NOTICE_BYTES +
                    (positions ? (size_t)state->count * MOVE_BYTES : 0) + SPARE_BYTES;
    uint32_t move_count;
    unsigned char *out;
    bool whole;
    int result = reserve_tail(buffer, needed);

    if (result < 0)
        return result;
    out = put_marks(state, batch, buffer->tail, &whole);
    out = put_reports(batch, out);
    out = put_notices(batch, out);
    out = put_moves(state, positions, out, &move_count);
    put_head(batch, move_count, whole && positions, cost, buffer->head);
    buffer->tail_bytes = (size_t)(out - buffer->tail);
    return 0;
}

/* --- Reading ----------------------------------------------------------------- */

/* The head of a payload. */
struct batch_wire_head {
    uint32_t tuples;
    uint32_t reports;
    uint32_t notices;
    uint32_t moves;
    bool more;
    bool whole;
    struct esi_wire_cost cost;
};

static int batch_wire_fail(struct es_error *error, const char *what)
{
    return es_error_set(error, -EPROTO, "a reply that cannot be understood: %s", what);
}

/* Counts are compared with the bytes that so many entries take at least. */
static int read_head(const void *payload,
                     size_t length,
                     struct batch_wire_head *ret_head,
                     struct es_error *error)
{
    const unsigned char *in = payload;
    size_t left = length - ES_WIRE_HEAD_BYTES;

    if (length < ES_WIRE_HEAD_BYTES)
        return batch_wire_fail(error, "it ends within its head");
    *ret_head = (struct batch_wire_head){.tuples = get_u32(in),
                                         .reports = get_u32(in + 4),
                                         .notices = get_u32(in + 8),
                                         .moves = get_u32(in + 12),
                                         .more = get_u32(in + 16) & FLAG_MORE,
                                         .whole = get_u32(in + 16) & FLAG_WHOLE,
                                         .cost = {get_u64(in + 24), get_u64(in + 32)}};
    if (ret_head->tuples > left / sizeof(struct es_tuple))
        return batch_wire_fail(error, "it has fewer tuples than it says");
    left -= ret_head->tuples * sizeof(struct es_tuple);
    if (ret_head->reports > left / 4 || ret_head->notices > left / 3 ||
        ret_head->moves > left / 2)
        return batch_wire_fail(error, "it has fewer entries than it says");
    return 0;
}

/* One run of tuples. */
struct run {
    uint64_t origin;
    uint64_t count;
    uint64_t difference;
    enum run_of of;
};

static uint32_t flags_of(enum run_of of)
{
    return of == RUN_OF_SUMMARIES ? ES_MARK_SUMMARY
           : of == RUN_OF_DERIVED ? ES_MARK_DERIVED
                                  : 0;
}

static inline bool get_run(struct input *input, uint64_t *expected, struct run *ret_run)
{
    uint64_t begin;

    if (!get_varint(input, &begin))
        return false;
    ret_run->origin = *expected + batch_wire_unzigzag(begin >> RUN_KIND_BITS);
    ret_run->count = 1;
    ret_run->of = (enum run_of)(begin >> RUN_OF_SHIFT & 3);
    ret_run->difference = 0;
    *expected = ret_run->origin + 1;
    if (begin & RUN_HAS_COUNT && !get_varint(input, &ret_run->count))
        return false;
    if (begin & RUN_HAS_DIFFERENCE) {
        if (!get_varint(input, &ret_run->difference))
            return false;
        ret_run->difference = batch_wire_unzigzag(ret_run->difference);
    }
    return true;
}

static int read_marks(struct esi_wire_state *state,
                      const struct esi_wire_source *source,
                      struct input *input,
                      struct es_mark *marks,
                      size_t count,
                      struct es_error *error)
{
    uint64_t expected = 0;
    struct run run;

    for (size_t i = 0; i < count;) {
        uint64_t position;
        uint32_t origin;

        if (!get_run(input, &expected, &run))
            return batch_wire_fail(error, "its marks end early");
        if (run.origin >= state->count)
            return batch_wire_fail(error, "an origin that there is not");
        if (run.count == 0 || run.count > count - i)
            return batch_wire_fail(error, "a run longer than its tuples");
        position = state->next[run.origin] + run.difference;
        if (run.of == RUN_OF_OPERATIONS)
            state->next[run.origin] = position + run.count;
        origin = source->origins ? source->origins[run.origin] : (uint32_t)run.origin;
        for (uint64_t k = 0; k < run.count; k++)
            marks[i++] = (struct es_mark){
                .position = position + k, .origin = origin, .flags = flags_of(run.of)};
    }
    return 0;
}

static int read_reports(const struct esi_wire_state *state,
                        const struct esi_wire_source *source,
                        struct input *input,
                        uint32_t count,
                        struct es_batch *batch,
                        struct es_error *error)
{
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct es_report report = {.origin = 0};
        uint64_t origin;

        if (!get_varint_below(input, state->count, &origin) ||
            !get_varint(input, &report.lost) || !get_varint(input, &report.head) ||
            !get_varint(input, &report.polls))
            return batch_wire_fail(error, "a wrong report");
        report.origin = source->origins ? source->origins[origin] : (uint32_t)origin;
        result = es_batch_report(batch, &report);
    }
    return result;
}

static int read_notices(struct input *input,
                        uint32_t count,
                        struct es_batch *batch,
                        struct es_error *error)
{
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct es_notice notice = {.code = 0};
        uint64_t length, code;

        if (!get_varint_below(input, sizeof notice.part, &length) ||
            length > (size_t)(input->end - input->at))
            return batch_wire_fail(error, "a wrong notice");
        memcpy(notice.part, input->at, length);
        input->at += length;
        if (!get_varint_below(input, 4096, &code) ||
            !get_varint(input, &notice.silent_ns))
            return batch_wire_fail(error, "a wrong notice");
        notice.code = -(int)code;
        result = es_batch_notice(batch, &notice);
    }
    return result;
}

static bool get_move(struct input *input, uint64_t *expected, struct run *ret_run)
{
    uint64_t origin;

    if (!get_varint(input, &origin) || !get_varint(input, &ret_run->difference))
        return false;
    ret_run->origin = *expected + batch_wire_unzigzag(origin);
    ret_run->difference = batch_wire_unzigzag(ret_run->difference);
    *expected = ret_run->origin + 1;
    return true;
}

static int read_moves(struct esi_wire_state *state,
                      struct input *input,
                      uint32_t count,
                      struct esi_wire_moves *moves,
                      struct es_error *error)
{
    uint64_t expected = 0;
    struct run run;
    int result = 0;

    moves->count = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        uint64_t position;

        if (!get_move(input, &expected, &run) || run.origin >= state->count)
            return batch_wire_fail(error, "a wrong position");
        position = state->next[run.origin] + run.difference;
        state->next[run.origin] = position;
        result = esi_wire_moves_add(moves, (uint32_t)run.origin, position);
    }
    return result;
}

static int read_tail(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const struct batch_wire_head *head,
                     struct input *input,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct es_error *error)
{
    /* A batch that has never held anything has no marks. */
    struct es_mark *marks = head->tuples ? batch->marks + batch->count : NULL;
    int result = read_marks(state, source, input, marks, head->tuples, error);

    if (result == 0)
        result = read_reports(state, source, input, head->reports, batch, error);
    if (result == 0)
        result = read_notices(input, head->notices, batch, error);
    if (result == 0)
        result = read_moves(state, input, head->moves, moves, error);
    if (result == 0 && input->at != input->end)
        result = batch_wire_fail(error, "there is something behind its end");
    return result;
}

int esi_batch_decode(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const void *payload,
                     size_t length,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct esi_wire_cost *ret_cost,
                     struct es_error *error)
{
    const unsigned char *tuples = (const unsigned char *)payload + ES_WIRE_HEAD_BYTES;
    size_t reports = batch->report_count, notices = batch->notice_count;
    struct input input;
    struct batch_wire_head head;
    int result = read_head(payload, length, &head, error);

    if (result == 0)
        result = es_batch_reserve(batch, head.tuples);
    if (result < 0)
        return result;
    input.at = tuples + head.tuples * sizeof(struct es_tuple);
    input.end = (const unsigned char *)payload + length;
    result = read_tail(state, source, &head, &input, batch, moves, error);
    if (result < 0) {
        batch->report_count = reports;
        batch->notice_count = notices;
        return result;
    }
    if (head.tuples > 0) {
        memcpy(batch->tuples + batch->count, tuples,
               head.tuples * sizeof *batch->tuples);
        if (source->swapped)
            esi_byte_order_swap_tuples(batch->tuples + batch->count, head.tuples);
    }
    batch->count += head.tuples;
    batch->more |= head.more;
    *ret_cost = head.cost;
    return 0;
}

int esi_batch_wire_size(const void *payload,
                        size_t length,
                        struct esi_wire_size *ret_size)
{
    struct batch_wire_head head;
    int result = read_head(payload, length, &head, NULL);

    if (result == 0)
        *ret_size = (struct esi_wire_size){.tuples = head.tuples, .whole = head.whole};
    return result;
}
