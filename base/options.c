/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Values of options: numbers, durations, sizes, words. */
#include "config.h"

#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/nearest.h"
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

bool esi_option_switch(const char *text, const char *option, struct argp_state *state)
{
    bool on = strcmp(text, "on") == 0;

    if (!on && strcmp(text, "off") != 0)
        argp_error(state, "%s: '%s': give on or off", option, text);
    return on;
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
    const uint64_t longest_ns = UINT64_C(1000000000) * 1000000000;
    bool has_unit = text[strspn(text, "0123456789.")];
    char with_unit[64];
    char least[32];
    uint64_t time_ns = 0;
    int length = snprintf(with_unit, sizeof with_unit, "%s%s%s",
                          *text == '.' ? "0" : "", text, has_unit ? "" : "s");

    esi_duration_format(minimum_ns, least, sizeof least);
    if (length >= (int)sizeof with_unit || es_duration_parse(with_unit, &time_ns) < 0 ||
        time_ns > longest_ns)
        argp_error(state, "%s: '%s' is not a time, such as 10, 10s, 1.5ms or 2min",
                   option, text);
    else if (time_ns < minimum_ns)
        argp_error(state, "%s: '%s' is too short; give at least %s", option, text,
                   least);
    return time_ns;
}

double esi_option_real(const char *text,
                       const char *option,
                       double maximum,
                       const char *unit,
                       struct argp_state *state)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || (*end && (!unit || strcmp(end, unit) != 0)) ||
        !(number >= 0 && number <= maximum))
        argp_error(state, "%s: '%s' is not a number from 0 to %g", option, text,
                   maximum);
    return number;
}

unsigned esi_option_word(const char *text,
                         const char *option,
                         const char *const *words,
                         struct argp_state *state)
{
    struct esi_nearest nearest;
    char all[256] = "";
    size_t length = 0;

    esi_nearest_init(&nearest, text);
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        esi_nearest_try(&nearest, words[i]);
        if (length < sizeof all)
            length += (size_t)snprintf(all + length, sizeof all - length, "%s%s",
                                       i > 0 ? ", " : "", words[i]);
    }
    if (nearest.name)
        argp_error(state, "%s: '%s' is not one of %s; did you mean '%s'?", option, text,
                   all, nearest.name);
    else
        argp_error(state, "%s: '%s' is not one of %s", option, text, all);
    return 0;
}

bool esi_option_bool(const char *text, const char *option, struct argp_state *state)
{
    static const char *const words[] = {"no", "yes", NULL};

    return esi_option_word(text, option, words, state) == 1;
}

void esi_option_settings(const char *text,
                         const char *option,
                         struct argp_state *state,
                         bool (*set)(void *data,
                                     const char *key,
                                     const char *value,
                                     struct argp_state *state),
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
        else if (!set(data, key, value, state))
            argp_error(state, "%s: there is no key '%s'; see the manual", option, key);
    }
    free(copy);
}

void esi_option_field(const struct esi_field *field,
                      const char *text,
                      void *record,
                      struct argp_state *state)
{
    int64_t value;

    if (field->kind == ESI_FIELD_BOOLEAN)
        value = esi_option_bool(text, field->name, state);
    else if (field->kind == ESI_FIELD_CHOICE)
        value = esi_option_word(text, field->name, field->choices, state);
    else
        value =
            esi_option_number(text, field->name, field->minimum, field->maximum, state);
    esi_field_set(field, record, value);
}
