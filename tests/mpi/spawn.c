/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * spawn - two processes spawn two worlds of two, and all communicate over every kind of
 * communicator between worlds.
 *
 *   spawn          all of this
 *   spawn VALUE... the parents spawn one process for each value of the info key "env",
 *                  one after the other
 *
 * No two messages have the same length, so that a wrong match is noticed.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORLD = 2, LONGEST = 4096, TAG = 3 };
/* The numbers of the spawned worlds, passed as their arguments. */
enum { FIRST = 1024, SECOND = 2048 };

static int rank;     /* in MPI_COMM_WORLD */
static int messages; /* received by this process */

/* Sends `length` bytes and receives from the other side; one side has `first` = 1. */
static void exchange(MPI_Comm comm, int peer, int length, int first)
{
    static char sent[LONGEST], received[LONGEST];
    MPI_Status status;

    for (int turn = 0; turn < 2; turn++)
        if (turn == first)
            MPI_Recv(received, LONGEST, MPI_BYTE, peer, TAG, comm, &status);
        else
            MPI_Send(sent, length + (first ? 0 : 512), MPI_BYTE, peer, TAG, comm);
    messages++;
}

/* Connects over a port: the accepting side opens it and sends its name by `between`. */
static MPI_Comm meet(MPI_Comm between, MPI_Comm with, int accepts)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm made;

    if (accepts) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG + 1, between);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, with, &made);
        if (rank == 0)
            MPI_Close_port(port);
    } else {
        if (rank == 0)
            MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG + 1, between,
                     MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, with, &made);
    }
    return made;
}

/* Connects rank 0 of both sides by a socket. */
static int connect_sockets(MPI_Comm between, int listens)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int accepted;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!listens) {
        MPI_Recv(&address, sizeof address, MPI_BYTE, 0, TAG + 2, between,
                 MPI_STATUS_IGNORE);
        return connect(fd, (struct sockaddr *)&address, length) == 0 ? fd : -1;
    }
    if (bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 1) != 0)
        return -1;
    getsockname(fd, (struct sockaddr *)&address, &length);
    MPI_Send(&address, sizeof address, MPI_BYTE, 0, TAG + 2, between);
    accepted = accept(fd, NULL, NULL);
    close(fd);
    return accepted;
}

static void join(MPI_Comm between, int length, int first)
{
    MPI_Comm made = MPI_COMM_NULL;
    int fd = connect_sockets(between, !first);

    MPI_Comm_join(fd, &made);
    if (made != MPI_COMM_NULL) {
        exchange(made, 0, length, first);
        MPI_Comm_disconnect(&made);
    }
    close(fd);
}

/* Uses `between` and communicators made of it; `base` makes lengths unique. */
static void talk(MPI_Comm between, int base, int first)
{
    MPI_Comm made, half;
    int all;

    exchange(between, rank, base + rank, first);
    MPI_Comm_dup(between, &made);
    exchange(made, rank, base + 8 + rank, first);
    MPI_Comm_free(&made);
    MPI_Comm_split(between, rank, 0, &half);
    exchange(half, 0, base + 16 + rank, first);
    MPI_Comm_free(&half);
    MPI_Intercomm_merge(between, first, &made);
    MPI_Comm_rank(made, &all);
    exchange(made, (all + WORLD) % (2 * WORLD), base + 24 + rank, first);
    MPI_Comm_split(made, rank, 0, &half);
    exchange(half, first ? 0 : 1, base + 32 + rank, first);
    MPI_Comm_free(&half);
    MPI_Comm_free(&made);
}

/* Connects the two spawned worlds, which do not know each other. */
static void meet_sibling(MPI_Comm parent, int accepts)
{
    MPI_Comm made = meet(parent, MPI_COMM_WORLD, accepts);

    exchange(made, rank, 600 + rank, !accepts);
    MPI_Comm_disconnect(&made);
}

/* Passes the name of the port from one to the other. */
static void introduce(MPI_Comm first, MPI_Comm second)
{
    char port[MPI_MAX_PORT_NAME];

    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG + 1, first, MPI_STATUS_IGNORE);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG + 1, second);
}

/* Executed by both sides: the parents have `first` = 0. */
static void do_all(MPI_Comm between, int base, int first)
{
    MPI_Comm made;

    talk(between, base, first);
    made = meet(between, MPI_COMM_WORLD, !first);
    exchange(made, rank, base + 40 + rank, first);
    MPI_Comm_disconnect(&made);
    if (rank == 0)
        join(between, base + 48, first);
    MPI_Comm_disconnect(&between);
}

/* Connects the two parents over a port. */
static void halves(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm made;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    }
    exchange(made, 0, 500, rank);
    MPI_Comm_disconnect(&made);
}

static MPI_Comm spawn(char *program,
                      char *base,
                      int count,
                      MPI_Info info,
                      MPI_Comm comm)
{
    char *arguments[] = {base, NULL};
    int codes[WORLD] = {-1, -1};
    MPI_Comm made;

    MPI_Comm_spawn(program, arguments, count, info, 0, comm, &made, codes);
    if (codes[0] != MPI_SUCCESS)
        printf("spawn: error code %d\n", codes[0]);
    return made;
}

static MPI_Comm spawn_two_programs(char *program, char *base)
{
    char *arguments[] = {base, NULL};
    char *programs[] = {program, program};
    char **both[] = {arguments, arguments};
    int counts[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm made;

    MPI_Comm_spawn_multiple(2, programs, both, counts, infos, 0, MPI_COMM_WORLD, &made,
                            MPI_ERRCODES_IGNORE);
    return made;
}

static void spawn_with_environment(char *program, const char *value)
{
    char after[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Comm made;
    MPI_Info info;
    int found = 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, "env", value);
    made = spawn(program, "0", 1, info, MPI_COMM_WORLD);
    MPI_Info_get(info, "env", MPI_MAX_INFO_VAL, after, &found);
    if (rank == 0)
        printf("spawn: the info object is %s\n",
               strcmp(after, value) == 0 ? "unchanged" : "another one");
    MPI_Info_free(&info);
    MPI_Comm_disconnect(&made);
}

static void be_child(MPI_Comm parent, int base)
{
    if (base > 0) {
        meet_sibling(parent, base == FIRST);
        do_all(parent, base, 1);
        return;
    }
    printf("spawn: SPAWN_GIVEN is %s, LD_PRELOAD %s\n", getenv("SPAWN_GIVEN"),
           getenv("LD_PRELOAD") != NULL ? "set" : "not set");
    fflush(stdout);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, first, second;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent, atoi(argv[1]));
    } else if (argc > 1) {
        for (int i = 1; i < argc; i++)
            spawn_with_environment(argv[0], argv[i]);
    } else {
        first = spawn(argv[0], "1024", WORLD, MPI_INFO_NULL, MPI_COMM_WORLD);
        second = spawn_two_programs(argv[0], "2048");
        if (rank == 0)
            introduce(first, second);
        do_all(first, FIRST, 0);
        do_all(second, SECOND, 0);
        halves();
        printf("spawn: rank %d got %d messages\n", rank, messages);
    }
    MPI_Finalize();
    return 0;
}
