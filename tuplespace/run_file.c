/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Opens, reads, replaces and removes files of run directories, and knows their names.
 */
#include "config.h"

#include "tuplespace/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tuplespace/run_directory.h"

enum { LARGEST = 1 << 30, LONGEST_NAME = 255 };

/* --- Names ------------------------------------------------------------------------ */

/* All that may lie in a run directory: who writes another file adds it here, or the
 * directory cannot be removed any more.  Where hosts share it a file of a tuple server
 * has the host in its name. */
static const char *const known[] = {
    ES_RUN_MARK,
    "collect.plan",
    "collect.trees",
    "eventspaced.log",
    "eventspaced.log.old",
    "key",
    "key.read",
    "lock",
    "map.json",
    "run.json",
    "server.json",
    "server.lock",
    "server.sock",
    "server.start",
    "server.*.json",
    "server.*.lock",
    "server.*.sock",
    "server.*.start",
    "eventspaced.*.log",
    "eventspaced.*.log.old",
};

static bool is_written(const char *file)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (fnmatch(known[i], file, 0) == 0)
            return true;
    return false;
}

/* "FILE.PID.new": a file while it is being written. */
static void name_draft(const char *file, char out[LONGEST_NAME + 1])
{
    snprintf(out, LONGEST_NAME + 1, "%.230s.%d.new", file, (int)getpid());
}

bool esi_run_file_is_known(const char *file)
{
    static const char ending[] = ".new";
    char stem[LONGEST_NAME + 1];
    size_t length = strlen(file);

    if (length > LONGEST_NAME || is_written(file))
        return length <= LONGEST_NAME;
    if (length < sizeof ending || strcmp(file + length - strlen(ending), ending) != 0)
        return false;
    memcpy(stem, file, length + 1);
    stem[length - strlen(ending)] = '\0';
    char *pid = strrchr(stem, '.');
    if (!pid || pid[1] == '\0' || strspn(pid + 1, "0123456789") != strlen(pid + 1))
        return false;
    *pid = '\0';
    return is_written(stem);
}

/* --- Files ------------------------------------------------------------------------ */

static int open_in(int directory,
                   const char *run,
                   const char *file,
                   int flags,
                   struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    int rc = esi_run_directory_path(run, file, error, path);

    return rc < 0 ? rc : esi_file_open_own(directory, file, flags, path, error);
}

int esi_run_file_open(const char *run,
                      const char *file,
                      int flags,
                      struct es_error *error)
{
    int directory = esi_run_directory_open(run, error);

    if (directory < 0)
        return directory;
    int fd = open_in(directory, run, file, flags, error);
    close(directory);
    return fd;
}

static int run_file_fail(const char *run,
                         const char *file,
                         int code,
                         struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];

    if (esi_run_directory_path(run, file, NULL, path) < 0)
        return code;
    return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
}

int esi_run_file_read(const char *run,
                      const char *file,
                      struct es_error *error,
                      char **ret_text,
                      size_t *ret_length)
{
    int fd = esi_run_file_open(run, file, O_RDONLY, error);

    if (fd < 0)
        return fd;
    int rc = esi_file_read_all(fd, LARGEST, ret_text, ret_length);
    close(fd);
    return rc < 0 ? run_file_fail(run, file, rc, error) : 0;
}

static int write_draft(int fd, const char *text, size_t length)
{
    int rc = esi_file_write_all(fd, text, length);

    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

int esi_run_file_replace(const char *run,
                         const char *file,
                         const char *text,
                         size_t length,
                         struct es_error *error)
{
    char draft[LONGEST_NAME + 1];
    int directory = esi_run_directory_open(run, error);

    if (directory < 0)
        return directory;
    name_draft(file, draft);
    unlinkat(directory, draft, 0); /* left by a process that was killed */
    int rc = open_in(directory, run, draft, O_WRONLY | O_CREAT | O_EXCL, error);
    if (rc >= 0)
        rc = write_draft(rc, text, length);
    if (rc == 0 && renameat(directory, draft, directory, file) != 0)
        rc = -errno;
    if (rc < 0) {
        run_file_fail(run, file, rc, error);
        unlinkat(directory, draft, 0);
    }
    close(directory);
    return rc;
}

int esi_run_file_remove(const char *run, const char *file)
{
    int directory = esi_run_directory_open(run, NULL);

    if (directory < 0)
        return directory;
    int rc = unlinkat(directory, file, 0) == 0 ? 0 : -errno;
    close(directory);
    return rc;
}
