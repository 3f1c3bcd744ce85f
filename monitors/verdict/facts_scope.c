/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* facts_scope.c - reads facts through a scope and compares them with the last
 * observation. */
#include "config.h"

#include "monitors/verdict/facts_scope.h"

#include <errno.h>
#include <stdlib.h>

#include "base/lower_bound.h"
#include "monitors/run/run_follow.h"
#include "monitors/verdict/process_time.h"
#include "scopes/scope_ledger.h"

/* A process at the last observation. */
struct process_memory {
    int rank;
    int pid;
    uint64_t birth;
    bool has_ledger;
    uint64_t changes;
    bool is_here; /* on this host */
    struct esi_process_time time;
    enum es_process_state state;
    uint64_t lost_since_ns; /* when it was first seen to be lost; 0 = it is not */
};

/* Within this time of the end of a process, its watcher records how it ended. */
#define RECORDED_NS UINT64_C(1000000000)

struct esi_fact_reader {
    struct esi_follower *follower; /* borrowed */
    struct es_run *run;            /* borrowed */
    struct esi_sites *sites;       /* borrowed */
    struct esi_facts facts;
    struct esi_run_model model;
    struct esi_ledger *ledgers; /* owned; per process */
    size_t ledger_count;
    struct process_memory *before; /* owned; by rank, pid, birth */
    size_t before_count;
    struct process_memory *now;
};

int esi_fact_reader_create(struct esi_follower *follower,
                           struct es_run *run,
                           struct esi_sites *sites,
                           struct esi_fact_reader **ret_reader)
{
    struct esi_fact_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return -ENOMEM;
    reader->follower = follower;
    reader->run = run;
    reader->sites = sites;
    *ret_reader = reader;
    return 0;
}

static void free_ledgers(struct esi_fact_reader *reader)
{
    for (size_t i = 0; i < reader->ledger_count; i++)
        esi_ledger_fini(&reader->ledgers[i]);
    free(reader->ledgers);
    reader->ledgers = NULL;
    reader->ledger_count = 0;
}

void esi_fact_reader_destroy(struct esi_fact_reader *reader)
{
    if (!reader)
        return;
    free_ledgers(reader);
    esi_facts_fini(&reader->facts);
    esi_run_model_fini(&reader->model);
    free(reader->before);
    free(reader->now);
    free(reader);
}

/* --- Sites ------------------------------------------------------------------------ */

static const char *name_site(void *data,
                             const struct esi_fact_process *process,
                             uint64_t address)
{
    const struct esi_fact_reader *reader = data;

    return esi_sites_format(reader->sites, esi_follower_scope(reader->follower),
                            process->source, address);
}

/* --- Ledgers ---------------------------------------------------------------------- */

static int read_ledgers(struct esi_fact_reader *reader)
{
    struct esi_facts *facts = &reader->facts;
    const struct es_scope *scope = esi_follower_scope(reader->follower);

    free_ledgers(reader);
    reader->ledgers = calloc(facts->process_count + 1, sizeof *reader->ledgers);
    if (!reader->ledgers)
        return -ENOMEM;
    reader->ledger_count = facts->process_count;
    for (size_t i = 0; i < facts->process_count; i++) {
        struct esi_fact_process *process = &facts->processes[i];
        int result = esi_scope_read_ledger(scope, process->source, &reader->ledgers[i]);

        if (result == -ENOMEM)
            return result;
        process->ledger = result == 0 ? &reader->ledgers[i] : NULL;
        if (process->ledger)
            esi_fact_set_others(
                facts, process,
                es_origin_run_ns(es_scope_origin(scope, process->source),
                                 process->ledger->others_counted, NULL));
    }
    return 0;
}

/* --- Communicators ---------------------------------------------------------------- */

static int need_communicator(struct esi_fact_reader *reader,
                             struct esi_fact_process *process,
                             uint32_t origin,
                             uint16_t index)
{
    if (index == ES_COMMUNICATOR_NONE || esi_fact_member(process, index))
        return 0;
    return esi_run_follow_communicator(
        &reader->model, reader->follower, origin,
        reader->model.processes[process->participant->number], index, true);
}

/* Loads the communicators that the ledger names. */
static int need_those_of_ledger(struct esi_fact_reader *reader,
                                struct esi_fact_process *process)
{
    const struct esi_ledger *ledger = process->ledger;
    uint32_t origin = process->source;
    int result = 0;

