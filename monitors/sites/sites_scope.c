/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sites_scope.c - sites of the tuples of a scope. */
#include "config.h"

#include <stdlib.h>

#include "monitors/sites/sites.h"

static void ask_for_modules(struct esi_sites *sites,
                            int process,
                            const struct es_scope *scope,
                            uint32_t origin)
{
    struct es_module *modules;
    int count = es_scope_modules(scope, origin, &modules);

    if (count < 0)
        return;
    esi_sites_set_modules(sites, process, modules, (size_t)count);
    free(modules);
}

const char *esi_sites_format(struct esi_sites *sites,
                             const struct es_scope *scope,
                             uint32_t origin,
                             uint64_t address)
{
    const struct es_origin *from = es_scope_origin(scope, origin);
    int process;

    if (address == 0 || !from)
        return "";
    process = esi_sites_process(sites, from->host, from->pid,
                                from->clock ? from->clock->base_realtime_ns : 0);
    if (process < 0)
        return "";
    if (esi_sites_should_ask(sites, process, address))
        ask_for_modules(sites, process, scope, origin);
    return esi_sites_format_in(sites, process, address);
}
