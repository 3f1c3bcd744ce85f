/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The owning end of a segment: made by the observed process, filled with elements and
 * communicators as paths come into being.
 *
 * Calls on one segment may run at the same time in several threads.  After fork() the
 * child has no segment: it must not call any of these.
 */
#ifndef ES_TUPLESPACE_SEGMENT_H
#define ES_TUPLESPACE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/layout.h"
#include "tuplespace/writer.h"

struct es_segment;

/* For segments that a tuple server holds: whose elements they are. */
struct esi_segment_keeping {
    int pid; /* 0 = this process's own */
    int rank;
    int size;
    const struct es_clock *clock; /* NULL = this process's own; borrowed */
};

struct esi_segment_config {
    const char *run;      /* run id: see esi_run_id_is_valid() */
    const char *host;     /* 1 to 63 characters */
    const char *program;  /* may be "" */
    const char *job;      /* may be "" */
    const char *launcher; /* may be "" */
    int rank;             /* -1 = not known yet */
    int size;             /* -1 = not known yet */
    uint64_t spawn;       /* mark of the call that spawned it; 0 = it was launched */
    uint32_t max_elements;
    uint32_t max_communicators;
    uint64_t
        arena_bytes; /* upper bound for rings and groups; address space, not memory */
    uint64_t calibrate_ns;      /* budget of es_clock_calibrate() */
    uint32_t keep_free_percent; /* of the file system, which this segment never takes */
    const struct esi_segment_keeping *keeping; /* NULL = of this process; borrowed */
};

/* Where address space is limited (RLIMIT_AS), a segment takes at most this part of what
 * is left; arena, directory and table shrink for it. */
#define ES_SEGMENT_ADDRESS_SHARE 8

/* An element takes 384 bytes of the directory, a communicator 144 bytes of the table,
 * each reserved page by page as they come. Defaults: 4,096 elements, 65,535
 * communicators, 1 GiB of address space, 2 ms. */
void esi_segment_config_init(struct esi_segment_config *config);

/* Makes "/eventspace.RUN.HOST.RANK.PID" in POSIX shared memory, mode 0600, and
 * registers the process for membarrier(2), which readers use.  A segment of that name,
 * left by an earlier program in this process (before exec) or with this pid, is
 * replaced; where anything else has the name, the segment is called
 * "/eventspace.RUN.HOST.RANK.PID+OTHER" with eight random digits. -EINVAL: a name does
 * not fit its rule; -ENOSPC: not even the header fits; -ENOMEM: not even the smallest
 * segment (1 MiB) fits into its share of the address space; -ENAMETOOLONG, -EACCES and
 * the like as shm_open(3) gives them.  No descriptor stays open. */
int esi_segment_create(const struct esi_segment_config *config,
                       struct es_error *error,
                       struct es_segment **ret_segment);

/* Unmaps; the file stays for readers.  Accepts NULL. */
void esi_segment_close(struct es_segment *segment);

/* Unmaps and removes the file, if its name still stands for it.  Accepts NULL. */
void esi_segment_destroy(struct es_segment *segment);

/* Removes the file, if its name still stands for it; the mapping stays.  Accepts
 * NULL. */
void esi_segment_remove(struct es_segment *segment);

struct esi_segment_layout *esi_segment_layout(struct es_segment *segment);

/* Whether something that is not a segment of this process had the segment's name, so
 * that it has another one, and which user that belongs to. */
bool esi_segment_has_rival(const struct es_segment *segment, unsigned int *ret_user);

/* The rank of the first process of the world that a call with this mark spawned, by a
 * living process of it on this host.  -ENOENT: there is none. */
int esi_segment_find_spawned(const char *run, uint64_t spawn);

/* What there is too little of when an element is shrunk or refused: "space in
 * /dev/shm", or the limit of the process that made the segment small. */
const char *esi_segment_shortage(const struct es_segment *segment);

/* The file system that segments lie in: all of it, and what is free. */
struct esi_segment_room {
    uint64_t total_bytes;
    uint64_t free_bytes;
};
/* -errno as statvfs(3) gives it. */
int esi_segment_find_room(struct esi_segment_room *ret_room);
/* Whether `percent` of it stay free when so many bytes are taken. */
bool esi_segment_room_keeps(const struct esi_segment_room *room,
                            uint64_t bytes,
                            uint32_t percent);

