/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shared by the files of links: the link, and the operations of each kind of link.
 *
 *   link.c          frames over any kind: buffers, limits; bytes over a plain socket
 *   link_hello.c    connecting and greeting; proves the key if the link is unencrypted
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

/* Maximum payload before the peer has proved its key. */
#define ESI_STRANGER_BYTES 4096

/* What either side knows before the hello. */
struct esi_party {
    bool is_server;
    const char *run;
    const struct esi_run_key *key;      /* NULL if none */
    const struct esi_run_key *read_key; /* the server's, for read-only peers */
};

struct esi_link_ops {
    /* Both sides must have the key; on an unencrypted link they must also prove it. */
    bool needs_key;
    bool needs_proof;

    /* Returns a connected socket, close-on-exec. */
    int (*connect)(const struct esi_address *address,
                   uint64_t deadline_ns,
                   struct es_error *error,
                   int *ret_descriptor);

    /* Returns a listening socket, close-on-exec; sets the port in `address`. */
    int (*listen)(struct esi_address *address,
                  struct es_error *error,
                  int *ret_descriptor);

    /* Configures a new socket and names its peer.  Must not block. */
    int (*prepare)(int descriptor, char *ret_name, size_t size);

    /* Runs before the hello, within the link's time limit.  Returns 0; -EACCES (with
     * `error` filled) if the peer is not authorized; or -EAGAIN if a link without limit
     * has to wait, and then it is called again.  Sets link->read_only.  NULL if not
     * needed. */
    int (*secure)(struct es_link *link,
                  const struct esi_party *party,
                  struct es_error *error);

    /* Returns the number of bytes received, more than 0; -ETIMEDOUT after the link's
     * time limit; -EPIPE at the end of the stream; or -EPROTO. */
    ssize_t (*receive)(struct es_link *link, void *memory, size_t size);

    /* Sends all parts, which it may modify.  Returns 0 or -errno. */
    int (*send)(struct es_link *link, struct iovec *parts, int count);

    /* Frees what `secure` has created.  NULL if not needed. */
    void (*close)(struct es_link *link);
};

extern const struct esi_link_ops esi_link_unix_ops;
extern const struct esi_link_ops esi_link_tcp_ops;
extern const struct esi_link_ops esi_link_tls_ops;

/* The operations for a kind of address. */
const struct esi_link_ops *esi_link_ops_of(enum esi_address_kind kind);

struct es_link {
    const struct esi_link_ops *ops;
    void *secret; /* private to the kind */
    int descriptor;
    _Atomic bool shut;

    /* The time limit of the current call. */
    uint64_t timeout_ns;
    uint64_t deadline_ns;
    bool patient;               /* this call has not waited yet */
    uint64_t socket_timeout_ns; /* current SO_RCVTIMEO; 0 if not set */

    /* Received data: [begin, end) of the buffer, starting with the frame returned
     * last. */
    unsigned char *buffer;
    size_t size;
    size_t begin;
    size_t end;
    size_t given;  /* size of the frame returned last, including its header */
    uint32_t most; /* current limit of the payload */

    bool read_only; /* the peer has the read-only key */
    size_t drained; /* bytes discarded after a refusal */

    struct esi_link_traffic traffic;
    struct esi_greeting peer;
    char peer_address[128];
};

/* Creates a link from a connected socket.  Takes ownership of the descriptor, also on
 * failure. */
int esi_link_make(const struct esi_link_ops *ops,
                  int descriptor,
                  struct es_link **ret_link);

/* Sets the time limit of the following operations. */
void esi_link_begin(struct es_link *link, uint64_t timeout_ns);

/* The time `timeout_ns` from now; saturates. */
uint64_t esi_link_deadline(uint64_t timeout_ns);
/* The time left until `deadline_ns`. */
uint64_t esi_link_remaining(uint64_t deadline_ns);

/* --- Bytes over a plain socket (link.c) ---------------------------------- */

ssize_t esi_socket_receive(struct es_link *link, void *memory, size_t size);
int esi_socket_send(struct es_link *link, struct iovec *parts, int count);
/* Waits for the `events` of poll(2) until the deadline.  Returns 0, -ETIMEDOUT or
 * another -errno. */
int esi_socket_wait(int descriptor, short events, uint64_t deadline_ns);
/* Removes `bytes` from the front of the parts. */
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

/* --- The server's side of the hello, nonblocking (link_hello.c) ------------------- */

struct esi_handshake;

/* Borrows all arguments.  Returns 0 or -ENOMEM. */
int esi_handshake_create(struct es_link *link,
                         const struct esi_greeting *greeting,
                         const struct esi_run_key *key,
                         struct esi_handshake **ret_handshake);
/* Proceeds as far as the received data allows.  Returns 0 if the peer was greeted;
 * -EAGAIN if it has to send more; or another error if it was refused, with the reason
 * in `error`: drain, then close. */
int esi_handshake_step(struct esi_handshake *handshake, struct es_error *error);
/* Refuses a peer that has taken too long.  Returns -ETIMEDOUT. */
int esi_handshake_expire(struct esi_handshake *handshake, struct es_error *error);
/* Frees the handshake.  Accepts NULL. */
void esi_handshake_destroy(struct esi_handshake *handshake);

/* How long a refused peer may take to read the reason. */
#define ESI_LINGER_NS UINT64_C(500000000)
/* Discards data from a refused peer.  Returns false when the link may be closed. */
bool esi_link_drain(struct es_link *link);

#endif
