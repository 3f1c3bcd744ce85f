/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* facts.c - the tables of what is known of a run. */
#include "config.h"

#include "monitors/verdict/facts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/process_state.h"

/* A call that lasted this long before its process was killed was not about to
 * return. */
#define LASTING_CALL_NS UINT64_C(1000000000)

/* The death of a process may be noticed this late. */
#define NOTICE_OF_DEATH_NS UINT64_C(100000000)

/* --- Entered collectives ---------------------------------------------------------- */

static uint64_t hash_entered(const struct esi_fact_entered *entered)
{
    uint64_t hash = esi_hash_mix(entered->key[0], entered->key[1]);

    return esi_hash_mix(hash,
                        (uint64_t)entered->rank << 32 | (uint32_t)entered->window);
}

static bool is_same_place(const struct esi_fact_entered *a,
                          const struct esi_fact_entered *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->rank == b->rank &&
           a->window == b->window;
}

struct esi_fact_entered *esi_fact_entries_find(const struct esi_fact_entries *entries,
                                               const struct esi_fact_entered *place)
{
    ESI_HASH_FOREACH(slot, &entries->numbers, hash_entered(place)) {
        struct esi_fact_entered *item =
            &entries->items[esi_hash_index(&entries->numbers, slot)];

        if (is_same_place(item, place))
            return item;
    }
    return NULL;
}

int esi_fact_entries_note(struct esi_fact_entries *entries,
                          const struct esi_fact_entered *entered)
{
    struct esi_fact_entered *item = esi_fact_entries_find(entries, entered);

    if (item) {
        /* Instance numbers wrap around. */
        if ((int32_t)(entered->instance - item->instance) > 0)
            item->instance = entered->instance;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(entries->items, entries->capacity, entries->count + 1) < 0 ||
        esi_hash_reserve(&entries->numbers, entries->count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&entries->numbers, hash_entered(entered), entries->count);
    entries->items[entries->count++] = *entered;
    return 0;
}

void esi_fact_entries_fini(struct esi_fact_entries *entries)
{
    free(entries->items);
    esi_hash_fini(&entries->numbers);
    *entries = (struct esi_fact_entries){0};
}

/* --- Processes and groups -------------------------------------------------------- */

static bool is_same_process(const struct esi_thread_state *a,
                            const struct esi_thread_state *b)
{
    return a->rank == b->rank && a->pid == b->pid && a->birth == b->birth &&
           (a->host == b->host || (a->host && b->host && !strcmp(a->host, b->host)));
}

int esi_facts_set_threads(struct esi_facts *facts,
                          const struct esi_thread_state *threads,
                          size_t count)
{
    struct esi_fact_process *processes = calloc(count + 1, sizeof *processes);
    size_t made = 0;

    if (!processes)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct esi_thread_state *thread = &threads[i];

        if (i > 0 && is_same_process(&threads[i - 1], thread)) {
            processes[made - 1].thread_count++;
            continue;
        }
        processes[made++] = (struct esi_fact_process){.rank = thread->rank,
                                                      .pid = thread->pid,
                                                      .birth = thread->birth,
                                                      .state = thread->process,
                                                      .signal = thread->signal,
                                                      .exit_code = thread->exit_code,
                                                      .ended_ns = thread->ended_ns,
                                                      .first_thread = i,
                                                      .thread_count = 1,
                                                      .source = thread->origin};
    }
    free(facts->processes);
    facts->threads = threads;
    facts->thread_count = count;
    facts->processes = processes;
    facts->process_count = made;
    return 0;
}

void esi_facts_fini(struct esi_facts *facts)
{
    free(facts->processes);
    esi_fact_entries_fini(&facts->freed);
    *facts = (struct esi_facts){0};
}

int esi_facts_note_freed(struct esi_facts *facts, const uint64_t key[2], int rank)
{
    return esi_fact_entries_note(
        &facts->freed, &(struct esi_fact_entered){.key = {key[0], key[1]},
                                                  .window = ESI_FACT_NO_WINDOW,
                                                  .rank = rank});
}

