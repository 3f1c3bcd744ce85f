/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The events of a thread, in order.
 *
 * A tuple is stored as an *item*.  It becomes one or two *placed* events of its thread:
 * first they are ordered within the thread; then, once their predecessors have been
 * emitted, they become events of the stream (causal_event.h).
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_THREAD_H
#define ES_MONITORS_CAUSALITY_CAUSAL_THREAD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "monitors/causality/causality.h"

struct esi_instance;
struct esi_message;

/* An event that was emitted, for those that will name it. */
struct esi_emitted {
    struct es_event_id id;
    struct esi_edge edge;
};

/* The events that one event names. */
struct esi_partners {
    struct es_event_id *ids; /* owned, like the next */
    struct esi_edge *edges;
    size_t count, room;
};

/* `edge` NULL = not needed.  Returns 0 or -ENOMEM. */
static inline int esi_partners_add(struct esi_partners *partners,
                                   struct es_event_id id,
                                   const struct esi_edge *edge)
{
    if (ESI_ARRAY_RESERVE_PAIR(partners->ids, partners->edges, partners->room,
                               partners->count + 1) < 0)
        return -ENOMEM;
    if (edge)
        partners->edges[partners->count] = *edge;
    partners->ids[partners->count++] = id;
    return 0;
}

/* What is common to all matchers. */
struct esi_matching {
    struct esi_run_model *run;          /* owned */
    struct esi_causal_thread **threads; /* by number */
    size_t thread_count, thread_room;
    struct esi_causal_thread *runnable; /* list: threads to be examined */
    struct esi_partners partners;       /* of the next event to be emitted */
    struct esi_causality_totals totals;
    size_t posted;        /* open requests of all threads */
    uint64_t patience_ns; /* see struct esi_causality_config */
    uint64_t newest_ns;   /* of what was read */
    uint64_t settled_ns;  /* newest_ns at the end of the previous reading */
    uint64_t settles;     /* number of readings */
    bool finished;
};

/* Whether an event can be emitted: all that it names are in `partners`. */
enum esi_outcome { ESI_WAITS = 0, ESI_READY = 1 };

/* What is done with the tuple of an operation. */
enum esi_action {
    ESI_IGNORE,
    ESI_UNARY,
    ESI_SEND,
    ESI_RECEIVE,
    ESI_COLLECTIVE,       /* enter and exit */
    ESI_LATER_COLLECTIVE, /* the same, recorded when it completes */
    ESI_POSTED,           /* the enter of a later collective */
    ESI_NEIGHBOUR,        /* of a topology; makes no event */
    ESI_WINDOW_COLLECTIVE,
    ESI_WIN_POST,
    ESI_WIN_START,
    ESI_WIN_COMPLETE,
    ESI_WIN_WAIT,
    ESI_POST_MEMBER, /* of the group of a post; makes no event */
    ESI_START_MEMBER,
    ESI_CANCEL_SEND, /* unreliable numbers; makes no event */
};

struct esi_item {
    struct esi_causal_tuple told;
    const struct es_operation *operation;
    struct esi_element *element;
    struct esi_run_member *member; /* its process in its communicator; NULL = none or
                                      not known */
    struct esi_message *sends;     /* list: messages of its send event */
    struct esi_message *receives;  /* list: messages that its receive event names */
    struct esi_instance *instance; /* of a collective operation; counted as a
                                      reference */
    uint64_t call;                 /* of which its last event is a part; 0 = none */
    uint32_t slot;                 /* own slot in the instance */
    uint32_t number;               /* sequence number of this record */
    uint32_t lost;    /* tuples of its element that are missing before it */
    uint8_t action;   /* enum esi_action */
    uint8_t left;     /* events still to be emitted */
    bool halves;      /* has an enter and an exit, but is not a collective */
    bool synchronous; /* a blocking synchronous send */
    bool empty;       /* a collective that moves no data */
    bool was_told;    /* an event of it, to the listener */
};

/* An event of a thread. */
struct esi_placed {
    uint64_t time; /* ticks */
    struct esi_item *item;
    uint8_t rank; /* order at the same tick: stops, whole operations, starts, then stops
                     of operations that started at this tick */
    uint8_t role; /* enum esi_role */
};

