/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engines.c - the table of engines, and functions shared by all engines. */
#include "config.h"

#include "monitors/search/engine.h"

#include <stdio.h>
#include <string.h>

const struct esi_engine_ops *const esi_engines[] = {
    &esi_engine_indexed,
    &esi_engine_rewrite,
    &esi_engine_closure,
    NULL,
};

const struct esi_engine_ops *esi_engine_find(const char *name)
{
    for (unsigned i = 0; esi_engines[i]; i++)
        if (!name || strcmp(esi_engines[i]->name, name) == 0)
            return esi_engines[i];
    return NULL;
}

const char *esi_engine_names(const char *after_default, char out[ES_ENGINE_NAMES])
{
    size_t length = 0;

    for (unsigned i = 0; esi_engines[i] && length < ES_ENGINE_NAMES; i++)
        length += (size_t)snprintf(out + length, ES_ENGINE_NAMES - length, "%s%s%s",
                                   i == 0               ? ""
                                   : esi_engines[i + 1] ? ", "
                                                        : " or ",
                                   esi_engines[i]->name, i == 0 ? after_default : "");
    return out;
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
