/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the remote stage share; nobody else includes it. */
#ifndef ES_SCOPES_REMOTE_REMOTE_PRIVATE_H
#define ES_SCOPES_REMOTE_REMOTE_PRIVATE_H

#include "scopes/remote/batch_wire.h"
#include "scopes/remote/remote.h"
#include "scopes/stage_node.h"
#include "tuplespace/transport/link.h"
#include "wrappers/stages/stage.h"

/* The connection, and what is under way on it. */
struct esi_remote_wire {
    struct es_link *link;            /* NULL = there is none */
    bool swapped;                    /* the server's byte order is not ours */
    uint64_t sent;                   /* pulls, on this connection */
    uint64_t received;               /* batches */
    uint64_t drained;                /* the last pull that asked to drain; 0 = none */
    uint64_t requests;               /* control requests, for their ids */
    struct esi_link_traffic counted; /* of what is in the stage's cost */

    uint64_t lost_ns;    /* when it was lost; 0 = it was not */
    uint64_t attempt_ns; /* not to be made again before */
    uint64_t pause_ns;   /* between attempts */
    int code;            /* why there is none */
};

/* A reply that waits, as it came. */
struct esi_remote_reply {
    struct esi_remote_reply *next;
    struct esi_frame frame; /* its payload is what follows */
    unsigned char payload[];
};

struct esi_remote {
    char *host;
    uint64_t limit_ns;
    unsigned ahead;
    char *tree;   /* the node, as JSON */
    char **hosts; /* that stand in the tree, but its root's */
    size_t host_count;
    size_t host_capacity;
    uint32_t *origins; /* the scope's, by the subtree's index */
    size_t origin_capacity;
    uint32_t origin_count;
    bool failed; /* the subtree's stages: the next pull is careful */
    bool opened; /* the stage stands in a tree that is pulled */
    struct esi_wire_state wire_state; /* up to where the origins were received */
    struct esi_remote_wire wire;

    /* What has come and was not handed up: the rest of a reply that was too large, then
     * whole replies. */
    struct es_batch rest;
    size_t handed;                    /* tuples of it that were handed up */
    struct esi_remote_reply *replies; /* owned; the oldest first */
    unsigned refused; /* pulls in turn in which the first reply did not fit */

    /* Where writers wait for the scope, else NULL. */
    uint64_t *acknowledged;        /* owned; per origin, as sent to the server last */
    unsigned char *acknowledgment; /* owned; room for all in one pull */

    struct esi_wire_moves moves; /* of the reply decoded last */
    struct esi_wire_cost spent;

    uint64_t asked; /* serial of the pull that was sent for */
    uint64_t asked_ns;
    uint64_t silent_ns; /* since when it has not answered; 0 = it does */
    uint64_t answered;  /* pulls */
    uint64_t reopened;
    uint64_t server_cpu_ns;
    uint64_t server_wall_ns;
};

/* How long this pull may wait. */
static inline uint64_t esi_remote_limit_ns(const struct esi_remote *remote,
                                           const struct es_pull *pull)
{
    if (pull->timeout_ns > 0 && pull->timeout_ns < remote->limit_ns)
        return pull->timeout_ns;
    return remote->limit_ns;
}

/* --- remote_link.c: the connection --------------------------------------------- */

/* Numbers the origins of the tree and keeps it as text. */
int esi_remote_take_tree(struct esi_remote *remote, const struct esi_stage_node *node);
/* Connects and opens the subtree at the positions reached.  0, or -errno. */
int esi_remote_connect(struct es_stage *stage,
                       uint64_t timeout_ns,
                       struct es_error *error);
/* Ends the connection.  The server notices it even where a child process has a copy of
 * the socket. */
void esi_remote_hang_up(struct esi_remote *remote);
/* Closes the connection, for that reason. */
void esi_remote_drop(struct es_stage *stage, int code);
/* Tries again if it is time to.  Whether there is a connection. */
bool esi_remote_restore(struct es_stage *stage, uint64_t timeout_ns);
/* Sends one pull.  -errno: the connection was dropped. */
int esi_remote_send(struct es_stage *stage, const struct es_pull *pull);
/* Waits for the next frame that belongs here.  -ETIMEDOUT, or another -errno: the
 * connection was dropped. */
int esi_remote_receive(struct es_stage *stage,
                       uint64_t deadline_ns,
                       struct esi_frame *ret_frame);
/* Adds what was sent and received to the stage's cost. */
void esi_remote_count_bytes(struct es_stage *stage);

/* Keeps a copy of a reply behind those that wait.  -ENOMEM. */
int esi_remote_store(struct esi_remote *remote, const struct esi_frame *frame);
/* Forgets the oldest of them. */
void esi_remote_drop_reply(struct esi_remote *remote);
/* Forgets all that waits. */
void esi_remote_forget(struct esi_remote *remote);

#endif
