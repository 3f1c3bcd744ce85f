/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The run's key: 32 random bytes that everybody who may talk to the run's tuple servers
 * over a network has.
 *
 * It lies in the run directory as the file "key" (hexadecimal, mode 0600).  A key file
 * that others may read, or that belongs to somebody else, is refused.
 */
#ifndef ES_TUPLESPACE_RUN_KEY_H
#define ES_TUPLESPACE_RUN_KEY_H

#include "eventspace/error.h"

#define ES_RUN_KEY_BYTES 32
#define ES_RUN_KEY_TEXT_BYTES 65 /* as hexadecimal text */

struct es_run_key {
    unsigned char bytes[ES_RUN_KEY_BYTES];
};

/* Makes a new key from the system's random source.  -errno. */
int es_run_key_make(struct es_run_key *ret_key);

/* Writes the key to the run's directory, which must exist; an existing file is replaced
 * at once. */
int es_run_key_save(const char *run,
                    const struct es_run_key *key,
                    struct es_error *error);

/* Reads it.  -ENOENT: none; -EPERM: not safe; -EINVAL: not a key. */
int es_run_key_load(const char *run,
                    struct es_error *error,
                    struct es_run_key *ret_key);

void es_run_key_format(const struct es_run_key *key, char out[ES_RUN_KEY_TEXT_BYTES]);
/* -EINVAL unless the text is 64 hexadecimal digits. */
int es_run_key_parse(const char *text, struct es_run_key *ret_key);

#endif
