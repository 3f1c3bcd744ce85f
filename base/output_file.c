/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Files that are written completely or not at all. */
#include "config.h"

#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct esi_output_file {
    FILE *stream;
    char *path;
    char *temporary; /* NULL if the target is written directly */
    bool borrowed;   /* the stream is not ours to close */
    bool is_own;     /* only a regular file of this user may be replaced */
};

FILE *esi_output_file_stream(const struct esi_output_file *file)
{
    return file->stream;
}

bool esi_output_file_is_beside(const struct esi_output_file *file)
{
    return file->temporary;
}

/* The permissions of the replaced file, or the defaults of open(2) for a new one. */
static mode_t choose_mode(const char *path)
{
    struct stat status;
    mode_t mask;

    if (stat(path, &status) == 0)
        return status.st_mode & 0777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static FILE *open_temporary(struct esi_output_file *file)
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
    (void)fchmod(descriptor, choose_mode(file->path));
    stream = fdopen(descriptor, "w");
    if (!stream) {
        unlink(file->temporary);
        close(descriptor);
    }
    return stream;
}

/* Resolves links in the path, if the kernel allows to follow them: it may refuse those
 * of other users in a sticky folder.  Returns whether a temporary file can be created
 * next to the target and replace it. */
static bool find_place(struct esi_output_file *file)
{
    struct stat status;
    char *resolved;

    if (lstat(file->path, &status) < 0)
        return errno == ENOENT; /* new file */
    if (stat(file->path, &status) < 0)
        return false;
    resolved = realpath(file->path, NULL);
    if (!resolved)
        return false; /* dangling link, or no name */
    free(file->path);
    file->path = resolved;
    return stat(resolved, &status) == 0 && S_ISREG(status.st_mode) &&
           access(resolved, W_OK) == 0;
}

static FILE *open_stream(struct esi_output_file *file)
{
    if (strcmp(file->path, "-") == 0 || strcmp(file->path, "/dev/stdout") == 0) {
        file->borrowed = true;
        return stdout;
    }
    return find_place(file) ? open_temporary(file) : fopen(file->path, "we");
}

static void release_file(struct esi_output_file *file)
{
    free(file->temporary);
    free(file->path);
    free(file);
}

static int open_output(const char *path,
                       bool is_own,
                       struct es_error *error,
                       struct esi_output_file **ret_file)
{
    struct esi_output_file *file = calloc(1, sizeof *file);
    int code;

    if (!file)
        return -ENOMEM;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return -ENOMEM;
    }
    file->is_own = is_own;
    file->stream = is_own ? open_temporary(file) : open_stream(file);
    if (!file->stream) {
        code = errno ? -errno : -EIO;
        release_file(file);
        return es_error_set_at(error, code, path, 0, 0, "cannot be written: %s",
                               strerror(-code));
    }
    *ret_file = file;
    return 0;
}

int esi_output_file_open(const char *path,
                         struct es_error *error,
                         struct esi_output_file **ret_file)
{
    return open_output(path, false, error, ret_file);
}

int esi_output_file_open_own(const char *path,
                             struct es_error *error,
                             struct esi_output_file **ret_file)
{
    int code = esi_file_check_own(path, error);

    return code < 0 ? code : open_output(path, true, error, ret_file);
}

/* Flushes everything.  Returns 0 or -errno. */
static int end_stream(struct esi_output_file *file)
{
    int code = 0;

    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream))
        code = errno ? -errno : -EIO;
    if (!file->borrowed && fclose(file->stream) != 0 && code == 0)
        code = errno ? -errno : -EIO;
    return code;
}

int esi_output_file_close(struct esi_output_file *file, struct es_error *error)
{
    int code = end_stream(file);

    if (code == 0 && file->is_own)
        code = esi_file_check_own(file->path, error);
    if (code == 0 && file->temporary && rename(file->temporary, file->path) < 0)
        code = -errno;
    if (code < 0) {
        es_error_set_at(error, code, file->path, 0, 0, "cannot be written: %s",
                        strerror(-code));
        if (file->temporary)
            unlink(file->temporary);
    }
    release_file(file);
    return code;
}

void esi_output_file_discard(struct esi_output_file *file)
{
    if (!file)
        return;
    if (!file->borrowed)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    release_file(file);
}
