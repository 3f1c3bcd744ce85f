/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* verdict.c - knots of the wait graph, mismatches and deaths. */
#include "config.h"

#include "monitors/verdict/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *esi_verdict_kind_name(enum esi_verdict_kind kind)
{
    static const char *const names[] = {
        [ESI_VERDICT_DEADLOCK] = "DEADLOCK",
        [ESI_VERDICT_MISMATCH] = "MISMATCH",
        [ESI_VERDICT_MISSING] = "MISSING",
        [ESI_VERDICT_DIED] = "DIED",
    };

    return names[kind];
}

static int add_number(struct esi_number_list *list, int number)
{
    if (ESI_ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    list->items[list->count++] = number;
    return 0;
}

static int add_item(struct esi_diagnosis *diagnosis,
                    const struct esi_verdict_item *item)
{
    if (ESI_ARRAY_RESERVE(diagnosis->items, diagnosis->capacity, diagnosis->count + 1) <
        0)
        return -ENOMEM;
    diagnosis->items[diagnosis->count++] = *item;
    return 0;
}

/* --- Knots ------------------------------------------------------------------------ */

/* The search for knots in one mode. */
struct knot_search {
    struct esi_diagnosis *diagnosis;
    const bool *stuck;
    const bool *sure; /* what is certainly stuck: no knot that is only possible
                         contains it */
    bool surely;
    bool *waits; /* the stuck nodes that threads lead to: nobody waits for some sets
                    of ranks */
    const bool *surely_waits; /* the `waits` of the certain search, in the possible
                                 search */
    struct esi_and_or_knots knots;
    uint32_t *item_of; /* per component: index of its item, or ESI_NODE_NONE */
    size_t first;      /* first item of this search */
};

static bool is_gone(const struct esi_conditions *conditions, size_t process)
{
    return conditions->graph.nodes[conditions->rank_nodes[process]].surely ==
           ESI_NODE_NEVER;
}

static bool is_first_of_rank(const struct esi_facts *facts, size_t process)
{
    return process == 0 ||
           facts->processes[process - 1].rank != facts->processes[process].rank;
}

/* When the last of the rank's threads began to wait. */
static uint64_t find_since(const struct esi_facts *facts, size_t process)
{
    const struct esi_fact_process *of = &facts->processes[process];
    uint64_t since_ns = 0;

    for (size_t i = 0; i < of->thread_count; i++) {
        const struct esi_thread_state *thread = &facts->threads[of->first_thread + i];

        if (thread->open.present && thread->open.start_ns > since_ns)
            since_ns = thread->open.start_ns;
    }
    return since_ns;
}

/* Marks the components that contain certainly stuck nodes: these are already
 * reported. */
static void mark_told(const struct knot_search *search, bool *told)
{
    const struct esi_and_or *graph = &search->diagnosis->conditions.graph;

    for (size_t i = 0; !search->surely && i < graph->count; i++)
        if (search->stuck[i] && search->sure[i])
            told[search->knots.component[i]] = true;
}

/* Adds the rank to the item of its knot, which is created if necessary. */
static int add_to_knot(struct knot_search *search, size_t process)
{
    struct esi_diagnosis *diagnosis = search->diagnosis;
    const struct esi_conditions *conditions = &diagnosis->conditions;
    uint32_t component = search->knots.component[conditions->rank_nodes[process]];
    uint64_t since_ns = find_since(diagnosis->facts, process);
    struct esi_verdict_item *item;
    int result = 0;

    if (search->item_of[component] == ESI_NODE_NONE) {
        search->item_of[component] = (uint32_t)diagnosis->count;
        result =
            add_item(diagnosis, &(struct esi_verdict_item){.kind = ESI_VERDICT_DEADLOCK,
                                                           .certain = search->surely});
    }
    if (result < 0)
        return result;
    item = &diagnosis->items[search->item_of[component]];
    if (since_ns > item->since_ns)
        item->since_ns = since_ns;
    return add_number(&item->ranks, diagnosis->facts->processes[process].rank);
}

static int find_cycles(struct knot_search *search)
{
    struct esi_diagnosis *diagnosis = search->diagnosis;

    for (size_t i = search->first; i < diagnosis->count; i++) {
        struct esi_verdict_item *item = &diagnosis->items[i];
        uint32_t node;
        int count;

        if (item->kind != ESI_VERDICT_DEADLOCK)
            continue;
        node = diagnosis->conditions.rank_nodes[esi_facts_find_process(
            diagnosis->facts, item->ranks.items[0])];
        count = esi_and_or_find_cycle(&diagnosis->conditions.graph, &search->knots,
                                      node, &item->cycle.items);
        if (count < 0)
            return count;
        item->cycle.count = item->cycle.capacity = (size_t)count;
    }
    return 0;
}

/* Fills `waits`. */
static int find_waits(const struct knot_search *search)
{
    const struct esi_conditions *conditions = &search->diagnosis->conditions;
    const struct esi_and_or *graph = &conditions->graph;
    uint32_t *list = calloc(graph->count + 1, sizeof *list);
    size_t head = 0, tail = 0;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < search->diagnosis->facts->thread_count; i++)
        if (search->stuck[conditions->thread_nodes[i]]) {
            list[tail++] = conditions->thread_nodes[i];
            search->waits[conditions->thread_nodes[i]] = true;
        }
    while (head < tail) {
        uint32_t node = list[head++];

        for (uint32_t i = graph->starts[node]; i < graph->starts[node + 1]; i++) {
            uint32_t target = graph->targets[i];

            if (!search->stuck[target] || search->waits[target])
                continue;
            search->waits[target] = true;
            list[tail++] = target;
        }
    }
    free(list);
    return 0;
}

