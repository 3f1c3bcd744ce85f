/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_received.c - the receives of a domain by the sends that they name. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/domains/precedence.h"

struct naming {
    struct es_event_id send;
    struct es_domain_value receive;
};

struct esi_received_index {
    size_t count;
    struct naming *namings;           /* owned; sorted */
    struct es_domain_value *receives; /* owned; of the namings */
};

static int compare(const void *left, const void *right)
{
    const struct naming *a = left;
    const struct naming *b = right;
    uint32_t of_a[] = {a->send.trace, a->send.index, a->receive.slot,
                       a->receive.position};
    uint32_t of_b[] = {b->send.trace, b->send.index, b->receive.slot,
                       b->receive.position};

    for (int i = 0; i < 4; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* Calls nothing but counts if `namings` is NULL. */
static size_t take_all(const struct es_domain *domain, struct naming *namings)
{
    size_t taken = 0;

    for (uint32_t slot = 0; slot < es_domain_slots(domain); slot++) {
        uint32_t count = es_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++) {
            struct es_domain_value value = {slot, p};
            const struct es_event_id *sends;
            size_t send_count = es_domain_partners(domain, value, &sends);

            for (size_t i = 0; namings && i < send_count; i++)
                namings[taken + i] = (struct naming){sends[i], value};
            taken += send_count;
        }
    }
    return taken;
}

int esi_received_index_create(const struct es_domain *domain,
                              struct esi_received_index **ret_index)
{
    struct esi_received_index *index = calloc(1, sizeof *index);

    if (!index)
        return -ENOMEM;
    index->count = take_all(domain, NULL);
    index->namings = calloc(index->count + 1, sizeof *index->namings);
    index->receives = calloc(index->count + 1, sizeof *index->receives);
    if (!index->namings || !index->receives) {
        esi_received_index_destroy(index);
        return -ENOMEM;
    }
    take_all(domain, index->namings);
    qsort(index->namings, index->count, sizeof *index->namings, compare);
    for (size_t i = 0; i < index->count; i++)
        index->receives[i] = index->namings[i].receive;
    *ret_index = index;
    return 0;
}

void esi_received_index_destroy(struct esi_received_index *index)
{
    if (!index)
        return;
    free(index->namings);
    free(index->receives);
    free(index);
}

uint64_t esi_received_index_bytes(const struct esi_received_index *index)
{
    return sizeof *index +
           (index->count + 1) * (sizeof *index->namings + sizeof *index->receives);
}

struct esi_listed esi_received_index_find(const struct esi_received_index *index,
                                          struct es_event_id send)
{
    size_t low = 0;
    size_t high = index->count;
    size_t end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (es_event_compare(index->namings[middle].send, send) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    end = low;
    while (end < index->count && es_event_is(index->namings[end].send, send))
        end++;
    return (struct esi_listed){index->receives + low, end - low};
}
