/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * host_registry.c - the hosts of a run, as known to the home server, and whether the
 * run has ended.
 *
 *   {"request": "hosts"}                     lists the hosts
 *   {"request": "register", ...}             registers a server
 *   {"request": "end", "keep": BOOL}         ends the run; "unreached" are the hosts
 *                                            that were not informed
 *   {"request": "clock", "known": {HOST: NEWEST, ...}}
 *
 * A server registers repeatedly over one connection.  The answer is sent at once, or
 * with "wait_ns" after that time or as soon as the run's end is reported.
 *
 * The reply to "clock" contains the times at which the request arrived and the answer
 * left, in nanoseconds of CLOCK_MONOTONIC, and the offset to run time.  "clocks"
 * contains the estimates of the named hosts, unless the client already has the one
 * known here: the one whose last knot is at NEWEST (-1: none).  Servers of other hosts
 * and consumers repeat this request; servers report their own estimate when they
 * register.
 */
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

#include "base/array.h"
#include "base/condition.h"
#include "base/hash.h"
#include "base/now.h"
#include "pathmap/pathmap.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/run_files.h"
#include "scopes/server/service.h"

/* Servers register every second; without registration for this time, one counts as
 * silent. */
#define SILENT_NS UINT64_C(5000000000)
#define WAIT_MAX_NS INT64_C(10000000000)
/* Longest time for the other hosts to learn of the run's end. */
#define END_NS UINT64_C(3000000000)

struct host_registry_entry {
    struct esi_host_entry entry;
    const void *connection; /* over which it registered; NULL after its end */
};

struct esi_host_registry {
    char run[64];
    int descriptor; /* eventfd */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct host_registry_entry *hosts; /* owned; [0] is the own host */
    size_t count;
    size_t capacity;
    struct esi_hash by_name;
    bool has_final_address; /* of the own host */
    enum esi_run_end end;
    size_t answers_owed;
    bool is_closed;
    pthread_mutex_t map_lock; /* protects the next two; loading takes long */
    bool has_sought;
    struct esi_pathmap *map; /* of the run; loaded once; NULL if there is none */
};

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* --- Making ------------------------------------------------------------------- */

/* Returns NULL if out of memory. */
static struct host_registry_entry *find_or_add(struct esi_host_registry *registry,
                                               const char *host)
{
    uint64_t hash = esi_hash_mix_text(0, host);
    struct host_registry_entry *found;

    ESI_HASH_FOREACH(slot, &registry->by_name, hash) {
        found = &registry->hosts[esi_hash_index(&registry->by_name, slot)];
        if (strcmp(found->entry.host, host) == 0)
            return found;
    }
    if (ESI_ARRAY_RESERVE(registry->hosts, registry->capacity, registry->count + 1) <
            0 ||
        esi_hash_reserve(&registry->by_name, registry->count + 1) < 0)
        return NULL;
    esi_hash_insert(&registry->by_name, hash, registry->count);
    found = &registry->hosts[registry->count++];
    *found = (struct host_registry_entry){.connection = NULL};
    copy_text(found->entry.host, sizeof found->entry.host, host);
    return found;
}

int esi_host_registry_create(const char *run,
                             const char *host,
                             bool home,
                             struct esi_host_registry **ret_registry)
{
    struct esi_host_registry *registry = calloc(1, sizeof *registry);
    struct host_registry_entry *own;

    if (!registry)
        return -ENOMEM;
    own = find_or_add(registry, host);
    registry->descriptor = own ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (registry->descriptor < 0) {
        int code = own ? -errno : -ENOMEM;

        esi_hash_fini(&registry->by_name);
        free(registry->hosts);
        free(registry);
        return code;
    }
    copy_text(registry->run, sizeof registry->run, run);
    own->entry.home = home;
    own->entry.pid = getpid();
    own->connection = registry;
    esi_condition_init(&registry->changed);
    pthread_mutex_init(&registry->lock, NULL);
    pthread_mutex_init(&registry->map_lock, NULL);
    *ret_registry = registry;
    return 0;
}

