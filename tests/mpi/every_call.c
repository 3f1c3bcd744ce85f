/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * every_call - calls every recorded routine of MPI in a single process, except routines
 * that need other processes or end this one.
 *
 *   every_call FILE          FILE is written and deleted by MPI-IO
 *
 * Exits with 77 if MPI is older than MPI-4.0.
 */
#include <stdlib.h>

#include "mpi4.h"

#if MPI_VERSION >= 4
#if MPI_VERSION > 4 || MPI_SUBVERSION >= 1
#define HAS_MPI_4_1 1
#endif

static int out[64];
static int in[64];
static MPI_Comm comm;
static MPI_Group group;
static MPI_Info info;
static MPI_Request request;
static MPI_Request other;
static MPI_Status status;

/* Counts, displacements and types for the routines with one for each member. */
static int counts[2] = {1, 1};
static int places[2] = {0, 1};
static MPI_Count big_counts[2] = {1, 1};
static MPI_Aint big_places[2] = {0, 1};
static MPI_Aint byte_places[2] = {0, 4};

/* Calls both variants of a routine. */
#define BOTH(name, ...)                                                                \
    name(__VA_ARGS__);                                                                 \
    name##_c(__VA_ARGS__)
/* Calls a nonblocking routine, or a persistent one. */
#define LATER(name, ...)                                                               \
    name(__VA_ARGS__, &request);                                                       \
    MPI_Wait(&request, &status)
#define BOTH_LATER(name, ...)                                                          \
    LATER(name, __VA_ARGS__);                                                          \
    LATER(name##_c, __VA_ARGS__)
#define STARTED(name, ...)                                                             \
    name(__VA_ARGS__, MPI_INFO_NULL, &request);                                        \
    run_started()

static void run_started(void)
{
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
}

/* --- Messages to the process itself ----------------------------------------------- */

#define SEND(name)                                                                     \
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &other);                                     \
    name(out, 1, MPI_INT, 0, 1, comm);                                                 \
    MPI_Wait(&other, &status)
#define SEND_LATER(name)                                                               \
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &other);                                     \
    name(out, 1, MPI_INT, 0, 1, comm, &request);                                       \
    MPI_Wait(&request, &status);                                                       \
    MPI_Wait(&other, &status)
#define SEND_STARTED(name)                                                             \
    name(out, 1, MPI_INT, 0, 1, comm, &request);                                       \
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &other);                                     \
    run_started();                                                                     \
    MPI_Wait(&other, &status)

