/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The memory layout of a segment, through which processes share data (design section
 * 5).
 *
 *   header | element directory | communicator table | arena (rings, groups)
 *
 * The file has its final size from the start but is sparse.  Space is reserved with
 * posix_fallocate() as elements and communicators are added, before it is written, so
 * that a full /dev/shm causes an error code and never a SIGBUS.  Readers only access
 * what a published count or offset covers.
 *
 * All offsets are in bytes from the start of the file.  Readers check each offset
 * before use, because the process that wrote it may be faulty.
 */
#ifndef ES_TUPLESPACE_LAYOUT_H
#define ES_TUPLESPACE_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "eventspace/clock.h"
#include "eventspace/tuple.h"

#define ES_SEGMENT_MAGIC UINT64_C(0x314745535345) /* "ESSEG1" in little endian */
#define ES_SEGMENT_MAJOR 1                        /* other major versions are refused */
#define ES_SEGMENT_MINOR 3 /* minors add fields in padding of the header and after it */
#define ES_SEGMENT_HEADER_BYTES 640 /* of minors 0 to 2; the minimum size */
#define ES_SEGMENT_ENDIAN UINT32_C(0x01020304)
#define ES_CACHE_LINE 64

enum esi_segment_state {
    ES_SEGMENT_RUNNING = 1,
    ES_SEGMENT_FINALIZED = 2, /* MPI_Finalize was called or the last session ended */
    ES_SEGMENT_ABORTED = 3,   /* MPI_Abort was called */
};

enum esi_segment_flags {
    /* Held by a tuple server: contains elements placed here by another host, whose
     * process has this pid, rank and clock, or data of consumers.  The file name
     * contains the pid of the server. */
    ES_SEGMENT_KEPT = 1,
};

/* One page.  Written by the process, except fields marked otherwise. */
struct esi_segment_layout {
    uint64_t magic;
    uint32_t endian;
    uint16_t major;
    uint16_t minor;
    uint32_t header_bytes; /* sizes of these structs as compiled into the writer */
    uint32_t element_bytes;
    uint32_t communicator_bytes;
    uint32_t max_elements;
    uint32_t max_communicators;
    uint32_t flags;         /* enum esi_segment_flags */
    uint64_t segment_bytes; /* size of the file */
    uint64_t elements_offset;
    uint64_t communicators_offset;
    uint64_t arena_offset;

    int32_t pid;
    uint32_t uid;
    uint64_t pid_start;         /* field 22 of /proc/PID/stat; detects a recycled pid */
    _Atomic int32_t world_rank; /* see ES_WORLD_RANKS; -1 while not known */
    _Atomic int32_t world_size; /* -1 while not known */
    char run[64];               /* run id */
    char host[64];
    char program[248]; /* path of the program, truncated */
    /* Identifies the call that spawned the process; equal in all processes that it
     * spawned; 0 if launched.  Libraries that do not set it have the end of a long path
     * here. */
    uint64_t spawn;
    struct es_clock clock;
    /* Formerly padding: identifies the directory of run directories to which the run
     * belongs (esi_run_directory_folder()); 0 if not known. */
    uint64_t folder;
    /* Formerly padding: attached views that have read tuples or communicators.  Counted
     * by readers, and includes killed ones.  While it is not 0, no communicator index
     * is reused. */
    _Atomic uint32_t watchers;
    /* Formerly padding: tuples not recorded because the process had no memory. */
    _Atomic uint64_t tuples_refused;
    /* Since minor 2, formerly padding.  Offset of the ledger in the arena
     * (ledger_layout.h); 0 if the process has none (release). */
    _Atomic uint64_t ledger_offset;
    /* Formerly padding.  Offset of the first module table in the arena (modules.h); 0
     * if the process has none (release). */
    _Atomic uint64_t modules_offset;

    alignas(ES_CACHE_LINE) _Atomic uint32_t state; /* enum esi_segment_state */
    _Atomic uint32_t ended;      /* supervisor: 1 once exit_status is valid (release) */
    _Atomic int32_t exit_status; /* supervisor: status as returned by waitpid(2) */
    _Atomic uint32_t abort_code; /* argument of MPI_Abort */
    _Atomic uint64_t ended_realtime_ns;
    _Atomic uint32_t element_count;         /* published elements (release) */
    _Atomic uint32_t communicator_count;    /* published communicators (release) */
    _Atomic uint64_t arena_used;            /* in bytes */
    _Atomic uint32_t elements_refused;      /* elements without any space */
    _Atomic uint32_t elements_shrunk;       /* elements with a reduced threshold */
    _Atomic uint32_t communicators_refused; /* communicators that did
                                               not fit into the table */
    _Atomic uint32_t warnings;              /* how often the collector stepped aside */
    /* Since minor 1, formerly padding.  Offset of the tree control in the arena
     * (tree_control.h); 0 if the process has none (release). */
    _Atomic uint64_t tree_control_offset;

