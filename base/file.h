/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Files: those of this user, and whole contents in and out. */
#ifndef ES_BASE_FILE_H
#define ES_BASE_FILE_H

#include <stddef.h>

#include "eventspace/error.h"

/* Opens a regular file of this user without following a link and without blocking.
 * `folder` and `name` are openat(2)'s; `shown` is the path in errors.  With O_CREAT the
 * file has mode 0600 whatever the umask.  Returns the descriptor.  -ENOENT: there is
 * none; -EPERM: it is no regular file, or it belongs to somebody else, whom `error`
 * names; else as open(2) gives it. */
int esi_file_open_own(int folder,
                      const char *name,
                      int flags,
                      const char *shown,
                      struct es_error *error);

/* Reads all of an open file, with a zero byte behind it.  Caller frees *ret_text.
 * -EFBIG: more than `most` bytes. */
int esi_file_read_all(int fd, size_t most, char **ret_text, size_t *ret_length);

/* -errno. */
int esi_file_write_all(int fd, const char *text, size_t length);

#endif
