/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * spawn - a process starts another one of the same program and gets a number from it.
 */
#include <mpi.h>
#include <stdio.h>

static int parent_main(char *program)
{
    int number = 0;
    MPI_Comm children;

    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                   &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_name(children, "c:spawned");
    MPI_Recv(&number, 1, MPI_INT, 0, 3, children, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
    if (number == 42)
        printf("spawn: the child has answered\n");
    return number == 42 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int number = 42;
    int result = 0;
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        result = parent_main(argv[0]);
    } else {
        MPI_Send(&number, 1, MPI_INT, 0, 3, parent);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return result;
}