void esi_host_registry_destroy(struct esi_host_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        free(registry->hosts[i].entry.lost);
    free(registry->hosts);
    esi_hash_fini(&registry->by_name);
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
                                   bool is_final)
{
    struct esi_host_entry *own;

    pthread_mutex_lock(&registry->lock);
    own = &registry->hosts[0].entry;
    if (is_final || !registry->has_final_address)
        copy_text(own->address, sizeof own->address, address);
    registry->has_final_address |= is_final;
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

int esi_host_registry_add_lost(struct esi_host_registry *registry,
                               const struct esi_lost_rank *lost)
{
    struct esi_host_entry *own;
    int code = 0;

    pthread_mutex_lock(&registry->lock);
    own = &registry->hosts[0].entry;
    if (own->lost_count < ES_LOST_RANKS_MAX) {
        code = ESI_ARRAY_RESERVE(own->lost, own->lost_capacity, own->lost_count + 1);
        if (code == 0)
            own->lost[own->lost_count++] = *lost;
    }
    pthread_mutex_unlock(&registry->lock);
    return code;
}

/* --- All hosts ---------------------------------------------------------------- */

/* The run's pathmap, which does not change once it exists; NULL if there is none.
 * Called without the registry's lock, so that nobody waits while the map is read. */
static const struct esi_pathmap *find_map(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->map_lock);
    if (!registry->has_sought) {
        registry->has_sought = true;
        if (esi_run_map_load(registry->run, NULL, NULL, &registry->map) < 0)
            registry->map = NULL;
    }
    pthread_mutex_unlock(&registry->map_lock);
    return registry->map;
}

/* Fills in the host's cluster and gateway from the map.  Called with the lock held. */
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

int esi_host_registry_register(struct esi_host_registry *registry,
                               const struct esi_host_entry *entry,
                               const void *connection)
{
    struct host_registry_entry *host;
    int code = 0;

    pthread_mutex_lock(&registry->lock);
    host = find_or_add(registry, entry->host);
    if (!host)
        code = -ENOMEM;
    else if (host == registry->hosts)
        code = -EEXIST;
    free(code < 0 ? entry->lost : host->entry.lost);
    if (code == 0) {
        host->entry = *entry;
        host->entry.heard_ns = esi_now_ns(CLOCK_MONOTONIC);
        host->connection = entry->state == ES_SERVER_UP ? connection : NULL;
        pthread_cond_broadcast(&registry->changed);
    }
    pthread_mutex_unlock(&registry->lock);
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

/* Waits until the run's end differs from `known`, or until the timeout. */
static enum esi_run_end host_registry_await_end(struct esi_host_registry *registry,
                                                enum esi_run_end known,
                                                uint64_t timeout_ns)
{
    const uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    bool has_time = true;

    pthread_mutex_lock(&registry->lock);
    while (has_time && registry->end == known && !registry->is_closed)
        has_time = esi_condition_wait(&registry->changed, &registry->lock, end_ns);
    enum esi_run_end end = registry->end;
    pthread_mutex_unlock(&registry->lock);
    return end;
}

/* Returns true if some hosts do not know the end yet.  Called with the lock held. */
static bool is_incomplete(const struct esi_host_registry *registry,
                          size_t *ret_informed)
{
    size_t missing = 0, informed = 0;

    for (size_t i = 1; i < registry->count; i++) {
        const struct esi_host_entry *entry = &registry->hosts[i].entry;
        if (entry->known_end >= registry->end)
            informed++;
        else
            missing += entry->state == ES_SERVER_UP;
    }
    *ret_informed = informed;
    return missing > 0;
}

/* Waits until all other hosts know the run's end or are silent.  Returns the number of
 * hosts that know it. */
static size_t host_registry_await_others(struct esi_host_registry *registry,
                                         uint64_t timeout_ns)
{
    const uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    size_t informed;
    bool has_time = true;

    pthread_mutex_lock(&registry->lock);
    while (is_incomplete(registry, &informed) && has_time && !registry->is_closed)
        has_time = esi_condition_wait(&registry->changed, &registry->lock, end_ns);
    pthread_mutex_unlock(&registry->lock);
    return informed;
}

/* The reply to the request that ends the run must be sent before the server ends: it is
 * owed before esi_host_registry_end(), and marked when it was sent. */
static void host_registry_owe_answer(struct esi_host_registry *registry)
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
    const uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + timeout_ns;
    bool has_time = true;

    pthread_mutex_lock(&registry->lock);
    while (registry->answers_owed > 0 && has_time)
        has_time = esi_condition_wait(&registry->changed, &registry->lock, end_ns);
    pthread_mutex_unlock(&registry->lock);
}

void esi_host_registry_close(struct esi_host_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    registry->is_closed = true;
    pthread_cond_broadcast(&registry->changed);
    pthread_mutex_unlock(&registry->lock);
}

static const char *const state_names[] = {
    [ES_SERVER_UP] = "up",
    [ES_SERVER_SILENT] = "silent",
    [ES_SERVER_ENDED] = "ended",
};

static const char *const end_names[] = {
    [ES_RUN_GOES_ON] = "no",
    [ES_RUN_ENDED_KEEP] = "keep",
    [ES_RUN_ENDED] = "yes",
};

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

const char *esi_run_end_name(enum esi_run_end end)
{
    return end_names[end];
}

enum esi_run_end esi_run_end_find(const char *name)
{
    return (enum esi_run_end)find_name(end_names, 3, name);
}

