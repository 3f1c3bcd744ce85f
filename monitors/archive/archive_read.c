/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_read.c - opens an archive: its tables and its parts. */
#include "config.h"

#include "monitors/archive/archive_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_place.h"
#include "monitors/archive/archive_reader.h"

/* More than the tables of 100,000 ranks need. */
#define TABLES_MAX ((size_t)1 << 30)
#define TABLES ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_TABLES

bool es_archive_is_one(const char *directory)
{
    struct stat status;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, TABLES);

    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0;
}

static int read_tables(struct es_archive_reader *reader, struct es_error *error)
{
    char source[4096];
    char *text = NULL;
    size_t length = 0;
    int result = esi_archive_slurp(reader->root, TABLES, TABLES_MAX, &text, &length);

    snprintf(source, sizeof source, "%s/%s", reader->path, TABLES);
    if (result == -ENOENT)
        return es_error_set(error, result, "%s is no archive: it has no %s",
                            reader->path, TABLES);
    if (result < 0)
        return es_error_set(error, result, "cannot read %s: %s", source,
                            strerror(-result));
    result = es_archive_tables_read(&reader->tables, text, length, source, error);
    free(text);
    return result;
}

static int open_hosts(struct es_archive_reader *reader)
{
    size_t count = reader->tables.host_count;

    reader->hosts = calloc(count + 1, sizeof *reader->hosts);
    if (!reader->hosts)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        reader->hosts[i] = -1;
    for (uint32_t i = 0; i < count; i++) {
        char name[ESI_ARCHIVE_NAME_BYTES];

        esi_archive_host_directory(&reader->tables, i, name);
        reader->hosts[i] =
            openat(reader->root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    return 0;
}

int es_archive_open(const char *directory,
                    struct es_error *error,
                    struct es_archive_reader **ret_reader)
{
    struct es_archive_reader *reader = calloc(1, sizeof *reader);
    int result = 0;

    if (reader)
        reader->path = strdup(directory);
    if (!reader || !reader->path) {
        free(reader);
        return es_error_set(error, -ENOMEM, "no memory left for the archive");
    }
    reader->root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader->root < 0)
        result = es_error_set(error, -errno, "cannot open %s: %s", directory,
                              strerror(errno));
    if (result == 0)
        result = read_tables(reader, error);
    if (result == 0)
        result = open_hosts(reader);
    if (result < 0) {
        es_archive_read_close(reader);
        return result;
    }
    *ret_reader = reader;
    return 0;
}

void es_archive_read_close(struct es_archive_reader *reader)
{
    int saved_errno = errno;

    if (!reader)
        return;
    for (size_t i = 0; reader->hosts && i < reader->tables.host_count; i++)
        if (reader->hosts[i] >= 0)
            close(reader->hosts[i]);
    free(reader->hosts);
    if (reader->root >= 0)
        close(reader->root);
    es_archive_tables_fini(&reader->tables);
    free(reader->path);
    free(reader);
    errno = saved_errno;
}

const struct es_archive_tables *es_archive_tables(
    const struct es_archive_reader *reader)
{
    return &reader->tables;
}

int es_archive_read_map(struct es_archive_reader *reader, char **ret_text)
{
    size_t length;

    return esi_archive_slurp(reader->root, ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_MAP,
                             TABLES_MAX, ret_text, &length);
}

int esi_archive_stream_open(const struct es_archive_reader *reader,
                            uint32_t element,
                            unsigned late,
                            struct es_error *error,
                            struct esi_ctf_reader **ret_stream)
{
    const struct es_archive_tables *tables = &reader->tables;
    uint32_t host = tables->processes[tables->elements[element].process].host;
    char name[ESI_ARCHIVE_NAME_BYTES];
    struct esi_ctf_reader_config config = {
        .directory = reader->hosts[host],
        .name = name,
        .uuid = tables->hosts[host].uuid,
        .kind = late > 0 ? ESI_CTF_LATE : ESI_CTF_ORDERED,
        .element = element,
    };
    int result;

    if (config.directory < 0)
        return -ENOENT;
    esi_archive_stream_name(tables, element, late, name);
    result = esi_ctf_reader_create(&config, ret_stream);
    if (result < 0 && result != -ENOENT)
        es_error_set(error, result, "cannot read %s/%s/%s: %s", reader->path,
                     tables->hosts[host].name, name, strerror(-result));
    return result;
}

/* --- Repairing --------------------------------------------------------------- */

struct repair {
    struct es_archive_reader *reader;
    uint64_t bytes;
    int streams;
};

/* Where what can be read of a stream ends. */
static int find_end(struct repair *repair,
                    uint32_t element,
                    unsigned late,
                    struct es_error *error,
                    uint64_t *ret_end)
{
    const struct esi_ctf_record *record;
    struct esi_ctf_reader *stream;
    int result = esi_archive_stream_open(repair->reader, element, late, error, &stream);

    if (result < 0)
        return result;
    while ((result = esi_ctf_reader_peek(stream, &record, NULL)) > 0)
        esi_ctf_reader_next(stream);
    *ret_end = esi_ctf_reader_end(stream);
    esi_ctf_reader_destroy(stream);
    return result == -EBADMSG ? 0 : result;
}

static int cut(struct repair *repair, int directory, const char *name, uint64_t end)
{
    int file = openat(directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    int result = 0;

    if (file < 0 || fstat(file, &status) < 0)
        result = -errno;
    else if ((uint64_t)status.st_size > end) {
        repair->streams++;
        repair->bytes += (uint64_t)status.st_size - end;
        result = end > 0 ? ftruncate(file, (off_t)end) : unlinkat(directory, name, 0);
        result = result < 0 ? -errno : 0;
    }
    if (file >= 0)
        close(file);
    return result;
}

static int repair_stream(struct repair *repair,
                         uint32_t element,
                         unsigned late,
                         struct es_error *error)
{
    const struct es_archive_tables *tables = &repair->reader->tables;
    uint32_t host = tables->processes[tables->elements[element].process].host;
    char name[ESI_ARCHIVE_NAME_BYTES];
    uint64_t end = 0;
    int result = find_end(repair, element, late, error, &end);

    if (result < 0)
        return result;
    esi_archive_stream_name(tables, element, late, name);
    result = cut(repair, repair->reader->hosts[host], name, end);
    return result < 0 ? es_error_set(error, result, "cannot repair %s/%s/%s: %s",
                                     repair->reader->path, tables->hosts[host].name,
                                     name, strerror(-result))
                      : 0;
}

static int repair_element(struct repair *repair,
                          uint32_t element,
                          struct es_error *error)
{
    int result = 0;

    for (unsigned late = 0; late <= ESI_ARCHIVE_LATE_MAX; late++) {
        result = repair_stream(repair, element, late, error);
        if (result == -ENOENT && late > 0)
            return 0;
        if (result < 0 && result != -ENOENT)
            return result;
    }
    return 0;
}

int es_archive_repair(const char *directory,
                      uint64_t *ret_bytes,
                      struct es_error *error)
{
    struct repair repair = {.streams = 0};
    int result = es_archive_open(directory, error, &repair.reader);

    *ret_bytes = 0;
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < repair.reader->tables.element_count && result == 0; i++)
        result = repair_element(&repair, i, error);
    es_archive_read_close(repair.reader);
    *ret_bytes = repair.bytes;
    return result < 0 ? result : repair.streams;
}
