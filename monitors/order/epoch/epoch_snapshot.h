/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_snapshot.h - snapshots of what has been appended: bounds that answer most
 * queries about distant events.
 *
 * A *snapshot* stores the number of events of each trace; it is taken at regular
 * intervals of appended events.  An event does not precede events that were appended
 * before it: an event that is not in a snapshot does not precede any event f in it.  A
 * trace *covers* a snapshot if its next event knows all events in it; these precede all
 * its further events.
 *
 *   call                      may run concurrently with
 *   esi_snapshots_judge       all others, about published events
 *   others                    not with each other
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_SNAPSHOT_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_SNAPSHOT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/eventset/segmented.h"
#include "monitors/order/epoch/epoch_arena.h"

struct esi_epoch_store;

struct esi_snapshot_entry {
    uint32_t count;   /* events of the trace */
    uint32_t covered; /* number of the first snapshots that are covered by the trace's
                         later events */
};

struct esi_snapshot {
    uint32_t traces; /* later traces had no event */
    struct esi_snapshot_entry of[];
};

/* Allocated by the caller; its fields are private. */
struct esi_snapshots {
    struct esi_segmented taken; /* const struct esi_snapshot * */
    struct esi_epoch_arena arena;

    /* For the writer. */
    uint64_t since;  /* events since the last snapshot */
    uint32_t *known; /* a vector */
    size_t room;
    uint32_t cut; /* the last cut examined, and the number of snapshots that it
                     covers */
    uint32_t cut_covers;
};

void esi_snapshots_init(struct esi_snapshots *snapshots);
void esi_snapshots_fini(struct esi_snapshots *snapshots);

enum esi_judgement { ESI_JUDGED_NOT, ESI_JUDGED_BEFORE, ESI_JUDGED_OPEN };

/* Returns whether `a` precedes `b`, which is on another trace; ESI_JUDGED_OPEN if the
 * snapshots cannot decide it. */
enum esi_judgement esi_snapshots_judge(const struct esi_snapshots *snapshots,
                                       struct es_event_id a,
                                       struct es_event_id b);

/* Returns the entries of `traces` traces at about the time of an event, which exist as
 * long as the store; NULL if there was no snapshot with all these traces.  For
 * the writer. */
const struct esi_snapshot_entry *esi_snapshots_near(
    const struct esi_snapshots *snapshots,
    struct es_event_id id,
    uint32_t traces);

/* Counts `events` appended events; takes a snapshot if it is due and there is
 * memory. */
void esi_snapshots_count(struct esi_epoch_store *store, uint32_t events);

uint64_t esi_snapshots_bytes(const struct esi_snapshots *snapshots);
/* Returns the bytes used only for taking snapshots. */
uint64_t esi_snapshots_room(const struct esi_snapshots *snapshots);

#endif
