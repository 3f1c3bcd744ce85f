/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The clocks of the hosts of a run, as known to one tuple server or consumer.
 *
 * The clock of a host is created on its first use and lives as long as the registry,
 * because origins borrow it.  Conversions use estimates as soon as they are known.
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
/* Destroys the registry.  Accepts NULL. */
void esi_clock_registry_destroy(struct esi_clock_registry *registry);

/* The clock of this host, borrowed; NULL if out of memory or if `registry` is NULL. */
const struct es_host_clock *esi_clock_registry_get(struct esi_clock_registry *registry,
                                                   const char *host);

/* Stores the current estimate of the host's clock.  Returns 0 or -ENOMEM. */
int esi_clock_registry_set(struct esi_clock_registry *registry,
                           const char *host,
                           const struct esi_clock_estimate *estimate);

/* Copies the stored estimate; returns false if there is none. */
bool esi_clock_registry_find(struct esi_clock_registry *registry,
                             const char *host,
                             struct esi_clock_estimate *ret_estimate);

/* Like esi_clock_registry_find(), but only the newest knot and the drift since. */
bool esi_clock_registry_newest(struct esi_clock_registry *registry,
                               const char *host,
                               struct esi_clock_knot *ret_knot,
                               struct esi_clock_drift *ret_drift);

/* Visits all hosts that are in the registry; hosts without an estimate have one without
 * knots.  The estimate is borrowed until `visit` returns.  `visit` must not call the
 * registry.  A result of `visit` other than 0 ends the iteration and is returned. */
int esi_clock_registry_foreach(struct esi_clock_registry *registry,
                               int (*visit)(void *data,
                                            const char *host,
                                            const struct esi_clock_estimate *estimate),
                               void *data);

/* --- As JSON ---------------------------------------------------------------------- */

/*
 * Estimates of clocks as JSON.
 *
 *    {"run_base": NS, "breaks": N, "drift": PPB, "drift_error": PPB, "wander": PPB,
 *     "knots": [LOCAL, OFFSET, ERROR, BOW,  LATER, OFFSET CHANGE, ERROR, BOW, ...]}
 *
 * The first knot contains its local time and offset, the others the differences to the
 * previous knot.
 */

/* Writes an estimate as a member of an object. */
void esi_clock_estimate_write(const struct esi_clock_estimate *estimate,
                              struct esi_json_out *out,
                              const char *key);
/* Reads an estimate.  Returns 0, or -EINVAL with a text if it is malformed or not
 * plausible. */
int esi_clock_estimate_read(const struct es_member *member,
                            struct es_error *error,
                            struct esi_clock_estimate *ret_estimate);

/* The local time of the last knot, which tells how much of an estimate a peer knows; -1
 * if there is none. */
int64_t esi_clock_estimate_newest(const struct esi_clock_estimate *estimate);

/* Reads the home server's times from its reply to a "clock" request that was sent at
 * `sent_ns` and answered at `received_ns`. */
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
/* Reads a clock record.  Returns 0, or -EINVAL with a text. */
int esi_clock_member_read(const struct es_member *member,
                          struct es_error *error,
                          struct es_clock *ret_clock);

#endif
