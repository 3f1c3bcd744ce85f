/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Programs for collective trees, by name:
 *
 *   trees once           one allreduce
 *   trees errors         calls that MPI refuses; prints the results
 *   trees alone N        calls that MPI refuses at one rank only, before N allreduces
 *   trees types N        allgathers of N datatypes with the same handle
 *   trees churn N        creates, uses and frees N communicators, some at a time
 *   trees many N         creates and uses N communicators, then frees all
 *   trees threads N      threads with communicators of their own, N operations each
 *   trees displaced N    N allreduces; their tuples and those of edges share an element
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void expect(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void add_up(MPI_Comm comm, int addend)
{
    int own = rank + addend;
    int sum = 0;
    int members;
    int first;

    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    first = members == size ? size * (size - 1) / 2 : rank;
    expect(sum == first + members * addend, "sum");
}

static void once(void)
{
    add_up(MPI_COMM_WORLD, 5);
}

/* --- Errors --------------------------------------------------------------------- */

static int raised;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    raised++;
}

static void tell(const char *what, int code)
{
    int class_of = -1;

    MPI_Error_class(code, &class_of);
    printf("%d %s: class %d, raised %d\n", rank, what, class_of, raised);
    fflush(stdout);
    raised = 0;
    /* All ranks must still be at the same operation. */
    add_up(MPI_COMM_WORLD, class_of);
}

static void fail_broadcasts(MPI_Datatype uncommitted)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int a[8] = {0};

    tell("count", MPI_Bcast(a, -1, MPI_INT, 0, comm));
    tell("type", MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm));
    tell("uncommitted", MPI_Bcast(a, 1, uncommitted, 0, comm));
    tell("root below", MPI_Bcast(a, 1, MPI_INT, -1, comm));
    tell("root above", MPI_Bcast(a, 1, MPI_INT, size, comm));
#ifndef OPEN_MPI /* which crashes at this call */
    tell("buffer", MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
#endif
    tell("no communicator", MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL));
    tell("barrier of none", MPI_Barrier(MPI_COMM_NULL));
}

static void fail_reductions(MPI_Datatype vector)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int a[8] = {0};
    int b[8] = {0};

    tell("op", MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, comm));
    tell("op of derived", MPI_Allreduce(a, b, 1, vector, MPI_SUM, comm));
    tell("op of pairs", MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, comm));
    tell("op of bits", MPI_Reduce(a, b, 1, MPI_FLOAT, MPI_BAND, 0, comm));
    tell("replace", MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, comm));
    tell("alias", MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, comm));
    tell("received in place",
         MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
#ifndef OPEN_MPI
    tell("no buffer", MPI_Allreduce(a, NULL, 1, MPI_INT, MPI_SUM, comm));
#endif
    tell("nothing", MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
}

static void fail_blocks(MPI_Datatype uncommitted)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int a[64] = {0};
    int b[64] = {0};

    tell("gather", MPI_Gather(a, -1, MPI_INT, b, -1, MPI_INT, 0, comm));
    tell("gather type", MPI_Gather(a, 1, uncommitted, b, 1, uncommitted, 0, comm));
    tell("gather root", MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, size, comm));
    tell("scatter", MPI_Scatter(a, -1, MPI_INT, b, -1, MPI_INT, 0, comm));
    tell("scatter root", MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, -5, comm));
    tell("allgather", MPI_Allgather(a, 1, MPI_INT, b, -1, MPI_INT, comm));
    tell("allgather type", MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm));
}

/* The handle of a committed type is used again for a type that is not committed. */
static void fail_again(void)
{
    int a[16] = {0};

    for (int i = 0; i < 3; i++) {
        MPI_Datatype type;

        MPI_Type_vector(3, 1, 4, MPI_INT, &type);
        if (i % 2 == 0)
            MPI_Type_commit(&type);
        tell("again", MPI_Bcast(a, 1, type, 0, MPI_COMM_WORLD));
        MPI_Type_free(&type);
    }
}

