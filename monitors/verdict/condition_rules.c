/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* condition_rules.c - what messages, collective operations and epochs of windows wait
 * for, and how certain that is. */
#include "config.h"

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/verdict/conditions_private.h"
#include "tuplespace/operation_table.h"

/* An incomplete operation, described by its call or its request. */
struct pending_call {
    const struct es_operation *operation;
    const struct esi_fact_process *process;
    uint32_t group;
    unsigned remote; /* the side of its peers */
    int window;      /* ESI_FACT_NO_WINDOW */
    int peer;        /* world rank, ES_PEER_... */
    int tag;
    uint32_t number; /* message or instance number */
    bool partitioned;
    bool receives;
    const struct esi_ledger_request *request; /* NULL for a call */
};

static struct esi_condition make_condition(enum esi_condition_surety surety,
                                           enum esi_wait_reason reason)
{
    return (struct esi_condition){.surety = surety,
                                  .reason = reason,
                                  .rank = -1,
                                  .space = ESI_CONDITION_NO_SPACE};
}

static struct esi_condition for_rank(const struct esi_conditions *conditions,
                                     enum esi_condition_surety surety,
                                     enum esi_wait_reason reason,
                                     int rank)
{
    struct esi_condition condition = make_condition(surety, reason);

    condition.rank = rank;
    condition.node = esi_condition_rank_node(conditions, rank);
    return condition;
}

/* --- Messages --------------------------------------------------------------------- */

enum presence {
    NOT_SENT,
    TAKEN,      /* the message goes to an earlier receive */
    MAYBE_SENT, /* other receives may match the message, too */
    SENT,
};

/* The order of receives is not evaluated for more requests than this. */
enum { ORDERED_MOST = 1024 };

/* Number of earlier receives without a number with exactly this source and tag.  Within
 * a thread, a call comes after all outstanding requests. */
static uint32_t count_earlier(const struct pending_call *pending,
                              const struct esi_ledger_request **ret_first,
                              int source,
                              int tag)
{
    const struct esi_ledger *ledger = pending->process->ledger;
    uint64_t before = pending->request ? pending->request->start : UINT64_MAX;
    uint32_t count = 0;

    for (size_t i = 0; i < ledger->request_count; i++) {
        const struct esi_ledger_request *request = &ledger->requests[i];

        if ((request->kind != ESI_LEDGER_RECEIVE && request->kind != ESI_LEDGER_PAIR) ||
            request->sequence != ES_SEQUENCE_UNKNOWN || request->start >= before ||
            request->start == 0 || request->tag != tag ||
            (request->persistent && (!request->active || pending->request)) ||
            esi_fact_group_of(pending->process, request->communicator) !=
                pending->group ||
            esi_fact_world_rank(pending->process, request->communicator,
                                request->peer) != source)
            continue;
        if (count++ == 0)
            *ret_first = request;
    }
    return count;
}

/* Whether the order in which the process posted its receives is known. */
static bool is_in_order(const struct esi_conditions *conditions,
                        const struct pending_call *pending)
{
    size_t process = (size_t)(pending->process - conditions->facts->processes);

    return conditions->exact[process] && pending->process->thread_count == 1 &&
           pending->process->others == 0 &&
           pending->process->ledger->request_count <= ORDERED_MOST &&
           !pending->operation->combined &&
           !(pending->request && pending->request->persistent);
}

/* A message goes to the first matching receive.  So this receive gets none if there are
 * no more messages than earlier receives that match each of them.  Returns one of these
 * receives; NULL if undecided. */
