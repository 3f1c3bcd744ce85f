/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch_wire.c - a pull and its reply as bytes.
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
#include "base/wire.h"
#include "eventspace/summary.h"
#include "tuplespace/byte_order.h"

enum {
    RUN_HAS_COUNT = 1,
    RUN_HAS_DIFFERENCE = 2,
    RUN_OF_SHIFT = 2, /* enum run_of */
    RUN_KIND_BITS = 4
};
enum {
    FLAG_MORE = 1,
    FLAG_WHOLE = 2,
    FLAG_STATES = 4, /* each report ends with its flags; else they are 0 */
    FLAG_SITES = 8,  /* the marks are followed by the sites; else these are 0 */
};

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
    SITE_BYTES = 10,
    REPORT_BYTES = 40,
    NOTICE_BYTES = 96,
    MOVE_BYTES = 15,
    SPARE_BYTES = 32,
};

/* --- Buffers ----------------------------------------------------------------- */

static int wire_moves_add(struct esi_wire_moves *moves,
                          uint32_t origin,
                          uint64_t position)
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

/* --- Sending ----------------------------------------------------------------- */

static inline enum run_of what_is(const struct es_mark *mark,
                                  const struct es_tuple *tuple)
{
    if (tuple->stop == 0)
        return RUN_OF_OPEN;
    return mark->flags & ES_MARK_SUMMARY   ? RUN_OF_SUMMARIES
           : mark->flags & ES_MARK_DERIVED ? RUN_OF_DERIVED
                                           : RUN_OF_OPERATIONS;
}

static size_t run_length(const struct es_mark *marks,
                         const struct es_tuple *tuples,
                         size_t left,
                         enum run_of of)
{
    size_t count = 1;

    while (count < left && marks[count].origin == marks[0].origin &&
           marks[count].position == marks[0].position + count &&
           what_is(&marks[count], &tuples[count]) == of)
        count++;
    return count;
}

/* Sets *ret_whole where the marks alone do not say up to which position a piece of the
 * reply reaches.  Among latest tuples most runs have one tuple: that is the short way.
 * What the loop reads is in local variables, as the bytes that it stores might lie
 * anywhere. */
static unsigned char *put_marks(struct esi_wire_state *state,
                                const struct es_batch *batch,
                                unsigned char *out,
                                bool *ret_whole)
{
    const struct es_mark *mark = batch->marks;
    const struct es_tuple *tuple = batch->tuples;
    uint64_t *next = state->next;
    uint32_t expected = 0;
    bool whole = false;

    for (size_t left = batch->count, count; left > 0; left -= count) {
        const uint32_t origin = mark->origin;
        const enum run_of of = what_is(mark, tuple);
        const uint64_t difference = mark->position - next[origin];
        uint64_t begin = esi_wire_fold((uint64_t)origin - expected) << RUN_KIND_BITS |
                         (uint64_t)of << RUN_OF_SHIFT |
                         (difference ? RUN_HAS_DIFFERENCE : 0);

        count = 1;
        if (left > 1 && mark[1].origin == origin)
            count = run_length(mark, tuple, left, of);
        out = esi_wire_store_varint(out, begin | (count > 1 ? RUN_HAS_COUNT : 0));
        if (count > 1)
            out = esi_wire_store_varint(out, count);
        if (difference)
            out = esi_wire_store_varint(out, esi_wire_fold(difference));
        if (of == RUN_OF_OPERATIONS)
            next[origin] = mark->position + count;
        whole |= of == RUN_OF_OPERATIONS ? difference > INT64_MAX : of != RUN_OF_OPEN;
        expected = origin + 1;
        mark += count;
        tuple += count;
    }
    *ret_whole = whole;
    return out;
}

/* Only scopes that ask for sites get any. */
static bool have_sites(const struct es_batch *batch)
{
    uint64_t sites = 0;

    for (size_t i = 0; i < batch->count; i++)
        sites |= batch->marks[i].site;
    return sites != 0;
}

/* Of each tuple the difference to the site before: programs call from few places, which
 * lie together. */
static unsigned char *put_sites(const struct es_batch *batch, unsigned char *out)
{
    uint64_t last = 0;

    for (size_t i = 0; i < batch->count; i++) {
        out = esi_wire_store_varint(out, esi_wire_fold(batch->marks[i].site - last));
        last = batch->marks[i].site;
    }
    return out;
}

/* Most reports have no flags. */
static bool have_states(const struct es_batch *batch)
{
    uint32_t flags = 0;

    for (size_t i = 0; i < batch->report_count; i++)
        flags |= batch->reports[i].flags;
    return flags != 0;
}

