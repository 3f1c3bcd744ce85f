/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stamps of events in one flat arena, and for each event the number of its stamp.
 *
 * A stamp is the vector of its event over the members that its cluster had then, and
 * for each level the latest cluster receive on the trace.  Events that follow another
 * on their trace and learn nothing share its stamp: their vectors differ in their own
 * entries alone, which are their indexes.
 *
 * The number of a stamp is its place in the arena, so a later stamp has a greater one.
 *
 *   call                                  may run together with
 *   esi_stamps_at, _of                    _make and _set for other events
 *   all others                            nothing but these
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_STAMPS_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_STAMPS_H

#include <stdint.h>

#include "monitors/eventset/event.h"
#include "monitors/eventset/rows.h"

/* Not the number of any stamp. */
#define ESI_NO_STAMP 0
/* Not the number of any trace. */
#define ESI_NO_TRACE UINT32_MAX

struct esi_stamp {
    uint32_t index;       /* of the first event that has it */
    uint32_t other;       /* trace of the other half of a sync, or ESI_NO_TRACE */
    uint32_t cluster;     /* on its level; above the last: 0 */
    uint32_t level : 4;   /* 1 to levels + 1: there the vector is of all traces */
    uint32_t length : 28; /* of the vector */
    uint32_t words[];     /* stamp of the latest cluster receive of each level, up to
                             this event; the vector */
};

/* Caller's memory; its fields are private. */
struct esi_stamps {
    struct es_rows arena;  /* in units of eight bytes */
    struct es_rows traces; /* struct es_rows: of each event uint32_t, its stamp */
    unsigned levels;
};

/* 0 or -ENOMEM; then it is good for _fini. */
int esi_stamps_init(struct esi_stamps *stamps, unsigned levels);
void esi_stamps_fini(struct esi_stamps *stamps);
int esi_stamps_add_trace(struct esi_stamps *stamps);

/* A stamp of zeros with room for a vector.  NULL: -ENOMEM, or 32 GiB of stamps are
 * there. */
struct esi_stamp *esi_stamps_make(struct esi_stamps *stamps,
                                  uint32_t length,
                                  uint32_t *ret_number);
/* Makes room for the next event of a trace: _set() cannot fail then.  0 or -ENOMEM. */
int esi_stamps_reserve(struct esi_stamps *stamps, struct es_event_id id);
void esi_stamps_set(struct esi_stamps *stamps, struct es_event_id id, uint32_t number);

/* The number that the next stamp will have at least. */
uint32_t esi_stamps_now(const struct esi_stamps *stamps);
/* Bytes that are held. */
uint64_t esi_stamps_bytes(const struct esi_stamps *stamps);

static inline const struct esi_stamp *esi_stamps_at(const struct esi_stamps *stamps,
                                                    uint32_t number)
{
    return es_rows_at(&stamps->arena, number);
}

/* The stamp of an event that is there. */
static inline uint32_t esi_stamps_of(const struct esi_stamps *stamps,
                                     struct es_event_id id)
{
    const struct es_rows *trace = es_rows_at(&stamps->traces, id.trace);

    return *(const uint32_t *)es_rows_at(trace, id.index - 1);
}

/* The latest cluster receive of a level. */
static inline uint32_t esi_stamp_receive(const struct esi_stamp *stamp, unsigned level)
{
    return stamp->words[level - 1];
}

/* The vector.  The entry of the event's own trace is that of the first event that has
 * the stamp. */
static inline const uint32_t *esi_stamp_vector(const struct esi_stamps *stamps,
                                               const struct esi_stamp *stamp)
{
    return &stamp->words[stamps->levels];
}

#endif
