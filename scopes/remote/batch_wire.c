/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch_wire.c - encodes and decodes the reply to a pull.
 *
 * A run consists of tuples of one origin with consecutive positions.  A row consists of
 * one tuple each of consecutive origins, as when latest tuples are read.  Both begin
 * with a varint: (zigzag of the origin minus the expected origin) * 32 + kind.  The
 * expected origin is the one after that of the previous run or row, because elements
 * are pulled one after the other.  The kind tells runs from rows, whether a count and a
 * difference of the position follow, and the kind of its tuples.  A row contains a
 * difference for each tuple.
 *
 * Both ends advance the expected positions in the same way: a run of whole operations
 * advances its origin to the end of the run.  The end of the reply lists the positions
 * that differ from this, because tuples were filtered out or held back.
 *
 * Tuples are encoded as differences to those of the previous reply.  A run has one
 * place in a reply, a row has one per tuple; there are as many places as origins, used
 * cyclically.  The first tuple of a run and each tuple of a row are encoded against the
 * last tuple of their place, the other tuples of a run against their predecessor. */
#include "config.h"

#include "scopes/remote/batch_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/wire.h"
#include "eventspace/summary.h"
#include "scopes/remote/packed_tuple.h"
#include "tuplespace/byte_order.h"

enum {
    RUN_HAS_COUNT = 1,
    RUN_HAS_DIFFERENCE = 2,
    RUN_OF_SHIFT = 2, /* enum run_of */
    RUN_IS_ROW = 16,  /* a count follows, and a difference for each tuple */
    RUN_KIND_BITS = 5
};
enum {
    FLAG_MORE = 1,
    FLAG_WHOLE = 2,
    FLAG_STATES = 4, /* each report ends with its flags; otherwise they are 0 */
    FLAG_SITES = 8,  /* the marks are followed by the sites; otherwise these are 0 */
};

/* The kind of a run's tuples.  Only whole operations advance the position. */
enum run_of {
    RUN_OF_OPERATIONS,
    RUN_OF_SUMMARIES, /* all of its marks have ES_MARK_SUMMARY */
    RUN_OF_DERIVED,   /* all of its marks have ES_MARK_DERIVED */
    RUN_OF_OPEN,      /* operations under way */
};

/* The largest size of each entry, in bytes. */
enum {
    MASK_BYTES = 1,
    MARK_BYTES = 16, /* a run of n takes at most 16 (n = 1) or 21, a row 11 + 10 n */
    SITE_BYTES = 10,
    REPORT_BYTES = 40,
    NOTICE_BYTES = 96,
    MOVE_BYTES = 15,
    SPARE_BYTES = 32,
};

/* --- Buffers ----------------------------------------------------------------- */

int esi_wire_state_init(struct esi_wire_state *state, uint32_t count)
{
    *state = (struct esi_wire_state){
        .next = calloc((size_t)count + 1, sizeof *state->next),
        .last = calloc((size_t)count + 1, sizeof *state->last),
        .count = count,
    };
    if (state->next && state->last)
        return 0;
    esi_wire_state_fini(state);
    return -ENOMEM;
}

void esi_wire_state_fini(struct esi_wire_state *state)
{
    free(state->next);
    free(state->last);
    *state = (struct esi_wire_state){.next = NULL};
}

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
    free(buffer->words);
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

/* The output buffers of a reply. */
struct batch_wire_out {
    size_t place;
    uint32_t *words;
    unsigned char *masks;
    unsigned char *numbers; /* of runs and rows */
    bool whole;     /* the marks do not determine the positions of partial replies */
    uint64_t sites; /* OR of all sites; 0 unless the scope asks for sites */
};

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

static void put_run(struct esi_wire_state *state,
                    const struct es_mark *mark,
                    const struct es_tuple *tuples,
                    size_t count,
                    uint64_t begin,
                    struct batch_wire_out *out)
{
    enum run_of of = (enum run_of)(begin >> RUN_OF_SHIFT & 3);
    uint64_t difference = mark->position - state->next[mark->origin];
    struct es_tuple *last = &state->last[out->place++];

