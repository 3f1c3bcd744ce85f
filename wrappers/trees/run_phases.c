/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The phases of a run: reduce and gather up the tree, bcast and scatter down the tree.
 *
 * Messages are divided into pieces: while a node processes one, its neighbours send the
 * next.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

/* --- Reduce: barrier, reduce, allreduce ------------------------------------------- */

/*
 * A node reduces its own contribution and those of its children's subtrees from left to
 * right, in ascending order of the lowest rank in each.  MPI_Reduce_local() leaves its
 * result in the right operand.  So the value moves through the buffers of the
 * children's pieces, and the last of them has the result; nothing is copied unless the
 * own contribution is in between.
 */

/* Number of elements in a piece of a reduction. */
static MPI_Count elements_per_piece(const struct esi_tree_run *run)
{
    MPI_Count count = run->own.size > 0 ? run->piece_bytes / run->own.size : 1;

    if (count > run->own.count)
        count = run->own.count;
    return count > 0 ? count : 1;
}

int esi_run_typed_memory(struct esi_tree_run *run,
                         MPI_Count elements,
                         size_t count,
                         char **ret_base,
                         MPI_Aint *ret_step)
{
    size_t bytes;
    size_t step;
    MPI_Aint before;
    char *memory;

    esi_data_span(&run->own, elements, &bytes, &before);
    step = (bytes + ESI_RUN_ALIGN - 1) / ESI_RUN_ALIGN * ESI_RUN_ALIGN;
    if (step > 0 && count > SIZE_MAX / step)
        return MPI_ERR_NO_MEM;
    memory = esi_run_alloc(run, step * count);
    if (memory == NULL)
        return MPI_ERR_NO_MEM;
    *ret_base = memory + before;
    *ret_step = (MPI_Aint)step;
    return MPI_SUCCESS;
}

/* Returns whether the last operand is the own contribution. */
static bool is_own_last(const struct esi_tree_run *run)
{
    return run->own_index == run->child_count;
}

/* Allocates a copy of the own contribution, if it is a right operand. */
static int set_up_work(struct esi_tree_run *run)
{
    bool has_result = run->is_root || run->call.kind == ES_TREE_ALLREDUCE;
    struct esi_run_lane *work = &run->work;

    esi_run_lane_set_typed(work, &run->own, elements_per_piece(run));
    run->work_is_own = run->own_index == 0 || run->in_place;
    run->result_is_read = run->in_place;
    if (run->work_is_own)
        return MPI_SUCCESS;
    if (is_own_last(run) && has_result) {
        work->base = run->result.base;
        run->result_is_read = true;
        return MPI_SUCCESS;
    }
    work->ring = run->ring;
    return esi_run_typed_memory(run, work->per_piece, (size_t)run->ring, &work->base,
                                &work->step);
}

/* Each child has a ring of pieces.  At the root, the pieces of the last child are
 * received where the result has to be. */
static int set_up_children(struct esi_tree_run *run)
{
    MPI_Count per_piece = elements_per_piece(run);
    bool into_result = run->is_root && !is_own_last(run) && !run->in_place;
    int rings = run->child_count - into_result;
    char *base = NULL;
    MPI_Aint step = 0;
    int result = MPI_SUCCESS;

    if (rings > 0)
        result = esi_run_typed_memory(run, per_piece, (size_t)rings * (size_t)run->ring,
                                      &base, &step);
    for (int i = 0; i < run->child_count; i++) {
        struct esi_run_lane *lane = &run->up_from[i];

        esi_run_lane_set_typed(lane, i < rings ? &run->own : &run->result, per_piece);
        if (i < rings) {
            lane->base = base + (MPI_Aint)i * run->ring * step;
            lane->step = step;
            lane->ring = run->ring;
        }
    }
    return result;
}

