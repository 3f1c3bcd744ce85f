/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_instances.c - collective operations of the diagram. */
#include "config.h"

#include "monitors/diagram/diagram_instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/diagram/diagram_private.h"

/* --- Storage ---------------------------------------------------------------------- */

/* The row of a member of the instance that is judged. */
static uint32_t row_of(const struct esi_diagram *diagram, int member)
{
    return diagram->rows[diagram->instances.judged->parts[member].thread->number];
}

static struct esi_diagram_arrival arrival_of(const struct esi_diagram *diagram,
                                             const struct esi_collective_instance *from,
                                             int member)
{
    struct esi_diagram_arrival arrival = {.row = row_of(diagram, member),
                                          .ns = from->arrivals[member].enter_ns};
    const struct esi_diagram_thread *thread = diagram->threads[arrival.row];
    uint32_t index = esi_diagram_lower_bound(thread, ESI_DIAGRAM_TIME, arrival.ns);
    const struct esi_diagram_moment *moment;

    while ((moment = esi_diagram_moment_at(thread, index)) &&
           moment->ns == arrival.ns && moment->role != ESI_ROLE_ENTER)
        index++;
    if (moment && moment->ns == arrival.ns) {
        arrival.event = index;
        arrival.level = moment->level;
    }
    return arrival;
}

/* The rank of the member that waited longest. */
static int longest_of(const struct esi_collective_instance *from)
{
    int longest = from->order[0];

    for (int i = 1; i < from->known; i++)
        if (from->arrivals[from->order[i]].wait_ns > from->arrivals[longest].wait_ns)
            longest = from->order[i];
    return longest;
}

static struct esi_diagram_instance *place_next(struct esi_diagram_instances *instances)
{
    size_t place = instances->count & (ESI_DIAGRAM_INSTANCES - 1);

    if (instances->count < ESI_DIAGRAM_INSTANCES &&
        ESI_ARRAY_RESERVE(instances->items, instances->capacity, place + 1) < 0)
        return NULL;
    instances->count++;
    return &instances->items[place];
}

static void on_instance(void *data, const struct esi_collective_instance *from)
{
    struct esi_diagram *diagram = data;
    struct esi_diagram_instance *instance = place_next(&diagram->instances);
    const char *line = from->arrivals[from->last].site;
    uint32_t communicator, site;

    line = line ? line : "";
    if (!instance ||
        esi_texts_add(&diagram->texts, from->communicator, strlen(from->communicator),
                      &communicator) < 0 ||
        esi_texts_add(&diagram->texts, line, strlen(line), &site) < 0) {
        diagram->instances.result = -ENOMEM;
        return;
    }
    *instance = (struct esi_diagram_instance){
        .operation = es_operation_find(from->operation),
        .communicator = esi_texts_at(&diagram->texts, communicator),
        .site = esi_texts_at(&diagram->texts, site),
        .number = from->instance,
        .size = from->size,
        .known = from->known,
        .late = from->late,
        .first = arrival_of(diagram, from, from->order[0]),
        .last = arrival_of(diagram, from, from->last),
        .longest = arrival_of(diagram, from, longest_of(from)),
        .end_ns = from->last_exit_ns,
        .lead_ns = from->lead_ns,
        .waits_known = from->waits_known,
        .lost_ns = from->lost_ns,
        .culprit = from->culprit < 0 ? -1 : (int64_t)row_of(diagram, from->culprit),
    };
}

int esi_diagram_instances_init(struct esi_diagram *diagram)
{
    const struct esi_collectives_config config = {.on_instance = on_instance,
                                                  .data = diagram};

    return esi_collectives_create(&config, &diagram->instances.analysis);
}

void esi_diagram_instances_fini(struct esi_diagram *diagram)
{
    esi_collectives_destroy(diagram->instances.analysis);
    free(diagram->instances.items);
}

int esi_diagram_take_instance(void *data, const struct esi_causal_instance *instance)
{
    struct esi_diagram *diagram = data;
    int result;

    pthread_mutex_lock(&diagram->lock);
    diagram->instances.judged = instance;
    diagram->instances.result = 0;
    result = esi_collectives_add(diagram->instances.analysis, instance);
    if (result == 0)
        result = diagram->instances.result;
    diagram->extent.changes++;
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

/* --- Windows ---------------------------------------------------------------------- */

static bool is_in_window(const struct esi_diagram_window *window,
                         const struct esi_diagram_instance *instance)
{
    uint64_t begin = instance->first.ns, end = instance->end_ns;

    if (window->axis == ESI_DIAGRAM_LEVEL) {
        if (instance->first.level == 0 || instance->last.level == 0)
            return false;
        begin = instance->first.level;
        end = instance->last.level;
        if (begin > end) {
            begin = end;
            end = instance->first.level;
        }
    }
    return begin < window->to && end >= window->from;
}

int esi_diagram_foreach_instance(
    struct esi_diagram *diagram,
    const struct esi_diagram_window *window,
    int (*visit)(void *data, const struct esi_diagram_instance *instance),
    void *data)
{
    const struct esi_diagram_instances *instances = &diagram->instances;
    uint64_t first;
    int result = 0;

    pthread_mutex_lock(&diagram->lock);
    first = instances->count > ESI_DIAGRAM_INSTANCES
                ? instances->count - ESI_DIAGRAM_INSTANCES
                : 0;
    for (uint64_t i = instances->count; i > first && result == 0; i--) {
        const struct esi_diagram_instance *instance =
            &instances->items[(i - 1) & (ESI_DIAGRAM_INSTANCES - 1)];

        if (is_in_window(window, instance))
            result = visit(data, instance);
    }
    pthread_mutex_unlock(&diagram->lock);
    return result;
}
