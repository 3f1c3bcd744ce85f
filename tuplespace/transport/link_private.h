/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the files of links share: the link, and the table of operations by which the
 * kinds differ.
 *
 *   link.c          frames over any kind: buffers, limits; bytes over a plain socket
 *   link_hello.c    connecting and greeting; proves the key where nothing is encrypted
 *   link_unix.c, link_tcp.c, link_tls.c   the kinds
 *   listener.c      the accepting side
 */
#ifndef ES_TUPLESPACE_TRANSPORT_LINK_PRIVATE_H
#define ES_TUPLESPACE_TRANSPORT_LINK_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "eventspace/error.h"
#include "tuplespace/transport/address.h"
#include "tuplespace/transport/hello.h"
#include "tuplespace/transport/link.h"

/* Longest payload before the peer has shown that it may talk to us. */
#define ESI_STRANGER_BYTES 4096

/* What both sides of a hello know before it. */
struct esi_party {
    bool is_server;
    const char *run;
    const struct esi_run_key *key;      /* NULL: none */
    const struct esi_run_key *read_key; /* of the server: for those who only look */
};

struct esi_link_ops {
    /* Both sides must have the key; over a link that is not encrypted they prove it. */
    bool needs_key;
    bool needs_proof;

    /* A connected socket, close-on-exec. */
    int (*connect)(const struct esi_address *address,
                   uint64_t deadline_ns,
                   struct es_error *error,
                   int *ret_descriptor);

    /* A socket that listens, close-on-exec; completes `address` with the port. */
    int (*listen)(struct esi_address *address,
                  struct es_error *error,
                  int *ret_descriptor);

    /* Sets up a socket just connected or accepted and names its peer.  May not wait. */
    int (*prepare)(int descriptor, char *ret_name, size_t size);

    /* What comes before the hello, within the link's limit: -EACCES with words when the
     * peer is not one of us, -EAGAIN where a link without a limit has to wait (then it
     * is called again).  Sets link->read_only.  NULL: nothing. */
    int (*secure)(struct es_link *link,
                  const struct esi_party *party,
                  struct es_error *error);

    /* Some bytes (more than 0), or -ETIMEDOUT when the link's limit is over, -EPIPE
     * when there will be no more, -EPROTO. */
    ssize_t (*receive)(struct es_link *link, void *memory, size_t size);

    /* All bytes of the parts, which it may change, or -errno. */
    int (*send)(struct es_link *link, struct iovec *parts, int count);

    /* Frees what `secure` has made.  NULL: nothing. */
    void (*close)(struct es_link *link);
};

extern const struct esi_link_ops esi_link_unix_ops;
extern const struct esi_link_ops esi_link_tcp_ops;
extern const struct esi_link_ops esi_link_tls_ops;

/* The operations of a kind of address. */
const struct esi_link_ops *esi_link_ops_of(enum esi_address_kind kind);

struct es_link {
    const struct esi_link_ops *ops;
    void *secret; /* of the kind */
    int descriptor;
    _Atomic bool shut;

    /* The limit of the call under way. */
    uint64_t timeout_ns;
    uint64_t deadline_ns;
    bool patient;               /* nothing has been waited for in this call yet */
    uint64_t socket_timeout_ns; /* what SO_RCVTIMEO is set to; 0 = not set */

    /* Received: [begin, end) of the buffer, from its start on the frame given last. */
    unsigned char *buffer;
    size_t size;
    size_t begin;
    size_t end;
    size_t given;  /* bytes of the frame given last, header included */
    uint32_t most; /* longest payload taken now */

    bool read_only; /* the peer has shown the read-only key */
    size_t drained; /* bytes read away after a refusal */

    struct esi_link_traffic traffic;
    struct esi_greeting peer;
    char peer_address[128];
};

/* A link of a socket that is connected; takes the descriptor, also on failure. */
int esi_link_make(const struct esi_link_ops *ops,
                  int descriptor,
                  struct es_link **ret_link);

/* Sets the limit of what follows. */
void esi_link_begin(struct es_link *link, uint64_t timeout_ns);

/* The end of a span that begins now; saturates. */
uint64_t esi_link_deadline(uint64_t timeout_ns);
/* What is left until then. */
uint64_t esi_link_remaining(uint64_t deadline_ns);

/* --- Bytes over a plain socket (link.c) ---------------------------------- */

ssize_t esi_socket_receive(struct es_link *link, void *memory, size_t size);
int esi_socket_send(struct es_link *link, struct iovec *parts, int count);
/* Waits for poll(2)'s `events` until the deadline.  0 or -ETIMEDOUT or -errno. */
int esi_socket_wait(int descriptor, short events, uint64_t deadline_ns);
/* Takes `bytes` off the front of the parts. */
void esi_parts_advance(struct iovec **parts, int *count, size_t bytes);

/* --- TCP, for tcp: and tls: (link_tcp.c) ----------------------------------------- */

int esi_tcp_connect(const struct esi_address *address,
                    uint64_t deadline_ns,
                    struct es_error *error,
                    int *ret_descriptor);
int esi_tcp_listen(struct esi_address *address,
                   struct es_error *error,
                   int *ret_descriptor);
int esi_tcp_prepare(int descriptor, char *ret_name, size_t size);

/* --- The server's half of the hello, without waiting (link_hello.c) --------------- */

struct esi_handshake;

/* Borrows all that it is given.  -ENOMEM. */
int esi_handshake_create(struct es_link *link,
                         const struct esi_greeting *greeting,
                         const struct esi_run_key *key,
                         struct esi_handshake **ret_handshake);
/* Goes as far as what has arrived allows.  0: greeted; -EAGAIN: the peer has to send
 * more; else it was refused, with the reason in `error`: drain, then close. */
int esi_handshake_step(struct esi_handshake *handshake, struct es_error *error);
/* Refuses a peer that has taken too long.  -ETIMEDOUT. */
int esi_handshake_expire(struct esi_handshake *handshake, struct es_error *error);
/* Accepts NULL. */
void esi_handshake_destroy(struct esi_handshake *handshake);

/* How long a refused peer gets to read why. */
#define ESI_LINGER_NS UINT64_C(500000000)
/* Reads away what a refused peer sends.  False: the link may be closed now. */
bool esi_link_drain(struct es_link *link);

#endif