/* A barrier sends one empty message on each lane. */
static int set_up_barrier(struct esi_tree_run *run)
{
    for (int i = 0; i < run->lane_count; i++) {
        run->lanes[i].type = MPI_BYTE;
        run->lanes[i].per_piece = 1;
        run->lanes[i].pieces = 1;
    }
    run->pieces = 1;
    return MPI_SUCCESS;
}

static int reduce_set_up(struct esi_tree_run *run)
{
    const struct esi_tree *tree = run->call.tree;
    MPI_Count per_piece;
    int result = MPI_SUCCESS;

    if (run->call.kind == ES_TREE_BARRIER)
        return set_up_barrier(run);
    per_piece = elements_per_piece(run);
    run->pieces = run->own.count / per_piece + (run->own.count % per_piece != 0);
    run->ring = run->pieces < ESI_RUN_WINDOW ? (int)run->pieces : ESI_RUN_WINDOW;
    while (run->own_index < run->child_count &&
           tree->lowest[run->children[run->own_index]] < run->call.rank)
        run->own_index++;
    result = set_up_work(run);
    if (result == MPI_SUCCESS)
        result = set_up_children(run);
    if (run->up_to != NULL) {
        const struct esi_run_lane *from =
            is_own_last(run) ? &run->work : &run->up_from[run->child_count - 1];

        esi_run_lane_set_typed(run->up_to, &run->own, per_piece);
        run->up_to->base = from->base;
        run->up_to->step = from->step;
        run->up_to->ring = from->ring;
    }
    return result;
}

/* The own contribution to a piece; a copy if it is a right operand. */
static int own_piece(struct esi_tree_run *run, MPI_Count piece, char **ret_part)
{
    const struct esi_run_lane *work = &run->work;
    struct esi_data from = esi_data_part(&run->own, piece * work->per_piece,
                                         esi_run_lane_count(work, piece));
    struct esi_data to = from;

    to.base = *ret_part = esi_run_lane_piece(work, piece);
    return run->work_is_own ? MPI_SUCCESS : esi_data_copy(run, &to, &from);
}

static int reduce_piece(struct esi_tree_run *run, MPI_Count piece)
{
    MPI_Count count = esi_run_lane_count(&run->work, piece);
    struct esi_data from;
    struct esi_data to;
    char *value = NULL;
    int result = MPI_SUCCESS;

    for (int part = 0; part <= run->child_count && result == MPI_SUCCESS; part++) {
        char *next;

        if (part == run->own_index)
            result = own_piece(run, piece, &next);
        else
            next = esi_run_lane_piece(&run->up_from[part - (part > run->own_index)],
                                      piece);
        if (value != NULL && result == MPI_SUCCESS)
            result = esi_data_reduce(&run->own, count, value, next, run->call.op);
        value = next;
    }
    if (!run->is_root || result != MPI_SUCCESS)
        return result;
    to = esi_data_part(&run->result, piece * run->work.per_piece, count);
    from = to;
    from.base = value;
    return esi_data_copy(run, &to, &from);
}

static bool has_arrived(const struct esi_tree_run *run, MPI_Count piece)
{
    for (int i = 0; i < run->child_count; i++)
        if (run->up_from[i].done <= piece)
            return false;
    /* The own contribution to an earlier piece may still be being sent. */
    return run->up_to == NULL || run->work.ring == 0 ||
           piece < run->up_to->done + run->work.ring;
}

static int reduce_work(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    while (run->reduced < run->pieces && result == MPI_SUCCESS &&
           has_arrived(run, run->reduced)) {
        if (run->call.kind != ES_TREE_BARRIER && (run->child_count > 0 || run->is_root))
            result = reduce_piece(run, run->reduced);
        run->reduced++;
    }
    return result;
}

/* The memory of the last operand is sent from, so it becomes free later. */
static MPI_Count reduce_ready(const struct esi_tree_run *run,
                              const struct esi_run_lane *lane)
{
    if (lane == run->up_to)
        return run->reduced;
    if (lane->ring == 0)
        return lane->pieces;
    return lane->ring + (run->up_to != NULL && !is_own_last(run) &&
                                 lane == &run->up_from[run->child_count - 1]
                             ? run->up_to->done
                             : run->reduced);
}

