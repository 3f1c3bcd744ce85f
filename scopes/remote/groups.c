/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* groups.c - members of groups, as reported by the tuple servers of other hosts. */
#include "config.h"

#include "scopes/remote/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "scopes/remote/servers.h"

#define REQUEST_NS UINT64_C(2000000000)
/* A group that nobody knew is requested again after this time. */
#define AGAIN_NS UINT64_C(1000000000)

struct groups_entry {
    uint64_t key[2]; /* of the communicator */
    int size;
    int first;         /* world rank of the first member; -1 if not known */
    int *ranks;        /* `size` of them; NULL if nobody knew them at `asked_ns` */
    uint64_t asked_ns; /* time of the last request */
};

/* Finds or creates the entry of a group.  Returns NULL if out of memory. */
static struct groups_entry *get_group(struct esi_groups *groups,
                                      const struct es_communicator_info *info,
                                      bool remote)
{
    struct groups_entry wanted = {
        .key = {info->key[0], info->key[1]},
        .size = remote ? info->remote_size : info->size,
        .first = remote ? info->remote_first : info->first,
    };

    for (size_t i = 0; i < groups->count; i++) {
        struct groups_entry *group = &groups->items[i];

        if (memcmp(group->key, wanted.key, sizeof group->key) == 0 &&
            group->size == wanted.size && group->first == wanted.first)
            return group;
    }
    if (ESI_ARRAY_RESERVE(groups->items, groups->capacity, groups->count + 1) < 0)
        return NULL;
    groups->items[groups->count] = wanted;
    return &groups->items[groups->count++];
}

/* Stores a list of ranks if it is complete. */
static int take_ranks(struct groups_entry *group, const struct es_member *list)
{
    int *ranks;

    if (!list || esi_member_count(list) != (size_t)group->size || group->ranks)
        return group->ranks ? 0 : -ENOENT;
    ranks = calloc((size_t)group->size, sizeof *ranks);
    if (!ranks)
        return -ENOMEM;
    for (int i = 0; i < group->size; i++) {
        int64_t rank = esi_member_as_integer(esi_member_at(list, (size_t)i));

        ranks[i] = rank >= 0 && rank <= INT32_MAX ? (int)rank : -1;
    }
    group->ranks = ranks;
    return 0;
}

static void write_group(struct esi_json_out *out, void *data)
{
    const struct groups_entry *group = data;
    char half[2][20];

    esi_json_out_begin_array(out, "key");
    for (int i = 0; i < 2; i++) {
        snprintf(half[i], sizeof half[i], "%" PRIx64, group->key[i]);
        esi_json_out_string(out, NULL, half[i]);
    }
    esi_json_out_end(out);
    esi_json_out_signed(out, "size", group->size);
    esi_json_out_signed(out, "first", group->first);
}

static int ask_host_for_group(struct esi_groups *groups,
                              const char *host,
                              struct groups_entry *group)
{
    const struct esi_rpc_request request = {"group", write_group, group};
    struct es_message *reply;
    int result =
        esi_servers_call(groups->servers, host, &request, REQUEST_NS, NULL, &reply);

    if (result < 0)
        return result;
    result = take_ranks(group, esi_member_find(esi_message_root(reply), "ranks"));
    esi_message_destroy(reply);
    return result;
}

/* Asks all other hosts until one knows the group. */
static int find_ranks(struct esi_groups *groups, struct groups_entry *group)
{
    struct es_server_info info;

    if (group->ranks)
        return 0;
    if (group->asked_ns && esi_now_ns(CLOCK_MONOTONIC) - group->asked_ns < AGAIN_NS)
        return -ENOENT;
    for (size_t i = 0; es_servers_at(groups->servers, i, &info) == 0; i++)
        if (!info.here && info.state == ES_SERVER_UP &&
            ask_host_for_group(groups, info.host, group) == 0)
            return 0;
    group->asked_ns = esi_now_ns(CLOCK_MONOTONIC);
    return -ENOENT;
}

void esi_groups_take(struct esi_groups *groups,
                     const struct es_communicator_info *info,
                     bool remote,
                     const struct es_member *ranks)
{
    struct groups_entry *group = get_group(groups, info, remote);

    if (group)
        (void)take_ranks(group, ranks);
}

int esi_groups_world_rank(struct esi_groups *groups,
                          const struct es_communicator_info *info,
                          bool remote,
                          int rank)
{
    struct groups_entry *group;
    int result;

    if (rank < 0 || rank >= (remote ? info->remote_size : info->size))
        return -ENOENT;
    group = get_group(groups, info, remote);
    if (!group)
        return -ENOMEM;
    result = find_ranks(groups, group);
    if (result < 0)
        return result;
    return group->ranks[rank] >= 0 ? group->ranks[rank] : -ENOENT;
}

void esi_groups_fini(struct esi_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].ranks);
    free(groups->items);
    *groups = (struct esi_groups){.servers = NULL};
}
