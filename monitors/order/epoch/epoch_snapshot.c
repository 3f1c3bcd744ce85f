/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_snapshot.c - takes snapshots of what is appended and answers queries from
 * them. */
#include "config.h"

#include "monitors/order/epoch/epoch_snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/order/epoch/epoch_private.h"
#include "monitors/order/raise.h"

/* Number of events between snapshots: per trace, and a constant. */
enum { EVENTS_OF_TRACE = 32, EVENTS_OF_STORE = 1024 };

void esi_snapshots_init(struct esi_snapshots *snapshots)
{
    esi_segmented_init(&snapshots->taken, sizeof(const struct esi_snapshot *), 3);
}

void esi_snapshots_fini(struct esi_snapshots *snapshots)
{
    esi_segmented_fini(&snapshots->taken);
    esi_arena_fini(&snapshots->arena);
    free(snapshots->known);
}

uint64_t esi_snapshots_bytes(const struct esi_snapshots *snapshots)
{
    return esi_segmented_bytes(&snapshots->taken) + esi_arena_bytes(&snapshots->arena);
}

uint64_t esi_snapshots_room(const struct esi_snapshots *snapshots)
{
    return snapshots->room * sizeof *snapshots->known;
}

/* --- Queries ---------------------------------------------------------------------- */

static const struct esi_snapshot *snapshot_at(const struct esi_snapshots *snapshots,
                                              uint32_t at)
{
    return *(const struct esi_snapshot *const *)esi_segmented_at(&snapshots->taken, at);
}

static struct esi_snapshot_entry snapshot_entry(const struct esi_snapshots *snapshots,
                                                uint32_t at,
                                                uint32_t trace)
{
    const struct esi_snapshot *snapshot = snapshot_at(snapshots, at);

    return trace < snapshot->traces ? snapshot->of[trace]
                                    : (struct esi_snapshot_entry){0, 0};
}

/* Returns the first of `count` snapshots that contains the event; `count` = none. */
static uint32_t first_with(const struct esi_snapshots *snapshots,
                           uint32_t count,
                           struct es_event_id id)
{
    enum { NEAR = 2 };
    uint32_t low = 0, high = count, last, guess;

