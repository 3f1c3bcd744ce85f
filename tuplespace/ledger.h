/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The ledger of a process: what it has outstanding, as it stands in its segment.
 *
 * Tuples tell what has happened.  The ledger tells what has not yet: requests that are
 * not complete, how many messages each channel has sent and received, the newest
 * collective operations entered on each communicator, the requests that a thread waits
 * for, epochs of windows that are open, objects that are not freed.  It outlives the
 * process as the segment does.
 *
 * The writer keeps its own tables there, so that it writes nothing twice.  A reader
 * copies them while they change: what it gets of a process whose threads all wait is
 * exact, of others it is a rough picture.  Nothing read is trusted.
 */
#ifndef ES_TUPLESPACE_LEDGER_H
#define ES_TUPLESPACE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct es_segment;
struct es_segment_view;
struct esi_ledger_layout;
struct esi_arena_pool;

/* The values of enum esi_request_kind. */
enum esi_ledger_request_kind {
    ESI_LEDGER_SEND = 1,
    ESI_LEDGER_RECEIVE,
    ESI_LEDGER_COLLECTIVE,
    ESI_LEDGER_DUPLICATE, /* MPI_Comm_idup: a collective, too */
    ESI_LEDGER_OTHER,     /* one-sided, I/O, partitioned */
    ESI_LEDGER_MESSAGE,   /* a matched message (MPI_Mprobe) that nobody has received */
    ESI_LEDGER_PAIR,      /* MPI_Isendrecv: completes as its receive */
};

/* A request that is not complete. */
struct esi_ledger_request {
    uint64_t handle;
    uint64_t start; /* ticks: when it was posted; UINT64_MAX: it was cancelled, and may
                       take nothing any more */
    uint64_t site;  /* address it was posted from; 0 = not known */
    uint16_t operation;
    uint16_t communicator; /* index in the process's table, or ES_COMMUNICATOR_NONE */
    uint32_t sequence;     /* of the message or instance; ES_SEQUENCE_UNKNOWN */
    int32_t peer;          /* rank in the communicator; ES_PEER_NONE, ES_PEER_ANY */
    int32_t tag;           /* ES_TAG_ANY */
    uint32_t bytes;
    uint8_t kind; /* enum esi_ledger_request_kind */
    bool persistent;
    bool active; /* persistent: started */
    bool partitioned;
};

/* Messages of one channel: (communicator, peer, tag), one direction.  Received from
 * ES_PEER_ANY with ES_TAG_ANY stands for receives of any channel that are complete, and
 * that no channel counts yet, since an earlier one may have taken their messages. */
struct esi_ledger_channel {
    uint16_t communicator;
    bool received; /* receives posted from `peer` that have a number; else sends issued
                      to it */
    bool doubtful; /* a cancellation is under way: the count is not known */
    int32_t peer;
    int32_t tag;
    uint32_t count;
};

/* A collective operation that was entered (posted, if nonblocking). */
struct esi_ledger_instance {
    uint16_t communicator;
    uint16_t operation;
    uint32_t instance;
    int32_t root;  /* ES_PEER_NONE where it has none */
    uint32_t hash; /* of what MPI wants to be alike in all members: operator, type
                      signature and count; 0 = nothing to compare */
};

enum esi_ledger_wait_kind {
    ESI_LEDGER_WAIT_NONE = 0,
    ESI_LEDGER_WAIT_ALL,  /* in MPI_Wait, MPI_Waitall */
    ESI_LEDGER_WAIT_ANY,  /* in MPI_Waitany, MPI_Waitsome */
    ESI_LEDGER_WAIT_POLL, /* tests that found nothing, since the last event */
};

enum { ESI_LEDGER_WAIT_HANDLES = 64 };

/* The requests that a thread waits for, or has polled since its last event. */
struct esi_ledger_wait {
    int thread;
    uint32_t kind;  /* enum esi_ledger_wait_kind */
    uint32_t count; /* of all */
    uint32_t known; /* of them in `handles` */
    bool others;    /* POLL: also something that is no request (a probe, a window) */
    uint64_t handles[ESI_LEDGER_WAIT_HANDLES];
};

