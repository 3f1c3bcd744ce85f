/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * domain_receives.c - the receives of a domain that grows, by the sends that they name.
 *
 * A table of chains, made when somebody asks first.  What the domain has dropped stays
 * in it until there is no room: then it goes, all at once.
 */
#include "config.h"

#include "monitors/patterns/domain_private.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/patterns/precedence.h"

enum { CAPACITY_MIN = 64 };

struct naming {
    struct es_event_id send;
    struct es_event_id receive;
    uint32_t next; /* place + 1 */
};

struct esi_receives {
    bool is_asked;
    struct naming *namings;
    uint32_t *heads; /* place + 1, 0 = none; as many as `capacity` */
    uint32_t count;
    uint32_t capacity; /* a power of two, or 0 */
};

int esi_receives_create(struct esi_receives **ret_receives)
{
    *ret_receives = calloc(1, sizeof **ret_receives);
    return *ret_receives ? 0 : -ENOMEM;
}

void esi_receives_destroy(struct esi_receives *receives)
{
    if (!receives)
        return;
    free(receives->namings);
    free(receives->heads);
    free(receives);
}

uint64_t esi_receives_bytes(const struct esi_receives *receives)
{
    return sizeof *receives +
           receives->capacity * (sizeof *receives->namings + sizeof *receives->heads);
}

/* --- The table ----------------------------------------------------------------------
 */

static uint32_t *head_of(const struct esi_receives *receives, struct es_event_id send)
{
    uint64_t key = (uint64_t)send.trace << 32 | send.index;

    /* Upper bits of a product depend on all of the key. */
    return &receives->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
                            (receives->capacity - 1)];
}

static void link_all(struct esi_receives *receives)
{
    for (uint32_t i = 0; i < receives->capacity; i++)
        receives->heads[i] = 0;
    for (uint32_t i = 0; i < receives->count; i++) {
        uint32_t *head = head_of(receives, receives->namings[i].send);

        receives->namings[i].next = *head;
        *head = i + 1;
    }
}

static int grow(struct esi_receives *receives)
{
    uint32_t capacity = receives->capacity ? 2 * receives->capacity : CAPACITY_MIN;
    struct naming *namings;
    uint32_t *heads;

    if (capacity == 0)
        return -EOVERFLOW;
    namings = realloc(receives->namings, capacity * sizeof *namings);
    if (!namings)
        return -ENOMEM;
    receives->namings = namings;
    heads = realloc(receives->heads, capacity * sizeof *heads);
    if (!heads)
        return -ENOMEM;
    receives->heads = heads;
    receives->capacity = capacity;
    return 0;
}

/* What is not in the domain any more goes; only if that is little there must be more
 * room. */
static int make_room(const struct es_domain *domain, size_t more)
{
    struct esi_receives *receives = domain->receives;
    uint32_t kept = 0;
    int result = 0;

    for (uint32_t i = 0; i < receives->count; i++) {
        struct es_domain_value value;

        if (es_domain_find(domain, receives->namings[i].receive, &value))
            receives->namings[kept++] = receives->namings[i];
    }
    receives->count = kept;
    while (result == 0 && kept + more > receives->capacity / 2)
        result = grow(receives);
    link_all(receives);
    return result;
}

/* --- Adding -------------------------------------------------------------------------
 */

static int add(const struct es_domain *domain,
               struct es_event_id receive,
               const struct es_event_id *sends,
               size_t count)
{
    struct esi_receives *receives = domain->receives;

    /* Of the receive, which is not in the domain yet, none or all. */
    if (count > receives->capacity - receives->count) {
        int result = make_room(domain, count);

        if (result < 0)
            return result;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t *head = head_of(receives, sends[i]);

        receives->namings[receives->count++] =
            (struct naming){sends[i], receive, *head};
        *head = receives->count;
    }
    return 0;
}

int esi_receives_add(const struct es_domain *domain,
                     uint32_t trace,
                     const struct esi_row *row)
{
    if (!domain->receives->is_asked)
        return 0;
    return add(domain, (struct es_event_id){trace, row->index}, row->partners,
               row->partner_count);
}

/* All that are there, as somebody asks for the first time. */
static int add_all(const struct es_domain *domain)
{
    int result = 0;

    domain->receives->is_asked = true;
    for (uint32_t slot = 0; slot < domain->slots; slot++) {
        const struct esi_column *column = &domain->columns[slot];

        for (uint32_t row = column->first; result == 0 && row < column->end; row++) {
            const struct esi_kept_partners *kept = &column->partners[row];

            result =
                add(domain, (struct es_event_id){column->trace, column->indexes[row]},
                    esi_partners_at(kept), kept->count);
        }
    }
    if (result < 0)
        domain->receives->is_asked = false;
    return result;
}

/* --- Asking -------------------------------------------------------------------------
 */

int es_domain_next_receive(const struct es_domain *domain,
                           struct es_event_id send,
                           uint32_t *at,
                           struct es_domain_value *ret_value)
{
    struct esi_receives *receives = domain->receives;

    if (!receives)
        return 0;
    if (!receives->is_asked) {
        int result = add_all(domain);

        if (result < 0)
            return result;
    }
    if (*at == 0 && receives->count > 0)
        *at = *head_of(receives, send);
    else if (*at != 0)
        *at = receives->namings[*at - 1].next;
    for (; *at != 0; *at = receives->namings[*at - 1].next) {
        const struct naming *naming = &receives->namings[*at - 1];

        if (es_event_is(naming->send, send) &&
            es_domain_find(domain, naming->receive, ret_value))
            return 1;
    }
    return 0;
}
