/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The clocks of a run's hosts, as one tuple server or consumer knows them.
 *
 * A host's clock is made when it is first asked for, and stays until the board goes:
 * origins borrow it, and convert by it as soon as something is known.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_REMOTE_CLOCK_BOARD_H
#define ES_SCOPES_REMOTE_CLOCK_BOARD_H

#include "base/clock_estimate.h"
#include "base/host_clock.h"

struct es_clock_board;

int es_clock_board_create(struct es_clock_board **ret_board);
/* Accepts NULL. */
void es_clock_board_destroy(struct es_clock_board *board);

/* The clock of this host; NULL: no memory, or `board` is NULL.  Borrowed. */
const struct es_host_clock *es_clock_board_get(struct es_clock_board *board,
                                               const char *host);

/* Puts in what is known of it by now.  -ENOMEM. */
int es_clock_board_set(struct es_clock_board *board,
                       const char *host,
                       const struct es_clock_estimate *estimate);

/* What was put in last; false: nothing was. */
bool es_clock_board_find(struct es_clock_board *board,
                         const char *host,
                         struct es_clock_estimate *ret_estimate);

/* The newest knot of that and the drift since, without the rest. */
bool esi_clock_board_newest(struct es_clock_board *board,
                            const char *host,
                            struct es_clock_knot *ret_knot,
                            struct es_clock_drift *ret_drift);

/* Visits all hosts that were asked for or put in; the estimate of those of which
 * nothing is known has no knots.  Borrowed until the visit returns, which must not call
 * the board.  What it returns other than 0 ends the visits and is returned. */
int es_clock_board_foreach(struct es_clock_board *board,
                           int (*visit)(void *data,
                                        const char *host,
                                        const struct es_clock_estimate *estimate),
                           void *data);

#endif