/* Adds awaited ranks that are in MPI_Finalize, have left it, or were killed there. */
static int add_missing(struct knot_search *search, size_t process)
{
    struct esi_diagnosis *diagnosis = search->diagnosis;
    const struct esi_conditions *conditions = &diagnosis->conditions;
    const struct esi_and_or *graph = &conditions->graph;
    uint32_t node = conditions->rank_nodes[process];
    const struct esi_fact_process *of = &diagnosis->facts->processes[process];
    uint32_t component = search->knots.component[node];
    bool is_awaited = false;

    if (of->state != ES_PROCESS_FINALIZED && of->state != ES_PROCESS_RUNNING &&
        !of->as_it_was)
        return 0;
    for (uint32_t i = graph->waiter_starts[node]; i < graph->waiter_starts[node + 1];
         i++)
        is_awaited |=
            search->waits[graph->waiters[i]] &&
            !(search->surely_waits && search->surely_waits[graph->waiters[i]]);
    if (!is_awaited)
        return 0;
    for (size_t i = search->first; i < diagnosis->count; i++)
        if (diagnosis->items[i].kind == ESI_VERDICT_MISSING) {
            search->item_of[component] = (uint32_t)i;
            return add_number(&diagnosis->items[i].ranks,
                              diagnosis->facts->processes[process].rank);
        }
    search->item_of[component] = (uint32_t)diagnosis->count;
    struct esi_verdict_item item = {.kind = ESI_VERDICT_MISSING,
                                    .certain = search->surely};
    int result = add_number(&item.ranks, diagnosis->facts->processes[process].rank);

    return result < 0 ? result : add_item(diagnosis, &item);
}

/* --- Ranks that wait behind a knot ------------------------------------------------ */

/* A stuck node from which an item's knot can be reached is behind that item; the first
 * item wins. */
static int spread_items(const struct knot_search *search, uint32_t *item_of_node)
{
    const struct esi_and_or *graph = &search->diagnosis->conditions.graph;
    uint32_t *list = calloc(graph->count + 1, sizeof *list);
    size_t head = 0, tail = 0;

    if (!list)
        return -ENOMEM;
    for (uint32_t i = 0; i < graph->count; i++) {
        item_of_node[i] = ESI_NODE_NONE;
        if (search->stuck[i])
            item_of_node[i] = search->item_of[search->knots.component[i]];
        if (item_of_node[i] != ESI_NODE_NONE)
            list[tail++] = i;
    }
    while (head < tail) {
        uint32_t node = list[head++];

        for (uint32_t i = graph->waiter_starts[node];
             i < graph->waiter_starts[node + 1]; i++) {
            uint32_t waiter = graph->waiters[i];

            if (!search->stuck[waiter] || item_of_node[waiter] != ESI_NODE_NONE)
                continue;
            item_of_node[waiter] = item_of_node[node];
            list[tail++] = waiter;
        }
    }
    free(list);
    return 0;
}