const struct esi_run_phase esi_run_reduce = {.set_up = reduce_set_up,
                                             .work = reduce_work,
                                             .ready = reduce_ready};

/* --- Blocks: gather and scatter --------------------------------------------------- */

/* Returns whether the subtree has consecutive ranks in ascending order, so that its
 * blocks are in the program's buffer in the order of the message. */
static bool is_ascending(const struct esi_tree_run *run, int rank)
{
    const struct esi_tree *tree = run->call.tree;
    const int *order = tree->order + tree->position[rank];

    for (int i = 1; i < tree->subtree[rank]; i++)
        if (order[i] != order[0] + i)
            return false;
    return true;
}

static bool is_folded(const struct esi_tree_run *run)
{
    return run->up == &esi_run_fold;
}

/* The block of a rank of the subtree, in `staged`. */
static char *staged_block(const struct esi_tree_run *run, int rank)
{
    const struct esi_tree *tree = run->call.tree;

    return run->staged + (MPI_Aint)(run->block * (tree->position[rank] -
                                                  tree->position[run->call.rank]));
}

/* Allocates memory for the blocks of the whole subtree, once. */
static int allocate_staged(struct esi_tree_run *run)
{
    size_t ranks = (size_t)run->call.tree->subtree[run->call.rank];

    if (run->staged != NULL)
        return MPI_SUCCESS;
    if ((size_t)run->block > SIZE_MAX / ranks)
        return MPI_ERR_NO_MEM;
    run->staged = esi_run_alloc(run, ranks * (size_t)run->block);
    return run->staged != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The program's buffer with the blocks of all ranks, at the root. */
static struct esi_data *all_blocks(struct esi_tree_run *run)
{
    return run->up != NULL ? &run->result : &run->own;
}

/* The block of a rank in that buffer. */
static struct esi_data block_of_rank(struct esi_tree_run *run, int rank)
{
    MPI_Count count = run->up != NULL ? run->call.receive_count : run->call.send_count;

    return esi_data_part(all_blocks(run), rank * count, count);
}

/* At the root: sends or receives a child's message directly in the program's buffer.
 * Returns false if its blocks are not in the order of the message. */
static bool set_child_direct(struct esi_tree_run *run,
                             int child,
                             struct esi_run_lane *lane)
{
    struct esi_data there = block_of_rank(run, child);
    int ranks = run->call.tree->subtree[child];

    if (ranks == 1)
        return esi_run_lane_set_direct(lane, run->piece_bytes, &there, true);
    if (!all_blocks(run)->is_plain || !is_ascending(run, child))
        return false;
    esi_run_lane_set_bytes(lane, run->piece_bytes, there.base, ranks * run->block);
    return true;
}

/* Sets a lane for each child, with the blocks of its subtree. */
static int set_up_child_blocks(struct esi_tree_run *run, struct esi_run_lane *lanes)
{
    int result = MPI_SUCCESS;

    for (int i = 0; i < run->child_count && result == MPI_SUCCESS; i++) {
        int child = run->children[i];

        if (run->is_root && !is_folded(run) && set_child_direct(run, child, &lanes[i]))
            continue;
        result = allocate_staged(run);
        if (result == MPI_SUCCESS)
            esi_run_lane_set_bytes(&lanes[i], run->piece_bytes,
                                   staged_block(run, child),
                                   run->call.tree->subtree[child] * run->block);
    }
    return result;
}

/* Sets the lane to or from the parent, with the blocks of the own subtree.  A leaf's
 * `own` block is sent or received directly if possible (*ret_is_direct). */
static int set_up_parent_blocks(struct esi_tree_run *run,
                                struct esi_run_lane *lane,
                                struct esi_data *own,
                                bool *ret_is_direct)
{
    MPI_Count ranks = run->call.tree->subtree[run->call.rank];
    bool typed = !is_folded(run) && lane->peer == run->call.tree->root;
    int result;

    *ret_is_direct =
        ranks == 1 && esi_run_lane_set_direct(lane, run->piece_bytes, own, typed);
    if (*ret_is_direct)
        return MPI_SUCCESS;
    result = allocate_staged(run);
    esi_run_lane_set_bytes(lane, run->piece_bytes, run->staged, ranks * run->block);
    return result;
}

/* Returns whether a child's blocks are in our memory. */
static bool is_staged(const struct esi_tree_run *run,
                      const struct esi_run_lane *lane,
                      int child)
{
    return run->staged != NULL && lane->base == staged_block(run, child);
}

/* At the root: copies the blocks of a child's subtree between our memory and the
 * program's. */
static int copy_subtree(struct esi_tree_run *run, int child)
{
    const struct esi_tree *tree = run->call.tree;
    const int *order = tree->order + tree->position[child];
    int result = MPI_SUCCESS;

    for (int i = 0; i < tree->subtree[child] && result == MPI_SUCCESS; i++) {
        struct esi_data there = block_of_rank(run, order[i]);
        char *staged = staged_block(run, order[i]);

        result = run->up != NULL ? esi_data_unpack(run, staged, &there)
                                 : esi_data_pack(run, &there, staged);
    }
    return result;
}

/* --- Gather: gather, allgather, and reductions that do not commute ---------------- */

/*
 * A node sends one message, in pieces: its own block, then the messages of its children
 * in their order, so blocks are in preorder.  Its memory contains all of them.  The
 * contiguous prefix that has arrived is forwarded before the rest arrives.  The root
 * receives blocks directly where the program wants them if possible, and unpacks the
 * others.
 */

static int gather_set_up(struct esi_tree_run *run)
{
    bool is_direct;
    int result;

    run->block = run->own.bytes;
    if (run->is_root && !is_folded(run))
        run->block = run->call.receive_count * run->result.size;
    result = set_up_child_blocks(run, run->up_from);
    if (result != MPI_SUCCESS || run->up_to == NULL)
        return result;
    result = set_up_parent_blocks(run, run->up_to, &run->own, &is_direct);
    if (is_direct)
        run->result_is_read = run->in_place;
    else if (result == MPI_SUCCESS)
        result = esi_data_pack(run, &run->own, run->staged);
    return result;
}

static int copy_own(struct esi_tree_run *run)
{
    struct esi_data there = block_of_rank(run, run->call.rank);

    return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &there, &run->own);
}

