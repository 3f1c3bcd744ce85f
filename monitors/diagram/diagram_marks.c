/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_marks.c - serializes and parses running sums.
 *
 * A header of 24 bytes, then numbers of variable length.  A mark is stored as the
 * difference to the previous one: position, items, and the sums that have changed.
 */
#include "config.h"

#include "monitors/diagram/diagram_marks.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/plain.h"
#include "base/wire.h"
#include "monitors/diagram/diagram_private.h"

static const char magic[8] = "ESDIAG02";

enum {
    FORM_BYTES = 6, /* of the magic before the version */
    HEAD_BYTES = 24,
    NAME_MOST = 255,
    STEP_BYTES = 3, /* minimum size of a mark, of a gap, and of a row */
    GAP_BYTES = 2,
    ROW_BYTES = 10,
    SUMS = ESI_DIAGRAM_STATES - 1,
};

/* Sums and times are below this limit, so that no difference or share overflows. */
#define NUMBER_MAX (UINT64_C(1) << 62)

enum { IS_OVER = 1, IS_OPEN = 2, ALL_FLAGS = 3 };

/* The state at the end of a track, as a mark. */
static struct esi_track_mark end_of(const struct esi_track *track)
{
    struct esi_track_mark end = {.begin = track->end, .items = track->sums.items};

    memcpy(end.of, &track->sums.of[1], sizeof end.of);
    return end;
}

static uint64_t marks_checksum(const unsigned char *bytes, size_t length)
{
    return esi_hash_mix_bytes(length, (const char *)bytes, length);
}

/* --- Writing ---------------------------------------------------------------------- */

static void put_step(struct esi_wire_writer *out,
                     const struct esi_track_mark *from,
                     const struct esi_track_mark *to)
{
    unsigned grown = 0;

    esi_wire_put_varint(out, to->begin - from->begin);
    esi_wire_put_varint(out, to->items - from->items);
    for (int i = 0; i < SUMS; i++)
        grown |= (unsigned)(to->of[i] != from->of[i]) << i;
    esi_wire_put(out, grown, 1);
    for (int i = 0; i < SUMS; i++)
        if (grown >> i & 1)
            esi_wire_put_varint(out, to->of[i] - from->of[i]);
}

/* Writes every `stride`-th mark. */
static void put_track(struct esi_wire_writer *out,
                      const struct esi_track *track,
                      size_t stride)
{
    const struct esi_track_mark end = end_of(track);
    size_t kept = (track->mark_count + stride - 1) / stride;

    esi_wire_put_varint(out, kept);
    if (kept == 0)
        return;
    esi_wire_put_varint(out, track->marks[0].begin);
    for (size_t i = 0; i < kept && !out->failed; i++)
        put_step(out, &track->marks[i * stride],
                 i + 1 < kept ? &track->marks[(i + 1) * stride] : &end);
}

static const char *host_name(const struct esi_diagram *diagram,
                             const struct esi_diagram_thread *thread)
{
    return esi_texts_at(&diagram->hosts, thread->host);
}

static void put_name(struct esi_wire_writer *out, const char *name)
{
    esi_wire_put_varint(out, strlen(name));
    esi_wire_put_bytes(out, name, strlen(name));
}

/* Each with its distance from the end of the previous one. */
static void put_gaps(struct esi_wire_writer *out, const struct esi_gaps *gaps)
{
    uint64_t end_ns = 0;

    esi_wire_put_varint(out, gaps->count);
    for (size_t i = 0; i < gaps->count && !out->failed; i++) {
        esi_wire_put_varint(out, gaps->items[i].begin_ns - end_ns);
        end_ns = gaps->items[i].end_ns;
        esi_wire_put_varint(out, end_ns - gaps->items[i].begin_ns);
    }
}

