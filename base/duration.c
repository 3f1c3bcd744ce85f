/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* duration.c - durations as text. */
#include "config.h"

#include "base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/stage_property.h"

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", 1},
    {"us", UINT64_C(1000)},
    {"ms", UINT64_C(1000000)},
    {"s", UINT64_C(1000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
};

/* 0 if there is no such unit. */
static uint64_t unit_ns(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0)
            return units[i].ns;
    return 0;
}

/* Parses the digits at *text and advances it. */
static int read_digits(const char **text, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (; isdigit((unsigned char)**text); ++*text) {
        uint64_t digit = (uint64_t)(**text - '0');

        if (number > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        number = number * 10 + digit;
    }
    *ret_number = number;
    return 0;
}

/* Nanoseconds of the digits after a decimal point; digits below a nanosecond are
 * ignored. */
static uint64_t read_fraction(const char **text, uint64_t unit)
{
    uint64_t sum = 0;

    for (; isdigit((unsigned char)**text); ++*text) {
        unit /= 10;
        sum += unit * (uint64_t)(**text - '0');
    }
    return sum;
}

int es_duration_parse(const char *text, uint64_t *ret_ns)
{
    const char *end = text + strspn(text, "0123456789.");
    uint64_t unit;
    uint64_t whole;
    uint64_t fraction = 0;
    int result;

    unit = unit_ns(end);
    if (strcmp(text, "0") == 0)
        unit = 1;
    if (unit == 0 || !isdigit((unsigned char)*text))
        return -EINVAL;
    result = read_digits(&text, &whole);
    if (result < 0)
        return result;
    if (*text == '.') {
        text++;
        fraction = read_fraction(&text, unit);
    }
    if (text != end)
        return -EINVAL;
    if (whole > (UINT64_MAX - fraction) / unit)
        return -ERANGE;
    *ret_ns = whole * unit + fraction;
    return 0;
}

void esi_duration_format(uint64_t ns, char *out, size_t size)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } shown[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t unit = 0;

    while (ns % shown[unit].ns)
        unit++;
    snprintf(out, size, "%" PRIu64 "%s", ns / shown[unit].ns, shown[unit].name);
}
