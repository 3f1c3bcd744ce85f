/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A server with one connection, in a thread, for tests of links; and a proxy that
 * disturbs what goes through it. */
#ifndef ES_TESTS_LINK_FIXTURE_H
#define ES_TESTS_LINK_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tuplespace/transport/link.h"

#define LIMIT_NS UINT64_C(60000000000) /* for what must not fail */
#define SHORT_NS UINT64_C(20000000)    /* for what must not come */

/* The peer that a test talks to.  Set `serve` (and the rest where it matters) between
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
    /* What it does with a client that was welcomed; NULL: sends back what comes. */
    void (*serve)(struct peer *peer, struct es_link *link);
    pthread_t thread;
    _Atomic bool may_go; /* for `serve` functions that wait for the test */
    /* What esi_link_greet() said. */
    int rc;
    struct es_error error;
};

void peer_init(struct peer *peer, enum esi_address_kind kind);
void peer_start(struct peer *peer);
/* Waits for the connection's end. */
void peer_join(struct peer *peer);
void peer_fini(struct peer *peer);

/* A client of the peer, which must be welcome. */
struct es_link *connect_to(const struct peer *peer, const char *address);
/* The same without a thought: what esi_link_connect() says. */
int try_connect(const struct peer *peer,
                const struct esi_run_key *key,
                const char *run,
                struct es_error *error);

/* Sends back every frame until the connection ends. */
void echo(struct peer *peer, struct es_link *link);
void send_bytes(struct es_link *link, uint64_t id, const void *bytes, size_t length);
/* The next frame, which must come. */
struct esi_frame next_frame(struct es_link *link);

/* A socket of the peer's address family, connected, that knows no links. */
int raw_connect(const char *address);
/* Reads until the other side closes, at most `size` bytes.  Returns their number. */
size_t raw_read(int descriptor, void *memory, size_t size);
void raw_write(int descriptor, const void *bytes, size_t length);

/* Passes bytes between its own address and the peer's. */
struct proxy {
    struct esi_listener *listener;
    char address[ES_ADDRESS_BYTES];
    const char *target;
    size_t chunk;           /* bytes passed on at once; 0 = all */
    _Atomic size_t allowed; /* bytes towards the client; then none */
    _Atomic size_t passed;  /* of those */
    _Atomic bool cut;       /* closes both sides */
    pthread_t thread;
};

void proxy_start(struct proxy *proxy, const struct peer *peer);
/* Lets so many bytes through from now on, or so many more than before. */
void proxy_allow(struct proxy *proxy, size_t bytes);
void proxy_allow_more(struct proxy *proxy, size_t bytes);
void proxy_join(struct proxy *proxy);

#endif
