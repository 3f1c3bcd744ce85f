/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_end.c - when a run began, and whether it is over. */
#include "config.h"

#include "monitors/follow/run_end.h"

/* Monitors, which have no rank, do not keep a run alive: this may be one itself. */
static bool is_writing(const struct es_segment_info *info)
{
    return info->alive && info->rank >= 0;
}

/* Whether a process on another host lives, as far as is known. */
static bool lives_elsewhere(const struct es_scope *scope)
{
    for (uint32_t i = 0; i < es_scope_origin_count(scope); i++) {
        struct es_segment_info info;

        if (!es_scope_origin(scope, i)->element &&
            es_scope_process(scope, i, &info) == 0 && is_writing(&info))
            return true;
    }
    return false;
}

/* Whether some process is known, of whatever state. */
static bool has_begun(const struct es_run *run, const struct es_scope *scope)
{
    return es_run_segment_count(run) > 0 || es_scope_origin_count(scope) > 0;
}

/* Whether the home server lives and says that there is somebody, or that there may yet
 * be.  Asked only where no process is known that lives. */
static bool may_come(const struct es_run *run,
                     const struct es_scope *scope,
                     struct es_servers *servers)
{
    bool waits = !has_begun(run, scope);
    struct es_server_info info;

    if (!servers || es_servers_refresh(servers) < 0)
        return false;
    for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++)
        if (info.state == ES_SERVER_UP && (info.ranks > 0 || waits))
            return true;
    return false;
}

bool esi_run_is_over(const struct es_run *run,
                     const struct es_scope *scope,
                     struct es_servers *servers)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        struct es_segment_info info;

        es_segment_view_info(es_run_segment(run, i), &info);
        if (is_writing(&info))
            return false;
    }
    return !lives_elsewhere(scope) && !may_come(run, scope, servers);
}
