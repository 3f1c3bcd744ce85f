/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective operations: whose enter must precede whose exit.
 *
 * An instance exists from the first of its tuples that is read until all its members
 * have left.  An exit waits for the enters that it names.  If all members depend on
 * all, it waits instead for the instance's junction on the communicator's trace, which
 * is emitted when all members have entered, in the order of instance numbers.
 *
 * On an intercommunicator, members depend only on members of the other group.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_COLLECTIVE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_COLLECTIVE_H

#include "base/list.h"
#include "monitors/causality/causal_thread.h"
#include "monitors/follow/ends.h"
#include "monitors/run/run_model.h"

struct esi_epoch_member {
    int32_t peer;
    uint32_t sequence;
};

/* The group of the last start or post of a process on a window (causal_onesided.h). */
struct esi_epoch {
    bool numbered;   /* its call was read, and `number` is valid */
    uint32_t number; /* sequence number of the call on the window, in this process */
    uint64_t begun;  /* ticks of the call; also in the tuples of its members */
    struct esi_epoch_member *members; /* owned */
    size_t count;
    size_t room;
};

/* The collective operations on one communicator or one of its windows, by instance
 * number; and the epochs of a window. */
struct esi_series {
    struct esi_series *next;
    struct esi_series_set *set;
    int64_t window;   /* -1 = the communicator itself */
    uint32_t trace;   /* UINT32_MAX = none yet */
    uint32_t count;   /* number of events emitted on the trace */
    size_t instances; /* number of existing instances */
    bool freed;       /* a window that all members have freed (left MPI_Win_free) */
    bool has_released;
    uint32_t last_released;     /* number of the last released all-to-all instance */
    struct esi_list unreleased; /* all-to-all instances, by number */
    struct esi_epoch *epochs;   /* two for each slot; NULL = none; owned */
    struct esi_past *past;      /* if there are no events; NULL = none; owned */
};

enum { ESI_PAST = 2048 };

/* What is remembered of finished instances. */
struct esi_past {
    /* The last ones, by number modulo their count, so that late or duplicate parts do
     * not begin them again. */
    uint32_t numbers[ESI_PAST];
    uint8_t endings[ESI_PAST]; /* enum esi_ending */
    struct {
        bool seen;
        uint32_t first, newest; /* numbers of instances that the member was seen in */
    } members[];                /* by slot */
};
enum esi_ending { ESI_ENDING_NONE, ESI_ENDING_COMPLETE, ESI_ENDING_GIVEN_UP };

/* What a communicator has of these. */
struct esi_series_set {
    const struct esi_run_communicator *communicator;
    struct esi_series *first; /* list: its own and those of its windows */
    struct esi_list unused;   /* unused instances, all of the same size */
};

enum esi_entry { ESI_ENTRY_UNSEEN, ESI_ENTRY_READ, ESI_ENTRY_GIVEN, ESI_ENTRY_LOST };

/* The part of one member. */
struct esi_causal_slot {
    struct es_event_id enter;
    uint64_t entered_ns; /* run time */
    struct esi_waiters waiters;
    uint8_t entry; /* enum esi_entry */
};

struct esi_instance {
    struct esi_end *end; /* in the table of instances; NULL = removed from it */
    struct esi_series *series;
    struct esi_causal_instance facts; /* its parts follow the slots, if it has any */
    uint64_t serial;                  /* among all instances, from 1 */
    uint64_t newest_ns;               /* of its parts */
    uint32_t root;                    /* slot; UINT32_MAX = none or not known */
    uint32_t given;                   /* enters emitted */
    uint32_t lost;
    uint32_t exits;      /* exits emitted */
    uint32_t open;       /* enters that will have no exit */
    uint32_t references; /* from items and from the table */
    uint64_t checked; /* the settling at which missing members were last looked for */
    bool listed;      /* in the list of the series */
    bool released;    /* all-to-all instance: decided */
    bool short_of;    /* an event was emitted without a partner that it should have
                         named */
    bool reported;    /* to the listener */
    struct esi_emitted release; /* with the edge of the last arrival */
    struct esi_waiters waiters;
    struct esi_list_link link; /* in the list of unreleased or of unused instances */
    struct esi_causal_slot slots[]; /* none if there are no events */
};

struct esi_instances {
    const struct esi_causality_config *config; /* borrowed */
    struct esi_matching *matching;
    struct esi_ends ends;
    struct instance_end *near;            /* the last one found; NULL = none */
    struct esi_series *last;              /* without events: the last one used, */
    const struct es_operation *operation; /* and the last operation, */
    uint16_t code;                        /* with this code */
    int result;                           /* first error of the listener */
    uint64_t count;                       /* that have ever begun */
    struct esi_series_set **series; /* by number of the communicator; NULL = none */
    size_t series_count, series_capacity;
    /* Called when all members of an all-to-all instance have entered or will not: they
     * are in `partners`.  A negative result ends the stream. */
    int (*release)(void *data, struct esi_instance *instance);
    void *data; /* borrowed */
};

/* Initializes the table, but for `release`.  It keeps instances with at most `held_max`
 * members in total. */
void esi_instances_init(struct esi_instances *instances,
                        struct esi_matching *matching,
                        const struct esi_causality_config *config);
/* After all items have left their instances. */
void esi_instances_fini(struct esi_instances *instances);
/* Counts the instances that never became complete, and reports them. */
void esi_instances_finish(struct esi_instances *instances);

/* --- Without events --------------------------------------------------------------- */

/* Adds a member's part to its instance, or that this uses a tree.  Returns 0 or
 * -ENOMEM. */
int esi_collective_match(struct esi_instances *instances,
                         const struct esi_run_thread *thread,
                         const struct esi_causal_tuple *told);
/* Gives up instances that have been incomplete for too long. */
void esi_instances_expire(struct esi_instances *instances);

/* --- With events ------------------------------------------------------------------ */

/* Returns the series of a communicator, or of one of its windows if `window` is 0 or
 * more.  Creates it if necessary; NULL if there is no memory. */
struct esi_series *esi_series_find(struct esi_instances *instances,
                                   const struct esi_run_communicator *communicator,
                                   int64_t window);
/* Adds an item, whose communicator is known, to its instance.  Returns 0 or -errno. */
int esi_collective_add(struct esi_instances *instances, struct esi_item *item);
int esi_collective_add_post(struct esi_instances *instances, struct esi_item *item);

/* Returns whether some exit may name this enter. */
bool esi_collective_is_named(const struct esi_item *enter);
/* Called when the enter was emitted.  Returns 0 or the result of `release`. */
int esi_collective_entered(struct esi_instances *instances,
                           const struct esi_item *item,
                           const struct esi_emitted *enter);
/* Returns enum esi_outcome for an exit, -ENOMEM, or the result of `release`. */
int esi_collective_await(struct esi_instances *instances,
                         const struct esi_item *item,
                         bool *ret_receives);
/* Called when the exit was emitted. */
void esi_collective_exited(struct esi_instances *instances,
                           const struct esi_item *item);

/* Removes the item from its instance. */
void esi_collective_leave(struct esi_item *item);

#endif
