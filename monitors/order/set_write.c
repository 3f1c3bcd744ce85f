/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_write.c - writes event sets.
 *
 * A regular file is written as a draft beside it: the header with the traces that are
 * known when the first event comes, then the events.  If more traces came, a second
 * draft gets the whole header and a copy of the events.  Anything else gets header and
 * events at the end, from a file without a name, unless all traces are told ahead.
 */
#include "config.h"

#include "monitors/order/set_write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitors/order/set_format.h"

enum { BUFFER_BYTES = 1 << 16 };

struct es_set_write {
    char *path;        /* what is replaced, or written to, in the end */
    char *draft;       /* NULL: there is none */
    FILE *target;      /* standard output, a pipe; NULL: the draft is the file */
    FILE *stream;      /* where events go; NULL: nothing was written yet */
    long header_bytes; /* of `stream` */
    uint32_t header_names;
    char **names;
    uint32_t name_count;
    uint32_t name_capacity;
    uint64_t events;
    bool is_told; /* all traces */
    int code;     /* the first failure */
};

/* --- Opening ------------------------------------------------------------------------
 */

static int fail(struct es_set_write *write)
{
    if (write->code == 0)
        write->code = errno > 0 ? -errno : -EIO;
    return write->code;
}

/* A file beside `path`, for now under a name of its own. */
static FILE *open_draft(const char *path, char **ret_draft)
{
    static unsigned number;
    FILE *stream;
    char *draft;

    if (asprintf(&draft, "%s.%ld.%u.tmp", path, (long)getpid(), ++number) < 0)
        return NULL;
    unlink(draft); /* left by a process of the same number that was killed */
    stream = fopen(draft, "w+xe");
    if (!stream) {
        int saved_errno = errno;
        free(draft);
        errno = saved_errno;
        return NULL;
    }
    *ret_draft = draft;
    return stream;
}

/* The file behind links, or `path` itself where there is none. */
static char *resolve(const char *path)
{
    char *resolved = realpath(path, NULL);

    return resolved ? resolved : strdup(path);
}

static int open_target(struct es_set_write *write, const char *path)
{
    struct stat found;

    if (strcmp(path, "-") == 0) {
        write->target = stdout;
        write->path = strdup("standard output");
        return write->path ? 0 : -ENOMEM;
    }
    write->path = resolve(path);
    if (!write->path)
        return -ENOMEM;
    if (stat(write->path, &found) == 0 && !S_ISREG(found.st_mode)) {
        write->target = fopen(write->path, "we");
        return write->target ? 0 : fail(write);
    }
    write->stream = open_draft(write->path, &write->draft);
    return write->stream ? 0 : fail(write);
}

int es_set_write_open(const char *path,
                      struct es_error *error,
                      struct es_set_write **ret_write)
{
    struct es_set_write *write = calloc(1, sizeof *write);
    int code = write ? open_target(write, path) : -ENOMEM;

    if (code < 0) {
        es_set_write_destroy(write);
        return es_error_set_at(error, code, path, 0, 0, "cannot be written: %s",
                               strerror(-code));
    }
    write->header_bytes = -1;
    *ret_write = write;
    return 0;
}

void es_set_write_destroy(struct es_set_write *write)
{
    int saved_errno = errno;

    if (!write)
        return;
    if (write->stream && write->stream != write->target)
        fclose(write->stream);
    if (write->target && write->target != stdout)
        fclose(write->target);
    if (write->draft)
        unlink(write->draft);
    for (uint32_t i = 0; i < write->name_count; i++)
        free(write->names[i]);
    free(write->names);
    free(write->draft);
    free(write->path);
    free(write);
    errno = saved_errno;
}

/* --- Writing ------------------------------------------------------------------------
 */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct es_set_write *write = data;

    if (trace != write->name_count || write->is_told)
        return -EINVAL;
    if (write->name_count == write->name_capacity) {
        uint32_t capacity = write->name_capacity ? 2 * write->name_capacity : 16;
        char **names = reallocarray(write->names, capacity, sizeof *names);
        if (!names)
            return -ENOMEM;
        write->names = names;
        write->name_capacity = capacity;
    }
    write->names[trace] = strdup(name);
    if (!write->names[trace])
        return -ENOMEM;
    write->name_count++;
    return 0;
}

