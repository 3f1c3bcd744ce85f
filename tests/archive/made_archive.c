/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_archive.c - creates archives for tests. */
#include "config.h"

#include "tests/archive/made_archive.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "eventspace/operation.h"

void made_archive_begin(struct made_archive *made, int ranks)
{
    struct esi_archive_config config = {
        .run = "made", .begun_ns = 1000, .packet_bytes = MADE_PACKET_BYTES};
    struct esi_archive_tables *tables;
    int32_t world[64];
    uint32_t host;

    snprintf(made->folder, sizeof made->folder, "/tmp/es-archive-XXXXXX");
    assert_non_null(mkdtemp(made->folder));
    snprintf(made->directory, sizeof made->directory, "%s/a", made->folder);
    config.directory = made->directory;
    assert_int_equal(esi_archive_create(&config, NULL, &made->archive), 0);
    tables = esi_archive_writer_tables(made->archive);
    assert_int_equal(esi_archive_tables_host(tables, "made", &host), 0);
    assert_true(ranks <= 64);
    for (int i = 0; i < ranks; i++)
        world[i] = i;
    for (int i = 0; i < ranks; i++) {
        struct esi_archive_process process = {.host = host,
                                              .rank = i,
                                              .size = ranks,
                                              .pid = 100 + i,
                                              .program = "program",
                                              .state = "running"};
        struct esi_archive_communicator communicator = {.key = {1, 2},
                                                        .name = "MPI_COMM_WORLD",
                                                        .rank = i,
                                                        .size = ranks,
                                                        .remote_first = -1,
                                                        .parent = ES_COMMUNICATOR_NONE};
        struct esi_archive_element element = {.classes = ES_CLASSES_ALL,
                                              .peer = ES_PEER_NONE,
                                              .communicator = ES_COMMUNICATOR_NONE};
        uint32_t number;

        assert_int_equal(
            esi_archive_tables_add_process(tables, &process, &element.process), 0);
        assert_int_equal(esi_archive_tables_set_communicator(tables, element.process, 0,
                                                             &communicator),
                         0);
        snprintf(element.name, sizeof element.name, "%d.0/all", i);
        snprintf(element.collector, sizeof element.collector, "all");
        assert_int_equal(esi_archive_tables_add_element(tables, &element, &number), 0);
    }
    assert_int_equal(esi_archive_tables_add_group(
                         tables, &(struct esi_archive_group){.key = {1, 2},
                                                             .world = world,
                                                             .size = (size_t)ranks}),
                     0);
}

void made_archive_close(struct made_archive *made)
{
    assert_int_equal(esi_archive_close(made->archive, 5000, NULL), 0);
    made->archive = NULL;
}

static int remove_one(const char *path,
                      const struct stat *status,
                      int kind,
                      struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void made_archive_remove(struct made_archive *made)
{
    if (made->archive)
        made_archive_close(made);
    assert_int_equal(nftw(made->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void made_archive_append(struct made_archive *made,
                         uint32_t element,
                         uint64_t stop,
                         int tag)
{
    struct es_tuple tuple = {.stop = stop,
                             .operation = es_operation_by_name("MPI_Send")->code,
                             .start = stop - 10,
                             .sequence = (uint32_t)tag,
                             .peer = 1,
                             .tag = tag,
                             .bytes = 8};

    assert_int_equal(esi_archive_append(made->archive, element, &tuple, (uint64_t)tag),
                     0);
}

const char *made_archive_tags(const struct made_archive *made, uint32_t element)
{
    static char tags[4096];
    struct esi_archive_reader *reader;
    struct esi_archive_cursor *cursor;
    struct esi_archive_item item;
    size_t used = 0;
    int result;

    tags[0] = '\0';
    assert_int_equal(esi_archive_open(made->directory, NULL, &reader), 0);
    assert_int_equal(esi_archive_cursor_create(reader, element, NULL, &cursor), 0);
    while ((result = esi_archive_cursor_next(cursor, &item, NULL)) > 0) {
        assert_true(used < sizeof tags - 32);
        if (item.lost > 0)
            used += (size_t)snprintf(tags + used, 32, "%sL%d", used ? " " : "",
                                     (int)item.lost);
        else
            used += (size_t)snprintf(tags + used, 32, "%s%d", used ? " " : "",
                                     (int)item.tuple.tag);
    }
    if (result < 0)
        snprintf(tags + used, 32, " !");
    esi_archive_cursor_destroy(cursor);
    esi_archive_read_close(reader);
    return tags;
}

const char *made_archive_path(const struct made_archive *made, const char *file)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", made->directory, file);
    return path;
}

char *made_archive_load(const struct made_archive *made,
                        const char *file,
                        size_t *ret_length)
{
    FILE *stream = fopen(made_archive_path(made, file), "r");
    char *bytes = malloc(1 << 20);

    assert_non_null(stream);
    assert_non_null(bytes);
    *ret_length = fread(bytes, 1, 1 << 20, stream);
    fclose(stream);
    return bytes;
}

void made_archive_store(const struct made_archive *made,
                        const char *file,
                        const char *bytes,
                        size_t length)
{
    FILE *stream = fopen(made_archive_path(made, file), "w");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}
