/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The clocks of a run's hosts, as one tuple server or consumer knows them.
 *
 * A host's clock is made when it is first asked for, and stays until the registry goes:
 * origins borrow it, and convert by it as soon as something is known.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_REMOTE_CLOCK_REGISTRY_H
#define ES_SCOPES_REMOTE_CLOCK_REGISTRY_H

#include "base/clock_estimate.h"
#include "base/host_clock.h"

struct esi_clock_registry;

int esi_clock_registry_create(struct esi_clock_registry **ret_board);
/* Accepts NULL. */
void esi_clock_registry_destroy(struct esi_clock_registry *registry);

/* The clock of this host; NULL: no memory, or `registry` is NULL.  Borrowed. */
const struct es_host_clock *esi_clock_registry_get(struct esi_clock_registry *registry,
                                                   const char *host);

/* Puts in what is known of it by now.  -ENOMEM. */
int esi_clock_registry_set(struct esi_clock_registry *registry,
                           const char *host,
                           const struct esi_clock_estimate *estimate);

/* What was put in last; false: nothing was. */
bool esi_clock_registry_find(struct esi_clock_registry *registry,
                             const char *host,
                             struct esi_clock_estimate *ret_estimate);

/* The newest knot of that and the drift since, without the rest. */
bool esi_clock_registry_newest(struct esi_clock_registry *registry,
                               const char *host,
                               struct esi_clock_knot *ret_knot,
                               struct esi_clock_drift *ret_drift);

/* Visits all hosts that were asked for or put in; the estimate of those of which
 * nothing is known has no knots.  Borrowed until the visit returns, which must not call
 * the registry.  What it returns other than 0 ends the visits and is returned. */
int esi_clock_registry_foreach(struct esi_clock_registry *registry,
                               int (*visit)(void *data,
                                            const char *host,
                                            const struct esi_clock_estimate *estimate),
                               void *data);

#endif