/* What an element without sites takes: its ring. */
uint64_t esi_segment_ring_bytes(uint32_t threshold, uint32_t tuple_bytes);

/* Sets rank and size once MPI knows them (the file keeps its name). */
void esi_segment_set_rank(struct es_segment *segment, int rank, int size);

void esi_segment_set_state(struct es_segment *segment, enum esi_segment_state state);

struct esi_element_config {
    enum esi_element_kind kind;
    const char *name;      /* unique in the segment, under 64 bytes */
    const char *collector; /* under 32 bytes */
    int rank;
    int thread;
    uint32_t classes;
    int peer;              /* ES_PEER_NONE = any */
    uint16_t communicator; /* ES_COMMUNICATOR_NONE = any */
    uint32_t tuple_bytes;  /* multiple of 4, 4 to 65,532; trace elements: 36 */
    uint32_t threshold;    /* 1 to 2^24 */
    enum esi_on_full on_full;
    bool enabled;
    bool sites; /* trace elements: the ring has a column of addresses */
};

/* Adds an element and reserves its space.  When space is short the threshold is halved,
 * down to 15, and the shrinking counted; -ENOSPC when that does not fit either or the
 * directory is full (counted as refused); -EEXIST when an element has that name.
 * `ret_writer` may be NULL for shared elements.  O(elements). */
int esi_segment_add_element(struct es_segment *segment,
                            const struct esi_element_config *config,
                            struct esi_writer *ret_writer);

struct esi_communicator_config {
    uint64_t key[2];
    int rank;
    uint16_t parent;
    uint32_t flags;
    const char *name;     /* may be "" */
    const int32_t *group; /* world ranks; borrowed for the call */
    int group_size;
    const int32_t *remote; /* may be NULL */
    int remote_size;
    bool keep_list; /* this process holds the list if it is not strided */
};

/* Adds a communicator; -ENOSPC when the table or the space is full (counted as
 * refused). */
int esi_segment_add_communicator(struct es_segment *segment,
                                 const struct esi_communicator_config *config,
                                 uint16_t *ret_index);

void esi_segment_name_communicator(struct es_segment *segment,
                                   uint16_t index,
                                   const char *name);

void esi_segment_free_communicator(struct es_segment *segment, uint16_t index);

/*
 * Indices of communicators are used again, so that a program that makes and frees them
 * all the time does not fill the table.  Tuples name them by index, so one may only be
 * used again when
 *
 * - the process has released it: it writes no tuple any more that names it, but for
 * those that it knows of (esi_segment_sweep_communicators());
 * - no slot of a ring names it, open tuples included, and no entry as its parent;
 * - nobody who attached the segment has read from it and may remember the old one.
 */
void esi_segment_release_communicator(struct es_segment *segment, uint16_t index);

/* Whether so many were released that a sweep is worth its cost: rings are scanned. */
bool esi_segment_should_sweep(struct es_segment *segment);

enum { ES_COMMUNICATOR_BITS_BYTES = 65536 / 8 };

/* Finds the indices that may be used again.  `in_use`: bits by index (bit i % 8 of byte
 * i / 8) of those that the process may still write into tuples although they are
 * released; it is changed.  No other thread may be writing tuples. */
void esi_segment_sweep_communicators(struct es_segment *segment,
                                     uint8_t in_use[ES_COMMUNICATOR_BITS_BYTES]);

/* How long a writer of a shared element waits for another one that is inside. */
#define ES_SHARED_LOCK_NS UINT64_C(2000000000)

/* Appends to a shared (many-writers) element, from any thread of any process that
 * attached it.  `writer` has the element and the ring as they were checked, its head
 * does not matter; `tuple_bytes` is the element's.  A writer that died inside is
 * cleaned up after: its half-written tuple is not published.
 *
 * -EBUSY: another writer was inside for ES_SHARED_LOCK_NS; -EAGAIN: the registered
 * reader of a blocking element has not made room within `timeout_ns`.  May sleep: not
 * for the record path. */
int esi_shared_write(struct esi_writer *writer,
                     const void *tuple,
                     uint32_t tuple_bytes,
                     uint64_t timeout_ns);

#endif
