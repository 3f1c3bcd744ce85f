/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the files of causality share: threads with the events that wait in them, the
 * messages and collective operations that events wait for (docs/causality.md).
 *
 * A tuple is held as an *item*.  It becomes one or two *placed* events of its thread:
 * first in the thread's order (causal_thread.c), then, once what must come before them
 * has been given, events of the stream (causal_event.c).
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_PRIVATE_H
#define ES_MONITORS_CAUSALITY_CAUSAL_PRIVATE_H

#include "eventspace/operation.h"
#include "monitors/causality/causal_pool.h"
#include "monitors/causality/causality.h"

struct esi_causal_process;
struct esi_causal_thread;
struct esi_message;
struct esi_instance;
struct esi_series;
struct esi_view;

/* --- Tuples that wait ------------------------------------------------------------- */

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

/* What of an item an event is. */
enum esi_role {
    ESI_ROLE_WHOLE,
    ESI_ROLE_SEND,
    ESI_ROLE_RECEIVE,
    ESI_ROLE_ENTER,
    ESI_ROLE_EXIT,
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
    uint8_t action;                /* enum esi_action */
    uint8_t left;                  /* events that are still to be given */
    bool halves;                   /* enter and exit, but of no collective */
    bool synchronous;              /* a blocking synchronous send */
    bool empty;                    /* a collective in which no data are moved */
    bool unnumbered;
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

struct esi_causal_process {
    char *host;
    int rank;
    uint64_t identity;
    unsigned world;                    /* how many of this rank there were before */
    bool ended;                        /* nothing more will come */
    struct esi_causal_thread *threads; /* chain, borrowed */
    struct esi_view **views;           /* by index of its table */
    size_t view_count;
};

/* --- Communicators ---------------------------------------------------------------- */

/* A communicator, as all its members share it. */
struct esi_communicator {
    struct esi_link link;
    uint64_t key[2];
    uint32_t world;      /* how many had this key before: other worlds */
    uint32_t size;       /* slots: of both groups where there are two */
    uint32_t first_size; /* of the first group */
    bool between;        /* an intercommunicator */
    char *name;
    struct esi_causal_process **members; /* by slot; NULL = not known yet */
    int32_t *world_ranks;                /* by slot; -1 = not known */
    struct esi_series *series;           /* chain: its own, and its windows' */
    struct esi_instance *unused;         /* chain; all are of the same size */
};

/* A process's place in a communicator. */
struct esi_view {
    struct esi_communicator *communicator;
    int rank;
    uint32_t slot;       /* UINT32_MAX = not known (an intercommunicator whose groups
                            are not known) */
    uint32_t peer_slot;  /* slot of a peer of rank 0 */
    uint32_t peers;      /* size of the group that peers are of */
    int32_t *neighbours; /* whom it hears from; NULL = not known */
    uint32_t neighbour_count;
    uint32_t neighbours_told;
    struct esi_view *older; /* chain of all of the process, also replaced ones */
};

/* --- Messages --------------------------------------------------------------------- */

enum esi_end {
    ESI_END_UNSEEN,
    ESI_END_READ,  /* its tuple is here, its event waits */
    ESI_END_GIVEN, /* done */
};

enum esi_message_kind { ESI_MESSAGE, ESI_EPOCH_POST, ESI_EPOCH_COMPLETE };

struct esi_message {
    struct esi_link link;
    struct esi_communicator *communicator;
    uint32_t source; /* slots */
    uint32_t destination;
    int32_t tag; /* or number of the window */
    uint32_t sequence;
    uint8_t kind;
    uint8_t send; /* enum esi_end, as is the next */
    uint8_t receive;
    bool blocking;                    /* the receive is a call that blocks */
    bool aging;                       /* in the list of those that wait for a receive */
    struct es_event_id id;            /* of the send that was given */
    struct esi_causal_thread *sender; /* of what was read and waits */
    struct esi_causal_thread *receiver;
    struct esi_message *next_send; /* in the chains of their items */
    struct esi_message *next_receive;
    struct esi_message *older; /* sends that were given and not received */
    struct esi_message *newer;
};

/* --- Collective operations -------------------------------------------------------- */

/* The collective operations on one communicator, or one of its windows, by instance
 * number. */
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
    struct esi_instance *first; /* all-to-all ones that are not released, by number */
    struct esi_instance *last;
};

enum esi_entry { ESI_ENTRY_UNSEEN, ESI_ENTRY_READ, ESI_ENTRY_GIVEN, ESI_ENTRY_LOST };

