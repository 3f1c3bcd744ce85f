/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engines.c - the table of engines, and functions shared by all engines. */
#include "config.h"

#include "monitors/search/search_engine.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The first one is the default. */
static const struct esi_engine_ops *const engines[] = {
    &esi_engine_indexed,
    &esi_engine_rewrite,
    &esi_engine_closure,
    NULL,
};

enum { ENGINES = sizeof engines / sizeof engines[0] };

static struct esi_engine_help helps[ENGINES];

const struct esi_engine_ops *esi_engine_find(const char *name)
{
    for (unsigned i = 0; engines[i]; i++)
        if (!name || strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

static void fill_helps(void)
{
    for (unsigned i = 0; engines[i]; i++)
        helps[i] = (struct esi_engine_help){engines[i]->name, engines[i]->help};
}

const struct esi_engine_help *esi_search_engines(void)
{
    static pthread_once_t filled = PTHREAD_ONCE_INIT;

    pthread_once(&filled, fill_helps);
    return helps;
}

uint64_t esi_universal_empty(const struct esi_program *program,
                             const struct esi_domain *const *domains)
{
    uint64_t empty = 0;

    for (uint64_t left = esi_program_universal(program); left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        if (esi_domain_count(domains[v]) == 0)
            empty |= esi_program_bit(v);
    }
    return empty;
}

bool esi_disjunct_may_match(const struct esi_engine_task *task, uint32_t disjunct)
{
    return esi_program_may_be_minimal(
        task->program, disjunct, esi_universal_empty(task->program, task->domains));
}
