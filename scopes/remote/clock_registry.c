/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The clocks of a run's hosts, as one tuple server or consumer knows them. */
#include "config.h"

#include "scopes/remote/clock_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct clock_registry_entry {
    char host[64];
    struct es_host_clock *clock; /* what readers convert by */
    struct esi_clock_estimate estimate;
};

struct esi_clock_registry {
    pthread_mutex_t lock;                  /* of the list, and of writing clocks */
    struct clock_registry_entry **entries; /* owned, items too */
    size_t count;
    size_t capacity;
    struct esi_hash by_host;
};

int esi_clock_registry_create(struct esi_clock_registry **ret_board)
{
    struct esi_clock_registry *registry = calloc(1, sizeof *registry);

    if (!registry)
        return -ENOMEM;
    pthread_mutex_init(&registry->lock, NULL);
    *ret_board = registry;
    return 0;
}

void esi_clock_registry_destroy(struct esi_clock_registry *registry)
{
    int saved_errno = errno;

    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++) {
        esi_host_clock_destroy(registry->entries[i]->clock);
        free(registry->entries[i]);
    }
    free(registry->entries);
    esi_hash_fini(&registry->by_host);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
    errno = saved_errno;
}

/* These are called with the lock held. */

static struct clock_registry_entry *clock_registry_find(
    struct esi_clock_registry *registry,
    const char *host)
{
    ESI_HASH_FOREACH(slot, &registry->by_host, esi_hash_mix_text(0, host)) {
        struct clock_registry_entry *entry =
            registry->entries[esi_hash_index(&registry->by_host, slot)];

        if (strcmp(entry->host, host) == 0)
            return entry;
    }
    return NULL;
}

/* NULL: no memory. */
static struct clock_registry_entry *find_or_add(struct esi_clock_registry *registry,
                                                const char *host)
{
    struct clock_registry_entry *entry = clock_registry_find(registry, host);

    if (entry)
        return entry;
    if (ESI_ARRAY_RESERVE(registry->entries, registry->capacity, registry->count + 1) <
            0 ||
        esi_hash_reserve(&registry->by_host, registry->count + 1) < 0)
        return NULL;
    entry = calloc(1, sizeof *entry);
    if (!entry || esi_host_clock_create(&entry->clock) < 0) {
        free(entry);
        return NULL;
    }
    snprintf(entry->host, sizeof entry->host, "%s", host);
    esi_hash_insert(&registry->by_host, esi_hash_mix_text(0, host), registry->count);
    registry->entries[registry->count++] = entry;
    return entry;
}

const struct es_host_clock *esi_clock_registry_get(struct esi_clock_registry *registry,
                                                   const char *host)
{
    const struct clock_registry_entry *entry;

    if (!registry)
        return NULL;
    pthread_mutex_lock(&registry->lock);
    entry = find_or_add(registry, host);
    pthread_mutex_unlock(&registry->lock);
    return entry ? entry->clock : NULL;
}

int esi_clock_registry_set(struct esi_clock_registry *registry,
                           const char *host,
                           const struct esi_clock_estimate *estimate)
{
    struct clock_registry_entry *entry;

    pthread_mutex_lock(&registry->lock);
    entry = find_or_add(registry, host);
    if (entry) {
        entry->estimate = *estimate;
        esi_host_clock_set(entry->clock, estimate);
    }
    pthread_mutex_unlock(&registry->lock);
    return entry ? 0 : -ENOMEM;
}

bool esi_clock_registry_find(struct esi_clock_registry *registry,
                             const char *host,
                             struct esi_clock_estimate *ret_estimate)
{
    const struct clock_registry_entry *entry;
    bool is_known;

    pthread_mutex_lock(&registry->lock);
    entry = clock_registry_find(registry, host);
    is_known = entry && entry->estimate.count > 0;
    if (is_known)
        *ret_estimate = entry->estimate;
    pthread_mutex_unlock(&registry->lock);
    return is_known;
}

bool esi_clock_registry_newest(struct esi_clock_registry *registry,
                               const char *host,
                               struct esi_clock_knot *ret_knot,
                               struct esi_clock_drift *ret_drift)
{
    const struct clock_registry_entry *entry;
    bool is_known;

    pthread_mutex_lock(&registry->lock);
    entry = clock_registry_find(registry, host);
    is_known = entry && entry->estimate.count > 0;
    if (is_known) {
        *ret_knot = entry->estimate.knots[entry->estimate.count - 1];
        *ret_drift = entry->estimate.drift;
    }
    pthread_mutex_unlock(&registry->lock);
    return is_known;
}

int esi_clock_registry_foreach(struct esi_clock_registry *registry,
                               int (*visit)(void *data,
                                            const char *host,
                                            const struct esi_clock_estimate *estimate),
                               void *data)
{
    int result = 0;

    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count && result == 0; i++)
        result =
            visit(data, registry->entries[i]->host, &registry->entries[i]->estimate);
    pthread_mutex_unlock(&registry->lock);
    return result;
}