static unsigned char *put_reports(const struct es_batch *batch, unsigned char *out)
{
    bool states = have_states(batch);

    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];

        out = esi_wire_store_varint(out, report->origin);
        out = esi_wire_store_varint(out, report->lost);
        out = esi_wire_store_varint(out, report->head);
        out = esi_wire_store_varint(out, report->polls);
        if (states)
            out = esi_wire_store_varint(out, report->flags);
    }
    return out;
}

static unsigned char *put_notices(const struct es_batch *batch, unsigned char *out)
{
    for (size_t i = 0; i < batch->notice_count; i++) {
        const struct es_notice *notice = &batch->notices[i];
        size_t length = strnlen(notice->part, sizeof notice->part - 1);

        out = esi_wire_store_varint(out, length);
        memcpy(out, notice->part, length);
        out = esi_wire_store_varint(out + length,
                                    (uint64_t)(notice->code < 0 ? -notice->code : 0));
        out = esi_wire_store_varint(out, notice->silent_ns);
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
        out = esi_wire_store_varint(out, esi_wire_fold((uint64_t)i - expected));
        out = esi_wire_store_varint(out, esi_wire_fold(difference));
        state->next[i] = positions[i];
        expected = i + 1;
        ++*ret_count;
    }
    return out;
}

static void put_head(const struct es_batch *batch,
                     uint32_t move_count,
                     bool whole,
                     bool sites,
                     const struct esi_wire_cost *cost,
                     unsigned char head[ES_WIRE_HEAD_BYTES])
{
    struct esi_wire_writer out = esi_wire_writer(head, ES_WIRE_HEAD_BYTES);

    esi_wire_put_u32(&out, (uint32_t)batch->count);
    esi_wire_put_u32(&out, (uint32_t)batch->report_count);
    esi_wire_put_u32(&out, (uint32_t)batch->notice_count);
    esi_wire_put_u32(&out, move_count);
    esi_wire_put_u32(&out, (batch->more ? FLAG_MORE : 0) | (whole ? FLAG_WHOLE : 0) |
                               (have_states(batch) ? FLAG_STATES : 0) |
                               (sites ? FLAG_SITES : 0));
    esi_wire_put_u32(&out, 0);
    esi_wire_put_u64(&out, cost->cpu_ns);
    esi_wire_put_u64(&out, cost->wall_ns);
}

int esi_batch_encode(struct esi_wire_state *state,
                     const struct es_batch *batch,
                     const uint64_t *positions,
                     const struct esi_wire_cost *cost,
                     struct esi_wire_buffer *buffer)
{
    bool sites = have_sites(batch);
    size_t mark_bytes = MARK_BYTES + (sites ? (size_t)SITE_BYTES : 0);
    size_t needed = batch->count * mark_bytes + batch->report_count * REPORT_BYTES +
                    batch->notice_count * NOTICE_BYTES +
                    (positions ? (size_t)state->count * MOVE_BYTES : 0) + SPARE_BYTES;
    uint32_t move_count;
    unsigned char *out;
    bool whole;

    if (ESI_ARRAY_RESERVE(buffer->tail, buffer->tail_capacity, needed) < 0)
        return -ENOMEM;
    out = put_marks(state, batch, buffer->tail, &whole);
    if (sites)
        out = put_sites(batch, out);
    out = put_reports(batch, out);
    out = put_notices(batch, out);
    out = put_moves(state, positions, out, &move_count);
    put_head(batch, move_count, whole && positions, sites, cost, buffer->head);
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
    bool states;
    bool sites;
    struct esi_wire_cost cost;
};

static int batch_wire_fail(struct es_error *error, const char *what)
{
    return es_error_set(error, -EPROTO, "a reply that cannot be understood: %s", what);
}

static bool get_below(struct esi_wire_reader *in, uint64_t limit, uint64_t *ret_value)
{
    *ret_value = esi_wire_get_varint(in);
    return !in->failed && *ret_value < limit;
}

/* Counts are compared with the bytes that so many entries take at least. */
static int read_head(struct esi_wire_reader *in,
                     struct batch_wire_head *ret_head,
                     struct es_error *error)
{
    struct batch_wire_head head;
    uint32_t flags;
    size_t left;

    head.tuples = esi_wire_get_u32(in);
    head.reports = esi_wire_get_u32(in);
    head.notices = esi_wire_get_u32(in);
    head.moves = esi_wire_get_u32(in);
    flags = esi_wire_get_u32(in);
    (void)esi_wire_get_u32(in);
    head.more = flags & FLAG_MORE;
    head.whole = flags & FLAG_WHOLE;
    head.states = flags & FLAG_STATES;
    head.sites = flags & FLAG_SITES;
    head.cost.cpu_ns = esi_wire_get_u64(in);
    head.cost.wall_ns = esi_wire_get_u64(in);
    if (in->failed)
        return batch_wire_fail(error, "it ends within its head");
    left = esi_wire_left(in);
    if (head.tuples > left / sizeof(struct es_tuple))
        return batch_wire_fail(error, "it has fewer tuples than it says");
    left -= head.tuples * sizeof(struct es_tuple);
    if (head.reports > left / 4 || head.notices > left / 3 || head.moves > left / 2)
        return batch_wire_fail(error, "it has fewer entries than it says");
    *ret_head = head;
    return 0;
}