    for (size_t i = 0; i < ledger->request_count && result == 0; i++)
        result = need_communicator(reader, process, origin,
                                   ledger->requests[i].communicator);
    for (size_t i = 0; i < ledger->channel_count && result == 0; i++)
        result = need_communicator(reader, process, origin,
                                   ledger->channels[i].communicator);
    for (size_t i = 0; i < ledger->instance_count && result == 0; i++)
        result = need_communicator(reader, process, origin,
                                   ledger->instances[i].communicator);
    for (size_t i = 0; i < ledger->epoch_count && result == 0; i++)
        result =
            need_communicator(reader, process, origin, ledger->epochs[i].communicator);
    for (size_t i = 0; i < ledger->epoch_count_count && result == 0; i++)
        result = need_communicator(reader, process, origin,
                                   ledger->epoch_counts[i].communicator);
    return result;
}

static int read_communicators(struct esi_fact_reader *reader,
                              const struct esi_fact_look *look)
{
    int result = 0;

    for (size_t i = 0; i < reader->facts.process_count && result == 0; i++) {
        struct esi_fact_process *process = &reader->facts.processes[i];

        for (size_t j = 0; j < process->thread_count && result == 0; j++) {
            const struct esi_activity *open =
                &look->threads[process->first_thread + j].open;

            if (open->present && open->has_communicator)
                result = need_communicator(reader, process, open->origin,
                                           open->communicator_index);
        }
        if (process->ledger && result == 0)
            result = need_those_of_ledger(reader, process);
    }
    return result;
}

/* Counts, per process, the groups that contain it but that its ledger does not name: it
 * has not used these communicators, or has freed them. */
static void count_unnamed(const struct esi_facts *facts, size_t *unnamed)
{
    const struct esi_run_model *model = facts->model;

    for (uint32_t i = 0; i < model->communicator_count; i++)
        for (unsigned side = 0; side < 2; side++) {
            const struct esi_run_communicator *group = model->communicators[i];
            const int32_t *ranks = esi_run_side_ranks(group, side);

            for (size_t j = 0; ranks && j < group->sizes[side]; j++)
                if (!esi_facts_has_freed(facts, i, ranks[j]))
                    unnamed[esi_facts_find_process(facts, ranks[j])]++;
        }
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct esi_run_process *process = facts->processes[i].participant;

        for (size_t j = 0; j < process->member_count; j++)
            unnamed[i] -= process->members[j] && unnamed[i] > 0;
    }
}

static int read_freed(struct esi_fact_reader *reader,
                      const struct esi_fact_process *process)
{
    const struct es_scope *scope = esi_follower_scope(reader->follower);
    struct es_communicator_info info;
    int result = 0;

    for (uint16_t i = 0; result == 0 && i < ES_COMMUNICATOR_NONE &&
                         es_scope_communicator(scope, process->source, i, &info) == 0;
         i++)
        if (info.freed)
            result = esi_facts_note_freed(&reader->facts, info.key, process->rank);
    return result;
}

static int find_freed(struct esi_fact_reader *reader)
{
    const struct esi_facts *facts = &reader->facts;
    size_t *unnamed = calloc(facts->process_count + 1, sizeof *unnamed);
    int result = unnamed ? 0 : -ENOMEM;

    if (result == 0)
        count_unnamed(facts, unnamed);
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        if (unnamed[i] > 0)
            result = read_freed(reader, &facts->processes[i]);
    free(unnamed);
    return result;
}

/* --- Comparison with the last observation ----------------------------------------- */

static bool is_memory_before(const void *item, const void *sought)
{
    const struct process_memory *memory = item;
    const struct esi_fact_process *process = sought;

    if (memory->rank != process->rank)
        return memory->rank < process->rank;
    if (memory->pid != process->pid)
        return memory->pid < process->pid;
    return memory->birth < process->birth;
}

static const struct process_memory *find_before(const struct esi_fact_reader *reader,
                                                const struct esi_fact_process *process)
{
    size_t i = esi_lower_bound(reader->before, reader->before_count,
                               sizeof *reader->before, is_memory_before, process);
    const struct process_memory *found =
        i < reader->before_count ? &reader->before[i] : NULL;

    return found && found->rank == process->rank && found->pid == process->pid &&
                   found->birth == process->birth
               ? found
               : NULL;
}

