/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recorder_tables.c - fills the tables of an archive from a scope. */
#include "config.h"

#include "monitors/archive/recorder_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "tuplespace/process_state.h"
#include "tuplespace/started.h"

/* Minimum time between two looks for modules. */
#define MODULES_NS UINT64_C(1000000000)

/* State of a process, in addition to its row in the archive. */
struct recorded_process {
    uint32_t origin;                  /* one of its elements */
    struct esi_recorder_clock *clock; /* borrowed */
    size_t wanted;  /* communicators below this index were named in tuples */
    size_t grouped; /* the groups of the rows before this one are known */
    uint64_t begin; /* address range of the module of the last site */
    uint64_t end;
    size_t modules;    /* number of modules in the archive's tables */
    uint64_t asked_ns; /* time when modules were last read, by CLOCK_MONOTONIC */
};

struct esi_recorder_tables {
    const struct es_scope *scope;
    struct es_servers *servers;
    struct esi_archive_tables *tables;
    struct recorded_process *processes; /* by number in the archive; owned */
    size_t process_capacity;
    uint32_t *elements; /* number in the archive by origin; owned */
    size_t element_capacity;
    struct esi_recorder_clock **clocks; /* array and clocks are owned */
    size_t clock_count;
    size_t clock_capacity;
};

int esi_recorder_tables_create(const struct es_scope *scope,
                               struct es_servers *servers,
                               struct esi_archive_tables *tables,
                               struct esi_recorder_tables **ret_recorder)
{
    struct esi_recorder_tables *recorder = calloc(1, sizeof *recorder);

    if (!recorder)
        return -ENOMEM;
    recorder->scope = scope;
    recorder->servers = servers;
    recorder->tables = tables;
    *ret_recorder = recorder;
    return 0;
}

void esi_recorder_tables_destroy(struct esi_recorder_tables *recorder)
{
    int saved_errno = errno;

    if (!recorder)
        return;
    for (size_t i = 0; i < recorder->clock_count; i++)
        esi_recorder_clock_destroy(recorder->clocks[i]);
    free(recorder->clocks);
    free(recorder->processes);
    free(recorder->elements);
    free(recorder);
    errno = saved_errno;
}

/* --- Processes --------------------------------------------------------------- */

static void describe_process(const struct es_scope *scope,
                             uint32_t origin,
                             struct esi_archive_process *process)
{
    struct es_segment_info info;

    if (es_scope_process(scope, origin, &info) < 0)
        return;
    process->size = info.size;
    snprintf(process->program, sizeof process->program, "%s",
             info.program ? info.program : "");
    snprintf(process->state, sizeof process->state, "%s",
             esi_process_state_name(info.state));
    process->exit_code = info.exit_code;
    process->signal = info.signal;
    process->ended_realtime_ns = info.ended_realtime_ns;
}

static int find_clock(struct esi_recorder_tables *recorder,
                      const struct es_origin *origin,
                      struct esi_recorder_clock **ret_clock)
{
    int result;

    for (size_t i = 0; i < recorder->clock_count; i++) {
        if (esi_recorder_clock_is_of(recorder->clocks[i], origin)) {
            *ret_clock = recorder->clocks[i];
            return 0;
        }
    }
    if (ESI_ARRAY_RESERVE(recorder->clocks, recorder->clock_capacity,
                          recorder->clock_count + 1) < 0)
        return -ENOMEM;
    result = esi_recorder_clock_create(origin, ret_clock);
    if (result == 0)
        recorder->clocks[recorder->clock_count++] = *ret_clock;
    return result;
}

