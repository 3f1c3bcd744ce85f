/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* When the ranks of a communicator synchronise next: arithmetic, without MPI. */
#include "config.h"

#include "wrappers/trees/rule_sync.h"

static const uint64_t wanted_ns = 500000000; /* between two synchronisations */

uint32_t esi_rule_sync_gap(uint32_t operations, uint64_t elapsed_ns)
{
    uint64_t gap;

    if (elapsed_ns == 0)
        return ESI_RULE_SYNC_MAX_GAP;
    gap = operations * wanted_ns / elapsed_ns; /* less than 2^61 */
    if (gap > ESI_RULE_SYNC_MAX_GAP)
        return ESI_RULE_SYNC_MAX_GAP;
    return gap > 0 ? (uint32_t)gap : 1;
}

uint32_t esi_rule_sync_next(struct esi_rule_sync_pace *pace,
                            uint32_t number,
                            uint64_t now_ns)
{
    uint32_t gap = ESI_RULE_SYNC_FIRST_GAP;

    if (pace->began)
        gap = esi_rule_sync_gap(number - pace->number, now_ns - pace->time_ns);
    *pace =
        (struct esi_rule_sync_pace){.began = true, .number = number, .time_ns = now_ns};
    return number + gap;
}