struct esi_element {
    struct esi_causal_thread *thread;
    struct esi_item *post;           /* the last MPI_Win_post while it waits, */
    uint64_t post_begun;             /* the time when it was called, */
    struct esi_emitted emitted_post; /* and its event, if it was emitted */
    uint32_t lost;                   /* tuples missing before the next one */
    uint64_t last_ns;                /* run time up to which its operations are known */
    bool in_gap;                     /* operations after it are missing */
};

/* A request whose completion has no tuple, while it is open (causal_completion.h). */
struct esi_posted {
    struct esi_completed as;     /* what its completion says */
    struct esi_message *message; /* that it has sent, unless that was forgotten */
    uint64_t start;              /* ticks, like the next members of its tuple */
    int32_t peer;
    int32_t tag;
    uint16_t communicator;
    bool has_received; /* MPI_Isendrecv */
    bool is_doubtful;  /* an earlier call may have completed it */
};

/* Threads that wait for the same thing. */
struct esi_waiters {
    struct esi_causal_thread *first;
};

struct esi_causal_thread {
    const struct esi_run_thread *of;
    uint32_t trace;
    uint32_t count;         /* events emitted */
    uint64_t calls;         /* of the program, that these are parts of; */
    uint64_t call_begin_ns; /* the last of them */
    uint64_t call_end_ns;
    struct esi_completed *completed; /* since the last call that completes; owned */
    size_t completed_count, completed_capacity;
    struct esi_placed *events; /* [head, released) are in final order, [released, tail)
                                  are not */
    size_t head;
    size_t released;
    size_t tail;
    size_t room;
    bool sorted;        /* whether the unreleased events are sorted */
    bool runnable;      /* in the list of threads to be examined */
    bool forced;        /* its next event must not wait */
    uint64_t passed;    /* ticks of the last event released */
    uint64_t newest;    /* ticks of the newest event read, */
    uint64_t newest_ns; /* and its run time */
    uint64_t settled;   /* `newest` at the end of the previous reading */
    uint64_t settled_ns;
    struct esi_causal_thread *next_runnable;
    struct esi_waiters *waits_in; /* NULL = in no list */
    struct esi_causal_thread *next_waiter;
    struct esi_posted *posted; /* [posted_first, posted_end), oldest first; owned */
    size_t posted_first, posted_end, posted_capacity;
    size_t posted_pairs; /* number of those that also receive */
    size_t posted_done;  /* number of others that are complete, but not known which */
};

/* Returns whether an event at this tick can still be put in order. */
static inline bool esi_thread_has_place(const struct esi_causal_thread *thread,
                                        uint64_t time)
{
    return time >= thread->passed;
}

/* Returns the next event of a thread; NULL if none is released. */
static inline const struct esi_placed *esi_thread_next(
    const struct esi_causal_thread *thread)
{
    return thread->head < thread->released ? &thread->events[thread->head] : NULL;
}

/* Adds an event of the item, at the start or the stop of its tuple depending on the
 * role.  Returns 0 or -ENOMEM. */
int esi_thread_place(struct esi_item *item, enum esi_role role);
/* Puts the events up to tick `limit` in their final order.  Returns 0 or -ENOMEM. */
int esi_thread_release(struct esi_causal_thread *thread, uint64_t limit);
void esi_thread_make_runnable(struct esi_matching *matching,
                              struct esi_causal_thread *thread);
/* Finds the open request of a send by the index of its event; NULL if there is none.
 * O(log n). */
struct esi_posted *esi_thread_find_posted(const struct esi_causal_thread *thread,
                                          uint32_t index);
/* Makes a thread wait; esi_waiters_wake() wakes all waiting threads. */
void esi_thread_wait(struct esi_causal_thread *thread, struct esi_waiters *waiters);
void esi_thread_leave(struct esi_causal_thread *thread);
void esi_waiters_wake(struct esi_matching *matching, struct esi_waiters *waiters);

/* Returns whether a tuple of the member in a slot from before run time `ns` would have
 * been read by now. */
bool esi_thread_has_passed(const struct esi_matching *matching,
                           const struct esi_run_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns);

#endif
