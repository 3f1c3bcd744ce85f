/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Files that are written as a whole or not at all. */
#include "config.h"

#include "monitors/order/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct es_output_file {
    FILE *stream;
    char *path;
    char *temporary; /* NULL: written in its place */
    bool borrowed;   /* the stream is not ours to close */
};

FILE *es_output_file_stream(const struct es_output_file *file)
{
    return file->stream;
}

static bool is_replaceable(const char *path)
{
    struct stat status;

    return stat(path, &status) < 0 || S_ISREG(status.st_mode);
}

/* As open(2) would give it to a new file. */
static void set_mode(int descriptor)
{
    mode_t mask = umask(0);

    umask(mask);
    (void)fchmod(descriptor, 0666 & ~mask);
}

static FILE *open_temporary(struct es_output_file *file)
{
    int descriptor;
    FILE *stream;

    if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
        file->temporary = NULL;
        return NULL;
    }
    descriptor = mkostemp(file->temporary, O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    set_mode(descriptor);
    stream = fdopen(descriptor, "w");
    if (!stream) {
        unlink(file->temporary);
        close(descriptor);
    }
    return stream;
}

static FILE *open_stream(struct es_output_file *file)
{
    if (strcmp(file->path, "-") == 0) {
        file->borrowed = true;
        return stdout;
    }
    if (is_replaceable(file->path))
        return open_temporary(file);
    return fopen(file->path, "we");
}

static void release(struct es_output_file *file)
{
    free(file->temporary);
    free(file->path);
    free(file);
}

int es_output_file_open(const char *path,
                        struct es_error *error,
                        struct es_output_file **ret_file)
{
    struct es_output_file *file = calloc(1, sizeof *file);
    int code;

    if (!file)
        return -ENOMEM;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return -ENOMEM;
    }
    file->stream = open_stream(file);
    if (!file->stream) {
        code = errno ? -errno : -EIO;
        release(file);
        return es_error_set_at(error, code, path, 0, 0, "cannot be written: %s",
                               strerror(-code));
    }
    *ret_file = file;
    return 0;
}

/* Everything has gone out; 0 or -errno. */
static int end_stream(struct es_output_file *file)
{
    int code = 0;

    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        code = errno ? -errno : -EIO;
    if (!file->borrowed && fclose(file->stream) != 0 && code == 0)
        code = errno ? -errno : -EIO;
    return code;
}

int es_output_file_close(struct es_output_file *file, struct es_error *error)
{
    int code = end_stream(file);

    if (code == 0 && file->temporary && rename(file->temporary, file->path) < 0)
        code = -errno;
    if (code < 0) {
        es_error_set_at(error, code, file->path, 0, 0, "cannot be written: %s",
                        strerror(-code));
        if (file->temporary)
            unlink(file->temporary);
    }
    release(file);
    return code;
}

void es_output_file_discard(struct es_output_file *file)
{
    if (!file)
        return;
    if (!file->borrowed)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    release(file);
}
