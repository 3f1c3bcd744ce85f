/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive.c - writes a run to disk: assigns tuples to streams. */
#include "config.h"

#include "monitors/archive/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_records.h"
#include "monitors/archive/ctf_stream.h"
#include "monitors/archive/site_column.h"

/* The streams of one element. */
struct element {
    struct esi_ctf_stream *ordered; /* owned; NULL = nothing written yet */
    struct esi_ctf_stream **late;   /* array and streams are owned */
    size_t late_count, late_capacity;
    uint64_t index; /* number of recorded tuples, the index of the next one */
    struct esi_site_column sites;
};

struct esi_archive {
    struct esi_archive_tables tables;
    char path[4096]; /* for error messages */
    int root;        /* descriptors */
    int side;
    int *hosts; /* descriptors of the hosts' directories; owned */
    size_t host_count, host_capacity;
    struct element *elements;               /* owned */
    size_t element_count, element_capacity; /* equal to the number in the written
                                               tables */
    size_t packet_bytes;
    uint64_t streams; /* number of streams created */
    uint64_t bytes;
    struct es_error failure;
    int result; /* the first failure */
};

/* --- Failures ---------------------------------------------------------------- */

/* Stores the failure unless there was one before.  Returns `code`. */
static int fail_archive(struct esi_archive *archive, int code, const char *part)
{
    if (archive->result < 0)
        return archive->result;
    archive->result = code;
    archive->tables.facts.error[0] = '\0';
    snprintf(archive->tables.facts.error, sizeof archive->tables.facts.error, "%s",
             strerror(-code));
    return es_error_set(&archive->failure, code, "cannot write %s/%s: %s",
                        archive->path, part, strerror(-code));
}

const struct es_error *esi_archive_failure(const struct esi_archive *archive)
{
    return archive->result < 0 ? &archive->failure : NULL;
}

/* --- Creation ---------------------------------------------------------------- */

