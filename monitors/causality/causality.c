/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The way of a tuple from its element to the events it becomes: its item, their places
 * in the thread, and the order in which the stream goes on.
 */
#include "config.h"

#include "monitors/causality/causality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/causality/causal_private.h"

#define HELD_MAX ((size_t)1 << 20)
#define PATIENCE_NS UINT64_C(60000000000)
enum { LARGE_COUNT = 2000 }; /* codes of the variants NAME_c are so much higher */

/* --- What operations become ------------------------------------------------------- */

struct special {
    const char *name;
    enum esi_action action;
};

static const struct special specials[] = {
    {"MPI collective post", ESI_POSTED},
    {"MPI topology neighbour", ESI_NEIGHBOUR},
    {"MPI_Cancel send", ESI_CANCEL_SEND},
    {"MPI_Win_post member", ESI_POST_MEMBER},
    {"MPI_Win_start member", ESI_START_MEMBER},
    {"MPI_Win_fence", ESI_WINDOW_COLLECTIVE},
    {"MPI_Win_free", ESI_WINDOW_COLLECTIVE},
    {"MPI_Win_post", ESI_WIN_POST},
    {"MPI_Win_start", ESI_WIN_START},
    {"MPI_Win_complete", ESI_WIN_COMPLETE},
    {"MPI_Win_wait", ESI_WIN_WAIT},
    {"MPI_Win_test", ESI_WIN_WAIT},
};

/* Whether the call only makes a request, which is started later. */
static bool is_init(const char *name)
{
    size_t length = strlen(name);

    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        length -= 2;
    return length > 5 && strncmp(name + length - 5, "_init", 5) == 0;
}

static enum esi_action action_of(const struct es_operation *operation)
{
    switch (operation->op_class) {
    case ES_CLASS_SEND:
        return is_init(operation->name) ? ESI_UNARY : ESI_SEND;
    case ES_CLASS_RECEIVE:
        return is_init(operation->name) ? ESI_UNARY : ESI_RECEIVE;
    case ES_CLASS_COLLECTIVE:
    case ES_CLASS_COMMUNICATOR:
    case ES_CLASS_ONE_SIDED:
    case ES_CLASS_IO:
        if (operation->order == ES_ORDER_NONE)
            return ESI_UNARY;
        return operation->nonblocking ? ESI_LATER_COLLECTIVE : ESI_COLLECTIVE;
    case ES_CLASS_COMPLETION:
    case ES_CLASS_OTHER:
        return ESI_UNARY;
    default:
        return ESI_IGNORE;
    }
}

/* Whether 0 bytes in a member's tuple mean that no data are moved between any two.  Of
 * those where each member has its own counts they do not. */
static bool tells_empty(const struct es_operation *operation)
{
    static const char *const own_counts[] = {"lltoallv", "lltoallw", "Gatherv",
                                             "Igatherv", "catterv",  "r_allgatherv"};

    if (operation->op_class != ES_CLASS_COLLECTIVE || operation->synchronizing)
        return false;
    for (size_t i = 0; i < sizeof own_counts / sizeof *own_counts; i++)
        if (strstr(operation->name, own_counts[i]))
            return false;
    return true;
}

static void choose_actions(struct esi_causality *causality)
{
    uint8_t *actions = causality->actions;

    for (unsigned code = 0; code <= UINT16_MAX; code++) {
        const struct es_operation *operation = es_operation_find((uint16_t)code);

        actions[code] = (uint8_t)(operation ? action_of(operation) : ESI_UNARY);
        causality->tells_empty[code] = operation && tells_empty(operation);
    }
    causality->win_free = es_operation_by_name("MPI_Win_free");
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const struct es_operation *operation = es_operation_by_name(specials[i].name);

        if (operation)
            actions[operation->code] = (uint8_t)specials[i].action;
    }
}

/* Whether this very call blocks till its message is on its way. */
static bool is_call(const struct es_operation *operation, const char *name)
{
    size_t length = strlen(name);

    return operation && strncmp(operation->name, name, length) == 0 &&
           (operation->name[length] == '\0' ||
            strcmp(operation->name + length, "_c") == 0);
}

/* --- Objects ---------------------------------------------------------------------- */

