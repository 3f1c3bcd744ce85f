/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* quantity.c - formats numbers for people. */
#include "config.h"

#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Number of decimals for three significant digits of a number that has some before its
 * point. */
static int count_decimals(double number)
{
    double size = fabs(number);

    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

const char *esi_quantity_number(char *out, size_t size, double number)
{
    double least = fabs(number);

    /* Without trunc(3): the libraries of this layer are linked without libm. */
    if (!(least < 99.95) || number == (int)number)
        snprintf(out, size, "%.0f", number);
    else if (least >= 0.995)
        snprintf(out, size, "%.*f", count_decimals(number), number);
    else
        snprintf(out, size, "%.3g", number);
    return out;
}

/* For two minutes and more; `seconds` is an integer. */
static void format_long_time(char *out, size_t size, const char *sign, uint64_t seconds)
{
    uint64_t minutes = seconds / 60;

    if (minutes < 120)
        snprintf(out, size, "%s%" PRIu64 " min %" PRIu64 " s", sign, minutes,
                 seconds % 60);
    else
        snprintf(out, size, "%s%" PRIu64 " h %" PRIu64 " min", sign, minutes / 60,
                 minutes % 60);
}

const char *esi_quantity_time(char *out, size_t size, double span_ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *sign = span_ns <= -0.5 ? "-" : "";
    size_t unit = 0;

    span_ns = fabs(span_ns);
    if (span_ns >= 120e9 && span_ns < (double)INT64_MAX) {
        format_long_time(out, size, sign, (uint64_t)(span_ns / 1e9));
        return out;
    }
    while (span_ns >= 999.5 && unit < 3) {
        span_ns /= 1000;
        unit++;
    }
    snprintf(out, size, "%s%.*f %s", sign, unit == 0 ? 0 : count_decimals(span_ns),
             span_ns, units[unit]);
    return out;
}

const char *esi_quantity_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    const char *sign = bytes < 0 ? "-" : "";
    size_t unit = 0;

    bytes = fabs(bytes);
    while (bytes >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, size, "%s%.*f %s", sign, unit == 0 ? 0 : count_decimals(bytes), bytes,
             units[unit]);
    return out;
}

const char *esi_quantity_part(char *out, size_t size, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100 * (double)part / (double)whole : 0;

    if (part > 0 && percent < 1)
        snprintf(out, size, "<1 %%");
    else if (part < whole && percent >= 99.5)
        snprintf(out, size, ">99 %%");
    else
        snprintf(out, size, "%.0f %%", percent);
    return out;
}
