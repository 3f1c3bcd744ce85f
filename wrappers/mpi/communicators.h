/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The interposer's data about communicators.
 *
 * A communicator has an index in the segment's table, a key that is unique in the run
 * and that all its members compute without communication, an instance counter and
 * channels.
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
#include "wrappers/mpi/mpi_next.h"

struct esi_thread;

struct esi_comm_trees;
struct esi_ledger_communicator;

/* For operations that trees could perform: those that use the MPI library regardless of
 * their arguments (tree_ops.h).  Used by one thread at a time, as collectives are. */
struct esi_tree_gate {
    uint32_t native; /* bits; 0 for none, as long as there are no trees */
    uint32_t count;  /* number of operations so far that trees could perform */
    uint32_t next;   /* number of the next blocking one that is not native */
};

struct esi_comm {
    uint16_t index; /* in the segment's table, or ES_COMMUNICATOR_NONE */
    bool inter;
    int rank;
    int size;
    int remote_size; /* 0 unless inter */
    int peers;       /* number of ranks that can send
                        messages here: remote_size or size */
    uint64_t key[2];
    char name[64];
    _Atomic int8_t of_world;      /* 1 yes, -1 no, 0 not determined
                                     yet: see esi_comm_is_of_world() */
    struct esi_list_link link;    /* in the list of all known communicators */
    _Atomic uint32_t instances;   /* number of collective operations begun on it */
    _Atomic uint32_t references;  /* of the handle and of pending operations */
    struct esi_comm_trees *trees; /* owned by the owner of tree_ops.h; NULL if none */
    struct esi_tree_gate gate;    /* likewise */
    struct esi_channels sent;
    struct esi_match received;
    struct esi_ledger_communicator *ledger; /* its part of the ledger; never NULL */
    bool is_counted; /* created by the program, which must free it */
};

/* MPI handles are integers or pointers, depending on the MPI. */
#define ESI_HANDLE(handle) esi_handle_bits(&(handle), sizeof(handle))
static inline uint64_t esi_handle_bits(const void *handle, size_t size)
{
    uint64_t bits = 0;

    memcpy(&bits, handle, size);
    return bits;
}

/* Finds a communicator; NULL if the handle is not known, because it is invalid or was
 * created unseen. */
struct esi_comm *esi_comm_lookup(uint64_t handle);

/* Returns whether all members were started together with this process and so have the
 * same environment.  The result is the same in all members.  `comm` may be unknown, but
 * must be valid. */
bool esi_comm_is_of_world(MPI_Comm comm);

/* The rank in the run of a rank that messages can be sent to; -1 if not known.  `comm`
 * is the data of the valid `handle`; NULL if there is none. */
int32_t esi_comm_world_rank(MPI_Comm handle, const struct esi_comm *comm, int rank);

#ifdef OPEN_MPI
/* Ranks in the run of the members of a communicator's (local) group, -1 if not known;
 * NULL if not available.  The caller frees them.  For spawned worlds. */
int *esi_comm_ranks(MPI_Comm comm, int *ret_size);
#endif

/* Registers processes of another world: their ranks in the run are `ranks` or, if that
 * is NULL, `first` and the following.  Takes ownership of group and ranks. */
void esi_comm_know_group(MPI_Group group, int first, const int *ranks);
/* MPI ends: forgets the processes of other worlds. */
void esi_comm_forget_groups(void);

/* Registers MPI_COMM_WORLD and MPI_COMM_SELF once MPI is initialized, and the
 * communicator with the processes that spawned this one. */
void esi_comm_register_world(void);

/* Registers a new communicator.  `operation` is the code of the call that created it;
 * `token` is a value shared by its members (colour, tag, split type, hash of a string).
 * `parent` may be NULL.  Returns NULL if out of memory. */
struct esi_comm *esi_comm_register(MPI_Comm comm,
                                   const struct esi_comm *parent,
                                   uint16_t operation,
                                   uint64_t token);