/* One member's part. */
struct esi_causal_slot {
    struct es_event_id enter;
    struct esi_waiters waiters;
    uint8_t entry; /* enum esi_entry */
};

struct esi_instance {
    struct esi_link link;
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
    bool tabled;
    bool listed;   /* in the series' list */
    bool released; /* all-to-all: decided */
    bool short_of; /* an event was given without one that it should have named */
    struct es_event_id release;
    struct esi_waiters waiters;
    struct esi_instance *previous; /* in the series' list */
    struct esi_instance *next;
    struct esi_instance *older; /* of all */
    struct esi_instance *newer;
    struct esi_causal_slot slots[];
};

/* --- Epochs ----------------------------------------------------------------------- */

struct esi_epoch_member {
    int32_t peer;
    uint32_t sequence;
};

/* The group of the last start, or post, of a process on a window. */
struct esi_epoch {
    struct esi_link link;
    struct esi_causal_process *process;
    struct esi_communicator *communicator;
    int32_t window;
    bool exposes;
    bool numbered;   /* its call was read, ... */
    uint32_t number; /* which is the window's so many-eth of this process */
    uint64_t begun;  /* ticks of the call, which its members have, too */
    struct esi_epoch_member *members;
    size_t count;
    size_t room;
};

/* What is noted of a channel: ends that found no other; or, in a table of their own,
 * numbers in doubt. */
struct esi_channel {
    struct esi_link link;
    struct esi_communicator *communicator;
    uint32_t source;
    uint32_t destination;
    int32_t tag;
    uint64_t sends;
    uint64_t receives;
    uint32_t doubtful;      /* the first number in doubt, */
    uint64_t doubtful_till; /* of sends that began before this tick of the sender's */
};

struct esi_type_names {
    char *enter;
    char *exit;
    char *open;
};

struct esi_causality {
    struct esi_causality_config config;
    struct esi_causality_totals totals;
    struct esi_causal_process **processes;
    size_t process_count;
    struct esi_element **elements;
    size_t element_count;
    struct esi_causal_thread **threads;
    size_t thread_count;
    uint32_t trace_count;
    bool finished;
    uint64_t settles;
    uint64_t newest_ns;  /* read */
    uint64_t settled_ns; /* the newest at the end of the reading before */
    struct esi_causal_thread *runnable;
    uint8_t actions[65536];        /* by operation code, as the next */
    bool tells_empty[65536];       /* 0 bytes mean that nothing is moved at all */
    struct esi_type_names *types;  /* by operation code */
    struct esi_causal_table names; /* of traces of communicators */
    struct esi_causal_table communicators;
    struct esi_pool items;
    struct esi_pool messages;
    struct esi_causal_table message_table;
    struct esi_message *oldest_send; /* that was given and not received */
    struct esi_message *newest_send;
    size_t aging_sends;
    struct esi_causal_table instances;
    struct esi_instance *oldest_instance;
    struct esi_instance *newest_instance;
    size_t slot_count; /* of all instances */
    const struct es_operation *win_free;
    struct esi_causal_table epochs;
    struct esi_causal_table channels;
    struct esi_causal_table doubts; /* channels on which a send was to be cancelled */
    struct es_event_id *partners;   /* of the event that is being made */
    size_t partner_room;
};

/* --- causal_thread.c: a thread's events in order ---------------------------------- */

/* Whether an event at this tick still finds its place. */
static inline bool esi_thread_has_place(const struct esi_causal_thread *thread,
                                        uint64_t time)
{
    return time >= thread->passed;
}
/* Adds an event of the item.  0 or -ENOMEM. */
int esi_thread_place(struct esi_causal_thread *thread,
                     struct esi_item *item,
                     enum esi_role role,
                     uint64_t time,
                     uint64_t time_ns);
/* Puts the events up to a tick in order for good.  0 or -ENOMEM. */
int esi_thread_release(struct esi_causal_thread *thread, uint64_t limit);
void esi_thread_make_runnable(struct esi_causality *causality,
                              struct esi_causal_thread *thread);
/* Has a thread wait, and wakes all that do. */
void esi_thread_wait(struct esi_causal_thread *thread, struct esi_waiters *waiters);
void esi_thread_leave(struct esi_causal_thread *thread);
void esi_waiters_wake(struct esi_causality *causality, struct esi_waiters *waiters);

