/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_origins.c - finds the elements of a scope: in the segments that are mapped
 * here, and in the catalog of the other hosts; and what is known of where a tuple comes
 * from: its process, its communicators, its peer. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/host.h"
#include "base/now.h"
#include "eventspace/summary.h"
#include "scopes/remote/catalog.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/scope_private.h"
#include "tuplespace/segment_name.h"

/* Makes room for `extra` origins and places. */
static int scope_origins_reserve(struct es_scope *scope, size_t extra)
{
    size_t count = scope->origins.count + extra + 1;
    size_t origins = scope->capacity, places = scope->capacity;
    size_t processes = scope->capacity;

    if (ESI_ARRAY_RESERVE(scope->origins.items, origins, count) < 0 ||
        ESI_ARRAY_RESERVE(scope->places.items, places, count) < 0 ||
        ESI_ARRAY_RESERVE(scope->processes, processes, count) < 0)
        return -ENOMEM;
    scope->capacity = processes;
    return 0;
}

bool esi_scope_reads_here(const struct es_scope *scope, size_t index)
{
    bool away = scope->config.servers && scope->config.tree.through_server;

    return scope->origins.items[index].element && !away;
}

/* Another reader that lives keeps its right: this one may then lose tuples.  Where a
 * tuple server reads, it registers. */
static void register_reader(struct es_scope *scope, size_t index)
{
    const struct es_element_view *element = scope->origins.items[index].element;
    struct esi_place *place = &scope->places.items[index];
    struct es_element_info info;

    place->registered = true;
    if (!esi_scope_reads_here(scope, index))
        return;
    es_element_view_info(element, &info);
    place->registered =
        info.block && es_element_register_reader(element, place->given) == 0;
}

static void unregister_reader(struct es_scope *scope, size_t index)
{
    struct esi_place *place = &scope->places.items[index];

    if (place->registered && esi_scope_reads_here(scope, index))
        es_element_unregister_reader(scope->origins.items[index].element);
    place->registered = false;
}

const struct es_host_clock *esi_scope_host_clock(const struct es_scope *scope,
                                                 const char *host)
{
    return scope->config.servers ? esi_servers_clock(scope->config.servers, host)
                                 : NULL;
}

/* What a writer overwrote before we were registered was gone before, not lost. */
static void begin_place(struct es_scope *scope, size_t index, bool at_end)
{
    struct es_origin *origin = &scope->origins.items[index];
    struct esi_place *place = &scope->places.items[index];
    struct es_element_info info;

    es_cursor_init(&place->read, origin->element, at_end);
    place->given = place->read.position;
    if (scope->config.lossless)
        register_reader(scope, index);
    if (place->registered) {
        es_cursor_init(&place->read, origin->element, at_end);
        es_element_view_info(origin->element, &info);
        origin->missed = info.oldest;
    }
    place->given = place->acknowledged = place->read.position;
}

/* What an origin has whose reading place follows. */
static void add_origin(struct es_scope *scope,
                       const struct es_element_info *info,
                       const struct es_origin *whence,
                       const struct esi_catalog_process_at *process)
{
    size_t index = scope->origins.count++;
    struct es_origin *origin = &scope->origins.items[index];

    *origin = *whence;
    origin->name = info->name;
    origin->collector = info->collector;
    origin->host = info->host;
    origin->rank = info->rank;
    origin->thread = info->thread;
    origin->classes = info->classes;
    origin->peer = info->peer;
    origin->communicator = info->communicator;
    origin->missed = info->oldest;
    origin->host_clock = esi_scope_host_clock(scope, info->host);
    scope->processes[index] = process;
    scope->places.items[scope->places.count++] = (struct esi_place){0};
}

static void add_local_origin(struct es_scope *scope,
                             struct es_element_view *element,
                             const struct es_element_info *info,
                             bool at_end)
{
    const struct es_segment_view *segment = es_element_view_segment(element);
    struct es_segment_info process;

    es_segment_view_info(segment, &process);
    add_origin(scope, info,
               &(struct es_origin){.pid = process.pid,
                                   .clock = es_segment_view_clock(segment),
                                   .element = element},
               NULL);
    begin_place(scope, scope->origins.count - 1, at_end);
}

