/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_wire.c - requests of pulls as bytes, clock records as JSON. */
#include "config.h"

#include "scopes/remote/subtree_wire.h"

#include <errno.h>

enum { FLAG_DRAIN = 1, FLAG_MEASURE = 2, FLAG_CAREFUL = 4 };

static void subtree_wire_put(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t subtree_wire_get(const unsigned char *in, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

void esi_subtree_pull_encode(const struct esi_subtree_pull *pull,
                             unsigned char out[ES_PART_PULL_BYTES])
{
    unsigned flags = (pull->drain ? FLAG_DRAIN : 0) |
                     (pull->measure ? FLAG_MEASURE : 0) |
                     (pull->careful ? FLAG_CAREFUL : 0);

    subtree_wire_put(out, pull->serial, 8);
    subtree_wire_put(out + 8, pull->max, 8);
    subtree_wire_put(out + 16, pull->timeout_ns, 8);
    subtree_wire_put(out + 24, flags, 4);
    subtree_wire_put(out + 28, pull->acknowledged_count, 4);
}

int esi_subtree_pull_decode(const struct esi_frame *frame,
                            struct es_error *error,
                            struct esi_subtree_pull *ret_pull)
{
    const unsigned char *in = frame->payload;
    uint64_t flags, count;

    if (frame->length < ES_PART_PULL_BYTES)
        return es_error_set(error, -EPROTO, "a pull of %u bytes, expected %d",
                            frame->length, ES_PART_PULL_BYTES);
    flags = subtree_wire_get(in + 24, 4);
    count = subtree_wire_get(in + 28, 4);
    if (frame->length != ES_PART_PULL_BYTES + count * ES_PART_ACKNOWLEDGED_BYTES)
        return es_error_set(error, -EPROTO,
                            "a pull of %u bytes that acknowledges %u positions",
                            frame->length, (unsigned)count);
    *ret_pull = (struct esi_subtree_pull){
        .serial = subtree_wire_get(in, 8),
        .max = subtree_wire_get(in + 8, 8),
        .timeout_ns = subtree_wire_get(in + 16, 8),
        .drain = flags & FLAG_DRAIN,
        .careful = flags & FLAG_CAREFUL,
        .measure = flags & FLAG_MEASURE,
        .acknowledged_count = (uint32_t)count,
        .acknowledged = in + ES_PART_PULL_BYTES,
    };
    return 0;
}

void esi_subtree_acknowledged_encode(
    const struct esi_subtree_acknowledged *acknowledged,
    unsigned char out[ES_PART_ACKNOWLEDGED_BYTES])
{
    subtree_wire_put(out, acknowledged->origin, 4);
    subtree_wire_put(out + 4, acknowledged->position, 8);
}

struct esi_subtree_acknowledged esi_subtree_acknowledged_at(
    const struct esi_subtree_pull *pull,
    uint32_t index)
{
    const unsigned char *in =
        pull->acknowledged + (size_t)index * ES_PART_ACKNOWLEDGED_BYTES;

    return (struct esi_subtree_acknowledged){.origin =
                                                 (uint32_t)subtree_wire_get(in, 4),
                                             .position = subtree_wire_get(in + 4, 8)};
}

/* --- Clocks ------------------------------------------------------------------ */

/* JSON's integers end where signed ones do. */
static uint64_t subtree_wire_bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

void esi_clock_write(const struct es_clock *clock,
                     struct esi_json_out *out,
                     const char *key)
{
    esi_json_out_begin_object(out, key);
    esi_json_out_unsigned(out, "kind", clock->kind);
    esi_json_out_unsigned(out, "frequency", subtree_wire_bounded(clock->frequency_hz));
    esi_json_out_unsigned(out, "frequency_error",
                          subtree_wire_bounded(clock->frequency_error_ppb));
    esi_json_out_unsigned(out, "ticks", subtree_wire_bounded(clock->base_ticks));
    esi_json_out_unsigned(out, "realtime",
                          subtree_wire_bounded(clock->base_realtime_ns));
    esi_json_out_unsigned(out, "monotonic",
                          subtree_wire_bounded(clock->base_monotonic_ns));
    esi_json_out_unsigned(out, "error", subtree_wire_bounded(clock->base_error_ns));
    esi_json_out_end(out);
}

static int read_number(const struct es_member *member,
                       const char *name,
                       int64_t minimum,
                       struct es_error *error,
                       uint64_t *ret_value)
{
    int64_t value = 0;
    int result = esi_member_integer(member, name, minimum, INT64_MAX, error, &value);

    *ret_value = (uint64_t)value;
    return result;
}

int esi_clock_member_read(const struct es_member *member,
                          struct es_error *error,
                          struct es_clock *ret_clock)
{
    struct es_clock clock = {.reserved = 0};
    uint64_t kind;
    int result = read_number(member, "kind", 1, error, &kind);

    if (result == 0)
        result = read_number(member, "frequency", 1, error, &clock.frequency_hz);
    if (result == 0)
        result = read_number(member, "frequency_error", 0, error,
                             &clock.frequency_error_ppb);
    if (result == 0)
        result = read_number(member, "ticks", 0, error, &clock.base_ticks);
    if (result == 0)
        result = read_number(member, "realtime", 0, error, &clock.base_realtime_ns);
    if (result == 0)
        result = read_number(member, "monotonic", 0, error, &clock.base_monotonic_ns);
    if (result == 0)
        result = read_number(member, "error", 0, error, &clock.base_error_ns);
    if (result < 0)
        return result;
    clock.kind = (uint32_t)kind;
    *ret_clock = clock;
    return 0;
}