    /* Since minor 3, after the former end of the header. */
    alignas(ES_CACHE_LINE) char job[64]; /* id of the batch job; "" if none */
    char launcher[64];                   /* program that started the
                                            process; "" if not known */
};

enum esi_element_kind {
    ES_ELEMENT_TRACE = 1,  /* written by one thread */
    ES_ELEMENT_SHARED = 2, /* written by several processes or
                              threads: data of consumers */
};

enum esi_on_full {
    ES_ON_FULL_DISCARD = 0, /* overwrite the oldest tuple; readers count it as lost */
    ES_ON_FULL_BLOCK = 1,   /* wait for the registered reader, if any, while it is
                               alive and advances: see ES_WRITER_PATIENCE_NS */
    ES_ON_FULL_AWAIT = 2,   /* like BLOCK, but also wait up to ES_WRITER_AWAIT_NS
                               for a first reader to register.  Becomes BLOCK
                               when a reader registers or the writer gives up */
};

/* A registered reader in one word, which can be changed atomically: the pid in the low
 * bits, its start time (pid_start) above.  Linux pids have at most 22 bits. */
#define ES_READER_PID_BITS 22

/* Admits one writer at a time to a shared element.  Any word of the shared memory may
 * be corrupt, so the lock consists of numbers only.  Has the size of a
 * pthread_mutex_t. */
struct esi_writers_lock {
    _Atomic uint64_t holder; /* the thread inside, encoded like a reader
                                (ES_READER_PID_BITS); 0 if none */
    _Atomic uint32_t wake;   /* futex word: incremented when the holder leaves */
    _Atomic uint32_t waits;  /* not 0 if writers may be sleeping on `wake` */
    uint64_t reserved[3];    /* 0 */
};

/* Where readers find the tuples of an element. */
enum es_element_location {
    ES_LOCATION_HERE = 0,
    ES_LOCATION_AWAITED = 1, /* on another host whose server has not connected yet */
    ES_LOCATION_TAKEN = 2,   /* on another host */
    ES_LOCATION_REFUSED = 3, /* here: the other host's server has no room */
};

/* Returns whether readers must skip the element. */
static inline bool esi_location_is_elsewhere(uint16_t location)
{
    return location == ES_LOCATION_AWAITED || location == ES_LOCATION_TAKEN;
}

/* One element in the directory.  Fields are grouped into cache lines by their
 * writer. */
struct esi_element_layout {
    /* Constant once published, except the switches. */
    alignas(ES_CACHE_LINE) uint64_t ring_offset;
    uint32_t capacity;    /* in slots; a power of two > threshold */
    uint32_t tuple_bytes; /* a multiple of 4 */
    uint32_t kind;        /* enum esi_element_kind */
    uint32_t threshold;   /* number of tuples kept; less than requested
                                 if counted in elements_shrunk */
    union {
        struct {
            _Atomic uint32_t enabled; /* set by consumers */
            _Atomic uint32_t on_full; /* enum esi_on_full; set by consumers */
        };
        _Atomic uint64_t switches; /* both, read at once by the writer */
    };
    _Atomic uint32_t waiters; /* not 0 if readers may be sleeping on `head` (futex); set
                                 by readers, cleared by the writer when it wakes them */
    _Atomic uint32_t limit;   /* current threshold <= threshold: how many
                                 tuples readers see; set by consumers */
    /* Formerly padding.  Offset of the second column of the ring, with a uint64_t per
     * slot: the call site of the operation, 0 if not known.  0 if there is no such
     * column. */
    uint64_t sites_offset;

    /* Written by the writer. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t head; /* tuples published since
                                                     creation (release) */
    _Atomic uint64_t withdrawn; /* number of withdrawn open tuples; detects changes */
    _Atomic uint64_t polls;     /* polls that found nothing */
    _Atomic uint64_t held;      /* completed receives held back at the moment */
    _Atomic uint64_t blocked;   /* how often the writer waited for its reader */
    _Atomic uint64_t discarded; /* all positions below are discarded;
                                   written by consumers, but rarely,
                                   and needed by all who read head */

