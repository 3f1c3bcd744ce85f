/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_read.c - reads an archive: its tables and files, one element, all
 * elements. */
#include "config.h"

#include "monitors/archive/archive_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/quantity.h"
#include "monitors/archive/archive_file.h"
#include "monitors/archive/ctf_reader.h"
#include "monitors/archive/site_column.h"
#include "monitors/sites/sites.h"

/* State shared by the parts of the reader. */

struct esi_archive_reader {
    struct esi_archive_tables tables;
    char *path; /* owned */
    int root;   /* descriptors; -1 = none */
    int side;
    int *hosts; /* descriptors of the hosts' directories, -1 = missing; owned */
};

/* === The archive ================================================================== */

#define TABLES ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_TABLES

bool esi_archive_is_one(const char *directory)
{
    struct stat status;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, TABLES);

    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0;
}

static int read_tables(struct esi_archive_reader *reader, struct es_error *error)
{
    char source[4096];
    char *text = NULL;
    size_t length = 0;
    int result = esi_archive_slurp(reader->root, TABLES, &text, &length);

    snprintf(source, sizeof source, "%s/%s", reader->path, TABLES);
    if (result == -ENOENT)
        return es_error_set(error, result, "%s is not an archive: it has no %s",
                            reader->path, TABLES);
    if (result < 0)
        return es_error_set(error, result, "cannot read %s: %s", source,
                            strerror(-result));
    result = esi_archive_tables_read(&reader->tables, text, length, source, error);
    free(text);
    return result;
}

static int open_hosts(struct esi_archive_reader *reader)
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

int esi_archive_open(const char *directory,
                     struct es_error *error,
                     struct esi_archive_reader **ret_reader)
{
    struct esi_archive_reader *reader = calloc(1, sizeof *reader);
    int result = 0;

    if (reader)
        reader->path = strdup(directory);
    if (!reader || !reader->path) {
        free(reader);
        return es_error_set(error, -ENOMEM, "no memory left for the archive");
    }
    reader->side = -1;
    reader->root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader->root < 0)
        result = es_error_set(error, -errno, "cannot open %s: %s", directory,
                              strerror(errno));
    if (result == 0)
        result = read_tables(reader, error);
    if (result == 0)
        reader->side =
            openat(reader->root, ESI_ARCHIVE_SIDE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (result == 0)
        result = open_hosts(reader);
    if (result < 0) {
        esi_archive_read_close(reader);
        return result;
    }
    *ret_reader = reader;
    return 0;
}

void esi_archive_read_close(struct esi_archive_reader *reader)
{
    int saved_errno = errno;

    if (!reader)
        return;
    for (size_t i = 0; reader->hosts && i < reader->tables.host_count; i++)
        if (reader->hosts[i] >= 0)
            close(reader->hosts[i]);
    free(reader->hosts);
    if (reader->side >= 0)
        close(reader->side);
    if (reader->root >= 0)
        close(reader->root);
    esi_archive_tables_fini(&reader->tables);
    free(reader->path);
    free(reader);
    errno = saved_errno;
}

const struct esi_archive_tables *esi_archive_tables(
    const struct esi_archive_reader *reader)
{
    return &reader->tables;
}

bool esi_archive_describe_end(const struct esi_archive_reader *reader,
                              char ret_text[ESI_ARCHIVE_END_BYTES])
{
    const struct esi_archive_facts *facts = &reader->tables.facts;
    char time[ESI_QUANTITY_BYTES];

    ret_text[0] = '\0';
    if (facts->ended_ns == 0)
        snprintf(ret_text, ESI_ARCHIVE_END_BYTES,
                 "the recording has no end: the recorder was killed, or still records; "
                 "what came later is missing");
    else if (facts->error[0])
        snprintf(ret_text, ESI_ARCHIVE_END_BYTES,
                 "the recording ended %s after it had begun (%s): what came later is "
                 "missing",
                 esi_quantity_time(time, sizeof time,
                                   facts->ended_ns > facts->begun_ns
                                       ? (double)(facts->ended_ns - facts->begun_ns)
                                       : 0),
                 facts->error);
    return ret_text[0];
}

