/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Converts tuples to items, places their events in the threads, and emits the events in
 * order.
 */
#include "config.h"

#include "monitors/causality/causality.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"
#include "monitors/causality/causal_event.h"
#include "monitors/causality/causal_onesided.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/operation_table.h"

#define HELD_MAX ((size_t)1 << 20)
#define PATIENCE_NS UINT64_C(60000000000)

struct esi_causality {
    struct esi_causality_config config;
    struct esi_matching matching;
    struct esi_messages messages;
    struct esi_instances instances; /* of collective operations */
    struct esi_causal_output output;
    struct esi_element **elements; /* owned, like each of them */
    size_t element_count, element_room;
    struct esi_pool items; /* of struct esi_item */
};

/* --- Actions of operations -------------------------------------------------------- */

static enum esi_action action_of_order(const struct es_operation *operation)
{
    if (operation->order == ES_ORDER_NONE)
        return ESI_UNARY;
    return operation->nonblocking ? ESI_LATER_COLLECTIVE : ESI_COLLECTIVE;
}

static enum esi_action action_of_rma(const struct es_operation *operation)
{
    switch ((enum es_rma_kind)operation->rma) {
    case ES_RMA_FENCE:
    case ES_RMA_FREE:
        return ESI_WINDOW_COLLECTIVE;
    case ES_RMA_POST:
        return ESI_WIN_POST;
    case ES_RMA_START:
        return ESI_WIN_START;
    case ES_RMA_COMPLETE:
        return ESI_WIN_COMPLETE;
    case ES_RMA_WAIT:
    case ES_RMA_TEST:
        return ESI_WIN_WAIT;
    default:
        return action_of_order(operation);
    }
}

static enum esi_action action_of_class(const struct es_operation *operation)
{
    switch ((enum es_class)operation->op_class) {
    case ES_CLASS_CONTRIBUTE:
    case ES_CLASS_DEPARTURE:
        return ESI_SEND;
    case ES_CLASS_ARRIVAL:
        return ESI_RECEIVE;
    case ES_CLASS_SEND:
        return operation->persistent ? ESI_UNARY : ESI_SEND;
    case ES_CLASS_RECEIVE:
        return operation->persistent ? ESI_UNARY : ESI_RECEIVE;
    case ES_CLASS_COLLECTIVE:
    case ES_CLASS_COMMUNICATOR:
    case ES_CLASS_IO:
        return action_of_order(operation);
    case ES_CLASS_ONE_SIDED:
        return action_of_rma(operation);
    case ES_CLASS_COMPLETION:
    case ES_CLASS_OTHER:
        return ESI_UNARY;
    default:
        return ESI_IGNORE;
    }
}

/* A call that failed is no send, receive or instance, unless it took a message. */
static bool has_only_failed(const struct es_tuple *tuple)
{
    return es_tuple_error(tuple) != 0 && tuple->sequence == ES_SEQUENCE_UNKNOWN;
}

static enum esi_action action_of(const struct es_tuple *tuple,
                                 const struct es_operation *operation)
{
    if (has_only_failed(tuple))
        return ESI_UNARY;
    switch (operation ? operation->code : 0) {
    case 0: /* not known */
        return ESI_UNARY;
    case ES_OP_MPI_collective_post:
        return ESI_POSTED;
    case ES_OP_MPI_topology_neighbour:
        return ESI_NEIGHBOUR;
    case ES_OP_MPI_Cancel_send:
        return ESI_CANCEL_SEND;
    case ES_OP_MPI_Win_post_member:
        return ESI_POST_MEMBER;
    case ES_OP_MPI_Win_start_member:
        return ESI_START_MEMBER;
    default:
        return action_of_class(operation);
    }
}

static bool is_in_tree(const struct es_operation *operation)
{
    return operation && 1u << operation->op_class & ES_CLASSES_TREE;
}

