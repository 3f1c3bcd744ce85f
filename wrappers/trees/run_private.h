/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The internals of a run, and its phases.
 *
 * A run over a tree has up to two phases: up the tree (reduce or gather) and down the
 * tree (bcast or scatter).  A phase has a lane for each edge that it uses: the messages
 * in one direction, the pieces of one stream.  The engine (tree_run.c) posts the pieces
 * that the phase (run_phases.c) declares ready, and calls it when something has
 * arrived.
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
 * Fold = gather, then reduce at the root: for operators that are not commutative.
 *
 * A run that exchanges has no phases but consecutive steps (run_exchange.c), and two
 * lanes.
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
    ESI_RUN_WINDOW = 4,    /* pieces in flight per lane */
    ESI_RUN_LANES = 10,    /* lanes without allocation */
    ESI_RUN_REQUESTS = 12, /* requests without allocation */
    ESI_RUN_BYTES = 512,   /* bytes without allocation */
    ESI_RUN_ALIGN = alignof(max_align_t),
};

/* Maximum length of a message, unless a single element is longer. */
#define ESI_RUN_MESSAGE_MAX ((MPI_Count)1 << 30)

struct esi_run_phase {
    /* Sets up the lanes and allocates memory.  Nothing has been sent yet. */
    int (*set_up)(struct esi_tree_run *run);
    /* Does the work that needs no messages. */
    int (*work)(struct esi_tree_run *run);
    /* The number of pieces of the lane, from the first, that may be posted. */
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
    const struct esi_run_phase *up; /* NULL if none */
    const struct esi_run_phase *down;
    bool is_exchange; /* instead of phases */
    bool is_root;
    int parent; /* -1 for the root */
    bool in_place;
    int error; /* MPI's code of the first error */
    int child_count;
    const int *children;
    MPI_Count piece_bytes; /* maximum */

    struct esi_run_lane *lanes; /* of the phase up, then of the phase down */
    int lane_count;
    int down_first;                 /* index of the first lane down */
    struct esi_run_lane *up_from;   /* one per child; NULL if there is no such phase */
    struct esi_run_lane *up_to;     /* NULL at the root or if there is no such phase */
    struct esi_run_lane *down_from; /* NULL at the root or if there is no such phase */
    struct esi_run_lane *down_to;   /* one per child; NULL if there is no such phase */
    int left;                       /* lanes, or steps of an exchange,
                                       that are not complete */
    const struct esi_run_lane *shown;

    MPI_Request *requests; /* `window` of each lane */
    MPI_Status *statuses;
    int *indices;
    int window;
    int outstanding;

    struct esi_data own;    /* the contribution of this rank */
    struct esi_data result; /* the result at this rank */

    /* reduce, fold */
    struct esi_run_lane
        work;            /* own contribution in writable memory; used as memory only */
    bool work_is_own;    /* it contains the own contribution */
    int own_index;       /* number of children whose lowest rank is below ours */
    int ring;            /* number of pieces of each child in memory */
    MPI_Count reduced;   /* number of pieces */
    MPI_Count pieces;    /* of the result, in reductions */
    bool result_is_read; /* the phase up uses the memory of the result */
    char *fold_values[2];

    /* exchange */
    struct esi_exchange exchange;
    int step;       /* current step */
    bool is_posted; /* the messages of this step are posted */
    uint64_t ticks; /* when the last event ended, if nothing
                       has taken time since; else 0 */
    char *value;    /* allreduce: the value combined so far */
    char *spare;    /* where the next value arrives */
    char *scratch;  /* memory for one of the two; the other is that of the result */

    /* gather, scatter */
    MPI_Count block;   /* size of the block that each rank contributes or receives */
    char *staged;      /* blocks of the subtree in preorder; NULL if not needed */
    int children_done; /* gather: number of children that are complete, in
                          order; scatter: 1 if the own block is unpacked */
    bool gathered;

    /* bcast */
    char *packed; /* the whole message; NULL if it is sent from the program's memory */
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

/* Allocates memory until the end of the run; NULL if out of memory. */
void *esi_run_alloc(struct esi_tree_run *run, size_t bytes);
void esi_run_free_blocks(struct esi_tree_run *run);

/* --- Exchange (run_exchange.c) ---------------------------------------------------- */

/* Turns the run into an exchange.  Allocates memory; nothing is sent yet.  Returns
 * MPI's code. */
int esi_run_prepare_exchange(struct esi_tree_run *run);
/* Starts or restarts it: puts the own contribution in place.  Returns MPI's code. */
int esi_run_start_exchange(struct esi_tree_run *run);
/* Advances as far as possible, or to the end if it `waits`.  Returns MPI's code. */
int esi_run_advance_exchange(struct esi_tree_run *run, bool waits);

/* --- Phases ----------------------------------------------------------------------- */

/* Allocates `count` sections of `elements` of the own type, aligned for it.  *ret_base
 * is the address of the first element of the first one, *ret_step the distance between
 * sections.  Returns MPI's code. */
int esi_run_typed_memory(struct esi_tree_run *run,
                         MPI_Count elements,
                         size_t count,
                         char **ret_base,
                         MPI_Aint *ret_step);

/* --- Recording (tree_run.c) ------------------------------------------------------- */

/* The time in ticks; 0 if nothing is recorded. */
static inline uint64_t esi_run_now(const struct esi_tree_run *run)
{
    return run->call.observer != NULL ? run->call.observer->now() : 0;
}
/* Shows that the run waits for the lane. */
void esi_run_show(struct esi_tree_run *run, const struct esi_run_lane *lane);
/* Records a completed lane. */
void esi_run_note_end(struct esi_tree_run *run, const struct esi_run_lane *lane);

#endif
