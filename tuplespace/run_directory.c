/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Finds, creates, lists and removes run directories, and accesses their files.
 *
 * The folder and a run's directory are opened once and checked through their
 * descriptors, and their contents are accessed relative to these, so nobody can replace
 * them between check and use.
 */
#include "config.h"

#include "tuplespace/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "tuplespace/segment_name.h"

/* Lists the paths of files outside that belong to the directory, one per line. */
#define OUTSIDE "outside"

enum { MOST_OUTSIDE = 1 << 20 };

/* Leaves room for the name of a run and of a file. */
#define LONGEST_BASE 3072

static int check_length(int length, struct es_error *error)
{
    if (length < 0 || length >= LONGEST_BASE)
        return es_error_set(error, -ENAMETOOLONG,
                            "run directory: the path is too long");
    return 0;
}

int esi_run_directory_base(struct es_error *error, char out[ES_RUN_PATH_BYTES])
{
    const char *chosen = getenv("EVENTSPACE_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char path[ES_RUN_PATH_BYTES];
    int length, rc;

    if (chosen && chosen[0] != '\0' && chosen[0] != '/')
        return es_error_set_at(error, -EINVAL, "EVENTSPACE_DIR", 0, 0,
                               "'%.256s': expected an absolute path", chosen);
    if (chosen && chosen[0] == '/')
        length = snprintf(path, sizeof path, "%s", chosen);
    else if (runtime && runtime[0] == '/')
        length = snprintf(path, sizeof path, "%s/eventspace", runtime);
    else
        length = snprintf(path, sizeof path, "/tmp/eventspace-%u", (unsigned)geteuid());
    rc = check_length(length, error);
    if (rc != 0)
        return rc;
    /* With a trailing slash, a link would be followed. */
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    memcpy(out, path, (size_t)length + 1);
    return 0;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

uint64_t esi_run_directory_folder(void)
{
    char path[ES_RUN_PATH_BYTES], whole[ES_RUN_PATH_BYTES];
    char *last;

    if (esi_run_directory_base(NULL, path) < 0)
        return 0;
    /* The first caller creates the folder; its parent exists, possibly through
     * links. */
    last = strrchr(path, '/');
    *last = '\0';
    char *parent = realpath(last == path ? "/" : path, NULL);
    snprintf(whole, sizeof whole, "%.*s/%s", LONGEST_BASE, parent ? parent : path,
             last + 1);
    free(parent);
    return hash_text(whole);
}

int esi_run_directory_path(const char *run,
                           const char *file,
                           struct es_error *error,
                           char out[ES_RUN_PATH_BYTES])
{
    char base[ES_RUN_PATH_BYTES];
    int rc;

    if (!esi_run_id_is_valid(run))
        return es_error_set(
            error, -EINVAL,
            "run '%.64s': expected 1 to 63 characters of [A-Za-z0-9_-], "
            "with single dots between them",
            run);
    if (file && strlen(file) > 255)
        return es_error_set(error, -ENAMETOOLONG, "run '%s': file name too long", run);
    rc = esi_run_directory_base(error, base);
    if (rc == 0)
        snprintf(out, ES_RUN_PATH_BYTES, "%.3071s/%s%s%s", base, run, file ? "/" : "",
                 file ? file : "");
    return rc;
}

/* --- Opening ---------------------------------------------------------------------- */

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int run_directory_fail(struct es_error *error, int code, const char *path)
{
    return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
}

/* Nobody else may be able to add files: they could control our programs. */
static int check_directory(const struct stat *status,
                           const char *path,
                           struct es_error *error)
{
    if (status->st_uid != geteuid())
        return es_error_set_at(
            error, -EPERM, path, 0, 0,
            "belongs to user %u; set EVENTSPACE_DIR to a directory of your own",
            (unsigned)status->st_uid);
    if (!S_ISDIR(status->st_mode))
        return es_error_set_at(error, -ENOTDIR, path, 0, 0, "expected a directory%s",
                               S_ISLNK(status->st_mode) ? ", not a link" : "");
    if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return es_error_set_at(
            error, -EPERM, path, 0, 0,
            "others may write to it; remove that permission (chmod 700)");
    return 0;
}

/* Opens and checks `name` in `parent`; `path` is for errors. */
static int open_directory(int parent,
                          const char *name,
                          const char *path,
                          struct es_error *error)
{
    struct stat status;
    int fd = openat(parent, name, DIRECTORY_FLAGS);
    int rc = fd < 0 ? -errno : 0;

    /* If it cannot be opened, its owner is more informative than the reason. */
    if (rc == 0 ? fstat(fd, &status) == 0
                : fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        int fault = check_directory(&status, path, error);
        rc = fault < 0 ? fault : rc;
    }
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return run_directory_fail(error, rc, path);
}

static int open_folder(struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    int rc = esi_run_directory_base(error, path);

    return rc < 0 ? rc : open_directory(AT_FDCWD, path, path, error);
}

/* --- The mark --------------------------------------------------------------------- */

#define MARK_BYTES 128

static size_t format_mark(const char *run, char out[MARK_BYTES])
{
    return (size_t)snprintf(out, MARK_BYTES, ES_RUN_MARK " 1 %s\n", run);
}

static int write_mark(int directory, const char *run)
{
    char text[MARK_BYTES];
    size_t length = format_mark(run, text);
    int fd = esi_file_open_own(directory, ES_RUN_MARK, O_WRONLY | O_CREAT | O_TRUNC,
                               ES_RUN_MARK, NULL);

    if (fd < 0)
        return fd;
    int rc = esi_file_write_all(fd, text, length);
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

/* Returns 0; -EPERM if the directory has no mark of the run; or -EMFILE or -ENFILE,
 * which say nothing about the directory. */
static int check_mark(int directory, const char *run)
{
    char expected[MARK_BYTES], text[MARK_BYTES];
    size_t length = format_mark(run, expected);
    int fd = esi_file_open_own(directory, ES_RUN_MARK, O_RDONLY, ES_RUN_MARK, NULL);

    if (fd < 0)
        return fd == -EMFILE || fd == -ENFILE ? fd : -EPERM;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got == (ssize_t)length && memcmp(text, expected, length) == 0 ? 0 : -EPERM;
}

/* Opens the run's directory in the open folder. */
static int open_run(int folder, const char *run, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    int rc = esi_run_directory_path(run, NULL, error, path);
    int fd = rc < 0 ? rc : open_directory(folder, run, path, error);

    if (fd < 0)
        return fd;
    rc = check_mark(fd, run);
    if (rc == 0)
        return fd;
    close(fd);
    if (rc != -EPERM)
        return run_directory_fail(error, rc, path);
    return es_error_set_at(error, -EPERM, path, 0, 0,
                           "is not a run directory (it lacks the file " ES_RUN_MARK
                           " of this run): not removed");
}

int esi_run_directory_open(const char *run, struct es_error *error)
{
    int folder = open_folder(error);

    if (folder < 0)
        return folder;
    int fd = open_run(folder, run, error);
    close(folder);
    return fd;
}

/* --- Creating --------------------------------------------------------------------- */

static int make_folder(struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    int rc = esi_run_directory_base(error, path);

    if (rc < 0)
        return rc;
    if (mkdir(path, 0700) == 0)
        (void)chmod(path, 0700); /* the umask may have removed permissions */
    else if (errno != EEXIST)
        return es_error_set_at(error, -errno, path, 0, 0, "cannot be created: %s",
                               strerror(errno));
    return open_directory(AT_FDCWD, path, path, error);
}

int esi_run_directory_make_base(struct es_error *error, char out[ES_RUN_PATH_BYTES])
{
    int folder = make_folder(error);

    if (folder < 0)
        return folder;
    close(folder);
    return esi_run_directory_base(error, out);
}

static void remove_draft(int folder, const char *draft)
{
    int fd = openat(folder, draft, DIRECTORY_FLAGS);

    if (fd >= 0) {
        unlinkat(fd, ES_RUN_MARK, 0);
        close(fd);
    }
    unlinkat(folder, draft, AT_REMOVEDIR);
}

static int make_draft(int folder, const char *draft, const char *run)
{
    if (mkdirat(folder, draft, 0700) != 0 || fchmodat(folder, draft, 0700, 0) != 0)
        return -errno;
    int fd = openat(folder, draft, DIRECTORY_FLAGS);
    if (fd < 0)
        return -errno;
    int rc = write_mark(fd, run);
    close(fd);
    return rc;
}

/* The directory appears with its mark; if two processes create it, one of them
 * succeeds. */
static int make_run(int folder, const char *run)
{
    char draft[96];

    snprintf(draft, sizeof draft, ".%.63s.%d.new", run, (int)getpid());
    remove_draft(folder, draft); /* left by a killed process */
    int rc = make_draft(folder, draft, run);
    if (rc == 0 && renameat(folder, draft, folder, run) != 0)
        rc = errno == ENOTEMPTY ? -EEXIST : -errno;
    if (rc < 0)
        remove_draft(folder, draft);
    return rc;
}

static int create_in(int folder,
                     const char *run,
                     const char *path,
                     struct es_error *error)
{
    struct stat status;
    int rc = fstatat(folder, run, &status, AT_SYMLINK_NOFOLLOW) == 0
                 ? -EEXIST
                 : make_run(folder, run);

    if (rc == -EEXIST) {
        int fd = open_run(folder, run, error);
        if (fd < 0)
            return fd;
        close(fd);
    }
    return rc == 0 ? 0
                   : es_error_set_at(error, rc, path, 0, 0, "cannot be created: %s",
                                     strerror(-rc));
}

int esi_run_directory_create(const char *run,
                             struct es_error *error,
                             char out[ES_RUN_PATH_BYTES])
{
    char path[ES_RUN_PATH_BYTES];
    int rc = esi_run_directory_path(run, NULL, error, path);
    int folder = rc < 0 ? rc : make_folder(error);

    if (folder < 0)
        return folder;
    rc = create_in(folder, run, path, error);
    close(folder);
    if (rc == 0)
        strcpy(out, path);
    return rc;
}

/* --- Removing --------------------------------------------------------------------- */

static bool is_special(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns whether EventSpace writes files of this name into run directories. */
static bool run_file_is_known(const char *file);

static bool is_written_by_us(int directory, const char *name)
{
    struct stat status;

    if (!run_file_is_known(name))
        return false;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    return status.st_uid == geteuid() &&
           (S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int refuse_foreign(DIR *directory, const char *path, struct es_error *error)
{
    struct dirent *entry;

    while ((entry = readdir(directory)) != NULL)
        if (!is_special(entry->d_name) &&
            !is_written_by_us(dirfd(directory), entry->d_name))
            return es_error_set_at(error, -ENOTEMPTY, path, 0, 0,
                                   "'%s' in it does not belong to EventSpace: nothing "
                                   "is removed",
                                   entry->d_name);
    return 0;
}

/* Removes all files but the mark: a directory with files must remain recognizable. */
static int remove_files(DIR *directory)
{
    struct dirent *entry;

    rewinddir(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (is_special(entry->d_name) || strcmp(entry->d_name, ES_RUN_MARK) == 0 ||
            !run_file_is_known(entry->d_name))
            continue;
        if (unlinkat(dirfd(directory), entry->d_name, 0) != 0 && errno != ENOENT)
            return -errno;
    }
    return 0;
}

/* Removes the run's files outside of the directory; missing ones are ignored. */
static void remove_outside(DIR *directory)
{
    int fd = esi_file_open_own(dirfd(directory), OUTSIDE, O_RDONLY, OUTSIDE, NULL);
    char *text, *rest;
    size_t length;

    if (fd < 0)
        return;
    if (esi_file_read_all(fd, MOST_OUTSIDE, &text, &length) == 0) {
        for (char *path = strtok_r(text, "\n", &rest); path;
             path = strtok_r(NULL, "\n", &rest))
            esi_file_remove_own(path);
        free(text);
    }
    close(fd);
}

static int remove_marked(int folder, const char *run, DIR *directory)
{
    int rc;

    remove_outside(directory);
    rc = remove_files(directory);
    if (rc < 0)
        return rc;
    if (unlinkat(dirfd(directory), ES_RUN_MARK, 0) != 0 && errno != ENOENT)
        return -errno;
    if (unlinkat(folder, run, AT_REMOVEDIR) == 0)
        return 0;
    rc = -errno;
    /* A file was created meanwhile. */
    write_mark(dirfd(directory), run);
    return rc;
}

/* Returns whether another process is removing the directory, beginning with its
 * mark. */
static bool run_vanishes(int folder, const char *run)
{
    enum { LOOKS = 100 };
    const struct timespec pause = {.tv_nsec = 1000000};
    struct stat status;

    for (int i = 0; i < LOOKS; i++) {
        if (fstatat(folder, run, &status, AT_SYMLINK_NOFOLLOW) != 0)
            return errno == ENOENT;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Opens the run's directory as a stream, if it contains no foreign files. */
static int open_removable(int folder,
                          const char *run,
                          const char *path,
                          struct es_error *error,
                          DIR **ret_directory)
{
    int fd = open_run(folder, run, error);

    if (fd == -EPERM && run_vanishes(folder, run))
        return run_directory_fail(error, -ENOENT, path);
    if (fd < 0)
        return fd;
    DIR *directory = fdopendir(fd);
    if (!directory) {
        int code = -errno;
        close(fd);
        return run_directory_fail(error, code, path);
    }
    int rc = refuse_foreign(directory, path, error);
    if (rc < 0)
        closedir(directory);
    else
        *ret_directory = directory;
    return rc;
}

static int remove_or_check(const char *run, bool remove, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    DIR *directory = NULL;
    int rc = esi_run_directory_path(run, NULL, error, path);
    int folder = rc < 0 ? rc : open_folder(error);

    if (folder < 0)
        return folder;
    rc = open_removable(folder, run, path, error, &directory);
    if (rc == 0) {
        rc = remove ? remove_marked(folder, run, directory) : 0;
        closedir(directory);
    }
    close(folder);
    return rc == 0 ? 0
                   : es_error_set_at(error, rc, path, 0, 0, "cannot be removed: %s",
                                     strerror(-rc));
}

int esi_run_directory_check(const char *run, struct es_error *error)
{
    return remove_or_check(run, false, error);
}

int esi_run_directory_remove(const char *run, struct es_error *error)
{
    return remove_or_check(run, true, error);
}

/* --- Listing ---------------------------------------------------------------------- */

struct id_list {
    char (*runs)[64];
    size_t count;
    size_t capacity;
};

static int add_id(struct id_list *list, const char *run)
{
    if (ESI_ARRAY_RESERVE(list->runs, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    strcpy(list->runs[list->count++], run);
    return 0;
}

static bool is_run(int folder, const char *name)
{
    int fd = esi_run_id_is_valid(name) ? open_run(folder, name, NULL) : -1;

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Takes ownership of the descriptor. */
static int list_folder(int folder, struct id_list *list)
{
    struct dirent *entry;
    int rc = 0;
    DIR *directory = fdopendir(folder);

    if (!directory) {
        rc = -errno;
        close(folder);
        return rc;
    }
    while (rc == 0 && (entry = readdir(directory)) != NULL)
        if (is_run(folder, entry->d_name))
            rc = add_id(list, entry->d_name);
    closedir(directory);
    return rc;
}

int esi_run_directory_list(struct es_error *error, char (**ret_runs)[64])
{
    struct es_error fault = {.text = ""};
    struct id_list list = {0};
    int folder = open_folder(&fault);
    int rc = folder < 0 ? folder : list_folder(folder, &list);

    if (rc < 0 && rc != -ENOENT) {
        free(list.runs);
        return es_error_set_at(error, rc, fault.source, 0, 0, "%s",
                               fault.text[0] ? fault.text : strerror(-rc));
    }
    if (list.count > 0)
        qsort(list.runs, list.count, sizeof *list.runs, compare_ids);
    *ret_runs = list.runs;
    return (int)list.count;
}

/* --- Names of files --------------------------------------------------------------- */

enum { LARGEST = 1 << 30, LONGEST_NAME = 255 };

/* All files that a run directory may contain.  New files must be added here, or the
 * directory cannot be removed any more.  If hosts share it, files of tuple servers have
 * the host in their name. */
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
    OUTSIDE,
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

/* Formats "FILE.PID.new", the name of a file while it is being written. */
static void name_draft(const char *file, char out[LONGEST_NAME + 1])
{
    snprintf(out, LONGEST_NAME + 1, "%.230s.%d.new", file, (int)getpid());
}

static bool run_file_is_known(const char *file)
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
    unlinkat(directory, draft, 0); /* left by a killed process */
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

/* --- Files outside ---------------------------------------------------------------- */

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);

    while (text) {
        const char *end = strchr(text, '\n');

        if (strncmp(text, line, length) == 0 && text[length] == '\n')
            return true;
        text = end ? end + 1 : NULL;
    }
    return false;
}

int esi_run_directory_note_outside(const char *run,
                                   const char *path,
                                   struct es_error *error)
{
    char *text = NULL, *longer;
    size_t length;
    int rc = esi_run_file_read(run, OUTSIDE, NULL, &text, &length);
    bool is_noted = rc == 0 && has_line(text, path);

    if (strchr(path, '\n')) {
        free(text);
        return es_error_set(error, -EINVAL, "expected a path without a line break");
    }
    if (is_noted || (rc < 0 && rc != -ENOENT)) {
        free(text);
        return rc;
    }
    rc = asprintf(&longer, "%s%s\n", text ? text : "", path);
    free(text);
    if (rc < 0)
        return -ENOMEM;
    rc = esi_run_file_replace(run, OUTSIDE, longer, strlen(longer), error);
    free(longer);
    return rc;
}
