/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the remote stage share; nobody else includes it. */
#ifndef ES_SCOPES_REMOTE_REMOTE_PRIVATE_H
#define ES_SCOPES_REMOTE_REMOTE_PRIVATE_H

#include "scopes/remote/batch_wire.h"
#include "scopes/remote/given.h"
#include "scopes/remote/part_wire.h"
#include "scopes/remote/remote.h"
#include "scopes/stage_node.h"
#include "tuplespace/transport/link.h"
#include "wrappers/stages/stage.h"

/* The connection, and what is under way on it. */
struct esi_remote_wire {
    struct es_link *link;           /* NULL = there is none */
    bool swapped;                   /* the server's byte order is not ours */
    uint64_t sent;                  /* pulls, on this connection */
    uint64_t received;              /* batches */
    uint64_t drained;               /* the last pull that asked to drain; 0 = none */
    uint64_t requests;              /* control requests, for their ids */
    struct es_link_traffic counted; /* of what is in the stage's cost */

    uint64_t lost_ns;    /* when it was lost; 0 = it was not */
    uint64_t attempt_ns; /* not to be made again before */
    uint64_t pause_ns;   /* between attempts */
    int code;            /* why there is none */
};

/* One reply in the queue: what of it is left there. */
struct esi_remote_reply {
    size_t tuples;
    size_t reports;
    size_t notices;
    size_t moves;
    bool whole; /* has summaries: given in one pull or not at all */
};

/* Where reading of an origin begins anew before and after a reply. */
struct esi_remote_move {
    uint64_t before;
    uint64_t after;
    uint32_t origin;
};

struct esi_remote {
    char *host;
    uint64_t limit_ns;
    unsigned ahead;
    char *tree;   /* the node, as JSON */
    char **hosts; /* that stand in the tree, but its root's */
    size_t host_count;
    uint32_t *origins; /* the scope's, by the part's number */
    uint32_t origin_count;
    uint64_t *restart; /* where reading begins anew, as of the last reply */
    bool replays;      /* what came out of turn may come again */
    struct es_wire_state wire_state;
    struct esi_remote_wire wire;

    /* The last reply, decoded into the parent's batch: as it came, until the next
     * arrives. */
    struct es_frame direct; /* payload NULL = none */
    /* Or what is given piece by piece, with the part's origins in its marks. */
    struct es_batch queue;
    struct esi_remote_reply *replies; /* that it consists of, the oldest first */
    size_t reply_count;
    size_t reply_capacity;
    struct esi_remote_move *queued_moves; /* of all replies, one after the other */
    size_t queued_move_count;
    size_t queued_move_capacity;
    size_t begun;   /* replies of which something was given and not acknowledged */
    size_t given;   /* tuples, likewise */
    size_t told;    /* reports, likewise */
    size_t noticed; /* notices, likewise */
    unsigned held;  /* pulls in turn in which the first reply did not fit */

    struct es_wire_moves moves; /* of the reply decoded last */
    uint64_t *before;           /* where they began; as many as moves.capacity */
    size_t before_capacity;
    struct es_wire_cost spent;

    uint64_t given_serial; /* of the pull that gave last */
    uint64_t settled;      /* serial of the pull whose acknowledgement was taken in */
    uint64_t asked;        /* serial of the pull that was sent for */
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

/* Requests are counted apart from pulls, so that their replies are, too. */
#define ESI_REQUEST_IDS (UINT64_C(1) << 62)

/* --- remote_link.c: the connection --------------------------------------------- */

uint64_t esi_remote_now_ns(void);

/* Connects and opens the part, at the positions reached.  0, or -errno. */
int esi_remote_connect(struct es_stage *stage,
                       uint64_t timeout_ns,
                       struct es_error *error);
/* Ends the connection, so that the server hears of it even where a child process has
 * got a copy of the socket. */
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
                       struct es_frame *ret_frame);
/* Adds what was sent and received to the stage's cost. */
void esi_remote_count_bytes(struct es_stage *stage);

/* --- remote_request.c: the "open" request --------------------------------------- */

/* Numbers the origins of the tree and keeps it as text. */
int esi_remote_take_tree(struct esi_remote *remote, const struct es_stage_node *node);
/* Writes the members of the request; `data` is the stage. */
void esi_remote_write_open(struct es_json_out *out, void *data);
/* Takes the positions of the reply; from here on tuples may come again. */
int esi_remote_take_positions(struct es_stage *stage,
                              const struct es_member *reply,
                              struct es_error *error);

/* --- remote_queue.c: what has come -------------------------------------------- */

/* Decodes a reply, behind what the batch has. */
int esi_remote_decode(struct es_stage *stage,
                      const struct es_frame *frame,
                      const uint32_t *origins,
                      struct es_batch *batch);
/* Takes what the decoded reply says into the accounts, once; its reports begin at
 * `first`. */
void esi_remote_account(struct es_stage *stage,
                        const struct es_batch *batch,
                        size_t first);
void esi_remote_move_place(struct es_stage *stage, uint32_t index, uint64_t position);
/* What was lost over there counts for the scope's `origin` here. */
void esi_remote_count_lost(struct es_stage *stage, uint32_t origin, uint64_t lost);

/* Notes what of the parent's batch came out of turn; nothing of it came before. */
int esi_remote_note_direct(struct es_stage *stage,
                           const struct es_batch *batch,
                           size_t first);

/* Moves a reply that lies in the link's memory to the queue. */
int esi_remote_keep_direct(struct es_stage *stage);
/* Appends a reply to the queue. */
int esi_remote_enqueue(struct es_stage *stage, const struct es_frame *frame);
/* Whether the queue has something that was not given. */
bool esi_remote_has_rest(const struct esi_remote *remote);
/* Gives from the queue as much as the limit allows. */
int esi_remote_give_queued(struct es_stage *stage, size_t max, struct es_batch *batch);
/* Forgets what was given. */
void esi_remote_drop_given(struct esi_remote *remote);
/* As if nothing of the queue had been given. */
void esi_remote_take_back(struct es_stage *stage);

#endif