    last = count ? snapshot_entry(snapshots, count - 1, id.trace).count : 0;
    if (last < id.index)
        return count;
    /* Traces tend to be equally busy all the time: start near the interpolated
     * position. */
    guess = (uint32_t)((uint64_t)(id.index - 1) * count / last);
    if (guess >= NEAR &&
        snapshot_entry(snapshots, guess - NEAR, id.trace).count < id.index)
        low = guess - NEAR + 1;
    if (guess + NEAR < count &&
        snapshot_entry(snapshots, guess + NEAR, id.trace).count >= id.index)
        high = guess + NEAR;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (snapshot_entry(snapshots, middle, id.trace).count >= id.index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

enum esi_judgement esi_snapshots_judge(const struct esi_snapshots *snapshots,
                                       struct es_event_id a,
                                       struct es_event_id b)
{
    uint32_t count = (uint32_t)esi_segmented_count(&snapshots->taken);
    uint32_t first = first_with(snapshots, count, b), covered;

    if (first < count && snapshot_entry(snapshots, first, a.trace).count < a.index)
        return ESI_JUDGED_NOT;
    covered = first ? snapshot_entry(snapshots, first - 1, b.trace).covered : 0;
    if (covered && snapshot_entry(snapshots, covered - 1, a.trace).count >= a.index)
        return ESI_JUDGED_BEFORE;
    return ESI_JUDGED_OPEN;
}

const struct esi_snapshot_entry *esi_snapshots_near(
    const struct esi_snapshots *snapshots,
    struct es_event_id id,
    uint32_t traces)
{
    uint32_t at = (uint32_t)esi_segmented_count(&snapshots->taken);
    const struct esi_snapshot_entry *near = NULL;

    for (; at > 0 && snapshot_at(snapshots, at - 1)->traces >= traces; at--) {
        near = snapshot_at(snapshots, at - 1)->of;
        if (near[id.trace].count < id.index)
            break;
    }
    return near;
}

/* --- Taking snapshots ------------------------------------------------------------- */

/* Raises the vector to what a table knows. */
static void raise_by_table(const struct esi_epoch_store *store,
                           const struct esi_epoch_table *table)
{
    uint32_t *known = store->snapshots.known, place = 0, of, value;

    if (table->dense)
        esi_raise_vector(known, table->dense,
                         table->room < store->trace_count ? table->room
                                                          : store->trace_count);
    else
        while (esi_table_next(table, &place, &of, &value))
            esi_raise_entry(&known[of], value);
}

/* Raises the vector to what its next event knows through hubs; possibly less, never
 * more. */
static void raise_by_hubs(const struct esi_epoch_store *store,
                          const struct esi_epoch_trace *trace,
                          uint32_t number)
{
    for (unsigned i = 0; i < ESI_HUBS; i++) {
        struct es_event_id at =
            esi_hub_at(store, (struct es_event_id){number, trace->count}, i);
        const struct esi_epoch_trace *hub = esi_epoch_trace_at(store, at.trace);

        if (at.index > 0 && at.index >= hub->known.since)
            raise_by_table(store, &hub->known);
    }
}

static bool is_covered(const struct esi_snapshots *snapshots,
                       uint32_t at,
                       const uint32_t *known)
{
    const struct esi_snapshot *snapshot = snapshot_at(snapshots, at);

    for (uint32_t of = 0; of < snapshot->traces; of++)
        if (snapshot->of[of].count > known[of])
            return false;
    return true;
}

/* Returns how many snapshots a vector covers, given that it covers the first
 * `covered`. */
static uint32_t covered_by_vector(const struct esi_snapshots *snapshots,
                                  uint32_t covered,
                                  const uint32_t *known)
{
    while (covered < esi_segmented_count(&snapshots->taken) &&
           is_covered(snapshots, covered, known))
        covered++;
    return covered;
}

/* Returns the same for all traces with this last cut.  Traces behind it are not
 * examined. */
static uint32_t covered_by_cut(struct esi_epoch_store *store, uint32_t cut)
{
    struct esi_snapshots *snapshots = &store->snapshots;

    if (cut < snapshots->cut)
        return 0;
    if (cut > snapshots->cut) {
        esi_cut_copy_base(&store->cuts, cut, store->trace_count, snapshots->known);
        snapshots->cut = cut;
        snapshots->cut_covers =
            covered_by_vector(snapshots, snapshots->cut_covers, snapshots->known);
    }
    return snapshots->cut_covers;
}

/* Returns the same for a trace that covers the first `covered`.  If a trace knows few
 * others beyond its cut, only the cut is examined. */
static uint32_t covered_by_trace(struct esi_epoch_store *store,
                                 uint32_t number,
                                 uint32_t covered)
{
    const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, number);
    uint32_t cut = esi_trace_cut(trace), by_cut = covered_by_cut(store, cut);
    bool has_hubs = atomic_load_explicit(&trace->hubs[0], memory_order_relaxed);
    uint32_t *known = trace->known.dense;

    covered = covered > by_cut ? covered : by_cut;
    if (!known && !has_hubs)
        return covered;
    /* Usually the table is all that it knows. */
    if (cut > 0 || has_hubs || trace->known.room < store->trace_count) {
        known = store->snapshots.known;
        esi_cut_copy_base(&store->cuts, cut, store->trace_count, known);
        raise_by_table(store, &trace->known);
        raise_by_hubs(store, trace, number);
    }
    known[number] = UINT32_MAX; /* never queried */
    covered = covered_by_vector(&store->snapshots, covered, known);
    known[number] = 0;
    return covered;
}

static int take_snapshot(struct esi_epoch_store *store)
{
    struct esi_snapshots *snapshots = &store->snapshots;
    uint32_t before = (uint32_t)esi_segmented_count(&snapshots->taken);
    struct esi_snapshot *made = esi_arena_take(
        &snapshots->arena, sizeof *made + store->trace_count * sizeof made->of[0]);

    if (!made ||
        ESI_ARRAY_RESERVE(snapshots->known, snapshots->room, store->trace_count) < 0)
        return -ENOMEM;
    made->traces = store->trace_count;
    for (uint32_t i = 0; i < store->trace_count; i++) {
        uint32_t covered =
            before ? snapshot_entry(snapshots, before - 1, i).covered : 0;

        made->of[i] =
            (struct esi_snapshot_entry){.count = esi_epoch_trace_at(store, i)->count,
                                        .covered = covered_by_trace(store, i, covered)};
    }
    return esi_segmented_push(&snapshots->taken, &made);
}

void esi_snapshots_count(struct esi_epoch_store *store, uint32_t events)
{
    struct esi_snapshots *snapshots = &store->snapshots;
    uint64_t due = (uint64_t)store->trace_count * EVENTS_OF_TRACE + EVENTS_OF_STORE;

    snapshots->since += events;
    if (snapshots->since < (store->seal_entries ? store->seal_entries : due))
        return;
    snapshots->since = 0;
    (void)take_snapshot(store); /* else the next time */
    esi_epoch_note_room(store);
}