/* Returns whether 0 bytes in a member's tuple imply that no data are moved at all. */
static bool tells_empty(const struct es_operation *operation)
{
    return operation && operation->op_class == ES_CLASS_COLLECTIVE &&
           !operation->synchronizing && operation->counts != ES_COUNTS_OWN;
}

/* --- Objects ---------------------------------------------------------------------- */

static int emit_junction(void *data, struct esi_instance *instance)
{
    struct esi_causality *causality = data;

    return esi_event_emit_junction(&causality->output, instance);
}

int esi_causality_create(const struct esi_causality_config *config,
                         struct esi_causality **ret_causality)
{
    struct esi_causality *causality = calloc(1, sizeof *causality);
    struct esi_matching *matching;

    if (!causality)
        return -ENOMEM;
    matching = &causality->matching;
    causality->config = *config;
    if (causality->config.held_max == 0)
        causality->config.held_max = HELD_MAX;
    matching->patience_ns = config->patience_ns ? config->patience_ns : PATIENCE_NS;
    esi_pool_init(&causality->items, sizeof(struct esi_item));
    esi_instances_init(&causality->instances, matching, &causality->config);
    causality->instances.release = emit_junction;
    causality->instances.data = causality;
    esi_messages_init(&causality->messages, matching, causality->config.held_max);
    matching->run = calloc(1, sizeof *matching->run);
    if (esi_output_init(&causality->output, &causality->config, matching) < 0 ||
        !matching->run) {
        esi_causality_destroy(causality);
        return -ENOMEM;
    }
    *ret_causality = causality;
    return 0;
}

static void destroy_thread(struct esi_causal_thread *thread)
{
    for (size_t i = thread->head; i < thread->tail; i++)
        esi_collective_leave(thread->events[i].item);
    free(thread->events);
    free(thread->completed);
    free(thread->posted);
    free(thread);
}

void esi_causality_destroy(struct esi_causality *causality)
{
    struct esi_matching *matching;
    int saved_errno = errno;

    if (!causality)
        return;
    matching = &causality->matching;
    causality->config.listener.instance = NULL;
    esi_instances_finish(&causality->instances);
    for (size_t i = 0; i < matching->thread_count; i++)
        destroy_thread(matching->threads[i]);
    free(matching->threads);
    free(matching->partners.ids);
    free(matching->partners.edges);
    for (size_t i = 0; i < causality->element_count; i++)
        free(causality->elements[i]);
    free(causality->elements);
    esi_instances_fini(&causality->instances);
    if (matching->run)
        esi_run_model_fini(matching->run);
    free(matching->run);
    esi_messages_fini(&causality->messages);
    esi_pool_fini(&causality->items);
    esi_output_fini(&causality->output);
    free(causality);
    errno = saved_errno;
}

bool esi_causality_wants_sites(const struct esi_causality *causality)
{
    return causality->config.attributes || causality->config.listener.told ||
           causality->config.listener.instance;
}

bool esi_causality_wants_gaps(const struct esi_causality *causality)
{
    return causality->config.listener.gap;
}

struct esi_run_model *esi_causality_run(const struct esi_causality *causality)
{
    return causality->matching.run;
}

/* --- Threads and their elements --------------------------------------------------- */

static int name_thread(struct esi_causality *causality,
                       struct esi_causal_thread *thread)
{
    const struct esi_run_process *process = thread->of->process;
    char name[64];
    int length =
        process->rank < 0
            ? snprintf(name, sizeof name, "?.%d", thread->of->thread)
            : snprintf(name, sizeof name, "%d.%d", process->rank, thread->of->thread);

    if (process->world > 0)
        snprintf(name + length, sizeof name - (size_t)length, "#%u",
                 process->world + 1);
    return esi_trace_add(&causality->output, name, &thread->trace);
}

