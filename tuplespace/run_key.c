/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Makes, saves and reads the key of a run. */
#include "config.h"

#include "tuplespace/run_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuplespace/run_directory.h"

int es_run_key_make(struct es_run_key *ret_key)
{
    struct es_run_key key;

    /* So few bytes come at once or, before the system has any, not at all. */
    if (getrandom(key.bytes, sizeof key.bytes, 0) != (ssize_t)sizeof key.bytes)
        return errno ? -errno : -EIO;
    *ret_key = key;
    return 0;
}

void es_run_key_format(const struct es_run_key *key, char out[ES_RUN_KEY_TEXT_BYTES])
{
    for (size_t i = 0; i < ES_RUN_KEY_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", key->bytes[i]);
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

int es_run_key_parse(const char *text, struct es_run_key *ret_key)
{
    struct es_run_key key;

    if (strlen(text) != ES_RUN_KEY_TEXT_BYTES - 1)
        return -EINVAL;
    for (size_t i = 0; i < ES_RUN_KEY_BYTES; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return -EINVAL;
        key.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_key = key;
    return 0;
}

/* --- The file ----------------------------------------------------------------- */

static int fail(struct es_error *error, const char *path)
{
    int code = -errno;

    return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
}

static int write_text(int descriptor, const char *text)
{
    size_t length = strlen(text);
    ssize_t written = write(descriptor, text, length);

    if (written == (ssize_t)length && fsync(descriptor) == 0)
        return 0;
    if (written >= 0 && written != (ssize_t)length)
        errno = ENOSPC;
    return -1;
}

int es_run_key_save(const char *run,
                    const struct es_run_key *key,
                    struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES], new_path[ES_RUN_PATH_BYTES], name[32];
    char text[ES_RUN_KEY_TEXT_BYTES + 1];
    int descriptor;
    int rc = es_run_directory_path(run, "key", error, path);

    snprintf(name, sizeof name, "key.%d", (int)getpid());
    if (rc == 0)
        rc = es_run_directory_path(run, name, error, new_path);
    if (rc != 0)
        return rc;
    es_run_key_format(key, text);
    text[ES_RUN_KEY_TEXT_BYTES - 1] = '\n';
    text[ES_RUN_KEY_TEXT_BYTES] = '\0';
    /* A file of that name is left from a process that died. */
    unlink(new_path);
    descriptor =
        open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return fail(error, path);
    if (write_text(descriptor, text) != 0 || rename(new_path, path) != 0) {
        rc = fail(error, path);
        unlink(new_path);
    }
    close(descriptor);
    return rc;
}

/* Somebody else's, or readable for others: then the key may be known to them. */
static int check_owner(int descriptor, const char *path, struct es_error *error)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return fail(error, path);
    if (!S_ISREG(status.st_mode))
        return es_error_set_at(error, -EPERM, path, 0, 0, "expected a regular file");
    if (status.st_uid != geteuid())
        return es_error_set_at(error, -EPERM, path, 0, 0,
                               "belongs to user %u: not used", status.st_uid);
    if ((status.st_mode & 077) != 0)
        return es_error_set_at(error, -EPERM, path, 0, 0,
                               "others may use it (mode %03o): not used; expected 600",
                               status.st_mode & 0777);
    return 0;
}

static int read_text(int descriptor,
                     const char *path,
                     struct es_error *error,
                     char text[80])
{
    ssize_t length = read(descriptor, text, 79);

    if (length < 0)
        return fail(error, path);
    if (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return 0;
}

int es_run_key_load(const char *run, struct es_error *error, struct es_run_key *ret_key)
{
    char path[ES_RUN_PATH_BYTES], text[80];
    int descriptor;
    int rc = es_run_directory_path(run, "key", error, path);

    if (rc != 0)
        return rc;
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return fail(error, path);
    rc = check_owner(descriptor, path, error);
    if (rc == 0)
        rc = read_text(descriptor, path, error, text);
    close(descriptor);
    if (rc == 0 && es_run_key_parse(text, ret_key) != 0)
        rc = es_error_set_at(error, -EINVAL, path, 1, 0,
                             "not a key: expected %d hexadecimal digits",
                             ES_RUN_KEY_TEXT_BYTES - 1);
    return rc;
}
