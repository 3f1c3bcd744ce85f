/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A program of nonblocking collective operations, which prints its results. They must
 * be the same with trees as with the library's algorithms.
 *
 *   nonblocking_trees random SEED ROUNDS    overlapping operations of all kinds
 *   nonblocking_trees details               statuses, freed handles, communicators
 *   nonblocking_trees threads               several threads, a communicator each
 *
 * Values are integers, so the order of reductions does not matter.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/random.h"

enum { MAX_OPERATIONS = 24, MAX_COUNT = 4000, MAX_RANKS = 8 };

static int rank;
static int size;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const int *values, int count)
{
    uint64_t hash = 7;

    for (int i = 0; i < count; i++)
        hash = mix(hash, (uint64_t)(uint32_t)values[i]);
    return hash;
}

/* --- Random operations ---------------------------------------------------------- */

struct operation {
    MPI_Request request;
    int *send;
    int *receive;
    int received; /* number of integers in `receive` afterwards */
};

static void fill(struct operation *operation, int number)
{
    for (int i = 0; i < MAX_COUNT * size; i++) {
        operation->send[i] = rank * 100003 + number * 17 + i;
        operation->receive[i] = -1;
    }
}

/* Starts a random nonblocking operation, the same at all ranks. */
static void begin(struct operation *operation,
                  MPI_Comm comm,
                  uint64_t *state,
                  int number)
{
    int own;
    int members;
    int kind = random_int(state, 7);
    int count = random_below(state, 4) == 0 ? random_int(state, MAX_COUNT)
                                            : random_int(state, 9);
    int root;
    bool in_place = random_below(state, 4) == 0;

    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    root = random_int(state, members);
    fill(operation, number);
    operation->received = count;
    if (kind == 0) {
        operation->received = 0;
        MPI_Ibarrier(comm, &operation->request);
    } else if (kind == 1) {
        if (own == root)
            memcpy(operation->receive, operation->send, (size_t)count * sizeof(int));
        MPI_Ibcast(operation->receive, count, MPI_INT, root, comm, &operation->request);
    } else if (kind == 2) {
        if (own != root)
            operation->received = 0;
        MPI_Ireduce(operation->send, operation->receive, count, MPI_INT, MPI_SUM, root,
                    comm, &operation->request);
    } else if (kind == 3) {
        if (in_place)
            memcpy(operation->receive, operation->send, (size_t)count * sizeof(int));
        MPI_Iallreduce(in_place ? MPI_IN_PLACE : operation->send, operation->receive,
                       count, MPI_INT, random_below(state, 2) == 0 ? MPI_MAX : MPI_SUM,
                       comm, &operation->request);
    } else if (kind == 4) {
        operation->received = own == root ? count * members : 0;
        MPI_Igather(operation->send, count, MPI_INT, operation->receive, count, MPI_INT,
                    root, comm, &operation->request);
    } else if (kind == 5) {
        MPI_Iscatter(operation->send, count, MPI_INT, operation->receive, count,
                     MPI_INT, root, comm, &operation->request);
    } else {
        operation->received = count * members;
        MPI_Iallgather(operation->send, count, MPI_INT, operation->receive, count,
                       MPI_INT, comm, &operation->request);
    }
}

/* Completes some or all of `count` requests, by a call that each rank draws itself. */
static void complete_some(MPI_Request *requests, int count, uint64_t *own)
{
    MPI_Status statuses[MAX_OPERATIONS];
    int indices[MAX_OPERATIONS];
    int at = random_int(own, count);
    int flag = 0;
    int done;

    switch (random_below(own, 9)) {
    case 0:
        MPI_Wait(&requests[at],
                 random_below(own, 2) == 0 ? MPI_STATUS_IGNORE : statuses);
        break;
    case 1:
        while (!flag)
            MPI_Test(&requests[at], &flag, statuses);
        break;
    case 2:
        MPI_Waitany(count, requests, &at, statuses);
        break;
    case 3:
        MPI_Waitsome(count, requests, &done, indices, statuses);
        break;
    case 4:
        MPI_Testany(count, requests, &at, &flag, statuses);
        break;
    case 5:
        MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        break;
    case 6:
        MPI_Testall(count, requests, &flag, statuses);
        break;
    case 7:
        if (requests[at] != MPI_REQUEST_NULL)
            MPI_Request_get_status(requests[at], &flag, statuses);
        break;
    default:
        MPI_Waitall(count, requests, statuses);
    }
}

