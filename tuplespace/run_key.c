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
#include "tuplespace/run_file.h"

#define KEY_FILE "key"

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

int es_run_key_save(const char *run,
                    const struct es_run_key *key,
                    struct es_error *error)
{
    char text[ES_RUN_KEY_TEXT_BYTES];

    es_run_key_format(key, text);
    text[ES_RUN_KEY_TEXT_BYTES - 1] = '\n';
    int rc = es_run_file_replace(run, KEY_FILE, text, sizeof text, error);
    explicit_bzero(text, sizeof text);
    return rc;
}

static int fail(struct es_error *error, const char *run, int code)
{
    char path[ES_RUN_PATH_BYTES];

    if (es_run_directory_path(run, KEY_FILE, error, path) < 0)
        return code;
    return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
}

/* Readable for others: then the key may be known to them. */
static int check_mode(int descriptor, const char *run, struct es_error *error)
{
    char path[ES_RUN_PATH_BYTES];
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return fail(error, run, -errno);
    if ((status.st_mode & 077) == 0)
        return 0;
    int rc = es_run_directory_path(run, KEY_FILE, error, path);
    return rc < 0 ? rc
                  : es_error_set_at(
                        error, -EPERM, path, 0, 0,
                        "others may use it (mode %03o): not used; expected 600",
                        status.st_mode & 0777);
}

static int read_text(int descriptor,
                     const char *run,
                     struct es_error *error,
                     char text[80])
{
    ssize_t length = read(descriptor, text, 79);

    if (length < 0)
        return fail(error, run, -errno);
    if (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return 0;
}

static int parse_text(const char *text,
                      const char *run,
                      struct es_error *error,
                      struct es_run_key *ret_key)
{
    char path[ES_RUN_PATH_BYTES];

    if (es_run_key_parse(text, ret_key) == 0)
        return 0;
    int rc = es_run_directory_path(run, KEY_FILE, error, path);
    return rc < 0 ? rc
                  : es_error_set_at(error, -EINVAL, path, 1, 0,
                                    "not a key: expected %d hexadecimal digits",
                                    ES_RUN_KEY_TEXT_BYTES - 1);
}

int es_run_key_load(const char *run, struct es_error *error, struct es_run_key *ret_key)
{
    char text[80];
    int descriptor = es_run_file_open(run, KEY_FILE, O_RDONLY, error);

    if (descriptor < 0)
        return descriptor;
    int rc = check_mode(descriptor, run, error);
    if (rc == 0)
        rc = read_text(descriptor, run, error, text);
    close(descriptor);
    if (rc == 0)
        rc = parse_text(text, run, error, ret_key);
    explicit_bzero(text, sizeof text);
    return rc;
}
