/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_origins.c - the elements of a scope, and what is known of them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/scope_private.h"
#include "tuplespace/segment_name.h"

static int compare_pointers(const void *a, const void *b)
{
    const void *first = *(void *const *)a;
    const void *second = *(void *const *)b;

    return ((uintptr_t)first > (uintptr_t)second) -
           ((uintptr_t)first < (uintptr_t)second);
}

/* The elements that are known already, in order of their address.  Caller frees. */
static const void **known_elements(const struct es_scope *scope)
{
    size_t count = scope->origins.count;
    const void **known = calloc(count + 1, sizeof *known);

    if (!known)
        return NULL;
    for (size_t i = 0; i < count; i++)
        known[i] = scope->origins.items[i].element;
    qsort(known, count, sizeof *known, compare_pointers);
    return known;
}

/* Makes room for `extra` origins and places. */
static int reserve(struct es_scope *scope, size_t extra)
{
    size_t count = scope->origins.count + extra;
    struct es_origin *origins =
        realloc(scope->origins.items, (count + 1) * sizeof *origins);
    struct es_place *places;

    if (!origins)
        return -ENOMEM;
    scope->origins.items = origins;
    places = realloc(scope->places.items, (count + 1) * sizeof *places);
    if (!places)
        return -ENOMEM;
    scope->places.items = places;
    return 0;
}

/* Another reader that lives keeps its right: this one may then lose tuples. */
static void register_reader(struct es_place *place,
                            const struct es_element_view *element)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    if (info.block)
        place->registered =
            es_element_register_reader(element, place->taken.position) == 0;
}

static void add_origin(struct es_scope *scope,
                       struct es_element_view *element,
                       bool at_end)
{
    const struct es_segment_view *segment = es_element_view_segment(element);
    struct es_place *place = &scope->places.items[scope->places.count++];
    struct es_segment_info process;
    struct es_element_info info;

    es_element_view_info(element, &info);
    es_segment_view_info(segment, &process);
    scope->origins.items[scope->origins.count++] = (struct es_origin){
        .name = info.name,
        .collector = info.collector,
        .host = info.host,
        .pid = process.pid,
        .rank = info.rank,
        .thread = info.thread,
        .classes = info.classes,
        .peer = info.peer,
        .communicator = info.communicator,
        .missed = info.oldest,
        .clock = es_segment_view_clock(segment),
        .element = element,
    };
    *place = (struct es_place){0};
    es_cursor_init(&place->taken, element, at_end);
    place->given = place->taken;
    if (scope->config.lossless)
        register_reader(place, element);
}

void esi_scope_unregister(struct es_scope *scope)
{
    for (size_t i = 0; i < scope->places.count; i++)
        if (scope->places.items[i].registered)
            es_element_unregister_reader(scope->origins.items[i].element);
}

void esi_scope_update_registration(struct es_scope *scope)
{
    for (size_t i = 0; i < scope->places.count; i++) {
        const struct es_element_view *element = scope->origins.items[i].element;
        struct es_place *place = &scope->places.items[i];

        if (!element || place->registered == scope->config.lossless)
            continue;
        if (scope->config.lossless) {
            register_reader(place, element);
        } else {
            es_element_unregister_reader(element);
            place->registered = false;
        }
    }
}

/* Elements of consumers' own data hold other things than trace tuples. */
static bool holds_trace(const struct es_element_view *element)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    return !info.shared && info.tuple_bytes == sizeof(struct es_tuple);
}

int esi_scope_find_origins(struct es_scope *scope, bool joining)
{
    /* Who joins later has begun later: all it has is new. */
    bool at_end = scope->config.take == ES_TAKE_NEW && !joining;
    size_t known_count = scope->origins.count;
    const void **known = known_elements(scope);
    struct es_element_view **elements;
    int result;

    if (!known)
        return -ENOMEM;
    result = es_run_select(scope->run, &scope->config.view.selection, &elements);
    if (result < 0) {
        free(known);
        return result;
    }
    if (reserve(scope, (size_t)result) < 0) {
        free(elements);
        free(known);
        return -ENOMEM;
    }
    for (int i = 0; i < result; i++)
        if (holds_trace(elements[i]) &&
            !bsearch(&elements[i], known, known_count, sizeof *known, compare_pointers))
            add_origin(scope, elements[i], at_end);
    free(elements);
    free(known);
    return (int)(scope->origins.count - known_count);
}

const char *esi_scope_here(const struct es_scope *scope)
{
    (void)scope;
    return NULL;
}

size_t es_scope_origin_count(const struct es_scope *scope)
{
    return scope->origins.count;
}

const struct es_origin *es_scope_origin(const struct es_scope *scope, uint32_t index)
{
    return index < scope->origins.count ? &scope->origins.items[index] : NULL;
}

/* NULL when the origin is not on this host. */
static const struct es_segment_view *segment_of(const struct es_scope *scope,
                                                uint32_t index)
{
    const struct es_origin *origin = es_scope_origin(scope, index);

    return origin && origin->element ? es_element_view_segment(origin->element) : NULL;
}

int es_scope_process(const struct es_scope *scope,
                     uint32_t origin,
                     struct es_segment_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);

    if (!segment)
        return -ENOENT;
    es_segment_view_info(segment, ret_info);
    return 0;
}

int es_scope_communicator(const struct es_scope *scope,
                          uint32_t origin,
                          uint16_t communicator,
                          struct es_communicator_info *ret_info)
{
    const struct es_segment_view *segment = segment_of(scope, origin);

    return segment ? es_segment_view_communicator(segment, communicator, ret_info)
                   : -ENOENT;
}

int es_scope_world_rank(const struct es_scope *scope,
                        uint32_t origin,
                        uint16_t communicator,
                        bool remote,
                        int rank)
{
    const struct es_segment_view *segment = segment_of(scope, origin);

    return segment ? es_run_world_rank(scope->run, segment, communicator, remote, rank)
                   : -ENOENT;
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

static int note_segment(const struct es_segment_name *name,
                        uint64_t inode,
                        void *context)
{
    bool *found = context;

    (void)name;
    (void)inode;
    *found = true;
    return 1;
}

bool es_scope_has_vanished(const struct es_scope *scope)
{
    bool found = false;
    int result = es_segment_name_foreach(es_run_name(scope->run), note_segment, &found);

    return result >= 0 && !found;
}
