/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The bytes of a segment: what processes share through memory (design section 5).
 *
 *   header | element directory | communicator table | arena (rings, groups)
 *
 * The file is as long as the segment may ever get, but sparse: space is reserved
 * (posix_fallocate) piece by piece as elements and communicators are added, before
 * anything is written there, so that a full /dev/shm is an error code and never a
 * SIGBUS.  Readers only touch what a count or an offset already published says is
 * there.
 *
 * All offsets count bytes from the start of the file.  A reader checks each before use:
 * the process that wrote them may have been broken.
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
#define ES_SEGMENT_MAJOR 1                        /* another major is refused */
#define ES_SEGMENT_MINOR                                                               \
    3 /* fields added where the header had padding, and behind it */
#define ES_SEGMENT_HEADER_BYTES 640 /* of minors 0 to 2, and the least of all */
#define ES_SEGMENT_ENDIAN UINT32_C(0x01020304)
#define ES_CACHE_LINE 64

enum esi_segment_state {
    ES_SEGMENT_RUNNING = 1,
    ES_SEGMENT_FINALIZED = 2, /* MPI_Finalize or the last session's end was reached */
    ES_SEGMENT_ABORTED = 3,   /* MPI_Abort was called */
};

enum esi_segment_flags {
    /* Held by a tuple server for others: elements of another host's process that are
     * placed here, of which pid, rank and clock tell, or data of consumers.  The file's
     * name has the server's pid. */
    ES_SEGMENT_KEPT = 1,
};

/* One page; written by the process, fields marked otherwise by others. */
struct esi_segment_layout {
    uint64_t magic;
    uint32_t endian;
    uint16_t major;
    uint16_t minor;
    uint32_t header_bytes; /* sizeof of these structs as the writer knows them */
    uint32_t element_bytes;
    uint32_t communicator_bytes;
    uint32_t max_elements;
    uint32_t max_communicators;
    uint32_t flags;         /* enum esi_segment_flags */
    uint64_t segment_bytes; /* length of the file */
    uint64_t elements_offset;
    uint64_t communicators_offset;
    uint64_t arena_offset;

    int32_t pid;
    uint32_t uid;
    uint64_t pid_start;         /* field 22 of /proc/PID/stat: tells a recycled pid */
    _Atomic int32_t world_rank; /* see ES_WORLD_RANKS; -1 while not known */
    _Atomic int32_t world_size; /* -1 while not known */
    char run[64];               /* run id */
    char host[64];
    char program[248]; /* the program's path, cut */
    /* A mark of the call that spawned the process, alike in all that it spawned; 0 = it
     * was launched.  Libraries without marks have the end of a long path here. */
    uint64_t spawn;
    struct es_clock clock;
    /* In what was padding before: the folder of run directories that the run belongs to
     * (esi_run_directory_folder()); 0 = not known. */
    uint64_t folder;
    /* In what was padding before: views that have read tuples or communicators and are
     * still attached; readers count, also those that were killed.  While there are any,
     * no index of a communicator is used again. */
    _Atomic uint32_t watchers;
    /* In what was padding before: tuples that the process had no memory for. */
    _Atomic uint64_t tuples_refused;
    /* Since minor 2, in what was padding before.  The ledger in the arena
     * (ledger_layout.h); 0 = the process has none (release). */
    _Atomic uint64_t ledger_offset;
    /* In what was padding before.  The first table of modules in the arena (modules.h);
     * 0 = the process has none (release). */
    _Atomic uint64_t modules_offset;

    alignas(ES_CACHE_LINE) _Atomic uint32_t state; /* enum esi_segment_state */
    _Atomic uint32_t ended;      /* supervisor: 1 once exit_status is valid (release) */
    _Atomic int32_t exit_status; /* supervisor: status as waitpid(2) gives it */
    _Atomic uint32_t abort_code; /* argument of MPI_Abort */
    _Atomic uint64_t ended_realtime_ns;
    _Atomic uint32_t element_count;         /* published elements (release) */
    _Atomic uint32_t communicator_count;    /* published communicators (release) */
    _Atomic uint64_t arena_used;            /* bytes */
    _Atomic uint32_t elements_refused;      /* elements that found no space at all */
    _Atomic uint32_t elements_shrunk;       /* elements that got a smaller threshold */
    _Atomic uint32_t communicators_refused; /* communicators beyond the table */
    _Atomic uint32_t warnings;              /* times the collector stepped aside */
    /* Since minor 1, in what was padding before.  The tree control in the arena
     * (tree_control.h); 0 = the process has none (release). */
    _Atomic uint64_t tree_control_offset;

    /* Since minor 3, behind the header of those before. */
    alignas(ES_CACHE_LINE) char job[64]; /* id of the batch job; "" = none */
    char launcher[64];                   /* what started the process; "" = not known */
};

enum esi_element_kind {
    ES_ELEMENT_TRACE = 1,  /* one writer, the thread */
    ES_ELEMENT_SHARED = 2, /* many writers, processes or threads: consumers' own data */
};

enum esi_on_full {
    ES_ON_FULL_DISCARD = 0, /* the oldest tuple is overwritten, readers count it lost */
    ES_ON_FULL_BLOCK = 1,   /* the writer waits for the registered reader, if any, while
                               it lives and moves: see ES_WRITER_PATIENCE_NS */
    ES_ON_FULL_AWAIT = 2, /* a first reader is on its way: the writer waits for it, too,
                             for ES_WRITER_AWAIT_NS at most; then as BLOCK.  The reader
                             that registers or the writer that gives up sets that */
};

