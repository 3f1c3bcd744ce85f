/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Links: connections that carry frames, over Unix-domain sockets, TCP, or TCP with TLS
 * 1.3 and a pre-shared key (design section 8).
 *
 * An address is text:
 *
 *     unix:/path/of/socket    the peer must have our uid, as reported by the kernel
 *     tls:HOST:PORT           TLS 1.3, key = the run's (esi_run_key), identity = a hash
 *     tcp:HOST:PORT           the same key, proven by a challenge in both directions,
 *                             but nothing is encrypted
 *
 * IPv6 hosts are in brackets.  Both sides first send a hello with protocol version,
 * run, byte order, host and program.  A refused peer receives the reason, but not
 * whether the run or the key was wrong.
 *
 * One thread at a time may use a link.  All waits are bounded.  SIGPIPE is never
 * raised.
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

/* What each side sends about itself at the beginning. */
struct esi_greeting {
    char run[64];
    char host[64];
    char program[64]; /* "eventspaced", "eventspace heartbeat" */
    uint32_t pid;
    bool swapped; /* of the peer: its byte order is not
                     ours; always false for ourselves */
};

/* Connects and exchanges hellos within `timeout_ns`.  `key` may be NULL for unix:.
 * Returns 0; -ETIMEDOUT, -ECONNREFUSED or the like; -EACCES if the peer refuses
 * (`error` contains its message) or does not have our key; or -EINVAL for an invalid
 * address. */
int esi_link_connect(const char *address,
                     const struct esi_greeting *greeting,
                     const struct esi_run_key *key,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct es_link **ret_link);

/* Closes the link immediately.  Accepts NULL. */
void esi_link_close(struct es_link *link);

/* Sends one frame, whose payload is the concatenation of `count` parts, at most 8.
 * Returns 0; or -errno, such as -ETIMEDOUT, -EPIPE if the peer is gone, or -EMSGSIZE.
 * After a failure the link can only be closed. */
int esi_link_send(struct es_link *link,
                  uint16_t type,
                  uint64_t id,
                  const struct iovec *parts,
                  int count,
                  uint64_t timeout_ns);

/* Waits for the next frame.  Its payload is aligned to 8 bytes, and borrowed until the
 * next call of this function.  A timeout of 0 returns only what
 * has arrived.  Returns 0; -ETIMEDOUT, without filling `error`, if no complete frame
 * has arrived (the call can be repeated); -EPIPE if the peer has closed; or -EPROTO if
 * it is not a frame, and then the link can only be closed. */
int esi_link_receive(struct es_link *link,
                     uint64_t timeout_ns,
                     struct es_error *error,
                     struct esi_frame *ret_frame);

/* Makes receives fail with -EPIPE from now on, including one in progress.  The only
 * call allowed while another thread uses the link. */
void esi_link_shut(struct es_link *link);

/* The descriptor, for poll(2).  A TLS link may hold bytes that poll does not report:
 * first receive until -ETIMEDOUT. */
int esi_link_descriptor(const struct es_link *link);

/* The peer's greeting.  Borrowed. */
const struct esi_greeting *esi_link_peer(const struct es_link *link);
/* Returns whether the peer has the run's read-only key, and so may read but not change
 * anything. */
bool esi_link_is_read_only(const struct es_link *link);
/* The peer's address for messages: "10.77.0.3:40112", "uid 1000 pid 4711".
 * Borrowed. */
const char *esi_link_peer_address(const struct es_link *link);

struct esi_link_traffic {
    uint64_t sent_bytes; /* frames including headers */
    uint64_t received_bytes;
    uint64_t sent_frames;
    uint64_t received_frames;
};
void esi_link_traffic(const struct es_link *link, struct esi_link_traffic *ret_traffic);

/* --- The accepting side ------------------------------------------------------- */

struct esi_listener;

/* Starts listening.  Port 0 selects a free port; host "" or "*" means all addresses.  A
 * Unix socket gets mode 0600 and replaces one on which nobody listens. */
int esi_listener_open(const char *address,
                      struct es_error *error,
                      struct esi_listener **ret_listener);
void esi_listener_close(struct esi_listener *listener);
int esi_listener_descriptor(const struct esi_listener *listener);
/* The address with the actual port.  Borrowed. */
const char *esi_listener_address(const struct esi_listener *listener);

/* Accepts a pending connection (see poll(2)).  Reads nothing from it, so it does not
 * block.  The link can only be greeted or closed.  Returns 0, or -EAGAIN if there is
 * none. */
int esi_listener_accept(struct esi_listener *listener, struct es_link **ret_link);

/* The server's part of the hello: checks the peer (uid, key, version, run), and
 * welcomes it or refuses it with the reason, which is also stored in `error` for the
 * log.  Waits up to `timeout_ns`, so it is called in the connection's thread. */
int esi_link_greet(struct es_link *link,
                   const struct esi_greeting *greeting,
                   const struct esi_run_key *key,
                   uint64_t timeout_ns,
                   struct es_error *error);

#endif