bool esi_facts_has_freed(const struct esi_facts *facts, uint32_t group, int rank)
{
    struct esi_fact_entered place = {.window = ESI_FACT_NO_WINDOW, .rank = rank};

    if (facts->freed.count == 0 || group == ESI_FACT_NO_GROUP)
        return false;
    memcpy(place.key, esi_fact_group(facts, group)->key, sizeof place.key);
    return esi_fact_entries_find(&facts->freed, &place) != NULL;
}

size_t esi_facts_find_process(const struct esi_facts *facts, int rank)
{
    size_t low = 0, high = facts->process_count;

    /* Fast path: ranks usually count from 0. */
    if (rank >= 0 && (size_t)rank < high && facts->processes[rank].rank == rank &&
        (rank == 0 || facts->processes[rank - 1].rank != rank))
        return (size_t)rank;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (facts->processes[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < facts->process_count && facts->processes[low].rank == rank
               ? low
               : facts->process_count;
}

/* --- Ends ------------------------------------------------------------------------- */

static bool is_killed_from_outside(const struct esi_fact_process *process)
{
    if (process->state == ES_PROCESS_LOST)
        return true;
    return process->state == ES_PROCESS_KILLED &&
           (process->signal == SIGKILL || process->signal == SIGTERM ||
            process->signal == SIGINT || process->signal == SIGHUP ||
            process->signal == SIGQUIT);
}

bool esi_fact_has_died(const struct esi_fact_process *process)
{
    return process->state != ES_PROCESS_RUNNING &&
           !esi_process_ended_well(process->state, process->exit_code);
}

static uint64_t find_first_death(const struct esi_facts *facts)
{
    uint64_t first_ns = UINT64_MAX;

    for (size_t i = 0; i < facts->process_count; i++)
        if (facts->processes[i].ended_ns && facts->processes[i].ended_ns < first_ns &&
            esi_fact_has_died(&facts->processes[i]))
            first_ns = facts->processes[i].ended_ns;
    return first_ns;
}

/* When the last of the process's open operations began. */
static uint64_t find_latest_start(const struct esi_facts *facts,
                                  const struct esi_fact_process *process)
{
    uint64_t latest_ns = 0;

    for (size_t i = 0; i < process->thread_count; i++) {
        const struct esi_activity *open =
            &facts->threads[process->first_thread + i].open;

        if (open->present && open->start_ns > latest_ns)
            latest_ns = open->start_ns;
    }
    return latest_ns;
}

/* A count of before the last operation began says nothing: the thread may have created
 * others in between. */
void esi_fact_set_others(const struct esi_facts *facts,
                         struct esi_fact_process *process,
                         uint64_t counted_ns)
{
    const struct esi_ledger *ledger = process->ledger;

    if (!ledger || !ledger->concurrent)
        process->others = 0;
    else if (process->state == ES_PROCESS_RUNNING ||
             counted_ns >= find_latest_start(facts, process))
        process->others = ledger->others;
    else
        process->others = -1;
}

/* The last operation of a process that was killed with all others counts as evidence if
 * it began before the first of them died. */
static void read_last_state(const struct esi_facts *facts,
                            struct esi_fact_process *process,
                            uint64_t first_death_ns)
{
    uint64_t latest_ns = find_latest_start(facts, process);

    if (!facts->over || !is_killed_from_outside(process))
        return;
    process->as_it_was = latest_ns <= first_death_ns;
    process->still =
        first_death_ns > latest_ns && first_death_ns - latest_ns >= NOTICE_OF_DEATH_NS;
    process->schedule = process->ended_ns > latest_ns &&
                                process->ended_ns - latest_ns >= LASTING_CALL_NS
                            ? ESI_SCHEDULE_RAN
                            : ESI_SCHEDULE_HELD;
}

void esi_facts_set_ends(struct esi_facts *facts)
{
    uint64_t first_death_ns = find_first_death(facts);

    facts->over = facts->process_count > 0;
    for (size_t i = 0; i < facts->process_count; i++)
        facts->over &= facts->processes[i].state != ES_PROCESS_RUNNING;
    for (size_t i = 0; i < facts->process_count; i++)
        read_last_state(facts, &facts->processes[i], first_death_ns);
}