/* Whether no thread has progressed since the last observation. */
static bool has_rested(const struct esi_facts *facts,
                       const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (facts->threads[process->first_thread + i].unchanged == 0)
            return false;
    return true;
}

/* Whether scheduling matters: only if some thread is blocked. */
static bool has_blocked(const struct esi_facts *facts,
                        const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (esi_thread_is_blocked(&facts->threads[process->first_thread + i]))
            return true;
    return false;
}

static void compare_process(struct esi_fact_reader *reader, size_t index)
{
    struct esi_fact_process *process = &reader->facts.processes[index];
    const struct process_memory *before = find_before(reader, process);
    struct process_memory *now = &reader->now[index];

    *now = (struct process_memory){.rank = process->rank,
                                   .pid = process->pid,
                                   .birth = process->birth,
                                   .has_ledger = process->ledger != NULL};
    if (process->ledger)
        now->changes = process->ledger->changes;
    if (process->state != ES_PROCESS_RUNNING)
        return;
    now->is_here = (before && before->is_here) ||
                   esi_process_time_is_here(reader->run, process->rank, process->pid);
    /* In a first observation, polls are not recognized. */
    if (now->is_here && (!before || has_blocked(&reader->facts, process)))
        esi_process_time_read(process->pid, process->ledger, &now->time);
    if (!before)
        return;
    process->still =
        has_rested(&reader->facts, process) && before->has_ledger == now->has_ledger &&
        before->changes == now->changes &&
        esi_process_time_active(&before->time, &now->time) <= process->thread_count;
    process->schedule = esi_process_time_compare(&before->time, &now->time);
}

/*
 * The processes are not read at the same moment, and their ends are recorded in any
 * order: one that a launcher killed may be seen to be dead before the one that had died
 * first.  So the order of ends is known when all are recorded, or if they are as they
 * were at the last observation.
 */
static bool may_end_change(const struct esi_fact_reader *reader, size_t index)
{
    const struct esi_facts *facts = &reader->facts;
    const struct esi_fact_process *process = &facts->processes[index];
    const struct process_memory *before = find_before(reader, process);
    struct process_memory *now = &reader->now[index];

    now->state = process->state;
    if (process->state == ES_PROCESS_RUNNING || process->state == ES_PROCESS_FINALIZED)
        return false;
    if (process->state != ES_PROCESS_LOST)
        return !facts->over && (!before || before->state != process->state);
    now->lost_since_ns =
        before && before->lost_since_ns ? before->lost_since_ns : facts->now_ns;
    return facts->now_ns - now->lost_since_ns < RECORDED_NS;
}

/* --- One observation -------------------------------------------------------------- */

static int find_participant(struct esi_fact_reader *reader,
                            struct esi_fact_process *process)
{
    const struct es_scope *scope = esi_follower_scope(reader->follower);
    struct esi_run_process *participant;
    int result;

    result = esi_run_follow_process(
        &reader->model, es_scope_origin(scope, process->source), &participant);
    process->participant = result < 0 ? NULL : participant;
    return result;
}

int esi_fact_reader_read(struct esi_fact_reader *reader,
                         const struct esi_fact_look *look,
                         struct esi_facts **ret_facts)
{
    struct esi_facts *facts = &reader->facts;
    int result = esi_facts_set_threads(facts, look->threads, look->count);

    facts->now_ns = look->now_ns;
    facts->entered = look->entered;
    facts->run = es_run_name(reader->run);
    facts->name_site = name_site;
    facts->site_data = reader;
    facts->model = &reader->model;
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        result = find_participant(reader, &facts->processes[i]);
    if (result == 0)
        result = read_ledgers(reader);
    if (result == 0)
        result = read_communicators(reader, look);
    if (result == 0)
        result = find_freed(reader);
    if (result < 0)
        return result;
    free(reader->now);
    reader->now = calloc(facts->process_count + 1, sizeof *reader->now);
    if (!reader->now)
        return -ENOMEM;
    for (size_t i = 0; i < facts->process_count; i++)
        compare_process(reader, i);
    esi_facts_set_ends(facts);
    facts->ends_change = false;
    for (size_t i = 0; i < facts->process_count; i++)
        facts->ends_change |= may_end_change(reader, i);
    free(reader->before);
    reader->before = reader->now;
    reader->before_count = facts->process_count;
    reader->now = NULL;
    *ret_facts = facts;
    return 0;
}
