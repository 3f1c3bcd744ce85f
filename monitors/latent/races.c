/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * races.c - receives are listed per receiver, communicator and tag.  Each wildcard
 * receive is compared with the next few of the list that came from other senders.
 */
#include "config.h"

#include "monitors/latent/races.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "monitors/eventset/set_texts.h"

enum {
    OTHERS_MAX = 16,  /* senders compared with that of a receive */
    AHEAD_MAX = 1024, /* following receives that are examined */
    NAME_BYTES = 32,
};

struct race_receive {
    struct es_event_id id;
    struct es_event_id send;
    int64_t bytes;
    int64_t stop_ns;
    bool any;
};

/* Receives of one receiver, communicator and tag, in their thread's order. */
struct race_end {
    uint32_t trace;
    uint32_t communicator; /* text */
    int64_t tag;
    struct race_receive *receives; /* owned */
    size_t count, capacity;
};

/* A message exchanged with another thread by its rank. */
struct race_use {
    uint32_t index; /* event index on this trace */
    uint32_t other; /* trace */
};

struct race_trace {
    char name[NAME_BYTES];
    struct race_use *uses; /* owned; sorted before lookups */
    size_t count, capacity;
};

struct esi_races {
    struct race_trace *traces; /* owned, as all */
    size_t trace_count, trace_capacity;
    struct race_end *ends;
    size_t end_count, end_capacity;
    struct esi_hash end_numbers;
    struct esi_texts texts; /* communicators */
    struct esi_race *found;
    size_t found_count, found_capacity;
    uint64_t wildcards;
};

int esi_races_create(struct esi_races **ret_races)
{
    struct esi_races *races = calloc(1, sizeof *races);

    if (!races)
        return -ENOMEM;
    esi_texts_init(&races->texts);
    *ret_races = races;
    return 0;
}

void esi_races_destroy(struct esi_races *races)
{
    int saved_errno = errno;

    if (!races)
        return;
    for (size_t i = 0; i < races->trace_count; i++)
        free(races->traces[i].uses);
    for (size_t i = 0; i < races->end_count; i++)
        free(races->ends[i].receives);
    free(races->traces);
    free(races->ends);
    free(races->found);
    esi_hash_fini(&races->end_numbers);
    esi_texts_fini(&races->texts);
    free(races);
    errno = saved_errno;
}

/* --- Events ----------------------------------------------------------------------- */

static const struct es_event_attribute *find_attribute(const struct es_set_event *event,
                                                       const char *name)
{
    for (size_t i = 0; i < event->attribute_count; i++)
        if (strcmp(event->attributes[i].name, name) == 0)
            return &event->attributes[i];
    return NULL;
}

/* A file's numbers may be texts. */
static int64_t number_of(const struct es_set_event *event, const char *name)
{
    const struct es_event_attribute *attribute = find_attribute(event, name);

    if (!attribute)
        return -1;
    return attribute->text ? strtoll(attribute->text, NULL, 10) : attribute->number;
}

static const char *text_of(const struct es_set_event *event, const char *name)
{
    const struct es_event_attribute *attribute = find_attribute(event, name);

    return attribute && attribute->text ? attribute->text : "";
}

static int on_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_races *races = data;
    struct race_trace *added;

    (void)trace;
    if (ESI_ARRAY_RESERVE(races->traces, races->trace_capacity,
                          races->trace_count + 1) < 0)
        return -ENOMEM;
    added = &races->traces[races->trace_count++];
    *added = (struct race_trace){.uses = NULL};
    strncpy(added->name, name, sizeof added->name - 1);
    return 0;
}

static int note_use(struct esi_races *races, struct es_event_id event, uint32_t other)
{
    struct race_trace *trace = &races->traces[event.trace];

    if (ESI_ARRAY_RESERVE(trace->uses, trace->capacity, trace->count + 1) < 0)
        return -ENOMEM;
    trace->uses[trace->count++] =
        (struct race_use){.index = event.index, .other = other};
    return 0;
}

