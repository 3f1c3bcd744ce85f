/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes as a segment in shared memory: readers refuse it with an error, or read
 * all that it contains. */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventspace/run.h"
#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/layout.h"
#include "tuplespace/ledger.h"
#include "tuplespace/segment_name.h"

static void use_element(const struct es_element_view *element)
{
    struct es_element_info info;
    struct es_tuple tuples[16];
    struct es_cursor cursor = {0};
    uint64_t position;
    char *raw;

    es_element_view_info(element, &info);
    require(memchr(info.name, '\0', 64) != NULL);
    es_element_latest(element, tuples, &position);
    es_element_open(element, tuples);
    require(es_element_read(element, &cursor, tuples, 16) <= 16);
    raw = malloc((size_t)info.tuple_bytes * 2);
    es_cursor_init(&cursor, element, false);
    if (raw)
        require(es_element_read_raw(element, &cursor, raw, 2) <= 2);
    free(raw);
    es_element_discard(element, 1);
    es_element_set_threshold(element, 1);
}

static void use_segment(const struct es_run *run, const struct es_segment_view *segment)
{
    struct es_segment_info info;
    struct es_communicator_info communicator;
    struct esi_ledger ledger;
    uint64_t error_ns;

    es_segment_view_info(segment, &info);
    require(memchr(info.program, '\0', 256) != NULL);
    es_clock_realtime_ns(es_segment_view_clock(segment), 1, &error_ns);
    if (esi_ledger_read(segment, &ledger) == 0) {
        for (size_t i = 0; i < ledger.wait_count; i++)
            require(ledger.waits[i].known <= ESI_LEDGER_WAIT_HANDLES);
        esi_ledger_fini(&ledger);
    }
    for (uint16_t i = 0; i < 100; i++) {
        if (es_segment_view_communicator(segment, i, &communicator) != 0)
            break;
        require(communicator.size >= 0 && communicator.size <= ES_GROUP_MAX);
        require(communicator.remote_size >= 0 &&
                communicator.remote_size <= ES_GROUP_MAX);
        es_run_world_rank(run, segment, i, false, 0);
        es_run_world_rank(run, segment, i, true, communicator.size - 1);
    }
    for (size_t i = 0; i < es_segment_view_element_count(segment); i++)
        use_element(es_segment_view_element(segment, i));
}

static void use_run(const char *id)
{
    struct es_error error = {.text = ""};
    struct es_run *run;

    if (es_run_open(id, &error, &run) != 0) {
        require(error.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        use_segment(run, es_run_segment(run, i));
    es_run_refresh(run);
    es_run_close(run);
}

FUZZ_TARGET(fuzz_segment, data, size)
{
    struct esi_segment_name name = {.host = "fuzz", .pid = getpid()};
    char file[ES_SEGMENT_NAME_BYTES];
    int fd;

    snprintf(name.run, sizeof name.run, "fuzz-%d", (int)getpid());
    require(esi_segment_name_format(&name, file) == 0);
    fd = shm_open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return 0;
    if (write(fd, data, size) == (ssize_t)size)
        use_run(name.run);
    close(fd);
    shm_unlink(file);
    return 0;
}
