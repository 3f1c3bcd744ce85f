/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Values of options, for parsers of argp(3).
 *
 * Each function reads all of `text`.  Anything else ends the process through
 * argp_error() with a message that names `option` ("--limit") and what it takes; only
 * where argp is told not to exit does it return, with 0.
 */
#ifndef ES_BASE_OPTIONS_H
#define ES_BASE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* A whole decimal number from `minimum` to `maximum`. */
long long esi_option_number(const char *text,
                            const char *option,
                            long long minimum,
                            long long maximum,
                            struct argp_state *state);

/* Whether "on" is given; anything but that and "off" ends the program. */
bool esi_option_switch(const char *text, const char *option, struct argp_state *state);

/* A number from 0 to `maximum`; `unit` may follow it (NULL = nothing). */
double esi_option_real(const char *text,
                       const char *option,
                       double maximum,
                       const char *unit,
                       struct argp_state *state);

/* A time with its unit ("1.5ms", "2min") or in seconds ("0.5"), at least `minimum_ns`,
 * in nanoseconds. */
uint64_t esi_option_duration(const char *text,
                             const char *option,
                             uint64_t minimum_ns,
                             struct argp_state *state);

/* A size ("64KiB", up to TiB; bytes without a unit). */
uint64_t esi_option_bytes(const char *text,
                          const char *option,
                          struct argp_state *state);

/* The index of a word among `words`, whose end is NULL. */
unsigned esi_option_word(const char *text,
                         const char *option,
                         const char *const *words,
                         struct argp_state *state);

/* "KEY=VALUE,KEY=VALUE...", each key one of `keys`, whose end is NULL: calls `set` for
 * each with the key's index.  The value lives until that returns. */
void esi_option_settings(
    const char *text,
    const char *option,
    const char *const *keys,
    struct argp_state *state,
    void (*set)(void *data, unsigned key, const char *value, struct argp_state *state),
    void *data);

/* "yes" or "no". */
bool esi_option_bool(const char *text, const char *option, struct argp_state *state);

#endif