/* --- Reporting ----------------------------------------------------------------- */

void esi_host_entry_write(const struct esi_host_entry *entry, struct esi_json_out *out)
{
    esi_json_out_string(out, "host", entry->host);
    esi_json_out_string(out, "address", entry->address);
    esi_json_out_string(out, "cluster", entry->cluster);
    esi_json_out_string(out, "gateway", entry->gateway);
    esi_json_out_signed(out, "pid", entry->pid);
    esi_json_out_signed(out, "ranks", entry->ranks);
    esi_json_out_begin_array(out, "vanished");
    for (size_t i = 0; i < entry->lost_count; i++) {
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "rank", entry->lost[i].rank);
        esi_json_out_signed(out, "pid", entry->lost[i].pid);
        esi_json_out_string(out, "how", entry->lost[i].how);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static uint64_t silence_of(const struct esi_host_entry *entry)
{
    return entry->state == ES_SERVER_UP ? 0
                                        : esi_now_ns(CLOCK_MONOTONIC) - entry->heard_ns;
}

static int write_host(void *data, const struct esi_host_entry *entry)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_host_entry_write(entry, out);
    esi_json_out_string(out, "state", state_names[entry->state]);
    esi_json_out_bool(out, "home", entry->home);
    esi_json_out_unsigned(out, "silent_ns", silence_of(entry));
    esi_json_out_end(out);
    return 0;
}

static int serve_hosts(struct esi_service_call *call)
{
    const struct esi_service *service = call->connection->service;

    esi_json_out_string(call->reply, "run", service->run);
    esi_json_out_begin_array(call->reply, "hosts");
    esi_host_registry_foreach(service->hosts, write_host, call->reply);
    esi_json_out_end(call->reply);
    return 0;
}

/* --- Registering -------------------------------------------------------------- */

/* Completes an address without a host ("tls:*:4711") with the host by which the peer
 * reaches this server ("10.77.0.3:40112"). */
static void complete_address(const char *address,
                             const char *peer,
                             char out[ES_ADDRESS_BYTES])
{
    const char *star = strstr(address, ":*:");
    const char *colon = strrchr(peer, ':');

    if (star && colon)
        snprintf(out, ES_ADDRESS_BYTES, "%.*s:%.*s%s", (int)(star - address), address,
                 (int)(colon - peer), peer, star + 2);
    else
        snprintf(out, ES_ADDRESS_BYTES, "%s", address);
}