/* Computes the key of a communicator made by MPI_Comm_idup.  Called when the operation
 * begins, because the order of creation is only known then. */
void esi_comm_idup_key(const struct esi_comm *parent, uint64_t ret_key[2]);
/* Computes the key of the communicator that a spawning call is about to create, in all
 * processes that spawn. */
void esi_comm_spawn_key(const struct esi_comm *parent, uint64_t ret_key[2]);
struct esi_comm *esi_comm_register_with_key(MPI_Comm comm,
                                            const struct esi_comm *parent,
                                            uint16_t operation,
                                            const uint64_t key[2]);

/* An object that outlives the communicator (a window, a file) refers to its index,
 * which is therefore never reused. */
void esi_comm_pin(uint16_t index);

/* The handle is about to become invalid. */
void esi_comm_forget(uint64_t handle);

static inline void esi_comm_ref(struct esi_comm *comm)
{
    esi_count_up(&comm->references);
}

/* While one thread at a time calls MPI. */
static inline void esi_comm_ref_alone(struct esi_comm *comm)
{
    esi_count_up_alone(&comm->references);
}

/* Destroys a communicator after its last reference is gone (communicators.c).  Its part
 * of the ledger is kept until 64 others have been destroyed. */
void esi_comm_destroy(struct esi_comm *comm);
/* MPI has ended, and so nobody waits on a destroyed communicator: drops all of them. */
void esi_comm_drop_destroyed(void);

/* Ends `count` references while one thread at a time calls MPI. */
static inline void esi_comm_unref_alone(struct esi_comm *comm, uint32_t count)
{
    uint32_t before = atomic_load_explicit(&comm->references, memory_order_relaxed);

    atomic_store_explicit(&comm->references, before - count, memory_order_relaxed);
    if (before == count)
        esi_comm_destroy(comm);
}

static inline void esi_comm_unref(struct esi_comm *comm)
{
    if (!esi_multiple)
        esi_comm_unref_alone(comm, 1);
    /* The last one sees what the others did. */
    else if (atomic_fetch_sub_explicit(&comm->references, 1, memory_order_acq_rel) == 1)
        esi_comm_destroy(comm);
}

enum { ESI_COMM_NAME_BYTES = 64 };

/* Sets the program's name for it (MPI_Comm_set_name). */
void esi_comm_set_name(uint64_t handle, const char *name);
/* The name of the communicator with a table index; "" for ES_COMMUNICATOR_NONE. */
void esi_comm_get_name(uint16_t index, char out[ESI_COMM_NAME_BYTES]);

/* The name of a communicator that the caller uses. */
void esi_comm_copy_name(const struct esi_comm *comm, char out[ESI_COMM_NAME_BYTES]);

/* Sets the session that provides the group of all processes, to which groups are
 * translated, if there is no MPI_COMM_WORLD. */
#ifdef ESI_HAS_MPI_Session_init
void esi_comm_set_session(MPI_Session session);
void esi_comm_end_session(MPI_Session session);
#endif

/* Finds the newest communicator with this index in the segment's table and takes a
 * reference for the caller; NULL if it is gone. */
struct esi_comm *esi_comm_hold(uint16_t index);

/* Writes a tuple, with the time `now`, for each rank from which this one receives in
 * neighbourhood collectives on a new communicator; one without a peer if there is none;
 * nothing if the communicator has no topology or `comm` is NULL.  `comm` is the data of
 * `handle`. */
void esi_comm_write_neighbours(struct esi_thread *thread,
                               MPI_Comm handle,
                               const struct esi_comm *comm,
                               uint64_t now);

/* Calls `visit` for each known communicator, to flush what is held back. */
void esi_comm_foreach(void (*visit)(struct esi_comm *comm));

/* Calls the error handler of the communicator, as MPI would.  Returns `code`. */
int esi_comm_raise(MPI_Comm comm, int code);

#endif
