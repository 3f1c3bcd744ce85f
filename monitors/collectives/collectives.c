/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives.c - judges the instances of collective operations. */
#include "config.h"

#include "monitors/collectives/collectives.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/collectives/collective_judge.h"
#include "monitors/collectives/size_class.h"

/* When the members of a communicator left its last complete instance. */
struct departure {
    bool known;      /* that instance was blocking */
    uint32_t number; /* of the instance */
    uint64_t *ns;    /* by rank; NULL = none yet; owned */
};

struct esi_collectives {
    struct esi_collectives_config config;
    struct departure *departures; /* by number of the communicator; owned */
    size_t departure_count, departure_capacity;
    /* The members of the instance that is judged, by rank, and their order. */
    struct esi_collective_arrival *arrivals; /* owned, like the next */
    int *order;
    size_t room;
    const struct es_operation *operation; /* of the last instance; NULL = none yet */
    struct esi_collective_traits traits;  /* of this operation */
    uint64_t repaired, impossible;
};

int esi_collectives_create(const struct esi_collectives_config *config,
                           struct esi_collectives **ret_analysis)
{
    struct esi_collectives *analysis = calloc(1, sizeof *analysis);

    if (!analysis)
        return -ENOMEM;
    analysis->config = *config;
    *ret_analysis = analysis;
    return 0;
}

void esi_collectives_destroy(struct esi_collectives *analysis)
{
    int saved_errno = errno;

    if (!analysis)
        return;
    for (size_t i = 0; i < analysis->departure_count; i++)
        free(analysis->departures[i].ns);
    free(analysis->departures);
    free(analysis->arrivals);
    free(analysis->order);
    free(analysis);
    errno = saved_errno;
}

/* NULL if out of memory. */
static struct departure *departure_of(struct esi_collectives *analysis,
                                      const struct esi_run_communicator *communicator)
{
    struct departure *found;

    if (ESI_ARRAY_RESERVE(analysis->departures, analysis->departure_capacity,
                          (size_t)communicator->number + 1) < 0)
        return NULL;
    while (analysis->departure_count <= communicator->number)
        analysis->departures[analysis->departure_count++] =
            (struct departure){.known = false};
    found = &analysis->departures[communicator->number];
    if (!found->ns)
        found->ns = calloc(communicator->size, sizeof *found->ns);
    return found->ns ? found : NULL;
}

/* Sets the arrivals, and the imbalance of the work: that is the time between two
 * consecutive operations, but nonblocking ones may finish at any time.  Returns whether
 * all have read the same clock. */
static bool take_parts(struct esi_collectives *analysis,
                       const struct esi_causal_instance *told,
                       struct departure *last,
                       struct esi_collective_instance *instance)
{
    uint32_t size = told->communicator->size;
    bool complete = told->known == size, nonblocking = analysis->traits.nonblocking;
    bool works =
        complete && last->known && !nonblocking && told->number == last->number + 1;
    const struct esi_run_process *first = NULL;
    uint64_t sum = 0, slowest = 0;
    bool is_same = true;

    for (uint32_t rank = 0; rank < size; rank++) {
        const struct esi_causal_part *part = &told->parts[rank];
        const struct esi_run_process *process =
            part->thread ? part->thread->process : NULL;
        uint64_t work_ns = works && part->start_ns > last->ns[rank]
                               ? part->start_ns - last->ns[rank]
                               : 0;

        analysis->arrivals[rank] =
            (struct esi_collective_arrival){.known = process,
                                            .world_rank = process ? process->rank : 0,
                                            .enter_ns = part->start_ns,
                                            .exit_ns = part->stop_ns,
                                            .work_ns = work_ns,
                                            .site = part->site};
        first = first ? first : process;
        is_same &= !process || process->clock == first->clock;
        sum += work_ns;
        slowest = work_ns > slowest ? work_ns : slowest;
        if (complete)
            last->ns[rank] = part->stop_ns;
    }
    if (complete)
        *last = (struct departure){!nonblocking, told->number, last->ns};
    if (sum > 0)
        instance->imbalance = (double)slowest * size / (double)sum - 1;
    return is_same;
}

int esi_collectives_add(struct esi_collectives *analysis,
                        const struct esi_causal_instance *told)
{
    const struct esi_run_communicator *communicator = told->communicator;
    uint64_t error_ns = told->errors_ns[0] + told->errors_ns[1];
    struct esi_collective_instance instance = {
        .key = {communicator->key[0], communicator->key[1]},
        .communicator = communicator->name,
        .instance = told->number,
        .tree = told->tree,
        .version = told->version,
        .size = (int)communicator->size,
        .root = told->root,
        .bytes = told->most_bytes,
        .imbalance = -1,
        .error_ns = error_ns < told->errors_ns[0] ? UINT64_MAX : error_ns,
    };
    struct departure *last = departure_of(analysis, communicator);

    if (!last || ESI_ARRAY_RESERVE_PAIR(analysis->arrivals, analysis->order,
                                        analysis->room, communicator->size) < 0)
        return -ENOMEM;
    if (analysis->operation != told->operation) {
        esi_collective_traits(told->operation->code, &analysis->traits);
        analysis->operation = told->operation;
    }
    instance.operation = analysis->traits.family;
    if (analysis->config.by_size)
        instance.size_class = esi_size_class_of(told->most_bytes);
    if (take_parts(analysis, told, last, &instance))
        instance.error_ns = ES_SAME_CLOCK_ERROR_NS;
    esi_collective_judge(&analysis->traits, told->least_bytes > 0, analysis->arrivals,
                         analysis->order, &instance);
    analysis->repaired += instance.repaired;
    analysis->impossible += instance.impossible;
    if (analysis->config.on_instance)
        analysis->config.on_instance(analysis->config.data, &instance);
    return 0;
}

static int take_instance(void *data, const struct esi_causal_instance *told)
{
    return esi_collectives_add(data, told);
}

struct esi_causal_listener esi_collectives_listener(struct esi_collectives *analysis)
{
    return (struct esi_causal_listener){.instance = take_instance, .data = analysis};
}

void esi_collectives_clock_faults(const struct esi_collectives *analysis,
                                  uint64_t *ret_repaired,
                                  uint64_t *ret_impossible)
{
    *ret_repaired = analysis->repaired;
    *ret_impossible = analysis->impossible;
}
