/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain_sets.c - values that are sets of events. */
#include "config.h"

#include "monitors/search/domains/domain_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void init_rows(struct esi_domain *domain)
{
    esi_segmented_init(&domain->sets, sizeof(struct esi_set_row), 4);
    esi_segmented_init(&domain->events, sizeof(struct es_event_id), 6);
    esi_segmented_init(&domain->partners, sizeof(struct es_event_id), 6);
}

int esi_domain_create_sets(const struct esi_domains *domains,
                           struct esi_domain **ret_domain)
{
    struct esi_domain *domain = calloc(1, sizeof *domain);

    if (!domain)
        return -ENOMEM;
    domain->domains = domains;
    init_rows(domain);
    *ret_domain = domain;
    return 0;
}

/* Determines the first and last time; an empty set has no times. */
static void take_times(const struct esi_domains *domains,
                       const struct es_event_id *events,
                       size_t count,
                       struct esi_set_row *row)
{
    row->first_time = row->last_time = ESI_NO_TIME;
    for (size_t i = 0; domains && i < count; i++) {
        int64_t time;
        if (!esi_domains_time(domains, events[i], &time)) {
            row->first_time = row->last_time = ESI_NO_TIME;
            return;
        }
        if (i == 0 || time < row->first_time)
            row->first_time = time;
        if (i == 0 || time > row->last_time)
            row->last_time = time;
    }
}

/* Copies the partners of all events. */
static int take_partners(struct esi_domain *domain,
                         const struct es_event_id *events,
                         size_t count,
                         struct esi_set_row *row)
{
    const struct es_event_id *partners;
    struct es_event_id *room;
    size_t partner_count = 0;

    for (size_t i = 0; domain->domains && i < count; i++)
        partner_count += esi_domains_partners(domain->domains, events[i], &partners);
    if (partner_count == 0)
        return 0;
    room = esi_segmented_extend(&domain->partners, partner_count, &row->partners);
    if (!room)
        return -ENOMEM;
    row->partner_count = (uint32_t)partner_count;
    for (size_t i = 0; i < count; i++) {
        size_t more = esi_domains_partners(domain->domains, events[i], &partners);
        if (more > 0)
            memcpy(room, partners, more * sizeof *room);
        room += more;
    }
    return 0;
}

int esi_domain_add_set(struct esi_domain *domain,
                       const struct es_event_id *events,
                       size_t count)
{
    struct esi_set_row row = {.count = (uint32_t)count};

    take_times(domain->domains, events, count, &row);
    if (take_partners(domain, events, count, &row) < 0)
        return -ENOMEM;
    if (count > 0) {
        struct es_event_id *room =
            esi_segmented_extend(&domain->events, count, &row.events);
        if (!room)
            return -ENOMEM;
        memcpy(room, events, count * sizeof *room);
    }
    if (esi_segmented_push(&domain->sets, &row) < 0)
        return -ENOMEM;
    domain->count++;
    return 0;
}

uint64_t esi_domain_kept(const struct esi_domain *domain)
{
    return domain->is_single ? domain->count
                             : domain->count + esi_segmented_count(&domain->events);
}

void esi_domain_clear_sets(struct esi_domain *domain)
{
    esi_segmented_fini(&domain->sets);
    esi_segmented_fini(&domain->events);
    esi_segmented_fini(&domain->partners);
    init_rows(domain);
    domain->count = 0;
}