static int add_thread(struct esi_causality *causality, const struct esi_run_thread *of)
{
    struct esi_causal_thread *thread;
    int result;

    if (ESI_ARRAY_RESERVE(causality->matching.threads, causality->matching.thread_room,
                          causality->matching.thread_count + 1) < 0)
        return -ENOMEM;
    thread = calloc(1, sizeof *thread);
    if (!thread)
        return -ENOMEM;
    thread->of = of;
    thread->sorted = true;
    result = name_thread(causality, thread);
    if (result < 0) {
        free(thread);
        return result;
    }
    causality->matching.threads[causality->matching.thread_count++] = thread;
    return 0;
}

int esi_causality_add_element(struct esi_causality *causality,
                              struct esi_run_process *process,
                              int thread,
                              uint32_t *ret_element)
{
    struct esi_run_thread *of;
    struct esi_element *element;
    int result =
        esi_run_model_add_thread(causality->matching.run, process, thread, &of);

    if (result == 0 && of->number == causality->matching.thread_count)
        result = add_thread(causality, of);
    if (result < 0)
        return result;
    if (ESI_ARRAY_RESERVE(causality->elements, causality->element_room,
                          causality->element_count + 1) < 0)
        return -ENOMEM;
    element = calloc(1, sizeof *element);
    if (!element)
        return -ENOMEM;
    element->thread = causality->matching.threads[of->number];
    element->last_ns = process->begun_ns;
    *ret_element = (uint32_t)causality->element_count;
    causality->elements[causality->element_count++] = element;
    return 0;
}

/* --- Reading ---------------------------------------------------------------------- */

static void drop_item(struct esi_causality *causality, struct esi_item *item)
{
    esi_collective_leave(item);
    esi_pool_give(&causality->items, item->number);
    causality->matching.totals.held--;
}

/* Determines the key of an end's message; returns false if that is not possible. */
static bool find_message(struct esi_causality *causality,
                         const struct esi_item *item,
                         bool sends,
                         struct esi_ends_key *ret_key)
{
    const struct es_tuple *tuple = &item->told.tuple;

    if (item->member && tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        causality->matching.totals.unnumbered++;
        return false;
    }
    if (!item->member || !esi_channel_key(item->member, tuple->peer, sends, ret_key)) {
        causality->matching.totals.unplaced++;
        return false;
    }
    ret_key->tag = tuple->tag;
    ret_key->sequence = tuple->sequence;
    ret_key->kind = esi_message_kind_of(item->operation);
    return true;
}

/* Returns whether a later call has made the number unreliable. */
static bool is_doubtful(struct esi_causality *causality,
                        const struct esi_item *item,
                        const struct esi_ends_key *key)
{
    const struct esi_messages *messages = &causality->messages;

    if (messages->doubts.table.count == 0 ||
        !esi_message_is_doubtful(messages, key, item->told.tuple.start))
        return false;
    causality->matching.totals.unnumbered++;
    return true;
}

static int add_send(struct esi_causality *causality, struct esi_item *item)
{
    const struct es_tuple *tuple = &item->told.tuple;
    struct esi_ends_key key;
    int result = 0;

    if (tuple->peer < 0) /* MPI_PROC_NULL */
        return esi_thread_place(item, ESI_ROLE_WHOLE);
    if (!esi_thread_has_place(item->element->thread, tuple->start)) {
        causality->matching.totals.late++; /* no event may depend on it any more */
    } else if (find_message(causality, item, true, &key) &&
               !is_doubtful(causality, item, &key)) {
        item->synchronous =
            item->operation->synchronizing && !item->operation->posts && tuple->stop;
        result = esi_message_add_send(&causality->messages, item, &key);
    }
    return result < 0 ? result : esi_thread_place(item, ESI_ROLE_SEND);
}

/* Returns whether this call itself blocks until its message has arrived. */
static bool is_blocking(const struct es_operation *operation)
{
    return !operation->nonblocking && !operation->combined;
}