static int write_header(struct es_set_write *write, FILE *stream)
{
    errno = 0;
    esi_set_format_header(stream, write->names, write->name_count);
    return ferror(stream) ? fail(write) : 0;
}

/* Ahead of the first event: the header, where it can be written already. */
static int start(struct es_set_write *write)
{
    if (write->target && !write->is_told) {
        write->stream = tmpfile();
        if (!write->stream)
            return fail(write);
        write->header_bytes = 0;
    } else if (write->target) {
        write->stream = write->target;
    }
    setvbuf(write->stream, NULL, _IOFBF, BUFFER_BYTES);
    if (write->target && !write->is_told)
        return 0;
    write->header_names = write->name_count;
    if (write_header(write, write->stream) < 0)
        return write->code;
    write->header_bytes = write->target ? 0 : ftell(write->stream);
    return write->header_bytes < 0 ? fail(write) : 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct es_set_write *write = data;

    if (write->code == 0 && write->header_bytes < 0)
        write->code = start(write);
    if (write->code < 0)
        return write->code;
    errno = 0;
    esi_set_format_event(write->stream, event);
    write->events++;
    return ferror(write->stream) ? fail(write) : 0;
}

struct es_set_sink es_set_write_sink(struct es_set_write *write)
{
    return (struct es_set_sink){take_trace, take_event, write};
}

void es_set_write_traces_told(struct es_set_write *write)
{
    write->is_told = true;
}

uint64_t es_set_write_events(const struct es_set_write *write)
{
    return write->events;
}

/* --- Completing ---------------------------------------------------------------------
 */

/* Appends the events, which stand in `stream` behind a header or none. */
static int copy_events(struct es_set_write *write, FILE *to)
{
    char *buffer = malloc(BUFFER_BYTES);
    size_t got;

    if (!buffer)
        return write->code = -ENOMEM;
    errno = 0;
    if (fflush(write->stream) != 0 ||
        fseek(write->stream, write->header_bytes, SEEK_SET) != 0)
        fail(write);
    while (write->code == 0 &&
           (got = fread(buffer, 1, BUFFER_BYTES, write->stream)) > 0)
        if (fwrite(buffer, 1, got, to) != got)
            fail(write);
    if (write->code == 0 && ferror(write->stream))
        fail(write);
    free(buffer);
    return write->code;
}

/* The events behind a header that names all traces. */
static int write_again(struct es_set_write *write)
{
    char *draft;
    FILE *stream = open_draft(write->path, &draft);

    if (!stream)
        return fail(write);
    if (write_header(write, stream) == 0)
        copy_events(write, stream);
    fclose(write->stream);
    unlink(write->draft);
    free(write->draft);
    write->stream = stream;
    write->draft = draft;
    return write->code;
}

static void replace(struct es_set_write *write)
{
    FILE *stream;

    if (write->header_names != write->name_count && write_again(write) < 0)
        return;
    stream = write->stream;
    write->stream = NULL;
    errno = 0;
    if (fclose(stream) != 0 || rename(write->draft, write->path) != 0) {
        fail(write);
        return;
    }
    free(write->draft);
    write->draft = NULL;
}

static void pass_on(struct es_set_write *write)
{
    if (write->stream != write->target && write_header(write, write->target) == 0)
        copy_events(write, write->target);
    errno = 0;
    if (write->code == 0 && fflush(write->target) != 0)
        fail(write);
}

int es_set_write_close(struct es_set_write *write, struct es_error *error)
{
    int code;

    if (write->code == 0 && write->header_bytes < 0)
        write->code = start(write);
    if (write->code == 0 && write->target)
        pass_on(write);
    else if (write->code == 0)
        replace(write);
    code = write->code;
    if (code < 0)
        es_error_set_at(error, code, write->path, 0, 0, "cannot be written: %s",
                        strerror(-code));
    es_set_write_destroy(write);
    return code;
}
