/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Records the segment that test_foreign.c reads: to be built and run for a machine of
 * the other byte order (tests/tuplespace/record-foreign does it with an emulator).
 *
 *   record_foreign FILE     writes the segment to FILE; prints the facts that are of
 *                           this one recording: pid, clock
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "foreign.h"

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "record_foreign: %s\n", what);
    exit(1);
}

static struct es_segment *make_segment(void)
{
    struct es_error error = {.text = ""};
    struct es_segment_config config;
    struct es_segment *segment;

    es_segment_config_init(&config);
    config.run = "foreign";
    config.host = FOREIGN_HOST;
    config.program = FOREIGN_PROGRAM;
    config.rank = FOREIGN_RANK;
    config.size = FOREIGN_SIZE;
    config.max_elements = 8;
    config.max_communicators = 8;
    config.arena_bytes = 8192;
    config.calibrate_ns = 0;
    require(es_segment_create(&config, &error, &segment) == 0, error.text);
    return segment;
}

static void add_trace(struct es_segment *segment,
                      const char *name,
                      uint64_t count,
                      bool open)
{
    struct es_element_config config = fixture_config(name, FOREIGN_THRESHOLD);
    struct es_writer writer;

    config.rank = FOREIGN_RANK;
    config.peer = FOREIGN_PEER;
    require(es_segment_add_element(segment, &config, &writer) == 0, "no element");
    for (uint64_t i = 0; i < count; i++) {
        struct es_tuple tuple = fixture_tuple(i);

        es_writer_write(&writer, &tuple);
    }
    if (open) {
        struct es_tuple tuple = fixture_tuple(count);

        tuple.stop = 0;
        es_writer_open(&writer, &tuple);
    }
}

static void add_shared(struct es_segment *segment)
{
    struct es_element_config config = fixture_config(FOREIGN_SHARED, FOREIGN_THRESHOLD);
    struct es_writer writer;

    config.kind = ES_ELEMENT_SHARED;
    config.tuple_bytes = 8;
    require(es_segment_add_element(segment, &config, &writer) == 0, "no element");
    require(es_shared_write(&writer, FOREIGN_DATA, 8, 0) == 0, "nothing written");
}

static void add_communicators(struct es_segment *segment)
{
    static const int32_t odd[] = {1, 3, 5, 7};
    static const int32_t listed[] = {6, 0, 4};
    struct es_communicator_config strided = {.key = {FOREIGN_KEY, 1},
                                             .rank = 2,
                                             .parent = ES_COMMUNICATOR_NONE,
                                             .name = "odd ranks",
                                             .group = odd,
                                             .group_size = 4};
    struct es_communicator_config between = {.key = {FOREIGN_KEY, 2},
                                             .rank = 1,
                                             .parent = 0,
                                             .flags = ES_COMMUNICATOR_INTER,
                                             .name = "between",
                                             .group = odd,
                                             .group_size = 4,
                                             .remote = listed,
                                             .remote_size = 3,
                                             .keep_list = true};
    uint16_t index;

    require(es_segment_add_communicator(segment, &strided, &index) == 0, "no table");
    require(es_segment_add_communicator(segment, &between, &index) == 0, "no table");
    es_segment_free_communicator(segment, index);
}

/* All of it up to the end of the arena's used part. */
static void save(struct es_segment *segment, const char *path)
{
    struct es_segment_layout *layout = es_segment_layout(segment);
    size_t bytes = layout->arena_offset + layout->arena_used;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    require(file >= 0 && write(file, layout, bytes) == (ssize_t)bytes, path);
    close(file);
    printf("pid %d\nclock_kind %" PRIu32 "\nfrequency_hz %" PRIu64 "\n", layout->pid,
           layout->clock.kind, layout->clock.frequency_hz);
    printf("base_ticks %" PRIu64 "\nbase_realtime_ns %" PRIu64 "\n",
           layout->clock.base_ticks, layout->clock.base_realtime_ns);
}

int main(int argc, char **argv)
{
    struct es_segment *segment;

    require(argc == 2, "usage: record_foreign FILE");
    segment = make_segment();
    add_trace(segment, FOREIGN_WRAPPED, 100, false);
    add_trace(segment, FOREIGN_OPEN, 5, true);
    add_trace(segment, FOREIGN_EMPTY, 0, false);
    add_shared(segment);
    add_communicators(segment);
    es_segment_set_state(segment, ES_SEGMENT_FINALIZED);
    save(segment, argv[1]);
    es_segment_destroy(segment);
    return 0;
}