static void put_row(struct esi_wire_writer *out,
                    const struct esi_diagram *diagram,
                    const struct esi_diagram_thread *thread,
                    size_t stride)
{
    const struct esi_diagram_trace *trace = &diagram->traces[thread->trace];

    put_name(out, trace->name);
    put_name(out, host_name(diagram, thread));
    esi_wire_put_varint(out, esi_wire_fold((uint64_t)thread->rank));
    esi_wire_put_varint(out, (uint64_t)thread->thread);
    esi_wire_put_varint(out, trace->count);
    esi_wire_put_varint(out, thread->lost);
    esi_wire_put_varint(out, thread->begin_ns);
    esi_wire_put(out, (thread->is_over ? IS_OVER : 0) | (thread->is_open ? IS_OPEN : 0),
                 1);
    if (thread->is_open) {
        esi_wire_put_varint(out, thread->open.begin_ns);
        esi_wire_put(out, thread->open.state, 1);
    }
    put_gaps(out, &trace->gaps);
    put_track(out, &thread->tracks[ESI_DIAGRAM_TIME], stride);
}

static void put_all(struct esi_wire_writer *out,
                    const struct esi_diagram *diagram,
                    uint64_t archive,
                    size_t stride)
{
    const struct esi_diagram_extent *extent = &diagram->extent;
    unsigned char *head = esi_wire_put_room(out, HEAD_BYTES);

    if (!head)
        return;
    esi_wire_put_varint(out, diagram->thread_count);
    esi_wire_put_varint(out, extent->events);
    esi_wire_put_varint(out, extent->calls);
    esi_wire_put_varint(out, diagram->worst_error_ns);
    esi_wire_put_varint(out, extent->begin[ESI_DIAGRAM_TIME]);
    esi_wire_put_varint(out, extent->end[ESI_DIAGRAM_TIME]);
    for (size_t i = 0; i < diagram->thread_count && !out->failed; i++)
        put_row(out, diagram, diagram->threads[i], stride);
    memcpy(head, magic, sizeof magic);
    esi_wire_store(head + 8, archive, 8);
    esi_wire_store(
        head + 16,
        marks_checksum(head + HEAD_BYTES, (size_t)(out->at - head) - HEAD_BYTES), 8);
}

static bool is_name(const char *name)
{
    return strlen(name) <= NAME_MOST && esi_plain_is(name);
}

/* -EINVAL for a name that could not be read again. */
static int find_most_marks(const struct esi_diagram *diagram, size_t *ret_most)
{
    *ret_most = 1;
    for (size_t i = 0; i < diagram->thread_count; i++) {
        const struct esi_diagram_thread *thread = diagram->threads[i];
        size_t count = thread->tracks[ESI_DIAGRAM_TIME].mark_count;

        if (!is_name(diagram->traces[thread->trace].name) ||
            !is_name(host_name(diagram, thread)))
            return -EINVAL;
        if (count > *ret_most)
            *ret_most = count;
    }
    return 0;
}

/* Writes every mark, every second, every fourth, etc.  until they fit. */
static int fill_bytes(const struct esi_diagram *diagram,
                      uint64_t archive,
                      size_t room,
                      unsigned char *bytes,
                      size_t *ret_length)
{
    size_t most;
    int result = find_most_marks(diagram, &most);

    for (size_t stride = 1; result == 0; stride *= 2) {
        struct esi_wire_writer out = esi_wire_writer(bytes, room);

        put_all(&out, diagram, archive, stride);
        *ret_length = (size_t)(out.at - bytes);
        if (!out.failed)
            return 0;
        if (stride >= most)
            result = -ENOSPC;
    }
    return result;
}

int esi_diagram_save_marks(struct esi_diagram *diagram,
                           uint64_t archive,
                           size_t room,
                           unsigned char **ret_bytes,
                           size_t *ret_length)
{
    unsigned char *bytes;
    int result;

    if (room > ESI_DIAGRAM_MARKS_MAX)
        room = ESI_DIAGRAM_MARKS_MAX;
    bytes = malloc(room + 1);
    if (!bytes)
        return -ENOMEM;
    pthread_mutex_lock(&diagram->lock);
    result = fill_bytes(diagram, archive, room, bytes, ret_length);
    pthread_mutex_unlock(&diagram->lock);
    if (result == 0)
        *ret_bytes = bytes;
    else
        free(bytes);
    return result;
}

/* --- Reading ---------------------------------------------------------------------- */

static uint64_t get_up_to(struct esi_wire_reader *in, uint64_t most)
{
    uint64_t number = esi_wire_get_varint(in);

    if (number <= most)
        return number;
    in->failed = true;
    return 0;
}

static void get_growth(struct esi_wire_reader *in, uint64_t *sum, uint64_t *left)
{
    uint64_t growth = get_up_to(in, *left);

    *left -= growth;
    *sum += growth;
}