static int add_receive(struct esi_causality *causality, struct esi_item *item)
{
    const struct es_tuple *tuple = &item->told.tuple;
    bool in_place = esi_thread_has_place(item->element->thread, tuple->stop);
    struct esi_ends_key key;
    int result = 0;

    if (tuple->stop == 0 || tuple->peer < 0)
        return esi_thread_place(item, ESI_ROLE_WHOLE);
    causality->matching.totals.late += !in_place;
    if (find_message(causality, item, false, &key))
        result = esi_message_add_receive(&causality->messages, item, &key,
                                         in_place && is_blocking(item->operation));
    return result < 0 ? result : esi_thread_place(item, ESI_ROLE_RECEIVE);
}

/* Adds information about an operation that makes no event itself. */
static int add_neighbour(struct esi_causality *causality,
                         struct esi_element *element,
                         const struct es_tuple *tuple)
{
    struct esi_run_member *member =
        esi_run_member(element->thread->of->process, tuple->communicator);
    uint32_t count = tuple->tag > 0 ? (uint32_t)tuple->tag : 0;

    if (!member) {
        causality->matching.totals.unplaced++;
        return 0;
    }
    if (!member->neighbours) {
        member->neighbours = malloc((count ? count : 1) * sizeof *member->neighbours);
        if (!member->neighbours)
            return -ENOMEM;
        for (uint32_t i = 0; i < count; i++)
            member->neighbours[i] = ES_PEER_NONE;
        member->neighbour_count = count;
    }
    if (tuple->sequence >= member->neighbour_count)
        return 0;
    member->neighbours[tuple->sequence] = tuple->peer;
    member->neighbours_read++;
    return 0;
}

static int add_cancelled_send(struct esi_causality *causality,
                              const struct esi_element *element,
                              const struct es_tuple *tuple)
{
    const struct esi_run_member *member =
        esi_run_member(element->thread->of->process, tuple->communicator);
    struct esi_ends_key key;

    if (!member || !esi_channel_key(member, tuple->peer, true, &key)) {
        causality->matching.totals
            .unplaced++; /* the sends themselves are unplaced, too */
        return 0;
    }
    key.tag = tuple->tag;
    key.sequence = tuple->sequence;
    key.kind = ESI_MESSAGE;
    return esi_message_doubt(&causality->messages, &key, tuple->bytes, tuple->start);
}

static int place_operation(struct esi_causality *causality, struct esi_item *item)
{
    switch ((enum esi_action)item->action) {
    case ESI_SEND:
        return add_send(causality, item);
    case ESI_RECEIVE:
        return add_receive(causality, item);
    case ESI_COLLECTIVE:
    case ESI_WINDOW_COLLECTIVE:
        return esi_collective_add(&causality->instances, item);
    case ESI_LATER_COLLECTIVE:
        /* A call that creates a persistent request has no number. */
        return item->told.tuple.sequence == ES_SEQUENCE_UNKNOWN
                   ? esi_thread_place(item, ESI_ROLE_WHOLE)
                   : esi_collective_add(&causality->instances, item);
    case ESI_POSTED:
        return esi_collective_add_post(&causality->instances, item);
    case ESI_WIN_POST:
    case ESI_WIN_START:
    case ESI_WIN_COMPLETE:
    case ESI_WIN_WAIT:
        return esi_onesided_add(&causality->instances, &causality->messages, item);
    default:
        return esi_thread_place(item, ESI_ROLE_WHOLE);
    }
}

static struct esi_item *make_item(struct esi_causality *causality,
                                  struct esi_element *element,
                                  const struct esi_causal_tuple *told,
                                  const struct es_operation *operation,
                                  enum esi_action action)
{
    const struct es_tuple *tuple = &told->tuple;
    uint32_t number;
    struct esi_item *item = esi_pool_take(&causality->items, &number);