static uint64_t hash_end(uint32_t trace, uint32_t communicator, int64_t tag)
{
    return esi_hash_u64(
        esi_hash_mix((uint64_t)trace << 32 | communicator, (uint64_t)tag));
}

/* Finds or creates; NULL if out of memory. */
static struct race_end *meet_end(struct esi_races *races,
                                 uint32_t trace,
                                 uint32_t communicator,
                                 int64_t tag)
{
    uint64_t hash = hash_end(trace, communicator, tag);

    ESI_HASH_FOREACH(slot, &races->end_numbers, hash) {
        struct race_end *end = &races->ends[esi_hash_index(&races->end_numbers, slot)];

        if (end->trace == trace && end->communicator == communicator && end->tag == tag)
            return end;
    }
    if (esi_hash_reserve(&races->end_numbers, races->end_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(races->ends, races->end_capacity, races->end_count + 1) < 0)
        return NULL;
    races->ends[races->end_count] =
        (struct race_end){.trace = trace, .communicator = communicator, .tag = tag};
    esi_hash_insert(&races->end_numbers, hash, races->end_count);
    return &races->ends[races->end_count++];
}

static int add_receive(struct esi_races *races, const struct es_set_event *event)
{
    const char *communicator = text_of(event, "communicator");
    struct race_receive receive = {
        .id = event->id,
        .send = event->partners[0],
        .bytes = number_of(event, "bytes"),
        .stop_ns = number_of(event, "stop"),
        .any = strcmp(text_of(event, "source"), "any") == 0,
    };
    struct race_end *end;
    uint32_t text;
    int result =
        esi_texts_add(&races->texts, communicator, strlen(communicator), &text);

    if (result < 0)
        return result;
    end = meet_end(races, event->id.trace, text, number_of(event, "tag"));
    if (!end || ESI_ARRAY_RESERVE(end->receives, end->capacity, end->count + 1) < 0)
        return -ENOMEM;
    end->receives[end->count++] = receive;
    races->wildcards += receive.any;
    result = note_use(races, receive.send, receive.id.trace);
    return result == 0 && !receive.any ? note_use(races, receive.id, receive.send.trace)
                                       : result;
}

/* Handles the receiving half of a message, whichever kind of event it is. */
static int on_event(void *data, const struct es_set_event *event)
{
    if (event->partner_count != 1 || event->kind == ES_EVENT_SEND ||
        strcmp(text_of(event, "class"), "receive") != 0)
        return 0;
    return add_receive(data, event);
}

struct es_set_sink esi_races_sink(struct esi_races *races)
{
    return (struct es_set_sink){.trace = on_trace, .event = on_event, .data = races};
}

/* --- Races ------------------------------------------------------------------------ */

static int compare_uses(const void *left, const void *right)
{
    const struct race_use *a = left;
    const struct race_use *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* Whether the thread exchanges a message by rank with one of two others, after one of
 * its events and before another. */
static bool is_used_between(const struct race_trace *trace,
                            uint32_t after,
                            uint32_t before,
                            const uint32_t others[2])
{
    size_t low = 0;
    size_t high = trace->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (trace->uses[middle].index <= after)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < trace->count && trace->uses[low].index < before; low++)
        if (trace->uses[low].other == others[0] || trace->uses[low].other == others[1])
            return true;
    return false;
}

static enum esi_race_reason judge_race(const struct esi_races *races,
                                       const struct race_receive *receive,
                                       const struct race_receive *other)
{
    const uint32_t senders[] = {receive->send.trace, other->send.trace};

    if (!other->any)
        return ESI_RACE_DIRECTED;
    if (receive->bytes != other->bytes)
        return ESI_RACE_SIZES;
    return is_used_between(&races->traces[receive->id.trace], receive->id.index,
                           other->id.index, senders)
               ? ESI_RACE_PEER
               : ESI_RACE_BENIGN;
}

static int note_race(struct esi_races *races,
                     const struct race_end *end,
                     const struct race_receive *receive,
                     const struct race_receive *other)
{
    struct esi_race race = {
        .receiver = races->traces[end->trace].name,
        .communicator = esi_texts_at(&races->texts, end->communicator),
        .tag = end->tag,
        .reason = judge_race(races, receive, other),
        .times = 1,
        .receive = receive->id,
        .other = other->id,
        .sender = races->traces[receive->send.trace].name,
        .other_sender = races->traces[other->send.trace].name,
        .stop_ns = receive->stop_ns,
    };

    /* The findings of this list are the last ones. */
    for (size_t i = races->found_count; i > 0; i--) {
        struct esi_race *known = &races->found[i - 1];

        if (known->receive.trace != end->trace || known->tag != end->tag ||
            known->communicator != race.communicator)
            break;
        if (known->reason == race.reason) {
            known->times++;
            return 0;
        }
    }
    if (ESI_ARRAY_RESERVE(races->found, races->found_capacity, races->found_count + 1) <
        0)
        return -ENOMEM;
    races->found[races->found_count++] = race;
    return 0;
}

/* Whether a sender was already examined; marks it as examined. */
static bool is_seen(uint32_t *seen, size_t *count, uint32_t trace)
{
    for (size_t i = 0; i < *count; i++)
        if (seen[i] == trace)
            return true;
    seen[(*count)++] = trace;
    return false;
}

/* For each other sender, examines only its first message received later: those after it
 * cannot overtake it. */
static int look_behind(struct esi_races *races,
                       const struct es_order *order,
                       const struct race_end *end,
                       size_t position)
{
    const struct race_receive *receive = &end->receives[position];
    uint32_t seen[OTHERS_MAX + 1] = {receive->send.trace};
    size_t seen_count = 1;
    size_t last = end->count - position > AHEAD_MAX ? position + AHEAD_MAX : end->count;

    for (size_t i = position + 1; i < last && seen_count <= OTHERS_MAX; i++) {
        const struct race_receive *other = &end->receives[i];
        int follows;

        if (is_seen(seen, &seen_count, other->send.trace))
            continue;
        follows = es_order_precedes(order, receive->id, other->send);
        if (follows < 0)
            return follows;
        if (!follows && note_race(races, end, receive, other) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int compare_races(const void *left, const void *right)
{
    const struct esi_race *a = left;
    const struct esi_race *b = right;
    bool a_matters = a->reason != ESI_RACE_BENIGN;
    bool b_matters = b->reason != ESI_RACE_BENIGN;

    if (a_matters != b_matters)
        return a_matters ? -1 : 1;
    if (a->receive.trace != b->receive.trace)
        return a->receive.trace < b->receive.trace ? -1 : 1;
    return a->receive.index < b->receive.index ? -1
                                               : a->receive.index > b->receive.index;
}

int esi_races_finish(struct esi_races *races, const struct es_order *order)
{
    int result = 0;

    for (size_t i = 0; i < races->trace_count; i++)
        if (races->traces[i].count > 0)
            qsort(races->traces[i].uses, races->traces[i].count,
                  sizeof *races->traces[i].uses, compare_uses);
    for (size_t i = 0; i < races->end_count && result == 0; i++) {
        const struct race_end *end = &races->ends[i];

        for (size_t k = 0; k < end->count && result == 0; k++)
            if (end->receives[k].any)
                result = look_behind(races, order, end, k);
    }
    if (races->found_count > 0)
        qsort(races->found, races->found_count, sizeof *races->found, compare_races);
    return result;
}

/* --- What is found ---------------------------------------------------------------- */

size_t esi_races_count(const struct esi_races *races)
{
    return races->found_count;
}

const struct esi_race *esi_races_at(const struct esi_races *races, size_t index)
{
    return &races->found[index];
}

uint64_t esi_races_wildcards(const struct esi_races *races)
{
    return races->wildcards;
}
