/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* conditions.c - builds the wait graph from the facts. */
#include "config.h"

#include "monitors/verdict/conditions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "monitors/verdict/conditions_private.h"
#include "tuplespace/operation_codes.h"

/* Only polls that last longer are reported. */
#define LASTING_POLLS_NS UINT64_C(500000000)

/* --- Nodes ----------------------------------------------------------------------- */

static int add_node(struct esi_conditions *conditions,
                    const struct esi_and_or_node *node,
                    uint32_t *ret_number)
{
    return esi_and_or_add(&conditions->graph, node, ret_number);
}

static int link_nodes(struct esi_conditions *conditions, uint32_t from, uint32_t to)
{
    return esi_and_or_link(&conditions->graph, from, to);
}

uint32_t esi_condition_rank_node(const struct esi_conditions *conditions, int rank)
{
    size_t process = esi_facts_find_process(conditions->facts, rank);

    return process < conditions->facts->process_count ? conditions->rank_nodes[process]
                                                      : conditions->acts;
}

bool esi_condition_is_exact(const struct esi_conditions *conditions, int rank)
{
    size_t process = esi_facts_find_process(conditions->facts, rank);

    return process < conditions->facts->process_count && conditions->exact[process];
}

/* Adds a node that waits for any rank of a list. */
static int add_any_of(struct esi_conditions *conditions,
                      const int *ranks,
                      size_t count,
                      uint32_t *ret_node)
{
    int result = add_node(
        conditions,
        &(struct esi_and_or_node){
            .surely = ESI_NODE_ANY, .maybe = ESI_NODE_ANY, .shared = true, .owner = -1},
        ret_node);

    for (size_t i = 0; i < count && result == 0; i++)
        result = link_nodes(conditions, *ret_node,
                            esi_condition_rank_node(conditions, ranks[i]));
    return result;
}

int esi_condition_find_senders(struct esi_conditions *conditions,
                               uint32_t group,
                               unsigned side,
                               struct esi_sender_set **ret_set)
{
    const struct esi_run_communicator *members =
        esi_fact_group(conditions->facts, group);
    struct esi_sender_set *set = &conditions->sets[2 * (size_t)group + side];
    int result;

    *ret_set = NULL;
    if (!esi_run_side_ranks(members, side))
        return 0;
    if (!set->made) {
        result = add_any_of(conditions, esi_run_side_ranks(members, side),
                            members->sizes[side], &set->node);
        if (result < 0)
            return result;
        set->made = true;
        set->exact = true;
        for (size_t i = 0; i < members->sizes[side] && set->exact; i++)
            set->exact = esi_condition_is_exact(conditions,
                                                esi_run_side_ranks(members, side)[i]);
        for (size_t i = 0; i < members->sizes[side] && !set->freed; i++)
            set->freed = esi_facts_has_freed(conditions->facts, group,
                                             esi_run_side_ranks(members, side)[i]);
    }
    *ret_set = set;
    return 0;
}

/* Returns the node for any rank of the run. */
static int find_everybody(struct esi_conditions *conditions, uint32_t *ret_node)
{
    const struct esi_facts *facts = conditions->facts;
    int result = 0;

    if (conditions->everybody == ESI_NODE_NONE)
        result = add_any_of(conditions, NULL, 0, &conditions->everybody);
    else
        goto out;
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        result =
            link_nodes(conditions, conditions->everybody, conditions->rank_nodes[i]);
out:
    *ret_node = conditions->everybody;
    return result;
}

/* Members missing from an instance are the first ones of their space.  Makes a node for
 * each number of first members, which refers to the node before. */
static int make_steps(struct esi_conditions *conditions,
                      struct esi_instance_space *space,
                      bool any)
{
    struct esi_and_or_node node = {.surely = any ? ESI_NODE_ANY : ESI_NODE_ALL,
                                   .maybe = ESI_NODE_ALL,
                                   .shared = true,
                                   .owner = -1};
    uint32_t first = (uint32_t)conditions->graph.count;
    int result = 0;

    for (size_t i = 0; i <= space->member_count && result == 0; i++) {
        uint32_t number;

        result = add_node(conditions, &node, &number);
        if (result < 0 || i == 0)
            continue;
        result =
            link_nodes(conditions, number,
                       esi_condition_rank_node(conditions, space->members[i - 1].rank));
        if (result == 0 && i > 1)
            result = link_nodes(conditions, number, number - 1);
    }
    space->nodes[any] = first;
    return result;
}

