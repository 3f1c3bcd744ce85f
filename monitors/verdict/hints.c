/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* hints.c - compares a wait with what the awaited rank does instead. */
#include "config.h"

#include "monitors/verdict/hints.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/follow/describe.h"

/* A wait, and the process of its first target rank. */
struct hint_view {
    const struct esi_conditions *conditions;
    const struct esi_thread_state *thread;
    const struct esi_wait *wait;
    size_t process;
    size_t target; /* process_count: none or not known */
    uint32_t group;
};

static size_t find_process_of(const struct esi_facts *facts, size_t thread)
{
    size_t low = 0, high = facts->process_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (facts->processes[middle].first_thread +
                facts->processes[middle].thread_count <=
            thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- Messages --------------------------------------------------------------------- */

static const char *describe_tag(char *out, size_t size, int tag)
{
    if (tag == ES_TAG_ANY)
        snprintf(out, size, "any tag");
    else
        snprintf(out, size, "tag %d", tag);
    return out;
}

/* A message to the rank that was not received, preferably from the awaited rank. */
static const struct esi_channel_state *find_unreceived(const struct hint_view *view)
{
    const struct esi_channels_table *channels = &view->conditions->channels;
    const struct esi_channel_state *any = NULL;
    int awaited = view->wait->any || view->wait->target_count == 0
                      ? ES_PEER_ANY
                      : view->wait->targets[0];

    for (uint32_t i = channels->surplus[view->process]; i != ESI_CHANNEL_NONE;
         i = channels->items[i].next) {
        if (channels->items[i].source == awaited)
            return &channels->items[i];
        any = &channels->items[i];
    }
    return any;
}

static void hint_unreceived(const struct hint_view *view,
                            const struct esi_channel_state *channel,
                            char out[ESI_HINT_WORDS])
{
    const struct esi_activity *open = &view->thread->open;
    char sent[32], awaited[32];

    describe_tag(sent, sizeof sent, channel->tag);
    describe_tag(awaited, sizeof awaited, open->tag);
    snprintf(out, ESI_HINT_WORDS, "rank %d has sent to rank %d with %s",
             channel->source, view->thread->rank, sent);
    if (channel->group != view->group)
        esi_describe_append(
            out, ESI_HINT_WORDS, " on %s, not on %s",
            esi_fact_group(view->conditions->facts, channel->group)->name,
            open->communicator);
    else if (channel->tag != open->tag && open->tag != ES_TAG_ANY && !open->awaited)
        esi_describe_append(out, ESI_HINT_WORDS, ", but the receive expects %s",
                            awaited);
    else
        esi_describe_append(out, ESI_HINT_WORDS, ", which has not been received");
}

/* The message has arrived, but another receive gets it. */
static void hint_taker(const struct hint_view *view, char out[ESI_HINT_WORDS])
{
    const struct esi_facts *facts = view->conditions->facts;
    const struct esi_fact_process *process = &facts->processes[view->process];
    const struct esi_ledger_request *taker = view->wait->taker;
    const char *site = esi_fact_name_site(facts, process, taker->site);
    char tag[32];

    describe_tag(tag, sizeof tag, taker->tag);
    snprintf(out, ESI_HINT_WORDS,
             "the message goes to an earlier receive of rank %d from %s with %s, which "
             "is not complete%s%s",
             process->rank, taker->peer == ES_PEER_ANY ? "any rank" : "there", tag,
             *site ? ", posted at " : "", site);
}

static void hint_message(const struct hint_view *view, char out[ESI_HINT_WORDS])
{
    const struct esi_conditions *conditions = view->conditions;
    const struct esi_channel_state *unreceived = find_unreceived(view);
    const struct esi_channel_state *channel;
    struct esi_channel_message message = {.group = view->group,
                                          .destination = view->thread->rank,
                                          .tag = view->thread->open.tag};

    if (view->wait->taker) {
        hint_taker(view, out);
        return;
    }
    if (unreceived) {
        hint_unreceived(view, unreceived, out);
        return;
    }
    if (view->wait->any || view->target == conditions->facts->process_count ||
        !conditions->exact[view->target] || message.tag == ES_TAG_ANY ||
        view->group == ESI_FACT_NO_GROUP)
        return;
    message.source = view->wait->targets[0];
    if (esi_facts_has_freed(conditions->facts, view->group, message.source))
        return;
    channel = esi_channels_find(&conditions->channels, &message);
    if (!channel || channel->sent == 0)
        snprintf(out, ESI_HINT_WORDS, "rank %d has never sent to rank %d with tag %d",
                 message.source, message.destination, message.tag);
    else
        snprintf(out, ESI_HINT_WORDS,
                 "rank %d has sent %" PRIu32
                 " message%s with tag %d to rank %d, all received",
                 message.source, channel->sent, channel->sent == 1 ? "" : "s",
                 message.tag, message.destination);
}

/* --- Collective operations -------------------------------------------------------- */

/* The awaited rank is in the same operation on another communicator. */
static void hint_collective(const struct hint_view *view, char out[ESI_HINT_WORDS])
{
    const struct esi_facts *facts = view->conditions->facts;
    const struct esi_activity *open = &view->thread->open;
    const struct esi_fact_process *target;

    if (view->target == facts->process_count)
        return;
    target = &facts->processes[view->target];
    for (size_t i = 0; i < target->thread_count; i++) {
        const struct esi_activity *theirs =
            &facts->threads[target->first_thread + i].open;

        if (!theirs->present || theirs->operation != open->operation ||
            !theirs->has_communicator ||
            (theirs->key[0] == open->key[0] && theirs->key[1] == open->key[1]))
            continue;
        snprintf(out, ESI_HINT_WORDS, "rank %d is in %s on %s, not on %s", target->rank,
                 es_operation_name(open->operation), theirs->communicator,
                 open->communicator);
        return;
    }
}

/* --- Any wait --------------------------------------------------------------------- */

/* The last call of the awaited rank that returned an error may be what is missing. */
static void add_failure(const struct hint_view *view, char out[ESI_HINT_WORDS])
{
    const struct esi_facts *facts = view->conditions->facts;
    const struct esi_fact_process *target;

    if (view->target == facts->process_count)
        return;
    target = &facts->processes[view->target];
    if (!target->ledger || !target->ledger->error_class)
        return;
    if (*out)
        esi_describe_append(out, ESI_HINT_WORDS, "; its");
    else
        snprintf(out, ESI_HINT_WORDS, "rank %d's", target->rank);
    esi_describe_append(out, ESI_HINT_WORDS, " %s returned %s",
                        es_operation_name(target->ledger->error_operation),
                        es_error_name(target->ledger->error_class));
}

bool esi_hint_find(const struct esi_conditions *conditions,
                   size_t thread,
                   char out[ESI_HINT_WORDS])
{
    const struct esi_facts *facts = conditions->facts;
    struct hint_view view = {.conditions = conditions,
                             .thread = &facts->threads[thread],
                             .wait = &conditions->waits[thread],
                             .process = find_process_of(facts, thread),
                             .target = facts->process_count};

    if (view.wait->target_count > 0)
        view.target = esi_facts_find_process(facts, view.wait->targets[0]);
    view.group = view.thread->open.has_communicator
                     ? esi_fact_group_of(&facts->processes[view.process],
                                         view.thread->open.communicator_index)
                     : ESI_FACT_NO_GROUP;
    *out = '\0';
    switch (view.wait->reason) {
    case ES_REASON_RECEIVE:
    case ES_REASON_COMPLETION:
        hint_message(&view, out);
        break;
    case ES_REASON_COLLECTIVE:
        hint_collective(&view, out);
        break;
    default:
        break;
    }
    add_failure(&view, out);
    return *out;
}

/* --- Threads that have never called MPI ------------------------------------------- */

bool esi_hint_find_others(const struct esi_facts *facts,
                          const int *ranks,
                          size_t count,
                          char out[ESI_HINT_WORDS])
{
    int *having = calloc(count + 1, sizeof *having);
    size_t having_count = 0;
    bool is_known = true;
    char words[ESI_HINT_WORDS / 2];

    for (size_t i = 0; having && i < count; i++) {
        size_t process = esi_facts_find_process(facts, ranks[i]);

        if (process == facts->process_count || facts->processes[process].others == 0)
            continue;
        having[having_count++] = ranks[i];
        is_known &= facts->processes[process].others > 0;
    }
    if (having_count > 0)
        snprintf(out, ESI_HINT_WORDS,
                 is_known
                     ? "not certain: %s %s threads that have never called MPI, but "
                       "may (MPI_THREAD_MULTIPLE)"
                     : "not certain: it is not known whether %s %s threads that "
                       "have never called MPI (MPI_THREAD_MULTIPLE)",
                 esi_describe_ranks(words, sizeof words, having, having_count),
                 having_count == 1 ? "has" : "have");
    free(having);
    return having_count > 0;
}
