/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Connections that are not greeted yet: all of them in one event loop.
 *
 * Strangers must neither use up threads and descriptors nor keep others out.  So the
 * places are few, in all and for each address of a network; when they are taken the
 * oldest connection loses its own: first those that were refused and linger, then those
 * that have said nothing, then the others.  The fewer places are left, the less time a
 * peer has.
 *
 * Used by one thread.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ACCEPTOR_PENDING_H
#define ES_TUPLESPACE_TRANSPORT_ACCEPTOR_PENDING_H

#include <poll.h>
#include <stddef.h>

#include "tuplespace/transport/link.h"

enum {
    ESI_PENDING_MAX = 256,        /* in all */
    ESI_PENDING_ADDRESS_MAX = 64, /* of one IPv4 address or IPv6 network (/64) */
};

struct esi_pending;

struct esi_pending_config {
    const struct esi_greeting *greeting; /* borrowed, as the key */
    const struct esi_run_key *key;
    /* A peer was greeted: takes the link. */
    void (*greeted)(void *data, struct es_link *link);
    /* A peer was refused or dropped; the link is only lent. */
    void (*refused)(void *data, const struct es_link *link, const char *reason);
    void *data;
};

int esi_pending_create(const struct esi_pending_config *config,
                       struct esi_pending **ret_pending);
/* Closes all.  Accepts NULL. */
void esi_pending_destroy(struct esi_pending *pending);

/* Takes a link just accepted. */
void esi_pending_add(struct esi_pending *pending, struct es_link *link);
/* Gives up the oldest, for its descriptor. */
void esi_pending_drop(struct esi_pending *pending);

size_t esi_pending_count(const struct esi_pending *pending);
/* Fills in what to wait for, at most ESI_PENDING_MAX.  Returns how many. */
size_t esi_pending_poll(const struct esi_pending *pending, struct pollfd *out);
/* How long one may wait; -1: as long as one likes. */
int esi_pending_timeout_ms(const struct esi_pending *pending);
/* Goes on where something has arrived or time is over; `polled` as it was filled in,
 * nothing was added since. */
void esi_pending_advance(struct esi_pending *pending, const struct pollfd *polled);

#endif
