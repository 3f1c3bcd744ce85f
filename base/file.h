/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Files of this user, and reading and writing whole files. */
#ifndef ES_BASE_FILE_H
#define ES_BASE_FILE_H

#include <stddef.h>

#include "eventspace/error.h"

/* Opens a regular file of this user without following a link and without blocking.
 * `folder` and `name` are those of openat(2); `shown` is the path used in errors.
 * O_CREAT creates the file with mode 0600, regardless of the umask.  Returns the
 * descriptor; -ENOENT if it does not exist; -EPERM if it is not a regular file, or is
 * owned by another user, whom `error` names; or another -errno of open(2). */
int esi_file_open_own(int folder,
                      const char *name,
                      int flags,
                      const char *shown,
                      struct es_error *error);

/* Checks, without following a link, that `path` does not exist or is a regular file
 * of this user, which may be replaced.  Returns 0; -EPERM, with `error` filled as
 * above; or another -errno. */
int esi_file_check_own(const char *path, struct es_error *error);

/* Removes a regular file of this user; leaves anything else. */
void esi_file_remove_own(const char *path);

/* Reads an open file to its end and appends a zero byte.  Returns 0; -EFBIG for more
 * than `most` bytes; or another -errno.  The caller frees *ret_text. */
int esi_file_read_all(int fd, size_t most, char **ret_text, size_t *ret_length);

/* Writes all bytes.  Returns 0 or -errno. */
int esi_file_write_all(int fd, const char *text, size_t length);

#endif
