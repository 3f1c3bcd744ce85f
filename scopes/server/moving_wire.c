/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What tuple servers tell each other of elements whose tuples they move. */
#include "config.h"

#include "scopes/server/moving_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Larger groups are found through segments of their members, where those are. */
#define GROUP_MAX 65536

/* --- Elements --------------------------------------------------------------------- */

/* JSON has no numbers above this in our reader; such a clock is worthless anyhow. */
static uint64_t cut(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : value;
}

static void write_clock(struct es_json_out *out, const struct es_clock *clock)
{
    es_json_out_begin_object(out, "clock");
    es_json_out_unsigned(out, "kind", clock->kind);
    es_json_out_unsigned(out, "frequency_hz", cut(clock->frequency_hz));
    es_json_out_unsigned(out, "frequency_error_ppb", cut(clock->frequency_error_ppb));
    es_json_out_unsigned(out, "base_ticks", cut(clock->base_ticks));
    es_json_out_unsigned(out, "base_realtime_ns", cut(clock->base_realtime_ns));
    es_json_out_unsigned(out, "base_monotonic_ns", cut(clock->base_monotonic_ns));
    es_json_out_unsigned(out, "base_error_ns", cut(clock->base_error_ns));
    es_json_out_end(out);
}

void es_moving_write(struct es_json_out *out, const struct es_element_view *element)
{
    const struct es_segment_view *segment = es_element_view_segment(element);
    struct es_segment_info process;
    struct es_element_info info;

    es_segment_view_info(segment, &process);
    es_element_view_info(element, &info);
    es_json_out_begin_object(out, "process");
    es_json_out_string(out, "host", process.host);
    es_json_out_string(out, "program", process.program);
    es_json_out_signed(out, "pid", process.pid);
    es_json_out_signed(out, "rank", process.rank);
    es_json_out_signed(out, "size", process.size);
    write_clock(out, es_segment_view_clock(segment));
    es_json_out_end(out);
    es_json_out_begin_object(out, "element");
    es_json_out_string(out, "name", info.name);
    es_json_out_string(out, "collector", info.collector);
    es_json_out_signed(out, "rank", info.rank);
    es_json_out_signed(out, "thread", info.thread);
    es_json_out_unsigned(out, "classes", info.classes);
    es_json_out_signed(out, "peer", info.peer);
    es_json_out_unsigned(out, "communicator", info.communicator);
    es_json_out_unsigned(out, "threshold", info.threshold);
    es_json_out_end(out);
}

/* One number of an object; the first fault stays in `result`. */
static int64_t number(const struct es_member *object,
                      const char *name,
                      int64_t least,
                      int64_t most,
                      struct es_error *error,
                      int *result)
{
    int64_t value = 0;

    if (*result == 0)
        *result = es_member_integer(object, name, least, most, error, &value);
    return value;
}

static const char *text(const struct es_member *object,
                        const char *name,
                        size_t most,
                        struct es_error *error,
                        int *result)
{
    const char *value = "";

    if (*result == 0)
        *result = es_member_text(object, name, error, &value);
    if (*result == 0 && strlen(value) > most)
        *result = es_error_set(error, -EINVAL, "\"%s\" is too long", name);
    return value;
}

static int read_clock(const struct es_member *object,
                      struct es_error *error,
                      struct es_clock *ret_clock)
{
    int result = 0;

    *ret_clock = (struct es_clock){
        .kind = (uint32_t)number(object, "kind", ES_CLOCK_MONOTONIC, ES_CLOCK_TSC,
                                 error, &result),
        .frequency_hz =
            (uint64_t)number(object, "frequency_hz", 1, INT64_MAX, error, &result),
        .frequency_error_ppb = (uint64_t)number(object, "frequency_error_ppb", 0,
                                                INT64_MAX, error, &result),
        .base_ticks =
            (uint64_t)number(object, "base_ticks", 0, INT64_MAX, error, &result),
        .base_realtime_ns =
            (uint64_t)number(object, "base_realtime_ns", 0, INT64_MAX, error, &result),
        .base_monotonic_ns =
            (uint64_t)number(object, "base_monotonic_ns", 0, INT64_MAX, error, &result),
        .base_error_ns =
            (uint64_t)number(object, "base_error_ns", 0, INT64_MAX, error, &result),
    };
    return result;
}

static int need(const struct es_member *object,
                const char *name,
                struct es_error *error,
                const struct es_member **ret_member)
{
    *ret_member = es_member_find(object, name);
    if (*ret_member)
        return 0;
    return es_error_set(error, -EINVAL, "there is no \"%s\"", name);
}

static int read_process(const struct es_member *request,
                        struct es_error *error,
                        struct es_moving_element *moving)
{
    const struct es_member *process, *clock;
    int result = need(request, "process", error, &process);

    if (result == 0)
        result = need(process, "clock", error, &clock);
    if (result == 0)
        result = read_clock(clock, error, &moving->clock);
    if (result < 0)
        return result;
    moving->process = (struct es_moved_process){
        .host = text(process, "host", 63, error, &result),
        .program = text(process, "program", 255, error, &result),
        .facts = {
            .pid = (int)number(process, "pid", 1, INT32_MAX, error, &result),
            .rank = (int)number(process, "rank", -1, INT32_MAX, error, &result),
            .size = (int)number(process, "size", -1, INT32_MAX, error, &result),
            .clock = &moving->clock,
        }};
    return result;
}