static int add_behind(struct knot_search *search)
{
    struct esi_diagnosis *diagnosis = search->diagnosis;
    const struct esi_conditions *conditions = &diagnosis->conditions;
    const struct esi_facts *facts = diagnosis->facts;
    uint32_t *item_of_node = calloc(conditions->graph.count + 1, sizeof *item_of_node);
    int result = item_of_node ? spread_items(search, item_of_node) : -ENOMEM;

    for (size_t i = 0; i < facts->process_count && result == 0; i++) {
        uint32_t node = conditions->rank_nodes[i];
        uint32_t index = item_of_node[node];
        uint64_t since_ns = find_since(facts, i);
        struct esi_verdict_item *item;

        if (index == ESI_NODE_NONE || !is_first_of_rank(facts, i) ||
            is_gone(conditions, i) ||
            search->item_of[search->knots.component[node]] != ESI_NODE_NONE)
            continue;
        item = &diagnosis->items[index];
        result = add_number(&item->behind, facts->processes[i].rank);
        if (item->kind == ESI_VERDICT_MISSING && since_ns > item->since_ns)
            item->since_ns = since_ns;
    }
    free(item_of_node);
    return result;
}

/* --- One mode --------------------------------------------------------------------- */

static int list_knots(struct knot_search *search, const bool *told)
{
    struct esi_diagnosis *diagnosis = search->diagnosis;
    const struct esi_conditions *conditions = &diagnosis->conditions;
    int result = 0;

    for (size_t i = 0; i < diagnosis->facts->process_count && result == 0; i++) {
        uint32_t node = conditions->rank_nodes[i];
        uint32_t component = search->knots.component[node];

        if (component == ESI_NODE_NONE || !is_first_of_rank(diagnosis->facts, i))
            continue;
        if (is_gone(conditions, i))
            result = add_missing(search, i);
        else if (search->knots.sink[component] && !told[component])
            result = add_to_knot(search, i);
    }
    return result;
}

static int search_knots(struct knot_search *search)
{
    const struct esi_and_or *graph = &search->diagnosis->conditions.graph;
    bool *told = calloc(graph->count + 1, sizeof *told);
    int result =
        told ? esi_and_or_find_knots(graph, search->stuck, &search->knots) : -ENOMEM;

    search->first = search->diagnosis->count;
    if (result == 0) {
        search->item_of = malloc((graph->count + 1) * sizeof *search->item_of);
        result = search->item_of ? 0 : -ENOMEM;
    }
    if (result == 0)
        mark_told(search, told);
    for (size_t i = 0; result == 0 && i < graph->count; i++)
        search->item_of[i] = ESI_NODE_NONE;
    if (result == 0)
        result = find_waits(search);
    if (result == 0)
        result = list_knots(search, told);
    if (result == 0)
        result = find_cycles(search);
    if (result == 0)
        result = add_behind(search);
    esi_and_or_knots_fini(&search->knots);
    free(search->item_of);
    free(told);
    return result;
}

static void tell_stuck(struct esi_diagnosis *diagnosis, const bool *stuck)
{
    struct esi_conditions *conditions = &diagnosis->conditions;

    for (size_t i = 0; i < diagnosis->facts->thread_count; i++)
        conditions->waits[i].stuck =
            stuck[conditions->thread_nodes[i]] && conditions->waits[i].target_count > 0;
}

static int find_deadlocks(struct esi_diagnosis *diagnosis)
{
    const struct esi_and_or *graph = &diagnosis->conditions.graph;
    bool *sure = calloc(graph->count + 1, sizeof *sure);
    bool *maybe = calloc(graph->count + 1, sizeof *maybe);
    bool *surely_waits = calloc(graph->count + 1, sizeof *surely_waits);
    bool *maybe_waits = calloc(graph->count + 1, sizeof *maybe_waits);
    int result = sure && maybe && surely_waits && maybe_waits
                     ? esi_and_or_release(graph, true, sure)
                     : -ENOMEM;

    if (result == 0)
        result = esi_and_or_release(graph, false, maybe);
    if (result == 0) {
        struct knot_search surely = {.diagnosis = diagnosis,
                                     .stuck = sure,
                                     .sure = sure,
                                     .surely = true,
                                     .waits = surely_waits};

        tell_stuck(diagnosis, maybe);
        result = search_knots(&surely);
    }
    if (result == 0) {
        struct knot_search possibly = {.diagnosis = diagnosis,
                                       .stuck = maybe,
                                       .sure = sure,
                                       .waits = maybe_waits,
                                       .surely_waits = surely_waits};

        result = search_knots(&possibly);
    }
    free(sure);
    free(maybe);
    free(surely_waits);
    free(maybe_waits);
    return result;
}

/* --- Mismatches ------------------------------------------------------------------- */

