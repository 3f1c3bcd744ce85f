/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * leaks.c - the sends of a channel minus its receives are messages not received; the
 * rest comes from the ledgers.  Equal leaks of several ranks are merged.
 */
#include "config.h"

#include "monitors/latent/leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/tuple.h"

/* The newest instance of a communicator that a process has entered. */
struct leak_entry {
    uint32_t group;
    size_t process; /* index */
    const struct esi_ledger_instance *instance;
};

struct leak_search {
    const struct esi_facts *facts;
    struct esi_leaks *leaks;
};

void esi_leaks_fini(struct esi_leaks *leaks)
{
    free(leaks->items);
    *leaks = (struct esi_leaks){.items = NULL};
}

/* --- Ranks ------------------------------------------------------------------------ */

static bool is_known(const struct esi_fact_process *process)
{
    return process->state == ES_PROCESS_FINALIZED && process->ledger;
}

static int world_rank(const struct esi_run_member *member, int32_t peer)
{
    return member ? esi_run_peer_rank(member, peer) : -1;
}

/* NULL = none. */
static const char *name_of(const struct esi_run_member *member)
{
    return member && member->communicator->name[0] ? member->communicator->name : NULL;
}

static const struct esi_fact_process *process_of(const struct leak_search *search,
                                                 int rank)
{
    size_t found = esi_facts_find_process(search->facts, rank);

    return rank >= 0 && found < search->facts->process_count
               ? &search->facts->processes[found]
               : NULL;
}

/* --- Leaks ------------------------------------------------------------------------ */

