/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_origins.c - finds the elements of a scope: in the segments mapped here, and in
 * the catalog of the other hosts; and provides the facts about the origin of a tuple:
 * its process, its communicators, its peer. */
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
#include "scopes/ledger_json.h"
#include "scopes/profile_json.h"
#include "scopes/scope_ledger.h"
#include "scopes/scope_profile.h"
#include "scopes/scope_started.h"
#include "scopes/scope_private.h"
#include "tuplespace/ledger.h"
#include "tuplespace/profile.h"
#include "tuplespace/segment_name.h"

/* Reserves `extra` origins and places. */
static int scope_origins_reserve(struct esi_scope_origins *from, size_t extra)
{
    size_t count = from->origins.count + extra + 1;
    size_t origins = from->capacity, places = from->capacity;
    size_t processes = from->capacity;

    if (ESI_ARRAY_RESERVE(from->origins.items, origins, count) < 0 ||
        ESI_ARRAY_RESERVE(from->places.items, places, count) < 0 ||
        ESI_ARRAY_RESERVE(from->processes, processes, count) < 0)
        return -ENOMEM;
    from->capacity = processes;
    return 0;
}

bool esi_origins_read_here(const struct esi_scope_origins *from, size_t index)
{
    bool away = from->config->servers && from->config->tree.through_server;

    return from->origins.items[index].element && !away;
}

/* If another live process is registered as the reader, it stays, and this scope may
 * lose tuples.  For elements read by a tuple server, the server registers. */
static void register_reader(struct esi_scope_origins *from, size_t index)
{
    const struct es_element_view *element = from->origins.items[index].element;
    struct esi_read_state *place = &from->places.items[index];
    struct es_element_info info;

    place->registered = true;
    if (!esi_origins_read_here(from, index))
        return;
    es_element_view_info(element, &info);
    place->registered =
        info.block && es_element_register_reader(element, place->delivered) == 0;
}

static void unregister_reader(struct esi_scope_origins *from, size_t index)
{
    struct esi_read_state *place = &from->places.items[index];

    if (place->registered && esi_origins_read_here(from, index))
        es_element_unregister_reader(from->origins.items[index].element);
    place->registered = false;
}

static const struct es_host_clock *host_clock_of(const struct esi_scope_origins *from,
                                                 const char *host)
{
    return from->config->servers ? esi_servers_clock(from->config->servers, host)
                                 : NULL;
}

/* Tuples overwritten before the registration do not count as lost. */
static void begin_place(struct esi_scope_origins *from, size_t index, bool at_end)
{
    struct es_origin *origin = &from->origins.items[index];
    struct esi_read_state *place = &from->places.items[index];
    struct es_element_info info;

    es_cursor_init(&place->read, origin->element, at_end);
    place->delivered = place->read.position;
    if (from->config->lossless)
        register_reader(from, index);
    if (place->registered) {
        es_cursor_init(&place->read, origin->element, at_end);
        es_element_view_info(origin->element, &info);
        origin->missed = info.oldest;
    }
    place->delivered = place->acknowledged = place->read.position;
}

/* Initializes the members of an origin; its place follows. */
static void add_origin(struct esi_scope_origins *from,
                       const struct es_element_info *info,
                       const struct es_origin *whence,
                       const struct esi_catalog_process *process)
{
    size_t index = from->origins.count++;
    struct es_origin *origin = &from->origins.items[index];

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
    origin->host_clock = host_clock_of(from, info->host);
    from->processes[index] = process;
    from->places.items[from->places.count++] = (struct esi_read_state){0};
}

static void add_local_origin(struct esi_scope_origins *from,
                             struct es_element_view *element,
                             const struct es_element_info *info,
                             bool at_end)
{
    const struct es_segment_view *segment = es_element_view_segment(element);
    struct es_segment_info process;

    es_segment_view_info(segment, &process);
    add_origin(from, info,
               &(struct es_origin){.pid = process.pid,
                                   .clock = es_segment_view_clock(segment),
                                   .element = element},
               NULL);
    begin_place(from, from->origins.count - 1, at_end);
}

void esi_origins_unregister(struct esi_scope_origins *from)
{
    for (size_t i = 0; i < from->places.count; i++)
        unregister_reader(from, i);
}

