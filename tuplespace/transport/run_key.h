/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The run's key: 32 random bytes, known to all who may connect to the run's tuple
 * servers over a network.  A read-only key is derived from it; with that one, peers may
 * observe the run but change nothing.
 *
 * The keys are the files "key" and "key.read" in the run directory (hexadecimal, mode
 * 0600).  Key files that others can read, or that another user owns, are refused.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_RUN_KEY_H
#define ES_TUPLESPACE_TRANSPORT_RUN_KEY_H

#include "eventspace/error.h"

#define ES_RUN_KEY_BYTES 32
#define ES_RUN_KEY_TEXT_BYTES 65 /* as hexadecimal text */

struct esi_run_key {
    unsigned char bytes[ES_RUN_KEY_BYTES];
};

/* Creates a key from the system's random source.  Returns 0 or -errno. */
int esi_run_key_make(struct esi_run_key *ret_key);

/* Derives the read-only key.  Returns 0 or -ENOMEM. */
int esi_run_key_derive_read(const struct esi_run_key *key, struct esi_run_key *ret_key);

/* The TLS identity of the key, as text: a hash that requires the key and reveals
 * nothing about the run.  Returns 0; -ENOMEM; or -EINVAL if `run` is too long. */
int esi_run_key_identify(const struct esi_run_key *key,
                         const char *run,
                         char out[ES_RUN_KEY_TEXT_BYTES]);

/* Writes the key and its read-only key to the run's directory, which must exist.
 * Replaces existing files atomically. */
int esi_run_key_save(const char *run,
                     const struct esi_run_key *key,
                     struct es_error *error);

/* Reads the key.  Returns 0; -ENOENT if there is none; -EPERM if the file is not safe;
 * or -EINVAL if it does not contain a key. */
int esi_run_key_load(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key);

/* For consumers: the key in the file named by EVENTSPACE_KEY_FILE, else the run's key,
 * else its read-only key.  Errors as for esi_run_key_load(); -EINVAL also if the named
 * file does not exist. */
int esi_run_key_find(const char *run,
                     struct es_error *error,
                     struct esi_run_key *ret_key);

/* Prevents other processes of the user from reading the memory of this one, and core
 * dumps.  Programs call it before anything else. */
void esi_run_key_guard(void);

void esi_run_key_format(const struct esi_run_key *key, char out[ES_RUN_KEY_TEXT_BYTES]);
/* Parses 64 hexadecimal digits.  Returns 0 or -EINVAL. */
int esi_run_key_parse(const char *text, struct esi_run_key *ret_key);

#endif
