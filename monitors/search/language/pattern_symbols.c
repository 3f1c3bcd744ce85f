/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of a pattern file, hashed. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/language/pattern_private.h"

/* FNV-1a. */
static size_t hash_name(const char *name, size_t length)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(value ^ value >> 32);
}

/* The slot of a name, or the free one where it would be. */
static struct esi_symbol *slot_of(const struct esi_symbols *symbols,
                                  const char *name,
                                  size_t length)
{
    size_t at = hash_name(name, length) & (symbols->capacity - 1);

    while (symbols->slots[at].name && (strlen(symbols->slots[at].name) != length ||
                                       memcmp(symbols->slots[at].name, name, length)))
        at = (at + 1) & (symbols->capacity - 1);
    return &symbols->slots[at];
}

struct esi_symbol *esi_symbols_find(const struct esi_symbols *symbols,
                                    const char *name,
                                    size_t length)
{
    struct esi_symbol *slot;

    if (symbols->count == 0)
        return NULL;
    slot = slot_of(symbols, name, length);
    return slot->name ? slot : NULL;
}

static int grow_symbols(struct esi_symbols *symbols)
{
    struct esi_symbols larger = {.capacity =
                                     symbols->capacity ? symbols->capacity * 2 : 16,
                                 .count = symbols->count};

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < symbols->capacity; i++) {
        const struct esi_symbol *symbol = &symbols->slots[i];

        if (symbol->name)
            *slot_of(&larger, symbol->name, strlen(symbol->name)) = *symbol;
    }
    free(symbols->slots);
    *symbols = larger;
    return 0;
}

int esi_symbols_put(struct esi_symbols *symbols, const struct esi_symbol *symbol)
{
    struct esi_symbol *slot;

    if (symbols->count * 2 >= symbols->capacity && grow_symbols(symbols) < 0)
        return -ENOMEM;
    slot = slot_of(symbols, symbol->name, strlen(symbol->name));
    symbols->count += !slot->name;
    *slot = *symbol;
    return 0;
}

void esi_symbols_fini(struct esi_symbols *symbols)
{
    free(symbols->slots);
    *symbols = (struct esi_symbols){0};
}
