/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_wire.c - requests of pulls as bytes, clock records as JSON. */
#include "config.h"

#include "scopes/remote/subtree_wire.h"

#include <errno.h>

enum { FLAG_DRAIN = 1, FLAG_MEASURE = 2, FLAG_CAREFUL = 4 };

static void put(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *in, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

void es_part_pull_encode(const struct es_part_pull *pull,
                         unsigned char out[ES_PART_PULL_BYTES])
{
    unsigned flags = (pull->drain ? FLAG_DRAIN : 0) |
                     (pull->measure ? FLAG_MEASURE : 0) |
                     (pull->careful ? FLAG_CAREFUL : 0);

    put(out, pull->serial, 8);
    put(out + 8, pull->max, 8);
    put(out + 16, pull->timeout_ns, 8);
    put(out + 24, flags, 4);
    put(out + 28, pull->acknowledged_count, 4);
}

int es_part_pull_decode(const struct es_frame *frame,
                        struct es_error *error,
                        struct es_part_pull *ret_pull)
{
    const unsigned char *in = frame->payload;
    uint64_t flags, count;

    if (frame->length < ES_PART_PULL_BYTES)
        return es_error_set(error, -EPROTO, "a pull of %u bytes, expected %d",
                            frame->length, ES_PART_PULL_BYTES);
    flags = get(in + 24, 4);
    count = get(in + 28, 4);
    if (frame->length != ES_PART_PULL_BYTES + count * ES_PART_ACKNOWLEDGED_BYTES)
        return es_error_set(error, -EPROTO,
                            "a pull of %u bytes that acknowledges %u positions",
                            frame->length, (unsigned)count);
    *ret_pull = (struct es_part_pull){
        .serial = get(in, 8),
        .max = get(in + 8, 8),
        .timeout_ns = get(in + 16, 8),
        .drain = flags & FLAG_DRAIN,
        .careful = flags & FLAG_CAREFUL,
        .measure = flags & FLAG_MEASURE,
        .acknowledged_count = (uint32_t)count,
        .acknowledged = in + ES_PART_PULL_BYTES,
    };
    return 0;
}

void es_part_acknowledged_encode(const struct es_part_acknowledged *acknowledged,
                                 unsigned char out[ES_PART_ACKNOWLEDGED_BYTES])
{
    put(out, acknowledged->origin, 4);
    put(out + 4, acknowledged->position, 8);
}

struct es_part_acknowledged es_part_acknowledged_at(const struct es_part_pull *pull,
                                                    uint32_t index)
{
    const unsigned char *in =
        pull->acknowledged + (size_t)index * ES_PART_ACKNOWLEDGED_BYTES;

    return (struct es_part_acknowledged){.origin = (uint32_t)get(in, 4),
                                         .position = get(in + 4, 8)};
}

/* --- Clocks ------------------------------------------------------------------ */

/* JSON's integers end where signed ones do. */
static uint64_t bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

void es_clock_write(const struct es_clock *clock,
                    struct es_json_out *out,
                    const char *key)
{
    es_json_out_begin_object(out, key);
    es_json_out_unsigned(out, "kind", clock->kind);
    es_json_out_unsigned(out, "frequency", bounded(clock->frequency_hz));
    es_json_out_unsigned(out, "frequency_error", bounded(clock->frequency_error_ppb));
    es_json_out_unsigned(out, "ticks", bounded(clock->base_ticks));
    es_json_out_unsigned(out, "realtime", bounded(clock->base_realtime_ns));
    es_json_out_unsigned(out, "monotonic", bounded(clock->base_monotonic_ns));
    es_json_out_unsigned(out, "error", bounded(clock->base_error_ns));
    es_json_out_end(out);
}

static int read_number(const struct es_member *member,
                       const char *name,
                       int64_t minimum,
                       struct es_error *error,
                       uint64_t *ret_value)
{
    int64_t value = 0;
    int result = es_member_integer(member, name, minimum, INT64_MAX, error, &value);

    *ret_value = (uint64_t)value;
    return result;
}

int es_clock_read(const struct es_member *member,
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
