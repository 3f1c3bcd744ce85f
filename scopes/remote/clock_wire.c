/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Estimates of clocks as JSON. */
#include "config.h"

#include "scopes/remote/clock_wire.h"

#include <errno.h>
#include <string.h>

enum { KNOT_MEMBERS = 4 };

/* JSON's integers end where signed ones do. */
static uint64_t clock_wire_bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

void esi_clock_estimate_write(const struct esi_clock_estimate *estimate,
                              struct esi_json_out *out,
                              const char *key)
{
    struct esi_clock_knot before = {.local_ns = 0};

    esi_json_out_begin_object(out, key);
    esi_json_out_unsigned(out, "run_base", clock_wire_bounded(estimate->run_base_ns));
    esi_json_out_unsigned(out, "breaks", clock_wire_bounded(estimate->breaks));
    esi_json_out_real(out, "drift", estimate->drift.ppb);
    esi_json_out_real(out, "drift_error", estimate->drift.error_ppb);
    esi_json_out_real(out, "wander", estimate->drift.wander_ppb);
    esi_json_out_begin_array(out, "knots");
    for (uint64_t i = 0; i < estimate->count; i++) {
        const struct esi_clock_knot *knot = &estimate->knots[i];

        esi_json_out_unsigned(out, NULL, knot->local_ns - before.local_ns);
        esi_json_out_signed(out, NULL, knot->offset_ns - before.offset_ns);
        esi_json_out_unsigned(out, NULL, clock_wire_bounded(knot->error_ns));
        esi_json_out_unsigned(out, NULL, clock_wire_bounded(knot->bow_ns));
        before = *knot;
    }
    esi_json_out_end(out);
    esi_json_out_end(out);
}

/* Sums of what comes from elsewhere must not overflow: what is too large is refused. */
static bool read_knot(const struct es_member *knots,
                      size_t index,
                      const struct esi_clock_knot *before,
                      struct esi_clock_knot *ret_knot)
{
    int64_t values[KNOT_MEMBERS];
    int64_t local, offset;

    for (size_t i = 0; i < KNOT_MEMBERS; i++)
        values[i] = esi_member_as_integer(esi_member_at(knots, index + i));
    if (values[0] < 0 || values[2] < 0 || values[3] < 0 ||
        __builtin_add_overflow((int64_t)before->local_ns, values[0], &local) ||
        __builtin_add_overflow(before->offset_ns, values[1], &offset) ||
        offset > INT64_MAX / 4 || offset < INT64_MIN / 4)
        return false;
    *ret_knot = (struct esi_clock_knot){.local_ns = (uint64_t)local,
                                        .offset_ns = offset,
                                        .error_ns = (uint64_t)values[2],
                                        .bow_ns = (uint64_t)values[3]};
    return true;
}

int esi_clock_estimate_read(const struct es_member *member,
                            struct es_error *error,
                            struct esi_clock_estimate *ret_estimate)
{
    const struct es_member *knots = esi_member_find(member, "knots");
    size_t count = esi_member_count(knots);
    struct esi_clock_estimate estimate = {.count = 0};
    struct esi_clock_knot before = {.local_ns = 0};
    int64_t run_base;
    int result = esi_member_integer(member, "run_base", 0, INT64_MAX, error, &run_base);

    if (result < 0)
        return result;
    estimate.run_base_ns = (uint64_t)run_base;
    estimate.breaks = (uint64_t)esi_member_integer_or(member, "breaks", 0);
    estimate.drift = (struct esi_clock_drift){
        .ppb = esi_member_real_or(member, "drift", 0),
        .error_ppb = esi_member_real_or(member, "drift_error", 0),
        .wander_ppb = esi_member_real_or(member, "wander", 0),
    };
    if (count % KNOT_MEMBERS != 0 || count / KNOT_MEMBERS > ES_CLOCK_KNOTS_MAX)
        return es_error_set(error, -EINVAL, "\"knots\" has %zu members", count);
    for (size_t i = 0; i < count; i += KNOT_MEMBERS) {
        if (!read_knot(knots, i, &before, &estimate.knots[estimate.count]))
            return es_error_set(error, -EINVAL, "\"knots\" has a time out of range");
        before = estimate.knots[estimate.count++];
    }
    if (!esi_clock_estimate_is_valid(&estimate))
        return es_error_set(error, -EINVAL, "\"knots\" is not the line of a clock");
    *ret_estimate = estimate;
    return 0;
}

int64_t esi_clock_estimate_newest(const struct esi_clock_estimate *estimate)
{
    return estimate->count > 0 ? (int64_t)clock_wire_bounded(
                                     estimate->knots[estimate->count - 1].local_ns)
                               : -1;
}

int esi_clock_exchange_read(const struct es_member *reply,
                            uint64_t sent_ns,
                            uint64_t received_ns,
                            struct es_error *error,
                            struct esi_clock_exchange *ret_exchange,
                            uint64_t *ret_run_base_ns)
{
    int64_t arrived = 0, answered = 0, run_base = 0;
    int result = esi_member_integer(reply, "arrived", 0, INT64_MAX, error, &arrived);

    if (result == 0)
        result = esi_member_integer(reply, "answered", 0, INT64_MAX, error, &answered);
    if (result == 0)
        result = esi_member_integer(reply, "run_base", 0, INT64_MAX, error, &run_base);
    if (result < 0)
        return result;
    *ret_exchange = (struct esi_clock_exchange){.sent_ns = sent_ns,
                                                .arrived_ns = (uint64_t)arrived,
                                                .answered_ns = (uint64_t)answered,
                                                .received_ns = received_ns};
    *ret_run_base_ns = (uint64_t)run_base;
    return 0;
}