    begin |= (difference ? RUN_HAS_DIFFERENCE : 0) | (count > 1 ? RUN_HAS_COUNT : 0);
    out->numbers = esi_wire_store_varint(out->numbers, begin);
    if (count > 1)
        out->numbers = esi_wire_store_varint(out->numbers, count);
    if (difference)
        out->numbers = esi_wire_store_varint(out->numbers, esi_wire_fold(difference));
    if (of == RUN_OF_OPERATIONS)
        state->next[mark->origin] = mark->position + count;
    for (size_t i = 0; i < count; i++) {
        out->masks[i] = esi_packed_tuple_write(
            &tuples[i], i > 0 ? &tuples[i - 1] : last, out->words);
        out->words += esi_packed_word_counts[out->masks[i]];
        out->sites |= mark[i].site;
    }
    *last = tuples[count - 1];
    out->whole |= of == RUN_OF_OPERATIONS ? difference > INT64_MAX : of != RUN_OF_OPEN;
}

/* Inputs of the loop are in local variables, because its stores could alias them. */
static size_t put_row(struct esi_wire_state *state,
                      const struct es_mark *marks,
                      const struct es_tuple *tuples,
                      size_t left,
                      uint64_t begin,
                      struct batch_wire_out *out)
{
    const uint32_t origin = marks->origin, flags = marks->flags;
    const bool is_open = tuples->stop == 0;
    const enum run_of of = what_is(marks, tuples);
    uint64_t *next = state->next + origin;
    struct es_tuple *last = state->last + out->place;
    unsigned char *numbers = esi_wire_store_varint(out->numbers, begin | RUN_IS_ROW);
    unsigned char *count = numbers;
    unsigned char *masks = out->masks;
    bool backward = false;
    uint64_t sites = 0;
    size_t i;

    if (left > state->count - out->place)
        left = state->count - out->place;
    numbers += sizeof(uint32_t);
    for (i = 0; i < left && marks[i].origin == origin + i && marks[i].flags == flags &&
                (tuples[i].stop == 0) == is_open;
         i++) {
        uint64_t difference = marks[i].position - next[i];

        numbers = esi_wire_store_varint(numbers, esi_wire_fold(difference));
        if (of == RUN_OF_OPERATIONS)
            next[i] = marks[i].position + 1;
        backward |= difference > INT64_MAX;
        sites |= marks[i].site;
        masks[i] = esi_packed_tuple_write(&tuples[i], &last[i], out->words);
        if (masks[i] == 0)
            continue;
        out->words += esi_packed_word_counts[masks[i]];
        last[i] = tuples[i];
    }
    esi_wire_store(count, i, sizeof(uint32_t));
    out->place += i;
    out->numbers = numbers;
    out->sites |= sites;
    out->whole |= of == RUN_OF_OPERATIONS ? backward : of != RUN_OF_OPEN;
    return i;
}

static void put_tuples(struct esi_wire_state *state,
                       const struct es_batch *batch,
                       struct batch_wire_out *out)
{
    const struct es_mark *mark = batch->marks;
    const struct es_tuple *tuple = batch->tuples;
    uint32_t expected = 0;

    for (size_t left = batch->count, count; left > 0; left -= count) {
        const uint32_t origin = mark->origin;
        const enum run_of of = what_is(mark, tuple);
        uint64_t begin = esi_wire_fold((uint64_t)origin - expected) << RUN_KIND_BITS |
                         (uint64_t)of << RUN_OF_SHIFT;

        if (out->place == state->count)
            out->place = 0;
        if (left > 1 && mark[1].origin == origin + 1) {
            count = put_row(state, mark, tuple, left, begin, out);
            expected = origin + (uint32_t)count;
        } else {
            count = run_length(mark, tuple, left, of);
            put_run(state, mark, tuple, count, begin, out);
            expected = origin + 1;
        }
        mark += count;
        tuple += count;
        out->masks += count;
    }
}

/* Encodes each site as the difference to the previous one: programs call MPI from few
 * places, which are close together. */
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

/* Writes the positions that differ from the end of the marks. */
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
                     size_t word_count,
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
    esi_wire_put_u32(&out, (uint32_t)word_count);
    esi_wire_put_u64(&out, cost->cpu_ns);
    esi_wire_put_u64(&out, cost->wall_ns);
}

int esi_batch_encode(struct esi_wire_state *state,
                     const struct es_batch *batch,
                     const uint64_t *positions,
                     const struct esi_wire_cost *cost,
                     struct esi_wire_buffer *buffer)
{
    size_t tuple_bytes = MASK_BYTES + MARK_BYTES + SITE_BYTES;
    size_t needed = batch->count * tuple_bytes + batch->report_count * REPORT_BYTES +
                    batch->notice_count * NOTICE_BYTES +
                    (positions ? (size_t)state->count * MOVE_BYTES : 0) + SPARE_BYTES;
    struct batch_wire_out pieces;
    uint32_t move_count;
    unsigned char *out;