int esi_archive_read_map(struct esi_archive_reader *reader, char **ret_text)
{
    size_t length;

    return esi_archive_slurp(reader->root, ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_MAP,
                             ret_text, &length);
}

int esi_archive_read_side(const struct esi_archive_reader *reader,
                          const char *name,
                          char **ret_text,
                          size_t *ret_length)
{
    char path[ESI_ARCHIVE_NAME_BYTES];

    snprintf(path, sizeof path, ESI_ARCHIVE_SIDE "/%s", name);
    return esi_archive_slurp(reader->root, path, ret_text, ret_length);
}

struct side_bytes {
    const void *bytes;
    size_t length;
};

static void write_side_bytes(const void *data, FILE *stream)
{
    const struct side_bytes *side = data;

    fwrite(side->bytes, 1, side->length, stream);
}

int esi_archive_write_side(const struct esi_archive_reader *reader,
                           const char *name,
                           const void *bytes,
                           size_t length)
{
    return esi_archive_replace(reader->side, reader->side, name, write_side_bytes,
                               &(struct side_bytes){bytes, length});
}

/* Returns the size of a stream, or -ENOENT if there is none. */
static int64_t stream_bytes(const struct esi_archive_reader *reader,
                            uint32_t element,
                            unsigned late)
{
    const struct esi_archive_tables *tables = &reader->tables;
    uint32_t host = tables->processes[tables->elements[element].process].host;
    char name[ESI_ARCHIVE_NAME_BYTES];
    struct stat status;

    esi_archive_stream_name(tables, element, late, name);
    if (reader->hosts[host] < 0 ||
        fstatat(reader->hosts[host], name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -ENOENT;
    return status.st_size;
}

uint64_t esi_archive_fingerprint(const struct esi_archive_reader *reader,
                                 uint64_t *ret_bytes)
{
    const struct esi_archive_tables *tables = &reader->tables;
    uint64_t hash = esi_hash_mix(tables->element_count, tables->facts.ended_ns);
    int64_t bytes;

    *ret_bytes = 0;
    for (size_t i = 0; i < tables->host_count; i++)
        hash = esi_hash_mix_bytes(hash, (const char *)tables->hosts[i].uuid,
                                  sizeof tables->hosts[i].uuid);
    for (uint32_t i = 0; i < tables->element_count; i++)
        for (unsigned late = 0; late <= ESI_ARCHIVE_LATE_MAX; late++) {
            bytes = stream_bytes(reader, i, late);
            if (bytes < 0 && late > 0)
                break;
            hash = esi_hash_mix(hash, (uint64_t)bytes);
            *ret_bytes += bytes > 0 ? (uint64_t)bytes : 0;
        }
    return hash;
}

/* Opens a stream of an element; `late` 0: the ordered one.  Returns -ENOENT if there is
 * none. */
static int archive_stream_open(const struct esi_archive_reader *reader,
                               uint32_t element,
                               unsigned late,
                               struct es_error *error,
                               struct esi_ctf_reader **ret_stream)
{
    const struct esi_archive_tables *tables = &reader->tables;
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
    struct esi_archive_reader *reader;
    uint64_t bytes;
    int streams;
};

/* Determines where the readable part of a stream ends. */
static int find_end(struct repair *repair,
                    uint32_t element,
                    unsigned late,
                    struct es_error *error,
                    uint64_t *ret_end)
{
    const struct esi_ctf_record *record;
    struct esi_ctf_reader *stream;
    int result = archive_stream_open(repair->reader, element, late, error, &stream);

    if (result < 0)
        return result;
    while ((result = esi_ctf_reader_peek(stream, &record, NULL)) > 0)
        esi_ctf_reader_next(stream);
    *ret_end = esi_ctf_reader_end(stream);
    esi_ctf_reader_destroy(stream);
    return result == -EBADMSG ? 0 : result;
}

static int archive_cut(struct repair *repair,
                       int directory,
                       const char *name,
                       uint64_t end)
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
    const struct esi_archive_tables *tables = &repair->reader->tables;
    uint32_t host = tables->processes[tables->elements[element].process].host;
    char name[ESI_ARCHIVE_NAME_BYTES];
    uint64_t end = 0;
    int result = find_end(repair, element, late, error, &end);

    if (result < 0)
        return result;
    esi_archive_stream_name(tables, element, late, name);
    result = archive_cut(repair, repair->reader->hosts[host], name, end);
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

int esi_archive_repair(const char *directory,
                       uint64_t *ret_bytes,
                       struct es_error *error)
{
    struct repair repair = {.streams = 0};
    int result = esi_archive_open(directory, error, &repair.reader);

    *ret_bytes = 0;
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < repair.reader->tables.element_count && result == 0; i++)
        result = repair_element(&repair, i, error);
    esi_archive_read_close(repair.reader);
    *ret_bytes = repair.bytes;
    return result < 0 ? result : repair.streams;
}

/* === One element ================================================================== */

/*
 * Reads an element's tuples in the order in which they were published.
 *
 * Most tuples are in the ordered stream.  Tuples of late streams have an index.  Tuples
 * of the ordered stream have the remaining indices, which each packet confirms: an
 * index without a tuple belongs to a tuple that was lost with its packet.
 */

struct esi_archive_cursor {
    uint32_t element;
    struct esi_ctf_reader *ordered; /* owned; NULL = none */
    struct esi_ctf_reader **late;   /* array and readers are owned */
    size_t late_count, late_capacity;
    uint64_t index; /* of the next tuple */
    bool told_end;
    int side;                     /* belongs to the archive; borrowed */
    struct esi_site_block *sites; /* owned; NULL = no file or no memory */
};

static int open_late(struct esi_archive_reader *reader,
                     struct esi_archive_cursor *cursor,
                     struct es_error *error)
{
    for (unsigned late = 1; late <= ESI_ARCHIVE_LATE_MAX; late++) {
        struct esi_ctf_reader *stream;
        int result = archive_stream_open(reader, cursor->element, late, error, &stream);

        if (result < 0)
            return result == -ENOENT ? 0 : result;
        if (ESI_ARRAY_RESERVE(cursor->late, cursor->late_capacity, late) < 0) {
            esi_ctf_reader_destroy(stream);
            return -ENOMEM;
        }
        cursor->late[cursor->late_count++] = stream;
    }
    return 0;
}

int esi_archive_cursor_create(struct esi_archive_reader *reader,
                              uint32_t element,
                              struct es_error *error,
                              struct esi_archive_cursor **ret_cursor)
{
    struct esi_archive_cursor *cursor;
    int result;

    if (element >= reader->tables.element_count)
        return es_error_set(error, -EINVAL, "the archive has no element %u", element);
    cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return es_error_set(error, -ENOMEM, "no memory left for an element");
    cursor->element = element;
    cursor->side = reader->side;
    if (esi_site_block_exists(cursor->side, element))
        cursor->sites = calloc(1, sizeof *cursor->sites);
    result = archive_stream_open(reader, element, 0, error, &cursor->ordered);
    if (result == 0 || result == -ENOENT)
        result = open_late(reader, cursor, error);
    if (result < 0) {
        esi_archive_cursor_destroy(cursor);
        return result;
    }
    *ret_cursor = cursor;
    return 0;
}

void esi_archive_cursor_destroy(struct esi_archive_cursor *cursor)
{
    int saved_errno = errno;

    if (!cursor)
        return;
    esi_ctf_reader_destroy(cursor->ordered);
    for (size_t i = 0; i < cursor->late_count; i++)
        esi_ctf_reader_destroy(cursor->late[i]);
    free(cursor->late);
    free(cursor->sites);
    free(cursor);
    errno = saved_errno;
}

/* A candidate for the next tuple. */
struct next {
    struct esi_ctf_reader *stream; /* NULL = no more tuples */
    const struct esi_ctf_record *record;
    uint64_t index;
};

static int look_at_late(struct esi_archive_cursor *cursor,
                        struct next *next,
                        struct es_error *error)
{
    for (size_t i = 0; i < cursor->late_count; i++) {
        const struct esi_ctf_record *record;
        int result = esi_ctf_reader_peek(cursor->late[i], &record, error);

        if (result < 0)
            return result;
        if (result > 0 && (!next->stream || record->index < next->index))
            *next = (struct next){cursor->late[i], record, record->index};
    }
    return 0;
}

/* The ordered stream's tuple has the next index that no late tuple has, unless its
 * packet specifies a different one. */
static int look_at_ordered(struct esi_archive_cursor *cursor,
                           struct next *next,
                           struct es_error *error)
{
    const struct esi_ctf_record *record;
    uint64_t index = cursor->index;
    int result =
        cursor->ordered ? esi_ctf_reader_peek(cursor->ordered, &record, error) : 0;

    if (result <= 0)
        return result;
    if (record->begins_packet && record->index > index)
        index = record->index;
    if (!next->stream || index < next->index)
        *next = (struct next){cursor->ordered, record, index};
    return 0;
}

static int give_end(struct esi_archive_cursor *cursor, struct esi_archive_item *item)
{
    if (!cursor->told_end && cursor->ordered)
        item->lost = esi_ctf_reader_lost_at_end(cursor->ordered);
    cursor->told_end = true;
    return item->lost > 0;
}

/* Returns the site of the next tuple. */
static uint64_t find_site(const struct esi_archive_cursor *cursor)
{
    return cursor->sites ? esi_site_block_get(cursor->sites, cursor->side,
                                              cursor->element, cursor->index)
                         : 0;
}

int esi_archive_cursor_next(struct esi_archive_cursor *cursor,
                            struct esi_archive_item *ret_item,
                            struct es_error *error)
{
    struct next next = {.stream = NULL};
    int result = look_at_late(cursor, &next, error);

    *ret_item =
        (struct esi_archive_item){.element = cursor->element, .index = cursor->index};
    if (result == 0)
        result = look_at_ordered(cursor, &next, error);
    if (result < 0)
        return result;
    if (!next.stream)
        return give_end(cursor, ret_item);
    if (next.record->lost > 0) {
        ret_item->lost = esi_ctf_reader_take_lost(next.stream);
        return 1;
    }
    if (next.index > cursor->index) {
        ret_item->lost = next.index - cursor->index;
        cursor->index = next.index;
        return 1;
    }
    ret_item->tuple = next.record->tuple;
    ret_item->site = find_site(cursor);
    cursor->index++;
    esi_ctf_reader_next(next.stream);
    return 1;
}

static int take_items(struct esi_archive_cursor *cursor,
                      int (*take)(void *data, const struct esi_archive_item *item),
                      void *data,
                      struct es_error *error)
{
    struct esi_archive_item item;
    int result;

    while ((result = esi_archive_cursor_next(cursor, &item, error)) > 0) {
        result = take(data, &item);
        if (result < 0)
            break;
    }
    return result;
}

int esi_archive_foreach_item(struct esi_archive_reader *reader,
                             int (*take)(void *data,
                                         const struct esi_archive_item *item),
                             void *data,
                             struct es_error *error)
{
    struct esi_archive_cursor *cursor;
    int result = 0;

    for (uint32_t i = 0; i < esi_archive_tables(reader)->element_count && result == 0;
         i++) {
        result = esi_archive_cursor_create(reader, i, error, &cursor);
        if (result < 0)
            break;
        result = take_items(cursor, take, data, error);
        esi_archive_cursor_destroy(cursor);
    }
    return result;
}

/* === All elements by completion =================================================== */

struct source {
    struct esi_archive_cursor *cursor; /* owned */
    struct esi_archive_item item;      /* the current item */
    /* The latest completion up to the item: late tuples and losses keep their positions
     * in their elements. */
    uint64_t key_ns;
};

struct esi_archive_merge {
    const struct esi_archive_tables *tables; /* borrowed */
    struct source *sources;                  /* by element; owned */
    struct esi_heap next; /* elements with more items, ordered by key */
    uint32_t *left;       /* number of such elements by process; owned */
};

/* Returns 1, 0 at the end of the element, or -errno. */
static int merge_advance(struct source *source, struct es_error *error)
{
    int result = esi_archive_cursor_next(source->cursor, &source->item, error);

    if (result > 0 && source->item.tuple.stop > source->key_ns)
        source->key_ns = source->item.tuple.stop;
    return result;
}

static int add_source(struct esi_archive_merge *merge,
                      struct esi_archive_reader *reader,
                      uint32_t element,
                      struct es_error *error)
{
    struct source *source = &merge->sources[element];
    int result = esi_archive_cursor_create(reader, element, error, &source->cursor);

    if (result == 0)
        result = merge_advance(source, error);
    if (result > 0) {
        esi_heap_push(&merge->next, source->key_ns, element);
        merge->left[merge->tables->elements[element].process]++;
    } else {
        esi_archive_cursor_destroy(source->cursor);
        source->cursor = NULL;
    }
    return result < 0 ? result : 0;
}

int esi_archive_merge_create(struct esi_archive_reader *reader,
                             struct es_error *error,
                             struct esi_archive_merge **ret_merge)
{
    size_t count = reader->tables.element_count;
    struct esi_archive_merge *merge = calloc(1, sizeof *merge);
    int result = 0;

    if (merge) {
        merge->tables = &reader->tables;
        merge->sources = calloc(count + 1, sizeof *merge->sources);
        merge->left = calloc(reader->tables.process_count + 1, sizeof *merge->left);
    }
    if (!merge || !merge->sources || !merge->left ||
        esi_heap_reserve(&merge->next, count) < 0)
        result = es_error_set(error, -ENOMEM, "no memory left for the archive");
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = add_source(merge, reader, i, error);
    if (result < 0) {
        esi_archive_merge_destroy(merge);
        return result;
    }
    *ret_merge = merge;
    return 0;
}

void esi_archive_merge_destroy(struct esi_archive_merge *merge)
{
    int saved_errno = errno;

    if (!merge)
        return;
    for (size_t i = 0; merge->sources && i < merge->tables->element_count; i++)
        esi_archive_cursor_destroy(merge->sources[i].cursor);
    esi_heap_fini(&merge->next);
    free(merge->sources);
    free(merge->left);
    free(merge);
    errno = saved_errno;
}

int esi_archive_merge_next(struct esi_archive_merge *merge,
                           struct esi_archive_item *ret_item,
                           struct es_error *error)
{
    struct source *source;
    uint32_t element;
    int result;

    if (merge->next.count == 0)
        return 0;
    element = (uint32_t)esi_heap_top(&merge->next).item;
    source = &merge->sources[element];
    *ret_item = source->item;
    result = merge_advance(source, error);
    if (result < 0)
        return result;
    if (result > 0) {
        esi_heap_replace_top(&merge->next, source->key_ns, element);
        return 1;
    }
    esi_heap_pop(&merge->next);
    ret_item->ends_process =
        --merge->left[merge->tables->elements[element].process] == 0;
    esi_archive_cursor_destroy(source->cursor);
    source->cursor = NULL;
    return 1;
}

/* === Sites ======================================================================== */

/* The modules of a process are in order, but modules of different processes may be
 * interleaved. */
static int add_site_processes(const struct esi_archive_tables *tables,
                              struct es_module *modules,
                              size_t *counts,
                              struct esi_sites *sites)
{
    size_t first = 0;
    int result = 0;

    for (size_t i = 0; i < tables->module_count; i++)
        counts[tables->modules[i].process + 1]++;
    for (size_t i = 0; i < tables->process_count; i++)
        counts[i + 1] += counts[i];
    for (size_t i = 0; i < tables->module_count; i++)
        modules[counts[tables->modules[i].process]++] = tables->modules[i].module;
    for (size_t i = 0; i < tables->process_count && result >= 0; i++) {
        result = esi_sites_add_process(sites, modules + first, counts[i] - first);
        first = counts[i];
    }
    return result < 0 ? result : 0;
}

int esi_archive_sites(const struct esi_archive_reader *reader,
                      struct esi_sites **ret_sites)
{
    const struct esi_archive_tables *tables = &reader->tables;
    struct es_module *modules = calloc(tables->module_count + 1, sizeof *modules);
    size_t *counts = calloc(tables->process_count + 2, sizeof *counts);
    struct esi_sites *sites = NULL;
    int result = modules && counts ? esi_sites_create(&sites) : -ENOMEM;

    if (result == 0)
        result = add_site_processes(tables, modules, counts, sites);
    free(modules);
    free(counts);
    if (result < 0) {
        esi_sites_destroy(sites);
        return result;
    }
    *ret_sites = sites;
    return 0;
}
