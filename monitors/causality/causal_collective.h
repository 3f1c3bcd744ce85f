/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective operations: who must have entered before whose exit.
 *
 * An instance is there from the first of its tuples that is read until all its members
 * have left.  An exit waits for the enters that it names; where all depend on all, for
 * the instance's junction on the communicator's trace, which is given when all have
 * entered, and in the order of instance numbers.
 *
 * On an intercommunicator members depend on those of the other group only.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_COLLECTIVE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_COLLECTIVE_H

#include "monitors/causality/causal_process.h"
#include "monitors/causality/causal_thread.h"

struct esi_epoch;

/* The collective operations on one communicator, or one of its windows, by instance
 * number; and the epochs of a window. */
struct esi_series {
    struct esi_series *next;
    struct esi_communicator *communicator;
    int64_t window;   /* -1 = of the communicator itself */
    uint32_t trace;   /* UINT32_MAX = has none yet */
    uint32_t count;   /* events given on it */
    size_t instances; /* that there are */
    bool freed;       /* a window whose members have all left MPI_Win_free */
    bool has_released;
    uint32_t last_released;     /* number of the all-to-all instance */
    struct esi_list unreleased; /* all-to-all instances, by number */
    struct esi_epoch *epochs;   /* NULL = none (causal_onesided.h) */
};

enum esi_entry { ESI_ENTRY_UNSEEN, ESI_ENTRY_READ, ESI_ENTRY_GIVEN, ESI_ENTRY_LOST };

/* One member's part. */
struct esi_causal_slot {
    struct es_event_id enter;
    struct esi_waiters waiters;
    uint8_t entry; /* enum esi_entry */
};

struct esi_instance {
    struct esi_end *end; /* in the table of instances; NULL = it was taken out */
    struct esi_series *series;
    const struct es_operation *operation;
    uint32_t number;
    uint32_t root;  /* slot; UINT32_MAX = none, or not known */
    uint32_t given; /* enters */
    uint32_t lost;
    uint32_t exits;      /* given */
    uint32_t open;       /* enters that will have no exit */
    uint32_t references; /* of items, and of the table */
    uint64_t checked;    /* at which settling its missing members were looked for */
    bool listed;         /* in the series' list */
    bool released;       /* all-to-all: decided */
    bool short_of;       /* an event was given without one that it should have named */
    struct es_event_id release;
    struct esi_waiters waiters;
    struct esi_list_link link; /* of those unreleased, or of those unused */
    struct esi_causal_slot slots[];
};

/* Instances of at most `max` members together are kept. */
void esi_instances_init(struct esi_ends *instances, size_t max);
/* Counts what was never complete. */
void esi_instances_finish(struct esi_causality *causality);

/* What is under way on a communicator, or with a number from 0 on a window of it; NULL
 * without memory. */
struct esi_series *esi_series_find(struct esi_communicator *communicator,
                                   int64_t window);
/* Of the end of the communicator. */
void esi_series_destroy(struct esi_communicator *communicator);

/* What becomes a part of an instance: 0, or -errno.  The item's view is known. */
int esi_collective_add(struct esi_causality *causality, struct esi_item *item);
int esi_collective_add_post(struct esi_causality *causality, struct esi_item *item);

/* enum esi_outcome, or what the sink returned. */
int esi_collective_give_enter(struct esi_causality *causality,
                              const struct esi_placed *placed);
int esi_collective_give_exit(struct esi_causality *causality,
                             const struct esi_placed *placed);

/* The item is no part of its instance any more. */
void esi_collective_leave(struct esi_item *item);

#endif
