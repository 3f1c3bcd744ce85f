/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The writing side of a segment: the observed process creates it, and adds elements and
 * communicators as they come into being.
 *
 * Thread safe.  After fork() the child has no segment and must not call these
 * functions.
 */
#ifndef ES_TUPLESPACE_SEGMENT_H
#define ES_TUPLESPACE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/layout.h"
#include "tuplespace/writer.h"

struct es_segment;

/* For segments held by a tuple server: the process to which the elements belong. */
struct esi_segment_keeping {
    int pid; /* 0 for this process */
    int rank;
    int size;
    const struct es_clock *clock; /* NULL for the clock of this process; borrowed */
};

struct esi_segment_config {
    const char *run;      /* run id: see esi_run_id_is_valid() */
    const char *host;     /* 1 to 63 characters */
    const char *program;  /* may be "" */
    const char *job;      /* may be "" */
    const char *launcher; /* may be "" */
    int rank;             /* -1 if not known yet */
    int size;             /* -1 if not known yet */
    uint64_t spawn;       /* identifies the call that spawned
                             it; 0 if it was launched */
    uint32_t max_elements;
    uint32_t max_communicators;
    uint64_t arena_bytes;                      /* upper bound for rings and groups, in
                                                  address space rather than memory */
    uint64_t calibrate_ns;                     /* time budget of es_clock_calibrate() */
    uint32_t keep_free_percent;                /* percentage of the file system
                                                  that this segment leaves free; 0 for
                                                  a quarter of what is free now */
    bool continues;                            /* the segment that `eventspace exec`
                                                  made, if there is one */
    const struct esi_segment_keeping *keeping; /* NULL for this process; borrowed */
};

/* If address space is limited (RLIMIT_AS), a segment takes at most this fraction of
 * what is left, and reduces arena, directory and table. */
#define ES_SEGMENT_ADDRESS_SHARE 8

/* Initializes the defaults: 4,096 elements, 65,535 communicators, 1 GiB of address
 * space, 2 ms.  An element takes 384 bytes of the directory, a communicator 144 bytes
 * of the table; both are reserved page by page when needed. */
void esi_segment_config_init(struct esi_segment_config *config);

/* Creates "/eventspace.RUN.HOST.RANK.PID" in POSIX shared memory with mode 0600, and
 * registers the process for membarrier(2), which readers use.  Replaces a segment of
 * that name, left by an earlier program of this process (before exec) or of this pid.
 * If anything else has the name, the segment is called
 * "/eventspace.RUN.HOST.RANK.PID+OTHER" with eight random digits.
 *
 * Returns 0; -EINVAL for an invalid name; -ENOSPC if not even the header fits; -ENOMEM
 * if not even the smallest segment (1 MiB) fits into its share of the address space; or
 * an error of shm_open(3) such as -ENAMETOOLONG or -EACCES.  No descriptor stays
 * open. */
int esi_segment_create(const struct esi_segment_config *config,
                       struct es_error *error,
                       struct es_segment **ret_segment);

/* Unmaps the segment; the file remains for readers.  Accepts NULL. */
void esi_segment_close(struct es_segment *segment);

/* Unmaps the segment, and removes the file if its name still refers to it.  Accepts
 * NULL. */
void esi_segment_destroy(struct es_segment *segment);

/* Removes the file if its name still refers to it; the mapping remains.  Accepts
 * NULL. */
void esi_segment_remove(struct es_segment *segment);

struct esi_segment_layout *esi_segment_layout(struct es_segment *segment);

/* Returns whether the segment has another name because something that is not a segment
 * of this process had its name, and the user who owns that. */
bool esi_segment_has_rival(const struct es_segment *segment, unsigned int *ret_user);

/* The world rank of the first process of the world that the call with this mark
 * spawned, from a living process of that world on this host.  Returns -ENOENT if there
 * is none. */
int esi_segment_find_spawned(const char *run, uint64_t spawn);

/* The resource that is short when an element is shrunk or refused: "space in /dev/shm",
 * or the limit of the process that made the segment small. */
const char *esi_segment_shortage(const struct es_segment *segment);

