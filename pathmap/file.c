/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads and writes whole files; maps from and to files. */
#include "config.h"

#include "pathmap/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "pathmap/pathmap.h"

enum { LARGEST = 1 << 30 };

static int file_fail(struct es_error *error,
                     const char *path,
                     int code,
                     const char *what)
{
    return es_error_set_at(error, code, path, 0, 0, "%s: %s", what, strerror(-code));
}

/* --- Reading ---------------------------------------------------------------------- */

int esi_file_read(const char *path,
                  struct es_error *error,
                  char **ret_text,
                  size_t *ret_length)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return file_fail(error, path, -errno, "cannot be read");
    int code = esi_file_read_all(fd, LARGEST, ret_text, ret_length);
    close(fd);
    return code < 0 ? file_fail(error, path, code, "cannot be read") : 0;
}

/* --- Writing ---------------------------------------------------------------------- */

static int write_to(const char *path, int flags, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);

    if (fd < 0)
        return -errno;
    int code = esi_file_write_all(fd, text, length);
    if (close(fd) != 0 && code == 0)
        code = -errno;
    return code;
}

static int file_replace(const char *path, const char *text, size_t length)
{
    char *draft;

    if (asprintf(&draft, "%s.%ld.tmp", path, (long)getpid()) < 0)
        return -ENOMEM;
    unlink(draft); /* left by a killed process with the same pid */
    int code = write_to(draft, O_CREAT | O_EXCL, text, length);
    if (code == 0 && rename(draft, path) != 0)
        code = -errno;
    if (code < 0 && code != -EEXIST)
        unlink(draft);
    free(draft);
    return code;
}

int esi_file_write(const char *path,
                   const char *text,
                   size_t length,
                   struct es_error *error)
{
    struct stat found;
    bool plain = stat(path, &found) != 0 || S_ISREG(found.st_mode);
    int code =
        plain ? file_replace(path, text, length) : write_to(path, 0, text, length);

    return code < 0 ? file_fail(error, path, code, "cannot be written") : 0;
}

/* --- Maps ------------------------------------------------------------------------- */

int esi_pathmap_load(const char *path,
                     struct es_error *error,
                     struct esi_pathmap **ret_map)
{
    char *text;
    size_t length;
    int code = esi_file_read(path, error, &text, &length);

    if (code < 0)
        return code;
    code = esi_pathmap_parse(text, length, path, error, ret_map);
    free(text);
    return code;
}

int esi_pathmap_load_observer(const char *path,
                              struct es_error *error,
                              struct esi_pathmap **ret_map)
{
    char *text;
    size_t length;
    int code = esi_file_read(path, error, &text, &length);

    if (code < 0)
        return code;
    code = esi_pathmap_parse_observer(text, length, path, error, ret_map);
    free(text);
    return code;
}

int esi_pathmap_save(const struct esi_pathmap *map,
                     const char *path,
                     struct es_error *error)
{
    char *text;
    int code = esi_pathmap_format(map, &text);

    if (code < 0)
        return file_fail(error, path, code, "cannot be written");
    code = esi_file_write(path, text, strlen(text), error);
    free(text);
    return code;
}