static int read_lost(const struct es_member *list, struct esi_host_entry *entry)
{
    size_t count = esi_member_count(list);

    if (count > ES_LOST_RANKS_MAX)
        count = ES_LOST_RANKS_MAX;
    if (ESI_ARRAY_RESERVE(entry->lost, entry->lost_capacity, count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct es_member *one = esi_member_at(list, i);
        struct esi_lost_rank *lost = &entry->lost[entry->lost_count++];
        lost->rank = (int)esi_member_integer_or(one, "rank", -1);
        lost->pid = (int)esi_member_integer_or(one, "pid", 0);
        copy_text(lost->how, sizeof lost->how, esi_member_text_or(one, "how", ""));
    }
    return 0;
}

static int read_entry(struct esi_service_call *call, struct esi_host_entry *entry)
{
    const struct es_member *body = call->body;
    const char *host = esi_service_text(call, "host");
    const char *address = esi_service_text(call, "address");

    *entry = (struct esi_host_entry){
        .pid = (int)esi_service_integer(call, "pid", 1, INT32_MAX),
        .ranks = (int)esi_service_integer(call, "ranks", 0, INT32_MAX),
        .known_end = esi_run_end_find(esi_member_text_or(body, "told", "no")),
        .state =
            esi_member_boolean_or(body, "ends", false) ? ES_SERVER_ENDED : ES_SERVER_UP,
    };
    if (call->code < 0)
        return call->code;
    if (!*host || strlen(host) >= sizeof entry->host)
        return es_error_set(call->error, -EINVAL, "'host' is not a host's name");
    copy_text(entry->host, sizeof entry->host, host);
    complete_address(address, esi_link_peer_address(call->connection->link),
                     entry->address);
    copy_text(entry->cluster, sizeof entry->cluster,
              esi_member_text_or(body, "cluster", ""));
    copy_text(entry->gateway, sizeof entry->gateway,
              esi_member_text_or(body, "gateway", ""));
    return read_lost(esi_member_find(body, "vanished"), entry);
}

/* Stores the estimate of the server's clock if the request contains one. */
static void take_clock(struct esi_service *service,
                       const struct es_member *request,
                       const char *host)
{
    const struct es_member *member = esi_member_find(request, "clock");
    struct esi_clock_estimate estimate;

    if (member && esi_clock_estimate_read(member, NULL, &estimate) == 0)
        (void)esi_clock_registry_set(service->clocks, host, &estimate);
}

static int serve_register(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    struct esi_host_registry *registry = connection->service->hosts;
    const struct es_member *body = call->body;
    int64_t wait_ns = esi_member_integer_or(body, "wait_ns", 0);
    struct esi_host_entry entry;

    int code = read_entry(call, &entry);
    if (code < 0)
        return code;
    code = esi_host_registry_register(registry, &entry, connection);
    if (code == 0)
        take_clock(connection->service, body, entry.host);
    if (code == -EEXIST)
        return es_error_set(call->error, code, "'%s' is the home server's own host",
                            entry.host);
    if (code < 0)
        return code;
    /* The address by which this server was reached also works for others. */
    const char *home = esi_member_text_or(body, "home", "");
    if (*home && strncmp(home, "unix:", 5) != 0)
        esi_host_registry_set_address(registry, home, false);
    enum esi_run_end end = esi_host_registry_ending(registry);
    if (end == entry.known_end && wait_ns > 0 && entry.state == ES_SERVER_UP)
        end = host_registry_await_end(
            registry, end, (uint64_t)(wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS));
    esi_json_out_string(call->reply, "end", esi_run_end_name(end));
    return 0;
}

/* --- The end ------------------------------------------------------------------ */

struct unreached {
    struct esi_json_out *reply;
    enum esi_run_end end;
};

static int write_unreached_host(void *data, const struct esi_host_entry *entry)
{
    const struct unreached *unreached = data;

    if (!entry->home && entry->known_end < unreached->end)
        esi_json_out_string(unreached->reply, NULL, entry->host);
    return 0;
}

static void write_unreached(struct esi_host_registry *registry,
                            struct esi_json_out *reply)
{
    struct unreached unreached = {.reply = reply,
                                  .end = esi_host_registry_ending(registry)};

    esi_json_out_begin_array(reply, "unreached");
    esi_host_registry_foreach(registry, write_unreached_host, &unreached);
    esi_json_out_end(reply);
}

static int serve_end(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;
    struct esi_host_registry *registry = connection->service->hosts;
    bool keep = esi_service_boolean(call, "keep");

    if (call->code < 0)
        return call->code;
    connection->owes_answer = true;
    host_registry_owe_answer(registry);
    esi_host_registry_end(registry, keep ? ES_RUN_ENDED_KEEP : ES_RUN_ENDED);
    size_t informed = host_registry_await_others(registry, END_NS);
    esi_json_out_unsigned(call->reply, "hosts", informed + 1);
    write_unreached(registry, call->reply);
    esi_json_out_bool(call->reply, "stays",
                      keep ? esi_host_registry_others(registry) > 0
                           : esi_service_is_read(connection->service));
    return 0;
}

/* --- Clocks -------------------------------------------------------------------- */

struct clock_writing {
    struct esi_clock_registry *registry;
    struct esi_json_out *reply;
};

static int write_clock(void *data, const char *host, const struct es_member *newest)
{
    const struct clock_writing *writing = data;
    struct esi_clock_estimate estimate;

    if (esi_clock_registry_find(writing->registry, host, &estimate) &&
        esi_member_as_integer(newest) != esi_clock_estimate_newest(&estimate))
        esi_clock_estimate_write(&estimate, writing->reply, host);
    return 0;
}

static int serve_clock(struct esi_service_call *call)
{
    const uint64_t arrived_ns = esi_now_ns(CLOCK_MONOTONIC);
    const struct esi_service *service = call->connection->service;
    const struct es_member *known = esi_member_find(call->body, "known");
    struct esi_json_out *reply = call->reply;
    struct clock_writing writing = {.registry = service->clocks, .reply = reply};
    struct esi_clock_estimate own;

    if (!esi_clock_registry_find(service->clocks, service->host, &own) ||
        !esi_clock_estimate_is_home(&own))
        return es_error_set(call->error, -ENOSYS, "this is not the home server");
    esi_json_out_unsigned(reply, "run_base", own.run_base_ns);
    if (known) {
        esi_json_out_begin_object(reply, "clocks");
        esi_member_foreach(known, write_clock, &writing);
        esi_json_out_end(reply);
    }
    esi_json_out_unsigned(reply, "arrived", arrived_ns);
    esi_json_out_unsigned(reply, "answered", esi_now_ns(CLOCK_MONOTONIC));
    return 0;
}

const struct esi_request_row esi_host_requests[] = {
    {"hosts", serve_hosts, false}, {"register", serve_register, true},
    {"end", serve_end, true},      {"clock", serve_clock, false},
    {NULL, NULL, false},
};
