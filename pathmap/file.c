/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads whole files; maps from and to files. */
#include "config.h"

#include "pathmap/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output_file.h"
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
    struct esi_output_file *file;
    char *text;
    int code = esi_pathmap_format(map, &text);

    if (code < 0)
        return file_fail(error, path, code, "cannot be written");
    code = esi_output_file_open(path, error, &file);
    if (code == 0 && fputs(text, esi_output_file_stream(file)) >= 0) {
        code = esi_output_file_close(file, error);
    } else if (code == 0) {
        code = file_fail(error, path, errno ? -errno : -EIO, "cannot be written");
        esi_output_file_discard(file);
    }
    free(text);
    return code;
}
