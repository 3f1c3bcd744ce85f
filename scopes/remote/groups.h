/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The world ranks of the members of communicator groups.
 *
 * A group is the same on all hosts.  It is identified by the communicator's key, its
 * size and its first member, and requested once.
 *
 * Used by one thread at a time.
 */
#ifndef ES_SCOPES_REMOTE_GROUPS_H
#define ES_SCOPES_REMOTE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"
#include "pathmap/message.h"

/* In the caller's memory; zero except for `servers`. */
struct esi_groups {
    struct es_servers *servers; /* borrowed; answer requests for groups */
    struct groups_entry *items; /* owned: esi_groups_fini() */
    size_t count;
    size_t capacity;
};

/* Stores the ranks of the communicator's group (its remote group if `remote`) if the
 * list is complete. */
void esi_groups_take(struct esi_groups *groups,
                     const struct es_communicator_info *info,
                     bool remote,
                     const struct es_member *ranks);

/* The world rank of a member.  A group that is not known is requested from all other
 * hosts.  Returns -ENOENT if nobody knows it, or -ENOMEM. */
int esi_groups_world_rank(struct esi_groups *groups,
                          const struct es_communicator_info *info,
                          bool remote,
                          int rank);

void esi_groups_fini(struct esi_groups *groups);

#endif