static const struct esi_ledger_request *find_taker(
    const struct esi_conditions *conditions,
    const struct pending_call *pending,
    const struct esi_channel_message *message)
{
    size_t process = (size_t)(pending->process - conditions->facts->processes);

    for (int any = 0; any < 4 && is_in_order(conditions, pending); any++) {
        const struct esi_ledger_request *first = NULL;
        struct esi_channel_message wanted = *message;
        uint32_t most, least;

        if (any & 1)
            wanted.source = ES_PEER_ANY;
        if (any & 2)
            wanted.tag = ES_TAG_ANY;
        esi_channels_count_free(&conditions->channels, process, &wanted, &most, &least);
        if (count_earlier(pending, &first, wanted.source, wanted.tag) >= most)
            return first;
    }
    return NULL;
}

/* For a receive without a number: several receives may compete for the messages. */
static enum presence find_unnumbered(const struct esi_conditions *conditions,
                                     const struct pending_call *pending,
                                     const struct esi_channel_message *message,
                                     const struct esi_ledger_request **ret_taker)
{
    size_t process = (size_t)(pending->process - conditions->facts->processes);
    uint32_t most, least;

    esi_channels_count_free(&conditions->channels, process, message, &most, &least);
    if (most == 0)
        return NOT_SENT;
    *ret_taker = find_taker(conditions, pending, message);
    if (*ret_taker)
        return TAKEN;
    return least > 0 &&
                   least >= esi_channels_count_posted(&conditions->channels, message)
               ? SENT
               : MAYBE_SENT;
}

/* Whether the message was sent or is being sent. */
static enum presence find_presence(const struct esi_conditions *conditions,
                                   const struct pending_call *pending,
                                   const struct esi_channel_message *message,
                                   const struct esi_ledger_request **ret_taker)
{
    const struct esi_channel_state *channel;
    bool is_sent;

    if (message->number == ES_SEQUENCE_UNKNOWN || message->source == ES_PEER_ANY ||
        message->tag == ES_TAG_ANY)
        return find_unnumbered(conditions, pending, message, ret_taker);
    channel = esi_channels_find(&conditions->channels, message);
    if (!channel)
        return NOT_SENT;
    is_sent = (int32_t)(channel->sent - message->number) > 0;
    if (!esi_condition_is_exact(conditions, message->source))
        is_sent |= channel->sending > 0;
    return is_sent ? SENT : NOT_SENT;
}

static bool is_doubtful(const struct esi_conditions *conditions,
                        const struct esi_channel_message *message)
{
    const struct esi_channel_state *channel =
        esi_channels_find(&conditions->channels, message);

    return channel && channel->doubtful;
}

/* The certainty of a wait that would otherwise be certain.  The actions of a rank on a
 * communicator that it has freed are not known: the awaited event may have happened,
 * and the call may be about to return. */
static enum esi_condition_surety sure_unless(bool freed)
{
    return freed ? ESI_CONDITION_REASONED : ESI_CONDITION_SURE;
}

static int wait_for_anybody(struct esi_conditions *conditions,
                            const struct pending_call *pending,
                            bool sure,
                            struct esi_condition *ret_condition)
{
    const struct esi_run_communicator *group =
        esi_fact_group(conditions->facts, pending->group);
    struct esi_sender_set *senders;
    int result = esi_condition_find_senders(conditions, pending->group, pending->remote,
                                            &senders);

    if (result < 0 || !senders)
        return result;
    *ret_condition = make_condition(sure && senders->exact ? sure_unless(senders->freed)
                                                           : ESI_CONDITION_MAYBE,
                                    ES_REASON_RECEIVE);
    ret_condition->any = true;
    ret_condition->node = senders->node;
    ret_condition->targets = esi_run_side_ranks(group, pending->remote);
    ret_condition->target_count = group->sizes[pending->remote];
    return 0;
}

/* A send that matches the earlier receive may leave the message to this one. */
static int wait_behind_taker(struct esi_conditions *conditions,
                             const struct pending_call *pending,
                             const struct esi_ledger_request *taker,
                             struct esi_condition *ret_condition)
{
    int result = wait_for_anybody(conditions, pending, true, ret_condition);

