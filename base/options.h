/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Parses values of options in argp(3) parsers.
 *
 * Each function parses all of `text`.  If it is invalid, the process exits through
 * argp_error() with a message that names `option` ("--limit") and the expected value.
 * If argp does not exit, the function returns 0.
 */
#ifndef ES_BASE_OPTIONS_H
#define ES_BASE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fields.h"

/* Parses a decimal integer from `minimum` to `maximum`. */
long long esi_option_number(const char *text,
                            const char *option,
                            long long minimum,
                            long long maximum,
                            struct argp_state *state);

/* Parses "on" or "off". */
bool esi_option_switch(const char *text, const char *option, struct argp_state *state);

/* Parses a number from 0 to `maximum`, optionally followed by `unit` (NULL for
 * none). */
double esi_option_real(const char *text,
                       const char *option,
                       double maximum,
                       const char *unit,
                       struct argp_state *state);

/* Parses a duration with a unit ("1.5ms", "2min") or in seconds ("0.5"), of at least
 * `minimum_ns`.  Returns nanoseconds. */
uint64_t esi_option_duration(const char *text,
                             const char *option,
                             uint64_t minimum_ns,
                             struct argp_state *state);

/* Parses a size ("64KiB", up to TiB; bytes without a unit). */
uint64_t esi_option_bytes(const char *text,
                          const char *option,
                          struct argp_state *state);

/* Parses one of `words` (terminated by NULL) and returns its index. */
unsigned esi_option_word(const char *text,
                         const char *option,
                         const char *const *words,
                         struct argp_state *state);

/* Parses "KEY=VALUE,KEY=VALUE...", and calls `set` for each, which returns false if
 * there is no such key.  Key and value are valid during that call. */
void esi_option_settings(const char *text,
                         const char *option,
                         struct argp_state *state,
                         bool (*set)(void *data,
                                     const char *key,
                                     const char *value,
                                     struct argp_state *state),
                         void *data);

/* Parses the value of a field (BOOLEAN, CHOICE or INTEGER) into the record. */
void esi_option_field(const struct esi_field *field,
                      const char *text,
                      void *record,
                      struct argp_state *state);

/* Parses "yes" or "no". */
bool esi_option_bool(const char *text, const char *option, struct argp_state *state);

#endif
