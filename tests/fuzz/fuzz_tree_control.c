/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds bytes as the tree control of a segment.  The first eight are its offset in the
 * segment (0 = the real one); the others overwrite the control, from its header on.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "eventspace/run.h"
#include "scopes/collective_trees.h"
#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/segment.h"
#include "tuplespace/tree_control.h"

static char id[64];
static struct es_segment *segment;
static char *control; /* in the segment */
static size_t board_bytes;
static uint64_t board_offset;
static struct es_run *run;

static void remove_all(void)
{
    es_run_close(run);
    esi_segment_destroy(segment);
}

static void begin(void)
{
    struct esi_segment_config config;

    esi_segment_config_init(&config);
    snprintf(id, sizeof id, "fuzz-trees-%d", (int)getpid());
    config.run = id;
    config.host = "fuzz";
    config.rank = 0;
    config.max_elements = 1;
    config.max_communicators = 1;
    config.arena_bytes = 1 << 20;
    require(esi_segment_create(&config, NULL, &segment) == 0);
    require(esi_segment_add_tree_control(segment) == 0);
    board_offset = esi_segment_layout(segment)->tree_control_offset;
    control = (char *)esi_segment_layout(segment) + board_offset;
    board_bytes = esi_tree_control_bytes(
        sizeof(struct esi_tree_control_layout), ES_TREE_DESIRED_BYTES,
        sizeof(struct esi_tree_log_entry), ES_TREE_LOG_SLOTS);
    require(es_run_open(id, NULL, &run) == 0);
    atexit(remove_all);
}

static void lay_out(const uint8_t *data, size_t size)
{
    uint64_t offset = 0;

    memcpy(&offset, data, sizeof offset);
    esi_segment_layout(segment)->tree_control_offset = offset ? offset : board_offset;
    size -= sizeof offset;
    memcpy(control, data + sizeof offset, size < board_bytes ? size : board_bytes);
}

static void read_log(const struct es_segment_view *view)
{
    struct esi_tree_log_entry entries[ES_TREE_LOG_ENTRIES];
    size_t count = esi_segment_view_tree_log(view, entries, ES_TREE_LOG_ENTRIES);

    require(count <= ES_TREE_LOG_ENTRIES);
    for (size_t i = 0; i < count; i++)
        require(memchr(entries[i].name, '\0', sizeof entries[i].name) &&
                memchr(entries[i].text, '\0', sizeof entries[i].text));
}

static void write_answers(void)
{
    struct esi_json_text json;
    char *text;
    size_t length;

    require(esi_json_text_begin(&json) == 0);
    esi_json_out_begin_object(&json.out, NULL);
    esi_collective_trees_report(run, "fuzz", &json.out);
    esi_collective_trees_report_desired(run, "fuzz", &json.out);
    esi_collective_trees_desire(run, "fuzz", "eventspace-trees 1\nend\n", &json.out);
    esi_json_out_end(&json.out);
    require(esi_json_text_finish(&json, &text, &length) == 0);
    free(text);
}

FUZZ_TARGET(fuzz_tree_control, data, size)
{
    static char text[ES_TREE_DESIRED_BYTES];
    struct es_segment_view *view;

    if (!segment)
        begin();
    if (size < sizeof(uint64_t))
        return 0;
    lay_out(data, size);
    view = es_run_segment(run, 0);
    if (esi_segment_view_read_desired(view, text) != 0)
        require(memchr(text, '\0', sizeof text) != NULL);
    esi_segment_view_desired_version(view);
    read_log(view);
    write_answers();
    if (esi_tree_desired_read(segment, text) != 0)
        require(memchr(text, '\0', sizeof text) != NULL);
    return 0;
}
