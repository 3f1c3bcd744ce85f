/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * endings - exchanges a few messages, then ends in the way named by its first argument;
 * two ranks.
 *
 * If only one rank ends badly, it is rank 0. Rank 1 then waits for a message that is
 * never sent.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void talk(MPI_Comm comm, int rounds)
{
    int size;
    int mine;
    int word = 0;

    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;

        MPI_Irecv(&word, 1, MPI_INT, (mine + size - 1) % size, i, comm, &request);
        MPI_Send(&i, 1, MPI_INT, (mine + 1) % size, i, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void wait_for_ever(void)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, 0, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Prints LD_PRELOAD in a shell, and calls MPI in a child that continues on its own. */
static void fork_children(void)
{
    int status = 0;
    int flag;
    pid_t child;

    fflush(stdout);
    if (system("echo \"preload=$LD_PRELOAD\"") != 0)
        exit(4);
    child = fork();
    if (child == 0) {
        MPI_Initialized(&flag);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag,
                   MPI_STATUS_IGNORE);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

static void use_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "endings", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Group_free(&group);
    talk(comm, 10);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#else
    exit(77);
#endif
}

static void end_badly(const char *how)
{
    if (rank != 0)
        wait_for_ever();
    usleep(200000); /* rank 1 waits by then */
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    else if (strcmp(how, "exit") == 0)
        exit(6);
    else if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    else if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "session") == 0) {
        use_session();
        printf("over\n");
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    talk(MPI_COMM_WORLD, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "fork") == 0)
        fork_children();
    else if (strcmp(how, "finalize") != 0)
        end_badly(how);
    MPI_Finalize();
    printf("over\n");
    return 0;
}
