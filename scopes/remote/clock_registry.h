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
#include "base/json_out.h"
#include "eventspace/clock.h"
#include "pathmap/message.h"

struct esi_clock_registry;

int esi_clock_registry_create(struct esi_clock_registry **ret_registry);
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

/* --- As JSON ---------------------------------------------------------------------- */

/*
 * Estimates of clocks as JSON.
 *
 *   {"run_base": NS, "breaks": N, "drift": PPB, "drift_error": PPB, "wander": PPB,
 *    "knots": [LOCAL, OFFSET, ERROR, BOW,  LATER, OFFSET CHANGE, ERROR, BOW, ...]}
 *
 * Of the first knot its local time and offset stand there, of the others what has been
 * added since the one before.
 */

/* Writes an estimate as a member of an object. */
void esi_clock_estimate_write(const struct esi_clock_estimate *estimate,
                              struct esi_json_out *out,
                              const char *key);
/* Reads it.  -EINVAL with words: it is not one, or not a sensible one. */
int esi_clock_estimate_read(const struct es_member *member,
                            struct es_error *error,
                            struct esi_clock_estimate *ret_estimate);

/* The local time of the last knot, which says how much of an estimate somebody knows;
 * -1: nothing. */
int64_t esi_clock_estimate_newest(const struct esi_clock_estimate *estimate);

/* Takes the home server's times from its answer to a request "clock" that went out at
 * `sent_ns` and came back at `received_ns`. */
int esi_clock_exchange_read(const struct es_member *reply,
                            uint64_t sent_ns,
                            uint64_t received_ns,
                            struct es_error *error,
                            struct esi_clock_exchange *ret_exchange,
                            uint64_t *ret_run_base_ns);

/* Writes a clock record as a member of an object. */
void esi_clock_write(const struct es_clock *clock,
                     struct esi_json_out *out,
                     const char *key);
/* Reads it.  -EINVAL with words: not a clock. */
int esi_clock_member_read(const struct es_member *member,
                          struct es_error *error,
                          struct es_clock *ret_clock);

#endif
