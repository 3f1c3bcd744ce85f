/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* When the ranks of a communicator agree next: arithmetic, without MPI. */
#include "config.h"

#include "wrappers/trees/rule_sync.h"

static const uint64_t wanted_ns = 500000000; /* between two agreements */

uint32_t esi_agreement_gap(uint32_t operations, uint64_t elapsed_ns)
{
    uint64_t gap;

    if (elapsed_ns == 0)
        return ESI_AGREEMENT_MAX_GAP;
    gap = operations * wanted_ns / elapsed_ns; /* less than 2^61 */
    if (gap > ESI_AGREEMENT_MAX_GAP)
        return ESI_AGREEMENT_MAX_GAP;
    return gap > 0 ? (uint32_t)gap : 1;
}

uint32_t esi_pace_next(struct esi_pace *pace, uint32_t number, uint64_t now_ns)
{
    uint32_t gap = ESI_AGREEMENT_FIRST_GAP;

    if (pace->began)
        gap = esi_agreement_gap(number - pace->number, now_ns - pace->time_ns);
    *pace = (struct esi_pace){.began = true, .number = number, .time_ns = now_ns};
    return number + gap;
}
