/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The world ranks of the members of communicators' groups.
 *
 * A group is the same wherever it is found: it is kept by its communicator's key, its
 * size and its first member, and asked for once.
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

/* The caller's memory: zero but for `servers`. */
struct esi_groups {
    struct es_servers *servers; /* borrowed: who is asked */
    struct groups_entry *items; /* owned: esi_groups_fini() */
    size_t count;
    size_t capacity;
};

/* Keeps the ranks of the communicator's group (`remote`: of its remote group) if the
 * list is complete. */
void esi_groups_take(struct esi_groups *groups,
                     const struct es_communicator_info *info,
                     bool remote,
                     const struct es_member *ranks);

/* The world rank of a member.  All other hosts are asked for a group that is not known.
 * -ENOENT: nobody knows; -ENOMEM. */
int esi_groups_world_rank(struct esi_groups *groups,
                          const struct es_communicator_info *info,
                          bool remote,
                          int rank);

void esi_groups_fini(struct esi_groups *groups);

#endif
