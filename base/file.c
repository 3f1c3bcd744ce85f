/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Opens files of this user only; reads and writes whole files. */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

enum { FIRST_ROOM = 1 << 12 };

/* --- Ownership -------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "a regular file";
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a link";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

static int check_own(const struct stat *status,
                     const char *shown,
                     struct es_error *error)
{
    if (S_ISREG(status->st_mode) && status->st_uid == geteuid())
        return 0;
    return es_error_set_at(error, -EPERM, shown, 0, 0,
                           "is %s and belongs to user %u: not used; expected a regular "
                           "file of user %u",
                           kind_of(status->st_mode), (unsigned)status->st_uid,
                           (unsigned)geteuid());
}

/* Examines a file that could not be opened, because the kernel's reason is not clear
 * for links and pipes. */
static int file_explain(int folder,
                        const char *name,
                        int code,
                        const char *shown,
                        struct es_error *error)
{
    struct stat status;
    int rc = 0;

    if (code != -ENOENT && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        rc = check_own(&status, shown, error);
    return rc < 0 ? rc
                  : es_error_set_at(error, code, shown, 0, 0, "%s", strerror(-code));
}

int esi_file_open_own(int folder,
                      const char *name,
                      int flags,
                      const char *shown,
                      struct es_error *error)
{
    struct stat status;
    int fd = openat(folder, name,
                    flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
    int rc;

    if (fd < 0)
        return file_explain(folder, name, -errno, shown, error);
    rc = fstat(fd, &status) == 0 ? check_own(&status, shown, error) : -errno;
    /* The umask may have removed permissions. */
    if (rc == 0 && (flags & O_CREAT) != 0 && fchmod(fd, 0600) != 0)
        rc = -errno;
    if (rc == 0)
        return fd;
    close(fd);
    return es_error_set_at(error, rc, shown, 0, 0, "%s", strerror(-rc));
}

int esi_file_check_own(const char *path, struct es_error *error)
{
    struct stat status;

    if (lstat(path, &status) == 0)
        return check_own(&status, path, error);
    return errno == ENOENT
               ? 0
               : es_error_set_at(error, -errno, path, 0, 0, "%s", strerror(errno));
}

void esi_file_remove_own(const char *path)
{
    if (esi_file_check_own(path, NULL) == 0)
        unlink(path);
}

/* --- Whole files ------------------------------------------------------------------ */

static int read_rest(int fd, size_t most, size_t room, char **text, size_t *ret_length)
{
    size_t length = 0;

    for (;;) {
        if (length > most)
            return -EFBIG;
        if (ESI_ARRAY_RESERVE(*text, room, length + 2) < 0)
            return -ENOMEM;
        ssize_t got = read(fd, *text + length, room - length - 1);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            break;
        if (got > 0)
            length += (size_t)got;
    }
    (*text)[length] = '\0';
    *ret_length = length;
    return 0;
}

int esi_file_read_all(int fd, size_t most, char **ret_text, size_t *ret_length)
{
    struct stat status;
    size_t room = FIRST_ROOM;
    char *text;
    int code;

    /* Most files have the size that they report. */
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        room = (uint64_t)status.st_size < most ? (size_t)status.st_size + 2 : most + 2;
    text = malloc(room);
    code = text ? read_rest(fd, most, room, &text, ret_length) : -ENOMEM;
    if (code < 0) {
        free(text);
        return code;
    }
    *ret_text = text;
    return 0;
}

int esi_file_write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, text, length);

        if (put < 0 && errno != EINTR)
            return -errno;
        if (put > 0) {
            text += put;
            length -= (size_t)put;
        }
    }
    return 0;
}
