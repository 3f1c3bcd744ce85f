/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The matches of the time repair: a send and its receive, the members of a collective
 * operation, or both ends of a tree's edge.
 *
 * Matches are records of a table of ends (ends.h). Complete matches are removed when
 * they have no users; of the others, the oldest is removed if there are too many.
 */
#ifndef ES_MONITORS_EVENTS_TIME_MATCH_H
#define ES_MONITORS_EVENTS_TIME_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/follow/ends.h"

/* The state of the ends of one key. */
struct esi_time_match {
    struct esi_end end;
    uint32_t members_left; /* ends not seen yet */
    uint32_t befores_left; /* starts not known yet */
    uint32_t members;
    uint64_t latest_ns; /* of the known starts */
    uint64_t error_ns;  /* error bound of its clock */
    bool told;          /* at least one start is known */
    uint64_t waiting;   /* for the user; initially 0 */
    uint32_t users;     /* the match is kept while this is not 0 */
};

/* Finds or creates the match of a key and counts one more end: one of `members`, of
 * which `befores` provide their start.  Returns NULL with *ret_result 0 if all its ends
 * had been seen, or if other ends specify a different number; with -ENOMEM if out of
 * memory.  Borrowed until its last user leaves it. */
struct esi_time_match *esi_time_match_meet(struct esi_ends *matches,
                                           const struct esi_ends_key *key,
                                           uint32_t members,
                                           uint32_t befores,
                                           int *ret_result);

/* Removes a user; the match is removed if it has no users and all its ends were
 * seen. */
void esi_time_match_leave(struct esi_ends *matches, struct esi_time_match *match);

#endif
