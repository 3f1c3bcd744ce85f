/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The path of an operation: which element of this thread its tuple goes to.
 *
 * A thread holds one path for each class of operations, made when the class first
 * occurs.  Where the plan chooses by more than the class (a communicator filter, a
 * split), that path is a choice: a table from communicator and peer to the paths
 * proper.
 *
 * Everything here belongs to the calling thread.
 */
#ifndef ES_WRAPPERS_MPI_PATH_H
#define ES_WRAPPERS_MPI_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/tuple.h"
#include "tuplespace/writer.h"
#include "wrappers/mpi/thread.h"

/* One collector of one thread with its element. */
struct esi_path {
    struct esi_writer writer;
    bool is_choice; /* stands for several: choose by communicator and peer */
    bool polls;     /* polls that find nothing are written too */
};

/* Makes the thread's path for an operation's class.  NULL: the process has stepped
 * aside.  Then the thread looks from now on as if it were inside MPI, and its calls
 * pass through.  With collective trees, which need all ranks, the path records nothing
 * instead. */
struct esi_path *esi_path_make(struct esi_thread *thread, uint16_t operation);

/* The path proper of a choice, made if it is new. */
struct esi_path *esi_path_choose(struct esi_path *path, const struct es_tuple *tuple);

/* Writes a finished tuple of this thread into its element: an end of a message, or of a
 * nonblocking collective, that is not the call itself.  `site` is where it was called
 * or posted. */
void esi_path_write_at(struct esi_thread *thread,
                       const struct es_tuple *tuple,
                       uint64_t site);

/* The same of the call that the thread is in. */
static inline void esi_path_write(struct esi_thread *thread,
                                  const struct es_tuple *tuple)
{
    esi_path_write_at(thread, tuple, thread->site);
}

/* The same for a class that is known. */
ES_HOT void esi_path_write_class(struct esi_thread *thread,
                                 enum es_class op_class,
                                 const struct es_tuple *tuple,
                                 uint64_t site)
{
    struct esi_path *path = thread->paths[op_class];

    if (ESI_UNLIKELY(path == NULL || path->is_choice)) {
        struct es_tuple uncommon = *tuple; /* it has no address: see struct esi_call */

        esi_path_write_at(thread, &uncommon, site);
    } else if (ESI_LIKELY(esi_writer_is_enabled(&path->writer))) {
        esi_writer_write_at(&path->writer, tuple, site);
    }
}

/* What every match calls back: writes the tuple if `owner`, a struct esi_slot, is the
 * calling thread's, else leaves it to the thread that may. */
void esi_path_publish(void *owner, const struct es_tuple *tuple, uint64_t site);

#endif
