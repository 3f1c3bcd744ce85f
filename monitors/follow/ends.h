/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * ends.h - matches the ends of operations: a send and its receive, the members of a
 * collective operation.
 *
 * All ends of an operation have the same key.  The first end creates a record, which
 * the others find:
 *
 *     struct message {
 *         struct esi_end end;
 *         uint64_t sent_ns;
 *     };
 *     esi_ends_init(&ends, sizeof(struct message), max);
 *
 *     message = esi_ends_find(&ends, &key);
 *     if (!message) {
 *         message = esi_ends_add(&ends, &key);
 *         message->sent_ns = sent_ns;
 *         esi_ends_wait(&ends, &message->end, 1);
 *     } else {
 *         esi_ends_forget(&ends, &message->end);
 *     }
 *
 * Waiting records are kept in the order in which they began to wait.  While their total
 * weight exceeds `max`, esi_ends_excess() returns the next one to give up.  The user
 * decides what giving up means, and when an operation is complete.
 *
 * Records never move.  A table may be used by one thread at a time.
 */
#ifndef ES_MONITORS_FOLLOW_ENDS_H
#define ES_MONITORS_FOLLOW_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/pool.h"

/* The key that all ends of an operation share.  Unused members are 0. */
struct esi_ends_key {
    uint64_t communicator[2]; /* its key, or a substitute */
    int32_t source;
    int32_t destination;
    int32_t tag;
    uint32_t sequence;
    uint32_t kind; /* 0 = none */
};

/* The first member of each record. */
struct esi_end {
    struct esi_ends_key key;
    struct esi_list_link link; /* in the list of waiting records */
    uint32_t index;            /* of the record in the pool */
    uint32_t weight;           /* 0 = not waiting */
};

struct esi_ends {
    uint64_t max;    /* limit of `weight` */
    uint64_t weight; /* total of the waiting records */
    struct esi_pool records;
    struct esi_hash table;
    struct esi_list waiting; /* oldest first */
};

/* Records are aligned like pointers. */
void esi_ends_init(struct esi_ends *ends, size_t record_bytes, uint64_t max);
/* Accepts a zeroed struct. */
void esi_ends_fini(struct esi_ends *ends);

/* The words are mixed independently, because lookups dominate the cost of a table. */
static inline uint64_t esi_ends_hash(const struct esi_ends_key *key)
{
    uint64_t ranks = (uint64_t)(uint32_t)key->source << 32 | (uint32_t)key->destination;
    uint64_t number = (uint64_t)(uint32_t)key->tag << 32 | key->sequence;

    return esi_hash_u64(key->communicator[0] * UINT64_C(0xff51afd7ed558ccd) +
                        (key->communicator[1] + key->kind) *
                            UINT64_C(0xc4ceb9fe1a85ec53) +
                        ranks * UINT64_C(0x2545f4914f6cdd1d) + number);
}

static inline bool esi_ends_is_same(const struct esi_ends_key *a,
                                    const struct esi_ends_key *b)
{
    return a->sequence == b->sequence && a->communicator[0] == b->communicator[0] &&
           a->communicator[1] == b->communicator[1] && a->source == b->source &&
           a->destination == b->destination && a->tag == b->tag && a->kind == b->kind;
}

/* NULL if there is none. */
static inline void *esi_ends_find(const struct esi_ends *ends,
                                  const struct esi_ends_key *key)
{
    ESI_HASH_FOREACH(slot, &ends->table, esi_ends_hash(key)) {
        struct esi_end *end =
            esi_pool_at(&ends->records, esi_hash_index(&ends->table, slot));

        if (esi_ends_is_same(&end->key, key))
            return end;
    }
    return NULL;
}

/* Adds a record of zeros with this key, which must be new; NULL if out of memory. */
void *esi_ends_add(struct esi_ends *ends, const struct esi_ends_key *key);

/* Makes the record the newest waiting one; with weight 0, it no longer waits. */
void esi_ends_wait(struct esi_ends *ends, struct esi_end *end, uint32_t weight);

/* The oldest waiting record; NULL if none is waiting. */
static inline void *esi_ends_oldest(const struct esi_ends *ends)
{
    return ESI_LIST_FIRST(struct esi_end, &ends->waiting, link);
}

/* The record to give up because too many wait; NULL if none.  Never the newest. */
static inline void *esi_ends_excess(const struct esi_ends *ends)
{
    return ends->weight > ends->max && ends->waiting.first != ends->waiting.last
               ? esi_ends_oldest(ends)
               : NULL;
}

/* Removes the record; its memory is reused. */
void esi_ends_forget(struct esi_ends *ends, struct esi_end *end);

#endif
