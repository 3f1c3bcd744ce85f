/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Which elements are to be moved where. */
#include "config.h"

#include "scopes/server/mover_plan.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/remote/run_files.h"
#include "tuplespace/run_directory.h"

#define PLAN_FILE "collect.plan"

static int load_from_home(const char *run,
                          const char *home,
                          struct es_servers **servers,
                          struct es_plan *ret_plan)
{
    char *text;
    int result = *servers ? 0 : es_servers_open(run, home, NULL, servers);

    if (result == 0)
        result = es_run_file_fetch(*servers, PLAN_FILE, NULL, &text);
    if (result < 0)
        return result;
    result = es_plan_parse(text, PLAN_FILE, NULL, ret_plan);
    free(text);
    return result;
}

int esi_mover_load_plan(const char *run,
                        const char *home,
                        struct es_servers **servers,
                        struct es_plan *ret_plan)
{
    char path[ES_RUN_PATH_BYTES];

    if (es_run_directory_path(run, PLAN_FILE, NULL, path) == 0 &&
        es_plan_load(path, NULL, ret_plan) == 0)
        return 0;
    return load_from_home(run, home, servers, ret_plan);
}

static bool is_elsewhere(const struct es_collector_plan *collector, const char *here)
{
    return collector->host[0] && strcmp(collector->host, here) != 0;
}

bool esi_mover_has_work(const struct es_plan *plan, const char *here)
{
    for (size_t i = 0; i < plan->count; i++)
        if (is_elsewhere(&plan->collectors[i], here))
            return true;
    return false;
}

const char *esi_mover_host(const struct es_plan *plan,
                           const struct es_element_view *element,
                           const char *here)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    if (info.shared)
        return NULL;
    for (size_t i = 0; i < plan->count; i++) {
        const struct es_collector_plan *collector = &plan->collectors[i];

        if (strcmp(collector->name, info.collector) == 0 &&
            es_collector_plan_has_rank(collector, info.rank))
            return is_elsewhere(collector, here) ? collector->host : NULL;
    }
    return NULL;
}