/* Size and free space of the file system that contains the segments. */
struct esi_segment_room {
    uint64_t total_bytes;
    uint64_t free_bytes;
};
/* Returns 0, or -errno of statvfs(3). */
int esi_segment_find_room(struct esi_segment_room *ret_room);
/* Returns whether `percent` of it remains free after taking `bytes`. */
bool esi_segment_room_keeps(const struct esi_segment_room *room,
                            uint64_t bytes,
                            uint32_t percent);

/* Space taken by an element without call sites: that of its ring. */
uint64_t esi_segment_ring_bytes(uint32_t threshold, uint32_t tuple_bytes);

/* Sets rank and size once MPI knows them.  The file keeps its name. */
void esi_segment_set_rank(struct es_segment *segment, int rank, int size);

void esi_segment_set_state(struct es_segment *segment, enum esi_segment_state state);

struct esi_element_config {
    enum esi_element_kind kind;
    const char *name;      /* unique in the segment, under 64 bytes */
    const char *collector; /* under 32 bytes */
    int rank;
    int thread;
    uint32_t classes;
    int peer;              /* ES_PEER_NONE for any */
    uint16_t communicator; /* ES_COMMUNICATOR_NONE for any */
    uint32_t tuple_bytes;  /* multiple of 4, 4 to 65,532; trace elements: 36 */
    uint32_t threshold;    /* 1 to 2^24 */
    enum esi_on_full on_full;
    bool enabled;
    bool sites; /* trace elements: the ring has a column of call sites */
};

/* Adds an element and reserves its space.  If space is short, halves the threshold,
 * down to 15, and counts the element as shrunk.  `ret_writer` may be NULL for shared
 * elements.  Returns 0; -ENOSPC if it does not fit or the directory is full (counted as
 * refused); or -EEXIST if an element has that name.  O(elements). */
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
    bool keep_list; /* store the list of members in this segment if it is not strided */
};

/* Adds a communicator.  Returns 0, or -ENOSPC if the table or the space is full
 * (counted as refused). */
int esi_segment_add_communicator(struct es_segment *segment,
                                 const struct esi_communicator_config *config,
                                 uint16_t *ret_index);

void esi_segment_name_communicator(struct es_segment *segment,
                                   uint16_t index,
                                   const char *name);

void esi_segment_free_communicator(struct es_segment *segment, uint16_t index);

/*
 * Indices of communicators are reused, so that a program that creates and frees
 * communicators all the time does not fill the table.  Tuples name communicators by
 * index, so an index may only be reused if
 *
 * - the process has released it: it writes no more tuples that name it, except those
 *   that it knows of (esi_segment_sweep_communicators());
 * - no slot of a ring names it, open tuples included, and no entry as its parent;
 * - nobody who has attached the segment has read from it and may remember the old one.
 */
void esi_segment_release_communicator(struct es_segment *segment, uint16_t index);

/* Returns whether enough indices were released to justify a sweep, which scans all
 * rings. */
bool esi_segment_should_sweep(struct es_segment *segment);

enum { ES_COMMUNICATOR_BITS_BYTES = 65536 / 8 };

/* Finds the indices that may be reused.  `in_use` has a bit for each released index
 * (bit i % 8 of byte i / 8) that the process may still write into tuples; it is
 * modified.  No other thread may be writing tuples. */
void esi_segment_sweep_communicators(struct es_segment *segment,
                                     uint8_t in_use[ES_COMMUNICATOR_BITS_BYTES]);

/* How long a writer of a shared element waits for another writer inside. */
#define ES_SHARED_LOCK_NS UINT64_C(2000000000)

/* Appends to a shared element, from any thread of any process that has attached it.
 * `writer` contains the checked element and ring; its head is not used.  `tuple_bytes`
 * is that of the element.  If a writer died inside, its half-written tuple is
 * discarded.
 *
 * Returns 0; -EBUSY if another writer was inside for ES_SHARED_LOCK_NS; or -EAGAIN if
 * the element blocks and its registered reader did not make room within `timeout_ns`.
 * May sleep, so it must not be used to record operations. */
int esi_shared_write(struct esi_writer *writer,
                     const void *tuple,
                     uint32_t tuple_bytes,
                     uint64_t timeout_ns);

#endif
