/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* catalog_communicator.c - communicators of processes on other hosts, and groups whose
 * members another host knows.
 *
 * A group is the same wherever it is found: it is kept by its communicator's key, its
 * size and its first member, and asked for once.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "scopes/remote/catalog_private.h"
#include "tuplespace/layout.h"

#define REQUEST_NS UINT64_C(2000000000)
/* What nobody knew is asked for again after so long. */
#define AGAIN_NS UINT64_C(1000000000)

void esi_catalog_free_process(struct esi_catalog_process *process)
{
    if (!process)
        return;
    free(process->communicators);
    free(process->host);
    free(process->program);
    free(process);
}

void esi_catalog_free_groups(struct esi_catalog *catalog)
{
    for (size_t i = 0; i < catalog->group_count; i++)
        free(catalog->groups[i].ranks);
    free(catalog->groups);
}

/* --- Groups ------------------------------------------------------------------ */

/* The entry of a group, made where there is none.  NULL: no memory. */
static struct esi_catalog_group *get_group(struct esi_catalog *catalog,
                                           const uint64_t key[2],
                                           int size,
                                           int first)
{
    struct esi_catalog_group *made;

    for (size_t i = 0; i < catalog->group_count; i++) {
        struct esi_catalog_group *group = &catalog->groups[i];

        if (memcmp(group->key, key, sizeof group->key) == 0 && group->size == size &&
            group->first == first)
            return group;
    }
    if (ESI_ARRAY_RESERVE(catalog->groups, catalog->group_capacity,
                          catalog->group_count + 1) < 0)
        return NULL;
    made = &catalog->groups[catalog->group_count++];
    *made = (struct esi_catalog_group){
        .key = {key[0], key[1]}, .size = size, .first = first};
    return made;
}

/* Takes a list of ranks if it is whole. */
static int take_ranks(struct esi_catalog_group *group, const struct es_member *list)
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
    const struct esi_catalog_group *group = data;
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

static int ask_host_for_group(struct esi_catalog *catalog,
                              const char *host,
                              struct esi_catalog_group *group)
{
    const struct esi_rpc_request request = {"group", write_group, group};
    struct es_message *reply;
    int result =
        esi_servers_call(catalog->servers, host, &request, REQUEST_NS, NULL, &reply);

    if (result < 0)
        return result;
    result = take_ranks(group, esi_member_find(esi_message_root(reply), "ranks"));
    esi_message_destroy(reply);
    return result;
}

/* Asks all hosts but our own, until one knows. */
static int find_ranks(struct esi_catalog *catalog, struct esi_catalog_group *group)
{
    struct es_server_info info;

    if (group->ranks)
        return 0;
    if (group->asked_ns && esi_now_ns(CLOCK_MONOTONIC) - group->asked_ns < AGAIN_NS)
        return -ENOENT;
    for (size_t i = 0; es_servers_at(catalog->servers, i, &info) == 0; i++)
        if (!info.here && info.state == ES_SERVER_UP &&
            ask_host_for_group(catalog, info.host, group) == 0)
            return 0;
    group->asked_ns = esi_now_ns(CLOCK_MONOTONIC);
    return -ENOENT;
}

static int rank_in_group(struct esi_catalog *catalog,
                         const struct es_communicator_info *info,
                         bool remote,
                         int rank)
{
    int size = remote ? info->remote_size : info->size;
    struct esi_catalog_group *group;
    int result;

    if (rank < 0 || rank >= size)
        return -ENOENT;
    group =
        get_group(catalog, info->key, size, remote ? info->remote_first : info->first);
    if (!group)
        return -ENOMEM;
    result = find_ranks(catalog, group);
    if (result < 0)
        return result;
    return group->ranks[rank] >= 0 ? group->ranks[rank] : -ENOENT;
}

/* --- Communicators ------------------------------------------------------------ */

static void read_info(const struct es_member *member,
                      struct es_communicator_info *ret_info)
{
    const struct es_member *key = esi_member_find(member, "key");

    *ret_info = (struct es_communicator_info){
        .rank = (int)esi_member_integer_within(member, "rank", -1, INT32_MAX, -1),
        .size = (int)esi_member_integer_within(member, "size", 0, ES_GROUP_MAX, 0),
        .remote_size =
            (int)esi_member_integer_within(member, "remote_size", 0, ES_GROUP_MAX, 0),
        .first = (int)esi_member_integer_within(member, "first", -1, INT32_MAX, -1),
        .remote_first =
            (int)esi_member_integer_within(member, "remote_first", -1, INT32_MAX, -1),
        .parent =
            (uint16_t)esi_member_integer_or(member, "parent", ES_COMMUNICATOR_NONE),
        .freed = esi_member_boolean_or(member, "freed", false),
    };
    for (size_t i = 0; i < 2; i++) {
        const char *text = esi_member_as_text(esi_member_at(key, i));

        ret_info->key[i] = text ? strtoull(text, NULL, 16) : 0;
    }
    snprintf(ret_info->name, sizeof ret_info->name, "%s",
             esi_member_text_or(member, "name", ""));
}

