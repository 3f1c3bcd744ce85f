/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One-sided communication with post, start, complete and wait (MPI-4.0, section
 * 12.5.2).
 *
 * A start's group tells whose posts its complete waits for, and a post's group whose
 * completes its wait waits for.  Between a target and an origin posts and starts are
 * counted, and match in order.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/causality/causal_private.h"

static uint64_t hash_epoch(const struct esi_epoch *epoch)
{
    uint64_t hash = esi_hash_mix((uintptr_t)epoch->process, epoch->exposes);

    return esi_hash_mix(esi_hash_mix(hash, (uintptr_t)epoch->communicator),
                        (uint32_t)epoch->window);
}

static struct esi_epoch *find_epoch(const struct esi_causality *causality,
                                    const struct esi_epoch *key,
                                    uint64_t hash)
{
    struct esi_link *link = esi_table_chain(&causality->epochs, hash);

    for (; link; link = link->next) {
        struct esi_epoch *epoch = (struct esi_epoch *)link;

        if (link->hash == hash && epoch->process == key->process &&
            epoch->communicator == key->communicator && epoch->window == key->window &&
            epoch->exposes == key->exposes)
            return epoch;
    }
    return NULL;
}

/* The epoch of a process on a window; NULL without memory. */
static struct esi_epoch *epoch_of(struct esi_causality *causality,
                                  struct esi_causal_process *process,
                                  const struct esi_view *view,
                                  int32_t window,
                                  bool exposes)
{
    struct esi_epoch key = {.process = process,
                            .communicator = view->communicator,
                            .window = window,
                            .exposes = exposes};
    uint64_t hash = hash_epoch(&key);
    struct esi_epoch *epoch = find_epoch(causality, &key, hash);

    if (epoch)
        return epoch;
    epoch = malloc(sizeof *epoch);
    if (!epoch)
        return NULL;
    *epoch = key;
    esi_table_insert(&causality->epochs, &epoch->link, hash);
    return epoch;
}

void esi_onesided_forget(struct esi_causality *causality,
                         struct esi_communicator *communicator,
                         int32_t window)
{
    struct esi_epoch key = {.communicator = communicator, .window = window};

    for (uint32_t i = 0; i < 2 * communicator->size; i++) {
        struct esi_epoch *epoch;

        key.process = communicator->members[i / 2];
        key.exposes = i % 2;
        epoch = key.process ? find_epoch(causality, &key, hash_epoch(&key)) : NULL;
        if (!epoch)
            continue;
        esi_table_remove(&causality->epochs, &epoch->link);
        free(epoch->members);
        free(epoch);
    }
}

void esi_onesided_fini(struct esi_causality *causality)
{
    for (size_t i = 0; causality->epochs.heads && i <= causality->epochs.mask; i++)
        for (struct esi_link *link = causality->epochs.heads[i], *next; link;
             link = next) {
            next = link->next;
            free(((struct esi_epoch *)link)->members);
            free(link);
        }
}

/* Another call begins another epoch, whether it was read or lost. */
static void turn_to(struct esi_epoch *epoch, uint64_t begun)
{
    if (epoch->begun == begun)
        return;
    epoch->begun = begun;
    epoch->numbered = false;
    epoch->count = 0;
}

static int add_to_epoch(struct esi_epoch *epoch, const struct es_tuple *tuple)
{
    turn_to(epoch, tuple->start);
    if (ESI_ARRAY_RESERVE(epoch->members, epoch->room, epoch->count + 1) < 0)
        return -ENOMEM;
    epoch->members[epoch->count++] =
        (struct esi_epoch_member){.peer = tuple->peer, .sequence = tuple->sequence};
    return 0;
}

/* --- Messages between epochs ------------------------------------------------------ */

/* What goes from a target to an origin (a post), or back (a complete). */
static struct esi_message message_of(const struct esi_view *view,
                                     int32_t window,
                                     const struct esi_epoch_member *member,
                                     enum esi_message_kind kind,
                                     bool is_send)
{
    uint32_t peer = esi_view_peer(view, member->peer);

    return (struct esi_message){
        .communicator = view->communicator,
        .source = is_send ? view->slot : peer,
        .destination = is_send ? peer : view->slot,
        .tag = window,
        .sequence = member->sequence,
        .kind = (uint8_t)kind,
    };
}

static int add_post(struct esi_causality *causality,
                    struct esi_element *element,
                    const struct esi_view *view,
                    const struct es_tuple *tuple)
{
    struct esi_epoch_member member = {tuple->peer, tuple->sequence};
    struct esi_message key =
        message_of(view, tuple->tag, &member, ESI_EPOCH_POST, true);

    if (key.destination == UINT32_MAX || element->post_begun != tuple->start)
        return 0;
    if (element->post)
        return esi_message_add_send(causality, element->post, &key);
    if (element->post_id.index != 0)
        return esi_message_add_given(causality, &element->post_id, &key);
    return 0;
}

int esi_onesided_add_member(struct esi_causality *causality,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes)
{
    struct esi_causal_process *process = element->thread->process;
    struct esi_view *view = esi_process_view(process, tuple->communicator);
    struct esi_epoch *epoch;

    if (!view || view->slot == UINT32_MAX || tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        causality->totals.unplaced++;
        return 0;
    }
    epoch = epoch_of(causality, process, view, tuple->tag, exposes);
    if (!epoch || add_to_epoch(epoch, tuple) < 0)
        return -ENOMEM;
    return exposes ? add_post(causality, element, view, tuple) : 0;
}

