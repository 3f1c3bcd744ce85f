/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the repair of times knows of a send and its receive, of the members of a
 * collective operation, of both ends of a tree's edge.
 *
 * Matches are records of a table of ends (ends.h).  Those that are complete are
 * forgotten when nobody uses them, and so is the oldest of the others when there are
 * too many.
 */
#ifndef ES_MONITORS_EVENTS_TIME_MATCH_H
#define ES_MONITORS_EVENTS_TIME_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/follow/ends.h"

enum esi_match_kind {
    ES_MATCH_MESSAGE = 1,
    ES_MATCH_COLLECTIVE,
    ES_MATCH_EDGE_UP, /* of a collective tree */
    ES_MATCH_EDGE_DOWN,
};

/* What is known of the ends of one key. */
struct esi_time_match {
    struct esi_end end;
    uint32_t members_left; /* ends that were not seen */
    uint32_t befores_left; /* starts that are still to be told */
    uint32_t members;
    uint64_t latest_ns; /* of the starts that were told */
    uint64_t error_ns;  /* bound of the clock behind it */
    bool told;          /* at least one was */
    uint64_t waiting;   /* of the user's; 0 at first */
    uint32_t users;     /* while not 0, the match stays */
};

/* The match of a key, made if need be, with one end more seen: of `members`, `befores`
 * of which tell their start.  NULL with *ret_result 0: all its ends had been seen, or
 * others say that it has another number of them; with -ENOMEM: out of memory.  Borrowed
 * until its last user leaves it. */
struct esi_time_match *esi_time_match_meet(struct esi_ends *matches,
                                           const struct esi_ends_key *key,
                                           uint32_t members,
                                           uint32_t befores,
                                           int *ret_result);

/* A user leaves: the match is forgotten if no one uses it and all its ends were seen.
 */
void esi_time_match_leave(struct esi_ends *matches, struct esi_time_match *match);

#endif
