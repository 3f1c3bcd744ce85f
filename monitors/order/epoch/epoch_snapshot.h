/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_snapshot.h - what had been appended at some moments: bounds that answer most
 * questions about events far apart.
 *
 * A *snapshot* has the number of events of each trace, every so many events that are
 * appended.  An event appended after another does not precede it: what a snapshot that
 * has f does not have does not precede f.  A trace *covers* a snapshot when its next
 * event knows all events in it: these precede whatever it does from then on.
 *
 *   call                      may run together with
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
    uint32_t count;   /* of the trace's events */
    uint32_t covered; /* so many of the first snapshots are covered by later events */
};

struct esi_snapshot {
    uint32_t traces; /* later ones had no event */
    struct esi_snapshot_entry of[];
};

/* Caller's memory; its fields are private. */
struct esi_snapshots {
    struct esi_segmented taken; /* const struct esi_snapshot * */
    struct esi_epoch_arena arena;

    /* The writer's. */
    uint64_t since;  /* events since the last one */
    uint32_t *known; /* a vector */
    size_t room;
    uint32_t cut; /* the last one asked about, and what it covers: */
    uint32_t cut_covers;
};

void esi_snapshots_init(struct esi_snapshots *snapshots);
void esi_snapshots_fini(struct esi_snapshots *snapshots);

enum esi_judgement { ESI_JUDGED_NOT, ESI_JUDGED_BEFORE, ESI_JUDGED_OPEN };

/* Does a precede b, of another trace?  Open: it may. */
enum esi_judgement esi_snapshots_judge(const struct esi_snapshots *snapshots,
                                       struct es_event_id a,
                                       struct es_event_id b);

/* So many events more were appended: takes a snapshot when it is time and there is
 * memory. */
void esi_snapshots_count(struct esi_epoch_store *store, uint32_t events);

uint64_t esi_snapshots_bytes(const struct esi_snapshots *snapshots);
/* Of what is only for taking them. */
uint64_t esi_snapshots_room(const struct esi_snapshots *snapshots);

#endif