    if (!item)
        return NULL;
    if (action == ESI_POSTED)
        operation = es_operation_find((uint16_t)tuple->tag);
    item->told = *told;
    item->element = element;
    item->number = number;
    item->action = (uint8_t)action;
    item->operation = operation;
    item->lost = element->lost;
    element->lost = 0;
    item->empty = es_tuple_bytes(tuple) == 0 && tells_empty(operation);
    if (tuple->communicator != ES_COMMUNICATOR_NONE)
        item->member =
            esi_run_member(element->thread->of->process, tuple->communicator);
    causality->matching.totals.held++;
    return item;
}

/* --- The stream ------------------------------------------------------------------- */

/* Removes the next event, which was emitted, from its thread. */
static void pop_event(struct esi_causality *causality, struct esi_causal_thread *thread)
{
    struct esi_item *item = thread->events[thread->head++].item;

    esi_thread_leave(thread);
    thread->forced = false;
    if (--item->left == 0)
        drop_item(causality, item);
}

/* Emits a synchronous send and its receive, which is next in its thread. */
static int emit_sync(struct esi_causality *causality,
                     const struct esi_placed *send,
                     struct esi_causal_thread *receiver)
{
    const struct esi_placed receive = *esi_thread_next(receiver);
    int result;

    esi_message_synchronize(&causality->messages, send->item, receive.item);
    esi_thread_make_runnable(&causality->matching, receiver);
    result = esi_event_emit_sync(&causality->output, send, &receive);
    if (result < 0)
        return result;
    pop_event(causality, receiver);
    return ESI_READY;
}

static int emit_send(struct esi_causality *causality, const struct esi_placed *placed)
{
    struct esi_causal_thread *receiver;
    struct esi_emitted sent;
    int result;

    if (esi_message_await_receive(&causality->messages, placed->item, &receiver) ==
        ESI_WAITS)
        return ESI_WAITS;
    if (receiver)
        return emit_sync(causality, placed, receiver);
    result = esi_event_emit(&causality->output, placed, ES_EVENT_SEND, &sent);
    if (result < 0)
        return result;
    esi_message_sent(&causality->messages, placed->item, &sent);
    esi_onesided_emitted(placed->item, &sent);
    return ESI_READY;
}

static int emit_receive(struct esi_causality *causality,
                        const struct esi_placed *placed)
{
    struct esi_emitted received;
    int result = esi_message_await_sends(&causality->messages, placed->item);

    if (result <= 0)
        return result;
    result = esi_event_emit(&causality->output, placed, ES_EVENT_RECEIVE, &received);
    if (result < 0)
        return result;
    esi_message_received(&causality->messages, placed->item, &received);
    return ESI_READY;
}

static int emit_enter(struct esi_causality *causality, const struct esi_placed *placed)
{
    bool is_named = esi_collective_is_named(placed->item);
    struct esi_emitted enter;
    int result = esi_event_emit(&causality->output, placed,
                                is_named ? ES_EVENT_SEND : ES_EVENT_UNARY, &enter);

    if (result >= 0)
        result = esi_collective_entered(&causality->instances, placed->item, &enter);
    return result < 0 ? result : ESI_READY;
}

static int emit_exit(struct esi_causality *causality, const struct esi_placed *placed)
{
    struct esi_emitted exit;
    bool receives;
    int result = esi_collective_await(&causality->instances, placed->item, &receives);

    if (result <= 0)
        return result;
    result = esi_event_emit(&causality->output, placed,
                            receives ? ES_EVENT_RECEIVE : ES_EVENT_UNARY, &exit);
    if (result < 0)
        return result;
    esi_collective_exited(&causality->instances, placed->item);
    return causality->instances.result < 0 ? causality->instances.result : ESI_READY;
}

