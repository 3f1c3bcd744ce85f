/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One collective operation over a tree.
 */
#include "config.h"

#include "wrappers/collective/tree_run.h"

#include "wrappers/mpi/mpi_next.h"

int esi_tree_run_begin(const struct esi_tree_call *call, struct esi_tree_run **ret_run)
{
    (void)call;
    *ret_run = NULL;
    return MPI_ERR_NO_MEM;
}

int esi_tree_run_step(struct esi_tree_run *run, bool *ret_done)
{
    (void)run;
    *ret_done = true;
    return MPI_ERR_OTHER;
}

int esi_tree_run_wait(struct esi_tree_run *run)
{
    (void)run;
    return MPI_ERR_OTHER;
}

void esi_tree_run_end(struct esi_tree_run *run)
{
    (void)run;
}

int esi_tree_run(const struct esi_tree_call *call)
{
    struct esi_tree_run *run;

    return esi_tree_run_begin(call, &run);
}
