/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The clocks of the hosts of a run, as known to one tuple server or consumer. */
#include "config.h"

#include "scopes/remote/clock_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

struct clock_registry_entry {
    char host[64];
    struct es_host_clock *clock; /* used by readers for conversion */
    struct esi_clock_estimate estimate;
};

struct esi_clock_registry {
    pthread_mutex_t lock;                  /* protects the list and updates of clocks */
    struct clock_registry_entry **entries; /* owned, with its items */
    size_t count;
    size_t capacity;
    struct esi_hash by_host;
};

int esi_clock_registry_create(struct esi_clock_registry **ret_registry)
{
    struct esi_clock_registry *registry = calloc(1, sizeof *registry);

    if (!registry)
        return -ENOMEM;
    pthread_mutex_init(&registry->lock, NULL);
    *ret_registry = registry;
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

/* The functions below are called with the lock held. */

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

/* Returns NULL if out of memory. */
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

/* --- Estimates as JSON ------------------------------------------------------------ */

enum { KNOT_MEMBERS = 4 };

void esi_clock_estimate_write(const struct esi_clock_estimate *estimate,
                              struct esi_json_out *out,
                              const char *key)
{
    struct esi_clock_knot before = {.local_ns = 0};

    esi_json_out_begin_object(out, key);
    esi_json_out_unsigned(out, "run_base", esi_json_bounded(estimate->run_base_ns));
    esi_json_out_unsigned(out, "breaks", esi_json_bounded(estimate->breaks));
    esi_json_out_real(out, "drift", estimate->drift.ppb);
    esi_json_out_real(out, "drift_error", estimate->drift.error_ppb);
    esi_json_out_real(out, "wander", estimate->drift.wander_ppb);
    esi_json_out_begin_array(out, "knots");
    for (uint64_t i = 0; i < estimate->count; i++) {
        const struct esi_clock_knot *knot = &estimate->knots[i];

        esi_json_out_unsigned(out, NULL, knot->local_ns - before.local_ns);
        esi_json_out_signed(out, NULL, knot->offset_ns - before.offset_ns);
        esi_json_out_unsigned(out, NULL, esi_json_bounded(knot->error_ns));
        esi_json_out_unsigned(out, NULL, esi_json_bounded(knot->bow_ns));
        before = *knot;
    }
    esi_json_out_end(out);
    esi_json_out_end(out);
}

/* Rejects received values that are too large, because their sums must not overflow. */
static bool read_knot(const struct es_member *knots,
                      size_t index,
                      const struct esi_clock_knot *before,
                      struct esi_clock_knot *ret_knot)
{
    int64_t values[KNOT_MEMBERS];
    int64_t local, offset;

    for (size_t i = 0; i < KNOT_MEMBERS; i++)
        values[i] = esi_member_as_integer(esi_member_at(knots, index + i));
    if (values[0] < 0 || values[2] < 0 || values[3] < 0 ||
        __builtin_add_overflow((int64_t)before->local_ns, values[0], &local) ||
        __builtin_add_overflow(before->offset_ns, values[1], &offset) ||
        offset > INT64_MAX / 4 || offset < INT64_MIN / 4)
        return false;
    *ret_knot = (struct esi_clock_knot){.local_ns = (uint64_t)local,
                                        .offset_ns = offset,
                                        .error_ns = (uint64_t)values[2],
                                        .bow_ns = (uint64_t)values[3]};
    return true;
}

int esi_clock_estimate_read(const struct es_member *member,
                            struct es_error *error,
                            struct esi_clock_estimate *ret_estimate)
{
    const struct es_member *knots = esi_member_find(member, "knots");
    size_t count = esi_member_count(knots);
    struct esi_clock_estimate estimate = {.count = 0};
    struct esi_clock_knot before = {.local_ns = 0};
    int64_t run_base;
    int result = esi_member_integer(member, "run_base", 0, INT64_MAX, error, &run_base);

    if (result < 0)
        return result;
    estimate.run_base_ns = (uint64_t)run_base;
    estimate.breaks = (uint64_t)esi_member_integer_or(member, "breaks", 0);
    estimate.drift = (struct esi_clock_drift){
        .ppb = esi_member_real_or(member, "drift", 0),
        .error_ppb = esi_member_real_or(member, "drift_error", 0),
        .wander_ppb = esi_member_real_or(member, "wander", 0),
    };
    if (count % KNOT_MEMBERS != 0 || count / KNOT_MEMBERS > ES_CLOCK_KNOTS_MAX)
        return es_error_set(error, -EINVAL, "'knots' has %zu members", count);
    for (size_t i = 0; i < count; i += KNOT_MEMBERS) {
        if (!read_knot(knots, i, &before, &estimate.knots[estimate.count]))
            return es_error_set(error, -EINVAL, "'knots' has a time out of range");
        before = estimate.knots[estimate.count++];
    }
    if (!esi_clock_estimate_is_valid(&estimate))
        return es_error_set(error, -EINVAL, "'knots' is not the line of a clock");
    *ret_estimate = estimate;
    return 0;
}

int64_t esi_clock_estimate_newest(const struct esi_clock_estimate *estimate)
{
    return estimate->count > 0 ? (int64_t)esi_json_bounded(
                                     estimate->knots[estimate->count - 1].local_ns)
                               : -1;
}

int esi_clock_exchange_read(const struct es_member *reply,
                            uint64_t sent_ns,
                            uint64_t received_ns,
                            struct es_error *error,
                            struct esi_clock_exchange *ret_exchange,
                            uint64_t *ret_run_base_ns)
{
    int64_t arrived = 0, answered = 0, run_base = 0;
    int result = esi_member_integer(reply, "arrived", 0, INT64_MAX, error, &arrived);

    if (result == 0)
        result = esi_member_integer(reply, "answered", 0, INT64_MAX, error, &answered);
    if (result == 0)
        result = esi_member_integer(reply, "run_base", 0, INT64_MAX, error, &run_base);
    if (result < 0)
        return result;
    *ret_exchange = (struct esi_clock_exchange){.sent_ns = sent_ns,
                                                .arrived_ns = (uint64_t)arrived,
                                                .answered_ns = (uint64_t)answered,
                                                .received_ns = received_ns};
    *ret_run_base_ns = (uint64_t)run_base;
    return 0;
}

/* --- Records of clocks as JSON ---------------------------------------------------- */

/* Members of a clock record, after the kind. */
static const struct {
    const char *name;
    size_t offset; /* of a uint64_t */
    int64_t minimum;
} clock_members[] = {
    {"frequency", offsetof(struct es_clock, frequency_hz), 1},
    {"frequency_error", offsetof(struct es_clock, frequency_error_ppb), 0},
    {"ticks", offsetof(struct es_clock, base_ticks), 0},
    {"realtime", offsetof(struct es_clock, base_realtime_ns), 0},
    {"monotonic", offsetof(struct es_clock, base_monotonic_ns), 0},
    {"error", offsetof(struct es_clock, base_error_ns), 0},
};
enum { CLOCK_MEMBERS = sizeof clock_members / sizeof *clock_members };

void esi_clock_write(const struct es_clock *clock,
                     struct esi_json_out *out,
                     const char *key)
{
    esi_json_out_begin_object(out, key);
    esi_json_out_unsigned(out, "kind", clock->kind);
    for (size_t i = 0; i < CLOCK_MEMBERS; i++) {
        uint64_t value;

        memcpy(&value, (const char *)clock + clock_members[i].offset, sizeof value);
        esi_json_out_unsigned(out, clock_members[i].name, esi_json_bounded(value));
    }
    esi_json_out_end(out);
}

int esi_clock_member_read(const struct es_member *member,
                          struct es_error *error,
                          struct es_clock *ret_clock)
{
    struct es_clock clock = {.reserved = 0};
    int64_t value;
    int result = esi_member_integer(member, "kind", 1, INT64_MAX, error, &value);

    if (result < 0)
        return result;
    clock.kind = (uint32_t)value;
    for (size_t i = 0; i < CLOCK_MEMBERS; i++) {
        result = esi_member_integer(member, clock_members[i].name,
                                    clock_members[i].minimum, INT64_MAX, error, &value);
        if (result < 0)
            return result;
        memcpy((char *)&clock + clock_members[i].offset, &value, sizeof value);
    }
    *ret_clock = clock;
    return 0;
}