int esi_condition_find_missing(struct esi_conditions *conditions,
                               struct esi_instance_space *space,
                               size_t count,
                               bool any,
                               uint32_t *ret_node)
{
    int result = 0;

    /* Node 0 is the acting node, so 0 means not made. */
    if (space->nodes[any] == 0)
        result = make_steps(conditions, space, any);
    *ret_node = space->nodes[any] + (uint32_t)count;
    return result;
}

/* --- Processes and ranks ---------------------------------------------------------- */

static bool is_in_finalize(const struct esi_facts *facts,
                           const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct esi_activity *open =
            &facts->threads[process->first_thread + i].open;

        if (open->present && open->operation == ES_OP_MPI_Finalize)
            return true;
    }
    return false;
}

static bool has_collectors_off(const struct esi_facts *facts,
                               const struct esi_fact_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++)
        if (facts->threads[process->first_thread + i].elements_off)
            return true;
    return false;
}

static bool is_alone(const struct esi_facts *facts, size_t index)
{
    int rank = facts->processes[index].rank;

    return (index == 0 || facts->processes[index - 1].rank != rank) &&
           (index + 1 == facts->process_count ||
            facts->processes[index + 1].rank != rank);
}

static void read_process(struct esi_conditions *conditions, size_t index)
{
    const struct esi_facts *facts = conditions->facts;
    const struct esi_fact_process *process = &facts->processes[index];

    conditions->exact[index] = process->ledger && !process->ledger->partial &&
                               !has_collectors_off(facts, process) &&
                               is_alone(facts, index);
    conditions->terminal[index] =
        process->state == ES_PROCESS_RUNNING || process->as_it_was
            ? is_in_finalize(facts, process)
            : true;
}

/* One node per rank, shared by all its processes. */
static int add_ranks(struct esi_conditions *conditions)
{
    const struct esi_facts *facts = conditions->facts;
    int result = 0;

    for (size_t i = 0, first = 0; i < facts->process_count && result == 0; i++) {
        struct esi_and_or_node node = {.surely = ESI_NODE_ANY,
                                       .maybe = ESI_NODE_ANY,
                                       .owner = facts->processes[i].rank};
        bool terminal = true, has_others = false;

        if (i > 0 && facts->processes[i].rank == facts->processes[first].rank) {
            conditions->rank_nodes[i] = conditions->rank_nodes[first];
            continue;
        }
        first = i;
        for (size_t j = i; j < facts->process_count &&
                           facts->processes[j].rank == facts->processes[i].rank;
             j++) {
            terminal &= conditions->terminal[j];
            has_others |= facts->processes[j].others != 0;
        }
        if (terminal)
            node.surely = node.maybe = ESI_NODE_NEVER;
        else if (has_others)
            node.surely = ESI_NODE_ACTS;
        result = add_node(conditions, &node, &conditions->rank_nodes[i]);
    }
    return result;
}

/* --- Threads ---------------------------------------------------------------------- */

/* Whether the thread is in an operation, or polls, and did nothing else since the last
 * observation. */
static bool is_blocked_thread(const struct esi_facts *facts,
                              const struct esi_fact_process *process,
                              const struct esi_thread_state *thread)
{
    if (process->as_it_was)
        return thread->open.present;
    if (thread->polls_rise)
        return facts->now_ns > thread->quiet_since_ns &&
               facts->now_ns - thread->quiet_since_ns >= LASTING_POLLS_NS;
    return esi_thread_is_blocked(thread) && (process->still || thread->lasts);
}

/* The requests that the thread waits for, according to the ledger. */
static const struct esi_ledger_wait *find_wait(const struct esi_fact_process *process,
                                               const struct esi_thread_state *thread)
{
    const struct esi_ledger *ledger = process->ledger;

    for (size_t i = 0; ledger && i < ledger->wait_count; i++)
        if (ledger->waits[i].thread == thread->thread &&
            ledger->waits[i].kind != ESI_LEDGER_WAIT_NONE)
            return &ledger->waits[i];
    return NULL;
}

