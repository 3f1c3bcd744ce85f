/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Programs with unusual communicators, types and endings, to be run with and without
 * trees:
 *
 *   trees_odd kinds      communicators of all kinds, one of them never freed
 *   trees_odd types      types freed and created again with the same handle
 *   trees_odd names      names that differ between ranks, and empty ones
 *   trees_odd children   forked children, some of which execute another program
 *   trees_odd quiet      no collective operation
 *   trees_odd session    no world, only a session
 *   trees_odd abort      one rank aborts while the others are in a barrier
 *   trees_odd waitall    one request fails, another one is late
 *   trees_odd handlers   the world's error handler is set when there are trees
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void expect(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Two rounds of operations; the second one may use trees created by the first. */
static void use(MPI_Comm comm, const char *what)
{
    int own, members;

    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    for (int i = 0; i < 2 * members; i++) {
        int sum = -1;
        int value = own == i % members ? i : -1;

        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect(sum == members * (members - 1) / 2, what);
        MPI_Bcast(&value, 1, MPI_INT, i % members, comm);
        expect(value == i, what);
        MPI_Barrier(comm);
    }
}

static void use_and_free(MPI_Comm *comm, const char *what)
{
    if (*comm == MPI_COMM_NULL)
        return;
    use(*comm, what);
    MPI_Comm_free(comm);
}

/* --- Communicators -------------------------------------------------------------- */

/* Rank 0 against the others, then all together. */
static void between(void)
{
    MPI_Comm half, inter, merged;
    int value = rank + 1;
    int sum = -1;

    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    expect(sum == (rank == 0 ? size * (size + 1) / 2 - 1 : 1), "between groups");
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, rank == 0, &merged);
    use_and_free(&merged, "merged");
    MPI_Comm_free(&inter);
    use_and_free(&half, "half");
}

static void of_group(void)
{
    MPI_Group all, some;
    MPI_Comm comm;
    int range[1][3] = {{0, size - 2, 1}};

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    if (rank <= size - 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &comm);
        use_and_free(&comm, "of a group");
    }
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    use_and_free(&comm, "of the same group");
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static void kinds(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int dimensions[1] = {size};
    int wraps[1] = {1};

    use(MPI_COMM_WORLD, "world");
    use(MPI_COMM_SELF, "self");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, -rank, &comm);
    use_and_free(&comm, "without rank 0, turned round");
    MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, wraps, 1, &comm);
    use_and_free(&comm, "grid");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(&comm, "of one host");
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(comm, "duplicated meanwhile");
    MPI_Comm_disconnect(&comm);
    between();
    of_group();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, "never freed");
}

static void names(void)
{
    MPI_Comm comm;
    char name[16] = "";

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    snprintf(name, sizeof name, "mine%d", rank);
    MPI_Comm_set_name(comm, name);
    use_and_free(&comm, "named otherwise elsewhere");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "");
    use_and_free(&comm, "without a name");
}

/* --- Types ---------------------------------------------------------------------- */

/* A handle that is used again stands for more and more elements. */
static void types(void)
{
    enum { MOST = 40 };
    int reused = 0;
    MPI_Datatype last = MPI_DATATYPE_NULL;

    for (int blocks = 1; blocks <= MOST; blocks++) {
        MPI_Datatype type, freed;
        int values[2 * MOST];

        MPI_Type_vector(blocks, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        reused += type == last;
        for (int i = 0; i < 2 * MOST; i++)
            values[i] = rank == 1 ? i : -1;
        MPI_Bcast(values, 1, type, 1, MPI_COMM_WORLD);
        for (int i = 0; i < 2 * MOST && rank != 1; i++)
            expect(values[i] == (i % 2 == 0 && i < 2 * blocks ? i : -1), "elements");
        freed = type;
        MPI_Type_free(&type);
        last = freed;
    }
    expect(reused > 0, "a handle came back");
}

/* --- Processes ------------------------------------------------------------------ */

static void child(char *const arguments[])
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        if (arguments[0] != NULL)
            execvp(arguments[0], arguments);
        _exit(7);
    }
    waitpid(pid, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child's status");
}

static void children(void)
{
    use(MPI_COMM_WORLD, "before");
    child((char *[]){NULL});
    child((char *[]){"sh", "-c", "exit 7", NULL});
    use(MPI_COMM_WORLD, "behind");
}

static int in_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                               &comm);
    MPI_Group_free(&group);
    use_and_free(&comm, "of a session");
    MPI_Session_finalize(&session);
#endif
    return 0;
}

/* --- Errors --------------------------------------------------------------------- */

static int class_of(int code)
{
    int found = MPI_SUCCESS;

    MPI_Error_class(code, &found);
    return found;
}

/* The first of two messages is too long, and the other one is late.  An operation is
 * under way meanwhile, so that calls make progress on it. */
static void fail_to_wait(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int words[2];
    int count;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    expect(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS, "in a status");
    expect(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE, "truncated");
    expect(statuses[1].MPI_ERROR == MPI_SUCCESS, "the late one");
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    expect(count == 1 && words[1] == 5, "its message");
    expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "all");
}

static void waitall(void)
{
    MPI_Request tree;
    int words[2] = {5, 6};
    int sum;

    use(MPI_COMM_WORLD, "before");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(words, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
        usleep(200000);
        MPI_Send(words, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &tree);
    if (rank == 1)
        fail_to_wait();
    MPI_Wait(&tree, MPI_STATUS_IGNORE);
    expect(sum == size * (size - 1) / 2, "the operation under way");
}

/* In MPICH a communicator without a handler of its own follows the world's. */
static void handlers(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, "before");
    use(MPI_COMM_SELF, "self, before");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef MPICH_VERSION
    expect(class_of(MPI_Send(&rank, 1, MPI_INT, 99, 0, comm)) == MPI_ERR_RANK,
           "to no rank");
    expect(class_of(MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_SELF)) == MPI_ERR_RANK,
           "to no rank of one");
#endif
    use_and_free(&comm, "behind");
}

static void give_up(void)
{
    use(MPI_COMM_WORLD, "before");
    if (rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"kinds", kinds},       {"types", types},      {"names", names},
                 {"children", children}, {"quiet", NULL},       {"abort", give_up},
                 {"waitall", waitall},   {"handlers", handlers}};
    const char *name = argc > 1 ? argv[1] : "kinds";

    if (strcmp(name, "session") == 0)
        return in_session();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(name, cases[i].name) == 0 && cases[i].run != NULL)
            cases[i].run();
    MPI_Finalize();
    return 0;
}
