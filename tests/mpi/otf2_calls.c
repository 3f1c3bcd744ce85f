/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * otf2_calls - calls that have special records in OTF2 archives; three or more ranks.
 *
 *   otf2_calls windows|collectives|requests|polls|blocking ...
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64 };

static int rank, size, left, right;
static int out[WORDS], in[WORDS];

/* --- Windows ---------------------------------------------------------------------- */

static void access_between_fences(MPI_Win win)
{
    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, right, 0, 2, MPI_INT, win);
    MPI_Get(in, 3, MPI_INT, left, 8, 3, MPI_INT, win);
    MPI_Accumulate(out, 1, MPI_INT, 0, 16, 1, MPI_INT, MPI_SUM, win);
    MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
}

static void access_locked(MPI_Win win)
{
    MPI_Request request;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(out, 1, MPI_INT, right, 24, 1, MPI_INT, win);
    MPI_Win_flush(right, win);
    MPI_Get_accumulate(out, 1, MPI_INT, in, 1, MPI_INT, right, 25, 1, MPI_INT, MPI_SUM,
                       win);
    MPI_Win_unlock(right, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(in, 1, MPI_INT, 0, 24, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(out, in, MPI_INT, 0, 26, MPI_SUM, win);
    MPI_Win_flush_local(0, win);
    MPI_Compare_and_swap(out, in, in + 1, MPI_INT, left, 27, win);
    MPI_Rput(out, 1, MPI_INT, right, 28, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
}

static void access_of_neighbours(MPI_Win win)
{
    MPI_Group all, lefts, rights, both;
    int done = 0, own, sides[2];

    MPI_Win_get_group(win, &all);
    MPI_Group_rank(all, &own);
    sides[0] = (own + size - 1) % size;
    sides[1] = (own + 1) % size;
    MPI_Group_incl(all, 1, &sides[0], &lefts);
    MPI_Group_incl(all, 1, &sides[1], &rights);
    MPI_Group_incl(all, 2, sides, &both);
    MPI_Win_post(lefts, 0, win);
    MPI_Win_start(rights, 0, win);
    MPI_Put(out, 1, MPI_INT, sides[1], 32, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_post(rights, 0, win);
    MPI_Win_start(lefts, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_post(both, 0, win);
    MPI_Win_start(both, 0, win);
    MPI_Win_complete(win);
    MPI_Win_test(win, &done);
    while (!done) {
        usleep(1000); /* unsuccessful tests are recorded */
        MPI_Win_test(win, &done);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&lefts);
    MPI_Group_free(&rights);
    MPI_Group_free(&both);
}

static void use_windows(void)
{
    MPI_Comm reversed;
    MPI_Win win, other;
    int *base;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Win_allocate(sizeof in, sizeof in[0], MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    MPI_Win_create(in, sizeof in, sizeof in[0], MPI_INFO_NULL, reversed, &other);
    memset(base, 0, sizeof in);
    access_between_fences(win);
    access_between_fences(other);
    access_locked(win);
    MPI_Barrier(MPI_COMM_WORLD);
    access_of_neighbours(win);
    access_of_neighbours(other);
    MPI_Win_free(&other);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
}

/* --- Nonblocking collective operations -------------------------------------------- */

static void begin_rooted(MPI_Comm comm, MPI_Request *requests)
{
    MPI_Ibcast(in, 2, MPI_INT, 1, comm, &requests[0]);
    MPI_Ireduce(out, in + 2, 3, MPI_INT, MPI_SUM, 2, comm, &requests[1]);
    MPI_Igather(out, 1, MPI_INT, in + 8, 1, MPI_INT, 0, comm, &requests[2]);
    MPI_Iscatter(out, 1, MPI_INT, in + 16, 1, MPI_INT, 1, comm, &requests[3]);
}

static void begin_symmetric(MPI_Comm comm, MPI_Request *requests)
{
    MPI_Iallreduce(out, in + 20, 2, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Iallgather(out, 1, MPI_INT, in + 24, 1, MPI_INT, comm, &requests[1]);
    MPI_Ialltoall(out, 1, MPI_INT, in + 32, 1, MPI_INT, comm, &requests[2]);
    MPI_Ireduce_scatter_block(out, in + 40, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
    MPI_Iscan(out, in + 44, 1, MPI_INT, MPI_SUM, comm, &requests[4]);
    MPI_Iexscan(out, in + 48, 1, MPI_INT, MPI_SUM, comm, &requests[5]);
    MPI_Ibarrier(comm, &requests[6]);
}

static void begin_persistent(MPI_Comm comm)
{
#if MPI_VERSION >= 4
    MPI_Request requests[2];

    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(in, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#else
    (void)comm;
#endif
}

static void use_collectives(void)
{
    MPI_Comm reversed, copy;
    MPI_Request requests[8];
    int index;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    begin_rooted(MPI_COMM_WORLD, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    begin_rooted(reversed, requests);
    for (int i = 0; i < 4; i++)
        MPI_Wait(&requests[3 - i], MPI_STATUS_IGNORE);
    begin_symmetric(reversed, requests);
    for (int i = 0; i < 7; i++)
        MPI_Waitany(7, requests, &index, MPI_STATUS_IGNORE);
    begin_symmetric(MPI_COMM_WORLD, requests);
    MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(reversed, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    begin_persistent(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
}

/* --- Requests --------------------------------------------------------------------- */

static void send_persistent(void)
{
    MPI_Request requests[3];

    MPI_Recv_init(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 3; i++) {
        if (i == 1) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
}

static void cancel_receives(void)
{
    MPI_Request requests[2], persistent;

    MPI_Irecv(in, 1, MPI_INT, left, 90, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(in + 2, 1, MPI_INT, left, 91, MPI_COMM_WORLD, &persistent);
    MPI_Start(&persistent);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Cancel(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent);
    MPI_Send(out, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    MPI_Request requests[4];
    MPI_Message message;
    MPI_Status status;

    MPI_Irecv(in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 1, MPI_INT, right, 5, in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 1, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(left, 7, MPI_COMM_WORLD, &message, &status);
    MPI_Imrecv(in, 2, MPI_INT, &message, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#if MPI_VERSION >= 4
    MPI_Isendrecv(out, 1, MPI_INT, right, 8, in, 1, MPI_INT, left, 8, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
}

static void use_requests(void)
{
    send_persistent();
    cancel_receives();
    exchange();
}

/* --- Polls ------------------------------------------------------------------------ */

/* Each rank polls at least once without success, as the message is
 * sent after a barrier. */
static void use_polls(void)
{
    MPI_Request requests[2];
    int done = 0;

    MPI_Irecv(in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 1, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    MPI_Iprobe(left, 9, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* --- Calls that block ------------------------------------------------------------- */

/* Calls that EZTrace records completely. */
static void use_blocking(void)
{
    MPI_Comm reversed;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (int round = 0; round < 3; round++) {
        if (rank > 0)
            MPI_Recv(in, 2, MPI_INT, left, 7 + round % 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Send(out, 2, MPI_INT, right, 7 + round % 2, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(in, 2, MPI_INT, left, 7 + round % 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Bcast(in, 1, MPI_INT, 1, reversed);
        MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, reversed);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Barrier(reversed);
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*use)(void);
    } uses[] = {
        {"windows", use_windows},   {"collectives", use_collectives},
        {"requests", use_requests}, {"polls", use_polls},
        {"blocking", use_blocking},
    };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 1; i < argc; i++)
        for (size_t j = 0; j < sizeof uses / sizeof uses[0]; j++)
            if (strcmp(argv[i], uses[j].name) == 0)
                uses[j].use();
    MPI_Finalize();
    return 0;
}
