/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Included first by programs that need MPI-4.0: with an older MPI they exit with 77. */
#ifndef ES_TESTS_MPI_MPI4_H
#define ES_TESTS_MPI_MPI4_H

#include <mpi.h>

#if MPI_VERSION < 4
int main(void)
{
    return 77;
}
#endif

#endif
