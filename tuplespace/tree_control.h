/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The tree control of a segment: how an operator tells a running process which
 * collective trees he wants, and how the process tells which it uses.
 *
 *   desired  text of tree rules (tree_rules.h), written from outside, version by
 *            version; each is the whole that is to hold, with its hosts
 *   log      trees that were in force, one entry a communicator and version, written
 *            by the process
 *
 * The desired rules are read by rank 0 of a communicator, at the operation that all its
 * ranks have agreed on beforehand; it passes the rules on to the others, so nobody sees
 * a set of rules half done (wrappers/trees/rules.h).  A process without trees has
 * no tree control.
 *
 * One process may write the log and read the desired rules while one other writes the
 * desired rules (a lock refuses more than one) and any number read.  A writer that dies
 * leaves the former rules in force.
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

/* One tree, from one instance on. */
struct esi_tree_log_entry {
    uint16_t communicator; /* index in the segment's table */
    uint16_t reserved;     /* 0 */
    uint32_t version; /* of the rules: what tuples of the tree carry in their tag */
    uint32_t first_instance; /* of the communicator's operations under these rules */
    uint32_t operations;     /* bits of tree_rules.h that the rule is for */
    uint64_t min_bytes;
    uint64_t max_bytes;
    uint64_t since_ticks; /* when the process switched; its clock */
    char name[32];        /* of the rule */
    char text[88];        /* the rule in short, cut */
};

/* --- The process's side ----------------------------------------------------------- */

/* Adds a control to the segment, if it has none.  -ENOSPC. */
int esi_segment_add_tree_control(struct es_segment *segment);

/* Version of the newest desired rules; 0 = there was none, or no control.  One
 * acquire load. */
uint32_t esi_tree_desired_version(const struct es_segment *segment);

/* Copies the newest desired rules; `out` has ES_TREE_DESIRED_BYTES.  Returns its
 * version, or 0 when there is none (also while it is being written: ask again at the
 * next agreement). */
uint32_t esi_tree_desired_read(const struct es_segment *segment, char *out);

/* Adds an entry; the oldest makes room. */
void esi_tree_log_add(struct es_segment *segment,
                      const struct esi_tree_log_entry *entry);

/* --- The others' side ------------------------------------------------------------- */

/* Whether the process can change its trees. */
bool esi_segment_view_has_trees(const struct es_segment_view *segment);

/* Writes desired rules.  Returns its version, which counts up from 1; -ENOENT: no
 * control; -EMSGSIZE; -EBUSY: somebody else is writing one. */
int esi_segment_view_desired(struct es_segment_view *segment, const char *text);

/* Version of the newest desired rules; 0 = none. */
uint32_t esi_segment_view_desired_version(const struct es_segment_view *segment);

/* Copies the newest desired rules and its version; 0 = none.  `out` has
 * ES_TREE_DESIRED_BYTES. */
uint32_t esi_segment_view_read_desired(const struct es_segment_view *segment,
                                       char *out);

/* Entries of the log, the oldest first; at most `max`.  Returns their number. */
size_t esi_segment_view_tree_log(const struct es_segment_view *segment,
                                 struct esi_tree_log_entry *ret_entries,
                                 size_t max);

/*
 * The bytes of a tree control, in the arena of its segment:
 *
 *   header | desired rules, even versions | desired rules, odd versions | log
 *
 * Desired rules are written into the place that those in force does not stand in, and
 * comes into force with its version.  So a writer that dies leaves nothing half done,
 * and a reader that was too slow sees it from the version.  The log is a ring; one slot
 * more than it shows is the one being written.
 *
 * Text and entries are copied word by word, since the other side may write meanwhile.
 */
#define ES_TREE_LOG_SLOTS (ES_TREE_LOG_ENTRIES + 1)

struct esi_tree_control_layout {
    /* Constant; the process writes them. */
    alignas(ES_CACHE_LINE) uint32_t header_bytes; /* sizeof as the process knows it */
    uint32_t desired_bytes;                       /* of each of the two places */
    uint32_t entry_bytes;
    uint32_t log_slots;

    /* Whoever holds `writer` writes these. */
    alignas(ES_CACHE_LINE) _Atomic uint32_t
        desired_version;                /* 0 = none yet (release) */
    _Atomic uint32_t desired_length[2]; /* of the text in each place, without its end */
    uint32_t reserved;
    _Atomic uint64_t writer; /* who writes them: see ES_READER_PID_BITS; 0 = nobody */

    /* The process. */
    alignas(ES_CACHE_LINE) _Atomic uint64_t log_head; /* entries ever (release) */
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