    if (ESI_ARRAY_RESERVE(buffer->tail, buffer->tail_capacity, needed) < 0 ||
        ESI_ARRAY_RESERVE(buffer->words, buffer->word_capacity,
                          (batch->count + 1) * ES_TUPLE_WORDS) < 0)
        return -ENOMEM;
    pieces = (struct batch_wire_out){.words = buffer->words,
                                     .masks = buffer->tail,
                                     .numbers = buffer->tail + batch->count};
    put_tuples(state, batch, &pieces);
    buffer->word_count = (size_t)(pieces.words - buffer->words);
    out = pieces.numbers;
    if (pieces.sites)
        out = put_sites(batch, out);
    out = put_reports(batch, out);
    out = put_notices(batch, out);
    out = put_moves(state, positions, out, &move_count);
    put_head(batch, buffer->word_count, move_count, pieces.whole && positions,
             pieces.sites != 0, cost, buffer->head);
    buffer->tail_bytes = (size_t)(out - buffer->tail);
    return 0;
}

/* --- Reading ----------------------------------------------------------------- */

/* The head of a payload. */
struct batch_wire_head {
    uint32_t tuples;
    uint32_t words;
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
    return es_error_set(error, -EPROTO, "cannot decode the reply: %s", what);
}

static bool get_below(struct esi_wire_reader *in, uint64_t limit, uint64_t *ret_value)
{
    *ret_value = esi_wire_get_varint(in);
    return !in->failed && *ret_value < limit;
}

/* Compares the counts with the smallest size of as many entries. */
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
    head.words = esi_wire_get_u32(in);
    head.more = flags & FLAG_MORE;
    head.whole = flags & FLAG_WHOLE;
    head.states = flags & FLAG_STATES;
    head.sites = flags & FLAG_SITES;
    head.cost.cpu_ns = esi_wire_get_u64(in);
    head.cost.wall_ns = esi_wire_get_u64(in);
    if (in->failed)
        return batch_wire_fail(error, "it ends within its head");
    left = esi_wire_left(in);
    if (head.words > left / sizeof(uint32_t) ||
        head.tuples > left - head.words * sizeof(uint32_t) ||
        head.tuples > ES_WIRE_TUPLES_MAX)
        return batch_wire_fail(error, "it has fewer tuples than it says");
    left -= head.words * sizeof(uint32_t) + head.tuples;
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

/* The state of decoding a reply's tuples, and their destination. */
struct batch_wire_in {
    uint64_t *next;        /* of the state */
    struct es_tuple *last; /* at the current place */
    const struct esi_wire_source *source;
    struct esi_wire_reader words;
    struct esi_wire_reader numbers; /* of runs and rows */
    const unsigned char *masks;
    struct es_tuple *tuples;
    struct es_mark *marks;
};

/* The next run or row. */
struct batch_wire_run {
    uint64_t begin; /* its first number */
    uint64_t index; /* the sender's index of its first origin */
    uint64_t count;
    enum run_of of;
};

static uint32_t origin_of(const struct batch_wire_in *in, uint64_t index)
{
    return in->source->origins ? in->source->origins[index] : (uint32_t)index;
}

static void read_run(struct batch_wire_in *in, const struct batch_wire_run *run)
{
    uint64_t folded =
        run->begin & RUN_HAS_DIFFERENCE ? esi_wire_get_varint(&in->numbers) : 0;
    struct es_mark mark = {
        .position = in->next[run->index] + esi_wire_unfold(folded),
        .origin = origin_of(in, run->index),
        .flags = flags_of(run->of),
    };

    if (run->of == RUN_OF_OPERATIONS)
        in->next[run->index] = mark.position + run->count;
    for (uint64_t i = 0; i < run->count; i++, mark.position++)
        in->marks[i] = mark;
    esi_packed_tuples_read(&in->words, in->masks, run->count, in->last, 0, in->tuples);
}

/* Inputs of the loops are in local variables, because their stores could alias them. */
static void read_row(struct batch_wire_in *in, const struct batch_wire_run *run)
{
    const struct batch_wire_in from = *in;
    struct esi_wire_reader numbers = from.numbers;
    uint64_t *next = from.next + run->index;
    const size_t count = run->count;
    const uint32_t flags = flags_of(run->of);
    const bool moves = run->of == RUN_OF_OPERATIONS;

    for (size_t i = 0; i < count; i++) {
        uint64_t position = next[i] + esi_wire_unfold(esi_wire_get_varint(&numbers));

        if (moves)
            next[i] = position + 1;
        from.marks[i] = (struct es_mark){.position = position,
                                         .origin = origin_of(&from, run->index + i),
                                         .flags = flags};
    }
    in->numbers = numbers;
    esi_packed_tuples_read(&in->words, in->masks, count, in->last, 1, in->tuples);
}