static int init_tables(struct esi_causality *causality)
{
    int result = esi_table_init(&causality->names);

    if (result == 0)
        result = esi_table_init(&causality->communicators);
    if (result == 0)
        result = esi_table_init(&causality->message_table);
    if (result == 0)
        result = esi_table_init(&causality->instances);
    if (result == 0)
        result = esi_table_init(&causality->epochs);
    if (result == 0)
        result = esi_table_init(&causality->channels);
    if (result == 0)
        result = esi_table_init(&causality->doubts);
    return result;
}

int esi_causality_create(const struct esi_causality_config *config,
                         struct esi_causality **ret_causality)
{
    struct esi_causality *causality = calloc(1, sizeof *causality);

    if (!causality)
        return -ENOMEM;
    causality->config = *config;
    if (causality->config.held_max == 0)
        causality->config.held_max = HELD_MAX;
    if (causality->config.patience_ns == 0)
        causality->config.patience_ns = PATIENCE_NS;
    esi_pool_init(&causality->items, sizeof(struct esi_item));
    esi_pool_init(&causality->messages, sizeof(struct esi_message));
    causality->types = calloc((size_t)UINT16_MAX + 1, sizeof *causality->types);
    if (!causality->types || init_tables(causality) < 0) {
        esi_causality_destroy(causality);
        return -ENOMEM;
    }
    choose_actions(causality);
    *ret_causality = causality;
    return 0;
}

static void destroy_series(struct esi_series *series)
{
    for (struct esi_series *next; series; series = next) {
        next = series->next;
        free(series);
    }
}

static void destroy_instances(struct esi_instance *unused)
{
    for (struct esi_instance *next; unused; unused = next) {
        next = unused->next;
        free(unused);
    }
}

static void destroy_communicators(struct esi_causal_table *table)
{
    for (size_t i = 0; table->heads && i <= table->mask; i++)
        for (struct esi_link *link = table->heads[i], *next; link; link = next) {
            struct esi_communicator *communicator = (struct esi_communicator *)link;

            next = link->next;
            destroy_series(communicator->series);
            destroy_instances(communicator->unused);
            esi_communicator_destroy(communicator);
        }
    esi_table_empty(table);
}

static void destroy_channels(struct esi_causal_table *table)
{
    for (size_t i = 0; table->heads && i <= table->mask; i++)
        for (struct esi_link *link = table->heads[i], *next; link; link = next) {
            next = link->next;
            free(link);
        }
    esi_table_empty(table);
}

static void destroy_thread(struct esi_causal_thread *thread)
{
    for (size_t i = thread->head; i < thread->tail; i++)
        esi_collective_leave(thread->events[i].item);
    free(thread->events);
    free(thread);
}

void esi_causality_destroy(struct esi_causality *causality)
{
    int saved_errno = errno;

    if (!causality)
        return;
    if (causality->instances.heads)
        esi_collective_finish(causality);
    for (size_t i = 0; i < causality->thread_count; i++)
        destroy_thread(causality->threads[i]);
    free(causality->threads);
    for (size_t i = 0; i < causality->element_count; i++)
        free(causality->elements[i]);
    free(causality->elements);
    for (size_t i = 0; i < causality->process_count; i++)
        esi_process_destroy(causality->processes[i]);
    free(causality->processes);
    destroy_communicators(&causality->communicators);
    destroy_channels(&causality->channels);
    destroy_channels(&causality->doubts);
    esi_onesided_fini(causality);
    esi_event_fini(causality);
    esi_table_empty(&causality->names);
    esi_table_empty(&causality->epochs);
    esi_table_empty(&causality->message_table);
    esi_table_empty(&causality->instances);
    esi_pool_fini(&causality->items);
    esi_pool_fini(&causality->messages);
    free(causality);
    errno = saved_errno;
}

/* --- Reading ---------------------------------------------------------------------- */

static void drop_process(struct esi_causality *causality, struct esi_item *item)
{
    esi_collective_leave(item);
    esi_pool_give(&causality->items, item);
    causality->totals.held--;
}

