/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Which call completes what another one has started.
 *
 * A receive or a collective operation has a tuple that ends with the call that has
 * completed it.  The completion of other requests (`posts`: sends, accesses, ...) has
 * no tuple.  But the tuple of a call that completes requests has their number and, of a
 * wait, the first of them.  The only rule of who completes them:
 *
 * - A thread completes what it has started itself.  If several threads of a process use
 *   requests, that is an assumption.
 * - A wait for one request names it: it completes the oldest open one like it.
 * - MPI_Isendrecv sends until it has received.  A receive from MPI_PROC_NULL may have
 *   ended in its own call; nevertheless, a later call completes its request.
 * - Otherwise, the requests of a call that have no tuple are counted.  MPI_Waitall and
 *   the like complete all of them, calls for any or some of them at least one, if they
 *   complete nothing that has a tuple.  If as many are complete as are open, all are.
 * - If fewer are complete, it is not known which: each may be.  If more may be (an
 *   array with null requests, a wait that has failed or names nothing), all may be, and
 *   are forgotten; as they are if one was freed or cancelled, or tuples are missing.
 *
 * An array with as many null requests as there are open ones outside it is the only
 * case in which counting says something wrong.
 */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_COMPLETION_H
#define ES_MONITORS_CAUSALITY_CAUSAL_COMPLETION_H

#include "monitors/causality/causal_message.h"

/* Follows the requests of a thread, event by event.  `call` describes the event, which
 * is emitted; sets what it has completed.  Of all threads, at most `max` open requests
 * are kept.  Returns 0 or -ENOMEM. */
int esi_completion_follow(struct esi_matching *matching,
                          size_t max,
                          const struct esi_item *item,
                          const struct es_set_event *event,
                          struct esi_causal_call *call);

#endif