static void fail_all(void)
{
    MPI_Datatype vector, uncommitted;

    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_vector(2, 1, 3, MPI_INT, &uncommitted);
    fail_broadcasts(uncommitted);
    fail_reductions(vector);
    fail_blocks(uncommitted);
    fail_again();
    MPI_Type_free(&vector);
    MPI_Type_free(&uncommitted);
}

static void errors(void)
{
    MPI_Errhandler counting;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fail_all();
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    fail_all();
    MPI_Errhandler_free(&counting);
}

/* The other ranks do not notice the call that is refused. */
static void alone(int count)
{
    int a = 0;
    int b = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < count; i++) {
        if (rank == size - 1)
            expect(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) !=
                       MPI_SUCCESS,
                   "refused");
        add_up(MPI_COMM_WORLD, i);
    }
}

/* A handle is used again for a type of another size. */
static void reuse_types(int count)
{
    int *own = calloc((size_t)count, sizeof(int));
    int *all = calloc((size_t)count * (size_t)size, sizeof(int));

    for (int length = 1; length <= count; length++) {
        MPI_Datatype type;

        MPI_Type_contiguous(length, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < length; i++)
            own[i] = rank * length + i;
        MPI_Allgather(own, 1, type, all, 1, type, MPI_COMM_WORLD);
        for (int i = 0; i < size * length; i++)
            expect(all[i] == i, "block");
        MPI_Type_free(&type);
    }
    free(own);
    free(all);
}

/* --- Communicators -------------------------------------------------------------- */

enum { AT_A_TIME = 3 };

static void churn(int count)
{
    MPI_Comm comms[AT_A_TIME];

    for (int i = 0; i < count; i += AT_A_TIME) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
        MPI_Comm_split(comms[0], rank % 2, rank, &comms[1]);
        MPI_Comm_dup(comms[0], &comms[2]);
        for (int k = 0; k < AT_A_TIME; k++)
            if (k != 1)
                add_up(comms[k], i);
        MPI_Barrier(comms[1]);
        for (int k = 0; k < AT_A_TIME; k++)
            MPI_Comm_free(&comms[k]);
    }
}

static void many(int count)
{
    MPI_Comm *comms = calloc((size_t)count, sizeof(MPI_Comm));

    for (int i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        add_up(comms[i], i);
    }
    for (int i = 0; i < count; i++) {
        add_up(comms[i], i);
        MPI_Comm_free(&comms[i]);
    }
    free(comms);
}

/* --- Threads -------------------------------------------------------------------- */

enum { THREADS = 3 };

struct work {
    MPI_Comm comm;
    int count;
};

static void *work(void *argument)
{
    const struct work *mine = argument;

    for (int i = 0; i < mine->count; i++) {
        int value = rank == i % size ? i : -1;

        MPI_Bcast(&value, 1, MPI_INT, i % size, mine->comm);
        expect(value == i, "broadcast value");
        add_up(mine->comm, i);
        if (i % 7 == 0)
            MPI_Barrier(mine->comm);
    }
    return NULL;
}

static void threads(int count)
{
    pthread_t ids[THREADS];
    struct work works[THREADS];

    for (int i = 0; i < THREADS; i++) {
        works[i].count = count;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
        pthread_create(&ids[i], NULL, work, &works[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        MPI_Comm_free(&works[i].comm);
    }
}

static void displaced(int count)
{
    for (int i = 0; i < count; i++)
        add_up(MPI_COMM_WORLD, i);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "once";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    int provided;

    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                 : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "once") == 0)
        once();
    else if (strcmp(what, "errors") == 0)
        errors();
    else if (strcmp(what, "alone") == 0)
        alone(count);
    else if (strcmp(what, "types") == 0)
        reuse_types(count);
    else if (strcmp(what, "churn") == 0)
        churn(count);
    else if (strcmp(what, "many") == 0)
        many(count);
    else if (strcmp(what, "threads") == 0)
        threads(count);
    else if (strcmp(what, "displaced") == 0)
        displaced(count);
    MPI_Finalize();
    return 0;
}
