/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * errors LEVEL OBJECT ERROR - makes one error, alone in its world, and prints what MPI
 * returns, if it returns.  OBJECT says where the error happens, and which handlers were
 * set before:
 *
 *   world     MPI_COMM_WORLD; no handler was set
 *   self      MPI_COMM_SELF; MPI_COMM_WORLD returns errors
 *   before    a duplicate that was made before MPI_COMM_WORLD returned errors
 *   after     a duplicate that was made after that
 *   again     MPI_COMM_WORLD, whose errors were returned and are fatal again
 *   own       a duplicate with a handler of the program's own
 *   fatal     windows and files: errors on it are fatal; others: MPI_COMM_WORLD's
 *
 * `errors --list` prints the names of all errors and objects.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = 99, TAG = 5, LONG = 4 };

static MPI_Comm comm;
static MPI_Win window = MPI_WIN_NULL;
static MPI_File file = MPI_FILE_NULL;
static int values[LONG];
static int word;
static MPI_Request request;
static MPI_Status status;
static int flag;

/* Static: messages of MPI contain addresses, which must not depend on the stack. */
static MPI_Datatype no_type = MPI_DATATYPE_NULL;
static MPI_Group group;
static MPI_Comm made;

static int send_to_nobody(void)
{
    return MPI_Send(values, 1, MPI_INT, NOBODY, TAG, comm);
}

static int send_tag(void)
{
    return MPI_Send(values, 1, MPI_INT, 0, -TAG, comm);
}

static int send_count(void)
{
    return MPI_Send(values, -1, MPI_INT, 0, TAG, comm);
}

static int send_type(void)
{
    return MPI_Send(values, 1, MPI_DATATYPE_NULL, 0, TAG, comm);
}

static int isend_to_nobody(void)
{
    return MPI_Isend(values, 1, MPI_INT, NOBODY, TAG, comm, &request);
}

static int ssend_to_nobody(void)
{
    return MPI_Ssend(values, 1, MPI_INT, NOBODY, TAG, comm);
}

static int bsend_without_buffer(void)
{
    return MPI_Bsend(values, LONG, MPI_INT, 0, TAG, comm);
}

static int send_init_to_nobody(void)
{
    return MPI_Send_init(values, 1, MPI_INT, NOBODY, TAG, comm, &request);
}

static int recv_from_nobody(void)
{
    return MPI_Recv(&word, 1, MPI_INT, NOBODY, TAG, comm, &status);
}

static int recv_tag(void)
{
    return MPI_Recv(&word, 1, MPI_INT, 0, -TAG, comm, &status);
}

static int recv_type(void)
{
    return MPI_Recv(&word, 1, MPI_DATATYPE_NULL, 0, TAG, comm, &status);
}

static int irecv_from_nobody(void)
{
    return MPI_Irecv(&word, 1, MPI_INT, NOBODY, TAG, comm, &request);
}

static void send_long(void)
{
    static MPI_Request sent;

    MPI_Isend(values, LONG, MPI_INT, 0, TAG, comm, &sent);
    MPI_Request_free(&sent);
}

static int recv_too_long(void)
{
    send_long();
    return MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, &status);
}

static int wait_too_long(void)
{
    send_long();
    MPI_Irecv(&word, 1, MPI_INT, 0, TAG, comm, &request);
    return MPI_Wait(&request, &status);
}

static int test_too_long(void)
{
    int result = MPI_SUCCESS;

    send_long();
    MPI_Irecv(&word, 1, MPI_INT, 0, TAG, comm, &request);
    for (flag = 0; !flag && result == MPI_SUCCESS;)
        result = MPI_Test(&request, &flag, &status);
    return result;
}

static int sendrecv_with_nobody(void)
{
    return MPI_Sendrecv(values, 1, MPI_INT, NOBODY, TAG, &word, 1, MPI_INT, 0, TAG,
                        comm, &status);
}

static int probe_nobody(void)
{
    return MPI_Probe(NOBODY, TAG, comm, &status);
}

static int iprobe_nobody(void)
{
    return MPI_Iprobe(NOBODY, TAG, comm, &flag, &status);
}

static int bcast_root(void)
{
    return MPI_Bcast(values, 1, MPI_INT, NOBODY, comm);
}

static int bcast_type(void)
{
    return MPI_Bcast(values, 1, MPI_DATATYPE_NULL, 0, comm);
}

static int reduce_root(void)
{
    return MPI_Reduce(values, &word, 1, MPI_INT, MPI_SUM, NOBODY, comm);
}

static int allreduce_operator(void)
{
    return MPI_Allreduce(values, &word, 1, MPI_INT, MPI_OP_NULL, comm);
}

