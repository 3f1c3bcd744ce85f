/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order_truth - calls random operations of all kinds and logs their true order.
 *
 *   order_truth LOG_DIRECTORY SEED STEPS [THREADS]
 *
 * With two threads each runs its own program on its own communicators; in the logs the
 * ranks of the second thread are 100 larger.  LOG_DIRECTORY/log.RANK has a line for
 * each event, in program order; lines are numbered from 1.  Messages and collective
 * operations carry these numbers, and a receiver logs those that it received: the true
 * order is the closure of these edges and the program order (compare_truth.py).
 * Fields, separated by tabs:
 *
 *   S CALL NAME BYTES              a send; BYTES are unique in the run
 *   R CALL NAME BYTES RANK:LINE    a receive, and its send
 *   E CALL NAME ID                 a collective operation begins
 *   X CALL NAME ID HEARD           it ends; HEARD: RANK:LINE,... of begins that it
 *                                  depends on, `*` for those of all ranks, `/` for
 *                                  those of the ranks of the other parity, `-` for none
 *   P, A CALL NAME ID              an exposure (P) or access (A) epoch has begun
 *   C CALL NAME ID                 the end of an access epoch begins
 *   D CALL NAME ID HEARD           an access epoch has ended; HEARD: RANK:0,... of its
 *                                  targets
 *   W CALL NAME ID HEARD           an exposure epoch has ended; HEARD: lines of kind C
 *
 * Events of one call have the same CALL: MPI does not order them.
 */
#include "order_calls.h"
#include "order_log.h"
#include "order_windows.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 4, BUFFER_BYTES = 1 << 24 };

enum held_kind { HELD_NOTHING, HELD_SEND, HELD_RECEIVE, HELD_OPERATION };

struct held {
    enum held_kind kind;
    bool persistent;
    MPI_Request request;
    int *words;
    const char *name;
    struct operation *operation;
};

static bool has_threads; /* there are two */

/* Each thread runs its own program. */
static _Thread_local uint64_t seed;
static _Thread_local int words_max;
static _Thread_local MPI_Comm comms[COMMS];
static _Thread_local int world_of[COMMS]
                                 [RANKS_MAX]; /* COMM_BETWEEN: the remote group */
static _Thread_local struct held held[SLOTS];
static _Thread_local int sources[RANKS_MAX]; /* neighbours in COMM_GRAPH */
static _Thread_local int source_count;

/* --- Communicators ---------------------------------------------------------------- */

static int rank_in(enum comm comm, int world)
{
    for (int i = 0; i < size; i++)
        if (world_of[comm][i] == world)
            return i;
    die("no such rank");
    return -1;
}

static int members_of(enum comm comm)
{
    int count;

    if (comm == COMM_BETWEEN)
        return (size + 1) / 2; /* that of the larger group: counts must agree */
    MPI_Comm_size(comms[comm], &count);
    return count;
}

