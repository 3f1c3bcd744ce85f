/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* fatal_errors - rank 1 makes the error named by the argument, which ends the program.
 * With "none" the program examines its error handlers and ends well. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 5, NOBODY = 77 };

static const int values[4];
static int rank;
static int wrong;

static void meet(MPI_Comm comm)
{
    int word;

    /* The other ranks are in a call that does not return when rank 1 fails. */
    if (rank != 1)
        MPI_Recv(&word, 1, MPI_INT, 1, TAG + 1, comm, MPI_STATUS_IGNORE);
}

static void truncate_in(MPI_Comm comm)
{
    int word;

    if (rank == 0)
        MPI_Send(values, 4, MPI_INT, 1, TAG, comm);
    if (rank == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
    meet(comm);
}

static void truncate_world(void)
{
    truncate_in(MPI_COMM_WORLD);
}

/* The communicator does not inherit the error handler of its parent. */
static void truncate_created(void)
{
    MPI_Group group;
    MPI_Comm made;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    truncate_in(made);
}

static void truncate_set_again(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    truncate_in(MPI_COMM_WORLD);
}

static void truncate_wait(void)
{
    MPI_Request request;
    int word;

    if (rank == 0)
        MPI_Send(values, 4, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    meet(MPI_COMM_WORLD);
}

static void invalid_rank(void)
{
    if (rank == 1)
        MPI_Send(values, 1, MPI_INT, NOBODY, TAG, MPI_COMM_WORLD);
    meet(MPI_COMM_WORLD);
}

/* The routine is not recorded. */
static void invalid_type(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;

    if (rank == 1)
        MPI_Type_commit(&type);
    meet(MPI_COMM_WORLD);
}

static void invalid_window_rank(void)
{
    static int memory;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_SHARED, NOBODY, 0, window);
    meet(MPI_COMM_WORLD);
}

/* --- The program sees no difference ----------------------------------------------- */

static void expect(const char *what, int is_true)
{
    if (!is_true) {
        printf("%d: not so: %s\n", rank, what);
        wrong = 1;
    }
}

static void expect_fatal(const char *what, MPI_Comm comm)
{
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(comm, &handler);
    expect(what, handler == MPI_ERRORS_ARE_FATAL);
    expect("its Fortran handle is the same",
           MPI_Errhandler_c2f(handler) == MPI_Errhandler_c2f(MPI_ERRORS_ARE_FATAL));
    MPI_Errhandler_free(&handler);
    expect("it can be freed", handler == MPI_ERRHANDLER_NULL);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void look_at_communicators(void)
{
    MPI_Comm made[3];
    MPI_Group group;
    MPI_Errhandler own, found;

    expect_fatal("that of MPI_COMM_WORLD is fatal", MPI_COMM_WORLD);
    expect_fatal("that of MPI_COMM_SELF is fatal", MPI_COMM_SELF);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made[1]);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made[2]);
    for (int i = 0; i < 3; i++)
        expect_fatal("that of a communicator that was made is fatal", made[i]);
    MPI_Comm_create_errhandler(on_error, &own);
    MPI_Comm_set_errhandler(made[0], own);
    MPI_Comm_get_errhandler(made[0], &found);
    expect("that of the program stays", found == own);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&own);
    MPI_Comm_set_errhandler(made[0], MPI_ERRORS_ARE_FATAL);
    expect_fatal("it is fatal again", made[0]);
    MPI_Comm_set_errhandler(made[0], MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(made[0], &found);
    expect("errors are returned", found == MPI_ERRORS_RETURN);
    expect("an error is returned",
           MPI_Send(values, 1, MPI_INT, NOBODY, TAG, made[0]) != MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&made[i]);
    MPI_Group_free(&group);
}

static void look_at_windows(void)
{
    static int memory;
    MPI_Errhandler found;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_errhandler(window, &found);
    expect("that of a window is fatal", found == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&found);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_get_errhandler(window, &found);
    expect("errors on the window are returned", found == MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
    MPI_Win_get_errhandler(window, &found);
    expect("that of the window is fatal again", found == MPI_ERRORS_ARE_FATAL);
    MPI_Win_free(&window);
}

static void look(void)
{
    look_at_communicators();
    look_at_windows();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"truncate", truncate_world},
    {"truncate-created", truncate_created},
    {"truncate-set-again", truncate_set_again},
    {"truncate-wait", truncate_wait},
    {"invalid-rank", invalid_rank},
    {"invalid-type", invalid_type},
    {"invalid-window-rank", invalid_window_rank},
    {"none", look},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    MPI_Finalize();
    return wrong;
}