/* --- causal_process.c: processes, threads, communicators -------------------------- */

void esi_process_destroy(struct esi_causal_process *process);
void esi_communicator_destroy(struct esi_communicator *communicator);
struct esi_view *esi_process_view(const struct esi_causal_process *process,
                                  uint16_t index);
/* The slot of a peer of this view; UINT32_MAX = there is none. */
uint32_t esi_view_peer(const struct esi_view *view, int32_t peer);
/* Whether a tuple of this member from before the run time `ns` would have been read. */
bool esi_member_has_passed(const struct esi_causality *causality,
                           const struct esi_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns);
/* World rank of a member, -1 = not known. */
int esi_member_rank(const struct esi_communicator *communicator, uint32_t slot);
/* Adds a trace.  What the sink returned. */
int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace);

/* --- causal_event.c: what goes to the sink ---------------------------------------- */

/* Gives an event of a thread.  Partners are those collected.  What the sink returned.
 */
int esi_event_give(struct esi_causality *causality,
                   const struct esi_placed *placed,
                   enum es_event_kind kind,
                   size_t partner_count,
                   struct es_event_id *ret_id);
/* Gives both halves of a sync. */
int esi_event_give_sync(struct esi_causality *causality,
                        const struct esi_placed *send,
                        const struct esi_placed *receive);
/* The `join` (a receive of the partners collected) and the `release` of an all-to-all
 * instance. */
int esi_event_give_junction(struct esi_causality *causality,
                            struct esi_instance *instance,
                            size_t partner_count);
/* Room for so many partners in causality->partners.  0 or -ENOMEM. */
int esi_event_reserve(struct esi_causality *causality, size_t count);
void esi_event_fini(struct esi_causality *causality);

/* --- Giving: 1 = given, 0 = it waits, -errno -------------------------------------- */

enum { ESI_WAITS = 0, ESI_WAS_GIVEN = 1 };

/* causal_message.c */
int esi_message_add_send(struct esi_causality *causality,
                         struct esi_item *item,
                         const struct esi_message *key);
int esi_message_add_receive(struct esi_causality *causality,
                            struct esi_item *item,
                            const struct esi_message *key,
                            bool blocking);
/* A send that was given before its message was known. */
int esi_message_add_given(struct esi_causality *causality,
                          const struct es_event_id *id,
                          const struct esi_message *key);
int esi_message_give_send(struct esi_causality *causality,
                          const struct esi_placed *placed);
int esi_message_give_receive(struct esi_causality *causality,
                             const struct esi_placed *placed);
/* Counts what was never received. */
void esi_message_finish(struct esi_causality *causality);
/* A send with the number of the key, or one behind it, may have been cancelled before
 * `ticks`: `count` numbers say nothing of sends that began earlier.  0 or -ENOMEM. */
int esi_message_doubt(struct esi_causality *causality,
                      const struct esi_message *key,
                      uint32_t count,
                      uint64_t ticks);
/* Whether the number of a send that began at `ticks` is one of these. */
bool esi_message_is_doubtful(const struct esi_causality *causality,
                             const struct esi_message *key,
                             uint64_t ticks);
/* causal_collective.c */

/* What becomes a part of an instance.  The item's view is known. */
int esi_collective_add(struct esi_causality *causality, struct esi_item *item);
int esi_collective_add_post(struct esi_causality *causality, struct esi_item *item);
int esi_collective_give_enter(struct esi_causality *causality,
                              const struct esi_placed *placed);
int esi_collective_give_exit(struct esi_causality *causality,
                             const struct esi_placed *placed);
void esi_collective_leave(struct esi_item *item);
void esi_collective_finish(struct esi_causality *causality);

/* causal_onesided.c */
int esi_onesided_add(struct esi_causality *causality, struct esi_item *item);
int esi_onesided_add_member(struct esi_causality *causality,
                            struct esi_element *element,
                            const struct es_tuple *tuple,
                            bool exposes);
/* All members have freed the window. */
void esi_onesided_forget(struct esi_causality *causality,
                         struct esi_communicator *communicator,
                         int32_t window);
void esi_onesided_fini(struct esi_causality *causality);
/* The item's event was given. */
void esi_onesided_note_given(struct esi_item *item, const struct es_event_id *id);

/* --- causality.c: the stream ------------------------------------------------------ */

/* Takes the next event off its thread, which has been given. */
void esi_thread_pop(struct esi_causality *causality, struct esi_causal_thread *thread);

#endif
