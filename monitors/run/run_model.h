/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_model.h - who takes part in a run: its processes, their threads, and the
 * communicators with their members.
 *
 *     struct esi_run_model run = {.process_count = 0};
 *
 *     esi_run_model_add_process(&run, &known, &process);
 *     esi_run_model_add_thread(&run, process, 0, &thread);
 *     esi_run_model_set_communicator(&run, process, index, &reported);
 *     ...
 *     esi_run_model_fini(&run);
 *
 * The readers of live runs, archives and traces fill it; it does not know them.  What
 * it contains never moves, and has a number: users keep what they add in arrays of
 * their own.  The model itself may not move either.  One thread at a time.
 */
#ifndef ES_MONITORS_RUN_RUN_MODEL_H
#define ES_MONITORS_RUN_RUN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* A process: one execution of a rank. */
struct esi_run_process {
    uint32_t number;
    const char *host;
    uint32_t clock_kind; /* enum es_clock_kind */
    uint32_t clock;      /* number of the clock that it reads, which processes of a host
                            share, if it is of the same kind */
    int rank;            /* in its world; -1 = not known */
    unsigned world;      /* number of earlier processes with this rank */
    uint64_t identity; /* distinguishes processes with the same rank, of other worlds or
                          at other times; for example, the pid and its start time */
    uint64_t begun_ns; /* run time from which on it records; 0 = not known */
    bool ended;        /* and all that it has recorded was read */
    struct esi_run_thread *threads;  /* newest first */
    struct esi_run_member **members; /* by index in its communicator table; NULL = not
                                        known */
    size_t member_count, member_capacity;
};

struct esi_run_thread {
    uint32_t number;
    int thread; /* number in its process */
    struct esi_run_process *process;
    struct esi_run_thread *sibling; /* an older thread of the process */
};

/*
 * A communicator, shared by its members.
 *
 * The members of an intercommunicator are on two sides.  The side with the lower first
 * world rank is side 0, so that all members agree.  A *slot* is the number of a member
 * on both sides together.
 */
struct esi_run_communicator {
    const struct esi_run_model *run;
    uint32_t number;
    unsigned world;     /* number of earlier communicators with this key, of other
                           worlds */
    uint64_t key[2];    /* equal in all members */
    uint64_t parent[2]; /* key of the communicator that it was derived from; 0, 0 = not
                           known */
    char *name;
    uint32_t size;    /* number of slots */
    size_t sizes[2];  /* of the sides; sizes[1] is 0 unless it is an
                         intercommunicator */
    bool between;     /* an intercommunicator */
    bool has_sides;   /* it is known which side is which; always, unless `between` */
    int32_t first[2]; /* world ranks of the first members; -1 = not known */
    int32_t *world_ranks; /* by slot; -1 = not known; NULL = none is known but the
                             first */
    bool is_listed[2];    /* all world ranks of the side are known */
};

/* A process as a member of a communicator. */
struct esi_run_member {
    struct esi_run_process *process;
    struct esi_run_communicator *communicator;
    int rank;            /* on its side */
    uint8_t side;        /* 0 while `has_sides` is false */
    uint32_t slot;       /* UINT32_MAX = not known */
    uint32_t peer_slot;  /* slot of the peer with rank 0 */
    uint32_t peers;      /* number of the peers; 0 = not known */
    bool freed;          /* the process has freed it */
    int32_t *neighbours; /* members that it receives from; NULL = not known */
    uint32_t neighbour_count;
    uint32_t neighbours_read;
    struct esi_run_member *older; /* list of all memberships of the process, including
                                     replaced ones */
};

/* Zeros are an empty model. */
struct esi_run_model {
    struct esi_run_process **processes;
    size_t process_count, process_capacity;
    uint32_t clock_count;
    struct esi_hash process_numbers; /* by rank */
    struct esi_run_thread **threads;
    size_t thread_count, thread_capacity;
    struct esi_run_communicator **communicators;
    size_t communicator_count, communicator_capacity;
    struct esi_hash communicator_numbers; /* by key */
    struct esi_run_member **slots;        /* the first member of each known slot */
    size_t slot_count, slot_capacity;
    struct esi_hash slot_numbers; /* by communicator and slot */
};

/* Frees all that was added. */
void esi_run_model_fini(struct esi_run_model *run);

/* --- Filling: texts and lists are copied; all return 0 or -ENOMEM ----------------- */

/* Finds or adds the process with the host, rank and identity of `known`; of the rest,
 * only `clock_kind` and `begun_ns` are used. */
int esi_run_model_add_process(struct esi_run_model *run,
                              const struct esi_run_process *known,
                              struct esi_run_process **ret_process);
/* Finds or adds a thread of a process. */
int esi_run_model_add_thread(struct esi_run_model *run,
                             struct esi_run_process *process,
                             int thread,
                             struct esi_run_thread **ret_thread);

/* What a process reports of a communicator. */
struct esi_run_reported {
    uint64_t key[2];
    uint64_t parent[2];   /* key; 0, 0 = not known */
    const char *name;     /* NULL = none */
    int rank;             /* own, in the local group */
    int size;             /* of the local group */
    int remote_size;      /* 0 unless it is an intercommunicator */
    int first;            /* world rank of rank 0, */
    int remote_first;     /* and of the remote group's: unused if the lists are known */
    const int32_t *world; /* world ranks of the local group; -1 = not known; NULL = not
                             known (yet): another member may report it */
    const int32_t *remote_world;
    bool freed;
};

/* Sets entry `index` of the process's communicator table.  May be called again when
 * more is known, or when the index is used for another communicator.  Impossible sizes
 * and ranks are ignored. */
int esi_run_model_set_communicator(struct esi_run_model *run,
                                   struct esi_run_process *process,
                                   uint16_t index,
                                   const struct esi_run_reported *reported);

/* --- Asking ----------------------------------------------------------------------- */

/* The process as a member of a communicator; NULL = not known. */
static inline struct esi_run_member *esi_run_member(
    const struct esi_run_process *process,
    uint16_t index)
{
    return index < process->member_count ? process->members[index] : NULL;
}

/* Slot of a peer of this member; UINT32_MAX = there is none. */
static inline uint32_t esi_run_peer_slot(const struct esi_run_member *member,
                                         int32_t peer)
{
    return peer >= 0 && (uint32_t)peer < member->peers
               ? member->peer_slot + (uint32_t)peer
               : UINT32_MAX;
}

/* World rank of the member in a slot; -1 = not known. */
int esi_run_slot_rank(const struct esi_run_communicator *communicator, uint32_t slot);
/* World rank of a peer of this member; -1 = not known. */
int esi_run_peer_rank(const struct esi_run_member *member, int32_t peer);
/* The process in a slot, also one that has not used the communicator yet; NULL = not
 * known. */
struct esi_run_process *esi_run_slot_process(
    const struct esi_run_communicator *communicator,
    uint32_t slot);

/* The world ranks of a side; NULL = they are not all known. */
static inline const int32_t *esi_run_side_ranks(
    const struct esi_run_communicator *communicator,
    unsigned side)
{
    return communicator->is_listed[side]
               ? communicator->world_ranks + (side ? communicator->sizes[0] : 0)
               : NULL;
}

#endif