static int add_whole(struct esi_item *item)
{
    const struct esi_causal_tuple *told = &item->told;
    bool open = told->tuple.stop == 0;

    return esi_thread_place(item->element->thread, item, ESI_ROLE_WHOLE,
                            open ? told->tuple.start : told->tuple.stop,
                            open ? told->start_ns : told->stop_ns);
}

/* The message of an end; false: it has none that could be told. */
static bool find_message(struct esi_causality *causality,
                         struct esi_item *item,
                         bool is_send,
                         struct esi_message *ret_key)
{
    const struct es_tuple *tuple = &item->told.tuple;
    uint32_t peer;

    if (!item->view) {
        causality->totals.unplaced++;
        return false;
    }
    if (tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        causality->totals.unnumbered++;
        return false;
    }
    peer = esi_view_peer(item->view, tuple->peer);
    if (peer == UINT32_MAX || item->view->slot == UINT32_MAX) {
        causality->totals.unplaced++;
        return false;
    }
    *ret_key = (struct esi_message){
        .communicator = item->view->communicator,
        .source = is_send ? item->view->slot : peer,
        .destination = is_send ? peer : item->view->slot,
        .tag = tuple->tag,
        .sequence = tuple->sequence,
        .kind = ESI_MESSAGE,
    };
    return true;
}

/* Whether a later call has taken the number back. */
static bool is_doubtful(struct esi_causality *causality,
                        const struct esi_item *item,
                        const struct esi_message *key)
{
    if (causality->doubts.count == 0 ||
        !esi_message_is_doubtful(causality, key, item->told.tuple.start))
        return false;
    causality->totals.unnumbered++;
    return true;
}

static int add_send(struct esi_causality *causality, struct esi_item *item)
{
    const struct esi_causal_tuple *told = &item->told;
    struct esi_message key;
    int result = 0;

    if (told->tuple.peer < 0) /* to MPI_PROC_NULL */
        return add_whole(item);
    if (!esi_thread_has_place(item->element->thread, told->tuple.start)) {
        causality->totals.late++; /* nobody may depend on it any more */
    } else if (find_message(causality, item, true, &key) &&
               !is_doubtful(causality, item, &key)) {
        item->synchronous = is_call(item->operation, "MPI_Ssend") && told->tuple.stop;
        result = esi_message_add_send(causality, item, &key);
    }
    if (result < 0)
        return result;
    return esi_thread_place(item->element->thread, item, ESI_ROLE_SEND,
                            told->tuple.start, told->start_ns);
}

static int add_receive(struct esi_causality *causality, struct esi_item *item)
{
    const struct esi_causal_tuple *told = &item->told;
    bool in_place = esi_thread_has_place(item->element->thread, told->tuple.stop);
    bool blocking =
        is_call(item->operation, "MPI_Recv") || is_call(item->operation, "MPI_Mrecv");
    struct esi_message key;
    int result = 0;

    if (told->tuple.stop == 0 || told->tuple.peer < 0)
        return add_whole(item);
    causality->totals.late += !in_place;
    if (find_message(causality, item, false, &key))
        result = esi_message_add_receive(causality, item, &key, blocking && in_place);
    if (result < 0)
        return result;
    return esi_thread_place(item->element->thread, item, ESI_ROLE_RECEIVE,
                            told->tuple.stop, told->stop_ns);
}

/* What belongs to an operation and becomes no event itself. */
static int add_neighbour(struct esi_causality *causality,
                         struct esi_element *element,
                         const struct es_tuple *tuple)
{
    struct esi_view *view =
        esi_process_view(element->thread->process, tuple->communicator);
    uint32_t count = tuple->tag > 0 ? (uint32_t)tuple->tag : 0;

    if (!view) {
        causality->totals.unplaced++;
        return 0;
    }
    if (!view->neighbours) {
        view->neighbours = malloc((count ? count : 1) * sizeof *view->neighbours);
        if (!view->neighbours)
            return -ENOMEM;
        for (uint32_t i = 0; i < count; i++)
            view->neighbours[i] = ES_PEER_NONE;
        view->neighbour_count = count;
    }
    if (tuple->sequence >= view->neighbour_count)
        return 0;
    view->neighbours[tuple->sequence] = tuple->peer;
    view->neighbours_told++;
    return 0;
}

