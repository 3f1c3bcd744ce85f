/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_file.c - names of files in an archive, and replacing files. */
#include "config.h"

#include "monitors/archive/archive_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* More than the tables of 100,000 ranks need. */
#define READ_MAX ((size_t)1 << 30)

static int write_new(int workshop,
                     const char *name,
                     void (*write)(const void *data, FILE *stream),
                     const void *data)
{
    int file = openat(workshop, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    int result = 0;

    if (!stream) {
        result = -errno;
        if (file >= 0)
            close(file);
        return result;
    }
    errno = 0;
    write(data, stream);
    /* On disk before it replaces the existing file. */
    if (fflush(stream) != 0 || ferror(stream) || fsync(file) < 0)
        result = errno ? -errno : -EIO;
    if (fclose(stream) != 0 && result == 0)
        result = -errno;
    return result;
}

int esi_archive_replace(int workshop,
                        int directory,
                        const char *name,
                        void (*write)(const void *data, FILE *stream),
                        const void *data)
{
    char made[256];
    struct stat status;
    int result;

    snprintf(made, sizeof made, "%s.new", name);
    result = write_new(workshop, made, write, data);
    /* Who may read the replaced file may read the new one. */
    if (result == 0 && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        (void)!fchmodat(workshop, made, status.st_mode & 0777, 0);
    if (result == 0 && renameat(workshop, made, directory, name) < 0)
        result = -errno;
    if (result < 0)
        unlinkat(workshop, made, 0);
    return result;
}

int esi_archive_slurp(int directory,
                      const char *name,
                      char **ret_text,
                      size_t *ret_length)
{
    /* Does not block if the path is a FIFO. */
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    int result;

    if (file < 0)
        return -errno;
    if (fstat(file, &status) < 0)
        result = -errno;
    else if (!S_ISREG(status.st_mode))
        result = -EINVAL;
    else if ((uint64_t)status.st_size > READ_MAX)
        result = -EFBIG;
    else
        result = esi_file_read_all(file, READ_MAX, ret_text, ret_length);
    close(file);
    return result;
}

int esi_archive_uuid(uint8_t ret_uuid[16])
{
    if (getrandom(ret_uuid, 16, 0) != 16)
        return errno ? -errno : -EIO;
    ret_uuid[6] = (uint8_t)((ret_uuid[6] & 0x0f) | 0x40);
    ret_uuid[8] = (uint8_t)((ret_uuid[8] & 0x3f) | 0x80);
    return 0;
}

/* === Names ======================================================================== */

/* Maximum length of a name within a file name. */
enum { NAME_MAX_BYTES = 128 };

/* Copies a name, replacing characters that file names should not contain by `other`.
 * Returns whether the name is unchanged. */
static bool make_plain(const char *name, char other, char out[NAME_MAX_BYTES])
{
    size_t length = 0;
    bool same = true;

    for (; *name && length < NAME_MAX_BYTES - 1; name++, length++) {
        unsigned char c = (unsigned char)*name;
        bool plain =
            c < 0x80 && (isalnum(c) || strchr("_-:", c) || (c == '.' && length > 0));

        out[length] = plain ? (char)c : other;
        same &= plain;
    }
    out[length] = '\0';
    return same && *name == '\0' && length > 0;
}

void esi_archive_host_directory(const struct esi_archive_tables *tables,
                                uint32_t host,
                                char out[ESI_ARCHIVE_NAME_BYTES])
{
    char plain[NAME_MAX_BYTES];

    if (make_plain(tables->hosts[host].name, '_', plain))
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s", plain);
    else
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "_%s.%u", plain, host);
}

void esi_archive_stream_name(const struct esi_archive_tables *tables,
                             uint32_t element,
                             unsigned late,
                             char out[ESI_ARCHIVE_NAME_BYTES])
{
    char plain[NAME_MAX_BYTES];

    make_plain(tables->elements[element].name, '-', plain);
    if (late > 0)
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s.%u.late-%u", plain, element, late);
    else
        snprintf(out, ESI_ARCHIVE_NAME_BYTES, "%s.%u", plain, element);
}
