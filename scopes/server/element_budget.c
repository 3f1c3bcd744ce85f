/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What clients may take of the shared memory for elements of a tuple server. */
#include "config.h"

#include "scopes/server/element_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tuplespace/segment.h"

static int check_numbers(const struct esi_element_budget *budget,
                         const struct esi_element_share *share,
                         struct es_error *error)
{
    if (share && share->elements >= ES_BUDGET_SHARE_ELEMENTS)
        return es_error_set(
            error, -EDQUOT,
            "this connection has made %d elements, more are not allowed",
            ES_BUDGET_SHARE_ELEMENTS);
    if (budget->elements >= ES_BUDGET_ELEMENTS)
        return es_error_set(error, -EDQUOT,
                            "the tuple server holds %d elements, more are not allowed",
                            ES_BUDGET_ELEMENTS);
    return 0;
}

/* Bytes that are a part of the shared memory.  One without a size has no end. */
static uint64_t part_of(const struct esi_segment_room *room, unsigned percent)
{
    return room->total_bytes == 0 ? UINT64_MAX : room->total_bytes / 100 * percent;
}

/* Whether `taken` and `bytes` stay below a part of the shared memory. */
static int check_sum(const char *whose,
                     uint64_t taken,
                     uint64_t bytes,
                     const struct esi_segment_room *room,
                     unsigned percent,
                     struct es_error *error)
{
    uint64_t most = part_of(room, percent);

    if (taken <= most && bytes <= most - taken)
        return 0;
    return es_error_set(error, -EDQUOT,
                        "%" PRIu64
                        " bytes: elements %s take at most %u %% of the shared "
                        "memory, %" PRIu64 " bytes; %" PRIu64 " are taken",
                        bytes, whose, percent, most, taken);
}

static int check_bytes(const struct esi_element_budget *budget,
                       const struct esi_element_share *share,
                       uint64_t bytes,
                       struct es_error *error)
{
    struct esi_segment_room room;
    int result = esi_segment_find_room(&room);

    if (result < 0)
        return es_error_set(error, result, "shared memory: %s", strerror(-result));
    if (share)
        result = check_sum("made over one connection", share->bytes, bytes, &room,
                           ES_BUDGET_SHARE_PERCENT, error);
    if (result == 0)
        result = check_sum("of a tuple server", budget->bytes, bytes, &room,
                           ES_BUDGET_PERCENT, error);
    if (result < 0 ||
        esi_segment_room_keeps(&room, budget->promised + bytes, ES_BUDGET_FREE_PERCENT))
        return result;
    return es_error_set(
        error, -ENOSPC,
        "%" PRIu64 " bytes: %d %% of the shared memory stay free for the "
        "program; %" PRIu64 " of %" PRIu64 " bytes are free",
        bytes, ES_BUDGET_FREE_PERCENT, room.free_bytes, room.total_bytes);
}

int esi_element_budget_extend(struct esi_element_budget *budget,
                              struct esi_element_share *share,
                              uint64_t bytes,
                              struct es_error *error)
{
    int result = check_bytes(budget, share, bytes, error);

    if (result < 0)
        return result;
    if (share)
        share->bytes += bytes;
    budget->bytes += bytes;
    budget->promised += bytes;
    return 0;
}

int esi_element_budget_add(struct esi_element_budget *budget,
                           struct esi_element_share *share,
                           uint64_t bytes,
                           struct es_error *error)
{
    int result = check_numbers(budget, share, error);

    if (result == 0 && bytes > ES_BUDGET_ELEMENT_BYTES)
        result =
            es_error_set(error, -EDQUOT,
                         "%" PRIu64 " bytes: an element of a tuple server has at "
                         "most %" PRIu64 " bytes (threshold, rounded up to a power "
                         "of two, times bytes of a tuple)",
                         bytes, ES_BUDGET_ELEMENT_BYTES);
    if (result == 0)
        result = esi_element_budget_extend(budget, share, bytes, error);
    if (result < 0)
        return result;
    if (share)
        share->elements++;
    budget->elements++;
    return 0;
}

void esi_element_budget_expire(struct esi_element_budget *budget, uint64_t bytes)
{
    budget->promised -= bytes;
}

void esi_element_budget_remove(struct esi_element_budget *budget,
                               struct esi_element_share *share,
                               uint64_t bytes)
{
    budget->elements--;
    budget->bytes -= bytes;
    if (share) {
        share->elements--;
        share->bytes -= bytes;
    }
}