/* `scope`: of the origin. */
static int add_process(struct esi_recorder_tables *recorder,
                       const struct es_scope *scope,
                       uint32_t number,
                       uint32_t *ret_process)
{
    const struct es_origin *origin = es_scope_origin(scope, number);
    struct esi_archive_process row = {.rank = origin->rank,
                                      .size = -1,
                                      .pid = origin->pid,
                                      .state = "running",
                                      .exit_code = -1,
                                      .clock = *origin->clock};
    struct recorded_process process = {.origin = number};
    int result;

    if (ESI_ARRAY_RESERVE(recorder->processes, recorder->process_capacity,
                          recorder->tables->process_count + 1) < 0)
        return -ENOMEM;
    result = find_clock(recorder, origin, &process.clock);
    if (result == 0)
        result = esi_archive_tables_host(recorder->tables, origin->host, &row.host);
    describe_process(scope, number, &row);
    if (result == 0)
        result = esi_archive_tables_add_process(recorder->tables, &row, ret_process);
    if (result == 0)
        recorder->processes[*ret_process] = process;
    return result;
}

/* Processes of a host are distinguished by rank, pid and base of the clock. */
static bool is_process_of(const struct esi_archive_tables *tables,
                          const struct esi_archive_process *process,
                          const struct es_origin *origin)
{
    return process->pid == origin->pid && process->rank == origin->rank &&
           process->clock.base_ticks == origin->clock->base_ticks &&
           strcmp(tables->hosts[process->host].name, origin->host) == 0;
}

/* Searches backwards, because the elements of a process are usually consecutive. */
static int find_process(struct esi_recorder_tables *recorder,
                        const struct es_scope *scope,
                        uint32_t number,
                        uint32_t *ret_process)
{
    const struct esi_archive_tables *tables = recorder->tables;
    const struct es_origin *origin = es_scope_origin(scope, number);

    for (size_t i = tables->process_count; i-- > 0;) {
        if (is_process_of(tables, &tables->processes[i], origin)) {
            *ret_process = (uint32_t)i;
            return 0;
        }
    }
    return add_process(recorder, scope, number, ret_process);
}

int esi_recorder_tables_add_early(struct esi_recorder_tables *recorder,
                                  const struct es_scope *scope,
                                  uint32_t origin)
{
    const struct es_element_view *element = es_scope_origin(scope, origin)->element;
    size_t before = recorder->tables->process_count;
    struct es_segment_info info;
    uint32_t process;

    if (es_scope_process(scope, origin, &info) < 0 || info.rank < 0 ||
        (element && !esi_segment_view_is_before_mpi(es_element_view_segment(element))))
        return 0;
    int result = find_process(recorder, scope, origin, &process);

    if (recorder->tables->process_count > before)
        recorder->tables->processes[process].before_mpi = true;
    return result;
}

/* --- Elements ---------------------------------------------------------------- */

int esi_recorder_tables_add_origin(struct esi_recorder_tables *recorder,
                                   uint32_t number)
{
    const struct es_origin *origin = es_scope_origin(recorder->scope, number);
    struct esi_archive_element row = {
        .thread = origin->thread,
        .classes = origin->classes,
        .peer = origin->peer,
        .communicator = origin->communicator,
        .missed = origin->missed,
    };
    int result = ESI_ARRAY_RESERVE(recorder->elements, recorder->element_capacity,
                                   (size_t)number + 1);

    if (result == 0)
        result = find_process(recorder, recorder->scope, number, &row.process);
    if (result < 0)
        return result;
    snprintf(row.name, sizeof row.name, "%s", origin->name);
    snprintf(row.collector, sizeof row.collector, "%s", origin->collector);
    if (origin->element) {
        struct es_element_info info;

        es_element_view_info(origin->element, &info);
        row.threshold = info.threshold;
        row.block = info.block;
    }
    recorder->tables->facts.missed += origin->missed;
    return esi_archive_tables_add_element(recorder->tables, &row,
                                          &recorder->elements[number]);
}

uint32_t esi_recorder_tables_element(const struct esi_recorder_tables *recorder,
                                     uint32_t origin)
{
    return recorder->elements[origin];
}

uint32_t esi_recorder_tables_origin(const struct esi_recorder_tables *recorder,
                                    size_t process)
{
    return recorder->processes[process].origin;
}

static struct recorded_process *process_of(const struct esi_recorder_tables *recorder,
                                           uint32_t origin)
{
    uint32_t element = recorder->elements[origin];

    return &recorder->processes[recorder->tables->elements[element].process];
}