void esi_onesided_note_given(struct esi_item *item, const struct es_event_id *id)
{
    struct esi_element *element = item->element;

    if (element->post == item) {
        element->post = NULL;
        element->post_id = *id;
    }
}

/* --- Calls ------------------------------------------------------------------------ */

/* The item is the other end of what its epoch's members send. */
static int add_receives(struct esi_causality *causality,
                        struct esi_item *item,
                        const struct esi_epoch *epoch,
                        enum esi_message_kind kind)
{
    int result = 0;

    for (size_t i = 0; i < epoch->count && result >= 0; i++) {
        struct esi_message key =
            message_of(item->view, epoch->window, &epoch->members[i], kind, false);

        if (key.source != UINT32_MAX)
            result = esi_message_add_receive(causality, item, &key, false);
    }
    return result;
}

static int add_sends(struct esi_causality *causality,
                     struct esi_item *item,
                     const struct esi_epoch *epoch)
{
    int result = 0;

    for (size_t i = 0; i < epoch->count && result >= 0; i++) {
        struct esi_message key = message_of(
            item->view, epoch->window, &epoch->members[i], ESI_EPOCH_COMPLETE, true);

        if (key.destination != UINT32_MAX)
            result = esi_message_add_send(causality, item, &key);
    }
    return result;
}

/* A complete enters, which the waits of its group name, and exits, naming the posts. */
static int place_complete(struct esi_causality *causality,
                          struct esi_item *item,
                          struct esi_epoch *epoch)
{
    const struct esi_causal_tuple *told = &item->told;
    struct esi_causal_thread *thread = item->element->thread;
    int result = 0;

    item->halves = true;
    if (!esi_thread_has_place(thread, told->tuple.start))
        causality->totals.late++;
    else if (epoch)
        result = add_sends(causality, item, epoch);
    if (result >= 0)
        result = esi_thread_place(thread, item, ESI_ROLE_SEND, told->tuple.start,
                                  told->start_ns);
    if (result < 0 || told->tuple.stop == 0)
        return result;
    if (epoch)
        result = add_receives(causality, item, epoch, ESI_EPOCH_POST);
    if (result < 0)
        return result;
    return esi_thread_place(thread, item, ESI_ROLE_RECEIVE, told->tuple.stop,
                            told->stop_ns);
}

static int place_wait(struct esi_causality *causality,
                      struct esi_item *item,
                      struct esi_epoch *epoch)
{
    const struct esi_causal_tuple *told = &item->told;
    bool open = told->tuple.stop == 0;
    int result = 0;

    if (epoch && !open)
        result = add_receives(causality, item, epoch, ESI_EPOCH_COMPLETE);
    if (result < 0)
        return result;
    return esi_thread_place(item->element->thread, item,
                            open ? ESI_ROLE_WHOLE : ESI_ROLE_RECEIVE,
                            open ? told->tuple.start : told->tuple.stop,
                            open ? told->start_ns : told->stop_ns);
}

/* What comes of a post, whose members are told after it. */
static int place_post(struct esi_causality *causality, struct esi_item *item)
{
    const struct esi_causal_tuple *told = &item->told;
    struct esi_element *element = item->element;
    bool in_place = esi_thread_has_place(element->thread, told->tuple.start);

    element->post = in_place ? item : NULL;
    element->post_begun = told->tuple.start;
    element->post_id = (struct es_event_id){.index = 0};
    causality->totals.late += !in_place;
    return esi_thread_place(element->thread, item, ESI_ROLE_SEND, told->tuple.start,
                            told->start_ns);
}

static int place_start(struct esi_item *item)
{
    const struct esi_causal_tuple *told = &item->told;
    bool open = told->tuple.stop == 0;

    return esi_thread_place(item->element->thread, item, ESI_ROLE_WHOLE,
                            open ? told->tuple.start : told->tuple.stop,
                            open ? told->start_ns : told->stop_ns);
}

/* Finds the epoch that a call begins or ends; NULL: it cannot be told. */
static int find_epoch_of(struct esi_causality *causality,
                         const struct esi_item *item,
                         struct esi_epoch **ret_epoch)
{
    const struct es_tuple *tuple = &item->told.tuple;
    bool exposes = item->action == ESI_WIN_POST || item->action == ESI_WIN_WAIT;
    bool begins = item->action == ESI_WIN_POST || item->action == ESI_WIN_START;
    struct esi_epoch *epoch;

    *ret_epoch = NULL;
    if (!item->view || item->view->slot == UINT32_MAX)
        return 0;
    epoch = epoch_of(causality, item->element->thread->process, item->view, tuple->tag,
                     exposes);
    if (!epoch)
        return -ENOMEM;
    if (begins) {
        turn_to(epoch, tuple->start);
        epoch->numbered = true;
        epoch->number = tuple->sequence;
    }
    if (epoch->numbered && epoch->number == tuple->sequence)
        *ret_epoch = epoch;
    return 0;
}

int esi_onesided_add(struct esi_causality *causality, struct esi_item *item)
{
    struct esi_epoch *epoch;
    int result = find_epoch_of(causality, item, &epoch);

    if (result < 0)
        return result;
    switch ((enum esi_action)item->action) {
    case ESI_WIN_COMPLETE:
        return place_complete(causality, item, epoch);
    case ESI_WIN_WAIT:
        return place_wait(causality, item, epoch);
    case ESI_WIN_POST:
        return place_post(causality, item);
    default:
        return place_start(item);
    }
}
