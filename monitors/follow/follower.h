/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * follower.h - follows a run: a scope that elements join as they appear, and whether
 * anybody is left who could write.
 *
 *     esi_follower_open(&config, &error, &follower);
 *     do {
 *         over = esi_follower_is_over(follower);
 *         esi_follower_refresh(follower, over);
 *         more = esi_follower_pull(follower, over ? ES_PULL_DRAIN : 0, &batch);
 *         (use the batch, pause where there is no more)
 *     } while (more > 0 || (more == 0 && !over));
 *     esi_follower_read_open(follower, take, NULL, data);
 *     esi_follower_close(follower);
 *
 * Works on runs that live, hang or are dead.
 *
 *   one thread at a time.
 */
#ifndef ES_MONITORS_FOLLOW_FOLLOWER_H
#define ES_MONITORS_FOLLOW_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/scope.h"

struct esi_follower_config {
    struct es_run *run;           /* borrowed until the end */
    struct es_scope_config scope; /* texts borrowed for the call */
    uint64_t refresh_ns; /* elements that appear are looked for so often at most, but at
                            once those of processes of this host that are known */
    uint64_t soon_ns;    /* the same before the first and shortly after the last one has
                         appeared; 0 = refresh_ns */
    /* Called once for each element in the order of their numbers, before tuples of it
     * are seen; NULL = nothing.  After a negative result, which is returned to the
     * caller of the follower, it is called again for the same element. */
    int (*on_origin)(void *data, uint32_t number, const struct es_origin *origin);
    void *data;
};

struct esi_follower;

/* Opens the scope; elements that are there are reported by the first refresh or pull.
 * -EINVAL with words where the view is not understood. */
int esi_follower_open(const struct esi_follower_config *config,
                      struct es_error *error,
                      struct esi_follower **ret_follower);
/* Accepts NULL. */
void esi_follower_close(struct esi_follower *follower);

/* Borrowed; for origins, times and costs, and to reconfigure it.  To be refreshed and
 * pulled by the follower only. */
struct es_scope *esi_follower_scope(const struct esi_follower *follower);

/* Lets elements join that have appeared, if it is time for that or `now`.  1: it was
 * done; 0: it is not time; or -errno. */
int esi_follower_refresh(struct esi_follower *follower, bool now);

/* Pulls once, with flags of enum es_pull_flags.  The batch is borrowed until the next
 * call.  1 when there is more to be had at once, else 0, or -errno. */
int esi_follower_pull(struct esi_follower *follower,
                      unsigned flags,
                      const struct es_batch **ret_batch);

/* Gets an operation under way; `origin` is a number of the follower's scope.  `site` is
 * 0 unless the scope asks for sites. */
typedef int (*esi_follower_open_fn)(void *data,
                                    uint32_t origin,
                                    const struct es_tuple *tuple,
                                    uint64_t site);

/* Gets an element that is switched off. */
typedef void (*esi_follower_off_fn)(void *data, uint32_t origin);

/* Reports the operations under way, also those that ended processes were in, and,
 * unless `take_off` is NULL, the elements that are switched off.  Returns 0, -errno, or
 * the negative result that ended it. */
int esi_follower_read_open(struct esi_follower *follower,
                           esi_follower_open_fn take,
                           esi_follower_off_fn take_off,
                           void *data);

/* A communicator of the origin's process; NULL = not known, or no memory.  It is asked
 * for once, so its name is that of the first time.  Borrowed until the next call. */
const struct es_communicator_info *esi_follower_communicator(
    struct esi_follower *follower,
    uint32_t origin,
    uint16_t communicator);

/* --- Status ----------------------------------------------------------------------- */

/* Hosts that did not deliver in the last pull; borrowed until the next. */
size_t esi_follower_notices(const struct esi_follower *follower,
                            const struct es_notice **ret_notices);

/* Tuples lost while reading, and those that were gone before the reading began. */
void esi_follower_losses(const struct esi_follower *follower,
                         uint64_t *ret_lost,
                         uint64_t *ret_missed);

/* Whether no process of the run is left that could write, as far as the run's segments
 * here and the scope's elements elsewhere tell.  As long as none is known and a tuple
 * server lives the run has not begun. */
bool esi_follower_is_over(const struct esi_follower *follower);

/* Whether all processes that may still live are on other hosts of which nothing was
 * heard for ten seconds. */
bool esi_follower_has_lost_contact(const struct esi_follower *follower);

/* Run time at which the run began, as its first process saw it: the earliest pairing
 * of all segments here, selected or not, and of the elements on other hosts. */
uint64_t esi_follower_start_ns(const struct esi_follower *follower);

#endif