void esi_origins_drop(struct esi_scope_origins *from, size_t count, size_t catalogued)
{
    for (size_t i = count; i < from->places.count; i++)
        unregister_reader(from, i);
    from->origins.count = count;
    from->places.count = count;
    from->catalogued = catalogued;
}

void esi_origins_update_registration(struct esi_scope_origins *from)
{
    for (size_t i = 0; i < from->places.count; i++) {
        if (from->places.items[i].registered && !from->config->lossless)
            unregister_reader(from, i);
        else if (!from->places.items[i].registered && from->config->lossless)
            register_reader(from, i);
    }
}

/* Adds an element of another host, as reported by its tuple server. */
static void add_remote_origin(struct esi_scope_origins *from,
                              const struct esi_catalog_element *element,
                              bool at_end)
{
    const struct esi_catalog_process *process = element->process;
    size_t index = from->origins.count;
    struct esi_read_state *place = &from->places.items[index];

    add_origin(from, &element->info,
               &(struct es_origin){.pid = process->info.pid, .clock = &process->clock},
               process);
    place->read.position = at_end ? ES_POSITION_END : element->info.oldest;
    place->delivered = place->acknowledged = place->read.position;
    if (from->config->lossless)
        register_reader(from, index);
}

/* Elements with data of consumers contain no trace tuples. */
static bool holds_trace(const struct es_element_info *info)
{
    return !info->shared && info->tuple_bytes == sizeof(struct es_tuple);
}

/* Elements of hosts that share this host's memory are visible here, too.  If a tuple
 * server reports them, they are read there. */
static bool is_reported_elsewhere(const struct esi_scope_origins *from,
                                  const struct es_element_info *info)
{
    char address[ES_ADDRESS_BYTES];

    return from->config->servers && strcmp(info->host, from->here) != 0 &&
           esi_servers_address(from->config->servers, info->host, address,
                               sizeof address) == 0;
}

