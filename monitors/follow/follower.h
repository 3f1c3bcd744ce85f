/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * follower.h - follows a run: a scope to which new elements are added, and a check
 * whether the run is over.
 *
 *     esi_follower_open(&config, &error, &follower);
 *     do {
 *         over = esi_follower_is_over(follower);
 *         esi_follower_refresh(follower, over);
 *         more = esi_follower_pull(follower, over ? ES_PULL_DRAIN : 0, &batch);
 *         (use the batch; pause if there is no more)
 *     } while (more > 0 || (more == 0 && !over));
 *     esi_follower_read_open(follower, take, NULL, data);
 *     esi_follower_close(follower);
 *
 * Works on live, hanging and dead runs.
 *
 * One thread at a time.
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
    uint64_t refresh_ns; /* minimum time between searches for new elements; those of
                            known processes of this host are found at once */
    uint64_t soon_ns;    /* the same before the first and shortly after the last new
                            element; 0 = refresh_ns */
    /* Called once for each element in the order of their numbers, before its tuples are
     * delivered; NULL = none.  A negative result is returned to the caller of the
     * follower; then the function is called again for the same element. */
    int (*on_origin)(void *data, uint32_t number, const struct es_origin *origin);
    void *data;
};

struct esi_follower;

/* Opens the scope; existing elements are reported by the first refresh or pull.
 * Returns 0, or -EINVAL with `error` filled if the view is invalid. */
int esi_follower_open(const struct esi_follower_config *config,
                      struct es_error *error,
                      struct esi_follower **ret_follower);
/* Accepts NULL. */
void esi_follower_close(struct esi_follower *follower);

/* Borrowed; for origins, times, costs, and reconfiguration.  Only the follower may
 * refresh and pull it. */
struct es_scope *esi_follower_scope(const struct esi_follower *follower);

/* Adds new elements, if it is time to do so or `now` is set.  Returns 1 if it did, 0 if
 * it is not time, or -errno. */
int esi_follower_refresh(struct esi_follower *follower, bool now);

/* Pulls once, with flags of enum es_pull_flags.  The batch is borrowed until the next
 * call.  Returns 1 if more data is available, 0 if not, or -errno. */
int esi_follower_pull(struct esi_follower *follower,
                      unsigned flags,
                      const struct es_batch **ret_batch);

/* Receives an operation in progress; `origin` is a number in the follower's scope.
 * `site` is 0 unless the scope requests sites. */
typedef int (*esi_follower_open_fn)(void *data,
                                    uint32_t origin,
                                    const struct es_tuple *tuple,
                                    uint64_t site);

/* Receives an element that is switched off. */
typedef void (*esi_follower_off_fn)(void *data, uint32_t origin);

/* Reports the operations in progress, including the last operations of dead processes,
 * and, unless `take_off` is NULL, the elements that are switched off.  Returns 0,
 * -errno, or the negative result that ended it. */
int esi_follower_read_open(struct esi_follower *follower,
                           esi_follower_open_fn take,
                           esi_follower_off_fn take_off,
                           void *data);

/* A communicator of the origin's process; NULL if not known, or out of memory.  Cached,
 * so later changes of its name are not seen.  Borrowed until the next call. */
const struct es_communicator_info *esi_follower_communicator(
    struct esi_follower *follower,
    uint32_t origin,
    uint16_t communicator);

/* --- Status ----------------------------------------------------------------------- */

/* Hosts that did not deliver in the last pull; borrowed until the next. */
size_t esi_follower_notices(const struct esi_follower *follower,
                            const struct es_notice **ret_notices);

/* Tuples lost while reading, and those overwritten before the reading began. */
void esi_follower_losses(const struct esi_follower *follower,
                         uint64_t *ret_lost,
                         uint64_t *ret_missed);

/* Whether no process of the run is alive, as far as the segments on this host and the
 * scope's elements on others show.  If no process is known and a tuple server is alive,
 * the run has not begun. */
bool esi_follower_is_over(const struct esi_follower *follower);

/* Whether all processes that may be alive are on other hosts that have not answered for
 * ten seconds. */
bool esi_follower_has_lost_contact(const struct esi_follower *follower);

/* Run time of the start of the run, according to its first process: the earliest
 * pairing of all segments on this host, selected or not, and of the elements on other
 * hosts. */
uint64_t esi_follower_start_ns(const struct esi_follower *follower);

#endif