static bool is_empty_directory(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    bool empty = stream != NULL;

    if (!stream && copy >= 0)
        close(copy);
    while (empty && (entry = readdir(stream)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (stream)
        closedir(stream);
    return empty;
}

static int open_directory(int parent, const char *name)
{
    int file;

    if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

static int open_directories(struct esi_archive *archive,
                            struct es_error *error,
                            bool *ret_made)
{
    *ret_made = mkdir(archive->path, 0700) == 0;
    archive->root = open_directory(AT_FDCWD, archive->path);
    if (archive->root < 0)
        return es_error_set(error, archive->root, "cannot make %s: %s", archive->path,
                            strerror(-archive->root));
    if (!is_empty_directory(archive->root))
        return es_error_set(error, -EEXIST,
                            "%s already exists and is not empty; name another "
                            "directory, or remove it",
                            archive->path);
    archive->side = open_directory(archive->root, ESI_ARCHIVE_SIDE);
    if (archive->side < 0)
        return es_error_set(error, archive->side, "cannot make %s/%s: %s",
                            archive->path, ESI_ARCHIVE_SIDE, strerror(-archive->side));
    return 0;
}

/* Removes the directories of an archive that could not be created; they contain no
 * files. */
static void remove_directories(const struct esi_archive *archive, bool is_made)
{
    if (archive->side >= 0)
        unlinkat(archive->root, ESI_ARCHIVE_SIDE, AT_REMOVEDIR);
    if (is_made)
        rmdir(archive->path);
}

static void destroy_archive(struct esi_archive *archive)
{
    for (size_t i = 0; i < archive->element_count; i++) {
        struct element *element = &archive->elements[i];

        esi_ctf_stream_destroy(element->ordered);
        for (size_t j = 0; j < element->late_count; j++)
            esi_ctf_stream_destroy(element->late[j]);
        free(element->late);
        esi_site_column_fini(&element->sites);
    }
    free(archive->elements);
    for (size_t i = 0; i < archive->host_count; i++)
        close(archive->hosts[i]);
    free(archive->hosts);
    if (archive->side >= 0)
        close(archive->side);
    if (archive->root >= 0)
        close(archive->root);
    esi_archive_tables_fini(&archive->tables);
    free(archive);
}

int esi_archive_create(const struct esi_archive_config *config,
                       struct es_error *error,
                       struct esi_archive **ret_archive)
{
    struct esi_archive *archive = calloc(1, sizeof *archive);
    bool is_made = false;
    int result = 0;

    if (!archive)
        return es_error_set(error, -ENOMEM, "no memory left for the archive");
    archive->root = archive->side = -1;
    archive->packet_bytes =
        config->packet_bytes ? config->packet_bytes : ESI_CTF_PACKET_BYTES;
    archive->tables.facts.begun_ns = config->begun_ns;
    snprintf(archive->tables.facts.run, sizeof archive->tables.facts.run, "%s",
             config->run);
    if (strlen(config->directory) >= sizeof archive->path)
        result = es_error_set(error, -ENAMETOOLONG, "the directory's name is too long");
    snprintf(archive->path, sizeof archive->path, "%s", config->directory);
    if (result == 0)
        result = open_directories(archive, error, &is_made);
    if (result == 0 && esi_archive_write_tables(archive) < 0)
        result = es_error_set(error, archive->result, "%s", archive->failure.text);
    if (result < 0) {
        remove_directories(archive, is_made);
        destroy_archive(archive);
        return result;
    }
    *ret_archive = archive;
    return 0;
}

/* --- Tables ------------------------------------------------------------------ */

struct esi_archive_tables *esi_archive_writer_tables(struct esi_archive *archive)
{
    return &archive->tables;
}

static void write_metadata(const void *data, FILE *stream)
{
    esi_ctf_metadata_write(data, stream);
}

/* Creates the directory and metadata of the next host. */
static int begin_host(struct esi_archive *archive)
{
    uint32_t number = (uint32_t)archive->host_count;
    struct esi_archive_host *host = &archive->tables.hosts[number];
    struct esi_ctf_trace trace = {.host = host->name, .run = archive->tables.facts.run};
    char name[ESI_ARCHIVE_NAME_BYTES];
    int result;

    if (ESI_ARRAY_RESERVE(archive->hosts, archive->host_capacity, number + 1) < 0)
        return fail_archive(archive, -ENOMEM, "");
    result = esi_archive_uuid(host->uuid);
    if (result < 0)
        return fail_archive(archive, result, "an UUID");
    memcpy(trace.uuid, host->uuid, sizeof trace.uuid);
    esi_archive_host_directory(&archive->tables, number, name);
    archive->hosts[number] = open_directory(archive->root, name);
    if (archive->hosts[number] < 0)
        return fail_archive(archive, archive->hosts[number], name);
    archive->host_count++;
    /* The directory may contain only streams and the metadata. */
    result = esi_archive_replace(archive->side, archive->hosts[number],
                                 ESI_ARCHIVE_METADATA, write_metadata, &trace);
    return result < 0 ? fail_archive(archive, result, name) : 0;
}

static int begin_elements(struct esi_archive *archive)
{
    size_t count = archive->tables.element_count;

    if (count == archive->element_count)
        return 0;
    if (ESI_ARRAY_RESERVE(archive->elements, archive->element_capacity, count) < 0)
        return fail_archive(archive, -ENOMEM, "");
    memset(archive->elements + archive->element_count, 0,
           (count - archive->element_count) * sizeof *archive->elements);
    archive->element_count = count;
    return 0;
}

static void write_tables(const void *data, FILE *stream)
{
    esi_archive_tables_write(data, stream);
}

int esi_archive_write_tables(struct esi_archive *archive)
{
    int result = archive->result;

    while (result == 0 && archive->host_count < archive->tables.host_count)
        result = begin_host(archive);
    if (result < 0)
        return result;
    result = esi_archive_replace(archive->side, archive->side, ESI_ARCHIVE_TABLES,
                                 write_tables, &archive->tables);
    if (result < 0)
        return fail_archive(archive, result, ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_TABLES);
    return begin_elements(archive);
}

static void write_text(const void *data, FILE *stream)
{
    fputs(data, stream);
}

/* Writes a file to the side directory; `path` names it in error messages. */
static int write_side(struct esi_archive *archive,
                      const char *name,
                      void (*write)(const void *data, FILE *stream),
                      const void *data)
{
    int result = archive->result;
    char path[64];

    if (result < 0)
        return result;
    snprintf(path, sizeof path, ESI_ARCHIVE_SIDE "/%s", name);
    result = esi_archive_replace(archive->side, archive->side, name, write, data);
    return result < 0 ? fail_archive(archive, result, path) : 0;
}

int esi_archive_write_map(struct esi_archive *archive, const char *text)
{
    return write_side(archive, ESI_ARCHIVE_MAP, write_text, text);
}

static void write_records(const void *data, FILE *stream)
{
    esi_archive_records_write(data, stream);
}

int esi_archive_write_records(struct esi_archive *archive,
                              const struct esi_archive_records *records)
{
    return write_side(archive, esi_archive_records_file(records->kind), write_records,
                      records);
}

/* --- Streams ----------------------------------------------------------------- */

/* `late` 0: the ordered stream. */
static int make_stream(struct esi_archive *archive,
                       uint32_t number,
                       unsigned late,
                       struct esi_ctf_stream **ret_stream)
{
    const struct esi_archive_tables *tables = &archive->tables;
    const struct esi_archive_element *row = &tables->elements[number];
    const struct esi_archive_process *process = &tables->processes[row->process];
    char name[ESI_ARCHIVE_NAME_BYTES];
    struct esi_ctf_stream_config config = {
        .directory = archive->hosts[process->host],
        .name = name,
        .kind = late > 0 ? ESI_CTF_LATE : ESI_CTF_ORDERED,
        .uuid = tables->hosts[process->host].uuid,
        .stream = archive->streams,
        .element = number,
        .rank = process->rank,
        .thread = row->thread,
        .begun_ns = tables->facts.begun_ns,
        .packet_bytes = archive->packet_bytes,
    };
    int result;

    esi_archive_stream_name(tables, number, late, name);
    result = esi_ctf_stream_create(&config, ret_stream);
    if (result < 0)
        return fail_archive(archive, result, name);
    archive->streams++;
    return 0;
}

static int flush_stream(struct esi_archive *archive,
                        struct esi_ctf_stream *stream,
                        int (*flush)(struct esi_ctf_stream *))
{
    int result = flush(stream);

    return result < 0 ? fail_archive(archive, result, esi_ctf_stream_name(stream)) : 0;
}

/* Late tuples first: a packet of the ordered stream must not exist without the late
 * tuples that belong between its tuples. */
static int flush_element(struct esi_archive *archive,
                         struct element *element,
                         int (*flush)(struct esi_ctf_stream *))
{
    int result = 0;

    for (size_t i = 0; i < element->late_count && result == 0; i++)
        result = flush_stream(archive, element->late[i], flush);
    if (result == 0 && element->ordered)
        result = flush_stream(archive, element->ordered, flush);
    return result;
}

static int add_late(struct esi_archive *archive, uint32_t number)
{
    struct element *element = &archive->elements[number];
    int result;

    if (ESI_ARRAY_RESERVE(element->late, element->late_capacity,
                          element->late_count + 1) < 0)
        return fail_archive(archive, -ENOMEM, "");
    result = make_stream(archive, number, (unsigned)element->late_count + 1,
                         &element->late[element->late_count]);
    element->late_count += result == 0;
    return result;
}

/* Finds the first late stream whose last tuple is not later than the tuple; this needs
 * the fewest streams.  If there are too many streams, increases the tuple's time
 * instead. */
static int find_late(struct esi_archive *archive,
                     uint32_t number,
                     struct es_tuple *tuple,
                     struct esi_ctf_stream **ret_stream)
{
    struct element *element = &archive->elements[number];
    int result = 0;

    for (size_t i = 0; i < element->late_count; i++) {
        if (esi_ctf_stream_last_ns(element->late[i]) <= tuple->stop) {
            *ret_stream = element->late[i];
            return 0;
        }
    }
    if (element->late_count < ESI_ARCHIVE_LATE_MAX)
        result = add_late(archive, number);
    if (result < 0)
        return result;
    *ret_stream = element->late[element->late_count - 1];
    if (tuple->stop < esi_ctf_stream_last_ns(*ret_stream))
        tuple->stop = esi_ctf_stream_last_ns(*ret_stream);
    return 0;
}

/* Returns the streams of an element, whose row may have just been added. */
static int find_element(struct esi_archive *archive,
                        uint32_t number,
                        struct element **ret_element)
{
    int result = archive->result;

    if (result == 0 && number >= archive->tables.element_count)
        return -EINVAL;
    if (result == 0 && number >= archive->element_count)
        result = esi_archive_write_tables(archive);
    if (result < 0)
        return result;
    *ret_element = &archive->elements[number];
    if (!(*ret_element)->ordered)
        result = make_stream(archive, number, 0, &(*ret_element)->ordered);
    return result;
}

static int put_tuple(struct esi_archive *archive,
                     struct element *element,
                     struct esi_ctf_stream *stream,
                     const struct es_tuple *tuple,
                     uint64_t position)
{
    int result = 0;

    if (esi_ctf_stream_is_full(stream))
        result = stream == element->ordered
                     ? flush_element(archive, element, esi_ctf_stream_flush)
                     : flush_stream(archive, stream, esi_ctf_stream_flush);
    if (result < 0)
        return result;
    result = esi_ctf_stream_append(stream, tuple, element->index, position);
    if (result < 0)
        return fail_archive(archive, result, esi_ctf_stream_name(stream));
    element->index++;
    archive->tables.facts.tuples++;
    archive->bytes += sizeof *tuple;
    return 0;
}

int esi_archive_append(struct esi_archive *archive,
                       uint32_t number,
                       const struct es_tuple *tuple,
                       uint64_t position)
{
    struct es_tuple copy = *tuple;
    struct esi_ctf_stream *stream;
    struct element *element;
    int result = find_element(archive, number, &element);

    if (result < 0)
        return result;
    if (!es_operation_find(tuple->operation) || !esi_ctf_has_times(tuple)) {
        result = esi_archive_lose(archive, number, 1);
        return result < 0 ? result : -EINVAL;
    }
    stream = element->ordered;
    if (tuple->stop < esi_ctf_stream_last_ns(stream))
        result = find_late(archive, number, &copy, &stream);
    return result < 0 ? result : put_tuple(archive, element, stream, &copy, position);
}

static int flush_sites(struct esi_archive *archive, size_t number)
{
    int result = esi_site_column_flush(&archive->elements[number].sites, archive->side,
                                       (uint32_t)number);

    return result < 0 ? fail_archive(archive, result, ESI_ARCHIVE_SIDE "/sites") : 0;
}

int esi_archive_note_site(struct esi_archive *archive, uint32_t number, uint64_t site)
{
    struct element *element;
    int result = find_element(archive, number, &element);

    if (result < 0 || element->index == 0)
        return result;
    result = esi_site_column_add(&element->sites, element->index - 1, site);
    if (result < 0)
        return fail_archive(archive, result, ESI_ARCHIVE_SIDE "/sites");
    return esi_site_column_is_full(&element->sites) ? flush_sites(archive, number) : 0;
}

int esi_archive_lose(struct esi_archive *archive, uint32_t number, uint64_t lost)
{
    struct element *element;
    int result = find_element(archive, number, &element);

    if (result < 0)
        return result;
    /* A loss must be between two packets. */
    result = flush_element(archive, element, esi_ctf_stream_flush);
    if (result < 0)
        return result;
    esi_ctf_stream_lose(element->ordered, lost);
    archive->tables.elements[number].lost += lost;
    archive->tables.facts.lost += lost;
    return 0;
}

static bool is_old(const struct element *element, uint64_t before_ns)
{
    if (element->ordered && esi_ctf_stream_begun_ns(element->ordered) <= before_ns)
        return true;
    for (size_t i = 0; i < element->late_count; i++)
        if (esi_ctf_stream_begun_ns(element->late[i]) <= before_ns)
            return true;
    return false;
}

int esi_archive_flush(struct esi_archive *archive, uint64_t age_ns)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t before_ns = now_ns > age_ns ? now_ns - age_ns : 0;
    int result = archive->result;

    for (size_t i = 0; i < archive->element_count && result == 0; i++)
        if (is_old(&archive->elements[i], before_ns))
            result =
                flush_element(archive, &archive->elements[i], esi_ctf_stream_flush);
    for (size_t i = 0; i < archive->element_count && result == 0; i++)
        result = flush_sites(archive, i);
    return result;
}

uint64_t esi_archive_bytes(const struct esi_archive *archive)
{
    return archive->bytes;
}

/* --- Closing ----------------------------------------------------------------- */

int esi_archive_close(struct esi_archive *archive,
                      uint64_t ended_ns,
                      struct es_error *error)
{
    int result = archive->result;

    for (size_t i = 0; i < archive->element_count && result == 0; i++)
        result = flush_element(archive, &archive->elements[i], esi_ctf_stream_finish);
    for (size_t i = 0; i < archive->element_count && result == 0; i++)
        result = flush_sites(archive, i);
    archive->tables.facts.ended_ns = ended_ns;
    if (result == 0)
        result = esi_archive_write_tables(archive);
    else /* there may still be room for the tables, which contain the reason of the
            failure */
        esi_archive_replace(archive->side, archive->side, ESI_ARCHIVE_TABLES,
                            write_tables, &archive->tables);
    if (result < 0)
        es_error_set(error, result, "%s", archive->failure.text);
    destroy_archive(archive);
    return result;
}
