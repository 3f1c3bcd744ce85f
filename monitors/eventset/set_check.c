/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_check.c - checks that events agree with each other.
 *
 * Of two events that refer to each other, the first to arrive leaves a *claim* on the
 * other: "a send", "a receive that names me", "a sync that names me". When the other
 * event arrives, it is compared with these claims.  Its own references to earlier
 * events are compared with the kinds and the claims of those.
 */
#include "config.h"

#include "monitors/eventset/set_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define NO_CLAIM UINT32_MAX

struct claim {
    struct es_event_id on; /* index 0: unused claim */
    struct es_event_id from;
    uint64_t line;
    uint32_t next;           /* next claim on the same event, or next unused claim */
    enum es_event_kind kind; /* of `from` */
};

struct checked_trace {
    unsigned char *kinds; /* 2 bits per event */
    size_t kinds_capacity;
    uint32_t count;
};

struct esi_set_check {
    struct checked_trace *traces;
    uint32_t trace_count;
    size_t trace_capacity;
    struct esi_hash claimed; /* events that have not arrived: their first claim */
    struct claim *claims;
    uint32_t claim_count;
    size_t claim_capacity;
    uint32_t free_claim;
    struct es_event_id *sorted; /* the partners of one event */
    size_t sorted_capacity;
};

int esi_set_check_create(struct esi_set_check **ret_check)
{
    struct esi_set_check *check = calloc(1, sizeof *check);

    if (!check)
        return -ENOMEM;
    check->free_claim = NO_CLAIM;
    *ret_check = check;
    return 0;
}

void esi_set_check_destroy(struct esi_set_check *check)
{
    if (!check)
        return;
    for (uint32_t i = 0; i < check->trace_count; i++)
        free(check->traces[i].kinds);
    free(check->traces);
    esi_hash_fini(&check->claimed);
    free(check->claims);
    free(check->sorted);
    free(check);
}

int esi_set_check_trace(struct esi_set_check *check)
{
    if (ESI_ARRAY_RESERVE(check->traces, check->trace_capacity,
                          check->trace_count + 1u) < 0)
        return -ENOMEM;
    check->traces[check->trace_count++] = (struct checked_trace){0};
    return 0;
}

/* --- Kinds ------------------------------------------------------------------------ */

static bool has_come(const struct esi_set_check *check, struct es_event_id id)
{
    return id.index <= check->traces[id.trace].count;
}

static enum es_event_kind kind_of(const struct esi_set_check *check,
                                  struct es_event_id id)
{
    const struct checked_trace *trace = &check->traces[id.trace];
    uint32_t at = id.index - 1;

    return (enum es_event_kind)(trace->kinds[at / 4] >> (at % 4 * 2) & 3);
}

static int keep_kind(struct checked_trace *trace, enum es_event_kind kind)
{
    uint32_t at = trace->count;

    if (ESI_ARRAY_RESERVE(trace->kinds, trace->kinds_capacity, at / 4 + 1u) < 0)
        return -ENOMEM;
    if (at % 4 == 0)
        trace->kinds[at / 4] = 0;
    trace->kinds[at / 4] |= (unsigned char)((unsigned)kind << (at % 4 * 2));
    trace->count++;
    return 0;
}

/* --- Claims ----------------------------------------------------------------------- */

static uint64_t hash_event(struct es_event_id id)
{
    return esi_hash_u64((uint64_t)id.trace << 32 | id.index);
}

/* The slot of the first claim on an event; ESI_HASH_END if there is none. */
static size_t find_claim(const struct esi_set_check *check, struct es_event_id on)
{
    ESI_HASH_FOREACH(slot, &check->claimed, hash_event(on)) {
        const struct claim *first =
            &check->claims[esi_hash_index(&check->claimed, slot)];
        if (first->on.trace == on.trace && first->on.index == on.index)
            return slot;
    }
    return ESI_HASH_END;
}

static uint32_t first_claim(const struct esi_set_check *check, struct es_event_id on)
{
    size_t slot = find_claim(check, on);

    return slot != ESI_HASH_END ? esi_hash_index(&check->claimed, slot) : NO_CLAIM;
}

static int new_claim(struct esi_set_check *check, uint32_t *ret_claim)
{
    if (check->free_claim != NO_CLAIM) {
        *ret_claim = check->free_claim;
        check->free_claim = check->claims[check->free_claim].next;
        return 0;
    }
    if (check->claim_count == NO_CLAIM - 1 ||
        ESI_ARRAY_RESERVE(check->claims, check->claim_capacity,
                          check->claim_count + 1u) < 0)
        return -ENOMEM;
    *ret_claim = check->claim_count++;
    return 0;
}

/* The slot of the first claim stays the same: a later claim swaps places with it, so
 * that the latest comes first. */
