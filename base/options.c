/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Values of options: numbers, times, sizes, words. */
#include "config.h"

#include "base/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/stage_property.h"

long long esi_option_number(const char *text,
                            const char *option,
                            long long minimum,
                            long long maximum,
                            struct argp_state *state)
{
    char *end;

    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < minimum || number > maximum)
        argp_error(state, "%s: '%s' is not a whole number from %lld to %lld", option,
                   text, minimum, maximum);
    return number;
}

uint64_t esi_option_seconds(const char *text,
                            const char *option,
                            struct argp_state *state)
{
    const double longest = 1e9;
    char *end;

    errno = 0;
    double seconds = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(seconds) || seconds < 0 ||
        seconds > longest) {
        argp_error(state, "%s: '%s' is not a number of seconds", option, text);
        return 0;
    }
    return (uint64_t)(seconds * 1e9);
}

uint64_t esi_option_bytes(const char *text,
                          const char *option,
                          struct argp_state *state)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    unsigned long long number;
    char *end;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (!errno && end != text && *text != '-')
        for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strcmp(end, units[i]) == 0 && number <= UINT64_MAX >> (10 * i))
                return number << (10 * i);
    argp_error(state, "%s: '%s' is not a size with KiB, MiB, GiB or TiB", option, text);
    return 0;
}

uint64_t esi_option_duration(const char *text,
                             const char *option,
                             uint64_t minimum_ns,
                             struct argp_state *state)
{
    uint64_t time_ns = 0;

    if (es_duration_parse(text, &time_ns) < 0 || time_ns < minimum_ns)
        argp_error(state, "%s: '%s' is not a time with ns, us, ms, s, min or h", option,
                   text);
    return time_ns;
}

double esi_option_real(const char *text,
                       const char *option,
                       double minimum,
                       double maximum,
                       const char *unit,
                       struct argp_state *state)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || (*end && (!unit || strcmp(end, unit) != 0)) ||
        !(number >= minimum && number <= maximum))
        argp_error(state, "%s: '%s' is not a number from %g to %g", option, text,
                   minimum, maximum);
    return number;
}

unsigned esi_option_word(const char *text,
                         const char *option,
                         const char *const *words,
                         struct argp_state *state)
{
    char all[256] = "";
    size_t length = 0;

    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        if (length < sizeof all)
            length += (size_t)snprintf(all + length, sizeof all - length, "%s%s",
                                       i > 0 ? ", " : "", words[i]);
    }
    argp_error(state, "%s: '%s' is none of %s", option, text, all);
    return 0;
}

bool esi_option_bool(const char *text, const char *option, struct argp_state *state)
{
    static const char *const words[] = {"no", "yes", NULL};

    return esi_option_word(text, option, words, state) == 1;
}

static unsigned find_key(const char *key,
                         const char *option,
                         const char *const *keys,
                         struct argp_state *state)
{
    for (unsigned i = 0; keys[i]; i++)
        if (strcmp(key, keys[i]) == 0)
            return i;
    argp_error(state, "%s: there is no key '%s'; see the manual", option, key);
    return 0;
}

void esi_option_settings(
    const char *text,
    const char *option,
    const char *const *keys,
    struct argp_state *state,
    void (*set)(void *data, unsigned key, const char *value, struct argp_state *state),
    void *data)
{
    char *copy = strdup(text);
    char *rest = copy;
    char *value;

    if (!copy)
        argp_failure(state, 2, 0, "no memory");
    while ((value = strsep(&rest, ","))) {
        const char *key = strsep(&value, "=");

        if (!value)
            argp_error(state, "%s: '%s' has no value: expected KEY=VALUE,...", option,
                       key);
        else
            set(data, find_key(key, option, keys, state), value, state);
    }
    free(copy);
}