/* Returns enum esi_outcome, or the error of the sink. */
static int emit_events(struct esi_causality *causality, const struct esi_placed *placed)
{
    struct esi_emitted emitted;
    int result;

    switch ((enum esi_role)placed->role) {
    case ESI_ROLE_SEND:
        return emit_send(causality, placed);
    case ESI_ROLE_RECEIVE:
        return emit_receive(causality, placed);
    case ESI_ROLE_ENTER:
        return emit_enter(causality, placed);
    case ESI_ROLE_EXIT:
        return emit_exit(causality, placed);
    default:
        result = esi_event_emit(&causality->output, placed, ES_EVENT_UNARY, &emitted);
        return result < 0 ? result : ESI_READY;
    }
}

/* Emits the events of a thread up to the first one that must wait. */
static int run_thread(struct esi_causality *causality, struct esi_causal_thread *thread)
{
    while (thread->head < thread->released) {
        struct esi_placed placed = thread->events[thread->head];
        size_t soon = thread->head + 2;
        int result;

        /* Prefetch: the items of a reading exceed the processor's caches. */
        if (soon < thread->released)
            esi_pool_prefetch(&causality->items, thread->events[soon].item);
        result = emit_events(causality, &placed);
        if (result <= 0)
            return result;
        pop_event(causality, thread);
    }
    return 0;
}

static int run_threads(struct esi_causality *causality)
{
    int result = 0;

    while (causality->matching.runnable && result >= 0) {
        struct esi_causal_thread *thread = causality->matching.runnable;

        causality->matching.runnable = thread->next_runnable;
        thread->runnable = false;
        result = run_thread(causality, thread);
    }
    return result;
}

static int release_waiting(struct esi_causality *causality, bool all)
{
    for (size_t i = 0; i < causality->matching.thread_count; i++) {
        struct esi_causal_thread *thread = causality->matching.threads[i];

        bool whole = all || thread->of->process->ended;

        if (esi_thread_release(thread, whole ? UINT64_MAX : thread->settled) < 0)
            return -ENOMEM;
        /* Includes waiting threads: they may no longer need to wait. */
        if (thread->head < thread->released)
            esi_thread_make_runnable(&causality->matching, thread);
    }
    return run_threads(causality);
}

/* Lets the event that has waited longest proceed without its partners.  Returns 1, 0 if
 * no event waits, or -errno. */
static int force_oldest(struct esi_causality *causality)
{
    struct esi_causal_thread *oldest = NULL;
    uint64_t oldest_ns = UINT64_MAX;
    int result;

    for (size_t i = 0; i < causality->matching.thread_count; i++) {
        struct esi_causal_thread *thread = causality->matching.threads[i];
        uint64_t ns;

        if (thread->head == thread->released)
            continue;
        ns = thread->events[thread->head].item->told.start_ns;
        if (ns < oldest_ns || !oldest) {
            oldest = thread;
            oldest_ns = ns;
        }
    }
    if (!oldest)
        return 0;
    oldest->forced = true;
    esi_thread_make_runnable(&causality->matching, oldest);
    result = run_threads(causality);
    return result < 0 ? result : 1;
}

static int bound_time(struct esi_causality *causality)
{
    size_t enough = causality->config.held_max - causality->config.held_max / 8;
    int result = run_threads(causality);

    if (result == 0)
        result = 1;
    while (causality->matching.totals.held > enough && result > 0)
        result = force_oldest(causality);
    if (result == 0 && causality->matching.totals.held > enough) {
        result = release_waiting(causality, true);
        result = result < 0 ? result : 1;
    }
    while (causality->matching.totals.held > enough && result > 0)
        result = force_oldest(causality);
    return result < 0 ? result : 0;
}

/* Describes a tuple that is not an event for the listener. */
static struct esi_causal_call describe_call(const struct esi_causal_thread *thread,
                                            const struct esi_causal_tuple *tuple)
{
    uint16_t communicator = tuple->tuple.communicator;
    const struct esi_run_member *member =
        communicator == ES_COMMUNICATOR_NONE
            ? NULL
            : esi_run_member(thread->of->process, communicator);

    return (struct esi_causal_call){
        .told = tuple,
        .operation = es_operation_find(tuple->tuple.operation),
        .role = ESI_ROLE_WHOLE,
        .thread = thread->of,
        .member = member,
    };
}

