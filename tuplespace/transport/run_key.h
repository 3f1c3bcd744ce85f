/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The run's key: 32 random bytes that everybody who may talk to the run's tuple servers
 * over a network has.  Beside it there is a read-only key, which is derived from it:
 * who has only that one may look at the run, but change nothing.
 *
 * They lie in the run directory as the files "key" and "key.read" (hexadecimal, mode
 * 0600).  A key file that others may read, or that belongs to somebody else, is
 * refused.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_RUN_KEY_H
#define ES_TUPLESPACE_TRANSPORT_RUN_KEY_H

#include "eventspace/error.h"

#define ES_RUN_KEY_BYTES 32
#define ES_RUN_KEY_TEXT_BYTES 65 /* as hexadecimal text */

struct esi_run_key {
    unsigned char bytes[ES_RUN_KEY_BYTES];
};

/* Makes a new key from the system's random source.  -errno. */
int esi_run_key_make(struct esi_run_key *ret_key);

/* The read-only key that belongs to a key.  -ENOMEM. */
int esi_run_key_derive_read(const struct esi_run_key *key, struct esi_run_key *ret_key);

/* The name under which TLS asks for the key, as text: a hash that only a holder of the
 * key can make, so that it shows nothing of the run.  -ENOMEM; -EINVAL: `run` is too
 * long. */
int esi_run_key_identify(const struct esi_run_key *key,
                         const char *run,
                         char out[ES_RUN_KEY_TEXT_BYTES]);

/* Writes the key and its read-only key to the run's directory, which must exist;
 * existing files are replaced at once. */
int esi_run_key_save(const char *run,
                     const struct esi_run_key *key,
                     struct es_error *error);

/* Reads it.  -ENOENT: none; -EPERM: not safe; -EINVAL: not a key. */
int esi_run_key_load(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key);

/* For consumers: the key in the file that EVENTSPACE_KEY_FILE names, else the run's
 * key, else its read-only key.  As esi_run_key_load(); -EINVAL also where the named
 * file is not there. */
int esi_run_key_find(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key);

/* Keeps other processes of the user from reading this one's memory, and the system from
 * writing it to a core file.  For programs, which call it first of all. */
void esi_run_key_guard(void);

void esi_run_key_format(const struct esi_run_key *key, char out[ES_RUN_KEY_TEXT_BYTES]);
/* -EINVAL unless the text is 64 hexadecimal digits. */
int esi_run_key_parse(const char *text, struct esi_run_key *ret_key);

#endif
