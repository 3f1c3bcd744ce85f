/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* server_location.c - the location of a tuple server's files; lock files of run
 * directories. */
#include "config.h"

#include "scopes/server/server_location.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "pathmap/message.h"
#include "tuplespace/run_directory.h"

/* Returns whether `eventspace run` created the directory, and on which host. */
static enum esi_run_directory_kind find_kind(const char *run, const char *host)
{
    enum esi_run_directory_kind directory = ES_RUN_DIRECTORY_OWN;
    struct es_message *facts;
    size_t length;
    char *text;

    if (esi_run_file_read(run, "run.json", NULL, &text, &length) < 0)
        return ES_RUN_DIRECTORY_OWN;
    if (esi_message_parse(text, length, "run.json", NULL, &facts) == 0) {
        const char *home = esi_member_text_or(esi_message_root(facts), "host", host);
        directory =
            strcmp(home, host) == 0 ? ES_RUN_DIRECTORY_HOME : ES_RUN_DIRECTORY_SHARED;
        esi_message_destroy(facts);
    }
    free(text);
    return directory;
}

void esi_server_location_find(const char *run,
                              const char *host,
                              struct esi_server_location *ret_location)
{
    struct esi_server_location location = {.kind = find_kind(run, host)};

    snprintf(location.run, sizeof location.run, "%s", run);
    snprintf(location.host, sizeof location.host, "%s", host);
    if (location.kind == ES_RUN_DIRECTORY_SHARED)
        snprintf(location.suffix, sizeof location.suffix, ".%s", location.host);
    *ret_location = location;
}

const char *esi_server_file(const struct esi_server_location *location,
                            const char *kind,
                            char out[96])
{
    const char *stem = strcmp(kind, "log") == 0 ? "eventspaced" : "server";

    snprintf(out, 96, "%s%s.%s", stem, location->suffix, kind);
    return out;
}

int esi_server_path(const struct esi_server_location *location,
                    const char *kind,
                    struct es_error *error,
                    char out[ES_RUN_PATH_BYTES])
{
    char file[96];

    return esi_run_directory_path(location->run, esi_server_file(location, kind, file),
                                  error, out);
}

int esi_server_socket(const struct esi_server_location *location,
                      struct es_error *error,
                      char out[ES_ADDRESS_BYTES])
{
    char path[ES_RUN_PATH_BYTES];

    int code = esi_server_path(location, "sock", error, path);
    if (code < 0)
        return code;
    if (strlen(path) + sizeof "unix:" > ES_ADDRESS_BYTES)
        return es_error_set_at(error, -ENAMETOOLONG, path, 0, 0,
                               "too long for a socket; set EVENTSPACE_DIR to a "
                               "shorter one");
    snprintf(out, ES_ADDRESS_BYTES, "unix:%.290s", path);
    return 0;
}

static int find_address(const struct es_member *list,
                        const char *prefix,
                        char out[ES_ADDRESS_BYTES])
{
    for (size_t i = 0; i < esi_member_count(list); i++) {
        const char *address = esi_member_as_text(esi_member_at(list, i));

        if (!address || strncmp(address, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(out, ES_ADDRESS_BYTES, "%s", address);
        return 0;
    }
    return -ENOENT;
}

int esi_server_former(const struct esi_server_location *location,
                      const char *prefix,
                      char out[ES_ADDRESS_BYTES])
{
    struct es_message *facts;
    char file[96];
    size_t length;
    char *text;

    int code = esi_run_file_read(location->run, esi_server_file(location, "json", file),
                                 NULL, &text, &length);
    if (code < 0)
        return -ENOENT;
    code = esi_message_parse(text, length, file, NULL, &facts);
    free(text);
    if (code < 0)
        return -ENOENT;
    code = find_address(esi_member_find(esi_message_root(facts), "addresses"), prefix,
                        out);
    esi_message_destroy(facts);
    return code;
}

/* --- Locks --------------------------------------------------------------------- */

/* A process that tests a lock holds it for a moment, so a failed attempt is
 * repeated. */
static int try_lock(int lock)
{
    enum { TRIES = 5, PAUSE_NS = 1000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    for (int i = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == TRIES)
            return -errno;
        nanosleep(&pause, NULL);
    }
    return 0;
}

int esi_run_lock_take(const char *run,
                      const char *file,
                      struct es_error *error,
                      int *ret_lock)
{
    char path[ES_RUN_PATH_BYTES];

    int code = esi_run_directory_path(run, file, error, path);
    if (code < 0)
        return code;
    int lock = esi_run_file_open(run, file, O_RDWR | O_CREAT, error);
    if (lock < 0)
        return lock;
    code = try_lock(lock);
    if (code < 0) {
        close(lock);
        return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
    }
    *ret_lock = lock;
    return 0;
}

static int open_lock(const char *run, const char *file)
{
    char path[ES_RUN_PATH_BYTES];

    if (esi_run_directory_path(run, file, NULL, path) < 0)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

int esi_run_lock_share(const char *run, const char *file)
{
    int lock = open_lock(run, file);

    if (lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0) {
        close(lock);
        return -1;
    }
    return lock;
}

void esi_run_lock_await_free(const char *run, const char *file, uint64_t timeout_ns)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    int lock = open_lock(run, file);

    if (lock < 0)
        return;
    while (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           esi_now_ns(CLOCK_MONOTONIC) - begun_ns < timeout_ns)
        nanosleep(&pause, NULL);
    close(lock);
}

bool esi_run_lock_is_taken(const char *run, const char *file)
{
    int lock = esi_run_file_open(run, file, O_RDWR, NULL);

    if (lock < 0)
        return false;
    bool is_taken = flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(lock);
    return is_taken;
}

bool esi_run_lock_is_orphan(int lock)
{
    struct stat status;

    return fstat(lock, &status) == 0 && status.st_nlink == 0;
}
