/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The inside of a run, and the phases that it is made of.
 *
 * A run over a tree has up to two phases: up it (reduce or gather), and down it (bcast
 * or scatter).  A phase has a lane for each edge that it uses: the messages in one
 * direction, pieces of one stream.  The engine (tree_run.c) posts the pieces that
 * the phase (run_phases.c) calls ready, and calls it when something has arrived.
 *
 *   kind        up               down
 *   barrier     reduce, empty    bcast, empty
 *   bcast                        bcast
 *   reduce      reduce or fold
 *   allreduce   reduce or fold   bcast
 *   gather      gather
 *   scatter                      scatter
 *   allgather   gather           bcast
 *
 * Fold = gather, then reduce at the root: for operations that do not commute.
 *
 * Where ranks exchange, a run has no phases but steps, one after the other
 * (run_exchange.c), and two lanes.
 */
#ifndef ES_WRAPPERS_TREES_RUN_PRIVATE_H
#define ES_WRAPPERS_TREES_RUN_PRIVATE_H

#include <stdalign.h>

#include "wrappers/mpi/mpi_next.h"
#include "wrappers/shapes/exchange.h"
#include "wrappers/trees/run_data.h"
#include "wrappers/trees/run_lane.h"
#include "wrappers/trees/tree_run.h"

enum {
    ESI_RUN_WINDOW = 4,    /* pieces under way on one lane */
    ESI_RUN_LANES = 10,    /* that need no allocation */
    ESI_RUN_REQUESTS = 12, /* likewise */
    ESI_RUN_BYTES = 512,   /* likewise */
    ESI_RUN_ALIGN = alignof(max_align_t),
};

/* No message is longer, unless one element is. */
#define ESI_RUN_MESSAGE_MAX ((MPI_Count)1 << 30)

struct esi_run_phase {
    /* Says what the lanes are; gets memory.  Nothing has been sent yet. */
    int (*set_up)(struct esi_tree_run *run);
    /* Does what can be done without messages. */
    int (*work)(struct esi_tree_run *run);
    /* How many pieces of the lane, from the first, may be posted. */
    MPI_Count (*ready)(const struct esi_tree_run *run, const struct esi_run_lane *lane);
};

extern const struct esi_run_phase esi_run_reduce;
extern const struct esi_run_phase esi_run_gather;
extern const struct esi_run_phase esi_run_fold;
extern const struct esi_run_phase esi_run_bcast;
extern const struct esi_run_phase esi_run_scatter;

struct esi_run_block {
    struct esi_run_block *next;
};

struct esi_tree_run {
    struct esi_tree_call call;
    const struct esi_run_phase *up; /* NULL = none */
    const struct esi_run_phase *down;
    bool is_exchange; /* instead of phases */
    bool is_root;
    int parent; /* -1 = the root */
    bool in_place;
    int error; /* MPI's code of the first failure */
    int child_count;
    const int *children;
    MPI_Count piece_bytes; /* at most */

    struct esi_run_lane *lanes; /* of the phase up, then of the phase down */
    int lane_count;
    int down_first;                 /* index of the first lane down */
    struct esi_run_lane *up_from;   /* one a child; NULL = no such phase */
    struct esi_run_lane *up_to;     /* NULL = the root, or no such phase */
    struct esi_run_lane *down_from; /* likewise */
    struct esi_run_lane *down_to;   /* one a child; NULL = no such phase */
    int left;                       /* lanes, or steps of an exchange, not done yet */
    const struct esi_run_lane *shown;

    MPI_Request *requests; /* `window` of each lane */
    MPI_Status *statuses;
    int *indices;
    int window;
    int outstanding;

    struct esi_data own;    /* what this rank brings in */
    struct esi_data result; /* what the program gets here */

    /* reduce, fold */
    struct esi_run_lane
        work;            /* own contribution where it can be written to: only memory */
    bool work_is_own;    /* it is there already */
    int own_index;       /* children whose lowest rank is below ours */
    int ring;            /* pieces of each child in memory */
    MPI_Count reduced;   /* pieces */
    MPI_Count pieces;    /* of the result, in reductions */
    bool result_is_read; /* the phase up uses the memory of the result */
    char *fold_values[2];

    /* exchange */
    struct esi_exchange exchange;
    int step;       /* the one under way */
    bool is_posted; /* its messages are */
    uint64_t ticks; /* when the last thing ended, if nothing took time since; else 0 */
    char *value;    /* allreduce: what is combined so far */
    char *spare;    /* where the next one arrives */
    char *scratch;  /* memory for one of the two; the other is the result's */

    /* gather, scatter */
    MPI_Count block;   /* bytes that each rank brings in, or gets */
    char *staged;      /* blocks of the subtree in preorder; NULL = not needed */
    int children_done; /* gather: children whose bytes have all arrived, in order;
                          scatter: 1 when the own block is unpacked */
    bool gathered;

    /* bcast */
    char *packed; /* the whole message; NULL = it is sent from the program's memory */
    bool packed_done;

    struct esi_run_block *blocks;
    size_t inline_used;
    struct esi_run_lane inline_lanes[ESI_RUN_LANES];
    MPI_Request inline_requests[ESI_RUN_REQUESTS];
    MPI_Status inline_statuses[ESI_RUN_REQUESTS];
    int inline_indices[ESI_RUN_REQUESTS];
    alignas(max_align_t) char inline_bytes[ESI_RUN_BYTES];
};

/* --- Memory (run_data.c) ---------------------------------------------------------- */

/* Memory until the run's end; NULL = none left. */
void *esi_run_alloc(struct esi_tree_run *run, size_t bytes);
void esi_run_free_blocks(struct esi_tree_run *run);

/* --- Exchange (run_exchange.c) ---------------------------------------------------- */

/* Makes the run an exchange.  Gets memory; nothing is sent yet.  Returns MPI's code. */
int esi_run_prepare_exchange(struct esi_tree_run *run);
/* Begins it, or begins it again: puts the own part in place.  Returns MPI's code. */
int esi_run_start_exchange(struct esi_tree_run *run);
/* Does what can be done, or if it `waits` all.  Returns MPI's code. */
int esi_run_advance_exchange(struct esi_tree_run *run, bool waits);

/* --- Phases ----------------------------------------------------------------------- */

/* Memory for `count` stretches of `elements` of the own type, aligned for it.
 * *ret_base is the address of the first one's first element, *ret_step from one to the
 * next.  Returns MPI's code. */
int esi_run_typed_memory(struct esi_tree_run *run,
                         MPI_Count elements,
                         size_t count,
                         char **ret_base,
                         MPI_Aint *ret_step);

/* --- Recording (tree_run.c) ------------------------------------------------------- */

/* Ticks; 0 where nothing is recorded. */
static inline uint64_t esi_run_now(const struct esi_tree_run *run)
{
    return run->call.observer != NULL ? run->call.observer->now() : 0;
}
/* The lane is waited for. */
void esi_run_show(struct esi_tree_run *run, const struct esi_run_lane *lane);
/* Records the lane, which is done. */
void esi_run_note_end(struct esi_tree_run *run, const struct esi_run_lane *lane);

#endif
