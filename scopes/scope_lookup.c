/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_lookup.c - what is known of where a tuple comes from: its process, its
 * communicators, its peer. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "eventspace/summary.h"
#include "scopes/remote/catalog.h"
#include "scopes/scope_private.h"
#include "tuplespace/segment_name.h"

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