    ret_condition->taker = taker;
    if (pending->peer == ES_PEER_ANY || !ret_condition->any)
        return result;
    ret_condition->any = false; /* the reported target */
    ret_condition->rank = pending->peer;
    ret_condition->targets = NULL;
    ret_condition->target_count = 0;
    return result;
}

static int wait_for_message(struct esi_conditions *conditions,
                            const struct pending_call *pending,
                            struct esi_condition *ret_condition)
{
    struct esi_channel_message message = {.group = pending->group,
                                          .source = pending->peer,
                                          .destination = pending->process->rank,
                                          .tag = pending->tag,
                                          .number = pending->number};
    const struct esi_ledger_request *taker = NULL;
    enum presence presence;
    bool sure;

    if (pending->peer == ES_PEER_UNKNOWN ||
        (pending->group == ESI_FACT_NO_GROUP && pending->peer < 0))
        return 0;
    if (pending->partitioned || pending->group == ESI_FACT_NO_GROUP) {
        *ret_condition =
            for_rank(conditions, ESI_CONDITION_MAYBE, ES_REASON_RECEIVE, pending->peer);
        return 0;
    }
    presence = find_presence(conditions, pending, &message, &taker);
    if (presence == SENT) {
        *ret_condition = make_condition(ESI_CONDITION_MET, ES_REASON_TRANSFER);
        ret_condition->rank = pending->peer;
        return 0;
    }
    if (presence == TAKEN)
        return wait_behind_taker(conditions, pending, taker, ret_condition);
    if (pending->peer == ES_PEER_ANY)
        return wait_for_anybody(conditions, pending, presence == NOT_SENT,
                                ret_condition);
    sure = presence == NOT_SENT && esi_condition_is_exact(conditions, pending->peer) &&
           !is_doubtful(conditions, &message);
    *ret_condition =
        for_rank(conditions,
                 sure ? sure_unless(esi_facts_has_freed(conditions->facts,
                                                        pending->group, pending->peer))
                      : ESI_CONDITION_MAYBE,
                 ES_REASON_RECEIVE, pending->peer);
    return 0;
}

static bool is_posted(const struct esi_conditions *conditions,
                      const struct esi_channel_message *message)
{
    const struct esi_channel_state *channel =
        esi_channels_find(&conditions->channels, message);

    if (esi_channels_count_posted(&conditions->channels, message) > 0)
        return true;
    return channel && message->number != ES_SEQUENCE_UNKNOWN &&
           (int32_t)(channel->received - message->number) > 0 &&
           !(channel->has_kept && channel->kept == message->number);
}

static int wait_for_receive(const struct esi_conditions *conditions,
                            const struct pending_call *pending,
                            struct esi_condition *ret_condition)
{
    struct esi_channel_message message = {.group = pending->group,
                                          .source = pending->process->rank,
                                          .destination = pending->peer,
                                          .tag = pending->tag,
                                          .number = pending->number};
    enum esi_condition_surety surety = ESI_CONDITION_MAYBE;

    if (pending->operation->buffered || pending->operation->ready) {
        *ret_condition = make_condition(ESI_CONDITION_MET, ES_REASON_TRANSFER);
        return 0;
    }
    if (pending->group == ESI_FACT_NO_GROUP || pending->peer < 0)
        return 0;
    if (!pending->partitioned && is_posted(conditions, &message)) {
        *ret_condition = make_condition(ESI_CONDITION_MET, ES_REASON_TRANSFER);
        ret_condition->rank = pending->peer;
        return 0;
    }
    /* A standard-mode send may have been buffered. */
    if (!pending->partitioned && message.number != ES_SEQUENCE_UNKNOWN &&
        esi_condition_is_exact(conditions, pending->peer) &&
        !is_doubtful(conditions, &message))
        surety = sure_unless(
            !pending->operation->synchronizing ||
            esi_facts_has_freed(conditions->facts, pending->group, pending->peer));
    *ret_condition = for_rank(conditions, surety, ES_REASON_SEND, pending->peer);
    return 0;
}

