/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the reader of archives. The first byte says whether the rest is the
 * tables or a stream. */
#include "config.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "monitors/archive/archive_tables.h"
#include "monitors/archive/ctf_reader.h"
#include "tests/fuzz/fuzz_target.h"

static void read_tables(const uint8_t *data, size_t size)
{
    struct esi_archive_tables tables = {.hosts = NULL};
    struct es_error error = {.text = ""};

    esi_archive_tables_read(&tables, (const char *)data, size, "fuzz", &error);
    esi_archive_tables_fini(&tables);
}

static void read_stream(int directory, const char *name, enum esi_ctf_kind kind)
{
    static const uint8_t uuid[16] = {0};
    struct esi_ctf_reader_config config = {
        .directory = directory, .name = name, .uuid = uuid, .kind = kind};
    const struct esi_ctf_record *record;
    struct esi_ctf_reader *reader;

    if (esi_ctf_reader_create(&config, &reader) < 0)
        return;
    while (esi_ctf_reader_peek(reader, &record, NULL) > 0)
        esi_ctf_reader_next(reader);
    esi_ctf_reader_destroy(reader);
}

static void read_as_stream(const uint8_t *data, size_t size, enum esi_ctf_kind kind)
{
    char name[] = "/tmp/es-fuzz-archive-XXXXXX";
    int file = mkstemp(name);

    if (file < 0)
        return;
    if (write(file, data, size) == (ssize_t)size)
        read_stream(AT_FDCWD, name, kind);
    close(file);
    unlink(name);
}

FUZZ_TARGET(fuzz_archive, data, size)
{
    if (size == 0)
        return 0;
    if (data[0] == 's' || data[0] == 'l')
        read_as_stream(data + 1, size - 1,
                       data[0] == 'l' ? ESI_CTF_LATE : ESI_CTF_ORDERED);
    else
        read_tables(data + 1, size - 1);
    return 0;
}