/* All calls of one kind of send. */
#define SENDS(Kind, kind)                                                              \
    SEND(MPI_##Kind);                                                                  \
    SEND(MPI_##Kind##_c);                                                              \
    SEND_LATER(MPI_I##kind);                                                           \
    SEND_LATER(MPI_I##kind##_c);                                                       \
    SEND_STARTED(MPI_##Kind##_init);                                                   \
    SEND_STARTED(MPI_##Kind##_init_c)

static void sends(void)
{
    SENDS(Send, send);
    SENDS(Bsend, bsend);
    SENDS(Ssend, ssend);
    SENDS(Rsend, rsend);
    BOTH(MPI_Sendrecv, out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, comm, &status);
    BOTH(MPI_Sendrecv_replace, out, 1, MPI_INT, 0, 1, 0, 1, comm, &status);
    BOTH_LATER(MPI_Isendrecv, out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, comm);
    BOTH_LATER(MPI_Isendrecv_replace, out, 1, MPI_INT, 0, 1, 0, 1, comm);
}

/* Starts a message for the next call. */
static void begin_message(void)
{
    MPI_Isend(out, 1, MPI_INT, 0, 1, comm, &other);
}

static void end_message(void)
{
    MPI_Wait(&other, &status);
}

static void receives(void)
{
    begin_message();
    MPI_Recv(in, 1, MPI_INT, 0, 1, comm, &status);
    end_message();
    begin_message();
    MPI_Recv_c(in, 1, MPI_INT, 0, 1, comm, &status);
    end_message();
    begin_message();
    LATER(MPI_Irecv, in, 1, MPI_INT, 0, 1, comm);
    end_message();
    begin_message();
    LATER(MPI_Irecv_c, in, 1, MPI_INT, 0, 1, comm);
    end_message();
    begin_message();
    MPI_Recv_init(in, 1, MPI_INT, 0, 1, comm, &request);
    run_started();
    end_message();
    begin_message();
    MPI_Recv_init_c(in, 1, MPI_INT, 0, 1, comm, &request);
    MPI_Startall(1, &request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
    end_message();
}

static void probes(void)
{
    MPI_Message message;
    int flag;

    begin_message();
    MPI_Probe(0, 1, comm, &status);
    MPI_Iprobe(0, 1, comm, &flag, &status);
    MPI_Mprobe(0, 1, comm, &message, &status);
    MPI_Mrecv(in, 1, MPI_INT, &message, &status);
    end_message();
    begin_message();
    MPI_Improbe(0, 1, comm, &flag, &message, &status);
    MPI_Mrecv_c(in, 1, MPI_INT, &message, &status);
    end_message();
    begin_message();
    MPI_Mprobe(0, 1, comm, &message, &status);
    LATER(MPI_Imrecv, in, 1, MPI_INT, &message);
    end_message();
    begin_message();
    MPI_Mprobe(0, 1, comm, &message, &status);
    LATER(MPI_Imrecv_c, in, 1, MPI_INT, &message);
    end_message();
}

/* Posts a receive and sends its message. */
static void begin_receive(void)
{
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &request);
    MPI_Send(out, 1, MPI_INT, 0, 1, comm);
}

static void completions(void)
{
    int indices[1];
    int index;
    int count;
    int flag;

    begin_receive();
    MPI_Waitall(1, &request, &status);
    begin_receive();
    MPI_Waitany(1, &request, &index, &status);
    begin_receive();
    MPI_Waitsome(1, &request, &count, indices, &status);
    begin_receive();
    MPI_Test(&request, &flag, &status);
    begin_receive();
    MPI_Testall(1, &request, &flag, &status);
    begin_receive();
    MPI_Testany(1, &request, &index, &flag, &status);
    begin_receive();
    MPI_Testsome(1, &request, &count, indices, &status);
    begin_receive();
    MPI_Request_get_status(request, &flag, &status);
#ifdef HAS_MPI_4_1
    MPI_Request_get_status_all(1, &request, &flag, &status);
    MPI_Request_get_status_any(1, &request, &index, &flag, &status);
    MPI_Request_get_status_some(1, &request, &count, indices, &status);
#endif
    MPI_Wait(&request, &status);
    MPI_Irecv(in, 1, MPI_INT, 0, 9, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Isend(out, 1, MPI_INT, 0, 9, comm, &request);
    MPI_Cancel(&request);
    MPI_Irecv(in, 1, MPI_INT, 0, 9, comm, &other); /* in case it is not cancelled */
    MPI_Wait(&request, &status);
    MPI_Cancel(&other);
    MPI_Wait(&other, &status);
}

static void partitions(void)
{
    char from[8] = {0};
    char to[8];
    int list[2] = {0, 1};
    int flag = 0;

    MPI_Psend_init(from, 2, 4, MPI_BYTE, 0, 3, comm, MPI_INFO_NULL, &request);
    MPI_Precv_init(to, 2, 4, MPI_BYTE, 0, 3, comm, MPI_INFO_NULL, &other);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&other);
        MPI_Start(&request);
        if (i == 0) {
            MPI_Pready(0, request);
            MPI_Pready_range(1, 1, request);
        } else {
            MPI_Pready_list(2, list, request);
        }
        MPI_Wait(&request, &status);
        for (flag = 0; !flag;)
            MPI_Parrived(other, 0, &flag);
        MPI_Wait(&other, &status);
    }
    MPI_Request_free(&request);
    MPI_Request_free(&other);
}

/* --- Collective operations -------------------------------------------------------- */

/* Calls a collective operation: blocking, nonblocking and persistent.  `c` is empty, or
 * _c for the variant with large counts. */
#define COLLECTIVE(Name, name, c, ...)                                                 \
    MPI_##Name##c(__VA_ARGS__);                                                        \
    LATER(MPI_I##name##c, __VA_ARGS__);                                                \
    STARTED(MPI_##Name##_init##c, __VA_ARGS__)
#define BOTH_COLLECTIVE(Name, name, ...)                                               \
    COLLECTIVE(Name, name, , __VA_ARGS__);                                             \
    COLLECTIVE(Name, name, _c, __VA_ARGS__)

static void collectives(void)
{
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};

    COLLECTIVE(Barrier, barrier, , comm);
    BOTH_COLLECTIVE(Bcast, bcast, out, 1, MPI_INT, 0, comm);
    BOTH_COLLECTIVE(Gather, gather, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    COLLECTIVE(Gatherv, gatherv, , out, 1, MPI_INT, in, counts, places, MPI_INT, 0,
               comm);
    COLLECTIVE(Gatherv, gatherv, _c, out, 1, MPI_INT, in, big_counts, big_places,
               MPI_INT, 0, comm);
    BOTH_COLLECTIVE(Scatter, scatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    COLLECTIVE(Scatterv, scatterv, , out, counts, places, MPI_INT, in, 1, MPI_INT, 0,
               comm);
    COLLECTIVE(Scatterv, scatterv, _c, out, big_counts, big_places, MPI_INT, in, 1,
               MPI_INT, 0, comm);
    BOTH_COLLECTIVE(Allgather, allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    COLLECTIVE(Allgatherv, allgatherv, , out, 1, MPI_INT, in, counts, places, MPI_INT,
               comm);
    COLLECTIVE(Allgatherv, allgatherv, _c, out, 1, MPI_INT, in, big_counts, big_places,
               MPI_INT, comm);
    BOTH_COLLECTIVE(Alltoall, alltoall, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    COLLECTIVE(Alltoallv, alltoallv, , out, counts, places, MPI_INT, in, counts, places,
               MPI_INT, comm);
    COLLECTIVE(Alltoallv, alltoallv, _c, out, big_counts, big_places, MPI_INT, in,
               big_counts, big_places, MPI_INT, comm);
    COLLECTIVE(Alltoallw, alltoallw, , out, counts, places, types, in, counts, places,
               types, comm);
    COLLECTIVE(Alltoallw, alltoallw, _c, out, big_counts, big_places, types, in,
               big_counts, big_places, types, comm);
    BOTH_COLLECTIVE(Reduce, reduce, out, in, 1, MPI_INT, MPI_SUM, 0, comm);
    BOTH_COLLECTIVE(Allreduce, allreduce, out, in, 1, MPI_INT, MPI_SUM, comm);
    BOTH_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, out, in, 1, MPI_INT,
                    MPI_SUM, comm);
    COLLECTIVE(Reduce_scatter, reduce_scatter, , out, in, counts, MPI_INT, MPI_SUM,
               comm);
    COLLECTIVE(Reduce_scatter, reduce_scatter, _c, out, in, big_counts, MPI_INT,
               MPI_SUM, comm);
    BOTH_COLLECTIVE(Scan, scan, out, in, 1, MPI_INT, MPI_SUM, comm);
    BOTH_COLLECTIVE(Exscan, exscan, out, in, 1, MPI_INT, MPI_SUM, comm);
}

static void neighbours(MPI_Comm made)
{
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};

    BOTH_COLLECTIVE(Neighbor_allgather, neighbor_allgather, out, 1, MPI_INT, in, 1,
                    MPI_INT, made);
    COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, , out, 1, MPI_INT, in, counts,
               places, MPI_INT, made);
    COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, _c, out, 1, MPI_INT, in,
               big_counts, big_places, MPI_INT, made);
    BOTH_COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, out, 1, MPI_INT, in, 1,
                    MPI_INT, made);
    COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, , out, counts, places, MPI_INT,
               in, counts, places, MPI_INT, made);
    COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, _c, out, big_counts, big_places,
               MPI_INT, in, big_counts, big_places, MPI_INT, made);
    COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, , out, counts, byte_places,
               types, in, counts, byte_places, types, made);
    COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, _c, out, big_counts, byte_places,
               types, in, big_counts, byte_places, types, made);
}

/* --- Communicators ---------------------------------------------------------------- */

static void communicators(void)
{
    MPI_Comm made;

    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    MPI_Comm_set_info(made, info);
    MPI_Comm_free(&made);
    MPI_Comm_idup(comm, &made, &request);
    MPI_Wait(&request, &status);
    MPI_Comm_disconnect(&made);
    MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made, &request);
    MPI_Wait(&request, &status);
    MPI_Comm_free(&made);
    MPI_Comm_create(comm, group, &made);
    MPI_Comm_free(&made);
    MPI_Comm_create_group(comm, group, 3, &made);
    MPI_Comm_free(&made);
    MPI_Comm_split(comm, 0, 0, &made);
    MPI_Comm_free(&made);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    MPI_Comm_create_from_group(group, "every_call", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &made);
    MPI_Comm_free(&made);
}