/* --- Collective operations -------------------------------------------------------- */

/* Whether the operations entered by a member are known.  Without a ledger, only
 * blocking operations are known, from tuples. */
static bool knows_entries(const struct esi_conditions *conditions,
                          const struct esi_instance_member *member,
                          bool nonblocking)
{
    const struct esi_facts *facts = conditions->facts;

    if (member->process == facts->process_count)
        return false;
    return conditions->exact[member->process] ||
           (!nonblocking && !facts->processes[member->process].ledger);
}

/* Number of leading members whose entries are known. */
static size_t count_known(const struct esi_conditions *conditions,
                          struct esi_instance_space *space,
                          bool nonblocking)
{
    size_t *known = &space->known[nonblocking];

    if (*known == SIZE_MAX) {
        *known = 0;
        while (*known < space->member_count &&
               knows_entries(conditions, &space->members[*known], nonblocking))
            ++*known;
    }
    return *known;
}

/* Number of leading members that have not freed the communicator. */
static size_t count_holding(const struct esi_conditions *conditions,
                            struct esi_instance_space *space)
{
    if (space->holding == SIZE_MAX) {
        space->holding = 0;
        while (space->holding < space->member_count &&
               !esi_facts_has_freed(conditions->facts, space->group,
                                    space->members[space->holding].rank))
            space->holding++;
    }
    return space->holding;
}

/* Whether the operation needs all members, or the root, to complete. */
enum need { NEEDS_ALL, NEEDS_ROOT, NEEDS_SOME };

static enum need find_need(const struct esi_conditions *conditions,
                           const struct pending_call *pending)
{
    bool is_root = pending->peer == pending->process->rank;

    if (esi_fact_group(conditions->facts, pending->group)->sizes[1])
        return NEEDS_SOME;
    switch (esi_instance_order(pending->operation)) {
    case ES_ORDER_ALL_TO_ALL:
        /* With an assertion, a fence may return early. */
        return pending->operation->rma == ES_RMA_FENCE ? NEEDS_SOME : NEEDS_ALL;
    case ES_ORDER_ROOT_TO_ALL:
        return is_root || pending->peer < 0 ? NEEDS_SOME : NEEDS_ROOT;
    case ES_ORDER_ALL_TO_ROOT:
        return is_root ? NEEDS_ALL : NEEDS_SOME;
    default:
        return NEEDS_SOME;
    }
}

static bool has_entered(const struct esi_conditions *conditions,
                        const struct pending_call *pending,
                        int rank)
{
    const struct esi_run_communicator *group =
        esi_fact_group(conditions->facts, pending->group);
    struct esi_fact_entered place = {
        .key = {group->key[0], group->key[1]}, .window = pending->window, .rank = rank};
    const struct esi_fact_entered *entered =
        esi_fact_entries_find(&conditions->instances.entered, &place);

    return entered && (int32_t)(entered->instance - pending->number) >= 0;
}

static int wait_for_missing(struct esi_conditions *conditions,
                            const struct pending_call *pending,
                            struct esi_instance_space *space,
                            struct esi_condition *ret_condition)
{
    size_t missing = esi_instance_space_missing(space, pending->number);
    bool known =
        missing <= count_known(conditions, space, pending->operation->nonblocking);
    enum need need = find_need(conditions, pending);
    bool some = need != NEEDS_ALL || missing > count_holding(conditions, space);
    struct esi_condition condition = make_condition(
        known ? sure_unless(some) : ESI_CONDITION_MAYBE, ES_REASON_COLLECTIVE);

    if (missing == 0) {
        *ret_condition = make_condition(ESI_CONDITION_MET, ES_REASON_ENTERED);
        return 0;
    }
    if (need == NEEDS_ROOT && !has_entered(conditions, pending, pending->peer)) {
        bool freed =
            esi_facts_has_freed(conditions->facts, pending->group, pending->peer);

        *ret_condition =
            for_rank(conditions, known ? sure_unless(freed) : ESI_CONDITION_MAYBE,
                     ES_REASON_COLLECTIVE, pending->peer);
        return 0;
    }
    condition.targets = space->ranks;
    condition.target_count = missing;
    condition.space = (uint32_t)(space - conditions->instances.spaces);
    *ret_condition = condition;
    return esi_condition_find_missing(conditions, space, missing, some,
                                      &ret_condition->node);
}