/* Rejects activity between two marks that exceeds their distance. */
static struct esi_track_mark get_step(struct esi_wire_reader *in,
                                      const struct esi_track_mark *from)
{
    struct esi_track_mark to = *from;
    uint64_t length = get_up_to(in, NUMBER_MAX - from->begin), left = length;
    uint64_t items = get_up_to(in, NUMBER_MAX - from->items);
    uint64_t grown = esi_wire_get(in, 1);

    in->failed |= items == 0 || grown >> SUMS != 0;
    to.begin += length;
    to.items += items;
    for (int i = 0; i < SUMS; i++)
        if (grown >> i & 1)
            get_growth(in, &to.of[i], &left);
    return to;
}

static int get_track(struct esi_wire_reader *in, struct esi_track *track)
{
    size_t count = (size_t)get_up_to(in, esi_wire_left(in) / STEP_BYTES);
    struct esi_track_mark mark = {.items = 0};

    if (in->failed || count == 0)
        return 0;
    if (ESI_ARRAY_RESERVE(track->marks, track->mark_capacity, count) < 0)
        return -ENOMEM;
    mark.begin = get_up_to(in, NUMBER_MAX);
    for (size_t i = 0; i < count && !in->failed; i++) {
        track->marks[track->mark_count++] = mark;
        mark = get_step(in, &mark);
    }
    track->end = mark.begin;
    track->sums.items = mark.items;
    memcpy(&track->sums.of[1], mark.of, sizeof mark.of);
    return 0;
}

/* NULL if it is not a name, or out of memory. */
static const char *get_name(struct esi_wire_reader *in, struct esi_diagram *diagram)
{
    size_t length = (size_t)get_up_to(in, NAME_MOST);
    const unsigned char *bytes = esi_wire_get_bytes(in, length);
    char name[NAME_MOST + 1];
    uint32_t number;

    if (in->failed)
        return NULL;
    memcpy(name, bytes, length);
    name[length] = '\0';
    in->failed = strlen(name) != length || !esi_plain_is(name);
    if (in->failed || esi_texts_add(&diagram->texts, name, length, &number) < 0)
        return NULL;
    return esi_texts_at(&diagram->texts, number);
}

static void get_open(struct esi_wire_reader *in, struct esi_diagram_thread *thread)
{
    thread->is_open = true;
    thread->open = (struct esi_diagram_span){.begin_ns = get_up_to(in, NUMBER_MAX),
                                             .what = UINT32_MAX,
                                             .peer = ES_PEER_NONE};
    thread->open.state = (uint8_t)esi_wire_get(in, 1);
    in->failed |= thread->open.state >= ESI_DIAGRAM_STATES;
}

static int get_gaps(struct esi_wire_reader *in, struct esi_gaps *gaps)
{
    size_t count = (size_t)get_up_to(in, esi_wire_left(in) / GAP_BYTES);
    uint64_t end_ns = 0;
    int result = 0;

    for (size_t i = 0; i < count && !in->failed && result == 0; i++) {
        uint64_t begin_ns = end_ns + get_up_to(in, NUMBER_MAX - end_ns);

        end_ns = begin_ns + get_up_to(in, NUMBER_MAX - begin_ns);
        result = esi_gaps_add(gaps, begin_ns, end_ns);
    }
    return result;
}

static int get_facts(struct esi_wire_reader *in,
                     struct esi_diagram_thread *thread,
                     struct esi_diagram_trace *trace)
{
    uint64_t rank = esi_wire_unfold(esi_wire_get_varint(in)), flags;
    int result;

    in->failed |= rank + 1 > (uint64_t)INT_MAX;
    thread->rank = (int)rank;
    thread->thread = (int)get_up_to(in, INT_MAX);
    trace->count = (uint32_t)get_up_to(in, UINT32_MAX);
    thread->lost = get_up_to(in, NUMBER_MAX);
    thread->begin_ns = get_up_to(in, NUMBER_MAX);
    flags = esi_wire_get(in, 1);
    in->failed |= flags > ALL_FLAGS;
    thread->is_over = flags & IS_OVER;
    if (flags & IS_OPEN)
        get_open(in, thread);
    result = get_gaps(in, &trace->gaps);
    return result < 0 ? result : get_track(in, &thread->tracks[ESI_DIAGRAM_TIME]);
}

