/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A thread's events in order.
 *
 * A tuple is held as an *item*.  It becomes one or two *placed* events of its thread:
 * first in the thread's order, then, once what must come before them has been given,
 * events of the stream (causal_event.h).
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_THREAD_H
#define ES_MONITORS_CAUSALITY_CAUSAL_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/operation.h"
#include "monitors/causality/causality.h"

struct esi_instance;
struct esi_message;
struct esi_view;

/* What becomes of an operation's tuple. */
enum esi_action {
    ESI_IGNORE,
    ESI_UNARY,
    ESI_SEND,
    ESI_RECEIVE,
    ESI_COLLECTIVE,       /* enter and exit */
    ESI_LATER_COLLECTIVE, /* the same, written when it is complete */
    ESI_POSTED,           /* enter of one of those */
    ESI_NEIGHBOUR,        /* of a topology: no event */
    ESI_WINDOW_COLLECTIVE,
    ESI_WIN_POST,
    ESI_WIN_START,
    ESI_WIN_COMPLETE,
    ESI_WIN_WAIT,
    ESI_POST_MEMBER, /* of the group of a post: no event */
    ESI_START_MEMBER,
    ESI_CANCEL_SEND, /* numbers that are in doubt: no event */
};

struct esi_item {
    struct esi_causal_tuple told;
    const struct es_operation *operation;
    struct esi_element *element;
    struct esi_view *view;         /* its communicator; NULL = none, or not known */
    struct esi_message *sends;     /* chain: what its send is named by */
    struct esi_message *receives;  /* chain: what its receive names */
    struct esi_instance *instance; /* of a collective operation; a reference */
    uint32_t slot;                 /* own, in it */
    uint32_t number;               /* of this record */
    uint32_t lost;                 /* tuples of its element, ahead of it */
    uint8_t action;                /* enum esi_action */
    uint8_t left;                  /* events that are still to be given */
    bool halves;                   /* enter and exit, but of no collective */
    bool synchronous;              /* a blocking synchronous send */
    bool empty;                    /* a collective in which no data are moved */
};

/* An event in its thread. */
struct esi_placed {
    uint64_t time; /* ticks */
    struct esi_item *item;
    uint8_t rank; /* at the same tick: what stops, what is, what starts */
    uint8_t role; /* enum esi_role */
};

struct esi_element {
    struct esi_causal_thread *thread;
    struct esi_item *post;      /* the last MPI_Win_post as long as it waits, */
    uint64_t post_begun;        /* when it was called, */
    struct es_event_id post_id; /* and its event when it was given */
    uint32_t lost;              /* tuples ahead of the next one */
};

/* Threads that wait for the same. */
struct esi_waiters {
    struct esi_causal_thread *first;
};

struct esi_causal_thread {
    struct esi_causal_process *process;
    struct esi_causal_thread *sibling; /* next of the process */
    int number;
    uint32_t trace;
    uint32_t count;            /* events given */
    struct esi_placed *events; /* [head, released) in order, [released, tail) not yet */
    size_t head;
    size_t released;
    size_t tail;
    size_t room;
    bool sorted;        /* the events that are not released */
    bool runnable;      /* in the list of those to be looked at */
    bool forced;        /* its next event is not to wait */
    uint64_t passed;    /* ticks of the last event released */
    uint64_t newest;    /* ticks of the newest event read ... */
    uint64_t newest_ns; /* and its run time */
    uint64_t settled;   /* the newest at the end of the reading before */
    uint64_t settled_ns;
    struct esi_causal_thread *next_runnable;
    struct esi_waiters *waits_in; /* NULL = is in no list */
    struct esi_causal_thread *next_waiter;
};

/* Whether an event at this tick still finds its place. */
static inline bool esi_thread_has_place(const struct esi_causal_thread *thread,
                                        uint64_t time)
{
    return time >= thread->passed;
}

/* The event that is next in a thread; NULL = none is released. */
static inline const struct esi_placed *esi_thread_next(
    const struct esi_causal_thread *thread)
{
    return thread->head < thread->released ? &thread->events[thread->head] : NULL;
}

/* Adds an event of the item: at the start of its tuple, or at its stop, as the role
 * says.  0 or -ENOMEM. */
int esi_thread_place(struct esi_item *item, enum esi_role role);
/* Puts the events up to a tick in order for good.  0 or -ENOMEM. */
int esi_thread_release(struct esi_causal_thread *thread, uint64_t limit);
void esi_thread_make_runnable(struct esi_causality *causality,
                              struct esi_causal_thread *thread);
/* Has a thread wait, and wakes all that do. */
void esi_thread_wait(struct esi_causal_thread *thread, struct esi_waiters *waiters);
void esi_thread_leave(struct esi_causal_thread *thread);
void esi_waiters_wake(struct esi_causality *causality, struct esi_waiters *waiters);

/* Takes the next event off its thread, which has been given (causality.c). */
void esi_thread_pop(struct esi_causality *causality, struct esi_causal_thread *thread);

#endif