int es_moving_read(const struct es_member *request,
                   struct es_error *error,
                   struct es_moving_element *ret_element)
{
    const struct es_member *element;
    int result = read_process(request, error, ret_element);

    if (result == 0)
        result = need(request, "element", error, &element);
    if (result < 0)
        return result;
    ret_element->element = (struct es_element_config){
        .kind = ES_ELEMENT_TRACE,
        .name = text(element, "name", 63, error, &result),
        .collector = text(element, "collector", 31, error, &result),
        .rank = (int)number(element, "rank", -1, INT32_MAX, error, &result),
        .thread = (int)number(element, "thread", -1, INT32_MAX, error, &result),
        .classes = (uint32_t)number(element, "classes", 0, UINT32_MAX, error, &result),
        .peer = (int)number(element, "peer", INT32_MIN, INT32_MAX, error, &result),
        .communicator =
            (uint16_t)number(element, "communicator", 0, UINT16_MAX, error, &result),
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = (uint32_t)number(element, "threshold", 1, 1 << 24, error, &result),
        .enabled = true,
    };
    return result;
}

/* --- Communicators ---------------------------------------------------------------- */

static void write_group(struct es_json_out *out,
                        const char *name,
                        const struct es_run *run,
                        const struct es_segment_view *segment,
                        uint16_t index,
                        bool remote,
                        int size)
{
    es_json_out_begin_array(out, name);
    for (int i = 0; i < size && size <= GROUP_MAX; i++)
        es_json_out_signed(out, NULL,
                           es_run_world_rank(run, segment, index, remote, i));
    es_json_out_end(out);
}

void es_moving_write_communicator(struct es_json_out *out,
                                  const struct es_run *run,
                                  const struct es_segment_view *segment,
                                  uint16_t index,
                                  const struct es_communicator_info *info)
{
    char key[40];

    snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, info->key[0], info->key[1]);
    es_json_out_unsigned(out, "index", index);
    es_json_out_string(out, "key", key);
    es_json_out_string(out, "name", info->name);
    es_json_out_signed(out, "rank", info->rank);
    es_json_out_unsigned(out, "parent", info->parent);
    es_json_out_signed(out, "size", info->size);
    es_json_out_signed(out, "remote_size", info->remote_size);
    write_group(out, "group", run, segment, index, false, info->size);
    write_group(out, "remote", run, segment, index, true, info->remote_size);
}

/* The whole group, or none: a member that is not known there makes it useless. */
static int read_group(const struct es_member *list, int size, int32_t **ret_ranks)
{
    int32_t *ranks;

    if (size <= 0 || es_member_count(list) != (size_t)size)
        return 0;
    ranks = calloc((size_t)size, sizeof *ranks);
    if (!ranks)
        return -ENOMEM;
    for (int i = 0; i < size; i++) {
        int64_t rank = es_member_as_integer(es_member_at(list, (size_t)i));

        if (rank < 0 || rank > INT32_MAX) {
            free(ranks);
            return 0;
        }
        ranks[i] = (int32_t)rank;
    }
    *ret_ranks = ranks;
    return 0;
}

static int read_key(const char *key, struct es_error *error, uint64_t out[2])
{
    if (strlen(key) == 32 && strspn(key, "0123456789abcdef") == 32 &&
        sscanf(key, "%16" SCNx64 "%16" SCNx64, &out[0], &out[1]) == 2)
        return 0;
    return es_error_set(error, -EINVAL, "\"key\" is no communicator's key");
}

int es_moving_read_communicator(const struct es_member *request,
                                struct es_error *error,
                                struct es_moving_communicator *ret_communicator)
{
    struct es_moving_communicator read = {.config = {.keep_list = true}};
    int result = 0;
    const char *key;

    read.id = (uint32_t)number(request, "id", 0, UINT32_MAX, error, &result);
    read.index = (uint16_t)number(request, "index", 0, 65534, error, &result);
    key = text(request, "key", 32, error, &result);
    read.config.name = text(request, "name", 63, error, &result);
    read.config.rank =
        (int)number(request, "rank", INT32_MIN, INT32_MAX, error, &result);
    read.config.parent =
        (uint16_t)number(request, "parent", 0, UINT16_MAX, error, &result);
    read.config.group_size =
        (int)number(request, "size", 0, ES_GROUP_MAX, error, &result);
    read.config.remote_size =
        (int)number(request, "remote_size", 0, ES_GROUP_MAX, error, &result);
    if (result == 0)
        result = read_key(key, error, read.config.key);
    if (result == 0)
        result = read_group(es_member_find(request, "group"), read.config.group_size,
                            &read.ranks[0]);
    if (result == 0)
        result = read_group(es_member_find(request, "remote"), read.config.remote_size,
                            &read.ranks[1]);
    if (result < 0) {
        es_moving_fini_communicator(&read);
        return result;
    }
    read.config.flags = read.config.remote_size > 0 ? ES_COMMUNICATOR_INTER : 0;
    read.config.group = read.ranks[0];
    read.config.remote = read.ranks[1];
    *ret_communicator = read;
    return 0;
}

void es_moving_fini_communicator(struct es_moving_communicator *communicator)
{
    free(communicator->ranks[0]);
    free(communicator->ranks[1]);
}