void esi_scope_unregister(struct es_scope *scope)
{
    for (size_t i = 0; i < scope->places.count; i++)
        unregister_reader(scope, i);
}

void esi_scope_drop_origins(struct es_scope *scope, size_t first)
{
    for (size_t i = first; i < scope->places.count; i++)
        unregister_reader(scope, i);
    scope->origins.count = first;
    scope->places.count = first;
}

void esi_scope_update_registration(struct es_scope *scope)
{
    for (size_t i = 0; i < scope->places.count; i++) {
        if (scope->places.items[i].registered && !scope->config.lossless)
            unregister_reader(scope, i);
        else if (!scope->places.items[i].registered && scope->config.lossless)
            register_reader(scope, i);
    }
}

/* An element of another host, as its tuple server has told. */
static void add_remote_origin(struct es_scope *scope,
                              const struct esi_catalog_element_at *element,
                              bool at_end)
{
    const struct esi_catalog_process_at *process = element->process;
    size_t index = scope->origins.count;
    struct esi_place *place = &scope->places.items[index];

    add_origin(scope, &element->info,
               &(struct es_origin){.pid = process->info.pid, .clock = &process->clock},
               process);
    place->read.position = at_end ? ES_POSITION_END : element->info.oldest;
    place->given = place->acknowledged = place->read.position;
    if (scope->config.lossless)
        register_reader(scope, index);
}

/* Elements of consumers' own data hold other things than trace tuples. */
static bool holds_trace(const struct es_element_info *info)
{
    return !info->shared && info->tuple_bytes == sizeof(struct es_tuple);
}

/* Hosts that share this one's memory have elements that are seen here, too: where a
 * tuple server tells of them, they are its. */
static bool is_told_elsewhere(const struct es_scope *scope,
                              const struct es_element_info *info)
{
    char address[ES_ADDRESS_BYTES];

    return scope->config.servers && strcmp(info->host, scope->here) != 0 &&
           esi_servers_address(scope->config.servers, info->host, address,
                               sizeof address) == 0;
}