static int add_epoch_member(struct esi_causality *causality,
                            struct esi_element *element,
                            const struct esi_causal_tuple *tuple,
                            bool exposes)
{
    const struct esi_causal_listener *listener = &causality->config.listener;
    const struct esi_causal_call call = describe_call(element->thread, tuple);
    int result = listener->member
                     ? listener->member(listener->data, element->thread->trace, &call)
                     : 0;

    return result < 0
               ? result
               : esi_onesided_add_member(&causality->instances, &causality->messages,
                                         element, &tuple->tuple, exposes);
}

int esi_causality_miss(struct esi_causality *causality,
                       uint32_t element,
                       const struct esi_gap *gap)
{
    const struct esi_causal_listener *listener = &causality->config.listener;
    const struct esi_causal_thread *thread = causality->elements[element]->thread;

    return listener->gap && gap->end_ns > gap->begin_ns
               ? listener->gap(listener->data, thread->trace, gap)
               : 0;
}

/* Tuples of an element are in the order in which their operations ended; an operation
 * that blocks began after those before it had ended. */
uint64_t esi_causality_gap_end(const struct es_tuple *tuple,
                               uint64_t start_ns,
                               uint64_t stop_ns)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    return tuple->stop == 0 || (operation && !operation->nonblocking) ? start_ns
                                                                      : stop_ns;
}

/* Ends the gap before a tuple, if there is one. */
static int end_gap(struct esi_causality *causality,
                   uint32_t element,
                   const struct esi_causal_tuple *tuple)
{
    struct esi_element *of = causality->elements[element];
    struct esi_gap gap = {of->last_ns, 0};

    if (tuple->stop_ns > of->last_ns)
        of->last_ns = tuple->stop_ns;
    if (!of->in_gap)
        return 0;
    of->in_gap = false;
    gap.end_ns = esi_causality_gap_end(&tuple->tuple, tuple->start_ns, tuple->stop_ns);
    return esi_causality_miss(causality, element, &gap);
}

static void note_tuple(struct esi_matching *matching,
                       const struct esi_causal_tuple *tuple)
{
    matching->totals.tuples++;
    if (tuple->stop_ns > matching->newest_ns)
        matching->newest_ns = tuple->stop_ns;
}

/* Without events. */
static int add_part(struct esi_causality *causality,
                    const struct esi_element *element,
                    const struct esi_causal_tuple *tuple)
{
    struct esi_instances *instances = &causality->instances;
    int result;

    note_tuple(&causality->matching, tuple);
    result = esi_collective_match(instances, element->thread->of, tuple);
    return result < 0 ? result : instances->result;
}

int esi_causality_add(struct esi_causality *causality,
                      uint32_t element,
                      const struct esi_causal_tuple *tuple)
{
    struct esi_element *of = causality->elements[element];
    const struct es_operation *operation;
    enum esi_action action;
    struct esi_item *item;
    int result;

    if (causality->config.only_instances)
        return add_part(causality, of, tuple);
    result = end_gap(causality, element, tuple);
    if (result < 0)
        return result;
    note_tuple(&causality->matching, tuple);
    operation = es_operation_find(tuple->tuple.operation);
    action = action_of(&tuple->tuple, operation);
    if (action == ESI_IGNORE || (is_in_tree(operation) && !causality->config.trees))
        return 0;
    if (action == ESI_NEIGHBOUR)
        return add_neighbour(causality, of, &tuple->tuple);
    if (action == ESI_CANCEL_SEND)
        return add_cancelled_send(causality, of, &tuple->tuple);
    if (action == ESI_POST_MEMBER || action == ESI_START_MEMBER)
        return add_epoch_member(causality, of, tuple, action == ESI_POST_MEMBER);
    item = make_item(causality, of, tuple, operation, action);
    if (!item)
        return -ENOMEM;
    result = place_operation(causality, item);
    if (item->left == 0)
        drop_item(causality, item);
    if (result < 0)
        return result;
    if (causality->matching.totals.held > causality->config.held_max)
        return bound_time(causality);
    return 0;
}