static bool is_same_mismatch(const struct esi_instance_mismatch *a,
                             const struct esi_instance_mismatch *b)
{
    return a->instance == b->instance && a->entries[0].rank == b->entries[0].rank &&
           a->entries[1].rank == b->entries[1].rank &&
           a->entries[0].operation == b->entries[0].operation &&
           a->entries[1].operation == b->entries[1].operation;
}

/* A reader may misread a ledger that is being written, but not twice in the same
 * way. */
static bool was_seen(const struct esi_verdict_memory *memory,
                     const struct esi_facts *facts,
                     const struct esi_instance_mismatch *mismatch)
{
    const uint64_t *key = esi_fact_group(facts, mismatch->group)->key;

    for (size_t i = 0; memory && i < memory->count; i++)
        if (memory->keys[i][0] == key[0] && memory->keys[i][1] == key[1] &&
            is_same_mismatch(&memory->mismatches[i], mismatch))
            return true;
    return false;
}

static int add_mismatches(struct esi_diagnosis *diagnosis,
                          const struct esi_verdict_memory *memory)
{
    const struct esi_instance_table *instances = &diagnosis->conditions.instances;
    int result = 0;

    for (size_t i = 0; i < instances->mismatch_count && result == 0; i++) {
        const struct esi_instance_mismatch *mismatch = &instances->mismatches[i];
        struct esi_verdict_item item = {
            .kind = ESI_VERDICT_MISMATCH, .certain = true, .mismatch = mismatch};
        bool turned = mismatch->entries[0].rank > mismatch->entries[1].rank;

        if (!diagnosis->facts->over && !was_seen(memory, diagnosis->facts, mismatch))
            continue;
        result = add_number(&item.ranks, mismatch->entries[turned].rank);
        if (result == 0)
            result = add_number(&item.ranks, mismatch->entries[!turned].rank);
        if (result == 0)
            result = add_item(diagnosis, &item);
    }
    return result;
}

void esi_verdict_memory_fini(struct esi_verdict_memory *memory)
{
    free(memory->mismatches);
    free(memory->keys);
    *memory = (struct esi_verdict_memory){0};
}

static int remember_mismatches(const struct esi_diagnosis *diagnosis,
                               struct esi_verdict_memory *memory)
{
    const struct esi_instance_table *instances = &diagnosis->conditions.instances;
    size_t count = instances->mismatch_count;

    esi_verdict_memory_fini(memory);
    memory->mismatches = calloc(count + 1, sizeof *memory->mismatches);
    memory->keys = calloc(count + 1, sizeof *memory->keys);
    if (!memory->mismatches || !memory->keys)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        memory->mismatches[i] = instances->mismatches[i];
        memcpy(memory->keys[i],
               esi_fact_group(diagnosis->facts, instances->mismatches[i].group)->key,
               sizeof memory->keys[i]);
    }
    memory->count = count;
    return 0;
}

/* --- Ends ------------------------------------------------------------------------- */

/* Signals with which launchers and users end whole runs. */
static bool is_sent_from_outside(int number)
{
    return number == SIGKILL || number == SIGTERM || number == SIGINT ||
           number == SIGHUP || number == SIGQUIT || number == 0;
}

static bool has_failed_itself(const struct esi_fact_process *process)
{
    switch (process->state) {
    case ES_PROCESS_ABORTED:
    case ES_PROCESS_EXITED:
        return true;
    case ES_PROCESS_FINALIZED:
        return process->exit_code > 0;
    case ES_PROCESS_KILLED:
        return !is_sent_from_outside(process->signal);
    default:
        return false;
    }
}

/* Launchers kill all other processes within this time of the first death. */
#define AT_ONCE_NS UINT64_C(1000000000)

static uint64_t end_of(const struct esi_fact_process *process)
{
    return process->ended_ns ? process->ended_ns : UINT64_MAX;
}

/* Whether the times tell which of the two died first. */
static bool are_apart(const struct esi_fact_process *a,
                      const struct esi_fact_process *b)
{
    uint64_t first_ns = end_of(a), second_ns = end_of(b);

    return a->ended_ns && b->ended_ns &&
           (first_ns > second_ns ? first_ns - second_ns : second_ns - first_ns) >=
               AT_ONCE_NS;
}

static bool was_in_call(const struct esi_facts *facts,
                        const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (facts->threads[process->first_thread + i].open.present)
            return true;
    return false;
}

/* Whether the process was in a call that MPI refuses. */
static bool was_in_wrong_call(const struct esi_facts *facts,
                              const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (facts->threads[process->first_thread + i].open.has_no_peer)
            return true;
    return false;
}