static uint32_t flags_of(enum run_of of)
{
    return of == RUN_OF_OPERATIONS  ? 0
           : of == RUN_OF_SUMMARIES ? ES_MARK_SUMMARY
           : of == RUN_OF_DERIVED   ? ES_MARK_DERIVED
                                    : 0;
}

static int read_marks(struct esi_wire_state *state,
                      const struct esi_wire_source *source,
                      struct esi_wire_reader *input,
                      struct es_mark *marks,
                      size_t count,
                      struct es_error *error)
{
    struct esi_wire_reader in = *input;
    const uint32_t *origins = source->origins;
    uint64_t *next = state->next;
    uint64_t expected = 0;

    for (size_t left = count; left > 0;) {
        uint64_t begin = esi_wire_get_varint(&in);
        uint64_t run = begin & RUN_HAS_COUNT ? esi_wire_get_varint(&in) : 1;
        uint64_t folded = begin & RUN_HAS_DIFFERENCE ? esi_wire_get_varint(&in) : 0;
        uint64_t index = expected + esi_wire_unfold(begin >> RUN_KIND_BITS);
        enum run_of of = (enum run_of)(begin >> RUN_OF_SHIFT & 3);
        struct es_mark mark = {.flags = flags_of(of)};

        if (in.failed)
            return batch_wire_fail(error, "its marks end early");
        if (index >= state->count)
            return batch_wire_fail(error, "an origin that there is not");
        if (run == 0 || run > left)
            return batch_wire_fail(error, "a run longer than its tuples");
        mark.position = next[index] + esi_wire_unfold(folded);
        mark.origin = origins ? origins[index] : (uint32_t)index;
        if (of == RUN_OF_OPERATIONS)
            next[index] = mark.position + run;
        expected = index + 1;
        left -= run;
        for (; run > 0; run--, mark.position++)
            *marks++ = mark;
    }
    *input = in;
    return 0;
}

static int read_sites(struct esi_wire_reader *in,
                      struct es_mark *marks,
                      size_t count,
                      struct es_error *error)
{
    uint64_t site = 0;

    for (size_t i = 0; i < count; i++) {
        site += esi_wire_unfold(esi_wire_get_varint(in));
        marks[i].site = site;
    }
    return in->failed ? batch_wire_fail(error, "its sites end early") : 0;
}

static int read_reports(const struct esi_wire_state *state,
                        const struct esi_wire_source *source,
                        struct esi_wire_reader *in,
                        const struct batch_wire_head *head,
                        struct es_batch *batch,
                        struct es_error *error)
{
    int result = 0;

    for (uint32_t i = 0; i < head->reports && result == 0; i++) {
        struct es_report report = {.origin = 0};
        uint64_t index;

        if (!get_below(in, state->count, &index))
            return batch_wire_fail(error, "a wrong report");
        report.lost = esi_wire_get_varint(in);
        report.head = esi_wire_get_varint(in);
        report.polls = esi_wire_get_varint(in);
        report.flags = head->states ? (uint32_t)esi_wire_get_varint(in) : 0;
        if (in->failed)
            return batch_wire_fail(error, "a wrong report");
        report.origin = source->origins ? source->origins[index] : (uint32_t)index;
        result = es_batch_report(batch, &report);
    }
    return result;
}

static int read_notices(struct esi_wire_reader *in,
                        uint32_t count,
                        struct es_batch *batch,
                        struct es_error *error)
{
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct es_notice notice = {.code = 0};
        uint64_t length, code;
        const unsigned char *part;

        if (!get_below(in, sizeof notice.part, &length))
            return batch_wire_fail(error, "a wrong notice");
        part = esi_wire_get_bytes(in, length);
        if (!get_below(in, 4096, &code))
            return batch_wire_fail(error, "a wrong notice");
        notice.silent_ns = esi_wire_get_varint(in);
        if (in->failed)
            return batch_wire_fail(error, "a wrong notice");
        memcpy(notice.part, part, length);
        notice.code = -(int)code;
        result = es_batch_notice(batch, &notice);
    }
    return result;
}