/* Counts the children, in their order, whose messages are complete. */
static int gather_work(struct esi_tree_run *run)
{
    bool unpacks = run->is_root && !is_folded(run);
    int result = MPI_SUCCESS;

    while (run->children_done < run->child_count && result == MPI_SUCCESS &&
           esi_run_lane_is_done(&run->up_from[run->children_done])) {
        int child = run->children[run->children_done];

        if (unpacks && is_staged(run, &run->up_from[run->children_done], child))
            result = copy_subtree(run, child);
        run->children_done++;
    }
    if (run->children_done < run->child_count || run->gathered || result != MPI_SUCCESS)
        return result;
    run->gathered = true;
    return unpacks ? copy_own(run) : MPI_SUCCESS;
}

static MPI_Count gather_ready(const struct esi_tree_run *run,
                              const struct esi_run_lane *lane)
{
    const struct esi_tree *tree = run->call.tree;
    MPI_Count there;
    int child;

    if (lane != run->up_to || run->children_done == run->child_count)
        return lane->pieces;
    child = run->children[run->children_done];
    there = run->block * (tree->position[child] - tree->position[run->call.rank]) +
            esi_run_lane_bytes_done(&run->up_from[run->children_done]);
    return there / lane->per_piece;
}

/* --- Noncommutative operators ----------------------------------------------------- */

/*
 * The root has all contributions in packed form, and reduces them in rank order from
 * left to right: one piece of all ranks at a time, so that little additional memory is
 * needed.
 */