    /* Written by the registered reader. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t reader_position; /* all positions below are
                                                                acknowledged */
    _Atomic uint64_t reader;       /* see ES_READER_PID_BITS; 0 if none */
    _Atomic uint32_t reader_wake;  /* futex word: incremented
                                      when the reader advances */
    _Atomic uint32_t writer_waits; /* not 0 if the writer may be
                                      sleeping on reader_wake */
    /* Formerly padding.  reader_position plus one at which the writer stopped waiting
     * for a reader that does not advance.  Set by the writer, cleared by a reader that
     * registers. */
    _Atomic uint64_t passed_at;

    /* Attributes, constant once published. */
    alignas(ES_CACHE_LINE) char name[64]; /* path: "RANK.THREAD/COLLECTOR[...]" */
    char collector[32];                   /* name of the collector in the pathmap */
    int32_t rank;
    int32_t thread;
    uint32_t classes;                /* classes recorded, as bits of enum es_class */
    int32_t peer;                    /* ES_PEER_NONE if any */
    uint16_t communicator;           /* ES_COMMUNICATOR_NONE if any */
    _Atomic uint16_t location;       /* enum es_element_location; set
                                        by this host's tuple server */
    uint32_t thread_id;              /* kernel thread id of the writer */
    struct esi_writers_lock writers; /* for ES_ELEMENT_SHARED: shared.c */
    _Atomic uint64_t lost_moving;    /* for an element placed here: tuples
                                        of the original that were
                                        overwritten before they arrived */
    uint64_t moved_before; /* and tuples that arrived at an earlier tuple server,
                              before the element was created; constant */
};

enum esi_group_kind {
    ES_GROUP_STRIDED = 1,   /* member i has world rank first + i * stride */
    ES_GROUP_LIST = 2,      /* int32_t[size] at `offset` */
    ES_GROUP_ELSEWHERE = 3, /* listed in the segment of the member
                               with the lowest world rank */
};

/* Maximum number of members of a group: the maximum number of ranks in a pathmap. */
#define ES_GROUP_MAX (1 << 20)

/* World ranks of the N-th spawned world start at N times this, so that they are unique
 * within the run.  Worlds that spawn or are spawned have fewer ranks. */
#define ES_WORLD_RANKS 1000

/* World ranks of a group of a communicator. */
struct esi_group_layout {
    uint32_t kind; /* enum esi_group_kind */
    int32_t size;
    int32_t first;
    int32_t stride;
    uint64_t offset;
};

enum esi_communicator_flags {
    ES_COMMUNICATOR_INTER = 1, /* intercommunicator: peers are ranks of `remote` */
    ES_COMMUNICATOR_FREED = 2,
    /* The process writes no more tuples that name it.  Its index may be reused when no
     * ring names it either (communicator_table.c). */
    ES_COMMUNICATOR_RELEASED = 4,
};

struct esi_communicator_layout {
    uint64_t key[2]; /* equal in all members, unique in the run */
    int32_t rank;    /* rank of this process */
    uint16_t parent; /* ES_COMMUNICATOR_NONE if none */
    uint16_t reserved0;
    _Atomic uint32_t flags;        /* enum esi_communicator_flags */
    _Atomic uint32_t name_version; /* odd while the name or the whole
                                      entry is being changed */
    struct esi_group_layout local;
    struct esi_group_layout remote; /* size 0 unless INTER */
    _Atomic uint32_t name[16];      /* 64 bytes of text, terminated */
};

_Static_assert(sizeof(struct esi_segment_layout) <= 4096, "the header fits in a page");
_Static_assert(offsetof(struct esi_segment_layout, folder) == 536,
               "in the padding before the state");
_Static_assert(offsetof(struct esi_segment_layout, ledger_offset) == 560,
               "in the padding before the state");
_Static_assert(offsetof(struct esi_segment_layout, job) == ES_SEGMENT_HEADER_BYTES,
               "behind the header of minor 2");
_Static_assert(sizeof(struct esi_writers_lock) == 40, "the place of a mutex");
_Static_assert(sizeof(struct esi_element_layout) % ES_CACHE_LINE == 0,
               "whole cache lines");
_Static_assert(offsetof(struct esi_element_layout, head) == 64,
               "head begins the writer's line");
_Static_assert(offsetof(struct esi_element_layout, reader_position) == 128,
               "readers' own line");

#endif