enum esi_ledger_epoch_kind {
    ESI_LEDGER_LOCK_SHARED = 1, /* passive target: held or asked for */
    ESI_LEDGER_LOCK_EXCLUSIVE,
    ESI_LEDGER_LOCK_ALL,
    ESI_LEDGER_FENCE, /* opened by MPI_Win_fence, not closed */
    ESI_LEDGER_START, /* access epoch towards `peer` */
    ESI_LEDGER_POST,  /* exposure epoch towards `peer` */
};

/* An epoch of a window that is open. */
struct esi_ledger_epoch {
    uint16_t communicator; /* of the window */
    uint8_t kind;          /* enum esi_ledger_epoch_kind */
    bool granted;          /* a lock: the call has returned */
    int32_t window;        /* its number on the communicator */
    int32_t peer;          /* target or member; ES_PEER_NONE */
    uint32_t number; /* START, POST: the how manieth towards this member; FENCE: its
                              instance on the window */
};

/* Epochs towards a member of a window that were begun and ended, ever.  An entry
 * without a peer (ES_PEER_NONE) tells of the window itself: `started` counts the
 * collective calls entered on it, without the one that made it. */
struct esi_ledger_epoch_count {
    uint16_t communicator;
    int32_t window;
    int32_t peer;
    uint32_t posted;    /* MPI_Win_post to it */
    uint32_t started;   /* MPI_Win_start to it */
    uint32_t completed; /* MPI_Win_complete towards it */
};

enum esi_ledger_object {
    ESI_LEDGER_COMMUNICATORS,
    ESI_LEDGER_WINDOWS,
    ESI_LEDGER_FILES,
    ESI_LEDGER_TYPES,
    ESI_LEDGER_GROUPS,
    ESI_LEDGER_OPERATORS,
    ESI_LEDGER_OBJECTS
};

/* A copy; owned. */
struct esi_ledger {
    struct esi_ledger_request *requests;
    size_t request_count;
    size_t request_capacity;
    struct esi_ledger_channel *channels;
    size_t channel_count;
    size_t channel_capacity;
    struct esi_ledger_instance *instances; /* the newest 16 of each communicator */
    size_t instance_count;
    size_t instance_capacity;
    struct esi_ledger_wait *waits;
    size_t wait_count;
    size_t wait_capacity;
    struct esi_ledger_epoch *epochs;
    size_t epoch_count;
    size_t epoch_capacity;
    struct esi_ledger_epoch_count *epoch_counts;
    size_t epoch_count_count;
    size_t epoch_count_capacity;
    uint64_t unfreed[ESI_LEDGER_OBJECTS]; /* made by the program and not freed */
    uint64_t changes;     /* requests posted and completed, ever: alike in two looks =
                         nothing has moved between them */
    uint32_t error_class; /* of the last call that failed; 0 = none */
    uint16_t error_operation; /* 0 = of a call that is not recorded */
    bool error_fatal;         /* the program ended by it */
    char error_text[256];
    bool partial; /* memory or a table was short: not all is known */
};

/* --- The process's side ----------------------------------------------------------- */

/* Adds a ledger to the segment, and lets the pool take its memory there.  -ENOSPC. */
int esi_segment_add_ledger(struct es_segment *segment,
                           struct esi_arena_pool *pool,
                           struct esi_ledger_layout **ret_ledger);

/* --- The others' side ------------------------------------------------------------- */

/* Reads the ledger of a segment.  -ENOENT: it has none (an older segment, or ledgers
 * are off); -ENOMEM.  Free with esi_ledger_fini(). */
int esi_ledger_read(const struct es_segment_view *segment,
                    struct esi_ledger *ret_ledger);
/* All zero is allowed. */
void esi_ledger_fini(struct esi_ledger *ledger);

#endif
