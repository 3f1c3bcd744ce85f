/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* nearest.c - edit distance between a word and the known ones. */
#include "config.h"

#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 }; /* longer names have no similar one */

static size_t nearest_least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

/* Levenshtein distance, one row at a time, ignoring case. */
static size_t nearest_distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    size_t length = strlen(b);

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t above = row[j + 1];
            int same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);

            row[j + 1] =
                nearest_least(above + 1, row[j] + 1, diagonal + (same ? 0 : 1));
            diagonal = above;
        }
    }
    return row[length];
}

void esi_nearest_init(struct esi_nearest *nearest, const char *wanted)
{
    /* A third of the letters may be wrong, but at least one. */
    *nearest =
        (struct esi_nearest){.wanted = wanted, .distance = strlen(wanted) / 3 + 2};
}

void esi_nearest_try(struct esi_nearest *nearest, const char *candidate)
{
    size_t found;

    if (strlen(candidate) > LONGEST || strlen(nearest->wanted) > LONGEST)
        return;
    found = nearest_distance(nearest->wanted, candidate);
    if (found >= nearest->distance)
        return;
    nearest->distance = found;
    nearest->name = candidate;
}