static int add_cancelled_send(struct esi_causality *causality,
                              const struct esi_element *element,
                              const struct es_tuple *tuple)
{
    const struct esi_view *view =
        esi_process_view(element->thread->process, tuple->communicator);
    uint32_t peer = view ? esi_view_peer(view, tuple->peer) : UINT32_MAX;
    struct esi_message key = {.kind = ESI_MESSAGE};

    if (peer == UINT32_MAX || view->slot == UINT32_MAX) {
        causality->totals.unplaced++; /* as are the sends themselves */
        return 0;
    }
    key.communicator = view->communicator;
    key.source = view->slot;
    key.destination = peer;
    key.tag = tuple->tag;
    key.sequence = tuple->sequence;
    return esi_message_doubt(causality, &key, tuple->bytes, tuple->start);
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
        return esi_collective_add(causality, item);
    case ESI_LATER_COLLECTIVE:
        /* The call that makes a persistent request has no number. */
        return item->told.tuple.sequence == ES_SEQUENCE_UNKNOWN
                   ? add_whole(item)
                   : esi_collective_add(causality, item);
    case ESI_POSTED:
        return esi_collective_add_post(causality, item);
    case ESI_WIN_POST:
    case ESI_WIN_START:
    case ESI_WIN_COMPLETE:
    case ESI_WIN_WAIT:
        return esi_onesided_add(causality, item);
    default:
        return add_whole(item);
    }
}

static struct esi_item *make_item(struct esi_causality *causality,
                                  struct esi_element *element,
                                  const struct esi_causal_tuple *tuple,
                                  enum esi_action action)
{
    struct esi_item *item = esi_pool_take(&causality->items);
    uint16_t code = tuple->tuple.operation;

    if (!item)
        return NULL;
    if (action == ESI_POSTED)
        code = (uint16_t)tuple->tuple.tag;
    item->told = *tuple;
    item->element = element;
    item->action = (uint8_t)action;
    item->operation = es_operation_find(code);
    item->empty = tuple->tuple.bytes == 0 && causality->tells_empty[code];
    if (tuple->tuple.communicator != ES_COMMUNICATOR_NONE)
        item->view =
            esi_process_view(element->thread->process, tuple->tuple.communicator);
    causality->totals.held++;
    return item;
}

/* --- The stream ------------------------------------------------------------------- */

void esi_thread_pop(struct esi_causality *causality, struct esi_causal_thread *thread)
{
    struct esi_item *item = thread->events[thread->head++].item;

    esi_thread_leave(thread);
    thread->forced = false;
    if (--item->left == 0)
        drop_process(causality, item);
}

static int emit_events(struct esi_causality *causality, const struct esi_placed *placed)
{
    struct es_event_id id;
    int result;

    switch ((enum esi_role)placed->role) {
    case ESI_ROLE_SEND:
        return esi_message_give_send(causality, placed);
    case ESI_ROLE_RECEIVE:
        return esi_message_give_receive(causality, placed);
    case ESI_ROLE_ENTER:
        return esi_collective_give_enter(causality, placed);
    case ESI_ROLE_EXIT:
        return esi_collective_give_exit(causality, placed);
    default:
        result = esi_event_give(causality, placed, ES_EVENT_UNARY, 0, &id);
        return result < 0 ? result : ESI_WAS_GIVEN;
    }
}

/* Gives what a thread has as far as it need not wait. */
static int run_thread(struct esi_causality *causality, struct esi_causal_thread *thread)
{
    while (thread->head < thread->released) {
        struct esi_placed placed = thread->events[thread->head];
        int result = emit_events(causality, &placed);

        if (result <= 0)
            return result;
        esi_thread_pop(causality, thread);
    }
    return 0;
}

static int run_threads(struct esi_causality *causality)
{
    int result = 0;

    while (causality->runnable && result >= 0) {
        struct esi_causal_thread *thread = causality->runnable;

        causality->runnable = thread->next_runnable;
        thread->runnable = false;
        result = run_thread(causality, thread);
    }
    return result;
}

