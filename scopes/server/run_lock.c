/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Lock files of run directories. */
#include "config.h"

#include "scopes/server/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/run_file.h"

/* Who asks whether a lock is taken holds it for a moment himself. */
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
