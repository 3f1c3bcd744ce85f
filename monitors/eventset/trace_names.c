/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of traces, found by name. */
#include "config.h"

#include "monitors/eventset/trace_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void esi_trace_names_fini(struct esi_trace_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    free(names->sorted);
}

int esi_trace_names_add(struct esi_trace_names *names, const char *name)
{
    if (names->count == names->capacity) {
        uint32_t capacity = names->capacity ? 2 * names->capacity : 16;
        char **grown = realloc(names->names, capacity * sizeof *grown);

        if (!grown)
            return -ENOMEM;
        names->names = grown;
        names->capacity = capacity;
    }
    names->names[names->count] = strdup(name);
    if (!names->names[names->count])
        return -ENOMEM;
    names->count++;
    return 0;
}

static int compare_names(const void *a, const void *b, void *data)
{
    const struct esi_trace_names *names = data;
    uint32_t one = *(const uint32_t *)a;
    uint32_t other = *(const uint32_t *)b;
    int order = strcmp(names->names[one], names->names[other]);

    return order ? order : (one > other) - (one < other);
}

int esi_trace_names_sort(struct esi_trace_names *names)
{
    uint32_t *sorted = calloc(names->count + 1u, sizeof *sorted);

    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < names->count; i++)
        sorted[i] = i;
    qsort_r(sorted, names->count, sizeof *sorted, compare_names, names);
    free(names->sorted);
    names->sorted = sorted;
    return 0;
}

/* strcmp() of a name with a text of some length. */
static int compare_text(const char *name, const char *text, size_t length)
{
    int order = strncmp(name, text, length);

    return order ? order : name[length] != '\0';
}

static int64_t parse_number(const struct esi_trace_names *names,
                            const char *text,
                            size_t length)
{
    uint64_t number = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number >= names->count)
            return -1;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    return length > 0 && number < names->count ? (int64_t)number : -1;
}

int64_t esi_trace_names_find(const struct esi_trace_names *names,
                             const char *text,
                             size_t length)
{
    uint32_t low = 0;
    uint32_t high = names->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare_text(names->names[names->sorted[middle]], text, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < names->count &&
        compare_text(names->names[names->sorted[low]], text, length) == 0)
        return names->sorted[low];
    return parse_number(names, text, length);
}