/* The elements that are known already, by their address.  -ENOMEM. */
static int list_known(const struct es_scope *scope, struct esi_hash *known)
{
    size_t count = scope->origins.count;

    if (esi_hash_reserve(known, count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        esi_hash_insert(known, esi_hash_u64((uintptr_t)scope->origins.items[i].element),
                        i);
    return 0;
}

static bool is_known(const struct es_scope *scope,
                     const struct esi_hash *known,
                     const struct es_element_view *element)
{
    ESI_HASH_FOREACH(slot, known, esi_hash_u64((uintptr_t)element))
        if (scope->origins.items[esi_hash_index(known, slot)].element == element)
            return true;
    return false;
}

static int find_local(struct es_scope *scope, bool at_end)
{
    struct esi_hash known = {0};
    struct es_element_view **elements;
    int count = es_run_select(scope->run, &scope->config.view.selection, &elements);
    int result;

    if (count < 0)
        return count;
    result = list_known(scope, &known);
    if (result == 0)
        result = scope_origins_reserve(scope, (size_t)count);
    for (int i = 0; i < count && result == 0; i++) {
        struct es_element_info info;

        es_element_view_info(elements[i], &info);
        if (holds_trace(&info) && !is_told_elsewhere(scope, &info) &&
            !is_known(scope, &known, elements[i]))
            add_local_origin(scope, elements[i], &info, at_end);
    }
    free(elements);
    esi_hash_fini(&known);
    return result;
}

/* A process that calls its host by a name of which there is no server can be read on
 * its machine only. */
static bool can_be_read(const struct es_scope *scope,
                        const struct es_element_info *info)
{
    char address[ES_ADDRESS_BYTES];

    return esi_servers_address(scope->config.servers, info->host, address,
                               sizeof address) != -ENOENT;
}

static bool is_wanted(const struct es_scope *scope,
                      const struct esi_catalog_element_at *element)
{
    if (scope->choose)
        return scope->choose(scope->choose_data, element);
    return es_selection_has_info(&scope->config.view.selection, &element->info);
}

/* What is new in the catalog is at its end. */
static int find_remote(struct es_scope *scope, bool at_end)
{
    size_t count = esi_catalog_element_count(scope->catalog);
    int result = scope_origins_reserve(scope, count - scope->catalogued);

    for (; result == 0 && scope->catalogued < count; scope->catalogued++) {
        const struct esi_catalog_element_at *element =
            esi_catalog_element_at(scope->catalog, scope->catalogued);

        if (holds_trace(&element->info) && can_be_read(scope, &element->info) &&
            is_wanted(scope, element))
            add_remote_origin(scope, element, at_end);
    }
    return result;
}

int esi_scope_find_origins(struct es_scope *scope, bool joining)
{
    /* Who joins later has begun later: all it has is new. */
    bool at_end = scope->config.take == ES_TAKE_NEW && !joining;
    size_t known_count = scope->origins.count;
    int result = scope->choose ? 0 : find_local(scope, at_end);

    if (result == 0 && scope->catalog)
        result = find_remote(scope, at_end);
    if (result == 0)
        result = esi_scope_show_global(scope);
    return result < 0 ? result : (int)(scope->origins.count - known_count);
}

/* --- Where the consumer stands ------------------------------------------------- */

const char *esi_scope_here(const struct es_scope *scope)
{
    if (!scope->config.servers)
        return NULL;
    return scope->config.tree.through_server ? "" : scope->here;
}

/* As the servers call it, so that their hosts and ours can be compared. */
static void find_here(struct es_scope *scope)
{
    struct es_server_info info;

    esi_host_name(scope->here);
    for (size_t i = 0; es_servers_at(scope->config.servers, i, &info) == 0; i++)
        if (info.here)
            snprintf(scope->here, sizeof scope->here, "%s", info.host);
}

int esi_scope_find_servers(struct es_scope *scope)
{
    int result;

    if (!scope->config.servers)
        return 0;
    result = esi_catalog_create(scope->config.servers, &scope->catalog);
    if (result == 0)
        result = esi_catalog_refresh(scope->catalog, scope->config.tree.limit_ns);
    if (result < 0)
        return result;
    find_here(scope);
    return 0;
}

size_t es_scope_origin_count(const struct es_scope *scope)
{
    return scope->origins.count;
}

const struct es_origin *es_scope_origin(const struct es_scope *scope, uint32_t index)
{
    if (index >= scope->origins.count)
        return NULL;
    return scope->global ? &scope->global[index] : &scope->origins.items[index];
}

/* --- Global times --------------------------------------------------------------- */

int esi_scope_show_global(struct es_scope *scope)
{
    /* Ticks are nanoseconds since 1970. */
    static const struct es_clock identity = {.kind = ES_CLOCK_MONOTONIC,
                                             .frequency_hz = UINT64_C(1000000000)};
    size_t count = scope->origins.count;
    struct es_origin *global;

    if (!scope->config.global_time)
        return 0;
    global = reallocarray(scope->global, count + 1, sizeof *global);
    if (!global)
        return -ENOMEM;
    scope->global = global;
    for (size_t i = 0; i < count; i++) {
        global[i] = scope->origins.items[i];
        global[i].clock = &identity;
        global[i].host_clock = NULL;
    }
    return 0;
}

void esi_scope_make_global(struct es_scope *scope, size_t first)
{
    struct es_batch *batch = &scope->batch;

    for (size_t i = first; i < batch->count; i++) {
        struct es_tuple *tuple = &batch->tuples[i];
        const struct es_origin *origin = &scope->origins.items[batch->marks[i].origin];

        if (es_mark_is_summary(&batch->marks[i]))
            continue;
        tuple->start = es_origin_run_ns(origin, tuple->start, NULL);
        if (tuple->stop)
            tuple->stop = es_origin_run_ns(origin, tuple->stop, NULL);
    }
}

uint64_t es_scope_run_now_ns(const struct es_scope *scope)
{
    return scope->config.servers ? es_servers_run_now_ns(scope->config.servers)
                                 : esi_now_ns(CLOCK_REALTIME);
}

uint64_t es_scope_run_ns(const struct es_scope *scope,
                         const char *host,
                         const struct es_clock *clock,
                         uint64_t ticks)
{
    const struct es_origin origin = {.clock = clock,
                                     .host_clock = esi_scope_host_clock(scope, host)};

    return es_origin_run_ns(&origin, ticks, NULL);
}

/* --- Processes and communicators ------------------------------------------------- */

/* NULL when the origin is not mapped here. */
static const struct es_segment_view *segment_of(const struct es_scope *scope,
                                                uint32_t index)
{
    const struct es_origin *origin = es_scope_origin(scope, index);

    return origin && origin->element ? es_element_view_segment(origin->element) : NULL;
}

/* NULL when the origin is mapped here, or not known. */
static const struct esi_catalog_process_at *process_of(const struct es_scope *scope,
                                                       uint32_t index)
{
    return index < scope->origins.count ? scope->processes[index] : NULL;
}

int es_scope_process(const struct es_scope *scope,
                     uint32_t origin,
                     struct es_segment_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process_at *process = process_of(scope, origin);

    if (segment)
        es_segment_view_info(segment, ret_info);
    else if (process)
        *ret_info = process->info;
    else
        return -ENOENT;
    return 0;
}

int es_scope_communicator(const struct es_scope *scope,
                          uint32_t origin,
                          uint16_t communicator,
                          struct es_communicator_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process_at *process = process_of(scope, origin);

    if (segment)
        return es_segment_view_communicator(segment, communicator, ret_info);
    return process ? esi_catalog_communicator_find(scope->catalog, process,
                                                   communicator, ret_info)
                   : -ENOENT;
}

int es_scope_world_rank(const struct es_scope *scope,
                        uint32_t origin,
                        uint16_t communicator,
                        bool remote,
                        int rank)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process_at *process = process_of(scope, origin);
    int result = -ENOENT;

    if (process)
        return esi_catalog_world_rank(scope->catalog, scope->run, process, communicator,
                                      remote, rank);
    if (segment)
        result = es_run_world_rank(scope->run, segment, communicator, remote, rank);
    if (result == -ENOENT && segment && scope->catalog)
        result = esi_catalog_world_rank_of(scope->catalog, segment, communicator,
                                           remote, rank);
    return result;
}

int es_scope_peer(const struct es_scope *scope,
                  uint32_t origin,
                  const struct es_tuple *tuple)
{
    struct es_communicator_info info;

    if (tuple->peer < 0)
        return tuple->peer == ES_PEER_ANY ? ES_PEER_ANY : ES_PEER_NONE;
    if (es_scope_communicator(scope, origin, tuple->communicator, &info) < 0)
        return -ENOENT;
    return es_scope_world_rank(scope, origin, tuple->communicator, info.remote_size > 0,
                               tuple->peer);
}

const char *esi_scope_communicator_name(void *data,
                                        uint32_t origin,
                                        uint16_t communicator)
{
    struct es_scope *scope = data;
    struct es_communicator_info info;

    if (es_scope_communicator(scope, origin, communicator, &info) < 0)
        return "";
    memcpy(scope->communicator, info.name, sizeof scope->communicator);
    scope->communicator[sizeof scope->communicator - 1] = '\0';
    return scope->communicator;
}

static int note_segment(const struct esi_segment_name *name,
                        const struct stat *status,
                        void *context)
{
    bool *found = context;

    (void)status;
    /* What this consumer records of itself is not the run. */
    if (name->rank == -1 && name->pid == (int)getpid())
        return 0;
    *found = true;
    return 1;
}

/* Whether a tuple server may still have something. */
static bool has_server(const struct es_scope *scope)
{
    struct es_server_info info;

    if (!scope->config.servers || esi_catalog_is_over(scope->catalog))
        return false;
    for (size_t i = 0; es_servers_at(scope->config.servers, i, &info) == 0; i++)
        if (info.state != ES_SERVER_ENDED && !info.here)
            return true;
    return false;
}

bool es_scope_has_vanished(const struct es_scope *scope)
{
    bool found = false;
    int result =
        esi_segment_name_foreach(es_run_name(scope->run), note_segment, &found);

    return result >= 0 && !found && !has_server(scope);
}