static int read_tuples(const struct esi_wire_state *state,
                       struct batch_wire_in *in,
                       size_t count,
                       struct es_error *error)
{
    uint64_t expected = 0;
    uint32_t place = 0;

    for (size_t left = count; left > 0;) {
        struct batch_wire_run run = {.begin = esi_wire_get_varint(&in->numbers)};
        bool is_row = run.begin & RUN_IS_ROW;
        uint64_t origins;

        run.of = (enum run_of)(run.begin >> RUN_OF_SHIFT & 3);
        run.count = is_row                      ? esi_wire_get_u32(&in->numbers)
                    : run.begin & RUN_HAS_COUNT ? esi_wire_get_varint(&in->numbers)
                                                : 1;
        run.index = expected + esi_wire_unfold(run.begin >> RUN_KIND_BITS);
        origins = is_row ? run.count : 1;
        if (in->numbers.failed)
            return batch_wire_fail(error, "its marks end early");
        if (run.count == 0 || run.count > left)
            return batch_wire_fail(error, "a run longer than its tuples");
        if (run.index >= state->count || origins > state->count - run.index)
            return batch_wire_fail(error, "an origin that does not exist");
        place = place == state->count ? 0 : place;
        if (origins > state->count - place)
            return batch_wire_fail(error, "a row longer than its places");
        in->last = &state->last[place];
        if (is_row)
            read_row(in, &run);
        else
            read_run(in, &run);
        in->masks += run.count;
        in->tuples += run.count;
        in->marks += run.count;
        expected = run.index + origins;
        place += (uint32_t)origins;
        left -= run.count;
    }
    if (in->numbers.failed)
        return batch_wire_fail(error, "its marks end early");
    if (in->words.failed || esi_wire_left(&in->words) > 0)
        return batch_wire_fail(error, "the number of words of its tuples is wrong");
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

/* Requires that the masks have been read. */
static int read_tail(struct esi_wire_state *state,
                     const struct esi_wire_source *source,
                     const struct batch_wire_head *head,
                     struct esi_wire_reader *in,
                     struct es_batch *batch,
                     struct esi_wire_moves *moves,
                     struct es_error *error)
{
    int result = 0;

    if (head->sites && head->tuples > 0)
        result = read_sites(in, batch->marks + batch->count, head->tuples, error);
    if (result == 0)
        result = read_reports(state, source, in, head, batch, error);
    if (result == 0)
        result = read_notices(in, head->notices, batch, error);
    if (result == 0)
        result = read_moves(state, in, head->moves, moves, error);
    if (result == 0 && esi_wire_left(in) > 0)
        result = batch_wire_fail(error, "there is data after its end");
    return result;
}

static int read_batch(struct esi_wire_state *state,
                      const struct esi_wire_source *source,
                      const struct batch_wire_head *head,
                      struct esi_wire_reader *payload,
                      struct es_batch *batch,
                      struct esi_wire_moves *moves,
                      struct es_error *error)
{
    size_t word_bytes = head->words * sizeof(uint32_t);
    const unsigned char *words = esi_wire_get_bytes(payload, word_bytes);
    const unsigned char *masks = esi_wire_get_bytes(payload, head->tuples);
    struct batch_wire_in in = {.next = state->next,
                               .source = source,
                               .words = esi_wire_reader(words, word_bytes),
                               .masks = masks,
                               .numbers = *payload};
    int result = es_batch_reserve(batch, head->tuples);

    if (result < 0)
        return result;
    if (head->tuples > 0) { /* otherwise memory may not be allocated yet */
        in.tuples = batch->tuples + batch->count;
        in.marks = batch->marks + batch->count;
    }
    result = read_tuples(state, &in, head->tuples, error);
    if (result == 0)
        result = read_tail(state, source, head, &in.numbers, batch, moves, error);
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
    struct batch_wire_head head;
    int result = read_head(&in, &head, error);

    if (result == 0)
        result = read_batch(state, source, &head, &in, batch, moves, error);
    if (result < 0) {
        batch->report_count = reports;
        batch->notice_count = notices;
        return result;
    }
    if (source->swapped && head.tuples > 0)
        esi_byte_order_swap_tuples(batch->tuples + batch->count, head.tuples);
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