/* A registered reader in one word, so that it changes at once: the pid in the low bits,
 * its start time (see pid_start) above.  Linux has no pid of more than 22 bits. */
#define ES_READER_PID_BITS 22

/* Lets one writer at a time into an element with many.  The memory is shared, so that
 * any word may be broken: nothing here is more than a number.  It has the place of a
 * mutex of threads. */
struct esi_writers_lock {
    _Atomic uint64_t holder; /* the thread inside, in the form of ES_READER_PID_BITS;
                                0 = nobody */
    _Atomic uint32_t wake;   /* futex word: bumped when the holder leaves */
    _Atomic uint32_t waits;  /* not 0: writers may be asleep on `wake` */
    uint64_t reserved[3];    /* 0 */
};

/* Where readers find the tuples of an element. */
enum es_element_location {
    ES_LOCATION_HERE = 0,
    ES_LOCATION_AWAITED = 1, /* on another host, whose server has not come yet */
    ES_LOCATION_TAKEN = 2,   /* on another host */
    ES_LOCATION_REFUSED = 3, /* here: the other host's server has no room */
};

/* Whether readers leave the element out. */
static inline bool esi_location_is_elsewhere(uint16_t location)
{
    return location == ES_LOCATION_AWAITED || location == ES_LOCATION_TAKEN;
}

/* One element, in the directory.  Lines by who writes them. */
struct esi_element_layout {
    /* Constant once published, but for the switches. */
    alignas(ES_CACHE_LINE) uint64_t ring_offset;
    uint32_t capacity;        /* slots, a power of two > threshold */
    uint32_t tuple_bytes;     /* a multiple of 4 */
    uint32_t kind;            /* enum esi_element_kind */
    uint32_t threshold;       /* tuples kept at least, what was asked for (or less:
                                 elements_shrunk) */
    _Atomic uint32_t enabled; /* consumers switch it */
    _Atomic uint32_t on_full; /* enum esi_on_full; consumers switch it */
    _Atomic uint32_t waiters; /* not 0: readers may be asleep on `head` (futex); they
                                 set it, the writer clears it as it wakes them all */
    _Atomic uint32_t limit;   /* run-time threshold <= threshold: readers see at most
                                 so many; consumers set it */
    /* In what was padding before.  The second column of the ring: a uint64_t for each
     * slot, the address that the operation was called from, 0 = not known; 0 = there is
     * no such column. */
    uint64_t sites_offset;

    /* The writer's line. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t head; /* tuples ever published (release) */
    _Atomic uint64_t withdrawn; /* open tuples taken back: tells a changed one */
    _Atomic uint64_t polls;     /* polls that found nothing */
    _Atomic uint64_t held;      /* completed receives held back now */
    _Atomic uint64_t blocked;   /* times the writer had to wait for its reader */
    _Atomic uint64_t discarded; /* all below is discarded; consumers write it, seldom:
                                   it stands here since whoever reads head needs it */

    /* The registered reader's line. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t reader_position; /* all below is taken */
    _Atomic uint64_t reader;       /* who: see ES_READER_PID_BITS; 0 = nobody */
    _Atomic uint32_t reader_wake;  /* futex word: bumped when that reader moves on */
    _Atomic uint32_t writer_waits; /* not 0: the writer may be asleep on reader_wake */
    /* In what was padding before.  The reader_position, plus one, at which the writer
     * no longer waits for a reader that stands still; the writer sets it, who registers
     * clears it. */
    _Atomic uint64_t passed_at;

    /* Path attributes, constant once published. */
    alignas(ES_CACHE_LINE) char name[64]; /* path: "RANK.THREAD/COLLECTOR[...]" */
    char collector[32];                   /* the collector's name in the pathmap */
    int32_t rank;
    int32_t thread;
    uint32_t classes;          /* bits of enum es_class it records */
    int32_t peer;              /* ES_PEER_NONE = any */
    uint16_t communicator;     /* ES_COMMUNICATOR_NONE = any */
    _Atomic uint16_t location; /* enum es_element_location; this host's tuple server
                                  sets it */
    uint32_t thread_id;        /* the kernel's id of the writing thread */
    struct esi_writers_lock writers; /* ES_ELEMENT_SHARED: shared.c */
    _Atomic uint64_t lost_moving;    /* of an element that is placed here: tuples of the
                                     original that were overwritten before */
    uint64_t moved_before; /* and those that came before the element was made, to a
                              tuple server before this one; constant */
};

enum esi_group_kind {
    ES_GROUP_STRIDED = 1,   /* member i has world rank first + i * stride */
    ES_GROUP_LIST = 2,      /* int32_t[size] at `offset` */
    ES_GROUP_ELSEWHERE = 3, /* listed by the key's lowest world rank */
};

/* Members of a group at most: as many as a pathmap has ranks. */
#define ES_GROUP_MAX (1 << 20)

/* Ranks of the N-th world that was spawned begin at N times this, so that no two
 * processes of a run have the same; worlds that are spawned or spawn have fewer. */
#define ES_WORLD_RANKS 1000

/* World ranks of one group of a communicator. */
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
    /* The process will write no tuple any more that names it: its index may be used
     * again once no ring names it either (communicator_table.c). */
    ES_COMMUNICATOR_RELEASED = 4,
};

struct esi_communicator_layout {
    uint64_t key[2]; /* alike in all members, run-wide */
    int32_t rank;    /* own rank in it */
    uint16_t parent; /* ES_COMMUNICATOR_NONE = none */
    uint16_t reserved0;
    _Atomic uint32_t flags;        /* enum esi_communicator_flags */
    _Atomic uint32_t name_version; /* odd while the name, or the whole entry, is being
                                      changed */
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
