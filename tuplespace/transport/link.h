/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Links: connections that carry frames.  One small interface over Unix-domain sockets,
 * TCP and TCP with TLS 1.3 and a pre-shared key (design section 8).
 *
 * An address is text:
 *
 *     unix:/path/of/socket    the peer's uid must be ours (the kernel tells)
 *     tls:HOST:PORT           TLS 1.3, key = the run's (esi_run_key), identity = a hash
 *     tcp:HOST:PORT           the same key proven by a challenge in both directions,
 *                             but nothing is encrypted
 *
 * IPv6 hosts stand in brackets.  Both sides say hello before anything else: protocol
 * version, run, byte order, host, what they are.  Who is refused hears why; but not
 * whether the run or the key was the wrong one.
 *
 * A link is used by one thread at a time.  All waits end: every call has a limit.
 * SIGPIPE is never raised.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_LINK_H
#define ES_TUPLESPACE_TRANSPORT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "eventspace/error.h"
#include "tuplespace/transport/address.h"
#include "tuplespace/transport/frame.h"
#include "tuplespace/transport/run_key.h"

struct es_link;

/* What one side tells the other at the beginning. */
struct esi_greeting {
    char run[64];
    char host[64];
    char program[64]; /* "eventspaced", "eventspace heartbeat" */
    uint32_t pid;
    bool swapped; /* of the peer: its byte order is not ours; ours: false */
};

/* Connects and says hello, all within `timeout_ns`.  `key` may be NULL for unix:.
 * -ETIMEDOUT, -ECONNREFUSED ..., -EACCES with the peer's words when it refused us or
 * its key is not ours, -EINVAL: not an address. */
int esi_link_connect(const char *address,
                     const struct esi_greeting *greeting,
                     const struct esi_run_key *key,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_link **ret_link);

/* Closes at once.  Accepts NULL. */
void esi_link_close(struct es_link *link);

/* Sends one frame, made of `count` parts (at most 8) that follow each other.  0 or
 * -errno: -ETIMEDOUT, -EPIPE when the peer is gone, -EMSGSIZE.  After a failure the
 * link can only be closed. */
int esi_link_send(struct es_link *link,
                  uint16_t type,
                  uint64_t id,
                  const struct iovec *parts,
                  int count,
                  uint64_t timeout_ns);

/* Waits for the next frame; its payload is borrowed until the next call of this, and
 * aligned to 8 bytes.  timeout 0 = only what has arrived.
 * -ETIMEDOUT, without words: nothing whole yet (what has come is kept, ask again);
 * -EPIPE: the peer has closed; -EPROTO: not a frame: the link can only be closed. */
int esi_link_receive(struct es_link *link,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct esi_frame *ret_frame);

/* Makes a receive of another thread end with -EPIPE, now and from then on.  The one
 * call that may be made while another thread uses the link. */
void esi_link_shut(struct es_link *link);

/* For poll(2).  A TLS link may hold bytes that poll does not show: receive until
 * -ETIMEDOUT first. */
int esi_link_descriptor(const struct es_link *link);

/* What the peer said at the beginning.  Borrowed. */
const struct esi_greeting *esi_link_peer(const struct es_link *link);
/* Whether the peer has shown the run's read-only key: it may look, but change nothing.
 */
bool esi_link_is_read_only(const struct es_link *link);
/* The peer's address for people: "10.77.0.3:40112", "uid 1000 pid 4711".  Borrowed. */
const char *esi_link_peer_address(const struct es_link *link);

struct esi_link_traffic {
    uint64_t sent_bytes; /* frames with their headers */
    uint64_t received_bytes;
    uint64_t sent_frames;
    uint64_t received_frames;
};
void esi_link_traffic(const struct es_link *link, struct esi_link_traffic *ret_traffic);

/* --- The accepting side ------------------------------------------------------- */

struct esi_listener;

/* Listens; port 0 = any that is free, host "" or "*" = all.  A Unix socket gets mode
 * 0600, one that nobody listens on any more is replaced. */
int esi_listener_open(const char *address,
                      struct es_error *error,
                      struct esi_listener **ret_listener);
void esi_listener_close(struct esi_listener *listener);
int esi_listener_descriptor(const struct esi_listener *listener);
/* The address with the port that was got. Borrowed. */
const char *esi_listener_address(const struct esi_listener *listener);

/* Accepts one connection that waits (see poll(2)); nothing is read from it yet, so this
 * does not block.  The link can only be greeted or closed.  -EAGAIN: nobody waits. */
int esi_listener_accept(struct esi_listener *listener, struct es_link **ret_link);

/* The server's half of the hello: checks the peer (uid, key, version, run) and welcomes
 * it, or refuses it with the reason, which `error` gets too, for the log.  To be called
 * in a thread of the connection: it may wait up to `timeout_ns`. */
int esi_link_greet(struct es_link *link,
                   const struct esi_greeting *greeting,
                   const struct esi_run_key *key,
                   uint64_t timeout_ns,
                   struct es_error *error);

#endif