/* Whether the process was in a call that waited for nobody: such a call returns or
 * fails. */
static bool was_in_failing_call(const struct esi_diagnosis *diagnosis,
                                const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (diagnosis->conditions.waits[process->first_thread + i].reason ==
            ES_REASON_TRANSFER)
            return true;
    return false;
}

/* Negative if `a` certainly died before `b`, positive if after; 0 if that is not known.
 * MPI asks the launcher to kill all processes after an error, including the one that
 * asked, so neither the signal nor the call tells, unless the call is wrong. */
static int compare_deaths(const struct esi_facts *facts,
                          const struct esi_fact_process *a,
                          const struct esi_fact_process *b)
{
    int order = was_in_wrong_call(facts, b) - was_in_wrong_call(facts, a);

    if (order == 0)
        order = has_failed_itself(b) - has_failed_itself(a);
    if (order == 0 && are_apart(a, b))
        order = end_of(a) < end_of(b) ? -1 : 1;
    return order;
}

/* Negative if `a` is to be told before `b`: if it is not known which of them died
 * first, more likely that which was in a failing call, then that which was in none. */
static int compare_suspects(const struct esi_diagnosis *diagnosis,
                            const struct esi_fact_process *a,
                            const struct esi_fact_process *b)
{
    int order = compare_deaths(diagnosis->facts, a, b);

    if (order == 0)
        order = was_in_failing_call(diagnosis, b) - was_in_failing_call(diagnosis, a);
    if (order == 0)
        order = was_in_call(diagnosis->facts, a) - was_in_call(diagnosis->facts, b);
    return order;
}

/* Whether the whole job was ended: all ranks that died got the same signal at once, and
 * not SIGKILL, with which launchers kill the others after one rank has died. */
static bool were_ended_together(const struct esi_diagnosis *diagnosis,
                                const struct esi_fact_process *first)
{
    const struct esi_facts *facts = diagnosis->facts;
    bool has_others = false;

    if (first->state != ES_PROCESS_KILLED || first->signal == SIGKILL ||
        has_failed_itself(first) || was_in_wrong_call(facts, first))
        return false;
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct esi_fact_process *process = &facts->processes[i];

        if (process->state == ES_PROCESS_RUNNING)
            return false;
        if (!esi_fact_has_died(process) || process->rank == first->rank)
            continue;
        if (process->state != first->state || process->signal != first->signal ||
            has_failed_itself(process) || are_apart(process, first))
            return false;
        has_others = true;
    }
    return has_others;
}

/* Lists the dead ranks as the first, if the order is undecided, or as behind it. */
static int list_deaths(const struct esi_diagnosis *diagnosis,
                       const struct esi_fact_process *first,
                       struct esi_verdict_item *item)
{
    const struct esi_facts *facts = diagnosis->facts;
    int result = 0;

    for (size_t i = 0; i < facts->process_count && result == 0; i++) {
        const struct esi_fact_process *process = &facts->processes[i];
        bool is_first = item->together || process->rank == first->rank ||
                        compare_deaths(facts, first, process) == 0;

        if (esi_fact_has_died(process) && is_first_of_rank(facts, i))
            result = add_number(is_first ? &item->ranks : &item->behind, process->rank);
    }
    return result;
}

static int add_death(struct esi_diagnosis *diagnosis)
{
    const struct esi_facts *facts = diagnosis->facts;
    const struct esi_fact_process *first = NULL;
    struct esi_verdict_item item = {.kind = ESI_VERDICT_DIED,
                                    .certain = !facts->ends_change};
    int result;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct esi_fact_process *process = &facts->processes[i];

        if (esi_fact_has_died(process) &&
            (!first || compare_suspects(diagnosis, process, first) < 0))
            first = process;
    }
    /* The hanging run was killed from outside. */
    if (!first ||
        (first->as_it_was && esi_diagnosis_outcome(diagnosis) == ESI_OUTCOME_CERTAIN))
        return 0;
    item.process = first;
    item.since_ns = first->ended_ns;
    item.together = were_ended_together(diagnosis, first);
    result = list_deaths(diagnosis, first, &item);
    return result < 0 ? result : add_item(diagnosis, &item);
}

/* --- Ranks that hold up others ---------------------------------------------------- */

static int compare_holders(const void *a, const void *b)
{
    const struct esi_verdict_holder *first = a;
    const struct esi_verdict_holder *second = b;

    if (first->waiting != second->waiting)
        return first->waiting > second->waiting ? -1 : 1;
    return (first->rank > second->rank) - (first->rank < second->rank);
}