/* The row belongs to the diagram even if this fails. */
static int get_row(struct esi_wire_reader *in, struct esi_diagram *diagram)
{
    struct esi_diagram_trace *trace = &diagram->traces[diagram->trace_count];
    struct esi_diagram_thread *thread = calloc(1, sizeof *thread);
    const char *host;
    int result;

    if (!thread)
        return -ENOMEM;
    thread->trace = (uint32_t)diagram->trace_count;
    *trace = (struct esi_diagram_trace){.row = (uint32_t)diagram->thread_count};
    diagram->trace_count++;
    diagram->threads[diagram->thread_count++] = thread;
    trace->name = get_name(in, diagram);
    host = get_name(in, diagram);
    if (!trace->name || !host)
        return in->failed ? 0 : -ENOMEM;
    thread->host = esi_diagram_host_number(diagram, host);
    if (thread->host == UINT32_MAX)
        return -ENOMEM;
    result = get_facts(in, thread, trace);
    /* No calls are kept. */
    thread->calls.first = thread->tracks[ESI_DIAGRAM_TIME].sums.items;
    diagram->has_hosts |= diagram->threads[0]->host != thread->host;
    return result;
}

static int get_all(struct esi_wire_reader *in, struct esi_diagram *diagram)
{
    struct esi_diagram_extent *extent = &diagram->extent;
    size_t rows = (size_t)get_up_to(in, esi_wire_left(in) / ROW_BYTES);
    int result = 0;

    extent->events = get_up_to(in, NUMBER_MAX);
    extent->calls = get_up_to(in, NUMBER_MAX);
    diagram->worst_error_ns = esi_wire_get_varint(in);
    extent->begin[ESI_DIAGRAM_TIME] = get_up_to(in, NUMBER_MAX);
    extent->end[ESI_DIAGRAM_TIME] = get_up_to(in, NUMBER_MAX);
    in->failed |= extent->end[ESI_DIAGRAM_TIME] < extent->begin[ESI_DIAGRAM_TIME];
    if (in->failed)
        return 0;
    if (ESI_ARRAY_RESERVE(diagram->threads, diagram->thread_capacity, rows + 1) < 0 ||
        ESI_ARRAY_RESERVE(diagram->traces, diagram->trace_capacity, rows + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < rows && !in->failed && result == 0; i++)
        result = get_row(in, diagram);
    in->failed |= esi_wire_left(in) > 0;
    return result;
}

/* Returns 0, -ESTALE or -EINVAL. */
static int check_head(const unsigned char *bytes,
                      size_t length,
                      uint64_t archive,
                      struct es_error *error)
{
    if (length < HEAD_BYTES || memcmp(bytes, magic, FORM_BYTES) != 0)
        return es_error_set(error, -EINVAL, "it does not begin with %.6s", magic);
    if (length > ESI_DIAGRAM_MARKS_MAX)
        return es_error_set(error, -EINVAL, "it has %zu bytes, which are too many",
                            length);
    if (memcmp(bytes, magic, sizeof magic) != 0 ||
        esi_wire_load(bytes + 8, 8) != archive)
        return -ESTALE;
    if (esi_wire_load(bytes + 16, 8) !=
        marks_checksum(bytes + HEAD_BYTES, length - HEAD_BYTES))
        return es_error_set(error, -EINVAL, "its checksum is wrong");
    return 0;
}

int esi_diagram_load_marks(const void *bytes,
                           size_t length,
                           uint64_t archive,
                           struct es_error *error,
                           struct esi_diagram **ret_diagram)
{
    const struct esi_diagram_config config = {.calls_max = 0};
    struct esi_wire_reader in = esi_wire_reader(bytes, length);
    struct esi_diagram *diagram;
    int result = check_head(bytes, length, archive, error);

    if (result == 0)
        result = esi_diagram_create(&config, &diagram);
    if (result < 0)
        return result;
    esi_wire_get_bytes(&in, HEAD_BYTES);
    result = get_all(&in, diagram);
    if (result == 0 && in.failed)
        result = es_error_set(error, -EINVAL, "its entry of row %zu is impossible",
                              diagram->thread_count);
    if (result < 0)
        esi_diagram_destroy(diagram);
    else
        *ret_diagram = diagram;
    return result;
}
