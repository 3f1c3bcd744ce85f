/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Processes and their places in communicators. */
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
    uint64_t begun_ns;                 /* run time; 0 = not known */
    unsigned world;                    /* number of earlier processes with this rank */
    bool ended;                        /* no more tuples will arrive */
    struct esi_causal_thread *threads; /* list, borrowed */
    struct esi_view **views;           /* by index in its communicator table */
    size_t view_count;
    size_t view_room;
};

/* A communicator, shared by its members.  The `sequence` of its key is the number of
 * earlier communicators with the same key, in other worlds. */
struct esi_communicator {
    struct esi_end end;
    uint32_t size; /* number of slots; for an intercommunicator, those of both groups */
    uint32_t first; /* number of slots in the first group; 0 = not known, or there is
                       only one group */
    bool between;   /* an intercommunicator */
    uint64_t parent[2]; /* key; 0, 0 = not known */
    char *name;
    struct esi_causal_process **members; /* by slot; NULL = not known yet */
    int32_t *world_ranks;                /* by slot; -1 = not known */
    struct esi_series *series;           /* list: its own and those of its windows */
    struct esi_list unused;              /* unused instances, all of the same size */
};

/* The place of a process in a communicator. */
struct esi_view {
    struct esi_communicator *communicator;
    uint32_t slot;       /* UINT32_MAX = not known (an intercommunicator whose groups
                            are not known) */
    uint32_t peer_slot;  /* slot of the peer with rank 0 */
    uint32_t peers;      /* size of the group of the peers */
    int32_t *neighbours; /* members that it receives from; NULL = not known */
    uint32_t neighbour_count;
    uint32_t neighbours_told;
    struct esi_view *older; /* list of all views of the process, including replaced
                               ones */
};

/* Destroys all processes and their communicators. */
void esi_processes_fini(struct esi_causality *causality);
struct esi_view *esi_process_view(const struct esi_causal_process *process,
                                  uint16_t index);

/* Returns the slot of a peer of this view; UINT32_MAX = no such peer. */
uint32_t esi_view_peer(const struct esi_view *view, int32_t peer);
/* Fills in the key of messages from this view's member to a peer (`sends`), or from the
 * peer to it.  Returns false if the slot of one of them is not known. */
bool esi_view_channel(const struct esi_view *view,
                      int32_t peer,
                      bool sends,
                      struct esi_ends_key *ret_key);
/* Returns the communicator of such a key. */
struct esi_communicator *esi_channel_communicator(const struct esi_causality *causality,
                                                  const struct esi_ends_key *key);

/* Returns whether a tuple of this member from before run time `ns` would have been read
 * by now. */
bool esi_member_has_passed(const struct esi_causality *causality,
                           const struct esi_communicator *communicator,
                           uint32_t slot,
                           uint64_t ns);
/* Returns the world rank of a member; -1 = not known. */
int esi_member_rank(const struct esi_communicator *communicator, uint32_t slot);

/* Adds a trace.  Returns the result of the sink. */
int esi_trace_add(struct esi_causality *causality,
                  const char *name,
                  uint32_t *ret_trace);

#endif