static int allreduce_type(void)
{
    return MPI_Allreduce(values, &word, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
}

static int gather_root(void)
{
    return MPI_Gather(values, 1, MPI_INT, &word, 1, MPI_INT, NOBODY, comm);
}

static int scatter_root(void)
{
    return MPI_Scatter(values, 1, MPI_INT, &word, 1, MPI_INT, -NOBODY, comm);
}

static int allgather_type(void)
{
    return MPI_Allgather(values, 1, MPI_DATATYPE_NULL, &word, 1, MPI_INT, comm);
}

static int alltoall_count(void)
{
    return MPI_Alltoall(values, -1, MPI_INT, &word, 1, MPI_INT, comm);
}

static int scan_operator(void)
{
    return MPI_Scan(values, &word, 1, MPI_INT, MPI_OP_NULL, comm);
}

static int ibcast_root(void)
{
    return MPI_Ibcast(values, 1, MPI_INT, NOBODY, comm, &request);
}

static int split_color(void)
{
    return MPI_Comm_split(comm, -NOBODY, 0, &made);
}

static int create_group(void)
{
    return MPI_Comm_create(comm, MPI_GROUP_NULL, &made);
}

static int cart_size(void)
{
    static int sizes[1] = {NOBODY}, periods[1];

    return MPI_Cart_create(comm, 1, sizes, periods, 0, &made);
}

static int dup_null(void)
{
    return MPI_Comm_dup(MPI_COMM_NULL, &made);
}

static int rank_of_null(void)
{
    return MPI_Comm_rank(MPI_COMM_NULL, &word);
}

static int free_null(void)
{
    made = MPI_COMM_NULL;
    return MPI_Comm_free(&made);
}

static int commit_null(void)
{
    return MPI_Type_commit(&no_type);
}

static int contiguous_count(void)
{
    static MPI_Datatype type;

    return MPI_Type_contiguous(-1, MPI_INT, &type);
}

static int group_rank(void)
{
    static const int ranks[1] = {NOBODY};
    static MPI_Group part;

    MPI_Comm_group(comm, &group);
    return MPI_Group_incl(group, 1, ranks, &part);
}

static int start_null(void)
{
    request = MPI_REQUEST_NULL;
    return MPI_Start(&request);
}

static int cancel_null(void)
{
    request = MPI_REQUEST_NULL;
    return MPI_Cancel(&request);
}

static int dims(void)
{
    static int sizes[2] = {3, 0};

    return MPI_Dims_create(4, 2, sizes);
}

static int attribute(void)
{
    static int key = MPI_KEYVAL_INVALID;

    return MPI_Comm_set_attr(comm, key, &word);
}

static int raised(void)
{
    return MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
}

/* --- Windows ---------------------------------------------------------------------- */

static int put_to_nobody(void)
{
    MPI_Win_fence(0, window);
    return MPI_Put(values, 1, MPI_INT, NOBODY, 0, 1, MPI_INT, window);
}

static int get_type(void)
{
    MPI_Win_fence(0, window);
    return MPI_Get(values, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window);
}

static int accumulate_operator(void)
{
    MPI_Win_fence(0, window);
    return MPI_Accumulate(values, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window);
}

static int put_without_epoch(void)
{
    return MPI_Put(values, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
}

static int lock_nobody(void)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, NOBODY, 0, window);
}

static int lock_type(void)
{
    return MPI_Win_lock(-NOBODY, 0, 0, window);
}

static int unlock_unlocked(void)
{
    return MPI_Win_unlock(0, window);
}

/* --- Files ------------------------------------------------------------------------ */

static int write_offset(void)
{
    return MPI_File_write_at(file, -1, values, 1, MPI_INT, &status);
}

static int write_type(void)
{
    return MPI_File_write(file, values, 1, MPI_DATATYPE_NULL, &status);
}

static int read_count(void)
{
    return MPI_File_read(file, values, -1, MPI_INT, &status);
}

static int seek_offset(void)
{
    return MPI_File_seek(file, -1, MPI_SEEK_SET);
}

static int seek_whence(void)
{
    return MPI_File_seek(file, 0, -NOBODY);
}

