/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_onesided.c - epochs by member of a window, and the messages between them. */
#include "config.h"

#include "monitors/causality/causal_onesided.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Returns the epoch of a member on a window; NULL if there is no memory. */
static struct esi_epoch *epoch_of(struct esi_instances *instances,
                                  const struct esi_run_member *member,
                                  int32_t window,
                                  bool exposes)
{
    struct esi_series *series =
        esi_series_find(instances, member->communicator, window);

    if (series && !series->epochs)
        series->epochs =
            calloc(2 * (size_t)member->communicator->size, sizeof *series->epochs);
    return series && series->epochs ? &series->epochs[2 * member->slot + exposes]
                                    : NULL;
}

/* A different call begins a new epoch, even if its own tuple was lost. */
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

/* Fills in the key of the message from a target to an origin (a post) or back (a
 * complete).  Returns false if there is no such member. */
static bool fill_key(const struct esi_run_member *member,
                     int32_t window,
                     const struct esi_epoch_member *other,
                     enum esi_message_kind kind,
                     bool sends,
                     struct esi_ends_key *ret_key)
{
    if (!esi_channel_key(member, other->peer, sends, ret_key))
        return false;
    ret_key->tag = window;
    ret_key->sequence = other->sequence;
    ret_key->kind = kind;
    return true;
}

static int add_post(struct esi_messages *messages,
                    struct esi_element *element,
                    const struct esi_run_member *member,
                    const struct es_tuple *tuple)
{
    struct esi_epoch_member other = {tuple->peer, tuple->sequence};
    struct esi_ends_key key;

    if (element->post_begun != tuple->start ||
        !fill_key(member, tuple->tag, &other, ESI_EPOCH_POST, true, &key))
        return 0;
    if (element->post)
        return esi_message_add_send(messages, element->post, &key);
    if (element->emitted_post.id.index != 0)
        return esi_message_add_given(messages, &element->emitted_post, &key);
    return 0;
}

int esi_onesided_add_member(struct esi_instances *instances,
                            struct esi_messages *messages,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes)
{
    struct esi_run_member *member =
        esi_run_member(element->thread->of->process, tuple->communicator);
    struct esi_epoch *epoch;

    if (!member || member->slot == UINT32_MAX ||
        tuple->sequence == ES_SEQUENCE_UNKNOWN) {
        messages->matching->totals.unplaced++;
        return 0;
    }
    epoch = epoch_of(instances, member, tuple->tag, exposes);
    if (!epoch || add_to_epoch(epoch, tuple) < 0)
        return -ENOMEM;
    return exposes ? add_post(messages, element, member, tuple) : 0;
}

void esi_onesided_emitted(struct esi_item *item, const struct esi_emitted *event)
{
    struct esi_element *element = item->element;

    if (element->post == item) {
        element->post = NULL;
        element->emitted_post = *event;
    }
}

/* --- Calls ------------------------------------------------------------------------ */

/* Makes the item an end of all messages that its epoch's members send or receive. */
static int add_ends(struct esi_messages *messages,
                    struct esi_item *item,
                    const struct esi_epoch *epoch,
                    enum esi_message_kind kind,
                    bool sends)
{
    struct esi_ends_key key;
    int result = 0;

    for (size_t i = 0; epoch && i < epoch->count && result >= 0; i++) {
        if (!fill_key(item->member, item->told.tuple.tag, &epoch->members[i], kind,
                      sends, &key))
            continue;
        result = sends ? esi_message_add_send(messages, item, &key)
                       : esi_message_add_receive(messages, item, &key, false);
    }
    return result;
}

/* A complete has an enter, which the waits of its group name, and an exit, which names
 * the posts. */
static int place_complete(struct esi_messages *messages,
                          struct esi_item *item,
                          const struct esi_epoch *epoch)
{
    const struct es_tuple *tuple = &item->told.tuple;
    int result = 0;

    item->halves = true;
    if (!esi_thread_has_place(item->element->thread, tuple->start))
        messages->matching->totals.late++;
    else
        result = add_ends(messages, item, epoch, ESI_EPOCH_COMPLETE, true);
    if (result >= 0)
        result = esi_thread_place(item, ESI_ROLE_SEND);
    if (result < 0 || tuple->stop == 0)
        return result;
    result = add_ends(messages, item, epoch, ESI_EPOCH_POST, false);
    return result < 0 ? result : esi_thread_place(item, ESI_ROLE_RECEIVE);
}

static int place_wait(struct esi_messages *messages,
                      struct esi_item *item,
                      const struct esi_epoch *epoch)
{
    int result;

    if (item->told.tuple.stop == 0)
        return esi_thread_place(item, ESI_ROLE_WHOLE);
    result = add_ends(messages, item, epoch, ESI_EPOCH_COMPLETE, false);
    return result < 0 ? result : esi_thread_place(item, ESI_ROLE_RECEIVE);
}

/* Places a post; its members are added later. */
static int place_post(struct esi_messages *messages, struct esi_item *item)
{
    struct esi_element *element = item->element;
    uint64_t begun = item->told.tuple.start;
    bool in_place = esi_thread_has_place(element->thread, begun);

    element->post = in_place ? item : NULL;
    element->post_begun = begun;
    element->emitted_post = (struct esi_emitted){.id.index = 0};
    messages->matching->totals.late += !in_place;
    return esi_thread_place(item, ESI_ROLE_SEND);
}

/* Finds the epoch that a call begins or ends; NULL if it cannot be determined. */
static int find_epoch_of(struct esi_instances *instances,
                         const struct esi_item *item,
                         struct esi_epoch **ret_epoch)
{
    const struct es_tuple *tuple = &item->told.tuple;
    bool exposes = item->action == ESI_WIN_POST || item->action == ESI_WIN_WAIT;
    bool begins = item->action == ESI_WIN_POST || item->action == ESI_WIN_START;
    struct esi_epoch *epoch;

    *ret_epoch = NULL;
    if (!item->member || item->member->slot == UINT32_MAX)
        return 0;
    epoch = epoch_of(instances, item->member, tuple->tag, exposes);
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

int esi_onesided_add(struct esi_instances *instances,
                     struct esi_messages *messages,
                     struct esi_item *item)
{
    struct esi_epoch *epoch;
    int result = find_epoch_of(instances, item, &epoch);

    if (result < 0)
        return result;
    switch ((enum esi_action)item->action) {
    case ESI_WIN_COMPLETE:
        return place_complete(messages, item, epoch);
    case ESI_WIN_WAIT:
        return place_wait(messages, item, epoch);
    case ESI_WIN_POST:
        return place_post(messages, item);
    default:
        return esi_thread_place(item, ESI_ROLE_WHOLE);
    }
}
