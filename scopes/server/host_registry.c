/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The hosts of a run, as the home server knows them, and whether the run has ended. */
#include "config.h"

#include "scopes/server/host_registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "pathmap/pathmap.h"
#include "scopes/remote/run_files.h"

/* Servers speak up every second: who did not for so long does not answer. */
#define SILENT_NS UINT64_C(5000000000)

struct host_registry_entry {
    struct esi_host_entry entry;
    const void *connection; /* over which it registered; NULL = it has ended */
};

struct esi_host_registry {
    char run[64];
    int descriptor; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct host_registry_entry *hosts; /* owned; [0] is the own */
    size_t count;
    bool is_settled; /* the own address */
    enum esi_run_end end;
    size_t answers_owed;
    bool is_closed;
    pthread_mutex_t map_lock; /* of the next two, which take long to make */
    bool has_looked;
    struct esi_pathmap *map; /* the run's; looked for once, NULL = none */
};

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* --- Making ------------------------------------------------------------------- */

static int init_locks(struct esi_host_registry *registry)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failure = pthread_cond_init(&registry->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (failure)
        return -failure;
    pthread_mutex_init(&registry->lock, NULL);
    pthread_mutex_init(&registry->map_lock, NULL);
    return 0;
}

int esi_host_registry_create(const char *run,
                             const char *host,
                             bool home,
                             struct esi_host_registry **ret_board)
{
    struct esi_host_registry *registry = calloc(1, sizeof *registry);
    struct host_registry_entry *own = calloc(1, sizeof *own);
    int code = -ENOMEM;

    if (!registry || !own)
        goto free_board;
    copy_text(registry->run, sizeof registry->run, run);
    copy_text(own->entry.host, sizeof own->entry.host, host);
    own->entry.home = home;
    own->entry.pid = getpid();
    own->connection = registry;
    registry->hosts = own;
    registry->count = 1;
    registry->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (registry->descriptor < 0) {
        code = -errno;
        goto free_board;
    }
    code = init_locks(registry);
    if (code < 0)
        goto close_descriptor;
    *ret_board = registry;
    return 0;

close_descriptor:
    close(registry->descriptor);
free_board:
    free(own);
    free(registry);
    return code;
}

void esi_host_registry_destroy(struct esi_host_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        free(registry->hosts[i].entry.lost);
    free(registry->hosts);
    esi_pathmap_destroy(registry->map);
    pthread_cond_destroy(&registry->changed);
    pthread_mutex_destroy(&registry->lock);
    pthread_mutex_destroy(&registry->map_lock);
    close(registry->descriptor);
    free(registry);
}

/* --- The own host ------------------------------------------------------------- */

