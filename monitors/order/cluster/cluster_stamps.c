/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cluster_stamps.c - the arena of stamps, and who has which: see cluster_stamps.h. */
#include "config.h"

#include "monitors/order/cluster/cluster_stamps.h"

#include <errno.h>

enum { UNIT = 8 };

int esi_stamps_init(struct esi_stamps *stamps, unsigned levels)
{
    stamps->levels = levels;
    es_rows_init(&stamps->arena, UNIT, 10);
    es_rows_init(&stamps->traces, sizeof(struct es_rows), 4);
    /* Number 0 is no stamp. */
    return es_rows_extend(&stamps->arena, 1, NULL) ? 0 : -ENOMEM;
}

void esi_stamps_fini(struct esi_stamps *stamps)
{
    for (uint64_t i = es_rows_count(&stamps->traces); i > 0; i--)
        es_rows_fini(es_rows_at(&stamps->traces, i - 1));
    es_rows_fini(&stamps->traces);
    es_rows_fini(&stamps->arena);
}

int esi_stamps_add_trace(struct esi_stamps *stamps)
{
    struct es_rows events;

    es_rows_init(&events, sizeof(uint32_t), 4);
    return es_rows_push(&stamps->traces, &events);
}

struct esi_stamp *esi_stamps_make(struct esi_stamps *stamps,
                                  uint32_t length,
                                  uint32_t *ret_number)
{
    uint64_t bytes = sizeof(struct esi_stamp) +
                     ((uint64_t)stamps->levels + length) * sizeof(uint32_t);
    uint64_t at;
    struct esi_stamp *stamp =
        es_rows_extend(&stamps->arena, (bytes + UNIT - 1) / UNIT, &at);

    if (!stamp || at > UINT32_MAX)
        return NULL;
    stamp->length = length & 0xfffffff;
    stamp->other = ESI_NO_TRACE;
    *ret_number = (uint32_t)at;
    return stamp;
}

int esi_stamps_reserve(struct esi_stamps *stamps, struct es_event_id id)
{
    struct es_rows *trace = es_rows_at(&stamps->traces, id.trace);

    if (es_rows_count(trace) >= id.index)
        return 0;
    return es_rows_extend(trace, 1, NULL) ? 0 : -ENOMEM;
}

void esi_stamps_set(struct esi_stamps *stamps, struct es_event_id id, uint32_t number)
{
    const struct es_rows *trace = es_rows_at(&stamps->traces, id.trace);

    *(uint32_t *)es_rows_at(trace, id.index - 1) = number;
}

uint32_t esi_stamps_now(const struct esi_stamps *stamps)
{
    return (uint32_t)es_rows_count(&stamps->arena);
}

uint64_t esi_stamps_bytes(const struct esi_stamps *stamps)
{
    uint64_t traces = es_rows_count(&stamps->traces);
    uint64_t bytes = es_rows_bytes(&stamps->arena) + es_rows_bytes(&stamps->traces);

    for (uint64_t i = 0; i < traces; i++)
        bytes += es_rows_bytes(es_rows_at(&stamps->traces, i));
    return bytes;
}
