/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causality.c - the way of a tuple from its element to the events it becomes. */
#include "config.h"

#include "monitors/causality/causality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct es_causality {
    struct es_causality_config config;
    struct es_causality_totals totals;
    uint32_t processes;
    uint32_t elements;
};

int es_causality_create(const struct es_causality_config *config,
                        struct es_causality **ret_causality)
{
    struct es_causality *causality = calloc(1, sizeof *causality);

    if (!causality)
        return -ENOMEM;
    causality->config = *config;
    *ret_causality = causality;
    return 0;
}

void es_causality_destroy(struct es_causality *causality)
{
    free(causality);
}

int es_causality_add_process(struct es_causality *causality,
                             const struct es_causal_process *process,
                             uint32_t *ret_process)
{
    (void)process;
    *ret_process = causality->processes++;
    return 0;
}

int es_causality_add_element(struct es_causality *causality,
                             uint32_t process,
                             int thread,
                             uint32_t classes,
                             uint32_t *ret_element)
{
    (void)process;
    (void)thread;
    (void)classes;
    *ret_element = causality->elements++;
    return 0;
}

int es_causality_set_communicator(struct es_causality *causality,
                                  uint32_t process,
                                  uint16_t index,
                                  const struct es_causal_communicator *communicator)
{
    (void)causality;
    (void)process;
    (void)index;
    (void)communicator;
    return 0;
}

int es_causality_add(struct es_causality *causality,
                     uint32_t element,
                     const struct es_causal_tuple *tuple)
{
    (void)element;
    (void)tuple;
    causality->totals.tuples++;
    return 0;
}

int es_causality_lose(struct es_causality *causality, uint32_t element, uint64_t lost)
{
    (void)element;
    causality->totals.lost += lost;
    return 0;
}

int es_causality_settle(struct es_causality *causality)
{
    (void)causality;
    return 0;
}

int es_causality_finish(struct es_causality *causality)
{
    (void)causality;
    return 0;
}

void es_causality_totals(const struct es_causality *causality,
                         struct es_causality_totals *ret_totals)
{
    *ret_totals = causality->totals;
}

bool es_causality_is_incomplete(const struct es_causality *causality)
{
    return causality->totals.lost > 0;
}

void es_causality_foreach_unmatched(
    const struct es_causality *causality,
    void (*visit)(void *data, const struct es_causal_channel *channel),
    void *data)
{
    (void)causality;
    (void)visit;
    (void)data;
}