void esi_host_registry_set_address(struct esi_host_registry *registry,
                                   const char *address,
                                   bool settled)
{
    struct esi_host_entry *own;

    pthread_mutex_lock(&registry->lock);
    own = &registry->hosts[0].entry;
    if (settled || !registry->is_settled)
        copy_text(own->address, sizeof own->address, address);
    registry->is_settled |= settled;
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_set_site(struct esi_host_registry *registry,
                                const char *cluster,
                                const char *gateway)
{
    struct esi_host_entry *own;

    pthread_mutex_lock(&registry->lock);
    own = &registry->hosts[0].entry;
    copy_text(own->cluster, sizeof own->cluster, cluster);
    copy_text(own->gateway, sizeof own->gateway, gateway);
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_set_ranks(struct esi_host_registry *registry, int ranks)
{
    pthread_mutex_lock(&registry->lock);
    registry->hosts[0].entry.ranks = ranks;
    pthread_mutex_unlock(&registry->lock);
}

static int append_lost(struct esi_host_entry *entry, const struct esi_lost_rank *lost)
{
    if (entry->lost_count == ES_LOST_RANKS_MAX)
        return 0;
    struct esi_lost_rank *grown =
        reallocarray(entry->lost, entry->lost_count + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    entry->lost = grown;
    grown[entry->lost_count++] = *lost;
    return 0;
}

int esi_host_registry_add_lost(struct esi_host_registry *registry,
                               const struct esi_lost_rank *lost)
{
    pthread_mutex_lock(&registry->lock);
    int code = append_lost(&registry->hosts[0].entry, lost);
    pthread_mutex_unlock(&registry->lock);
    return code;
}

/* --- All hosts ---------------------------------------------------------------- */

/* The run's map, which never changes once it is there; NULL = there is none.  The
 * registry's lock is not held: others must not wait while the map is read. */
static const struct esi_pathmap *find_map(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->map_lock);
    if (!registry->has_looked) {
        registry->has_looked = true;
        if (esi_run_map_load(registry->run, NULL, NULL, &registry->map) < 0)
            registry->map = NULL;
    }
    pthread_mutex_unlock(&registry->map_lock);
    return registry->map;
}

/* Where the run's map says that the host lies; the lock is held. */
static void fill_site(const struct esi_pathmap *map, struct esi_host_entry *entry)
{
    if (!map || entry->cluster[0] != '\0')
        return;
    const struct esi_pathmap_host *host = esi_pathmap_find_host(map, entry->host);
    if (!host || !host->cluster)
        return;
    copy_text(entry->cluster, sizeof entry->cluster, host->cluster);
    for (size_t i = 0; i < esi_pathmap_cluster_count(map); i++) {
        const struct esi_pathmap_cluster *one = esi_pathmap_cluster(map, i);
        if (strcmp(one->name, host->cluster) == 0)
            copy_text(entry->gateway, sizeof entry->gateway, one->gateway);
    }
}

int esi_host_registry_foreach(struct esi_host_registry *registry,
                              int (*visit)(void *data,
                                           const struct esi_host_entry *entry),
                              void *data)
{
    const struct esi_pathmap *map = find_map(registry);
    int result = 0;

    pthread_mutex_lock(&registry->lock);
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    registry->hosts[0].entry.heard_ns = now;
    for (size_t i = 0; i < registry->count && result == 0; i++) {
        struct esi_host_entry *entry = &registry->hosts[i].entry;
        fill_site(map, entry);
        if (entry->state == ES_SERVER_UP && now - entry->heard_ns > SILENT_NS)
            entry->state = ES_SERVER_SILENT;
        result = visit(data, entry);
    }
    pthread_mutex_unlock(&registry->lock);
    return result;
}

size_t esi_host_registry_others(struct esi_host_registry *registry)
{
    size_t count = 0;

    pthread_mutex_lock(&registry->lock);
    for (size_t i = 1; i < registry->count; i++)
        count += registry->hosts[i].entry.state == ES_SERVER_UP;
    pthread_mutex_unlock(&registry->lock);
    return count;
}

static struct host_registry_entry *find_or_add(struct esi_host_registry *registry,
                                               const char *host)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->hosts[i].entry.host, host) == 0)
            return &registry->hosts[i];
    struct host_registry_entry *grown =
        reallocarray(registry->hosts, registry->count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    registry->hosts = grown;
    grown[registry->count] = (struct host_registry_entry){.connection = NULL};
    copy_text(grown[registry->count].entry.host, sizeof grown->entry.host, host);
    return &grown[registry->count++];
}