static int claim_event(struct esi_set_check *check,
                       struct es_event_id on,
                       const struct es_set_event *from,
                       uint64_t line)
{
    struct claim claim = {on, from->id, line, NO_CLAIM, from->kind};
    uint32_t made, first;

    if (esi_hash_reserve(&check->claimed, check->claimed.count + 1) < 0 ||
        new_claim(check, &made) < 0)
        return -ENOMEM;
    first = first_claim(check, on);
    if (first == NO_CLAIM) {
        check->claims[made] = claim;
        esi_hash_insert(&check->claimed, hash_event(on), made);
        return 0;
    }
    check->claims[made] = check->claims[first];
    claim.next = made;
    check->claims[first] = claim;
    return 0;
}

static void free_claims(struct esi_set_check *check, struct es_event_id on)
{
    size_t slot = find_claim(check, on);
    uint32_t next;

    if (slot == ESI_HASH_END)
        return;
    for (uint32_t at = esi_hash_index(&check->claimed, slot); at != NO_CLAIM;
         at = next) {
        next = check->claims[at].next;
        check->claims[at].on.index = 0;
        check->claims[at].next = check->free_claim;
        check->free_claim = at;
    }
    esi_hash_remove(&check->claimed, slot);
}

/* --- Partners of one event -------------------------------------------------------- */

static int compare_ids(const void *left, const void *right)
{
    const struct es_event_id *a = left, *b = right;

    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts the partners of an event by trace. */
static int sort_partners(struct esi_set_check *check, const struct es_set_event *event)
{
    size_t count = event->partner_count;

    if (ESI_ARRAY_RESERVE(check->sorted, check->sorted_capacity, count) < 0)
        return -ENOMEM;
    if (count > 0)
        memcpy(check->sorted, event->partners, count * sizeof *event->partners);
    if (count > 1)
        qsort(check->sorted, count, sizeof *check->sorted, compare_ids);
    return 0;
}

static bool names_event(const struct esi_set_check *check,
                        const struct es_set_event *event,
                        struct es_event_id id)
{
    return event->partner_count > 0 &&
           bsearch(&id, check->sorted, event->partner_count, sizeof id, compare_ids);
}

/* Whether the earlier event `from` names the event `on` that is arriving. */
static bool is_named_by(const struct esi_set_check *check,
                        struct es_event_id on,
                        struct es_event_id from)
{
    for (uint32_t at = first_claim(check, on); at != NO_CLAIM;
         at = check->claims[at].next)
        if (compare_ids(&check->claims[at].from, &from) == 0)
            return true;
    return false;
}

/* --- Faults ----------------------------------------------------------------------- */

static const char *const a_kind[] = {
    [ES_EVENT_UNARY] = "a unary event",
    [ES_EVENT_SEND] = "a send",
    [ES_EVENT_RECEIVE] = "a receive",
    [ES_EVENT_SYNC] = "a sync",
};

/* The kind of event that an event of this kind names. */
static const enum es_event_kind partner_kind[] = {
    [ES_EVENT_SEND] = ES_EVENT_RECEIVE,
    [ES_EVENT_RECEIVE] = ES_EVENT_SEND,
    [ES_EVENT_SYNC] = ES_EVENT_SYNC,
};

static int fail_kind(const struct esi_set_place *place,
                     struct es_event_id partner,
                     enum es_event_kind expected,
                     enum es_event_kind found,
                     struct es_error *error)
{
    return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place), 0,
                           "partners: event %u of trace %u is %s, expected %s",
                           partner.index, partner.trace, a_kind[found],
                           a_kind[expected]);
}

static int fail_mutual(const struct esi_set_place *place,
                       struct es_event_id partner,
                       enum es_event_kind kind,
                       struct es_error *error)
{
    return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place), 0,
                           "partners: event %u of trace %u, %s, does not name this one",
                           partner.index, partner.trace, a_kind[kind]);
}

static int fail_index(const struct es_set_event *event,
                      uint32_t expected,
                      const struct esi_set_place *place,
                      struct es_error *error)
{
    int line = esi_set_place_line(place);

    if (event->id.index < expected)
        return es_error_set_at(error, -EINVAL, place->source, line, 0,
                               "event %u of trace %u comes again, expected event %u",
                               event->id.index, event->id.trace, expected);
    return es_error_set_at(error, -EINVAL, place->source, line, 0,
                           "event %u of trace %u leaves a gap, expected event %u",
                           event->id.index, event->id.trace, expected);
}

static int fail_trace(const struct esi_set_check *check,
                      const char *what,
                      uint32_t trace,
                      const struct esi_set_place *place,
                      struct es_error *error)
{
    return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place), 0,
                           "%strace %u is not known: the header names %u%s", what,
                           trace, check->trace_count,
                           check->trace_count > 0 ? ", counted from 0" : "");
}

/* --- Checks ----------------------------------------------------------------------- */

static int check_own(const struct esi_set_check *check,
                     const struct es_set_event *event,
                     const struct esi_set_place *place,
                     struct es_error *error)
{
    uint32_t next;