static int wait_for_members(struct esi_conditions *conditions,
                            const struct pending_call *pending,
                            struct esi_condition *ret_condition)
{
    struct esi_instance_space *space;
    int result;

    if (pending->group == ESI_FACT_NO_GROUP || pending->number == ES_SEQUENCE_UNKNOWN)
        return 0;
    /* The mismatch is reported as a verdict of its own. */
    if (pending->window == ESI_FACT_NO_WINDOW &&
        esi_instance_table_is_mismatched(&conditions->instances, pending->group,
                                         pending->number)) {
        *ret_condition = make_condition(ESI_CONDITION_UNKNOWN, ES_REASON_COLLECTIVE);
        return 0;
    }
    space = esi_instance_table_find_space(&conditions->instances, conditions->facts,
                                          pending->group, pending->window, &result);
    return space ? wait_for_missing(conditions, pending, space, ret_condition) : result;
}

/* --- Any operation ---------------------------------------------------------------- */

static int find_condition(struct esi_conditions *conditions,
                          const struct pending_call *pending,
                          struct esi_condition *ret_condition)
{
    *ret_condition = make_condition(ESI_CONDITION_UNKNOWN, ES_REASON_NONE);
    if (pending->peer == ES_PEER_NONE &&
        esi_instance_order(pending->operation) == ES_ORDER_NONE) {
        /* MPI_PROC_NULL. */
        ret_condition->surety =
            pending->receives || pending->operation->op_class == ES_CLASS_SEND
                ? ESI_CONDITION_MET
                : ESI_CONDITION_UNKNOWN;
        return 0;
    }
    if (pending->receives)
        return wait_for_message(conditions, pending, ret_condition);
    if (pending->operation->op_class == ES_CLASS_SEND)
        return wait_for_receive(conditions, pending, ret_condition);
    if (esi_instance_order(pending->operation) != ES_ORDER_NONE)
        return wait_for_members(conditions, pending, ret_condition);
    return 0;
}

static unsigned remote_side(const struct esi_conditions *conditions,
                            const struct esi_fact_process *process,
                            uint16_t communicator,
                            uint32_t group)
{
    if (group == ESI_FACT_NO_GROUP ||
        !esi_fact_group(conditions->facts, group)->sizes[1])
        return 0;
    return !esi_fact_member(process, communicator)->side;
}

int esi_condition_of_request(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_ledger_request *request,
                             struct esi_condition *ret_condition)
{
    uint32_t group = esi_fact_group_of(process, request->communicator);
    struct pending_call pending = {
        .operation = es_operation_find(request->operation),
        .process = process,
        .group = group,
        .remote = remote_side(conditions, process, request->communicator, group),
        .window = ESI_FACT_NO_WINDOW,
        .peer = esi_fact_world_rank(process, request->communicator, request->peer),
        .tag = request->tag,
        .number = request->sequence,
        .partitioned = request->partitioned,
        .receives =
            request->kind == ESI_LEDGER_RECEIVE || request->kind == ESI_LEDGER_PAIR,
        .request = request};

    *ret_condition = make_condition(ESI_CONDITION_UNKNOWN, ES_REASON_NONE);
    if (!pending.operation || request->kind == ESI_LEDGER_OTHER)
        return 0;
    if (request->kind == ESI_LEDGER_MESSAGE) {
        ret_condition->surety = ESI_CONDITION_MET;
        return 0;
    }
    return find_condition(conditions, &pending, ret_condition);
}

