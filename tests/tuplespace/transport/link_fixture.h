/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* For tests of links: a server with one connection, in a thread, and a proxy that
 * disturbs the traffic. */
#ifndef ES_TESTS_LINK_FIXTURE_H
#define ES_TESTS_LINK_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tuplespace/transport/link.h"

#define LIMIT_NS UINT64_C(60000000000) /* for what must happen */
#define SHORT_NS UINT64_C(20000000)    /* for what must not happen */

/* The peer of a test.  `serve` and other members may be set between
 * peer_init() and peer_start(). */
struct peer {
    enum esi_address_kind kind;
    char folder[64];
    struct esi_listener *listener;
    const char *address; /* of the listener */
    struct esi_greeting greeting;
    struct esi_run_key key;
    bool has_no_key;
    uint64_t greet_ns;
    /* Handles a client that was welcomed.  NULL means echo(). */
    void (*serve)(struct peer *peer, struct es_link *link);
    pthread_t thread;
    _Atomic bool may_go; /* set by the test; `serve` functions may wait for it */
    /* The result of esi_link_greet(). */
    int rc;
    struct es_error error;
};

void peer_init(struct peer *peer, enum esi_address_kind kind);
void peer_start(struct peer *peer);
/* Waits until the connection has ended. */
void peer_join(struct peer *peer);
void peer_fini(struct peer *peer);

/* Connects to the peer, directly or at the proxy's address.  Ends
 * the test if that fails. */
struct es_link *connect_to(const struct peer *peer, const char *address);
/* Connects to the peer and closes the link.  Returns the result
 * of esi_link_connect(). */
int try_connect(const struct peer *peer,
                const struct esi_run_key *key,
                const char *run,
                struct es_error *error);

/* Sends back every frame until the connection ends. */
void echo(struct peer *peer, struct es_link *link);
void send_bytes(struct es_link *link, uint64_t id, const void *bytes, size_t length);
/* Returns the next frame.  Ends the test if none comes. */
struct esi_frame next_frame(struct es_link *link);

/* Returns a connected socket of the address's family that does
 * not speak the protocol. */
int raw_connect(const char *address);
/* Reads until the other side closes, up to `size` bytes.  Returns their number. */
size_t raw_read(int descriptor, void *memory, size_t size);
void raw_write(int descriptor, const void *bytes, size_t length);

/* Forwards bytes between its own address and the peer's. */
struct proxy {
    struct esi_listener *listener;
    char address[ES_ADDRESS_BYTES];
    const char *target;
    size_t chunk;           /* bytes forwarded at once; 0 = all */
    _Atomic size_t allowed; /* limit of the bytes to the client */
    _Atomic size_t passed;  /* of those, forwarded so far */
    _Atomic bool cut;       /* set to close both sides */
    pthread_t thread;
};

void proxy_start(struct proxy *proxy, const struct peer *peer);
/* Lets `bytes` more through, counted from what has passed or
 * from the previous limit. */
void proxy_allow(struct proxy *proxy, size_t bytes);
void proxy_allow_more(struct proxy *proxy, size_t bytes);
void proxy_join(struct proxy *proxy);

#endif