    if (event->id.trace >= check->trace_count)
        return fail_trace(check, "", event->id.trace, place, error);
    next = check->traces[event->id.trace].count + 1;
    if (event->id.index != next)
        return fail_index(event, next, place, error);
    if (event->kind == ES_EVENT_UNARY && event->partner_count > 0)
        return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place),
                               0, "partners: a unary event has none");
    if (event->kind == ES_EVENT_SYNC && event->partner_count != 1)
        return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place),
                               0, "partners: a sync has one, found %u",
                               event->partner_count);
    if (event->kind == ES_EVENT_SYNC && event->partners[0].trace == event->id.trace)
        return es_error_set_at(error, -EINVAL, place->source, esi_set_place_line(place),
                               0, "partners: a sync's is on another trace");
    return 0;
}

static int check_list(const struct esi_set_check *check,
                      const struct es_set_event *event,
                      const struct esi_set_place *place,
                      struct es_error *error)
{
    for (uint32_t i = 0; i < event->partner_count; i++) {
        const struct es_event_id *id = &check->sorted[i];
        if (id->trace >= check->trace_count)
            return fail_trace(check, "partners: ", id->trace, place, error);
        if (i > 0 && compare_ids(id, id - 1) == 0)
            return es_error_set_at(
                error, -EINVAL, place->source, esi_set_place_line(place), 0,
                "partners: event %u of trace %u comes twice", id->index, id->trace);
    }
    return 0;
}

/* Compares the event's references with earlier events; the others become claims. */
static int refer_event(struct esi_set_check *check,
                       const struct es_set_event *event,
                       const struct esi_set_place *place,
                       struct es_error *error)
{
    enum es_event_kind expected = partner_kind[event->kind];
    uint32_t come = 0, named = 0;
    int code = 0;

    for (uint32_t i = 0; code == 0 && i < event->partner_count; i++) {
        struct es_event_id partner = event->partners[i];
        if (!has_come(check, partner))
            code = claim_event(check, partner, event, place->line);
        else if (kind_of(check, partner) != expected)
            code = fail_kind(place, partner, expected, kind_of(check, partner), error);
        else
            come++;
    }
    if (code < 0 || come == 0 || event->kind == ES_EVENT_RECEIVE)
        return code;
    for (uint32_t at = first_claim(check, event->id); at != NO_CLAIM;
         at = check->claims[at].next)
        named += names_event(check, event, check->claims[at].from) ? 1 : 0;
    for (uint32_t i = 0; named < come && i < event->partner_count; i++)
        if (has_come(check, event->partners[i]) &&
            !is_named_by(check, event->id, event->partners[i]))
            return fail_mutual(place, event->partners[i], expected, error);
    return 0;
}

/* Compares the event with the claims of earlier events on it. */
static int meet_claims(const struct esi_set_check *check,
                       const struct es_set_event *event,
                       const struct esi_set_place *place,
                       struct es_error *error)
{
    for (uint32_t at = first_claim(check, event->id); at != NO_CLAIM;
         at = check->claims[at].next) {
        const struct claim *claim = &check->claims[at];
        const struct esi_set_place from = {place->source, claim->line};

        if (event->kind != partner_kind[claim->kind])
            return fail_kind(&from, event->id, partner_kind[claim->kind], event->kind,
                             error);
        if (claim->kind != ES_EVENT_RECEIVE && !names_event(check, event, claim->from))
            return fail_mutual(&from, event->id, event->kind, error);
    }
    return 0;
}

int esi_set_check_event(struct esi_set_check *check,
                        const struct es_set_event *event,
                        const struct esi_set_place *place,
                        struct es_error *error)
{
    int code = check_own(check, event, place, error);

    if (code == 0)
        code = sort_partners(check, event);
    if (code == 0)
        code = check_list(check, event, place, error);
    if (code == 0 && event->partner_count > 0)
        code = refer_event(check, event, place, error);
    if (code == 0)
        code = meet_claims(check, event, place, error);
    if (code < 0)
        return code;
    free_claims(check, event->id);
    return keep_kind(&check->traces[event->id.trace], event->kind);
}

int esi_set_check_finish(const struct esi_set_check *check,
                         const char *source,
                         struct es_error *error)
{
    struct esi_set_place first = {source, UINT64_MAX};
    struct es_event_id missing = {0, 0};

    if (check->claimed.count == 0)
        return 0;
    for (uint32_t i = 0; i < check->claim_count; i++) {
        const struct claim *claim = &check->claims[i];
        if (claim->on.index == 0)
            continue;
        if (claim->line < first.line ||
            (claim->line == first.line && compare_ids(&claim->on, &missing) < 0)) {
            first.line = claim->line;
            missing = claim->on;
        }
    }
    return es_error_set_at(error, -EINVAL, source, esi_set_place_line(&first), 0,
                           "partners: event %u of trace %u does not exist",
                           missing.index, missing.trace);
}