int esi_condition_of_open(struct esi_conditions *conditions,
                          const struct esi_fact_process *process,
                          const struct esi_thread_state *thread,
                          struct esi_condition *ret_condition)
{
    const struct esi_activity *open = &thread->open;
    const struct es_operation *operation = esi_activity_subject(open);
    uint32_t group = open->has_communicator
                         ? esi_fact_group_of(process, open->communicator_index)
                         : ESI_FACT_NO_GROUP;
    struct pending_call pending = {
        .operation = operation,
        .process = process,
        .group = group,
        .remote = remote_side(conditions, process, open->communicator_index, group),
        .window = esi_instance_window(open),
        .peer = open->peer,
        .tag = open->tag,
        .number = open->sequence};

    *ret_condition = make_condition(ESI_CONDITION_UNKNOWN, ES_REASON_NONE);
    if (!operation)
        return 0;
    pending.receives = operation->op_class == ES_CLASS_RECEIVE || operation->probe;
    /* Only a request's own tuple contains its number. */
    if (operation->probe ||
        (open->awaited && esi_instance_order(operation) == ES_ORDER_NONE))
        pending.number = ES_SEQUENCE_UNKNOWN;
    return find_condition(conditions, &pending, ret_condition);
}

/* --- Windows ---------------------------------------------------------------------- */

struct window_wait {
    struct esi_conditions *conditions;
    const struct esi_fact_process *process;
    const struct esi_activity *open;
    uint32_t group;
    int (*take)(void *, const struct esi_condition *);
    void *data;
};

/* Kind of the process's own lock on the target; 0 = none. */
static uint8_t find_own_lock(const struct window_wait *wait, int target)
{
    const struct esi_windows *windows = &wait->conditions->windows;
    int targets[2] = {target, ESI_WINDOW_ALL};

    for (int i = 0; i < 2; i++)
        for (uint32_t j = esi_windows_first_lock(windows, wait->group, wait->open->tag,
                                                 targets[i]);
             j != ESI_WINDOW_LOCK_NONE; j = windows->locks[j].next)
            if (&wait->conditions->facts->processes[windows->locks[j].holder] ==
                wait->process)
                return windows->locks[j].kind;
    return 0;
}

/* Whether the holder is also in a call on this target: then it is not known which of
 * the two has the lock. */
static bool asks_likewise(const struct window_wait *wait,
                          const struct esi_fact_process *holder,
                          int target)
{
    for (size_t i = 0; i < holder->thread_count; i++) {
        const struct esi_activity *open =
            &wait->conditions->facts->threads[holder->first_thread + i].open;

        if (open->present && esi_rma_kind(open->operation) >= ES_RMA_LOCK &&
            open->tag == wait->open->tag && (open->peer == target || open->peer < 0))
            return true;
    }
    return false;
}

static int add_holders(const struct window_wait *wait, int target, int locked)
{
    const struct esi_conditions *conditions = wait->conditions;
    const struct esi_windows *windows = &conditions->windows;
    uint8_t own = find_own_lock(wait, target);
    int result = 0;

    for (uint32_t i =
             esi_windows_first_lock(windows, wait->group, wait->open->tag, locked);
         i != ESI_WINDOW_LOCK_NONE && result == 0; i = windows->locks[i].next) {
        const struct esi_window_lock *lock = &windows->locks[i];
        const struct esi_fact_process *holder =
            &conditions->facts->processes[lock->holder];
        struct esi_condition found;

        if (holder == wait->process || !lock->granted ||
            (own != ESI_LEDGER_LOCK_EXCLUSIVE &&
             lock->kind != ESI_LEDGER_LOCK_EXCLUSIVE))
            continue;
        found = for_rank(conditions,
                         asks_likewise(wait, holder, target) ? ESI_CONDITION_UNKNOWN
                                                             : ESI_CONDITION_REASONED,
                         ES_REASON_WINDOW, holder->rank);
        result = wait->take(wait->data, &found);
    }
    return result;
}