static int fold_set_up(struct esi_tree_run *run)
{
    MPI_Count per_piece = elements_per_piece(run);
    MPI_Aint step;
    int result;

    esi_run_lane_set_typed(&run->work, &run->own, per_piece);
    run->pieces = run->work.pieces;
    result = gather_set_up(run);
    if (result != MPI_SUCCESS || !run->is_root)
        return result;
    result = esi_run_typed_memory(run, per_piece, 2, &run->fold_values[0], &step);
    run->fold_values[1] = run->fold_values[0] + step;
    return result;
}

/* Copies a piece of a rank's contribution to `there`. */
static int fetch_contribution(struct esi_tree_run *run,
                              int rank,
                              MPI_Count piece,
                              struct esi_data *there)
{
    MPI_Count first = piece * run->work.per_piece;
    struct esi_data own = esi_data_part(&run->own, first, there->count);

    if (rank == run->call.rank)
        return esi_data_copy(run, there, &own);
    return esi_data_unpack(run, staged_block(run, rank) + first * run->own.size, there);
}

static int fold_piece(struct esi_tree_run *run, MPI_Count piece)
{
    MPI_Count count = esi_run_lane_count(&run->work, piece);
    struct esi_data to =
        esi_data_part(&run->result, piece * run->work.per_piece, count);
    struct esi_data value = to;
    struct esi_data next = to;
    int result;

    value.base = run->fold_values[0];
    next.base = run->fold_values[1];
    result = fetch_contribution(run, 0, piece, &value);
    for (int rank = 1; rank < run->call.tree->size && result == MPI_SUCCESS; rank++) {
        char *free_memory = value.base;

        result = fetch_contribution(run, rank, piece, &next);
        if (result == MPI_SUCCESS)
            result =
                esi_data_reduce(&run->own, count, value.base, next.base, run->call.op);
        value.base = next.base;
        next.base = free_memory;
    }
    return result == MPI_SUCCESS ? esi_data_copy(run, &to, &value) : result;
}

static int fold_work(struct esi_tree_run *run)
{
    int result = gather_work(run);

    while (run->is_root && run->gathered && run->reduced < run->pieces &&
           result == MPI_SUCCESS)
        result = fold_piece(run, run->reduced++);
    return result;
}

const struct esi_run_phase esi_run_gather = {.set_up = gather_set_up,
                                             .work = gather_work,
                                             .ready = gather_ready};
const struct esi_run_phase esi_run_fold = {.set_up = fold_set_up,
                                           .work = fold_work,
                                           .ready = gather_ready};

/* --- Bcast: bcast, barrier, allreduce, allgather ---------------------------------- */

/*
 * A node forwards each piece when it has arrived.  Reductions have the same datatype
 * everywhere, so their pieces are sent typed, divided as in the reduce phase.
 * Otherwise types may differ, and a divided message is sent as packed bytes.
 */

static bool is_reduction(const struct esi_tree_run *run)
{
    return run->call.kind == ES_TREE_ALLREDUCE;
}

