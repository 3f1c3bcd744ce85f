/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * failed_calls [hang] - calls that return errors to rank 0, which goes on; two ranks.
 * With `hang`, rank 1 waits for the message whose send failed.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void check(const char *name, int code, int expected)
{
    int error_class = code;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &error_class);
    if (error_class != expected) {
        printf("%s: class %d instead of %d\n", name, error_class, expected);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static int test(MPI_Request *request)
{
    int found = 0;
    int code;

    do
        code = MPI_Test(request, &found, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && !found);
    return code;
}

static int test_all(MPI_Request *request)
{
    MPI_Status status = {.MPI_ERROR = MPI_SUCCESS};
    int found = 0;
    int code;

    do
        code = MPI_Testall(1, request, &found, &status);
    while (code == MPI_SUCCESS && !found);
    return code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
}

static int test_any(MPI_Request *request)
{
    int found = 0;
    int index;
    int code;

    do
        code = MPI_Testany(1, request, &index, &found, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && !found);
    return code;
}

static int test_some(MPI_Request *request)
{
    MPI_Status status = {.MPI_ERROR = MPI_SUCCESS};
    int index;
    int count = 0;
    int code;

    do
        code = MPI_Testsome(1, request, &count, &index, &status);
    while (code == MPI_SUCCESS && count == 0);
    return code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
}

/* Messages that are too long for their receives. */
static void truncate_messages(int rank)
{
    static const struct {
        const char *name;
        int (*complete)(MPI_Request *request);
    } ways[] = {{"MPI_Test", test},
                {"MPI_Testall", test_all},
                {"MPI_Testany", test_any},
                {"MPI_Testsome", test_some}};
    int words[2] = {1, 2};

    if (rank == 0)
        check("MPI_Recv",
              MPI_Recv(words, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_TRUNCATE);
    else
        MPI_Send(words, 2, MPI_INT, 0, 8, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        MPI_Request request;

        if (rank == 0) {
            MPI_Irecv(words, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &request);
            check(ways[i].name, ways[i].complete(&request), MPI_ERR_TRUNCATE);
        } else {
            MPI_Send(words, 2, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    }
}

static void check_refused(const char *name, int code)
{
    if (code != MPI_SUCCESS)
        return;
    printf("%s: not refused\n", name);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Collective operations that rank 0 refuses alone, then the same of both: MPI matches
 * those. */
static void refuse_collectives(int rank)
{
    MPI_Request request;
    MPI_Comm made;
    MPI_Win window;
    int word = 0;

    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    if (rank == 0) {
        check_refused("MPI_Bcast", MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD));
        check_refused("MPI_Ibcast",
                      MPI_Ibcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD, &request));
        check_refused("MPI_Cart_create", MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){99},
                                                         (int[]){0}, 0, &made));
        check_refused("MPI_Win_fence", MPI_Win_fence(-1, window));
    }
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* Calls that complete requests, without a place for their result. */
static void refuse_completions(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int index;

    check_refused("MPI_Waitsome", MPI_Waitsome(1, &request, NULL, &index, &status));
    check_refused("MPI_Testsome", MPI_Testsome(1, &request, NULL, &index, &status));
    check_refused("MPI_Test", MPI_Test(&request, NULL, &status));
    check_refused("MPI_Testall", MPI_Testall(1, &request, NULL, &status));
    check_refused("MPI_Testany", MPI_Testany(1, &request, &index, NULL, &status));
    check_refused("MPI_Waitany", MPI_Waitany(1, &request, NULL, &status));
}

int main(int argc, char **argv)
{
    bool hangs = argc > 1 && strcmp(argv[1], "hang") == 0;
    MPI_Request request;
    int word = 0;
    int found;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    truncate_messages(rank);
    refuse_collectives(rank);
    refuse_completions();
    if (rank == 0) {
        check("MPI_Send", MPI_Send(&word, 1, MPI_INT, 99, 7, MPI_COMM_WORLD),
              MPI_ERR_RANK);
        check("MPI_Iprobe",
              MPI_Iprobe(99, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE),
              MPI_ERR_RANK);
        check("MPI_Irecv",
              MPI_Irecv(&word, 1, MPI_INT, 99, 7, MPI_COMM_WORLD, &request),
              MPI_ERR_RANK);
        check("MPI_Send", MPI_Send(&word, -1, MPI_INT, 1, 7, MPI_COMM_WORLD),
              MPI_ERR_COUNT);
    }
    if (!hangs && rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("over\n");
    return MPI_Finalize();
}
