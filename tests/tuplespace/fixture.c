/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Helpers shared by the tests of the tuple space. */
#include "config.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/random.h"

const char *fixture_run(const char *test, char out[64])
{
    snprintf(out, 64, "test-%s-%d", test, (int)getpid());
    return out;
}

static void fail(const char *what, int rc, const struct es_error *error)
{
    char text[800];

    printf("# %s: %s (%s)\n", what, strerror(-rc),
           es_error_format(error, text, sizeof text));
    fflush(stdout);
    abort();
}

struct es_segment *fixture_segment(const char *run, int rank)
{
    struct es_error error = {.text = ""};
    struct esi_segment_config config;
    struct es_segment *segment;
    int rc;

    esi_segment_config_init(&config);
    config.run = run;
    config.host = "testhost.local";
    config.program = "test";
    config.rank = rank;
    config.size = 4;
    config.max_elements = 64;
    config.max_communicators = 256;
    config.arena_bytes = 1 << 24;
    config.calibrate_ns = 0;
    rc = esi_segment_create(&config, &error, &segment);
    if (rc != 0)
        fail("esi_segment_create", rc, &error);
    return segment;
}

struct esi_element_config fixture_config(const char *name, uint32_t threshold)
{
    return (struct esi_element_config){
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = "test",
        .classes = 2,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = threshold,
        .on_full = ES_ON_FULL_DISCARD,
        .enabled = true,
    };
}

void fixture_element(struct es_segment *segment,
                     const char *name,
                     uint32_t threshold,
                     struct esi_writer *ret_writer)
{
    static const struct es_error none;
    struct esi_element_config config = fixture_config(name, threshold);
    int rc = esi_segment_add_element(segment, &config, ret_writer);

    if (rc != 0)
        fail("esi_segment_add_element", rc, &none);
}

struct es_run *fixture_open(const char *run)
{
    struct es_error error = {.text = ""};
    struct es_run *opened;
    int rc = es_run_open(run, &error, &opened);

    if (rc != 0)
        fail("es_run_open", rc, &error);
    return opened;
}

struct es_element_view *fixture_find(const struct es_run *run, const char *name)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        struct es_segment_view *segment = es_run_segment(run, i);

        for (size_t j = 0; j < es_segment_view_element_count(segment); j++) {
            struct es_element_view *element = es_segment_view_element(segment, j);
            struct es_element_info info;

            es_element_view_info(element, &info);
            if (strcmp(info.name, name) == 0)
                return element;
        }
    }
    return NULL;
}

struct es_tuple fixture_tuple(uint64_t position)
{
    uint64_t noise = random_mix(position + 1);

    return (struct es_tuple){
        .stop = random_mix(position + 2) | 1,
        /* Few codes, so that neighbouring tuples often share one. */
        .operation = (uint16_t)(1 + noise % 3),
        .communicator = (uint16_t)(noise >> 16),
        .start = position,
        .sequence = (uint32_t)noise,
        .peer = (int32_t)(noise >> 32),
        .tag = (int32_t)random_mix(position + 3),
        .bytes = (uint32_t)(random_mix(position + 3) >> 32),
    };
}

bool fixture_is_whole(const struct es_tuple *tuple, bool open)
{
    struct es_tuple expected = fixture_tuple(tuple->start);

    if (open)
        expected.stop = 0;
    return memcmp(tuple, &expected, sizeof expected) == 0;
}

uint64_t fixture_position(const struct es_tuple *tuple)
{
    return tuple->start;
}

uint64_t fixture_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void fixture_sleep_ns(uint64_t ns)
{
    struct timespec rest = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};

    nanosleep(&rest, NULL);
}