static int set_up_bcast_lane(struct esi_tree_run *run, struct esi_run_lane *lane)
{
    if (is_reduction(run)) {
        esi_run_lane_set_typed(lane, &run->result, elements_per_piece(run));
        return MPI_SUCCESS;
    }
    if (run->packed == NULL &&
        esi_run_lane_set_direct(lane, run->piece_bytes, &run->result, true))
        return MPI_SUCCESS;
    if (run->packed == NULL)
        run->packed = esi_run_alloc(run, (size_t)run->result.bytes);
    esi_run_lane_set_bytes(lane, run->piece_bytes, run->packed, run->result.bytes);
    return run->packed != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int bcast_set_up(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    if (run->call.kind == ES_TREE_BARRIER)
        return MPI_SUCCESS; /* the reduce phase has set up all lanes */
    for (int i = run->down_first; i < run->lane_count && result == MPI_SUCCESS; i++)
        result = set_up_bcast_lane(run, &run->lanes[i]);
    return result;
}

/* Number of pieces that the root has. */
static MPI_Count root_pieces_ready(const struct esi_tree_run *run)
{
    if (run->call.kind == ES_TREE_BCAST)
        return INT64_MAX;
    if (run->call.kind == ES_TREE_ALLGATHER)
        return run->gathered ? INT64_MAX : 0;
    return run->reduced;
}

static int bcast_work(struct esi_tree_run *run)
{
    if (run->packed == NULL || run->packed_done)
        return MPI_SUCCESS;
    if (run->is_root ? root_pieces_ready(run) == 0
                     : !esi_run_lane_is_done(run->down_from))
        return MPI_SUCCESS;
    run->packed_done = true;
    return run->is_root ? esi_data_pack(run, &run->result, run->packed)
                        : esi_data_unpack(run, run->packed, &run->result);
}

/* Number of pieces that may overwrite the previous contents of the program's memory. */
static MPI_Count pieces_receivable(const struct esi_tree_run *run)
{
    if (!run->result_is_read)
        return INT64_MAX;
    /* Pieces of both phases correspond only if values are reduced on the way up. */
    if (run->up == &esi_run_reduce)
        return run->up_to->done;
    return esi_run_lane_is_done(run->up_to) ? INT64_MAX : 0;
}

static MPI_Count bcast_ready(const struct esi_tree_run *run,
                             const struct esi_run_lane *lane)
{
    if (lane == run->down_from)
        return pieces_receivable(run);
    return run->is_root ? root_pieces_ready(run) : run->down_from->done;
}

const struct esi_run_phase esi_run_bcast = {.set_up = bcast_set_up,
                                            .work = bcast_work,
                                            .ready = bcast_ready};

/* --- Scatter ---------------------------------------------------------------------- */

/*
 * The mirror image of the gather phase: a node receives the blocks of its subtree in
 * preorder, its own first, and forwards those of its children when they arrive.
 */

static int scatter_set_up(struct esi_tree_run *run)
{
    bool is_direct;
    int result = MPI_SUCCESS;

    run->block =
        run->is_root ? run->call.send_count * run->own.size : run->result.bytes;
    if (!run->is_root)
        result = set_up_parent_blocks(run, run->down_from, &run->result, &is_direct);
    if (result == MPI_SUCCESS)
        result = set_up_child_blocks(run, run->down_to);
    for (int i = 0; run->is_root && i < run->child_count && result == MPI_SUCCESS; i++)
        if (is_staged(run, &run->down_to[i], run->children[i]))
            result = copy_subtree(run, run->children[i]);
    return result;
}

/* Unpacks the own block into the program's memory. */
static int scatter_work(struct esi_tree_run *run)
{
    struct esi_data own;

    if (run->children_done != 0)
        return MPI_SUCCESS;
    if (run->is_root) {
        run->children_done = 1;
        own = block_of_rank(run, run->call.rank);
        return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &run->result, &own);
    }
    if (!esi_run_lane_is_done(run->down_from))
        return MPI_SUCCESS;
    run->children_done = 1;
    return run->staged != NULL ? esi_data_unpack(run, run->staged, &run->result)
                               : MPI_SUCCESS;
}

static MPI_Count scatter_ready(const struct esi_tree_run *run,
                               const struct esi_run_lane *lane)
{
    MPI_Count before;
    MPI_Count come;

    if (run->is_root || lane == run->down_from)
        return lane->pieces;
    before = lane->base - run->staged;
    come = esi_run_lane_bytes_done(run->down_from) - before;
    if (come >= (MPI_Count)lane->bytes)
        return lane->pieces;
    return come > 0 ? come / lane->per_piece : 0;
}

const struct esi_run_phase esi_run_scatter = {.set_up = scatter_set_up,
                                              .work = scatter_work,
                                              .ready = scatter_ready};