struct esi_recorder_clock *esi_recorder_tables_clock(
    const struct esi_recorder_tables *recorder,
    uint32_t origin)
{
    return process_of(recorder, origin)->clock;
}

/* --- Communicators ----------------------------------------------------------- */

void esi_recorder_tables_note(struct esi_recorder_tables *recorder,
                              uint32_t origin,
                              uint16_t communicator)
{
    struct recorded_process *process = process_of(recorder, origin);

    if (communicator != ES_COMMUNICATOR_NONE && communicator >= process->wanted)
        process->wanted = (size_t)communicator + 1;
}

/* Returns -errno like es_scope_communicator(). */
static int set_communicator(struct esi_recorder_tables *recorder,
                            uint32_t number,
                            uint16_t index)
{
    struct es_communicator_info info;
    struct esi_archive_communicator row;
    int result = es_scope_communicator(
        recorder->scope, recorder->processes[number].origin, index, &info);

    if (result < 0)
        return result;
    row = (struct esi_archive_communicator){
        .key = {info.key[0], info.key[1]},
        .rank = info.rank,
        .size = info.size,
        .remote_size = info.remote_size,
        .first = info.first,
        .remote_first = info.remote_first,
        .parent = info.parent,
        .freed = info.freed,
    };
    memcpy(row.name, info.name, sizeof row.name);
    return esi_archive_tables_set_communicator(recorder->tables, number, index, &row);
}

/* Fills in `world`.  Returns -ENOENT if not all members are known. */
static int find_members(const struct esi_recorder_tables *recorder,
                        uint32_t origin,
                        uint16_t index,
                        bool remote,
                        struct esi_archive_group *group)
{
    int missing = 0;

    /* Searches backwards, because missing members are usually the latest ones. */
    for (size_t i = group->size; i-- > 0;) {
        int rank = es_scope_world_rank(recorder->scope, origin, index, remote, (int)i);

        group->world[i] = rank < 0 ? -1 : rank;
        missing += rank < 0;
        if (missing > 0 && i + 1 == group->size)
            return -ENOENT;
    }
    return missing > 0 ? -ENOENT : 0;
}

/* Returns 1 if a group was added, 0 if it exists or is not available yet, or
 * -ENOMEM. */
static int add_group(struct esi_recorder_tables *recorder,
                     uint32_t number,
                     uint16_t index,
                     bool remote)
{
    const struct esi_archive_communicator *row =
        &recorder->tables->processes[number].communicators[index];
    struct esi_archive_group group = {
        .key = {row->key[0], row->key[1]},
        .first = remote ? row->remote_first : row->first,
        .size = (size_t)(remote ? row->remote_size : row->size),
    };
    int result;

    if (group.first < 0 || esi_archive_tables_group(recorder->tables, row, remote))
        return 0;
    group.world = calloc(group.size + 1, sizeof *group.world);
    if (!group.world)
        return -ENOMEM;
    result = find_members(recorder, recorder->processes[number].origin, index, remote,
                          &group);
    if (result == 0)
        result = esi_archive_tables_add_group(recorder->tables, &group);
    free(group.world);
    if (result == -ENOENT)
        return 0;
    return result < 0 ? result : 1;
}

/* Adds the groups of communicators whose groups are not known yet. */
static int add_groups(struct esi_recorder_tables *recorder, uint32_t number)
{
    struct recorded_process *process = &recorder->processes[number];
    const struct esi_archive_process *row = &recorder->tables->processes[number];
    int added = 0;

    for (size_t i = process->grouped; i < row->communicator_count; i++) {
        const struct esi_archive_communicator *communicator = &row->communicators[i];
        int local = add_group(recorder, number, (uint16_t)i, false);
        int remote = communicator->remote_size > 0 && local >= 0
                         ? add_group(recorder, number, (uint16_t)i, true)
                         : 0;

        if (local < 0 || remote < 0)
            return -ENOMEM;
        added += local + remote;
        if (i == process->grouped &&
            esi_archive_tables_group(recorder->tables, communicator, false) &&
            (communicator->remote_size == 0 ||
             esi_archive_tables_group(recorder->tables, communicator, true)))
            process->grouped++;
    }
    return added;
}