int esi_host_registry_register(struct esi_host_registry *registry,
                               const struct esi_host_entry *entry,
                               const void *connection)
{
    struct esi_lost_rank *lost = NULL;
    int code = 0;

    if (entry->lost_count > 0) {
        lost = malloc(entry->lost_count * sizeof *lost);
        if (!lost)
            return -ENOMEM;
        memcpy(lost, entry->lost, entry->lost_count * sizeof *lost);
    }
    pthread_mutex_lock(&registry->lock);
    struct host_registry_entry *host = find_or_add(registry, entry->host);
    if (!host)
        code = -ENOMEM;
    else if (host == registry->hosts)
        code = -EEXIST;
    if (code == 0) {
        free(host->entry.lost);
        host->entry = *entry;
        host->entry.lost = lost;
        host->entry.heard_ns = esi_now_ns(CLOCK_MONOTONIC);
        host->connection = entry->state == ES_SERVER_UP ? connection : NULL;
        pthread_cond_broadcast(&registry->changed);
    }
    pthread_mutex_unlock(&registry->lock);
    if (code < 0)
        free(lost);
    return code;
}

void esi_host_registry_leave(struct esi_host_registry *registry, const void *connection)
{
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 1; i < registry->count; i++) {
        if (registry->hosts[i].connection != connection)
            continue;
        registry->hosts[i].connection = NULL;
        registry->hosts[i].entry.state = ES_SERVER_SILENT;
        pthread_cond_broadcast(&registry->changed);
    }
    pthread_mutex_unlock(&registry->lock);
}

/* --- The run's end ------------------------------------------------------------ */

void esi_host_registry_end(struct esi_host_registry *registry, enum esi_run_end end)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&registry->lock);
    if (end > registry->end)
        registry->end = end;
    pthread_cond_broadcast(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
    (void)!write(registry->descriptor, &one, sizeof one);
}

enum esi_run_end esi_host_registry_ending(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    enum esi_run_end end = registry->end;
    pthread_mutex_unlock(&registry->lock);
    return end;
}

int esi_host_registry_descriptor(const struct esi_host_registry *registry)
{
    return registry->descriptor;
}

static struct timespec deadline_in(uint64_t timeout_ns)
{
    uint64_t end = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;

    return (struct timespec){.tv_sec = (time_t)(end / 1000000000),
                             .tv_nsec = (long)(end % 1000000000)};
}

enum esi_run_end esi_host_registry_await_end(struct esi_host_registry *registry,
                                             enum esi_run_end known,
                                             uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    int failure = 0;

    pthread_mutex_lock(&registry->lock);
    while (failure == 0 && registry->end == known && !registry->is_closed)
        failure =
            pthread_cond_timedwait(&registry->changed, &registry->lock, &deadline);
    enum esi_run_end end = registry->end;
    pthread_mutex_unlock(&registry->lock);
    return end;
}

/* Whether there are hosts that are still to be told; the lock is held. */
static bool is_incomplete(const struct esi_host_registry *registry, size_t *ret_told)
{
    size_t missing = 0, told = 0;

    for (size_t i = 1; i < registry->count; i++) {
        const struct esi_host_entry *entry = &registry->hosts[i].entry;
        if (entry->told >= registry->end)
            told++;
        else
            missing += entry->state == ES_SERVER_UP;
    }
    *ret_told = told;
    return missing > 0;
}

size_t esi_host_registry_await_others(struct esi_host_registry *registry,
                                      uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    size_t told;
    int failure = 0;

    pthread_mutex_lock(&registry->lock);
    while (is_incomplete(registry, &told) && failure == 0 && !registry->is_closed)
        failure =
            pthread_cond_timedwait(&registry->changed, &registry->lock, &deadline);
    pthread_mutex_unlock(&registry->lock);
    return told;
}

void esi_host_registry_owe_answer(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    registry->answers_owed++;
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_answered(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    registry->answers_owed--;
    pthread_cond_broadcast(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_await_answers(struct esi_host_registry *registry,
                                     uint64_t timeout_ns)
{
    const struct timespec deadline = deadline_in(timeout_ns);
    int failure = 0;

    pthread_mutex_lock(&registry->lock);
    while (registry->answers_owed > 0 && failure == 0)
        failure =
            pthread_cond_timedwait(&registry->changed, &registry->lock, &deadline);
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_close(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    registry->is_closed = true;
    pthread_cond_broadcast(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
}
