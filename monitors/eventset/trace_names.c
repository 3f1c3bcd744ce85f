/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of traces, found by name. */
#include "config.h"

#include "monitors/eventset/trace_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_trace_names_fini(struct esi_trace_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    esi_hash_fini(&names->numbers);
}

static uint64_t hash_name(const char *text, size_t length)
{
    return esi_hash_mix_bytes(0, text, length);
}

/* UINT32_MAX if there is none. */
static uint32_t find_name(const struct esi_trace_names *names,
                          const char *text,
                          size_t length)
{
    ESI_HASH_FOREACH(slot, &names->numbers, hash_name(text, length)) {
        uint32_t number = esi_hash_index(&names->numbers, slot);
        const char *name = names->names[number];

        if (strncmp(name, text, length) == 0 && name[length] == '\0')
            return number;
    }
    return UINT32_MAX;
}

int esi_trace_names_add(struct esi_trace_names *names, const char *name)
{
    size_t length = strlen(name);

    if (ESI_ARRAY_RESERVE(names->names, names->capacity, names->count + 1u) < 0 ||
        esi_hash_reserve(&names->numbers, names->numbers.count + 1) < 0)
        return -ENOMEM;
    names->names[names->count] = strdup(name);
    if (!names->names[names->count])
        return -ENOMEM;
    if (find_name(names, name, length) == UINT32_MAX)
        esi_hash_insert(&names->numbers, hash_name(name, length), names->count);
    names->count++;
    return 0;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)trace;
    return esi_trace_names_add(data, name);
}

struct es_set_sink esi_trace_names_sink(struct esi_trace_names *names)
{
    return (struct es_set_sink){.trace = take_trace, .data = names};
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
    uint32_t number = find_name(names, text, length);

    return number != UINT32_MAX ? number : parse_number(names, text, length);
}