/* Indexes the handles of a process: the requests of a ledger are not sorted. */
static int hash_requests(const struct esi_ledger *ledger, struct esi_hash *numbers)
{
    if (esi_hash_reserve(numbers, ledger->request_count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < ledger->request_count; i++)
        esi_hash_insert(numbers, esi_hash_mix(0, ledger->requests[i].handle), i);
    return 0;
}

static const struct esi_ledger_request *find_request(const struct esi_ledger *ledger,
                                                     const struct esi_hash *numbers,
                                                     uint64_t handle)
{
    ESI_HASH_FOREACH(slot, numbers, esi_hash_mix(0, handle)) {
        const struct esi_ledger_request *request =
            &ledger->requests[esi_hash_index(numbers, slot)];

        if (request->handle == handle)
            return request;
    }
    return NULL;
}

/* The conditions of all requests of one call. */
struct thread_wait {
    struct esi_conditions *conditions;
    const struct esi_fact_process *process;
    size_t thread;
    struct esi_condition *items; /* owned; those that are not met */
    size_t count;
    size_t capacity;
    size_t met;
    bool unknown;     /* some requests are not known */
    bool cancellable; /* a thread that has never called MPI may cancel its requests */
};

static int take_condition(void *data, const struct esi_condition *found)
{
    struct thread_wait *wait = data;

    if (found->surety == ESI_CONDITION_MET) {
        wait->met++;
        return 0;
    }
    if (found->surety == ESI_CONDITION_UNKNOWN) {
        wait->unknown = true;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(wait->items, wait->capacity, wait->count + 1) < 0)
        return -ENOMEM;
    wait->items[wait->count++] = *found;
    return 0;
}

static bool is_among(const struct esi_ledger_wait *known, size_t count, uint64_t handle)
{
    for (size_t i = 0; i < count; i++)
        if (known->handles[i] == handle)
            return true;
    return false;
}

/* The request is reported with the wait. */
static int add_pending(struct thread_wait *wait,
                       const struct esi_ledger_request *request)
{
    struct esi_conditions *conditions = wait->conditions;
    struct esi_wait *told = &conditions->waits[wait->thread];

    if (ESI_ARRAY_RESERVE(conditions->pending, conditions->pending_capacity,
                          conditions->pending_count + 1) < 0)
        return -ENOMEM;
    if (told->pending_count++ == 0)
        told->first_pending = (uint32_t)conditions->pending_count;
    conditions->pending[conditions->pending_count++] = request;
    return 0;
}

/* The call names more requests than are known; any other request may be among them. */
static int read_others(struct thread_wait *wait,
                       const struct esi_ledger_wait *known,
                       size_t count)
{
    const struct esi_ledger *ledger = wait->process->ledger;
    int result = 0;

    for (size_t i = 0; i < ledger->request_count && result == 0; i++) {
        const struct esi_ledger_request *request = &ledger->requests[i];
        struct esi_condition found;

        if ((request->persistent && !request->active) ||
            is_among(known, count, request->handle))
            continue;
        result =
            esi_condition_of_request(wait->conditions, wait->process, request, &found);
        if (found.surety > ESI_CONDITION_MAYBE)
            found.surety = ESI_CONDITION_MAYBE;
        if (result < 0 || found.surety != ESI_CONDITION_MAYBE)
            continue;
        result = add_pending(wait, request);
        if (result == 0)
            result = take_condition(wait, &found);
    }
    return result;
}

static int read_requests(struct thread_wait *wait, const struct esi_ledger_wait *known)
{
    const struct esi_ledger *ledger = wait->process->ledger;
    size_t count =
        known->known < ESI_LEDGER_WAIT_HANDLES ? known->known : ESI_LEDGER_WAIT_HANDLES;
    struct esi_hash numbers = {0};
    int result = hash_requests(ledger, &numbers);

    for (size_t i = 0; i < count && result == 0; i++) {
        const struct esi_ledger_request *request =
            find_request(ledger, &numbers, known->handles[i]);
        struct esi_condition found = {.surety = ESI_CONDITION_MET};

        if (request && !(request->persistent && !request->active))
            result = esi_condition_of_request(wait->conditions, wait->process, request,
                                              &found);
        if (result == 0 && found.surety != ESI_CONDITION_MET)
            result = add_pending(wait, request);
        if (result == 0)
            result = take_condition(wait, &found);
    }
    esi_hash_fini(&numbers);
    wait->unknown |= known->count > count || known->others;
    return result == 0 && known->count > count ? read_others(wait, known, count)
                                               : result;
}

/* --- A thread's node -------------------------------------------------------------- */

/* For an uncertain request, adds a node between the thread and its possible targets. */
static int add_request_node(const struct thread_wait *wait,
                            const struct esi_condition *item,
                            uint32_t thread_node)
{
    struct esi_and_or_node node = {
        .surely = ESI_NODE_ACTS, .maybe = ESI_NODE_ALL, .owner = wait->process->rank};
    uint32_t number;
    int result = add_node(wait->conditions, &node, &number);

    if (result == 0)
        result = link_nodes(wait->conditions, number, item->node);
    if (result == 0)
        result = link_nodes(wait->conditions, thread_node, number);
    return result;
}

static size_t count_surety(const struct thread_wait *wait,
                           enum esi_condition_surety surety)
{
    size_t count = 0;

    for (size_t i = 0; i < wait->count; i++)
        count += wait->items[i].surety == surety;
    return count;
}

/* The mode in which the reasons make the wait certain. */
static enum esi_and_or_mode find_sure_mode(const struct thread_wait *wait, bool any)
{
    size_t sure = count_surety(wait, ESI_CONDITION_SURE);
    size_t reasoned = count_surety(wait, ESI_CONDITION_REASONED);
    bool ran = wait->process->schedule == ESI_SCHEDULE_RAN;

    if (!wait->process->still || wait->cancellable)
        return ESI_NODE_ACTS;
    if (any)
        return !wait->unknown && sure + reasoned == wait->count &&
                       (reasoned == 0 || ran)
                   ? ESI_NODE_ANY
                   : ESI_NODE_ACTS;
    if (sure > 0)
        return ESI_NODE_ALL;
    /* It waits for one of these, whichever it is: all others are complete. */
    return !wait->unknown && reasoned == wait->count && ran ? ESI_NODE_ANY
                                                            : ESI_NODE_ACTS;
}

static int link_conditions(const struct thread_wait *wait,
                           enum esi_and_or_mode surely,
                           uint32_t thread_node)
{
    int result = 0;

    for (size_t i = 0; i < wait->count && result == 0; i++) {
        const struct esi_condition *item = &wait->items[i];
        bool counts = surely != ESI_NODE_ALL || item->surety == ESI_CONDITION_SURE;

        result = counts ? link_nodes(wait->conditions, thread_node, item->node)
                        : add_request_node(wait, item, thread_node);
    }
    return result;
}

/* --- Reported waits --------------------------------------------------------------- */

static int list_targets(const struct thread_wait *wait, struct esi_wait *told)
{
    size_t count = 0;

    if (wait->count == 1 && wait->items[0].targets) {
        told->targets = wait->items[0].targets;
        told->target_count = wait->items[0].target_count;
        return 0;
    }
    told->list = calloc(wait->count + 1, sizeof *told->list);
    if (!told->list)
        return -ENOMEM;
    for (size_t i = 0; i < wait->count; i++) {
        const struct esi_condition *item = &wait->items[i];
        size_t known = 0;

        while (known < count && told->list[known] != item->rank)
            known++;
        if (item->rank >= 0 && known == count)
            told->list[count++] = item->rank;
    }
    told->targets = told->list;
    told->target_count = count;
    return 0;
}

/* Counts the thread for a rank, once, however many of its requests wait for it. */
static void count_holder(struct esi_conditions *conditions,
                         size_t process,
                         size_t thread)
{
    if (process >= conditions->facts->process_count ||
        conditions->counted[process] == thread + 1)
        return;
    conditions->counted[process] = thread + 1;
    conditions->holds_up[process]++;
}

/* Counts the threads that wait for each rank.  Nobody holds up a thread that waits for
 * any of several ranks.  All members missing from an instance hold it up; if a thread
 * waits for nothing else, they are counted by their number. */
static void count_holders(const struct thread_wait *wait)
{
    struct esi_conditions *conditions = wait->conditions;

    for (size_t i = 0; i < wait->count; i++) {
        const struct esi_condition *item = &wait->items[i];
        struct esi_instance_space *space;

        if (item->space == ESI_CONDITION_NO_SPACE) {
            if (!item->any)
                count_holder(conditions,
                             esi_facts_find_process(conditions->facts, item->rank),
                             wait->thread);
            continue;
        }
        space = &conditions->instances.spaces[item->space];
        if (wait->count == 1)
            space->waiting[item->target_count]++;
        for (size_t j = 0; wait->count > 1 && j < item->target_count; j++)
            count_holder(conditions, space->members[j].process, wait->thread);
    }
}

static void count_missing(struct esi_conditions *conditions)
{
    for (size_t i = 0; i < conditions->instances.count; i++) {
        const struct esi_instance_space *space = &conditions->instances.spaces[i];
        size_t waiting = 0;

        for (size_t j = space->member_count; j > 0; j--) {
            waiting += space->waiting[j];
            if (space->members[j - 1].process < conditions->facts->process_count)
                conditions->holds_up[space->members[j - 1].process] += waiting;
        }
    }
}

static int tell_wait(const struct thread_wait *wait, bool any, bool several)
{
    struct esi_wait *told = &wait->conditions->waits[wait->thread];

    told->requests = several ? (uint32_t)wait->count : 0;
    if (wait->count == 0)
        return 0;
    told->reason =
        several && wait->count > 1 ? ES_REASON_COMPLETION : wait->items[0].reason;
    told->any = wait->count > 1 ? any : wait->items[0].any;
    told->certain = find_sure_mode(wait, any) != ESI_NODE_ACTS;
    for (size_t i = 0; i < wait->count && !told->taker; i++)
        told->taker = wait->items[i].taker;
    if (!any || wait->count == 1)
        count_holders(wait);
    return list_targets(wait, told);
}

/* Links the conditions to the thread's node. */
static int finish_thread(struct thread_wait *wait, bool any, bool several)
{
    struct esi_conditions *conditions = wait->conditions;
    struct esi_and_or_node *node =
        &conditions->graph.nodes[conditions->thread_nodes[wait->thread]];
    bool is_free = wait->count == 0 || (any && wait->met > 0);
    enum esi_and_or_mode surely;
    int result;

    if (is_free)
        return 0;
    surely = find_sure_mode(wait, any);
    node->surely = (uint8_t)surely;
    node->maybe = any ? ESI_NODE_ANY : ESI_NODE_ALL;
    result = link_conditions(wait, surely, conditions->thread_nodes[wait->thread]);
    return result < 0 ? result : tell_wait(wait, any, several);
}

/* A polling thread may stop polling, so nothing is certain.  Message polls do not show
 * which message they are for. */
static int add_polls(struct thread_wait *wait, const struct esi_ledger_wait *known)
{
    struct esi_conditions *conditions = wait->conditions;
    struct esi_wait *told = &conditions->waits[wait->thread];
    size_t process = (size_t)(wait->process - conditions->facts->processes);
    bool asks_for_all;
    int result = 0;

    told->reason = ES_REASON_POLL;
    if (!known || known->kind != ESI_LEDGER_WAIT_POLL)
        return 0;
    result = read_requests(wait, known);
    if (result < 0)
        return result;
    /* If tests fail although one request is complete, they test for all. */
    asks_for_all = wait->met > 0;
    wait->met = 0;
    for (size_t i = 0; i < wait->count; i++)
        wait->items[i].surety = ESI_CONDITION_MAYBE;
    if (known->others) {
        struct esi_condition anybody = {.surety = ESI_CONDITION_MAYBE,
                                        .reason = ES_REASON_POLL,
                                        .any = true,
                                        .rank = -1,
                                        .space = ESI_CONDITION_NO_SPACE};

        if (conditions->channels.surplus[process] != ESI_CHANNEL_NONE)
            return 0;
        result = find_everybody(conditions, &anybody.node);
        if (result == 0)
            result = take_condition(wait, &anybody);
    }
    wait->unknown = true;
    if (result == 0)
        result = finish_thread(wait, !asks_for_all, true);
    told->reason = ES_REASON_POLL;
    told->certain = false;
    return result;
}

static bool completes_requests(const struct esi_activity *open)
{
    const struct es_operation *operation = es_operation_find(open->operation);

    return operation && operation->waits;
}

/* A call that waits for requests: the ledger lists them; otherwise the tuple names
 * one. */
static int add_completion(struct thread_wait *wait,
                          const struct esi_ledger_wait *known,
                          const struct esi_activity *open)
{
    const struct es_operation *operation = es_operation_find(open->operation);
    struct esi_condition found;
    int result;

    wait->cancellable = wait->process->others != 0;
    if (known && known->kind != ESI_LEDGER_WAIT_POLL) {
        result = read_requests(wait, known);
    } else {
        result = esi_condition_of_open(wait->conditions, wait->process,
                                       &wait->conditions->facts->threads[wait->thread],
                                       &found);
        /* This request may be complete now, and others not. */
        if (open->bytes > 1 && found.surety != ESI_CONDITION_UNKNOWN &&
            found.surety != ESI_CONDITION_MET &&
            !(found.surety == ESI_CONDITION_SURE && !operation->any))
            found.surety = ESI_CONDITION_MAYBE;
        wait->unknown = open->bytes > 1;
        if (result == 0 && !(operation->any && open->bytes > 1))
            result = take_condition(wait, &found);
    }
    return result < 0 ? result : finish_thread(wait, operation->any, known != NULL);
}

/* MPI_Init waits for the ranks that have not called MPI yet, in all usual MPIs. */
static int add_init(struct thread_wait *wait)
{
    struct esi_conditions *conditions = wait->conditions;
    const struct esi_facts *facts = conditions->facts;
    int result = 0;

    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        if (facts->threads[facts->processes[i].first_thread].before_mpi)
            result = take_condition(
                wait, &(struct esi_condition){.surety = ESI_CONDITION_MAYBE,
                                              .reason = ES_REASON_COLLECTIVE,
                                              .rank = facts->processes[i].rank,
                                              .node = conditions->rank_nodes[i],
                                              .space = ESI_CONDITION_NO_SPACE});
    return result < 0 ? result : finish_thread(wait, false, false);
}

static int add_call(struct thread_wait *wait, const struct esi_ledger_wait *known)
{
    const struct esi_thread_state *thread =
        &wait->conditions->facts->threads[wait->thread];
    const struct es_operation *operation = es_operation_find(thread->open.operation);
    struct esi_condition found;
    int result;

    if (!operation)
        return 0;
    if (thread->open.operation == ES_OP_MPI_Init ||
        thread->open.operation == ES_OP_MPI_Init_thread)
        return add_init(wait);
    if (completes_requests(&thread->open))
        return add_completion(wait, known, &thread->open);
    if (thread->open.awaited)
        return 0;
    result = esi_condition_add_window(wait->conditions, wait->process, thread,
                                      take_condition, wait);
    if (result != 0)
        return result < 0 ? result : finish_thread(wait, false, false);
    /* The other half of a combined send and receive is among the requests, if known. */
    if (operation->combined && known && known->kind == ESI_LEDGER_WAIT_ALL)
        result = read_requests(wait, known);
    if (result == 0)
        result = esi_condition_of_open(wait->conditions, wait->process, thread, &found);
    if (result < 0)
        return result;
    /* It may wait for the other half. */
    if (operation->combined && found.surety == ESI_CONDITION_REASONED &&
        wait->count == 0)
        found.surety = ESI_CONDITION_MAYBE;
    if (found.surety == ESI_CONDITION_MET)
        wait->conditions->waits[wait->thread].reason = found.reason;
    result = take_condition(wait, &found);
    return result < 0 ? result : finish_thread(wait, false, operation->combined);
}

static int add_thread(struct esi_conditions *conditions,
                      const struct esi_fact_process *process,
                      size_t index)
{
    const struct esi_facts *facts = conditions->facts;
    const struct esi_thread_state *thread = &facts->threads[index];
    size_t place = (size_t)(process - facts->processes);
    struct esi_and_or_node node = {.owner = process->rank};
    struct thread_wait wait = {
        .conditions = conditions, .process = process, .thread = index};
    const struct esi_ledger_wait *known = find_wait(process, thread);
    int result;

    if (conditions->terminal[place])
        node.surely = node.maybe = ESI_NODE_NEVER;
    result = add_node(conditions, &node, &conditions->thread_nodes[index]);
    if (result == 0)
        result = link_nodes(conditions, conditions->rank_nodes[place],
                            conditions->thread_nodes[index]);
    if (result < 0 || conditions->terminal[place] ||
        !is_blocked_thread(facts, process, thread))
        return result;
    result = thread->polls_rise ? add_polls(&wait, known) : add_call(&wait, known);
    free(wait.items);
    return result;
}

/* --- Interface -------------------------------------------------------------------- */

static int make_tables(struct esi_conditions *conditions)
{
    const struct esi_facts *facts = conditions->facts;
    size_t processes = facts->process_count + 1, threads = facts->thread_count + 1;

    conditions->rank_nodes = calloc(processes, sizeof *conditions->rank_nodes);
    conditions->exact = calloc(processes, sizeof *conditions->exact);
    conditions->terminal = calloc(processes, sizeof *conditions->terminal);
    conditions->holds_up = calloc(processes, sizeof *conditions->holds_up);
    conditions->counted = calloc(processes, sizeof *conditions->counted);
    conditions->thread_nodes = calloc(threads, sizeof *conditions->thread_nodes);
    conditions->waits = calloc(threads, sizeof *conditions->waits);
    conditions->sets =
        calloc(2 * esi_fact_group_count(facts) + 1, sizeof *conditions->sets);
    return conditions->rank_nodes && conditions->exact && conditions->terminal &&
                   conditions->holds_up && conditions->counted &&
                   conditions->thread_nodes && conditions->waits && conditions->sets
               ? 0
               : -ENOMEM;
}

static int make_graph(struct esi_conditions *conditions)
{
    const struct esi_facts *facts = conditions->facts;
    int result =
        add_node(conditions, &(struct esi_and_or_node){.owner = -1}, &conditions->acts);

    for (size_t i = 0; i < facts->process_count; i++)
        read_process(conditions, i);
    if (result == 0)
        result = add_ranks(conditions);
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        for (size_t j = 0; j < facts->processes[i].thread_count && result == 0; j++)
            result = add_thread(conditions, &facts->processes[i],
                                facts->processes[i].first_thread + j);
    count_missing(conditions);
    return result < 0 ? result : esi_and_or_close(&conditions->graph);
}

int esi_conditions_init(struct esi_conditions *conditions,
                        const struct esi_facts *facts)
{
    int result;

    *conditions = (struct esi_conditions){.facts = facts, .everybody = ESI_NODE_NONE};
    result = make_tables(conditions);
    if (result == 0)
        result = esi_channels_init(&conditions->channels, facts);
    if (result == 0)
        result = esi_instance_table_init(&conditions->instances, facts);
    if (result == 0)
        result = esi_windows_init(&conditions->windows, facts);
    if (result == 0)
        result = make_graph(conditions);
    if (result < 0)
        esi_conditions_fini(conditions);
    return result;
}

void esi_conditions_fini(struct esi_conditions *conditions)
{
    for (size_t i = 0; conditions->waits && i < conditions->facts->thread_count; i++)
        free(conditions->waits[i].list);
    free(conditions->waits);
    free(conditions->pending);
    free(conditions->sets);
    free(conditions->rank_nodes);
    free(conditions->thread_nodes);
    free(conditions->exact);
    free(conditions->terminal);
    free(conditions->holds_up);
    free(conditions->counted);
    esi_channels_fini(&conditions->channels);
    esi_instance_table_fini(&conditions->instances);
    esi_windows_fini(&conditions->windows);
    esi_and_or_fini(&conditions->graph);
    *conditions = (struct esi_conditions){0};
}