/* Either name may be NULL. */
static int compare_names(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Except for rank and counts. */
static bool is_same_leak(const struct esi_leak *a, const struct esi_leak *b)
{
    return a->kind == b->kind && a->peer == b->peer && a->tag == b->tag &&
           a->operation == b->operation && a->epoch == b->epoch &&
           a->object == b->object &&
           compare_names(a->communicator, b->communicator) == 0 &&
           compare_names(a->site, b->site) == 0;
}

/* Adds to the leak if the rank already has it; `first` is the rank's first leak. */
static int add_leak(struct leak_search *search,
                    const struct esi_leak *leak,
                    size_t first)
{
    struct esi_leaks *leaks = search->leaks;

    for (size_t i = first; i < leaks->count; i++)
        if (leaks->items[i].rank == leak->rank &&
            is_same_leak(&leaks->items[i], leak)) {
            leaks->items[i].count += leak->count;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(leaks->items, leaks->capacity, leaks->count + 1) < 0)
        return -ENOMEM;
    leaks->items[leaks->count] = *leak;
    leaks->items[leaks->count++].ranks = 1;
    return 0;
}

/* The number of receives posted for a channel.  Returns false if it is not known. */
static bool count_receives(const struct esi_fact_process *receiver,
                           const struct esi_run_member *member,
                           int32_t tag,
                           uint32_t *ret_count)
{
    *ret_count = 0;
    if (!receiver || !receiver->ledger || receiver->ledger->partial)
        return false;
    for (size_t i = 0; i < receiver->ledger->channel_count; i++) {
        const struct esi_ledger_channel *channel = &receiver->ledger->channels[i];
        const struct esi_run_member *other =
            esi_fact_member(receiver, channel->communicator);

        if (!channel->received || !other || other->communicator != member->communicator)
            continue;
        if (channel->peer == ES_PEER_ANY)
            return false; /* some are not counted yet */
        if (channel->peer != member->rank || channel->tag != tag)
            continue;
        if (channel->doubtful)
            return false;
        *ret_count += channel->count;
    }
    return true;
}

static int find_messages(struct leak_search *search,
                         const struct esi_fact_process *process,
                         size_t first)
{
    int result = 0;

    for (size_t i = 0; i < process->ledger->channel_count && result == 0; i++) {
        const struct esi_ledger_channel *channel = &process->ledger->channels[i];
        const struct esi_run_member *member =
            esi_fact_member(process, channel->communicator);
        struct esi_leak leak = {.kind = ESI_LEAK_MESSAGES, .rank = process->rank};
        uint32_t received;

        if (channel->received || channel->doubtful || !member)
            continue;
        leak.peer = world_rank(member, channel->peer);
        if (!count_receives(process_of(search, leak.peer), member, channel->tag,
                            &received) ||
            received >= channel->count)
            continue;
        leak.tag = channel->tag;
        leak.communicator = name_of(member);
        leak.count = channel->count - received;
        result = add_leak(search, &leak, first);
    }
    return result;
}

static enum esi_leak_kind kind_of_request(const struct esi_ledger_request *request)
{
    if (request->kind == ESI_LEDGER_MESSAGE)
        return ESI_LEAK_MATCHED;
    return request->persistent && !request->active ? ESI_LEAK_PERSISTENT
                                                   : ESI_LEAK_REQUESTS;
}

static const char *name_site(const struct leak_search *search,
                             const struct esi_fact_process *process,
                             uint64_t address)
{
    const char *name = esi_fact_name_site(search->facts, process, address);

    return *name ? name : NULL;
}

static int find_requests(struct leak_search *search,
                         const struct esi_fact_process *process,
                         size_t first)
{
    int result = 0;

    for (size_t i = 0; i < process->ledger->request_count && result == 0; i++) {
        const struct esi_ledger_request *request = &process->ledger->requests[i];
        const struct esi_run_member *member =
            esi_fact_member(process, request->communicator);
        bool has_tag = request->kind != ESI_LEDGER_COLLECTIVE &&
                       request->kind != ESI_LEDGER_DUPLICATE;
        struct esi_leak leak = {
            .kind = kind_of_request(request),
            .rank = process->rank,
            .count = 1,
            .peer = has_tag ? world_rank(member, request->peer) : -1,
            .tag = has_tag ? request->tag : -1,
            .communicator = name_of(member),
            .operation = request->operation & (uint16_t)~ES_OPERATION_ANY_SOURCE,
            .site = name_site(search, process, request->site),
        };

        result = add_leak(search, &leak, first);
    }
    return result;
}

/* A fence ends one epoch and opens another, so its open epochs are not leaks. */
static int find_epochs(struct leak_search *search,
                       const struct esi_fact_process *process,
                       size_t first)
{
    int result = 0;

    for (size_t i = 0; i < process->ledger->epoch_count && result == 0; i++) {
        const struct esi_ledger_epoch *epoch = &process->ledger->epochs[i];
        const struct esi_run_member *member =
            esi_fact_member(process, epoch->communicator);
        struct esi_leak leak = {
            .kind = ESI_LEAK_EPOCHS,
            .rank = process->rank,
            .count = 1,
            .peer = world_rank(member, epoch->peer),
            .tag = -1,
            .communicator = name_of(member),
            .epoch = (enum esi_ledger_epoch_kind)epoch->kind,
        };

        if (epoch->kind != ESI_LEDGER_FENCE)
            result = add_leak(search, &leak, first);
    }
    return result;
}

static int find_objects(struct leak_search *search,
                        const struct esi_fact_process *process,
                        size_t first)
{
    int result = 0;

    for (int i = 0; i < ESI_LEDGER_OBJECTS && result == 0; i++) {
        struct esi_leak leak = {
            .kind = ESI_LEAK_OBJECTS,
            .rank = process->rank,
            .count = process->ledger->unfreed[i],
            .peer = -1,
            .tag = -1,
            .object = (enum esi_ledger_object)i,
        };

        if (leak.count > 0)
            result = add_leak(search, &leak, first);
    }
    return result;
}

static int look_at_process(struct leak_search *search,
                           const struct esi_fact_process *process)
{
    size_t first = search->leaks->count;
    bool is_finalized = process->state == ES_PROCESS_FINALIZED;
    int result;

    search->leaks->unended += !is_finalized;
    search->leaks->unknown +=
        is_finalized && (!process->ledger || process->ledger->partial);
    if (!is_known(process))
        return 0;
    result = find_messages(search, process, first);
    if (result == 0)
        result = find_requests(search, process, first);
    if (result == 0)
        result = find_epochs(search, process, first);
    return result == 0 ? find_objects(search, process, first) : result;
}

/* --- Collective operations -------------------------------------------------------- */

static int compare_entries(const void *left, const void *right)
{
    const struct leak_entry *a = left;
    const struct leak_entry *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->instance->instance < b->instance->instance
               ? 1
               : a->instance->instance > b->instance->instance;
}

/* Lists every instance that finalized processes have entered.  Caller frees. */
static int list_entries(const struct leak_search *search,
                        struct leak_entry **ret_entries,
                        size_t *ret_count)
{
    struct leak_entry *entries = NULL;
    size_t capacity = 0;

    *ret_count = 0;
    for (size_t i = 0; i < search->facts->process_count; i++) {
        const struct esi_fact_process *process = &search->facts->processes[i];

        for (size_t k = 0; is_known(process) && k < process->ledger->instance_count;
             k++) {
            const struct esi_ledger_instance *instance = &process->ledger->instances[k];
            uint32_t group = esi_fact_group_of(process, instance->communicator);

            if (group == ESI_FACT_NO_GROUP)
                continue;
            if (ESI_ARRAY_RESERVE(entries, capacity, *ret_count + 1) < 0) {
                free(entries);
                return -ENOMEM;
            }
            entries[(*ret_count)++] =
                (struct leak_entry){.group = group, .process = i, .instance = instance};
        }
    }
    *ret_entries = entries;
    return 0;
}

/* Keeps the newest per process and communicator. */
static size_t keep_newest(struct leak_entry *entries, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || entries[kept - 1].process != entries[i].process ||
            entries[kept - 1].group != entries[i].group)
            entries[kept++] = entries[i];
    return kept;
}