static void learn_ranks(enum comm comm)
{
    MPI_Group group;
    MPI_Group world;
    int inter;
    int count;
    int own[RANKS_MAX];

    MPI_Comm_test_inter(comms[comm], &inter);
    if (inter)
        MPI_Comm_remote_group(comms[comm], &group);
    else
        MPI_Comm_group(comms[comm], &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &count);
    for (int i = 0; i < RANKS_MAX; i++) {
        own[i] = i;
        world_of[comm][i] = -1;
    }
    MPI_Group_translate_ranks(group, count, own, world, world_of[comm]);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void make_graph(void)
{
    int destinations[RANKS_MAX];
    int count = 0;

    for (int i = 0; i < size; i++) {
        if (schedule_has_edge(seed, size, i, rank))
            sources[source_count++] = i;
        if (schedule_has_edge(seed, size, rank, i))
            destinations[count++] = i;
    }
    MPI_Dist_graph_create_adjacent(comms[COMM_WORLD], source_count, sources,
                                   MPI_UNWEIGHTED, count, destinations, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comms[COMM_GRAPH]);
}

static void make_communicators(void)
{
    log_made("MPI_Comm_dup", 1);
    MPI_Comm_dup(comms[COMM_WORLD], &comms[COMM_WILD]);
    log_made("MPI_Comm_dup", 0);
    log_made("MPI_Comm_split", 1);
    MPI_Comm_split(comms[COMM_WORLD], 0, -rank, &comms[COMM_REVERSED]);
    log_made("MPI_Comm_split", 0);
    log_made("MPI_Comm_split", 1);
    MPI_Comm_split(comms[COMM_WORLD], rank % 2, rank, &comms[COMM_HALF]);
    log_made("MPI_Comm_split", 0);
    MPI_Intercomm_create(comms[COMM_HALF], 0, comms[COMM_WORLD], 1 - rank % 2,
                         99 + thread, &comms[COMM_BETWEEN]);
    log_made("MPI_Cart_create", 1);
    MPI_Cart_create(comms[COMM_WORLD], 1, &size, (int[]){1}, 0, &comms[COMM_GRID]);
    log_made("MPI_Cart_create", 0);
    log_made("MPI_Dist_graph_create_adjacent", 1);
    make_graph();
    log_made("MPI_Dist_graph_create_adjacent", 0);
    for (int i = 0; i < COMMS; i++)
        learn_ranks((enum comm)i);
}

/* --- Sending ---------------------------------------------------------------------- */

static const char *const send_names[SEND_FORMS] = {
    [SEND_BLOCKING] = "MPI_Send",
    [SEND_SYNCHRONOUS] = "MPI_Ssend",
    [SEND_BUFFERED] = "MPI_Bsend",
    [SEND_LATER] = "MPI_Isend",
    [SEND_SYNCHRONOUS_LATER] = "MPI_Issend",
    [SEND_BUFFERED_LATER] = "MPI_Ibsend",
    [SEND_PERSISTENT] = "MPI_Start send",
};

static int words_of(int id)
{
    return HEADER + id;
}

static void log_send(const char *name, int id, int *words)
{
    log_calls++;
    words[0] = log_name(rank);
    words[1] = log_put('S', name, words_of(id) * (int)sizeof(int));
    words[2] = id;
}

static void do_send(const struct step *step)
{
    struct held *slot = step->slot[0] >= 0 ? &held[step->slot[0]] : NULL;
    int *words = allocate((size_t)words_of(step->id) * sizeof *words);
    int to = rank_in(step->comm, step->peer);
    int count = words_of(step->id);
    int tag = step->tag;
    MPI_Comm comm = comms[step->comm];
    MPI_Request request = MPI_REQUEST_NULL;

    if (step->form == SEND_PERSISTENT)
        MPI_Send_init(words, count, MPI_INT, to, tag, comm, &request);
    log_send(send_names[step->form], step->id, words);
    if (step->form == SEND_BLOCKING)
        MPI_Send(words, count, MPI_INT, to, tag, comm);
    else if (step->form == SEND_SYNCHRONOUS)
        MPI_Ssend(words, count, MPI_INT, to, tag, comm);
    else if (step->form == SEND_BUFFERED)
        MPI_Bsend(words, count, MPI_INT, to, tag, comm);
    else if (step->form == SEND_LATER)
        MPI_Isend(words, count, MPI_INT, to, tag, comm, &request);
    else if (step->form == SEND_SYNCHRONOUS_LATER)
        MPI_Issend(words, count, MPI_INT, to, tag, comm, &request);
    else if (step->form == SEND_BUFFERED_LATER)
        MPI_Ibsend(words, count, MPI_INT, to, tag, comm, &request);
    else
        MPI_Start(&request);
    if (slot == NULL)
        free(words);
    else
        *slot = (struct held){.kind = HELD_SEND,
                              .persistent = step->form == SEND_PERSISTENT,
                              .request = request,
                              .words = words};
}

/* --- Receiving -------------------------------------------------------------------- */

static void log_received(const char *name, const int *words)
{
    log_put('R', name, words_of(words[2]) * (int)sizeof(int));
    fprintf(log_file, "\t%d:%d", words[0], words[1]);
}

static void receive_probed(MPI_Comm comm, int from, int tag, bool polls, int *words)
{
    MPI_Status status;
    int flag = !polls;

    if (!polls)
        MPI_Probe(from, tag, comm, &status);
    while (!flag)
        MPI_Iprobe(from, tag, comm, &flag, &status);
    MPI_Recv(words, words_max, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm,
             MPI_STATUS_IGNORE);
}

static void receive_matched(MPI_Comm comm, int from, int tag, int *words)
{
    MPI_Message message;

    MPI_Mprobe(from, tag, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(words, words_max, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void receive_later(struct held *slot, MPI_Comm comm, int from, int tag, int form)
{
    *slot = (struct held){.kind = HELD_RECEIVE,
                          .persistent = form == RECEIVE_PERSISTENT,
                          .words = allocate((size_t)words_max * sizeof(int)),
                          .name = form == RECEIVE_PERSISTENT ? "MPI_Start receive"
                                                             : "MPI_Irecv"};
    if (form == RECEIVE_LATER) {
        MPI_Irecv(slot->words, words_max, MPI_INT, from, tag, comm, &slot->request);
        return;
    }
    MPI_Recv_init(slot->words, words_max, MPI_INT, from, tag, comm, &slot->request);
    MPI_Start(&slot->request);
}

static void do_receive(enum comm at, int source, int tag, int form, int slot)
{
    int from = source < 0 ? MPI_ANY_SOURCE : rank_in(at, source);
    MPI_Comm comm = comms[at];
    int *words;

    if (tag < 0)
        tag = MPI_ANY_TAG;
    if (form >= RECEIVE_LATER) {
        receive_later(&held[slot], comm, from, tag, form);
        return;
    }
    words = allocate((size_t)words_max * sizeof *words);
    if (form == RECEIVE_BLOCKING)
        MPI_Recv(words, words_max, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
    else if (form == RECEIVE_MATCHED)
        receive_matched(comm, from, tag, words);
    else
        receive_probed(comm, from, tag, form == RECEIVE_POLLED, words);
    log_calls++;
    log_received(form == RECEIVE_MATCHED ? "MPI_Mrecv" : "MPI_Recv", words);
    free(words);
}

static void do_pair(const struct step *step)
{
    if (rank == step->rank)
        do_send(step);
    else
        do_receive(step->comm, schedule_asked_source(step), schedule_asked_tag(step),
                   step->other_form, -1);
}

static void do_exchange(const struct step *step)
{
    int other = rank == step->rank ? step->peer : step->rank;
    int id = step->id + (rank == step->rank ? 0 : 1);
    int to = rank_in(step->comm, other);
    int *out = allocate((size_t)words_max * sizeof *out);
    int *in = allocate((size_t)words_max * sizeof *in);

    log_send("MPI_Sendrecv", id, out);
    MPI_Sendrecv(out, words_of(id), MPI_INT, to, step->tag, in, words_max, MPI_INT,
                 schedule_asked_source(step) < 0 ? MPI_ANY_SOURCE : to,
                 schedule_asked_tag(step) < 0 ? MPI_ANY_TAG : step->tag,
                 comms[step->comm], MPI_STATUS_IGNORE);
    log_calls++;
    log_received("MPI_Sendrecv receive", in);
    free(in);
    free(out);
}

/* --- Collective operations -------------------------------------------------------- */

/* Fills the send buffer with the line number, at the places that belong to this
 * rank. */
static void fill(struct operation *operation, int own, int count)
{
    int line = operation->entered;

    switch (operation->step->form) {
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_SCAN:
    case COLLECTIVE_EXSCAN:
        operation->send[own] = line;
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        for (int i = 0; i < count; i++)
            operation->send[i * count + own] = line;
        break;
    case COLLECTIVE_BCAST:
        if (operation->step->root == rank)
            operation->receive[0] = line;
        break;
    default:
        for (int i = 0; i < count; i++)
            operation->send[i] = line;
        break;
    }
}

/* Returns the number of ranks from which the result at this rank contains data, and
 * these ranks. */
static int heard_by(const struct operation *operation, int from[2 * RANKS_MAX])
{
    const struct step *step = operation->step;
    int count = members_of(step->comm);

    for (int i = 0; i < count; i++)
        from[i] = world_of[step->comm][i];
    switch (step->form) {
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_GATHER:
        return rank == step->root ? count : 0;
    case COLLECTIVE_BCAST:
    case COLLECTIVE_SCATTER:
        from[0] = step->root;
        return 1;
    case COLLECTIVE_EXSCAN: /* the first rank has no result */
        return rank_in(step->comm, rank) == 0 ? 0 : count;
    case COLLECTIVE_NEIGHBOURS:
        if (step->comm == COMM_GRID) {
            from[0] = (rank + size - 1) % size;
            from[1] = (rank + 1) % size;
            return 2;
        }
        memcpy(from, sources, sizeof sources);
        return source_count;
    default:
        return count;
    }
}

/* Returns the root argument of the call. */
static int root_of(const struct step *step)
{
    if (step->comm != COMM_BETWEEN || step->root % 2 != rank % 2)
        return rank_in(step->comm, step->root);
    return step->root == rank ? MPI_ROOT : MPI_PROC_NULL;
}

static void log_end(struct operation *operation)
{
    const struct step *step = operation->step;
    int from[2 * RANKS_MAX];
    int count = heard_by(operation, from);
    bool is_first = true;

    log_put('X', operation_names[step->form][step->other_form], step->id);
    if (step->form == COLLECTIVE_BARRIER || step->form == COLLECTIVE_DUPLICATE) {
        fputs(step->comm == COMM_BETWEEN ? "\t/" : "\t*", log_file);
        return;
    }
    /* MPI_Ibcast of MPICH 4.0 does not change any buffer between two groups. The driver
     * then does not use this program. */
    if (step->form == COLLECTIVE_BCAST && operation->receive[0] == 0 &&
        root_of(step) != MPI_PROC_NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (int i = 0; i < count; i++)
        if (operation->receive[i] != 0)
            log_hear(&is_first, from[i], operation->receive[i]);
    if (is_first)
        fputs("\t-", log_file);
}

static void end_operation(struct operation *operation)
{
    log_end(operation);
    if (operation->duplicate != MPI_COMM_NULL)
        MPI_Comm_free(&operation->duplicate);
    free(operation);
}

static void do_together(const struct step *step)
{
    struct operation *operation = allocate(sizeof *operation);
    struct held *slot = step->slot[rank] >= 0 ? &held[step->slot[rank]] : NULL;
    MPI_Comm comm = comms[step->comm];
    MPI_Request request = MPI_REQUEST_NULL;
    int own = step->comm == COMM_BETWEEN ? rank / 2 : rank_in(step->comm, rank);
    int root = root_of(step);
    int count = members_of(step->comm);
    bool persistent = false;

    operation->step = step;
    operation->duplicate = MPI_COMM_NULL;
    if (step->other_form == WAY_PERSISTENT)
        persistent = operation_prepare(operation, comm, count, root, &request);
    log_calls++;
    operation->entered =
        log_put('E', operation_names[step->form][step->other_form], step->id);
    fill(operation, own, count);
    if (slot == NULL) {
        operation_call(operation, comm, count, root);
        log_calls++;
        end_operation(operation);
        return;
    }
    if (persistent)
        MPI_Start(&request);
    else
        operation_begin(operation, comm, count, root, &request);
    *slot = (struct held){.kind = HELD_OPERATION,
                          .persistent = persistent,
                          .request = request,
                          .operation = operation};
}

/* --- Completing ------------------------------------------------------------------- */

static void completed(struct held *slot, MPI_Request *request)
{
    if (slot->kind == HELD_RECEIVE)
        log_received(slot->name, slot->words);
    else if (slot->kind == HELD_OPERATION)
        end_operation(slot->operation);
    if (slot->persistent)
        MPI_Request_free(request);
    free(slot->words);
    *request = MPI_REQUEST_NULL;
    *slot = (struct held){.kind = HELD_NOTHING};
}

struct batch {
    MPI_Request requests[SLOTS];
    struct held *slots[SLOTS];
    int count;
    int left;
};

/* MPICH 4.0 fails if several of these requests are waited for or one is tested. */
static bool is_delicate(const struct held *slot)
{
    return slot->persistent && slot->kind == HELD_OPERATION;
}

static void gather(struct batch *batch, uint64_t slots)
{
    batch->count = 0;
    for (int i = 0; i < SLOTS; i++)
        if (slots >> i & 1 && held[i].kind != HELD_NOTHING && !is_delicate(&held[i])) {
            batch->slots[batch->count] = &held[i];
            batch->requests[batch->count++] = held[i].request;
        }
    batch->left = batch->count;
}

static void end_one(struct batch *batch, int index)
{
    completed(batch->slots[index], &batch->requests[index]);
    batch->left--;
}

static void end_some(struct batch *batch, int count, const int *indices)
{
    log_calls++;
    for (int i = 0; i < count; i++)
        end_one(batch, indices[i]);
}

/* Waits or tests once. Returns whether there may be more to do. */
static void complete_some(struct batch *batch, int form)
{
    static const int all[SLOTS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                   12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
    int indices[SLOTS];
    int next = 0;
    int flag = 1;
    int count = 1;

    while (batch->requests[next] == MPI_REQUEST_NULL)
        next++;
    indices[0] = next;
    if (form == FINISH_WAIT)
        MPI_Wait(&batch->requests[next], MPI_STATUS_IGNORE);
    else if (form == FINISH_TEST)
        MPI_Test(&batch->requests[next], &flag, MPI_STATUS_IGNORE);
    else if (form == FINISH_WAITANY)
        MPI_Waitany(batch->count, batch->requests, indices, MPI_STATUS_IGNORE);
    else if (form == FINISH_TESTANY)
        MPI_Testany(batch->count, batch->requests, indices, &flag, MPI_STATUS_IGNORE);
    else if (form == FINISH_WAITSOME)
        MPI_Waitsome(batch->count, batch->requests, &count, indices,
                     MPI_STATUSES_IGNORE);
    else if (form == FINISH_TESTSOME)
        MPI_Testsome(batch->count, batch->requests, &count, indices,
                     MPI_STATUSES_IGNORE);
    else if (form == FINISH_WAITALL)
        MPI_Waitall(batch->count, batch->requests, MPI_STATUSES_IGNORE);
    else
        MPI_Testall(batch->count, batch->requests, &flag, MPI_STATUSES_IGNORE);
    if (form == FINISH_WAITALL || form == FINISH_TESTALL)
        end_some(batch, flag ? batch->count : 0, all);
    else
        end_some(batch, flag ? count : 0, indices);
}

static void do_finish(const struct step *step)
{
    struct batch batch;

    for (int i = 0; i < SLOTS; i++)
        if (step->slots >> i & 1 && is_delicate(&held[i])) {
            MPI_Wait(&held[i].request, MPI_STATUS_IGNORE);
            log_calls++;
            completed(&held[i], &held[i].request);
        }
    gather(&batch, step->slots);
    while (batch.left > 0)
        complete_some(&batch, step->form);
}

static void do_poll(void)
{
    struct batch batch;

    gather(&batch, (UINT64_C(1) << SLOTS) - 1);
    if (batch.left > 0)
        complete_some(&batch, FINISH_TESTSOME);
}

static void do_cancel(const struct step *step)
{
    int from = step->peer < 0 ? MPI_ANY_SOURCE : rank_in(step->comm, step->peer);
    MPI_Request request;
    MPI_Status status;
    int cancelled;
    int word;

    MPI_Irecv(&word, 1, MPI_INT, from, step->tag < 0 ? MPI_ANY_TAG : step->tag,
              comms[step->comm], &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled)
        die("a receive that cannot be matched was not cancelled");
}

/* --- All -------------------------------------------------------------------------- */

static void do_step(const struct step *step)
{
    bool is_own = step->rank == rank;

    if (step->kind == STEP_FENCE)
        windows_fence(step);
    else if (step->kind == STEP_EPOCH)
        windows_epoch(step);
    else if (step->kind == STEP_TOGETHER &&
             schedule_is_member(step->comm, step->rank, rank))
        do_together(step);
    else if (step->kind == STEP_PAIR && (is_own || step->peer == rank))
        do_pair(step);
    else if (step->kind == STEP_EXCHANGE && (is_own || step->peer == rank))
        do_exchange(step);
    else if (step->kind == STEP_SEND && is_own)
        do_send(step);
    else if (step->kind == STEP_RECEIVE && is_own)
        do_receive(step->comm, step->peer, step->tag, step->form, step->slot[0]);
    else if (step->kind == STEP_FINISH && is_own)
        do_finish(step);
    else if (step->kind == STEP_POLL && is_own)
        do_poll();
    else if (step->kind == STEP_CANCEL && is_own)
        do_cancel(step);
}

static void free_all(void)
{
    windows_free();
    for (int i = COMM_WORLD + 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    log_close();
}

/* The program of a thread. */
struct program {
    int thread;
    MPI_Comm world;
    const char *directory;
    uint64_t seed;
    int length;
};

static void start_second(const struct program *first,
                         struct program *second,
                         pthread_t *ret_id);

static void *run(void *data)
{
    const struct program *program = data;
    struct program second;
    pthread_t id;
    struct schedule schedule;

    thread = program->thread;
    seed = program->seed;
    comms[COMM_WORLD] = program->world;
    if (!schedule_make(seed, size, program->length, &schedule))
        die("no memory");
    words_max = words_of(schedule.ids);
    log_open(program->directory);
    if (has_threads && thread == 0)
        start_second(program, &second, &id);
    make_communicators();
    windows_make(comms[COMM_WORLD]);
    for (size_t i = 0; i < schedule.count; i++)
        do_step(&schedule.steps[i]);
    free(schedule.steps);
    free_all();
    if (has_threads && thread == 0) {
        pthread_join(id, NULL);
        MPI_Comm_free(&second.world);
    }
    return NULL;
}

static void start_second(const struct program *first,
                         struct program *second,
                         pthread_t *ret_id)
{
    *second = *first;
    second->thread = 1;
    second->seed += 1000000;
    log_made("MPI_Comm_dup", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &second->world);
    log_made("MPI_Comm_dup", 0);
    if (pthread_create(ret_id, NULL, run, second) != 0)
        die("no thread");
}

int main(int argc, char **argv)
{
    struct program program = {.world = MPI_COMM_WORLD};
    int provided;
    int bytes;
    void *buffer;

    has_threads = argc == 5 && strcmp(argv[4], "2") == 0;
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4 || size < 2 || size > RANKS_MAX)
        die("usage: order_truth LOG_DIRECTORY SEED STEPS [THREADS], on 2 to 8 ranks");
    program.directory = argv[1];
    program.seed = strtoull(argv[2], NULL, 10);
    program.length = atoi(argv[3]);
    MPI_Buffer_attach(allocate(BUFFER_BYTES), BUFFER_BYTES);
    if (has_threads && provided < MPI_THREAD_MULTIPLE)
        die("this MPI has no threads");
    run(&program);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    MPI_Finalize();
    return 0;
}