/* Adds the noted communicators; `last`: also updates changed ones. */
static int refresh_communicators(struct esi_recorder_tables *recorder,
                                 uint32_t number,
                                 bool last)
{
    const struct esi_archive_process *row = &recorder->tables->processes[number];
    size_t wanted = recorder->processes[number].wanted;
    size_t before = row->communicator_count;
    int result = 0;

    for (size_t i = last ? 0 : before; i < wanted && result == 0; i++)
        result = set_communicator(recorder, number, (uint16_t)i);
    if (result == -ENOMEM)
        return result;
    result = add_groups(recorder, number);
    return result < 0 ? result : result + (int)(row->communicator_count - before);
}

/* --- Refreshing -------------------------------------------------------------- */

static void refresh_host(struct esi_recorder_tables *recorder,
                         const struct es_server_info *info)
{
    struct esi_archive_tables *tables = recorder->tables;

    for (size_t i = 0; i < tables->host_count && info->clock_known; i++) {
        struct esi_archive_host *host = &tables->hosts[i];

        if (strcmp(host->name, info->host) != 0)
            continue;
        host->clock_known = true;
        host->clock_monotonic_ns = info->clock_monotonic_ns;
        host->clock_offset_ns = info->clock_offset_ns;
        host->clock_drift_ppb = info->clock_drift_ppb;
        host->clock_error_ns = info->clock_error_ns;
    }
}

static void refresh_hosts(struct esi_recorder_tables *recorder)
{
    struct es_server_info info;

    for (size_t i = 0;
         recorder->servers && es_servers_at(recorder->servers, i, &info) == 0; i++)
        refresh_host(recorder, &info);
}

/* Adds new modules and remembers that of the site.  Returns 1 if modules were added. */
static int read_modules(struct esi_recorder_tables *recorder,
                        struct recorded_process *process,
                        uint32_t number,
                        uint64_t site)
{
    struct esi_archive_module row = {.process = number};
    struct es_module *modules;
    size_t before = process->modules;
    int count = es_scope_modules(recorder->scope, process->origin, &modules);
    int result = 0;

    for (size_t i = 0; count > 0 && i < (size_t)count && result == 0; i++) {
        row.module = modules[i];
        if (i >= process->modules) {
            result = esi_archive_tables_add_module(recorder->tables, &row);
            process->modules += result == 0;
        }
        if (site >= row.module.begin && site <= row.module.end) {
            process->begin = row.module.begin;
            process->end = row.module.end;
        }
    }
    if (count >= 0)
        free(modules);
    return result < 0 ? result : process->modules > before;
}

int esi_recorder_tables_note_site(struct esi_recorder_tables *recorder,
                                  uint32_t origin,
                                  uint64_t site)
{
    struct recorded_process *process = process_of(recorder, origin);
    uint64_t now_ns;

    if (site == 0 || (site >= process->begin && site <= process->end))
        return 0;
    now_ns = esi_now_ns(CLOCK_MONOTONIC);
    if (process->asked_ns != 0 && now_ns - process->asked_ns < MODULES_NS)
        return 0;
    process->asked_ns = now_ns;
    return read_modules(recorder, process, (uint32_t)(process - recorder->processes),
                        site);
}

int esi_recorder_tables_refresh(struct esi_recorder_tables *recorder, bool last)
{
    int added = 0;

    for (uint32_t i = 0; i < recorder->tables->process_count; i++) {
        int result = refresh_communicators(recorder, i, last);

        if (result < 0)
            return result;
        added += result;
        if (last && read_modules(recorder, &recorder->processes[i], i, 0) < 0)
            return -ENOMEM;
        if (last)
            describe_process(recorder->scope, recorder->processes[i].origin,
                             &recorder->tables->processes[i]);
    }
    refresh_hosts(recorder);
    return added;
}