/* Finds members that stopped before the newest instance of a communicator.  Members
 * without a known instance may have freed it. */
static int compare_members(struct leak_search *search,
                           const struct leak_entry *entries,
                           size_t count)
{
    const struct leak_entry *newest = &entries[0];
    int result = 0;

    for (size_t i = 1; i < count; i++)
        if (entries[i].instance->instance > newest->instance->instance)
            newest = &entries[i];
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct esi_fact_process *process =
            &search->facts->processes[entries[i].process];
        struct esi_leak leak = {
            .kind = ESI_LEAK_COLLECTIVES,
            .rank = process->rank,
            .count = newest->instance->instance - entries[i].instance->instance,
            .peer = search->facts->processes[newest->process].rank,
            .tag = -1,
            .communicator =
                name_of(esi_fact_member(process, entries[i].instance->communicator)),
            .operation = newest->instance->operation,
        };

        if (leak.count > 0)
            result = add_leak(search, &leak, search->leaks->count);
    }
    return result;
}

static int find_collectives(struct leak_search *search)
{
    struct leak_entry *entries;
    size_t count;
    size_t end;
    int result = list_entries(search, &entries, &count);

    if (result < 0)
        return result;
    count = keep_newest(entries, count);
    for (size_t i = 0; i < count && result == 0; i = end) {
        for (end = i + 1; end < count && entries[end].group == entries[i].group; end++)
            continue;
        result = compare_members(search, &entries[i], end - i);
    }
    free(entries);
    return result;
}

/* --- All -------------------------------------------------------------------------- */

/* By kind and object, so that equal leaks of several ranks are adjacent. */
static int compare_leaks(const void *left, const void *right)
{
    const struct esi_leak *a = left;
    const struct esi_leak *b = right;
    const int64_t differences[] = {
        (int64_t)a->kind - (int64_t)b->kind,
        (int64_t)a->object - (int64_t)b->object,
        (int64_t)a->operation - (int64_t)b->operation,
        (int64_t)a->epoch - (int64_t)b->epoch,
        (int64_t)a->tag - (int64_t)b->tag,
        (int64_t)a->peer - (int64_t)b->peer,
        compare_names(a->communicator, b->communicator),
        compare_names(a->site, b->site),
        a->count < b->count ? -1 : a->count > b->count,
        (int64_t)a->rank - (int64_t)b->rank,
    };

    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        if (differences[i] != 0)
            return differences[i] < 0 ? -1 : 1;
    return 0;
}

/* Merges equal leaks of several ranks. */
static void fold_leaks(struct esi_leaks *leaks)
{
    size_t kept = 0;

    if (leaks->count > 0)
        qsort(leaks->items, leaks->count, sizeof *leaks->items, compare_leaks);
    for (size_t i = 0; i < leaks->count; i++) {
        struct esi_leak *last = kept > 0 ? &leaks->items[kept - 1] : NULL;

        if (last && leaks->items[i].kind != ESI_LEAK_MESSAGES &&
            last->count == leaks->items[i].count &&
            is_same_leak(last, &leaks->items[i]))
            last->ranks++;
        else
            leaks->items[kept++] = leaks->items[i];
    }
    leaks->count = kept;
}

int esi_leaks_find(const struct esi_facts *facts, struct esi_leaks *ret_leaks)
{
    struct esi_leaks leaks = {.items = NULL};
    struct leak_search search = {.facts = facts, .leaks = &leaks};
    int result = 0;

    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        result = look_at_process(&search, &facts->processes[i]);
    if (result == 0)
        result = find_collectives(&search);
    if (result < 0) {
        esi_leaks_fini(&leaks);
        return result;
    }
    fold_leaks(&leaks);
    *ret_leaks = leaks;
    return 0;
}
