/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Collective trees: where they begin and end, and the blocking operations. */
#include "config.h"

#include "wrappers/trees/trees.h"

#include <stdlib.h>

#include "wrappers/trees/argument_check.h"
#include "wrappers/trees/nonblocking.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/trees/comm_trees.h"
#include "wrappers/mpi/process.h"
#include "wrappers/mpi/record.h"

bool esi_trees_on;
static struct esi_rules *given; /* by EVENTSPACE_TREES */

/* --- Begin and end -------------------------------------------------------------- */

void esi_trees_start(int rank)
{
    const char *text = getenv("EVENTSPACE_TREES");
    struct es_error error = {.line = 0};
    char line[400];

    if (text == NULL || *text == '\0')
        return;
    if (esi_rules_get(text, &error, &given) < 0) {
        if (rank <= 0)
            esi_warn("%s; there are no collective trees",
                     es_error_format(&error, line, sizeof line));
        return;
    }
    esi_nonblocking_start(&esi_rules_plan(given)->rules);
    esi_trees_on = true;
}

struct esi_rules *esi_trees_rules(void)
{
    return given;
}

void esi_trees_ready(bool has_threads)
{
    if (!esi_trees_on)
        return;
    if (has_threads)
        esi_nonblocking_share();
    esi_judge_start();
}

#if MPI_VERSION >= 4
void esi_trees_ready_in_session(MPI_Session session)
{
    if (!esi_trees_on)
        return;
    esi_nonblocking_share(); /* each session has a level of its own: be prepared */
    esi_judge_start_in_session(session);
}

void esi_trees_end_session(MPI_Session session)
{
    if (esi_trees_on)
        esi_judge_end_session(session);
}
#endif

void esi_trees_comm_freed(struct esi_comm *comm)
{
    if (comm == NULL || comm->site == NULL)
        return;
    esi_nonblocking_drain(comm);
    esi_site_destroy(comm->site);
    comm->site = NULL;
}

void esi_trees_finalize(void)
{
    if (!esi_trees_on)
        return;
    esi_nonblocking_drain_all();
    esi_trees_comm_freed(esi_comm_lookup(ESI_HANDLE((MPI_Comm){MPI_COMM_WORLD})));
    esi_judge_end();
}

/* --- Blocking operations -------------------------------------------------------- */

int esi_tree_fail(MPI_Comm comm, int code)
{
    ESI_REAL(MPI_Comm_call_errhandler)(comm, code);
    return code;
}

/* Other operations may have to move on while this one waits. */
static int run_patiently(const struct esi_tree_call *call)
{
    struct esi_tree_run *run;
    int code = esi_tree_run_begin(call, &run);

    if (run != NULL && code == MPI_SUCCESS)
        code = esi_patient_run(run);
    esi_tree_run_end(run);
    return code;
}

bool esi_trees_do(struct esi_call *call,
                  const struct esi_collective *collective,
                  int *ret_result)
{
    struct esi_way way;
    int code;

    switch (esi_way_find(call, collective, &way)) {
    case ESI_BY_TREE:
        code = esi_is_patient() ? run_patiently(&way.run) : esi_tree_run(&way.run);
        esi_way_leave(&way);
        break;
    case ESI_LOST:
        code = way.code;
        break;
    default:
        return false;
    }
    *ret_result = code == MPI_SUCCESS ? code : esi_tree_fail(collective->comm, code);
    return true;
}
