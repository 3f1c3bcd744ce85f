/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the interposer knows of communicators.
 *
 * A communicator gets an index in the segment's table, a run-wide key that all its
 * members compute alike without a message, its instance counter and its channels.
 *
 *   may run at the same time: everything; lookups take no lock.
 */
#ifndef ES_WRAPPERS_MPI_COMMUNICATORS_H
#define ES_WRAPPERS_MPI_COMMUNICATORS_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/list.h"
#include "wrappers/mpi/match.h"

struct esi_thread;

struct esi_comm_trees;
struct esi_ledger_communicator;

/* Of the operations that trees could do, which are the MPI library's whatever their
 * arguments are (tree_ops.h).  One thread's at a time, as collectives are. */
struct esi_tree_gate {
    uint32_t native; /* bits; 0 = those of none, as long as there are no trees */
    uint32_t count;  /* operations that trees could do, so far */
    uint32_t next;   /* number of the next blocking one that is not */
};

struct esi_comm {
    uint16_t index; /* in the segment's table, or ES_COMMUNICATOR_NONE */
    bool inter;
    int rank;
    int size;
    int remote_size; /* 0 unless inter */
    int peers;       /* ranks that messages can come from: remote_size or size */
    uint64_t key[2];
    char name[64];
    _Atomic int8_t of_world;      /* 1 yes, -1 no, 0 not asked yet: see
                                     esi_comm_is_of_world() */
    struct esi_list_link link;    /* of all that are known */
    _Atomic uint32_t instances;   /* collective operations begun on it */
    _Atomic uint32_t references;  /* the handle's own and pending operations' */
    struct esi_comm_trees *trees; /* whoever installs tree_ops.h owns it; NULL = none */
    struct esi_tree_gate gate;    /* likewise */
    struct esi_channels sent;
    struct esi_match received;
    struct esi_ledger_communicator *ledger; /* its part; never NULL */
    bool is_counted; /* the program made it, so it is to free it */
};

/* MPI handles are integers or pointers, depending on the MPI. */
#define ESI_HANDLE(handle) esi_handle_bits(&(handle), sizeof(handle))
static inline uint64_t esi_handle_bits(const void *handle, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, handle, size);
    return bits;
}

/* NULL when the handle is not known (invalid, or made out of sight). */
struct esi_comm *esi_comm_lookup(uint64_t handle);

/* Whether all members were started together with this process, so that they have its
 * environment; they all find the same.  `comm` may be unknown, but not invalid. */
bool esi_comm_is_of_world(MPI_Comm comm);

/* The rank in the run of a rank that messages can go to; -1 where that is not known.
 * `comm` is what is known of the valid `handle`. */
int32_t esi_comm_world_rank(MPI_Comm handle, const struct esi_comm *comm, int rank);

/* Ranks in the run of the members of a communicator's (local) group, -1 where they are
 * not known; NULL when they cannot be had.  The caller frees them. */
int *esi_comm_ranks(MPI_Comm comm, int *ret_size);

/* Processes of another world are known from here on: their ranks in the run are
 * `ranks`, or, if that is NULL, `first` and those that follow.  Takes group and ranks.
 */
void esi_comm_know_group(MPI_Group group, int first, const int *ranks);
/* MPI ends: nobody of another world is known any more. */
void esi_comm_forget_groups(void);

/* Registers MPI_COMM_WORLD and MPI_COMM_SELF once MPI is up, and the communicator with
 * those that have spawned the process. */
void esi_comm_register_world(void);

/* Registers a new communicator.  `operation` is the code of the creating call, `token`
 * what its members share (colour, tag, split type, hash of a string).  `parent` may be
 * NULL. Returns the entry, or NULL without memory. */
struct esi_comm *esi_comm_register(MPI_Comm comm,
                                   const struct esi_comm *parent,
                                   uint16_t operation,
                                   uint64_t token);

/* The key of a MPI_Comm_idup, taken when it is called: creation order is only
 * known then. */
void esi_comm_idup_key(const struct esi_comm *parent, uint64_t ret_key[2]);
/* The key of the communicator that a spawning call is about to make, taken by all that
 * spawn. */
void esi_comm_spawn_key(const struct esi_comm *parent, uint64_t ret_key[2]);
struct esi_comm *esi_comm_register_with_key(MPI_Comm comm,
                                            const struct esi_comm *parent,
                                            uint16_t operation,
                                            const uint64_t key[2]);

/* Something that outlives the communicator names it by its index (a window, a file):
 * the index is never used for another one. */
void esi_comm_pin(uint16_t index);

/* The handle is about to mean nothing any more. */
void esi_comm_forget(uint64_t handle);

static inline void esi_comm_ref(struct esi_comm *comm)
{
    esi_count_up(&comm->references);
}

/* The last reference is gone (communicators.c). */
void esi_comm_destroy(struct esi_comm *comm);

static inline void esi_comm_unref(struct esi_comm *comm)
{
    uint32_t before;

    if (esi_multiple) {
        /* The last one sees what the others did. */
        before = atomic_fetch_sub_explicit(&comm->references, 1, memory_order_acq_rel);
    } else {
        before = atomic_load_explicit(&comm->references, memory_order_relaxed);
        atomic_store_explicit(&comm->references, before - 1, memory_order_relaxed);
    }
    if (before == 1)
        esi_comm_destroy(comm);
}

enum { ESI_COMM_NAME_BYTES = 64 };

/* The program's own name for it (MPI_Comm_set_name). */
void esi_comm_set_name(uint64_t handle, const char *name);
/* The name of a table index; "" for ES_COMMUNICATOR_NONE. */
void esi_comm_get_name(uint16_t index, char out[ESI_COMM_NAME_BYTES]);

/* The name of one that the caller uses. */
void esi_comm_copy_name(const struct esi_comm *comm, char out[ESI_COMM_NAME_BYTES]);

/* World ranks of the members of MPI_COMM_WORLD's processes: what MPI's own groups are
 * translated to.  Where there is no world communicator a session lends it. */
#if MPI_VERSION >= 4
void esi_comm_set_session(MPI_Session session);
void esi_comm_end_session(MPI_Session session);
#endif

/* The communicator with this index in the segment's table that was made last, with a
 * reference for the caller; NULL when it is gone. */
struct esi_comm *esi_comm_hold(uint16_t index);

/* Writes a tuple for each rank that this one hears from in neighbourhood collectives on
 * a new communicator, at the time `now`; one without a peer if there is none, and
 * nothing for a communicator without a topology.  `comm` is what is known of `handle`;
 * NULL is nothing. */
void esi_comm_write_neighbours(struct esi_thread *thread,
                               MPI_Comm handle,
                               const struct esi_comm *comm,
                               uint64_t now);

/* Calls back for every known communicator (to flush what is held back). */
void esi_comm_foreach(void (*visit)(struct esi_comm *comm));

/* Calls the error handler of the communicator, as MPI would have done.  Returns `code`.
 */
int esi_comm_raise(MPI_Comm comm, int code);

#endif
