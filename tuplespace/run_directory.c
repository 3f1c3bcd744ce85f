/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Finds, makes, lists and removes run directories. */
#include "config.h"

#include "tuplespace/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuplespace/segment_name.h"

/* Leaves room for a run's name and a file's behind it. */
#define LONGEST_BASE 3072

static int check_length(int length, struct es_error *error)
{
    if (length < 0 || length >= LONGEST_BASE)
        return es_error_set(error, -ENAMETOOLONG,
                            "run directory: the path is too long");
    return 0;
}

int es_run_directory_base(struct es_error *error, char out[ES_RUN_PATH_BYTES])
{
    const char *chosen = getenv("EVENTSPACE_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[ES_RUN_PATH_BYTES];
    int length, rc;

    if (chosen && chosen[0] != '\0' && chosen[0] != '/')
        return es_error_set_at(error, -EINVAL, "EVENTSPACE_DIR", 0, 0,
                               "\"%.256s\": expected an absolute path", chosen);
    if (chosen && chosen[0] == '/')
        length = snprintf(path, sizeof path, "%s", chosen);
    else if (runtime && runtime[0] == '/')
        length = snprintf(path, sizeof path, "%s/eventspace", runtime);
    else
        length = snprintf(path, sizeof path, "/tmp/eventspace-%u", (unsigned)geteuid());
    rc = check_length(length, error);
    if (rc == 0)
        memcpy(out, path, (size_t)length + 1);
    return rc;
}

int es_run_directory_path(const char *run,
                          const char *file,
                          struct es_error *error,
                          char out[ES_RUN_PATH_BYTES])
{
    char base[ES_RUN_PATH_BYTES];
    int rc;

    if (!es_run_id_is_valid(run))
        return es_error_set(
            error, -EINVAL,
            "run \"%.64s\": expected 1 to 63 characters of [A-Za-z0-9_-]", run);
    if (file && strlen(file) > 255)
        return es_error_set(error, -ENAMETOOLONG, "run \"%s\": file name too long",
                            run);
    rc = es_run_directory_base(error, base);
    if (rc == 0)
        snprintf(out, ES_RUN_PATH_BYTES, "%.3071s/%s%s%s", base, run, file ? "/" : "",
                 file ? file : "");
    return rc;
}

/* Nobody else may put files into it: with them they could steer our programs. */
static int check_base(const char *base, struct es_error *error)
{
    struct stat status;

    if (lstat(base, &status) != 0)
        return es_error_set_at(error, -errno, base, 0, 0, "%s", strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return es_error_set_at(error, -ENOTDIR, base, 0, 0, "expected a directory");
    if (status.st_uid != geteuid())
        return es_error_set_at(
            error, -EPERM, base, 0, 0,
            "belongs to user %u; set EVENTSPACE_DIR to a directory of "
            "your own",
            (unsigned)status.st_uid);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return es_error_set_at(
            error, -EPERM, base, 0, 0,
            "others may write to it; take that right away (chmod 700)");
    return 0;
}

static int make_base(const char *base, struct es_error *error)
{
    if (mkdir(base, 0700) != 0 && errno != EEXIST)
        return es_error_set_at(error, -errno, base, 0, 0, "cannot be made: %s",
                               strerror(errno));
    return check_base(base, error);
}

int es_run_directory_create(const char *run,
                            struct es_error *error,
                            char out[ES_RUN_PATH_BYTES])
{
    char base[ES_RUN_PATH_BYTES];
    char path[ES_RUN_PATH_BYTES];
    int rc = es_run_directory_path(run, NULL, error, path);

    if (rc == 0)
        rc = es_run_directory_base(error, base);
    if (rc == 0)
        rc = make_base(base, error);
    if (rc != 0)
        return rc;
    if (mkdir(path, 0700) != 0)
        return es_error_set_at(error, -errno, path, 0, 0, "cannot be made: %s",
                               strerror(errno));
    strcpy(out, path);
    return 0;
}

static int remove_files(DIR *directory)
{
    struct dirent *entry;

    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(directory), entry->d_name, 0) != 0 && errno != ENOENT)
            return errno == EISDIR ? -ENOTEMPTY : -errno;
    }
    return 0;
}

int es_run_directory_remove(const char *run, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    DIR *directory;
    int fd;
    int rc = es_run_directory_path(run, NULL, error, path);

    if (rc != 0)
        return rc;
    /* A link is not followed: what it leads to is not ours to remove. */
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
    } else {
        rc = remove_files(directory);
        closedir(directory);
    }
    if (rc == 0 && rmdir(path) != 0)
        rc = -errno;
    if (rc != 0)
        return es_error_set_at(error, rc, path, 0, 0, "cannot be removed: %s",
                               strerror(-rc));
    return 0;
}

struct id_list {
    char (*runs)[64];
    size_t count;
};

static int add_id(struct id_list *list, const char *run)
{
    char(*grown)[64] = reallocarray(list->runs, list->count + 1, sizeof *grown);

    if (!grown)
        return -ENOMEM;
    list->runs = grown;
    strcpy(grown[list->count++], run);
    return 0;
}

static bool is_directory(DIR *parent, const char *name)
{
    struct stat status;

    return fstatat(dirfd(parent), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

int es_run_directory_list(struct es_error *error, char (**ret_runs)[64])
{
    char base[ES_RUN_PATH_BYTES];
    struct id_list list = {0};
    struct dirent *entry;
    DIR *directory;
    int rc = es_run_directory_base(error, base);

    if (rc != 0)
        return rc;
    directory = opendir(base);
    if (!directory && errno != ENOENT)
        return es_error_set_at(error, -errno, base, 0, 0, "%s", strerror(errno));
    while (directory && rc == 0 && (entry = readdir(directory)) != NULL)
        if (es_run_id_is_valid(entry->d_name) && is_directory(directory, entry->d_name))
            rc = add_id(&list, entry->d_name);
    if (directory)
        closedir(directory);
    if (rc != 0) {
        free(list.runs);
        return rc;
    }
    if (list.count > 0)
        qsort(list.runs, list.count, sizeof *list.runs, compare_ids);
    *ret_runs = list.runs;
    return (int)list.count;
}