static int open_missing(void)
{
    static MPI_File other;

    return MPI_File_open(comm, "/nowhere/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
}

/* --- The table -------------------------------------------------------------------- */

static const char communicators[] = "world self before after again own";
static const char windows[] = "before after fatal";
static const char files[] = "before after fatal";

#define ON_COMMUNICATOR(name)                                                          \
    {                                                                                  \
#name, communicators, name                                                     \
    }
#define ON_WINDOW(name)                                                                \
    {                                                                                  \
#name, windows, name                                                           \
    }
#define ON_FILE(name)                                                                  \
    {                                                                                  \
#name, files, name                                                             \
    }

static const struct {
    const char *name;
    const char *objects;
    int (*run)(void);
} errors[] = {
    ON_COMMUNICATOR(send_to_nobody),
    ON_COMMUNICATOR(send_tag),
    ON_COMMUNICATOR(send_count),
    ON_COMMUNICATOR(send_type),
    ON_COMMUNICATOR(isend_to_nobody),
    ON_COMMUNICATOR(ssend_to_nobody),
    ON_COMMUNICATOR(bsend_without_buffer),
    ON_COMMUNICATOR(send_init_to_nobody),
    ON_COMMUNICATOR(recv_from_nobody),
    ON_COMMUNICATOR(recv_tag),
    ON_COMMUNICATOR(recv_type),
    ON_COMMUNICATOR(irecv_from_nobody),
    ON_COMMUNICATOR(recv_too_long),
    ON_COMMUNICATOR(wait_too_long),
    ON_COMMUNICATOR(test_too_long),
    ON_COMMUNICATOR(sendrecv_with_nobody),
    ON_COMMUNICATOR(probe_nobody),
    ON_COMMUNICATOR(iprobe_nobody),
    ON_COMMUNICATOR(bcast_root),
    ON_COMMUNICATOR(bcast_type),
    ON_COMMUNICATOR(reduce_root),
    ON_COMMUNICATOR(allreduce_operator),
    ON_COMMUNICATOR(allreduce_type),
    ON_COMMUNICATOR(gather_root),
    ON_COMMUNICATOR(scatter_root),
    ON_COMMUNICATOR(allgather_type),
    ON_COMMUNICATOR(alltoall_count),
    ON_COMMUNICATOR(scan_operator),
    ON_COMMUNICATOR(ibcast_root),
    ON_COMMUNICATOR(split_color),
    ON_COMMUNICATOR(create_group),
    ON_COMMUNICATOR(cart_size),
    ON_COMMUNICATOR(dup_null),
    ON_COMMUNICATOR(rank_of_null),
    ON_COMMUNICATOR(free_null),
    ON_COMMUNICATOR(commit_null),
    ON_COMMUNICATOR(contiguous_count),
    ON_COMMUNICATOR(group_rank),
    ON_COMMUNICATOR(start_null),
    ON_COMMUNICATOR(cancel_null),
    ON_COMMUNICATOR(dims),
    ON_COMMUNICATOR(attribute),
    ON_COMMUNICATOR(raised),
    ON_WINDOW(put_to_nobody),
    ON_WINDOW(get_type),
    ON_WINDOW(accumulate_operator),
    ON_WINDOW(put_without_epoch),
    ON_WINDOW(lock_nobody),
    ON_WINDOW(lock_type),
    ON_WINDOW(unlock_unlocked),
    ON_FILE(write_offset),
    ON_FILE(write_type),
    ON_FILE(read_count),
    ON_FILE(seek_offset),
    ON_FILE(seek_whence),
    /* MPICH 4.0 crashes if errors of MPI_FILE_NULL are fatal. */
    {"open_missing", "before after", open_missing},
};

enum { ERRORS = sizeof errors / sizeof errors[0] };

static void on_error(MPI_Comm *where, int *code, ...)
{
    int error_class;

    (void)where;
    MPI_Error_class(*code, &error_class);
    printf("the program's handler has class %d\n", error_class);
}

static void open_file(void)
{
    const char *path = getenv("ES_TEST_FILE");

    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                  &file);
}

static void make_objects(void)
{
    static int memory[LONG];

    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    open_file();
}

static void prepare(const char *object, const char *objects)
{
    MPI_Errhandler handler;
    int has_communicator = objects == communicators;

    comm = MPI_COMM_WORLD;
    if (strcmp(object, "world") == 0)
        return;
    if (strcmp(object, "before") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (!has_communicator)
            make_objects();
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(object, "self") == 0)
        comm = MPI_COMM_SELF;
    if (strcmp(object, "after") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!has_communicator && strcmp(object, "before") != 0)
        make_objects();
    if (strcmp(object, "again") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (strcmp(object, "own") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_create_errhandler(on_error, &handler);
        MPI_Comm_set_errhandler(comm, handler);
        MPI_Errhandler_free(&handler);
    }
    if (strcmp(object, "fatal") == 0) {
        MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
        MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    }
}

static void print_result(int result)
{
    char text[MPI_MAX_ERROR_STRING];
    int error_class;
    int length;

    MPI_Error_class(result, &error_class);
    MPI_Error_string(result, text, &length);
    printf("returned class %d: %s\n", error_class, text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int provided;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < ERRORS; i++)
            printf("%s %s\n", errors[i].name, errors[i].objects);
        return 0;
    }
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "multiple") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    for (int i = 0; i < ERRORS; i++)
        if (strcmp(argv[3], errors[i].name) == 0) {
            prepare(argv[2], errors[i].objects);
            print_result(errors[i].run());
        }
    _Exit(3); /* what is left behind is not finalized */
}
