/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The path of an operation: the element of this thread to which its tuple is written.
 *
 * A thread has one path for each class of operations, created when the class first
 * occurs.  If the plan distinguishes more than the class (a communicator filter, a
 * split), that path is a choice: a table from communicator and peer to paths.
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

/* One collector of one thread, with its element. */
struct esi_path {
    struct esi_writer writer;
    bool is_choice; /* selects among several paths by communicator and peer */
    bool polls;     /* also record polls that find nothing */
};

/* Creates the thread's path for the class of an operation.  NULL if the process has
 * stepped aside; then the thread behaves as if it were inside MPI, so its calls pass
 * through.  With collective trees, which need all ranks, returns a path that records
 * nothing instead. */
struct esi_path *esi_path_make(struct esi_thread *thread, uint16_t operation);

/* The same, for a call by the program.  If MPI is not initialised or already finalised,
 * the call is wrong, and MPI is to say so: only shows it as the open tuple, without its
 * arguments, and returns NULL. */
struct esi_path *esi_path_enter(struct esi_thread *thread, uint16_t operation);

/* MPI is finalised, or the thread ends: forgets what the thread has looked up.  The
 * next call is entered as above. */
void esi_path_forget(void);

/* The selected path of a choice, created if necessary. */
struct esi_path *esi_path_choose(struct esi_path *path, const struct es_tuple *tuple);

/* Writes a completed tuple of this thread into its element, for the end of a message or
 * of a nonblocking collective rather than the call itself.  `site` is where it was
 * called or posted. */
void esi_path_write_at(struct esi_thread *thread,
                       const struct es_tuple *tuple,
                       uint64_t site);

/* Like esi_path_write_at(), for the current call of the thread. */
static inline void esi_path_write(struct esi_thread *thread,
                                  const struct es_tuple *tuple)
{
    esi_path_write_at(thread, tuple, thread->site);
}

/* Like esi_path_write_at(), for a known class. */
ES_HOT void esi_path_write_class(struct esi_thread *thread,
                                 enum es_class op_class,
                                 const struct es_tuple *tuple,
                                 uint64_t site)
{
    struct esi_path *path = thread->paths[op_class];

    if (ESI_UNLIKELY(path == NULL || !esi_writer_is_plain(&path->writer))) {
        struct es_tuple uncommon = *tuple; /* `tuple` has no address:
                                              see struct esi_call */

        esi_path_write_at(thread, &uncommon, site);
    } else {
        esi_writer_store(&path->writer, tuple, site);
        esi_writer_advance(&path->writer);
    }
}

/* Callback of every match: writes the tuple if `owner`, a struct esi_slot, belongs to
 * the calling thread; otherwise leaves it to the owner. */
void esi_path_publish(void *owner, const struct es_tuple *tuple, uint64_t site);

#endif
