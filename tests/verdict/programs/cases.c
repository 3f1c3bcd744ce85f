/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cases.c - runs one case, or lists them all: verdict_cases CASE | --list */
#include "cases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct verdict_case *const tables[] = {
    message_cases, request_cases, collective_cases, mismatch_cases, space_cases,
    end_cases,     thread_cases,  waiting_cases,    busy_cases,     alike_cases,
};

int case_rank;
int case_size;
char case_large[LARGE_BYTES];
char case_large_in[LARGE_BYTES];

static MPI_Comm agreement = MPI_COMM_NULL;

static const char *sign_path(const char *name, int number)
{
    static _Thread_local char path[4096];
    const char *folder = getenv("VERDICT_SIGNS");

    if (!folder)
        return NULL;
    if (number < 0)
        snprintf(path, sizeof path, "%s/%s", folder, name);
    else
        snprintf(path, sizeof path, "%s/%s.%d", folder, name, number);
    return path;
}

void case_reached(void)
{
    const char *path = sign_path("reached", case_rank);

    if (!path)
        return;
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
}

void case_await_reached(int rank)
{
    const char *path = sign_path("reached", rank);

    while (path && access(path, F_OK) != 0)
        case_nap();
}

bool case_may_go(void)
{
    const char *path = sign_path("go", -1);

    return !path || access(path, F_OK) == 0;
}

void case_nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

void case_await_go(void)
{
    while (!case_may_go())
        case_nap();
}

void case_send(int to, int tag)
{
    MPI_Send(&case_rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

void case_receive(int from, int tag)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void case_receive_in_vain(int from)
{
    case_reached();
    case_receive(from, TAG_NEVER);
}

void case_meet_in_vain(void)
{
    case_reached();
    MPI_Barrier(MPI_COMM_WORLD);
}

bool case_goes_on(long round)
{
    int stop = 0;

    if (round == 0) {
        if (agreement == MPI_COMM_NULL)
            MPI_Comm_dup(MPI_COMM_WORLD, &agreement);
        case_reached();
    }
    if (round % 32 != 0)
        return true;
    if (case_rank == 0)
        stop = case_may_go();
    MPI_Bcast(&stop, 1, MPI_INT, 0, agreement);
    return !stop;
}

void case_exchange_pids(int *ret_pids)
{
    int pid = (int)getpid();

    MPI_Allgather(&pid, 1, MPI_INT, ret_pids, 1, MPI_INT, MPI_COMM_WORLD);
}

static const struct verdict_case *find_case(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct verdict_case *row = tables[i]; row->name; row++)
            if (!strcmp(row->name, name))
                return row;
    return NULL;
}

static void list_cases(void)
{
    static const char *const ends[] = {"hangs", "dies", "goes"};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct verdict_case *row = tables[i]; row->name; row++)
            printf("%s %d %s %s\n", row->name, row->ranks, ends[row->end],
                   row->verdict);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        list_cases();
        return 0;
    }
    const struct verdict_case *row = argc == 2 ? find_case(argv[1]) : NULL;
    if (!row) {
        fprintf(stderr, "usage: verdict_cases CASE | --list\n");
        return 2;
    }
    int level = MPI_THREAD_SINGLE;
    if (row->threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &case_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &case_size);
    if (case_size != row->ranks || (row->threads && level < MPI_THREAD_MULTIPLE)) {
        fprintf(stderr, "%s needs %d ranks%s\n", row->name, row->ranks,
                row->threads ? " and threads" : "");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    row->run();
    if (agreement != MPI_COMM_NULL)
        MPI_Comm_free(&agreement);
    MPI_Finalize();
    return 0;
}
