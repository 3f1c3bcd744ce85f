/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Collective trees: where they begin and end, and the blocking operations. */
#include "config.h"

#include "wrappers/trees/trees.h"

#include <stdlib.h>

#include "wrappers/mpi/process.h"
#include "wrappers/mpi/progress.h"
#include "wrappers/mpi/call.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/trees/argument_check.h"
#include "wrappers/trees/comm_trees.h"
#include "wrappers/trees/handle_use.h"
#include "wrappers/trees/nonblocking.h"

static struct esi_shared_rules *initial_rules; /* of EVENTSPACE_TREES */

struct esi_shared_rules *esi_trees_rules(void)
{
    return initial_rules;
}

/* --- Blocking operations -------------------------------------------------------- */

/* Other operations advance while this one waits. */
static int run_with_progress(const struct esi_tree_call *call)
{
    struct esi_tree_run *run;
    int code = esi_tree_run_begin(call, &run);
    bool done = false;

    while (run != NULL && code == MPI_SUCCESS && !done) {
        esi_trees_progress();
        code = esi_tree_run_step(run, &done);
    }
    esi_tree_run_end(run);
    return code;
}

static bool run_operation(struct esi_call *call,
                          const struct esi_collective *collective,
                          int *ret_result)
{
    struct esi_dispatch dispatch;
    int code;

    switch (esi_dispatch_find(call, collective, &dispatch)) {
    case ESI_DISPATCH_TREE:
        code = esi_progress_is_due() ? run_with_progress(&dispatch.run)
                                     : esi_tree_run(&dispatch.run);
        esi_dispatch_release(&dispatch);
        break;
    case ESI_DISPATCH_FAILED:
        code = dispatch.code;
        break;
    default:
        return false;
    }
    *ret_result = code == MPI_SUCCESS ? code : esi_comm_raise(collective->comm, code);
    return true;
}

/* --- Begin and end -------------------------------------------------------------- */

static void free_comm_trees(struct esi_comm *comm)
{
    if (comm == NULL || comm->trees == NULL)
        return;
    esi_nonblocking_drain(comm);
    esi_comm_trees_destroy(comm->trees);
    comm->trees = NULL;
}

static void finalize_trees(void)
{
    esi_nonblocking_drain_all();
    free_comm_trees(esi_comm_lookup(ESI_HANDLE((MPI_Comm){MPI_COMM_WORLD})));
    esi_argument_check_end();
}

static const struct esi_tree_ops tree_ops = {
    .run = run_operation,
    .post = esi_trees_post,
    .progress = esi_trees_progress,
    .on_threads = esi_nonblocking_note_threads,
    .on_peers = esi_nonblocking_note_peers,
    .on_initialized = esi_argument_check_start,
    .on_finalize = finalize_trees,
#if MPI_VERSION >= 4
    .on_session_begin = esi_argument_check_start_in_session,
    .on_session_end = esi_argument_check_end_session,
#endif
    .on_comm_free = free_comm_trees,
    .defer_type_free = esi_handle_use_defer_type_free,
    .defer_op_free = esi_handle_use_defer_op_free,
};

/* A text that cannot be read is reported by rank 0.  All ranks read the same text, so
 * all do without trees. */
void esi_trees_start(int rank)
{
    const char *text = getenv("EVENTSPACE_TREES");
    struct es_error error = {.line = 0};
    char line[400];

    if (text == NULL || *text == '\0')
        return;
    if (esi_rules_get(text, &error, &initial_rules) < 0) {
        if (rank <= 0)
            esi_process_warn("%s; there are no collective trees",
                             es_error_format(&error, line, sizeof line));
        return;
    }
    esi_nonblocking_start(&esi_rules_plan(initial_rules)->rules);
    esi_trees_install(&tree_ops);
}
