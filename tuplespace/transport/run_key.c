/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Creates, saves and reads the key of a run. */
#include "config.h"

#include "tuplespace/transport/run_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "tuplespace/run_directory.h"

#define FILE_NAME "key"
#define READ_FILE "key.read"

int esi_run_key_make(struct esi_run_key *ret_key)
{
    struct esi_run_key key;

    /* So few bytes are returned completely or, before the system has any, not at
     * all. */
    if (getrandom(key.bytes, sizeof key.bytes, 0) != (ssize_t)sizeof key.bytes)
        return errno ? -errno : -EIO;
    *ret_key = key;
    explicit_bzero(&key, sizeof key);
    return 0;
}

/* HMAC-SHA256 over a label and a text, including their terminators. */
static int make_mac(const struct esi_run_key *key,
                    const char *label,
                    const char *text,
                    unsigned char out[ES_RUN_KEY_BYTES])
{
    unsigned char input[128] = {0};
    unsigned length = 0;
    size_t label_bytes = strlen(label) + 1, text_bytes = strlen(text) + 1;

    if (label_bytes + text_bytes > sizeof input)
        return -EINVAL;
    memcpy(input, label, label_bytes);
    memcpy(input + label_bytes, text, text_bytes);
    if (!HMAC(EVP_sha256(), key->bytes, ES_RUN_KEY_BYTES, input,
              label_bytes + text_bytes, out, &length))
        return -ENOMEM;
    return length == ES_RUN_KEY_BYTES ? 0 : -EIO;
}

int esi_run_key_derive_read(const struct esi_run_key *key, struct esi_run_key *ret_key)
{
    return make_mac(key, "eventspace read-only key", "", ret_key->bytes);
}

int esi_run_key_identify(const struct esi_run_key *key,
                         const char *run,
                         char out[ES_RUN_KEY_TEXT_BYTES])
{
    struct esi_run_key identity;

    int code = make_mac(key, "eventspace identity", run, identity.bytes);
    if (code == 0)
        esi_run_key_format(&identity, out);
    return code;
}

void esi_run_key_format(const struct esi_run_key *key, char out[ES_RUN_KEY_TEXT_BYTES])
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

int esi_run_key_parse(const char *text, struct esi_run_key *ret_key)
{
    struct esi_run_key key;

    if (strlen(text) != ES_RUN_KEY_TEXT_BYTES - 1)
        return -EINVAL;
    for (size_t i = 0; i < ES_RUN_KEY_BYTES; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

        if (high < 0 || low < 0) {
            explicit_bzero(&key, sizeof key);
            return -EINVAL;
        }
        key.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_key = key;
    explicit_bzero(&key, sizeof key);
    return 0;
}

/* --- The file ----------------------------------------------------------------- */

static int run_key_fail(struct es_error *error, const char *path)
{
    int code = -errno;

    return es_error_set_at(error, code, path, 0, 0, "%s", strerror(-code));
}

static int save_key(const char *run,
                    const char *file,
                    const struct esi_run_key *key,
                    struct es_error *error)
{
    char text[ES_RUN_KEY_TEXT_BYTES];

    esi_run_key_format(key, text);
    text[ES_RUN_KEY_TEXT_BYTES - 1] = '\n';
    int rc = esi_run_file_replace(run, file, text, sizeof text, error);
    explicit_bzero(text, sizeof text);
    return rc;
}

int esi_run_key_save(const char *run,
                     const struct esi_run_key *key,
                     struct es_error *error)
{
    struct esi_run_key read_key;
    int rc = esi_run_key_derive_read(key, &read_key);

    /* Written last: whoever waits for the key finds both. */
    if (rc == 0)
        rc = save_key(run, READ_FILE, &read_key, error);
    if (rc == 0)
        rc = save_key(run, FILE_NAME, key, error);
    explicit_bzero(&read_key, sizeof read_key);
    return rc;
}

/* If another user owns the file or others can read it, they may know the key. */
static int check_owner(int descriptor, const char *path, struct es_error *error)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return run_key_fail(error, path);
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
        return run_key_fail(error, path);
    if (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    return 0;
}

/* Closes the descriptor. */
static int load_open(int descriptor,
                     const char *path,
                     struct es_error *error,
                     struct esi_run_key *ret_key)
{
    char text[80];
    int rc = check_owner(descriptor, path, error);

    if (rc == 0)
        rc = read_text(descriptor, path, error, text);
    close(descriptor);
    if (rc == 0 && esi_run_key_parse(text, ret_key) != 0)
        rc = es_error_set_at(error, -EINVAL, path, 1, 0,
                             "not a key: expected %d hexadecimal digits",
                             ES_RUN_KEY_TEXT_BYTES - 1);
    explicit_bzero(text, sizeof text);
    return rc;
}

/* Loads a key from any path. */
static int load_path(const char *path,
                     struct es_error *error,
                     struct esi_run_key *ret_key)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    return descriptor < 0 ? run_key_fail(error, path)
                          : load_open(descriptor, path, error, ret_key);
}

static int load_file(const char *run,
                     const char *file,
                     struct es_error *error,
                     struct esi_run_key *ret_key)
{
    char path[ES_RUN_PATH_BYTES];
    int descriptor = esi_run_file_open(run, file, O_RDONLY, error);

    if (descriptor < 0)
        return descriptor;
    int rc = esi_run_directory_path(run, file, error, path);
    if (rc == 0)
        return load_open(descriptor, path, error, ret_key);
    close(descriptor);
    return rc;
}

int esi_run_key_load(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key)
{
    return load_file(run, FILE_NAME, error, ret_key);
}

int esi_run_key_find(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key)
{
    const char *chosen = getenv("EVENTSPACE_KEY_FILE");

    if (chosen && *chosen) {
        int rc = load_path(chosen, error, ret_key);
        /* The file was named explicitly, so it must exist. */
        return rc == -ENOENT ? -EINVAL : rc;
    }
    int rc = esi_run_key_load(run, error, ret_key);
    if (rc != -ENOENT)
        return rc;
    es_error_clear(error);
    return load_file(run, READ_FILE, error, ret_key);
}

void esi_run_key_guard(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}