static void topologies(void)
{
    int one[1] = {1};
    int zero[1] = {0};
    int rank;
    MPI_Comm made;
    MPI_Comm part;

    MPI_Cart_create(comm, 1, one, one, 0, &made);
    MPI_Cart_sub(made, one, &part);
    MPI_Cart_map(comm, 1, one, one, &rank);
    neighbours(made);
    MPI_Comm_free(&made);
    MPI_Comm_free(&part);
    MPI_Graph_create(comm, 1, one, zero, 0, &made);
    MPI_Graph_map(comm, 1, one, zero, &rank);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create(comm, 1, zero, one, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          &made);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create_adjacent(comm, 1, zero, MPI_UNWEIGHTED, 1, zero,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
    MPI_Comm_free(&made);
}

/* --- Windows and files ------------------------------------------------------------ */

static void make_windows(void)
{
    int memory[16];
    void *base;
    MPI_Win win;

    MPI_Win_create_c(memory, sizeof memory, 4, MPI_INFO_NULL, comm, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(64, 4, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared_c(64, 4, MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_free(&win);
}

static void access_window(MPI_Win win)
{
    MPI_Win_fence(0, win);
    BOTH(MPI_Put, out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    BOTH(MPI_Get, out, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    BOTH(MPI_Accumulate, out, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
    BOTH(MPI_Get_accumulate, out, 1, MPI_INT, in, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM,
         win);
    MPI_Fetch_and_op(out, in, MPI_INT, 0, 4, MPI_SUM, win);
    MPI_Compare_and_swap(out, out + 1, in, MPI_INT, 0, 5, win);
    MPI_Win_fence(0, win);
}

static void synchronize_window(MPI_Win win)
{
    int flag = 0;

    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
    while (!flag)
        MPI_Win_test(win, &flag);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_flush(0, win);
    MPI_Win_flush_local(0, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    BOTH_LATER(MPI_Rput, out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    BOTH_LATER(MPI_Rget, out, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    BOTH_LATER(MPI_Raccumulate, out, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
    BOTH_LATER(MPI_Rget_accumulate, out, 1, MPI_INT, in, 1, MPI_INT, 0, 3, 1, MPI_INT,
               MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
}

static void windows(void)
{
    static int memory[16];
    MPI_Win win;

    make_windows();
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, comm, &win);
    MPI_Win_set_info(win, info);
    access_window(win);
    synchronize_window(win);
    MPI_Win_free(&win);
}

#define SPLIT(name, ...)                                                               \
    name##_begin(__VA_ARGS__);                                                         \
    name##_end(file, out, &status);                                                    \
    name##_begin_c(__VA_ARGS__);                                                       \
    name##_end(file, out, &status)

static void split_file(MPI_File file)
{
    SPLIT(MPI_File_write_at_all, file, 0, out, 1, MPI_INT);
    SPLIT(MPI_File_read_at_all, file, 0, out, 1, MPI_INT);
    SPLIT(MPI_File_write_all, file, out, 1, MPI_INT);
    SPLIT(MPI_File_read_all, file, out, 1, MPI_INT);
    SPLIT(MPI_File_write_ordered, file, out, 1, MPI_INT);
    SPLIT(MPI_File_read_ordered, file, out, 1, MPI_INT);
}

/* Writes and reads, blocking and nonblocking. */
#define MOVE(how, ...)                                                                 \
    BOTH(MPI_File_write##how, __VA_ARGS__, &status);                                   \
    BOTH(MPI_File_read##how, __VA_ARGS__, &status);                                    \
    BOTH_LATER(MPI_File_iwrite##how, __VA_ARGS__);                                     \
    BOTH_LATER(MPI_File_iread##how, __VA_ARGS__)

static void use_file(MPI_File file)
{
    MOVE(_at, file, 0, out, 1, MPI_INT);
    MOVE(_at_all, file, 0, out, 1, MPI_INT);
    MOVE(, file, out, 1, MPI_INT);
    MOVE(_all, file, out, 1, MPI_INT);
    MOVE(_shared, file, out, 1, MPI_INT);
    BOTH(MPI_File_write_ordered, file, out, 1, MPI_INT, &status);
    BOTH(MPI_File_read_ordered, file, out, 1, MPI_INT, &status);
}

static void files(const char *name)
{
    MPI_Offset offset;
    MPI_File file;

    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_preallocate(file, 4096);
    MPI_File_set_size(file, 8192);
    MPI_File_get_size(file, &offset);
    MPI_File_set_info(file, info);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_set_atomicity(file, 0);
    MPI_File_sync(file);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_get_position_shared(file, &offset);
    use_file(file);
    split_file(file);
    MPI_File_close(&file);
    MPI_File_delete(name, MPI_INFO_NULL);
}

/* --- The rest --------------------------------------------------------------------- */

static int on_query(void *extra, MPI_Status *asked)
{
    (void)extra;
    MPI_Status_set_elements(asked, MPI_INT, 0);
    MPI_Status_set_cancelled(asked, 0);
    return MPI_SUCCESS;
}

static int on_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void others(void)
{
    MPI_Session session;

    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Publish_name("every_call", MPI_INFO_NULL, "nowhere");
    MPI_Lookup_name("every_call", MPI_INFO_NULL, (char[MPI_MAX_PORT_NAME]){0});
    MPI_Unpublish_name("every_call", MPI_INFO_NULL, "nowhere");
}

static void buffers(void *buffer, int bytes)
{
    void *attached;
    int size;
    MPI_Count big_size;

    MPI_Buffer_detach(&attached, &size);
    MPI_Buffer_attach(buffer, bytes);
    MPI_Buffer_detach_c(&attached, &big_size);
}

#ifdef HAS_MPI_4_1
#define USE_BUFFER(KIND, OBJECT)                                                       \
    MPI_##KIND##_attach_buffer(OBJECT, buffer, bytes);                                 \
    MPI_##KIND##_flush_buffer(OBJECT);                                                 \
    MPI_##KIND##_iflush_buffer(OBJECT, &request);                                      \
    MPI_Wait(&request, &status);                                                       \
    MPI_##KIND##_detach_buffer(OBJECT, &attached, &size);                              \
    MPI_##KIND##_attach_buffer(OBJECT, buffer, bytes);                                 \
    MPI_##KIND##_detach_buffer_c(OBJECT, &attached, &big_size)

static void newer_buffers(void *buffer, int bytes)
{
    MPI_Session session;
    void *attached;
    int size;
    MPI_Count big_size;

    MPI_Buffer_attach(buffer, bytes);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, &status);
    MPI_Buffer_detach(&attached, &size);
    USE_BUFFER(Comm, comm);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    USE_BUFFER(Session, session);
    MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
    enum { BUFFER = 1 << 20 };
    void *buffer = malloc(BUFFER);
    int provided;

    if (argc < 2 || buffer == NULL)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Info_create(&info);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Buffer_attach(buffer, BUFFER);
    sends();
    receives();
    probes();
    completions();
    partitions();
    buffers(buffer, BUFFER);
#ifdef HAS_MPI_4_1
    newer_buffers(buffer, BUFFER);
#endif
    collectives();
    communicators();
    topologies();
    windows();
    files(argv[1]);
    others();
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Finalize();
    free(buffer);
    return 0;
}
#endif