static int release_waiting(struct esi_causality *causality, bool all)
{
    for (size_t i = 0; i < causality->thread_count; i++) {
        struct esi_causal_thread *thread = causality->threads[i];

        bool whole = all || thread->process->ended;

        if (esi_thread_release(thread, whole ? UINT64_MAX : thread->settled) < 0)
            return -ENOMEM;
        /* Also what waits: it may have become clear that it does so in vain. */
        if (thread->head < thread->released)
            esi_thread_make_runnable(causality, thread);
    }
    return run_threads(causality);
}

/* Has the event that has waited longest go on without its partners.  1, or 0: none
 * waits, or -errno. */
static int force_oldest(struct esi_causality *causality)
{
    struct esi_causal_thread *oldest = NULL;
    uint64_t oldest_ns = UINT64_MAX;
    int result;

    for (size_t i = 0; i < causality->thread_count; i++) {
        struct esi_causal_thread *thread = causality->threads[i];
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
    esi_thread_make_runnable(causality, oldest);
    result = run_threads(causality);
    return result < 0 ? result : 1;
}

static int bound_time(struct esi_causality *causality)
{
    size_t enough = causality->config.held_max - causality->config.held_max / 8;
    int result = run_threads(causality);

    if (result == 0)
        result = 1;
    while (causality->totals.held > enough && result > 0)
        result = force_oldest(causality);
    if (result == 0 && causality->totals.held > enough) {
        result = release_waiting(causality, true);
        result = result < 0 ? result : 1;
    }
    while (causality->totals.held > enough && result > 0)
        result = force_oldest(causality);
    return result < 0 ? result : 0;
}

int esi_causality_add(struct esi_causality *causality,
                      uint32_t element,
                      const struct esi_causal_tuple *tuple)
{
    struct esi_element *of = causality->elements[element];
    enum esi_action action =
        (enum esi_action)causality->actions[tuple->tuple.operation];
    struct esi_item *item;
    int result;

    causality->totals.tuples++;
    if (tuple->stop_ns > causality->newest_ns)
        causality->newest_ns = tuple->stop_ns;
    if (action == ESI_IGNORE)
        return 0;
    if (action == ESI_NEIGHBOUR)
        return add_neighbour(causality, of, &tuple->tuple);
    if (action == ESI_CANCEL_SEND)
        return add_cancelled_send(causality, of, &tuple->tuple);
    if (action == ESI_POST_MEMBER || action == ESI_START_MEMBER)
        return esi_onesided_add_member(causality, of, &tuple->tuple,
                                       action == ESI_POST_MEMBER);
    item = make_item(causality, of, tuple, action);
    if (!item)
        return -ENOMEM;
    result = place_operation(causality, item);
    if (item->left == 0)
        drop_process(causality, item);
    if (result < 0)
        return result;
    if (causality->totals.held > causality->config.held_max)
        return bound_time(causality);
    return 0;
}

void esi_causality_lose(struct esi_causality *causality, uint64_t lost)
{
    causality->totals.lost += lost;
}

int esi_causality_settle(struct esi_causality *causality)
{
    int result = release_waiting(causality, false);

    for (size_t i = 0; i < causality->thread_count; i++) {
        causality->threads[i]->settled = causality->threads[i]->newest;
        causality->threads[i]->settled_ns = causality->threads[i]->newest_ns;
    }
    causality->settled_ns = causality->newest_ns;
    causality->settles++;
    return result;
}

int esi_causality_finish(struct esi_causality *causality)
{
    int result;

    causality->finished = true;
    causality->settles++;
    result = release_waiting(causality, true);
    if (result >= 0)
        do
            result = force_oldest(causality);
        while (result > 0);
    if (result < 0)
        return result;
    esi_collective_finish(causality);
    esi_message_finish(causality);
    return 0;
}

/* --- What was found --------------------------------------------------------------- */

void esi_causality_totals(const struct esi_causality *causality,
                          struct esi_causality_totals *ret_totals)
{
    *ret_totals = causality->totals;
    ret_totals->unmatched_sends += causality->aging_sends;
}

bool esi_causality_is_incomplete(const struct esi_causality *causality)
{
    const struct esi_causality_totals *totals = &causality->totals;

    return totals->lost > 0 || totals->unmatched_sends > 0 ||
           totals->unmatched_receives > 0 || totals->unnumbered > 0 ||
           totals->incomplete > 0 || totals->late > 0 || totals->unplaced > 0;
}
