/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The ledger of a process: its outstanding operations and resources, kept in its
 * segment.
 *
 * Tuples record what has happened.  The ledger shows the current state: incomplete
 * requests, the number of messages sent and received on each channel, the latest
 * collectives entered on each communicator, the requests that each thread waits for,
 * open epochs of windows, and objects that are not freed.  It outlives the process, as
 * the segment does.
 *
 * The process keeps its own tables there, so nothing is written twice.  A reader copies
 * them while they may change: the copy is exact if all threads of the process are
 * blocked, otherwise approximate.  Nothing read is trusted.
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
    ESI_LEDGER_DUPLICATE, /* MPI_Comm_idup, which is a collective */
    ESI_LEDGER_OTHER,     /* one-sided, I/O, partitioned */
    ESI_LEDGER_MESSAGE,   /* a matched message (MPI_Mprobe)
                             that has not been received */
    ESI_LEDGER_PAIR,      /* MPI_Isendrecv: completes like its receive */
};

/* An incomplete request. */
struct esi_ledger_request {
    uint64_t handle;
    uint64_t start; /* ticks when it was posted; UINT64_MAX if
                       it was cancelled and may never match */
    uint64_t site;  /* address of the call that posted it; 0 if not known */
    uint16_t operation;
    uint16_t communicator; /* index in the process's table, or ES_COMMUNICATOR_NONE */
    uint32_t sequence;     /* of the message or instance; or ES_SEQUENCE_UNKNOWN */
    int32_t peer;          /* rank in the communicator, ES_PEER_NONE or ES_PEER_ANY */
    int32_t tag;           /* or ES_TAG_ANY */
    uint32_t bytes;
    uint8_t kind; /* enum esi_ledger_request_kind */
    bool persistent;
    bool active; /* persistent requests: started */
    bool partitioned;
};

/* The messages of one channel (communicator, peer, tag) in one direction.  The received
 * channel of ES_PEER_ANY with ES_TAG_ANY counts completed receives that are not yet
 * counted on their channel, because an earlier receive may have taken their
 * messages. */
struct esi_ledger_channel {
    uint16_t communicator;
    bool received; /* receives posted from `peer` that have
                      a number; else sends issued to it */
    bool doubtful; /* a cancellation is under way: the count is not known */
    int32_t peer;
    int32_t tag;
    uint32_t count;
};

/* A collective operation that was entered; if nonblocking, posted. */
struct esi_ledger_instance {
    uint16_t communicator;
    uint16_t operation;
    uint32_t instance;
    int32_t root;  /* ES_PEER_NONE if it has no root */
    uint32_t hash; /* of what must be the same in all members: operator, type
                      signature and count; 0 if there is nothing to compare */
};

enum esi_ledger_wait_kind {
    ESI_LEDGER_WAIT_NONE = 0,
    ESI_LEDGER_WAIT_ALL,  /* in MPI_Wait, MPI_Waitall */
    ESI_LEDGER_WAIT_ANY,  /* in MPI_Waitany, MPI_Waitsome */
    ESI_LEDGER_WAIT_POLL, /* in tests that found nothing since the last event */
};

enum { ESI_LEDGER_WAIT_HANDLES = 64, ESI_LEDGER_LIBRARY_THREADS = 16 };

/* The requests that a thread waits for or, if it polls, has tested since its last
 * event. */
struct esi_ledger_wait {
    int thread;
    uint32_t kind;  /* enum esi_ledger_wait_kind */
    uint32_t count; /* number of requests */
    uint32_t known; /* number of requests in `handles` */
    bool others;    /* POLL: also tested something other
                       than requests (a probe, a window) */
    uint64_t handles[ESI_LEDGER_WAIT_HANDLES];
};

enum esi_ledger_epoch_kind {
    ESI_LEDGER_LOCK_SHARED = 1, /* passive target: held or requested */
    ESI_LEDGER_LOCK_EXCLUSIVE,
    ESI_LEDGER_LOCK_ALL,
    ESI_LEDGER_FENCE, /* opened by MPI_Win_fence and not closed */
    ESI_LEDGER_START, /* access epoch towards `peer` */
    ESI_LEDGER_POST,  /* exposure epoch towards `peer` */
};

/* An open epoch of a window. */
struct esi_ledger_epoch {
    uint16_t communicator; /* of the window */
    uint8_t kind;          /* enum esi_ledger_epoch_kind */
    bool granted;          /* locks: the call has returned */
    int32_t window;        /* number of the window on the communicator */
    int32_t peer;          /* target or member, or ES_PEER_NONE */
    uint32_t number;       /* START, POST: number of the epoch with this
                              member; FENCE: its instance on the window */
};

/* Number of epochs with a member of a window, begun and ended.  An entry without a peer
 * (ES_PEER_NONE) describes the window itself: `started` counts the collective calls
 * entered on it, except the one that created it. */
struct esi_ledger_epoch_count {
    uint16_t communicator;
    int32_t window;
    int32_t peer;
    uint32_t posted;    /* calls of MPI_Win_post to it */
    uint32_t started;   /* calls of MPI_Win_start to it */
    uint32_t completed; /* calls of MPI_Win_complete to it */
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

/* A copy of a ledger, which owns its arrays. */
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
    uint64_t unfreed[ESI_LEDGER_OBJECTS]; /* objects created and not
                                             freed by the program */
    uint64_t changes;         /* number of requests posted and completed so far; if
                                 equal in two copies, nothing happened between them */
    uint32_t error_class;     /* of the last call that failed; 0 if none */
    uint16_t error_operation; /* the call */
    char error_text[256];
    bool concurrent; /* threads may call MPI at the same time */
    int others;      /* threads of the process that have never called MPI and are
                               not the MPI library's; -1 = not known */
    uint64_t others_counted; /* when, in ticks; of a dead process: when somebody last
                                read its ledger */
    /* Kernel ids of the MPI library's own threads; 0 for a free slot.  Not known of
     * processes of other hosts. */
    uint32_t library_threads[ESI_LEDGER_LIBRARY_THREADS];
    bool partial; /* incomplete, because memory or a table was full */
};

/* --- Writing ---------------------------------------------------------------------- */

/* Adds a ledger to the segment, and lets the pool allocate there.  Returns 0 or
 * -ENOSPC. */
int esi_segment_add_ledger(struct es_segment *segment,
                           struct esi_arena_pool *pool,
                           struct esi_ledger_layout **ret_ledger);

/* --- Reading ---------------------------------------------------------------------- */

/* Reads the ledger of a segment.  Returns 0; -ENOENT if it has none (an older segment,
 * or ledgers are off); or -ENOMEM.  Free with esi_ledger_fini(). */
int esi_ledger_read(const struct es_segment_view *segment,
                    struct esi_ledger *ret_ledger);
/* Frees the arrays.  Accepts a zeroed struct. */
void esi_ledger_fini(struct esi_ledger *ledger);

#endif