/* Adds the holders of locks that conflict with the lock of the call. */
static int add_locks(const struct window_wait *wait)
{
    int target = wait->open->peer;
    int result = target >= 0 ? add_holders(wait, target, target) : 0;

    return result < 0 ? result : add_holders(wait, target, ESI_WINDOW_ALL);
}

/* The group of MPI_Win_start is known only after it has returned: assume one of the
 * members. */
static int add_members(const struct window_wait *wait)
{
    const struct esi_run_communicator *group =
        esi_fact_group(wait->conditions->facts, wait->group);
    struct esi_condition found =
        make_condition(ESI_CONDITION_UNKNOWN, ES_REASON_WINDOW);
    struct esi_sender_set *members;
    int result = esi_condition_find_senders(wait->conditions, wait->group, 0, &members);

    if (result == 0 && members) {
        found.surety = members->exact ? ESI_CONDITION_REASONED : ESI_CONDITION_MAYBE;
        found.any = true;
        found.node = members->node;
        found.targets = esi_run_side_ranks(group, 0);
        found.target_count = group->sizes[0];
    }
    return result < 0 ? result : wait->take(wait->data, &found);
}

/* Adds the partners of open epochs that have not done their part. */
static int add_partners(const struct window_wait *wait, uint8_t kind)
{
    const struct esi_conditions *conditions = wait->conditions;
    const struct esi_ledger *ledger = wait->process->ledger;
    bool is_begun = false;
    int result = 0;

    for (size_t i = 0; i < ledger->epoch_count && result == 0; i++) {
        const struct esi_ledger_epoch *epoch = &ledger->epochs[i];
        struct esi_window_count place = {
            .group = wait->group, .window = epoch->window, .peer = wait->process->rank};
        const struct esi_window_count *count;
        struct esi_condition found;
        uint32_t done;

        if (epoch->kind != kind || epoch->window != wait->open->tag ||
            esi_fact_group_of(wait->process, epoch->communicator) != wait->group)
            continue;
        is_begun = true;
        place.owner =
            esi_fact_world_rank(wait->process, epoch->communicator, epoch->peer);
        if (place.owner < 0)
            continue;
        count = esi_windows_find_count(&conditions->windows, &place);
        done = !count ? 0 : kind == ESI_LEDGER_START ? count->posted : count->completed;
        if ((int32_t)(done - epoch->number) > 0)
            continue;
        found =
            for_rank(conditions, ESI_CONDITION_MAYBE, ES_REASON_WINDOW, place.owner);
        if (esi_condition_is_exact(conditions, place.owner))
            found.surety =
                kind == ESI_LEDGER_START ? ESI_CONDITION_REASONED : ESI_CONDITION_SURE;
        result = wait->take(wait->data, &found);
    }
    if (result == 0 && !is_begun && esi_rma_kind(wait->open->operation) == ES_RMA_START)
        return add_members(wait);
    return result;
}

int esi_condition_add_window(struct esi_conditions *conditions,
                             const struct esi_fact_process *process,
                             const struct esi_thread_state *thread,
                             int (*take)(void *, const struct esi_condition *),
                             void *data)
{
    enum es_rma_kind kind = esi_rma_kind(thread->open.operation);
    struct window_wait wait = {
        .conditions = conditions,
        .process = process,
        .open = &thread->open,
        .group = esi_fact_group_of(process, thread->open.communicator_index),
        .take = take,
        .data = data};
    int result;

    if (!process->ledger || wait.group == ESI_FACT_NO_GROUP)
        return 0;
    if (kind == ES_RMA_START || kind == ES_RMA_COMPLETE)
        result = add_partners(&wait, ESI_LEDGER_START);
    else if (kind == ES_RMA_WAIT)
        result = add_partners(&wait, ESI_LEDGER_POST);
    else if (kind >= ES_RMA_LOCK)
        result = add_locks(&wait);
    else
        return 0;
    return result < 0 ? result : 1;
}
