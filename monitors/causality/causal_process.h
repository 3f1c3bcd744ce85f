/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Processes, and their places in communicators. */
#ifndef ES_MONITORS_CAUSALITY_CAUSAL_PROCESS_H
#define ES_MONITORS_CAUSALITY_CAUSAL_PROCESS_H

#include "base/list.h"
#include "monitors/causality/causality.h"
#include "monitors/follow/ends.h"

struct esi_series;

struct esi_causal_process {
    char *host;
    int rank;
    uint64_t identity;
    unsigned world;                    /* how many of this rank there were before */
    bool ended;                        /* nothing more will come */
    struct esi_causal_thread *threads; /* chain, borrowed */
    struct esi_view **views;           /* by index of its table */
    size_t view_count;
    size_t view_room;
};

/* A communicator, as all its members share it.  Its key's `sequence` is how many had
 * this communicator's key before: other worlds. */
struct esi_communicator {
    struct esi_end end;
    uint32_t size;  /* slots: of both groups where there are two */
    uint32_t first; /* of them in the first group; 0 = not known, or one group only */
    bool between;   /* an intercommunicator */
    uint64_t parent[2]; /* key; 0, 0 = not known */
    char *name;
    struct esi_causal_process **members; /* by slot; NULL = not known yet */
    int32_t *world_ranks;                /* by slot; -1 = not known */
    struct esi_series *series;           /* chain: its own, and its windows' */
    struct esi_list unused;              /* instances; all are of the same size */
};

/* A process's place in a communicator. */
struct esi_view {
    struct esi_communicator *communicator;
    uint32_t slot;       /* UINT32_MAX = not known (an intercommunicator whose groups
                            are not known) */
    uint32_t peer_slot;  /* slot of a peer of rank 0 */
    uint32_t peers;      /* size of the group that peers are of */
    int32_t *neighbours; /* whom it hears from; NULL = not known */
    uint32_t neighbour_count;
    uint32_t neighbours_told;
    struct esi_view *older; /* chain of all of the process, also replaced ones */
};

/* Ends them all, and what they take part in. */
void esi_processes_fini(struct esi_causality *causality);
struct esi_view *esi_process_view(const struct esi_causal_process *process,
                                  uint16_t index);

/* The slot of a peer of this view; UINT32_MAX = there is none. */
uint32_t esi_view_peer(const struct esi_view *view, int32_t peer);
/* Fills the key of what goes from this view's member to a peer (`sends`), or back.
 * false: the slot of one of them is not known. */
bool esi_view_channel(const struct esi_view *view,
                      int32_t peer,
                      bool sends,
                      struct esi_ends_key *ret_key);
/* The communicator of such a key. */
struct esi_communicator *esi_channel_communicator(const struct esi_causality *causality,
                                                  const struct esi_ends_key *key);

/* Whether a tuple of this member from before the run time `ns` would have been read. */
bool esi_member_has_passed(const struct esi_causality *causality,
                           const struct esi_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns);
/* World rank of a member, -1 = not known. */
int esi_member_rank(const struct esi_communicator *communicator, uint32_t slot);

/* Adds a trace.  What the sink returned. */
int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace);

#endif
