/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_facts.c - converts the processes of an observation to the input of leaks.h. */
#include "config.h"

#include "monitors/latent/leaks_facts.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(sizeof(int) == sizeof(int32_t), "world ranks of both kinds are alike");

static struct esi_leak_communicator describe_communicator(
    const struct esi_facts *facts,
    const struct esi_fact_communicator *communicator)
{
    const struct esi_fact_group *group;
    unsigned peers;

    if (communicator->group == ESI_FACT_NO_GROUP)
        return (struct esi_leak_communicator){.name = NULL};
    group = &facts->groups[communicator->group];
    peers = group->sizes[1] > 0 ? 1u - communicator->side : communicator->side;
    return (struct esi_leak_communicator){
        .key = {group->key[0], group->key[1]},
        .name = group->name[0] ? group->name : NULL,
        .rank = communicator->rank,
        .peers = group->sides[peers],
        .peer_count = group->sizes[peers],
    };
}

/* `*next` is where the next process's communicators go. */
static struct esi_leak_process describe_process(const struct esi_facts *facts,
                                                const struct esi_fact_process *process,
                                                struct esi_leak_communicator **next)
{
    struct esi_leak_process described = {
        .rank = process->rank,
        .finalized = process->state == ES_PROCESS_FINALIZED,
        .ledger = process->ledger,
        .communicators = *next,
        .communicator_count = process->communicator_count,
    };

    for (size_t i = 0; i < process->communicator_count; i++)
        *(*next)++ = describe_communicator(facts, &process->communicators[i]);
    return described;
}

static const char *name_site(void *data, size_t process, uint64_t address)
{
    const struct esi_facts *facts = data;

    return esi_fact_name_site(facts, &facts->processes[process], address);
}

int esi_leaks_find_in_facts(const struct esi_facts *facts, struct esi_leaks *ret_leaks)
{
    const struct esi_leak_sites sites = {name_site, (void *)facts};
    struct esi_leak_communicator *communicators, *next;
    struct esi_leak_process *processes;
    size_t count = 0;
    int result = -ENOMEM;

    for (size_t i = 0; i < facts->process_count; i++)
        count += facts->processes[i].communicator_count;
    communicators = next = calloc(count + 1, sizeof *communicators);
    processes = calloc(facts->process_count + 1, sizeof *processes);
    if (communicators && processes) {
        for (size_t i = 0; i < facts->process_count; i++)
            processes[i] = describe_process(facts, &facts->processes[i], &next);
        result = esi_leaks_find(processes, facts->process_count, &sites, ret_leaks);
    }
    free(communicators);
    free(processes);
    return result;
}