/* The reply has the groups' members where that host knows them. */
static void take_groups(struct esi_catalog *catalog,
                        const struct es_member *member,
                        const struct es_communicator_info *info)
{
    struct esi_catalog_group *group = NULL;

    if (info->size > 0)
        group = get_group(catalog, info->key, info->size, info->first);
    if (group)
        (void)take_ranks(group, esi_member_find(member, "ranks"));
    group = NULL;
    if (info->remote_size > 0)
        group = get_group(catalog, info->key, info->remote_size, info->remote_first);
    if (group)
        (void)take_ranks(group, esi_member_find(member, "remote_ranks"));
}

struct sought {
    const struct esi_catalog_process *process;
    uint16_t index;
};

static void write_sought(struct esi_json_out *out, void *data)
{
    const struct sought *sought = data;

    esi_json_out_signed(out, "pid", sought->process->public.info.pid);
    esi_json_out_unsigned(out, "made", sought->process->made);
    esi_json_out_unsigned(out, "index", sought->index);
}

static int ask_for_communicator(struct esi_catalog *catalog,
                                const struct esi_catalog_process *process,
                                uint16_t index,
                                struct es_communicator_info *ret_info)
{
    struct sought sought = {.process = process, .index = index};
    const struct esi_rpc_request request = {"communicator", write_sought, &sought};
    struct es_message *reply;
    int result = esi_servers_call(catalog->servers, process->server, &request,
                                  REQUEST_NS, NULL, &reply);

    if (result < 0)
        return result;
    read_info(esi_message_root(reply), ret_info);
    take_groups(catalog, esi_message_root(reply), ret_info);
    esi_message_destroy(reply);
    return 0;
}

int esi_catalog_communicator_find(struct esi_catalog *catalog,
                                  const struct esi_catalog_process_at *public,
                                  uint16_t communicator,
                                  struct es_communicator_info *ret_info)
{
    /* Entries are made by this folder, of which the public part is the first. */
    struct esi_catalog_process *process = (struct esi_catalog_process *)public;
    struct esi_catalog_communicator *list = process->communicators;
    int result;

    for (size_t i = 0; i < process->communicator_count; i++)
        if (list[i].index == communicator) {
            *ret_info = list[i].info;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(process->communicators, process->communicator_capacity,
                          process->communicator_count + 1) < 0)
        return -ENOMEM;
    list = &process->communicators[process->communicator_count];
    result = ask_for_communicator(catalog, process, communicator, &list->info);
    if (result < 0)
        return result;
    list->index = communicator;
    process->communicator_count++;
    *ret_info = list->info;
    return 0;
}

/* --- World ranks -------------------------------------------------------------- */

/* Looks for the group in a segment that is mapped here. */
static int rank_in_segment(const struct es_run *run,
                           const struct es_segment_view *segment,
                           const struct es_communicator_info *wanted,
                           bool remote,
                           int rank)
{
    size_t count = es_segment_view_communicator_count(segment);
    int size = remote ? wanted->remote_size : wanted->size;
    int first = remote ? wanted->remote_first : wanted->first;
    struct es_communicator_info info;

    for (size_t i = 0; i < count; i++) {
        if (es_segment_view_communicator(segment, (uint16_t)i, &info) < 0 ||
            memcmp(info.key, wanted->key, sizeof info.key) != 0)
            continue;
        if (info.size == size && info.first == first)
            return es_run_world_rank(run, segment, (uint16_t)i, false, rank);
        if (info.remote_size == size && info.remote_first == first)
            return es_run_world_rank(run, segment, (uint16_t)i, true, rank);
    }
    return -ENOENT;
}

int esi_catalog_world_rank(struct esi_catalog *catalog,
                           const struct es_run *local,
                           const struct esi_catalog_process_at *process,
                           uint16_t communicator,
                           bool remote,
                           int rank)
{
    struct es_communicator_info info;
    int world = -ENOENT;
    int result = esi_catalog_communicator_find(catalog, process, communicator, &info);

    if (result < 0)
        return result;
    if (rank < 0 || rank >= (remote ? info.remote_size : info.size))
        return -ENOENT;
    for (size_t i = 0; local && i < es_run_segment_count(local) && world < 0; i++)
        world = rank_in_segment(local, es_run_segment(local, i), &info, remote, rank);
    return world >= 0 ? world : rank_in_group(catalog, &info, remote, rank);
}

int esi_catalog_world_rank_of(struct esi_catalog *catalog,
                              const struct es_segment_view *segment,
                              uint16_t communicator,
                              bool remote,
                              int rank)
{
    struct es_communicator_info info;
    int result = es_segment_view_communicator(segment, communicator, &info);

    return result < 0 ? result : rank_in_group(catalog, &info, remote, rank);
}