/* Lists the known elements by address.  Returns 0 or -ENOMEM. */
static int list_known(const struct esi_scope_origins *from, struct esi_hash *known)
{
    size_t count = from->origins.count;

    if (esi_hash_reserve(known, count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        esi_hash_insert(known, esi_hash_u64((uintptr_t)from->origins.items[i].element),
                        i);
    return 0;
}

static bool is_known(const struct esi_scope_origins *from,
                     const struct esi_hash *known,
                     const struct es_element_view *element)
{
    ESI_HASH_FOREACH(slot, known, esi_hash_u64((uintptr_t)element))
        if (from->origins.items[esi_hash_index(known, slot)].element == element)
            return true;
    return false;
}

static int find_local(struct esi_scope_origins *from, bool at_end)
{
    struct esi_hash known = {0};
    struct es_element_view **elements;
    int count = es_run_select(from->run, &from->config->view.selection, &elements);
    int result;

    if (count < 0)
        return count;
    result = list_known(from, &known);
    if (result == 0)
        result = scope_origins_reserve(from, (size_t)count);
    for (int i = 0; i < count && result == 0; i++) {
        struct es_element_info info;

        es_element_view_info(elements[i], &info);
        if (holds_trace(&info) && !is_reported_elsewhere(from, &info) &&
            !is_known(from, &known, elements[i]))
            add_local_origin(from, elements[i], &info, at_end);
    }
    free(elements);
    esi_hash_fini(&known);
    return result;
}

/* A process whose name for its host matches no server can only be read on its
 * machine. */
static bool can_be_read(const struct esi_scope_origins *from,
                        const struct es_element_info *info)
{
    char address[ES_ADDRESS_BYTES];

    return esi_servers_address(from->config->servers, info->host, address,
                               sizeof address) != -ENOENT;
}

static bool is_wanted(const struct esi_scope_origins *from,
                      const struct esi_catalog_element *element)
{
    if (from->choose)
        return from->choose(from->choose_data, element);
    return es_selection_has_info(&from->config->view.selection, &element->info);
}

/* New elements are at the end of the catalog. */
static int find_remote(struct esi_scope_origins *from, bool at_end)
{
    size_t count = esi_catalog_element_count(from->catalog);
    int result = scope_origins_reserve(from, count - from->catalogued);

    for (; result == 0 && from->catalogued < count; from->catalogued++) {
        const struct esi_catalog_element *element =
            esi_catalog_element_at(from->catalog, from->catalogued);

        if (holds_trace(&element->info) && can_be_read(from, &element->info) &&
            is_wanted(from, element))
            add_remote_origin(from, element, at_end);
    }
    return result;
}

/* --- Global times --------------------------------------------------------------- */

static int show_global(struct esi_scope_origins *from)
{
    /* Ticks are nanoseconds since 1970. */
    static const struct es_clock identity = {.kind = ES_CLOCK_MONOTONIC,
                                             .frequency_hz = UINT64_C(1000000000)};
    size_t count = from->origins.count;
    struct es_origin *global;

    if (!from->config->global_time)
        return 0;
    global = reallocarray(from->global, count + 1, sizeof *global);
    if (!global)
        return -ENOMEM;
    from->global = global;
    for (size_t i = 0; i < count; i++) {
        global[i] = from->origins.items[i];
        global[i].clock = &identity;
        global[i].host_clock = NULL;
    }
    return 0;
}

void esi_origins_make_global(const struct esi_scope_origins *from,
                             struct es_batch *batch,
                             size_t first)
{
    for (size_t i = first; i < batch->count; i++) {
        struct es_tuple *tuple = &batch->tuples[i];
        const struct es_origin *origin = &from->origins.items[batch->marks[i].origin];

        if (es_mark_is_summary(&batch->marks[i]))
            continue;
        tuple->start = es_origin_run_ns(origin, tuple->start, NULL);
        if (tuple->stop)
            tuple->stop = es_origin_run_ns(origin, tuple->stop, NULL);
    }
}

int esi_origins_find(struct esi_scope_origins *from, bool joining)
{
    /* An element that joins later has started later: all its tuples are new. */
    bool at_end = from->config->take == ES_TAKE_NEW && !joining;
    size_t known_count = from->origins.count;
    int result = from->choose ? 0 : find_local(from, at_end);

    if (result == 0 && from->catalog)
        result = find_remote(from, at_end);
    if (result == 0)
        result = show_global(from);
    return result < 0 ? result : (int)(from->origins.count - known_count);
}

/* --- Where the consumer stands ------------------------------------------------- */

const char *esi_origins_consumer_host(const struct esi_scope_origins *from)
{
    if (!from->config->servers)
        return NULL;
    return from->config->tree.through_server ? "" : from->here;
}

/* Uses the servers' name for this host, so that it can be compared with theirs. */
static void find_here(struct esi_scope_origins *from)
{
    struct es_server_info info;

    esi_host_name(from->here);
    for (size_t i = 0; es_servers_at(from->config->servers, i, &info) == 0; i++)
        if (info.here)
            snprintf(from->here, sizeof from->here, "%s", info.host);
}

int esi_origins_find_servers(struct esi_scope_origins *from)
{
    int result;

    if (!from->config->servers)
        return 0;
    result = esi_catalog_create(from->config->servers, &from->catalog);
    if (result == 0)
        result = esi_catalog_refresh(from->catalog, from->config->tree.limit_ns);
    if (result < 0)
        return result;
    find_here(from);
    return 0;
}

void esi_origins_fini(struct esi_scope_origins *from)
{
    esi_catalog_destroy(from->catalog);
    free(from->origins.items);
    free(from->places.items);
    free(from->processes);
    free(from->global);
}

/* --- What consumers ask ---------------------------------------------------------- */

size_t es_scope_origin_count(const struct es_scope *scope)
{
    return scope->from.origins.count;
}

const struct es_origin *es_scope_origin(const struct es_scope *scope, uint32_t index)
{
    if (index >= scope->from.origins.count)
        return NULL;
    return scope->from.global ? &scope->from.global[index]
                              : &scope->from.origins.items[index];
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
                                     .host_clock = host_clock_of(&scope->from, host)};

    return es_origin_run_ns(&origin, ticks, NULL);
}

/* --- Processes and communicators ------------------------------------------------- */

/* Returns NULL if the origin is not mapped here. */
static const struct es_segment_view *segment_of(const struct es_scope *scope,
                                                uint32_t index)
{
    const struct es_origin *origin = es_scope_origin(scope, index);

    return origin && origin->element ? es_element_view_segment(origin->element) : NULL;
}

/* Returns NULL if the origin is mapped here, or not known. */
static const struct esi_catalog_process *process_of(const struct es_scope *scope,
                                                    uint32_t index)
{
    return index < scope->from.origins.count ? scope->from.processes[index] : NULL;
}

int es_scope_process(const struct es_scope *scope,
                     uint32_t origin,
                     struct es_segment_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);

    if (segment)
        es_segment_view_info(segment, ret_info);
    else if (process)
        *ret_info = process->info;
    else
        return -ENOENT;
    return 0;
}

