/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Estimates of clocks as JSON.
 *
 *   {"run_base": NS, "breaks": N, "drift": PPB, "drift_error": PPB, "wander": PPB,
 *    "knots": [LOCAL, OFFSET, ERROR, BOW,  LATER, OFFSET CHANGE, ERROR, BOW, ...]}
 *
 * Of the first knot its local time and offset stand there, of the others what has been
 * added since the one before.
 */
#ifndef ES_SCOPES_REMOTE_CLOCK_WIRE_H
#define ES_SCOPES_REMOTE_CLOCK_WIRE_H

#include "base/clock_estimate.h"
#include "base/clock_fit.h"
#include "base/json_out.h"
#include "pathmap/message.h"

/* Writes an estimate as a member of an object. */
void esi_clock_estimate_write(const struct esi_clock_estimate *estimate,
                              struct esi_json_out *out,
                              const char *key);
/* Reads it.  -EINVAL with words: it is not one, or not a sensible one. */
int esi_clock_estimate_read(const struct es_member *member,
                            struct es_error *error,
                            struct esi_clock_estimate *ret_estimate);

/* The local time of the last knot, by which one tells what another one knows of an
 * estimate; -1: nothing. */
int64_t esi_clock_estimate_newest(const struct esi_clock_estimate *estimate);

/* Takes the home server's times from its answer to a request "clock" that went out at
 * `sent_ns` and came back at `received_ns`. */
int esi_clock_exchange_read(const struct es_member *reply,
                            uint64_t sent_ns,
                            uint64_t received_ns,
                            struct es_error *error,
                            struct esi_clock_exchange *ret_exchange,
                            uint64_t *ret_run_base_ns);

#endif
