/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * promises - prints the results of many calls, correct and wrong ones; two ranks.
 *
 *   promises [single|funneled|serialized|multiple]
 *
 * The output must be the same byte for byte whether the program is observed or not.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int other;
static jmp_buf back;

/* Prints the class of an error, since texts and codes may contain addresses. */
static void say(const char *what, int result)
{
    int error_class = 0;

    if (result != MPI_SUCCESS)
        MPI_Error_class(result, &error_class);
    printf("%d %s: class %d\n", rank, what, error_class);
    fflush(stdout);
}

static void say_status(const char *what, const MPI_Status *status)
{
    int count = -1;
    int cancelled = -1;

    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    printf("%d %s: source %d tag %d count %d cancelled %d\n", rank, what,
           status->MPI_SOURCE, status->MPI_TAG, count, cancelled);
}

/* --- Wrong arguments ------------------------------------------------------------- */

static void wrong_arguments(void)
{
    int word = 0;
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm comm = MPI_COMM_NULL;

    say("send, no type",
        MPI_Send(&word, 1, MPI_DATATYPE_NULL, other, 0, MPI_COMM_WORLD));
    say("send, no communicator", MPI_Send(&word, 1, MPI_INT, other, 0, MPI_COMM_NULL));
    say("send, no such rank", MPI_Send(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD));
    say("send, no such tag", MPI_Send(&word, 1, MPI_INT, other, -5, MPI_COMM_WORLD));
    say("send, less than nothing",
        MPI_Send(&word, -1, MPI_INT, other, 0, MPI_COMM_WORLD));
    say("send, no buffer", MPI_Send(NULL, 1, MPI_INT, other, 0, MPI_COMM_WORLD));
    say("isend, no request",
        MPI_Isend(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, NULL));
    say("send_init, no request",
        MPI_Send_init(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, NULL));
    say("recv, no such rank",
        MPI_Recv(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &status));
    say("recv, no type",
        MPI_Recv(&word, 1, MPI_DATATYPE_NULL, other, 0, MPI_COMM_WORLD, &status));
    say("irecv, no request",
        MPI_Irecv(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, NULL));
    say("recv_init, no request",
        MPI_Recv_init(&word, 1, MPI_INT, other, 0, MPI_COMM_WORLD, NULL));
    say("sendrecv, no such rank",
        MPI_Sendrecv(&word, 1, MPI_INT, 99, 0, &word, 1, MPI_INT, other, 0,
                     MPI_COMM_WORLD, &status));
#if MPI_VERSION >= 4
    say("isendrecv, no request",
        MPI_Isendrecv(&word, 1, MPI_INT, other, 0, &word, 1, MPI_INT, other, 0,
                      MPI_COMM_WORLD, NULL));
#endif
    say("wait, nothing", MPI_Wait(NULL, &status));
    say("test, nothing", MPI_Test(NULL, &flag, &status));
    say("test, no flag", MPI_Test(&request, NULL, &status));
    say("waitall, nothing", MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    say("waitany, nothing", MPI_Waitany(2, NULL, &flag, &status));
    say("waitsome, nothing", MPI_Waitsome(2, NULL, &flag, &flag, MPI_STATUSES_IGNORE));
    say("testall, nothing", MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
    say("testany, nothing", MPI_Testany(2, NULL, &flag, &flag, &status));
    say("testsome, nothing", MPI_Testsome(2, NULL, &flag, &flag, MPI_STATUSES_IGNORE));
    say("waitall, minus one", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
    say("cancel, nothing", MPI_Cancel(NULL));
    say("cancel, null", MPI_Cancel(&request));
    say("request_free, nothing", MPI_Request_free(NULL));
    say("request_free, null", MPI_Request_free(&request));
    say("start, nothing", MPI_Start(NULL));
    say("start, null", MPI_Start(&request));
    say("startall, nothing", MPI_Startall(2, NULL));
    say("probe, no such rank", MPI_Probe(99, 0, MPI_COMM_WORLD, &status));
    say("bcast, no such root", MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD));
    say("bcast, no type", MPI_Bcast(&word, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    say("barrier, no communicator", MPI_Barrier(MPI_COMM_NULL));
    say("dup, nowhere", MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    say("dup, no communicator", MPI_Comm_dup(MPI_COMM_NULL, &comm));
    say("free, null", MPI_Comm_free(&comm));
    comm = MPI_COMM_WORLD;
    say("free the world", MPI_Comm_free(&comm));
    say("put, no window", MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
    say("fence, no window", MPI_Win_fence(0, MPI_WIN_NULL));
}

/* Open MPI crashes or ends the program at these calls. */
static void more_wrong_arguments(void)
{
#ifndef OPEN_MPI
    int word = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;

    say("iprobe, no flag", MPI_Iprobe(other, 0, MPI_COMM_WORLD, NULL, &status));
    say("mprobe, no message", MPI_Mprobe(other, 0, MPI_COMM_WORLD, NULL, &status));
    say("mrecv, null", MPI_Mrecv(&word, 1, MPI_INT, &message, &status));
    say("mrecv, nothing", MPI_Mrecv(&word, 1, MPI_INT, NULL, &status));
    say("imrecv, nothing", MPI_Imrecv(&word, 1, MPI_INT, NULL, &request));
    say("ibcast, no request", MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, NULL));
    say("free, nothing", MPI_Comm_free(NULL));
    say("win_free, nothing", MPI_Win_free(NULL));
#endif
}

/* --- Messages that are too long -------------------------------------------------- */

static void truncation(void)
{
    int words[4] = {1, 2, 3, 4};
    int small = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];

    if (rank == 0) {
        for (int i = 0; i < 5; i++)
            MPI_Send(words, 4, MPI_INT, other, 3, MPI_COMM_WORLD);
        MPI_Send(words, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
        return;
    }
    say("recv too long",
        MPI_Recv(&small, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &statuses[0]));
    say("recv too long, ignored", MPI_Recv(&small, 1, MPI_INT, MPI_ANY_SOURCE, 3,
                                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Irecv(&small, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);
    say("wait too long", MPI_Wait(&requests[0], &statuses[0]));
    printf("%d null afterwards: %d\n", rank, requests[0] == MPI_REQUEST_NULL);
    MPI_Irecv(&small, 1, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(words, 4, MPI_INT, other, 3, MPI_COMM_WORLD, &requests[1]);
#ifdef OPEN_MPI /* MPI_Waitall hangs after an error if there may be threads */
    say("its first", MPI_Wait(&requests[0], &statuses[0]));
    say("its second", MPI_Wait(&requests[1], &statuses[1]));
#else
    say("waitall too long", MPI_Waitall(2, requests, statuses));
    say("its first", statuses[0].MPI_ERROR);
    say("its second", statuses[1].MPI_ERROR);
#endif
    say("recv after them",
        MPI_Recv(&small, 1, MPI_INT, other, 3, MPI_COMM_WORLD, statuses));
    say_status("its status", statuses);
}

/* --- Error handlers -------------------------------------------------------------- */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    say("the handler got", *code);
}

static void jump_out(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

/* Calls from deeper on the stack than the call that was left by longjmp. */
static void __attribute__((noinline)) exchange(int depth)
{
    char room[512];
    int mine = rank;
    int theirs = -1;

    memset(room, depth, sizeof room);
    if (depth > 0) {
        exchange(depth - 1);
        return;
    }
    MPI_Sendrecv(&mine, 1, MPI_INT, other, 9, &theirs, 1, MPI_INT, other, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d exchanged %d, %d\n", rank, theirs, room[1]);
}

static void handlers(void)
{
    MPI_Errhandler handler;
    int level;
    int word = 0;

    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    say("with a handler", MPI_Send(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) /* a longjmp leaves MPICH's lock taken */
        return;
    MPI_Comm_create_errhandler(jump_out, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(back) == 0)
            MPI_Send(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        else
            printf("%d jumped out\n", rank);
        exchange(i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* --- Attributes ------------------------------------------------------------------ */

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int size;

    (void)key, (void)extra;
    MPI_Comm_size(comm, &size);
    MPI_Barrier(MPI_COMM_SELF);
    printf("%d copying %d on %d\n", rank, *(int *)in, size);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int size = 0;

    (void)key, (void)extra;
    MPI_Comm_size(comm, &size);
    MPI_Barrier(MPI_COMM_SELF);
    printf("%d deleting %d on %d\n", rank, *(int *)value, size);
    fflush(stdout);
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static int seven = 7;
    static int eight = 8;
    int key;
    int flag;
    void *found = NULL;
    MPI_Comm first;
    MPI_Comm comm;

    MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, key, &seven);
    MPI_Comm_dup(first, &comm);
    MPI_Comm_get_attr(comm, key, &found, &flag);
    printf("%d attribute %d %d\n", rank, flag, flag ? *(int *)found : -1);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &eight); /* deleted by MPI_Finalize */
    MPI_Comm_free(&comm);
    MPI_Comm_free(&first);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    printf("%d tags up to %d\n", rank, *(int *)found);
}

/* --- Correct calls and their results --------------------------------------------- */

static void statuses(void)
{
    int words[8] = {0};
    MPI_Request requests[4];
    MPI_Status status;
    MPI_Status all[4];
    int indices[4];
    int done;
    int flag;

    MPI_Irecv(words, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Send(words, 3, MPI_INT, other, 11, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    say_status("any", &status);
    MPI_Wait(&requests[0], &status);
    say_status("null", &status);
    MPI_Recv(words, 8, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    say_status("from nobody", &status);
    MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    say_status("probe nobody", &status);
    MPI_Irecv(words, 8, MPI_INT, other, 77, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    printf("%d cancelled: %d\n", rank, flag);
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 3; i >= 0; i--)
        MPI_Send(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD);
    for (int left = 4; left > 0; left -= done)
        MPI_Waitsome(4, requests, &done, indices, all);
    MPI_Waitsome(4, requests, &done, indices, all);
    printf("%d words %d %d %d %d, none left %d\n", rank, words[0], words[1], words[2],
           words[3], done == MPI_UNDEFINED);
    MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
    printf("%d all of none %d\n", rank, flag);
    MPI_Testany(4, requests, &done, &flag, &status);
    printf("%d any of none %d %d\n", rank, flag, done == MPI_UNDEFINED);
}

static void in_place(void)
{
    int two[2] = {rank + 1, rank + 1};
    int counts[2] = {1, 1};
    int displacements[2] = {0, 1};

    MPI_Allreduce(MPI_IN_PLACE, two, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d sum %d %d\n", rank, two[0], two[1]);
    two[rank] = 10 + rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, two, 1, MPI_INT, MPI_COMM_WORLD);
    printf("%d all %d %d\n", rank, two[0], two[1]);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : &two[rank], rank == 0 ? 0 : 1,
               rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, rank == 0 ? two : NULL,
               rank == 0 ? 1 : -9, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0,
               MPI_COMM_WORLD);
    MPI_Gatherv(&rank, 1, MPI_INT, rank == 0 ? two : NULL, rank == 0 ? counts : NULL,
                rank == 0 ? displacements : NULL, MPI_INT, 0, MPI_COMM_WORLD);
    printf("%d gathered %d %d\n", rank, two[0], two[1]);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, two, counts,
                  displacements, MPI_INT, MPI_COMM_WORLD);
    printf("%d all to all %d %d\n", rank, two[0], two[1]);
    MPI_Scatter(rank == 0 ? two : NULL, rank == 0 ? 1 : 0,
                rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, rank == 0 ? MPI_IN_PLACE : two,
                1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("%d scattered %d\n", rank, two[0]);
}

static int level_of(const char *name)
{
    return strcmp(name, "funneled") == 0     ? MPI_THREAD_FUNNELED
           : strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
           : strcmp(name, "multiple") == 0   ? MPI_THREAD_MULTIPLE
                                             : MPI_THREAD_SINGLE;
}

int main(int argc, char **argv)
{
    int provided = -1;
    int level = -1;

    say("init", argc > 1 ? MPI_Init_thread(&argc, &argv, level_of(argv[1]), &provided)
                         : MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Query_thread(&level);
    printf("%d level %d %d\n", rank, provided, level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wrong_arguments();
    more_wrong_arguments();
    truncation();
    handlers();
    attributes();
    statuses();
    in_place();
    MPI_Finalize();
    printf("%d preload %s\n", rank, getenv("ES_TEST_OTHER") != NULL ? "kept" : "lost");
    return 0;
}
