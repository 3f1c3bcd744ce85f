/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Finds the ends of what joins processes: a send and its receive, the members of a
 * collective operation, both ends of a tree's edge.
 *
 * The ends name what they belong to by a key that all of them can tell.  Streaming:
 * what is complete is forgotten, and so is the oldest of what is not, when there is too
 * much of it.  Pure logic.
 *
 *   one matcher is one thread's at a time.
 */
#ifndef ES_MONITORS_EVENTS_TIME_MATCH_H
#define ES_MONITORS_EVENTS_TIME_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum es_match_kind {
    ES_MATCH_MESSAGE = 1,
    ES_MATCH_COLLECTIVE,
    ES_MATCH_EDGE_UP, /* of a collective tree */
    ES_MATCH_EDGE_DOWN,
};

/* What all ends have in common.  Compared byte for byte: begin with all zeros. */
struct es_match_key {
    uint64_t communicator[2]; /* its run-wide key */
    int32_t source;           /* world ranks; collectives: 0 */
    int32_t destination;
    int32_t tag;
    uint32_t sequence;
    uint32_t kind; /* enum es_match_kind */
    uint32_t reserved;
};

_Static_assert(sizeof(struct es_match_key) == 40,
               "no padding: keys are compared whole");

/* What is known of the ends of one key. */
struct es_match {
    struct es_match_key key;
    uint32_t members_left; /* ends that were not seen */
    uint32_t befores_left; /* starts that are still to be told */
    uint32_t members;
    uint64_t latest_ns;    /* of the starts that were told */
    uint64_t error_ns;     /* bound of the clock behind it */
    bool told;             /* at least one was */
    uint64_t waiting;      /* of the user's, as is the next; 0 at first */
    uint32_t users;        /* while not 0, the match stays */
    struct es_match *next; /* in its chain of the table */
    struct es_match *older;
    struct es_match *newer;
};

struct es_time_matcher;

/* `max`: matches that are kept though no one uses them. */
int es_time_matcher_create(size_t max, struct es_time_matcher **ret_matcher);
/* Accepts NULL. */
void es_time_matcher_destroy(struct es_time_matcher *matcher);

/* The match of a key, made if need be, with one end more seen: of `members`, `befores`
 * of which tell their start.  NULL with *ret_result 0: all its ends had been seen, or
 * others say that it has another number of them; with -ENOMEM: out of memory.  Borrowed
 * until its last user leaves it. */
struct es_match *es_time_matcher_meet(struct es_time_matcher *matcher,
                                      const struct es_match_key *key,
                                      uint32_t members,
                                      uint32_t befores,
                                      int *ret_result);

/* A user leaves: the match is forgotten if no one uses it and all its ends were seen.
 */
void es_time_matcher_leave(struct es_time_matcher *matcher, struct es_match *match);

#endif
