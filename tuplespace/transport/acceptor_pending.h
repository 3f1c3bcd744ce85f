/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Connections that have not been greeted yet, all in one event loop.
 *
 * Strangers must neither use up threads and descriptors nor keep other clients out.
 * The number of pending connections is therefore limited, in total and for each network
 * address.  At the limit, a connection is dropped: the oldest of those refused and
 * lingering, else of those that have sent nothing, else of the others.  The fewer
 * places are left, the less time a peer has.
 *
 * Used by one thread.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ACCEPTOR_PENDING_H
#define ES_TUPLESPACE_TRANSPORT_ACCEPTOR_PENDING_H

#include <poll.h>
#include <stddef.h>

#include "tuplespace/transport/link.h"

enum {
    ESI_PENDING_MAX = 256,        /* in total */
    ESI_PENDING_ADDRESS_MAX = 64, /* per IPv4 address or IPv6 network (/64) */
};

struct esi_pending;

struct esi_pending_config {
    const struct esi_greeting *greeting; /* borrowed, like the key */
    const struct esi_run_key *key;
    /* A peer was greeted: takes ownership of the link. */
    void (*greeted)(void *data, struct es_link *link);
    /* A peer was refused or dropped; the link is borrowed. */
    void (*refused)(void *data, const struct es_link *link, const char *reason);
    void *data;
};

int esi_pending_create(const struct esi_pending_config *config,
                       struct esi_pending **ret_pending);
/* Closes all connections.  Accepts NULL. */
void esi_pending_destroy(struct esi_pending *pending);

/* Takes ownership of a link that was just accepted. */
void esi_pending_add(struct esi_pending *pending, struct es_link *link);
/* Drops the oldest connection to free its descriptor. */
void esi_pending_drop(struct esi_pending *pending);

size_t esi_pending_count(const struct esi_pending *pending);
/* Fills in the descriptors and events to wait for, at most ESI_PENDING_MAX.  Returns
 * their number. */
size_t esi_pending_poll(const struct esi_pending *pending, struct pollfd *out);
/* Time until the next deadline; -1 if there is none. */
int esi_pending_timeout_ms(const struct esi_pending *pending);
/* Continues connections that have received data or timed out.  `polled` is as filled in
 * by esi_pending_poll(); nothing may have been added since. */
void esi_pending_advance(struct esi_pending *pending, const struct pollfd *polled);

#endif
