/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The tree control of a segment: an operator tells a running process which collective
 * trees to use, and the process reports which trees it uses.
 *
 *   desired  text of tree rules (tree_rules.h), written by the operator.  Each version
 *            contains the complete rules, with the hosts.
 *   log      trees in force, one entry for each communicator and version, written by
 *            the process
 *
 * Rank 0 of a communicator reads the desired rules, at an operation on which all its
 * ranks have agreed before.  It passes the rules to the others, so all of them use the
 * same complete rules (wrappers/trees/rules.h).  A process without trees has no tree
 * control.
 *
 * One process may write the log and read the desired rules, while one other process
 * writes the desired rules (a lock refuses a second one) and any number read.  If a
 * writer dies, the previous rules remain in force.
 */
#ifndef ES_TUPLESPACE_TREE_CONTROL_H
#define ES_TUPLESPACE_TREE_CONTROL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuplespace/layout.h"

struct es_segment;
struct es_segment_view;

#define ES_TREE_DESIRED_BYTES 65536u
#define ES_TREE_LOG_ENTRIES 256u

/* A tree, and the instance from which on it is used. */
struct esi_tree_log_entry {
    uint16_t communicator;   /* index in the segment's table */
    uint16_t reserved;       /* 0 */
    uint32_t version;        /* of the rules; tuples of the tree have it in their tag */
    uint32_t first_instance; /* of the communicator's operations under these rules */
    uint32_t operations;     /* operations of the rule: bits of tree_rules.h */
    uint64_t min_bytes;
    uint64_t max_bytes;
    uint64_t since_ticks; /* when the process switched, by its clock */
    char name[32];        /* of the rule */
    char text[88];        /* the rule in short form, truncated */
};

/* --- The observed process --------------------------------------------------------- */

/* Adds a tree control to the segment, if it has none.  Returns 0 or -ENOSPC. */
int esi_segment_add_tree_control(struct es_segment *segment);

/* Version of the newest desired rules; 0 if there are none, or no control.  One acquire
 * load. */
uint32_t esi_tree_desired_version(const struct es_segment *segment);

/* Copies the newest desired rules to `out`, which has ES_TREE_DESIRED_BYTES.  Returns
 * their version; or 0 if there are none or they are being written, and then the caller
 * tries again at the next agreement. */
uint32_t esi_tree_desired_read(const struct es_segment *segment, char *out);

/* Adds an entry to the log, replacing the oldest if it is full. */
void esi_tree_log_add(struct es_segment *segment,
                      const struct esi_tree_log_entry *entry);

/* --- Observers -------------------------------------------------------------------- */

/* Returns whether the process can change its trees. */
bool esi_segment_view_has_trees(const struct es_segment_view *segment);

/* Writes desired rules.  Returns their version, counted from 1; -ENOENT if there is no
 * control; -EMSGSIZE; or -EBUSY if another process is writing. */
int esi_segment_view_desired(struct es_segment_view *segment, const char *text);

/* Version of the newest desired rules; 0 if none. */
uint32_t esi_segment_view_desired_version(const struct es_segment_view *segment);

/* Copies the newest desired rules to `out`, which has ES_TREE_DESIRED_BYTES.  Returns
 * their version; 0 if there are none. */
uint32_t esi_segment_view_read_desired(const struct es_segment_view *segment,
                                       char *out);

/* Copies at most `max` entries of the log, oldest first.  Returns their number. */
size_t esi_segment_view_tree_log(const struct es_segment_view *segment,
                                 struct esi_tree_log_entry *ret_entries,
                                 size_t max);

/*
 * The memory layout of a tree control in the arena of its segment:
 *
 *   header | desired rules, even versions | desired rules, odd versions | log
 *
 * Desired rules are written to the place that is not in force, and come into force with
 * their version.  A writer that dies thus leaves no partial rules, and a slow reader
 * detects a change by the version.  The log is a ring; it has one more slot than it
 * shows, for the entry being written.
 *
 * Text and entries are copied word by word, because the other side may be writing.
 */
#define ES_TREE_LOG_SLOTS (ES_TREE_LOG_ENTRIES + 1)

struct esi_tree_control_layout {
    /* Constant.  Written by the process. */
    alignas(ES_CACHE_LINE) uint32_t header_bytes; /* size of this struct as
                                                     compiled into the process */
    uint32_t desired_bytes;                       /* of each of the two places */
    uint32_t entry_bytes;
    uint32_t log_slots;

    /* Written by the holder of `writer`. */
    alignas(ES_CACHE_LINE) _Atomic uint32_t
        desired_version;                /* 0 if there are none yet (release) */
    _Atomic uint32_t desired_length[2]; /* length of the text in each
                                           place, without terminator */
    uint32_t reserved;
    _Atomic uint64_t writer; /* the process that writes them: see
                                ES_READER_PID_BITS; 0 if none */

    /* Written by the process. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t log_head; /* entries written since
                                                         creation (release) */
};

_Static_assert(sizeof(struct esi_tree_control_layout) == 3 * ES_CACHE_LINE,
               "three lines");
_Static_assert(sizeof(struct esi_tree_log_entry) == 160, "whole words, no holes");
_Static_assert(ES_TREE_DESIRED_BYTES % 4 == 0, "whole words");

static inline uint64_t esi_tree_control_bytes(uint64_t header_bytes,
                                              uint64_t desired_bytes,
                                              uint64_t entry_bytes,
                                              uint64_t log_slots)
{
    return header_bytes + 2 * desired_bytes + entry_bytes * log_slots;
}

#endif