static bool is_any_left(const MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

/* Messages and blocking collectives between the nonblocking operations. */
static uint64_t mix_in_others(MPI_Comm comm, uint64_t *state)
{
    int right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    int values[2] = {rank + 5, -1};
    int sums[MAX_RANKS * 2];
    MPI_Request request;

    switch (random_below(state, 8)) {
    case 0:
        MPI_Isend(&values[0], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(&values[1], 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Sendrecv(&values[0], 1, MPI_INT, right, 4, &values[1], 1, MPI_INT, left, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Sendrecv_replace(values, 1, MPI_INT, right, 5, left, 5, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Irecv(&values[1], 1, MPI_INT, left, 6, MPI_COMM_WORLD, &request);
        MPI_Ssend(&values[0], 1, MPI_INT, right, 6, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Allreduce(&values[0], &values[1], 1, MPI_INT, MPI_SUM, comm);
        break;
    case 5:
        MPI_Bcast(values, 2, MPI_INT, 0, comm);
        break;
    case 6:
        for (int i = 0; i < size; i++)
            sums[i] = rank * 10 + i;
        MPI_Alltoall(sums, 1, MPI_INT, sums + MAX_RANKS, 1, MPI_INT, MPI_COMM_WORLD);
        return hash_of(sums + MAX_RANKS, size);
    default:
        MPI_Scan(&values[0], &values[1], 1, MPI_INT, MPI_SUM, comm);
    }
    return hash_of(values, 2);
}

static uint64_t one_round(MPI_Comm comms[2], uint64_t *state, uint64_t *own)
{
    struct operation operations[MAX_OPERATIONS];
    MPI_Request requests[MAX_OPERATIONS];
    int count = 1 + random_int(state, MAX_OPERATIONS);
    size_t bytes = (size_t)MAX_COUNT * (size_t)size * sizeof(int);
    uint64_t hash = 1;

    for (int i = 0; i < count; i++) {
        operations[i].send = malloc(bytes);
        operations[i].receive = malloc(bytes);
        begin(&operations[i], comms[random_below(state, 2)], state, i);
        requests[i] = operations[i].request;
        if (random_below(state, 3) == 0)
            hash = mix(hash, mix_in_others(comms[random_below(state, 2)], state));
        if (random_below(own, 3) == 0)
            complete_some(requests, i + 1, own);
    }
    while (is_any_left(requests, count))
        complete_some(requests, count, own);
    for (int i = 0; i < count; i++) {
        hash = mix(hash, hash_of(operations[i].receive, operations[i].received));
        free(operations[i].send);
        free(operations[i].receive);
    }
    return hash;
}

static void do_random(uint64_t seed, int rounds)
{
    uint64_t state = seed;
    uint64_t own = mix(seed, (uint64_t)rank + 77);
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    int zero = 0;

    /* The ranks are reversed, so that each has another position in the other tree. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[1]);
    for (int i = 0; i < 2; i++)
        MPI_Bcast(&zero, 1, MPI_INT, 0, comms[i]);
    for (int i = 0; i < rounds; i++)
        printf("rank %d round %d: %016llx\n", rank, i,
               (unsigned long long)one_round(comms, &state, &own));
    MPI_Comm_free(&comms[1]);
}

/* --- Details -------------------------------------------------------------------- */

/* Source, tag and count are undefined here, so they are not printed. */
static void show(const char *name, int result, const MPI_Status *status)
{
    int cancelled = -1;

    MPI_Test_cancelled(status, &cancelled);
    printf("rank %d: %s: result %d error %d cancelled %d\n", rank, name, result,
           status->MPI_ERROR, cancelled);
}

static void show_statuses(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = 1;
    int sum;
    int at;
    int flag = 0;
    int result;

    memset(statuses, 0x11, sizeof statuses);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    result = MPI_Wait(&requests[0], &statuses[0]);
    show("wait", result, &statuses[0]);
    printf("rank %d: is null %d\n", rank, requests[0] == MPI_REQUEST_NULL);
    memset(statuses, 0x11, sizeof statuses);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    do
        result = MPI_Test(&requests[0], &flag, &statuses[0]);
    while (!flag);
    show("test", result, &statuses[0]);
    memset(statuses, 0x11, sizeof statuses);
    MPI_Ibcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    result = MPI_Waitall(2, requests, statuses);
    show("waitall", result, &statuses[0]);
    show("waitall", result, &statuses[1]);
    memset(statuses, 0x11, sizeof statuses);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    result = MPI_Waitany(2, requests, &at, &statuses[0]);
    show("waitany", result, &statuses[0]);
    printf("rank %d: index %d sum %d\n", rank, at, sum);
}

static MPI_Datatype expected_type;
static int strangers; /* calls with a type other than the program's */

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    if (*type != expected_type)
        strangers++;
    for (int i = 0; i < *count * 2; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static int deleted;

static int count_deleted(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type;
    (void)keyval;
    (void)value;
    (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* Frees handles while operations use them. */
static void free_early(void)
{
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request requests[2];
    int keyval;
    int from[2] = {rank, rank * 2};
    int to[2] = {-1, -1};
    int more[2] = {rank, rank};

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deleted, &keyval, NULL);
    MPI_Type_set_attr(pair, keyval, NULL);
    expected_type = pair;
    MPI_Op_create(add, 1, &op);
    if (rank == 0)
        usleep(20000);
    MPI_Iallreduce(from, to, 1, pair, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(more, 1, pair, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    printf("rank %d: freed %d %d\n", rank, pair == MPI_DATATYPE_NULL,
           op == MPI_OP_NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free_keyval(&keyval);
    printf("rank %d: %d %d %d %d strangers %d deleted %d\n", rank, to[0], to[1],
           more[0], more[1], strangers, deleted);
}

/* Frees predefined handles, which is an error. */
static void free_predefined(void)
{
    MPI_Request request;
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;
    int value = 1;
    int sum;
    int type_result;
    int op_result;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0)
        usleep(20000);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    type_result = MPI_Type_free(&type);
    op_result = MPI_Op_free(&op);
    MPI_Error_class(type_result, &type_result);
    MPI_Error_class(op_result, &op_result);
    printf("rank %d: predefined %d %d\n", rank, type_result, op_result);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Frees a communicator while an operation on it is under way.  Open MPI 4.1 crashes,
 * since the operation then uses a freed communicator. */
static void free_communicator(void)
{
#ifndef OPEN_MPI
    MPI_Comm copy;
    MPI_Request request;
    int value = rank;
    int sum;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    if (rank == 0)
        usleep(20000);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, copy, &request);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("rank %d: on a freed communicator %d\n", rank, sum);
#endif
}

/* Errors of waits that also make progress on trees are the same as without trees. */
static void show_errors(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = rank;
    int two[2] = {1, 2};
    int result = MPI_SUCCESS;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        usleep(20000);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 2)
        MPI_Send(two, 2, MPI_INT, 1, 11, MPI_COMM_WORLD);
    if (rank == 1)
        result = MPI_Recv(two, 1, MPI_INT, 2, 11, MPI_COMM_WORLD, &status);
    MPI_Error_class(result, &result);
    printf("rank %d: truncated %d\n", rank, result == MPI_ERR_TRUNCATE);
    result = MPI_Send(two, 1, MPI_INT, size, 11, MPI_COMM_WORLD);
    MPI_Error_class(result, &result);
    printf("rank %d: bad rank %d\n", rank, result == MPI_ERR_RANK);
    memset(&status, 0x11, sizeof status);
    MPI_Recv(two, 1, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, &status);
    printf("rank %d: from nobody %d\n", rank, status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Sendrecv(two, 1, MPI_INT, MPI_PROC_NULL, 11, two, 1, MPI_INT, MPI_PROC_NULL, 11,
                 MPI_COMM_WORLD, &status);
    printf("rank %d: from nobody %d\n", rank, status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void do_details(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    show_statuses();
    free_early();
    free_predefined();
    free_communicator();
    show_errors();
}

/* --- Threads -------------------------------------------------------------------- */

enum { THREADS = 3, THREAD_ROUNDS = 60 };

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number;
    uint64_t hash;
};

static void *work(void *data)
{
    struct worker *worker = data;
    MPI_Request requests[3];
    int values[3];
    int sum;
    int top;
    int at;

    worker->hash = 3;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        values[0] = rank == 0 ? i + worker->number : -1;
        values[1] = rank * i;
        MPI_Ibcast(&values[0], 1, MPI_INT, 0, worker->comm, &requests[0]);
        MPI_Iallreduce(&values[1], &sum, 1, MPI_INT, MPI_SUM, worker->comm,
                       &requests[1]);
        MPI_Ibarrier(worker->comm, &requests[2]);
        for (int done = 0; done < 2; done++)
            MPI_Waitany(3, requests, &at, MPI_STATUS_IGNORE);
        MPI_Allreduce(&values[1], &top, 1, MPI_INT, MPI_MAX, worker->comm);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        worker->hash = mix(worker->hash, (uint64_t)values[0]);
        worker->hash = mix(worker->hash, (uint64_t)sum + (uint64_t)top);
    }
    return NULL;
}

static void *receive_message(void *data)
{
    MPI_Recv(data, 1, MPI_INT, 2, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Rank 1 is needed for a broadcast that one of its threads starts while another is
 * already blocked.  The first thread does not call MPI again until the other one has
 * returned. */
static void block_beforehand(void)
{
    pthread_t thread;
    MPI_Request request;
    int value = rank == 0 ? 5 : -1;
    int message = 6;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        pthread_create(&thread, NULL, receive_message, &message);
    usleep(rank == 0 ? 60000 : 30000);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 1)
        pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 2)
        MPI_Send(&message, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
    printf("rank %d: blocked beforehand: %d %d\n", rank, value, message);
}

static void do_threads(void)
{
    struct worker workers[THREADS];

    block_beforehand();
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        MPI_Barrier(workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("rank %d: thread %d: %016llx\n", rank, i,
               (unsigned long long)workers[i].hash);
        MPI_Comm_free(&workers[i].comm);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;

    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                 : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "random") == 0)
        do_random(strtoull(argv[2], NULL, 10), atoi(argv[3]));
    else if (strcmp(what, "details") == 0)
        do_details();
    else
        do_threads();
    MPI_Finalize();
    return 0;
}