int es_scope_modules(const struct es_scope *scope,
                     uint32_t origin,
                     struct es_module **ret_modules)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);

    if (segment)
        return es_segment_view_modules(segment, ret_modules);
    return process ? esi_catalog_modules(scope->from.catalog, process, ret_modules)
                   : -ENOENT;
}

int es_scope_communicator(const struct es_scope *scope,
                          uint32_t origin,
                          uint16_t communicator,
                          struct es_communicator_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);

    if (segment)
        return es_segment_view_communicator(segment, communicator, ret_info);
    return process ? esi_catalog_communicator_find(scope->from.catalog, process,
                                                   communicator, ret_info)
                   : -ENOENT;
}

bool esi_scope_has_left_init(const struct es_scope *scope)
{
    size_t count = es_scope_origin_count(scope);
    struct es_communicator_info info;

    for (uint32_t i = 0; i < count; i++)
        if (es_scope_communicator(scope, i, 0, &info) == 0)
            return true;
    return false;
}

int esi_scope_read_ledger(const struct es_scope *scope,
                          uint32_t origin,
                          struct esi_ledger *ret_ledger)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);
    struct es_message *reply;
    int result;

    if (segment || !process)
        return segment ? esi_ledger_read(segment, ret_ledger) : -ENOENT;
    result = esi_catalog_ask(scope->from.catalog, process, "ledger", &reply);
    if (result < 0)
        return result;
    result = esi_ledger_json_read(esi_message_root(reply), NULL, ret_ledger);
    esi_message_destroy(reply);
    return result == -EINVAL ? -EPROTO : result;
}

int esi_scope_read_profile(const struct es_scope *scope,
                           uint32_t origin,
                           struct esi_profile *ret_profile)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);
    struct es_message *reply;
    int result;

    if (segment || !process)
        return segment ? esi_profile_read(segment, ret_profile) : -ENOENT;
    result = esi_catalog_ask(scope->from.catalog, process, "profile", &reply);
    if (result < 0)
        return result;
    result = esi_profile_json_read(esi_message_root(reply), NULL, ret_profile);
    esi_message_destroy(reply);
    return result == -EINVAL ? -EPROTO : result;
}

int es_scope_world_rank(const struct es_scope *scope,
                        uint32_t origin,
                        uint16_t communicator,
                        bool remote,
                        int rank)
{
    const struct es_segment_view *segment = segment_of(scope, origin);
    const struct esi_catalog_process *process = process_of(scope, origin);
    int result = -ENOENT;

    if (process)
        return esi_catalog_world_rank(scope->from.catalog, scope->from.run, process,
                                      communicator, remote, rank);
    if (segment)
        result =
            es_run_world_rank(scope->from.run, segment, communicator, remote, rank);
    if (result == -ENOENT && segment && scope->from.catalog)
        result = esi_catalog_world_rank_of(scope->from.catalog, segment, communicator,
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
    memcpy(scope->from.communicator, info.name, sizeof scope->from.communicator);
    scope->from.communicator[sizeof scope->from.communicator - 1] = '\0';
    return scope->from.communicator;
}

static int note_segment(const struct esi_segment_name *name,
                        const struct stat *status,
                        void *context)
{
    bool *found = context;

    (void)status;
    /* Tuples that this consumer records about itself are not part of the run. */
    if (name->rank == -1 && name->pid == (int)getpid())
        return 0;
    *found = true;
    return 1;
}

/* Returns true if a tuple server may still have tuples. */
static bool has_server(const struct es_scope *scope)
{
    struct es_server_info info;

    if (!scope->config.servers || esi_catalog_is_over(scope->from.catalog))
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
        esi_segment_name_foreach(es_run_name(scope->from.run), note_segment, &found);

    return result >= 0 && !found && !has_server(scope);
}