/* Whether all active threads of the rank wait. */
static bool is_blocked(const struct esi_diagnosis *diagnosis, size_t process)
{
    const struct esi_facts *facts = diagnosis->facts;
    bool waits = false;

    for (size_t i = process; i < facts->process_count &&
                             facts->processes[i].rank == facts->processes[process].rank;
         i++)
        for (size_t j = 0; j < facts->processes[i].thread_count; j++) {
            size_t thread = facts->processes[i].first_thread + j;

            if (diagnosis->conditions.waits[thread].reason == ES_REASON_NONE)
                return false;
            waits = true;
        }
    return waits;
}

static int find_holders(struct esi_diagnosis *diagnosis)
{
    const struct esi_facts *facts = diagnosis->facts;

    diagnosis->holders = calloc(facts->process_count + 1, sizeof *diagnosis->holders);
    if (!diagnosis->holders)
        return -ENOMEM;
    for (size_t i = 0; i < facts->process_count; i++) {
        bool gone = is_gone(&diagnosis->conditions, i);

        if (diagnosis->conditions.holds_up[i] == 0 || !is_first_of_rank(facts, i) ||
            (!gone && is_blocked(diagnosis, i)))
            continue;
        diagnosis->holders[diagnosis->holder_count++] =
            (struct esi_verdict_holder){.rank = facts->processes[i].rank,
                                        .waiting = diagnosis->conditions.holds_up[i],
                                        .gone = gone};
    }
    if (diagnosis->holder_count > 1)
        qsort(diagnosis->holders, diagnosis->holder_count, sizeof *diagnosis->holders,
              compare_holders);
    return 0;
}

/* --- Interface -------------------------------------------------------------------- */

size_t esi_diagnosis_count_unknown(const struct esi_diagnosis *diagnosis)
{
    size_t count = 0;

    for (size_t i = 0; i < diagnosis->facts->thread_count; i++)
        count += diagnosis->facts->threads[i].verdict == ES_VERDICT_UNKNOWN;
    return count;
}

enum esi_diagnosis_outcome esi_diagnosis_outcome(const struct esi_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->items[i].certain)
            return ESI_OUTCOME_CERTAIN;
    return diagnosis->count || esi_diagnosis_count_unknown(diagnosis)
               ? ESI_OUTCOME_POSSIBLE
               : ESI_OUTCOME_NOTHING;
}

static int compare_items(const void *a, const void *b)
{
    const struct esi_verdict_item *first = a;
    const struct esi_verdict_item *second = b;

    /* What was wrong before the job was ended is the answer. */
    if (first->together != second->together)
        return first->together ? 1 : -1;
    if (first->certain != second->certain)
        return first->certain ? -1 : 1;
    if (first->kind != second->kind)
        return first->kind < second->kind ? -1 : 1;
    if (first->ranks.count != second->ranks.count)
        return first->ranks.count < second->ranks.count ? -1 : 1;
    return (first->ranks.items[0] > second->ranks.items[0]) -
           (first->ranks.items[0] < second->ranks.items[0]);
}

int esi_diagnosis_make(const struct esi_facts *facts,
                       struct esi_verdict_memory *memory,
                       struct esi_diagnosis *ret_diagnosis)
{
    struct esi_diagnosis diagnosis = {.facts = facts};
    int result = esi_conditions_init(&diagnosis.conditions, facts);

    if (result < 0)
        return result;
    result = find_deadlocks(&diagnosis);
    if (result == 0)
        result = add_mismatches(&diagnosis, memory);
    if (result == 0)
        result = add_death(&diagnosis);
    if (result == 0)
        result = find_holders(&diagnosis);
    if (result == 0 && memory)
        result = remember_mismatches(&diagnosis, memory);
    if (result < 0) {
        esi_diagnosis_fini(&diagnosis);
        return result;
    }
    if (diagnosis.count > 1)
        qsort(diagnosis.items, diagnosis.count, sizeof *diagnosis.items, compare_items);
    *ret_diagnosis = diagnosis;
    return 0;
}

void esi_diagnosis_fini(struct esi_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++) {
        free(diagnosis->items[i].ranks.items);
        free(diagnosis->items[i].cycle.items);
        free(diagnosis->items[i].behind.items);
    }
    free(diagnosis->items);
    free(diagnosis->holders);
    if (diagnosis->facts)
        esi_conditions_fini(&diagnosis->conditions);
    *diagnosis = (struct esi_diagnosis){0};
}