void esi_causality_lose(struct esi_causality *causality,
                        uint32_t element,
                        uint64_t lost,
                        uint64_t read_ns)
{
    struct esi_element *of = causality->elements[element];

    if (lost == 0)
        return;
    if (!of->in_gap && read_ns > of->last_ns)
        of->last_ns = read_ns;
    of->in_gap = true;
    causality->matching.totals.lost += lost;
    of->lost = lost > UINT32_MAX - of->lost ? UINT32_MAX : of->lost + (uint32_t)lost;
}

int esi_causality_report_open(const struct esi_causality *causality,
                              uint32_t element,
                              const struct esi_causal_tuple *tuple)
{
    const struct esi_causal_thread *thread = causality->elements[element]->thread;
    const struct esi_causal_call call = describe_call(thread, tuple);

    return causality->config.listener.open(causality->config.listener.data,
                                           thread->trace, &call);
}

int esi_causality_advance(struct esi_causality *causality)
{
    int result = 0;

    if (causality->config.only_instances)
        esi_instances_expire(&causality->instances);
    else
        result = release_waiting(causality, false);
    for (size_t i = 0; i < causality->matching.thread_count; i++) {
        causality->matching.threads[i]->settled =
            causality->matching.threads[i]->newest;
        causality->matching.threads[i]->settled_ns =
            causality->matching.threads[i]->newest_ns;
    }
    causality->matching.settled_ns = causality->matching.newest_ns;
    causality->matching.settles++;
    return result < 0 ? result : causality->instances.result;
}

/* No tuple follows the losses of these elements. */
static int end_last_gaps(struct esi_causality *causality)
{
    int result = 0;

    for (size_t i = 0; i < causality->element_count && result >= 0; i++) {
        const struct esi_gap gap = {causality->elements[i]->last_ns,
                                    causality->matching.newest_ns};

        if (causality->elements[i]->in_gap)
            result = esi_causality_miss(causality, (uint32_t)i, &gap);
    }
    return result;
}

int esi_causality_finish(struct esi_causality *causality)
{
    int result = end_last_gaps(causality);

    if (result < 0)
        return result;
    causality->matching.finished = true;
    causality->matching.settles++;
    result = release_waiting(causality, true);
    if (result >= 0)
        do
            result = force_oldest(causality);
        while (result > 0);
    if (result < 0)
        return result;
    esi_instances_finish(&causality->instances);
    esi_messages_finish(&causality->messages);
    return causality->instances.result;
}

/* --- Results ---------------------------------------------------------------------- */

void esi_causality_totals(const struct esi_causality *causality,
                          struct esi_causality_totals *ret_totals)
{
    *ret_totals = causality->matching.totals;
    ret_totals->processes = causality->matching.run->process_count;
    ret_totals->unmatched_sends += causality->messages.ends.weight;
    if (causality->config.only_instances)
        ret_totals->held = causality->instances.ends.weight;
}

bool esi_causality_is_incomplete(const struct esi_causality *causality)
{
    const struct esi_causality_totals *totals = &causality->matching.totals;

    return totals->lost > 0 || totals->unmatched_sends > 0 ||
           totals->unmatched_receives > 0 || totals->unnumbered > 0 ||
           totals->incomplete > 0 || totals->late > 0 || totals->unplaced > 0;
}

void esi_causality_foreach_unmatched(
    const struct esi_causality *causality,
    void (*visit)(void *data, const struct esi_causal_channel *channel),
    void *data)
{
    esi_messages_foreach_unmatched(&causality->messages, visit, data);
}