static int read_moves(struct esi_wire_state *state,
                      struct esi_wire_reader *in,
                      uint32_t count,
                      struct esi_wire_moves *moves,
                      struct es_error *error)
{
    uint64_t expected = 0;
    int result = 0;

    moves->count = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        uint64_t index = expected + esi_wire_unfold(esi_wire_get_varint(in));
        uint64_t difference = esi_wire_unfold(esi_wire_get_varint(in));

        if (in->failed || index >= state->count)
            return batch_wire_fail(error, "a wrong position");
        state->next[index] += difference;
        result = wire_moves_add(moves, (uint32_t)index, state->next[index]);
        expected = index + 1;
    }
    return result;
}

static int read_tail(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const struct batch_wire_head *head,
                     struct esi_wire_reader *in,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct es_error *error)
{
    /* A batch that has never held anything has no marks. */
    struct es_mark *marks = head->tuples ? batch->marks + batch->count : NULL;
    int result = read_marks(state, source, in, marks, head->tuples, error);

    if (result == 0 && head->sites)
        result = read_sites(in, marks, head->tuples, error);
    if (result == 0)
        result = read_reports(state, source, in, head, batch, error);
    if (result == 0)
        result = read_notices(in, head->notices, batch, error);
    if (result == 0)
        result = read_moves(state, in, head->moves, moves, error);
    if (result == 0 && esi_wire_left(in) > 0)
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
    size_t reports = batch->report_count, notices = batch->notice_count;
    struct esi_wire_reader in = esi_wire_reader(payload, length);
    const unsigned char *tuples;
    struct batch_wire_head head;
    int result = read_head(&in, &head, error);

    if (result == 0)
        result = es_batch_reserve(batch, head.tuples);
    if (result < 0)
        return result;
    tuples = esi_wire_get_bytes(&in, head.tuples * sizeof(struct es_tuple));
    result = read_tail(state, source, &head, &in, batch, moves, error);
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
    struct esi_wire_reader in = esi_wire_reader(payload, length);
    struct batch_wire_head head;
    int result = read_head(&in, &head, NULL);

    if (result == 0)
        *ret_size = (struct esi_wire_size){.tuples = head.tuples, .whole = head.whole};
    return result;
}

/* --- Requests --------------------------------------------------------------------- */

enum { FLAG_DRAIN = 1, FLAG_MEASURE = 2, FLAG_CAREFUL = 4 };

void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char bytes[ES_SUBTREE_PULL_BYTES])
{
    struct esi_wire_writer out = esi_wire_writer(bytes, ES_SUBTREE_PULL_BYTES);

    esi_wire_put_u64(&out, pull->serial);
    esi_wire_put_u64(&out, pull->max);
    esi_wire_put_u64(&out, pull->timeout_ns);
    esi_wire_put_u32(&out, (pull->drain ? FLAG_DRAIN : 0) |
                               (pull->measure ? FLAG_MEASURE : 0) |
                               (pull->careful ? FLAG_CAREFUL : 0));
    esi_wire_put_u32(&out, pull->acknowledged_count);
}

int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull)
{
    struct esi_wire_reader in = esi_wire_reader(frame->payload, frame->length);
    struct esi_subtree_pull pull;
    uint32_t flags;

    pull.serial = esi_wire_get_u64(&in);
    pull.max = esi_wire_get_u64(&in);
    pull.timeout_ns = esi_wire_get_u64(&in);
    flags = esi_wire_get_u32(&in);
    pull.drain = flags & FLAG_DRAIN;
    pull.careful = flags & FLAG_CAREFUL;
    pull.measure = flags & FLAG_MEASURE;
    pull.acknowledged_count = esi_wire_get_u32(&in);
    pull.acknowledged = in.at;
    if (in.failed)
        return es_error_set(error, -EPROTO, "a pull has %u bytes, expected %d",
                            frame->length, ES_SUBTREE_PULL_BYTES);
    if (esi_wire_left(&in) !=
        (uint64_t)pull.acknowledged_count * ES_SUBTREE_ACKNOWLEDGED_BYTES)
        return es_error_set(error, -EPROTO,
                            "a pull of %u bytes acknowledges %u positions",
                            frame->length, (unsigned)pull.acknowledged_count);
    *ret_pull = pull;
    return 0;
}

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_SUBTREE_ACKNOWLEDGED_BYTES])
{
    esi_wire_store(out, acknowledged->origin, 4);
    esi_wire_store(out + 4, acknowledged->position, 8);
}

struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index)
{
    const unsigned char *in =
        pull->acknowledged + (size_t)index * ES_SUBTREE_ACKNOWLEDGED_BYTES;

    return (struct esi_subtree_acknowledged){.origin = (uint32_t)esi_wire_load(in, 4),
                                             .position = esi_wire_load(in + 4, 8)};
}
