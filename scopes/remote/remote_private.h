/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Shared by the files of the remote stage; not included elsewhere. */
#ifndef ES_SCOPES_REMOTE_REMOTE_PRIVATE_H
#define ES_SCOPES_REMOTE_REMOTE_PRIVATE_H

#include "scopes/remote/batch_wire.h"
#include "scopes/remote/remote.h"
#include "scopes/stage_node.h"
#include "tuplespace/transport/link.h"
#include "wrappers/stages/stage.h"

/* The connection, and its state. */
struct esi_remote_wire {
    struct es_link *link;            /* NULL if not connected */
    bool swapped;                    /* the server has the other byte order */
    uint64_t sent;                   /* pulls on this connection */
    uint64_t received;               /* received batches */
    uint64_t drained;                /* the last pull that asked to drain; 0 if none */
    uint64_t requests;               /* control requests; numbers their ids */
    struct esi_link_traffic counted; /* traffic already added to the stage's cost */

    uint64_t lost_ns;    /* time of the loss; 0 if connected */
    uint64_t attempt_ns; /* earliest time of the next attempt */
    uint64_t pause_ns;   /* between attempts */
    int code;            /* reason of the loss */
};

/* A received reply that has not been decoded. */
struct esi_remote_reply {
    struct esi_remote_reply *next;
    struct esi_frame frame; /* describes the payload, which follows */
    unsigned char payload[];
};

struct esi_remote {
    char *host;
    uint64_t limit_ns;
    unsigned ahead;
    char *tree;   /* the node, as JSON */
    char **hosts; /* other hosts in the tree than that of its root */
    size_t host_count;
    size_t host_capacity;
    uint32_t *origins; /* the scope's origin, by index in the subtree */
    size_t origin_capacity;
    uint32_t origin_count;
    bool failed; /* stages of the subtree failed: the next pull is careful */
    bool opened; /* the stage is part of a tree that is pulled */
    struct esi_wire_state wire_state; /* positions received, by origin */
    struct esi_remote_wire wire;

    /* Received tuples that are not passed on yet: first the rest of a reply that was
     * too large, then whole replies. */
    struct es_batch rest;
    size_t handed;                    /* tuples of `rest` that were passed on */
    struct esi_remote_reply *replies; /* owned; oldest first */
    unsigned refused; /* consecutive pulls into which the first reply did not fit */

    /* NULL unless writers wait for the scope. */
    uint64_t *acknowledged;        /* owned; per origin, as last sent to the server */
    unsigned char *acknowledgment; /* owned; large enough for all origins in one pull */

    struct esi_wire_moves moves; /* of the last decoded reply */
    struct esi_wire_cost spent;

    uint64_t asked; /* serial of the announced pull */
    uint64_t asked_ns;
    uint64_t silent_ns; /* time since which it has not answered; 0 if it answers */
    uint64_t answered;  /* pulls */
    uint64_t reopened;
    uint64_t server_cpu_ns;
    uint64_t server_wall_ns;
};

/* The time limit of this pull. */
static inline uint64_t esi_remote_limit_ns(const struct esi_remote *remote,
                                           const struct es_pull *pull)
{
    if (pull->timeout_ns > 0 && pull->timeout_ns < remote->limit_ns)
        return pull->timeout_ns;
    return remote->limit_ns;
}

/* --- remote_link.c: the connection --------------------------------------------- */

/* Numbers the origins of the tree and stores the tree as text. */
int esi_remote_take_tree(struct esi_remote *remote, const struct esi_stage_node *node);
/* Connects and opens the subtree at the positions reached.  Returns 0 or -errno. */
int esi_remote_connect(struct es_stage *stage,
                       uint64_t timeout_ns,
                       struct es_error *error);
/* Shuts the connection down.  The server notices this even if a child process has a
 * copy of the socket. */
void esi_remote_hang_up(struct esi_remote *remote);
/* Closes the connection for the reason `code`. */
void esi_remote_drop(struct es_stage *stage, int code);
/* Reconnects if an attempt is due.  Returns true if there is a connection. */
bool esi_remote_restore(struct es_stage *stage, uint64_t timeout_ns);
/* Sends a pull.  On -errno, the connection was closed. */
int esi_remote_send(struct es_stage *stage, const struct es_pull *pull);
/* Waits for the next frame of this connection.  Returns -ETIMEDOUT; after other errors
 * the connection was closed. */
int esi_remote_receive(struct es_stage *stage,
                       uint64_t deadline_ns,
                       struct esi_frame *ret_frame);
/* Adds the bytes sent and received to the stage's cost. */
void esi_remote_count_bytes(struct es_stage *stage);

/* Appends a copy of a reply to the queue.  Returns 0 or -ENOMEM. */
int esi_remote_store(struct esi_remote *remote, const struct esi_frame *frame);
/* Discards the oldest reply of the queue. */
void esi_remote_drop_reply(struct esi_remote *remote);
/* Discards all received data that was not passed on. */
void esi_remote_forget(struct esi_remote *remote);

#endif
