/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_advice.c - locations of ranks, and which tuples are ends of messages. */
#include "config.h"

#include "monitors/advice/collectives_advice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "eventspace/operation.h"
#include "monitors/advice/link_feed.h"
#include "tuplespace/operation_codes.h"
#include "wrappers/shapes/placement.h"
#include "wrappers/stages/node_edges.h"

enum { RANKS_MOST = 1 << 20 };
/* Ends that wait for the other end of their message. */
enum { MAX_OPEN = 65536 };
/* How long they wait if it may have been lost. */
#define PATIENCE_NS UINT64_C(1000000000)
/* Ranks with observed upward departures, by a hash of tree and rank.  A collision loses
 * a leaf's messages. */
enum { INNER_BITS = 1 << 14 };

struct esi_collectives_advice {
    const struct esi_tree_plan *plan; /* borrowed */
    struct esi_tree_advisor *advisor;
    struct esi_link_costs *costs;
    struct esi_link_feed feed;
    struct esi_causality *messages; /* tells the feed of them */
    uint8_t inner[INNER_BITS / 8];
    size_t processes;            /* of the run, whose hosts are in `ranks` */
    struct esi_host_info *ranks; /* by world rank; host "" = not known */
    int rank_count;
    size_t rank_capacity;
    struct esi_location *places; /* of these; NULL = to be recomputed */
};

/* --- Places ----------------------------------------------------------------------- */

static bool find_place(void *data, int world_rank, struct esi_location *ret_place)
{
    struct esi_collectives_advice *advice = data;

    if (world_rank < 0 || world_rank >= advice->rank_count ||
        advice->ranks[world_rank].host[0] == '\0')
        return false;
    if (!advice->places && esi_placement_create(advice->ranks, advice->rank_count,
                                                advice->plan, &advice->places) < 0)
        return false;
    *ret_place = advice->places[world_rank];
    return true;
}

static int note_host(struct esi_collectives_advice *advice, int rank, const char *host)
{
    if (rank < 0 || rank >= RANKS_MOST)
        return 0;
    if (rank < advice->rank_count && strcmp(advice->ranks[rank].host, host) == 0)
        return 0;
    if (ESI_ARRAY_RESERVE(advice->ranks, advice->rank_capacity, (size_t)rank + 1) < 0)
        return -ENOMEM;
    while (advice->rank_count <= rank)
        advice->ranks[advice->rank_count++] =
            (struct esi_host_info){.socket = -1, .core = -1};
    snprintf(advice->ranks[rank].host, sizeof advice->ranks[rank].host, "%s", host);
    free(advice->places);
    advice->places = NULL;
    return 0;
}

/* --- Making ----------------------------------------------------------------------- */

int esi_collectives_advice_create(const struct esi_collectives_advice_config *config,
                                  struct esi_collectives_advice **ret_advice)
{
    struct esi_collectives_advice *advice = calloc(1, sizeof *advice);
    struct esi_causality_config messages = {
        .held_max = MAX_OPEN, .patience_ns = PATIENCE_NS, .trees = true};
    int result;

    if (!advice)
        return -ENOMEM;
    advice->plan = config->plan;
    result = esi_tree_advisor_create(&config->advisor, &advice->advisor);
    if (result == 0)
        result = esi_link_costs_create(&advice->costs);
    advice->feed = (struct esi_link_feed){advice->costs, find_place, advice};
    messages.listener =
        (struct esi_causal_listener){.told = esi_link_feed_told, .data = &advice->feed};
    if (result == 0)
        result = esi_causality_create(&messages, &advice->messages);
    if (result < 0) {
        esi_collectives_advice_destroy(advice);
        return result;
    }
    *ret_advice = advice;
    return 0;
}

void esi_collectives_advice_destroy(struct esi_collectives_advice *advice)
{
    int saved_errno = errno;

    if (!advice)
        return;
    esi_causality_destroy(advice->messages);
    esi_link_costs_destroy(advice->costs);
    esi_tree_advisor_destroy(advice->advisor);
    free(advice->ranks);
    free(advice->places);
    free(advice);
    errno = saved_errno;
}

/* --- Feeding ---------------------------------------------------------------------- */

int esi_collectives_advice_add(struct esi_collectives_advice *advice,
                               const struct esi_collective_instance *instance)
{
    int result = esi_tree_advisor_add(advice->advisor, instance);

    return result == -ENOMEM ? result : 0;
}

struct esi_causality *esi_collectives_advice_messages(
    const struct esi_collectives_advice *advice)
{
    return advice->messages;
}

/* For a leaf, its contribution is its message to its parent; other nodes have
 * departures. */
static bool is_end(struct esi_collectives_advice *advice,
                   const struct esi_run_process *process,
                   const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    const struct esi_run_member *member = esi_run_member(process, tuple->communicator);
    uint64_t at;

    if (!operation || !member || tuple->peer < 0)
        return false;
    if (operation->op_class == ES_CLASS_SEND || operation->op_class == ES_CLASS_RECEIVE)
        return true;
    if (!(1u << operation->op_class & ES_CLASSES_TREE) ||
        !esi_tree_edge_has_message(tuple->tag, tuple->bytes))
        return false;
    at = esi_hash_mix(member->communicator->number, (uint32_t)tuple->tag);
    at = esi_hash_mix(at, process->number) % INNER_BITS;
    if (operation->code == ES_OP_tree_departure_up)
        advice->inner[at / 8] |= (uint8_t)(1u << at % 8);
    return operation->op_class != ES_CLASS_CONTRIBUTE ||
           !(advice->inner[at / 8] & 1u << at % 8);
}

int esi_collectives_advice_add_tuple(struct esi_collectives_advice *advice,
                                     const struct esi_run_process *process,
                                     uint32_t element,
                                     const struct esi_causal_tuple *tuple)
{
    const struct esi_run_model *run = esi_causality_run(advice->messages);
    int result = 0;

    /* Members of an operation need locations even if they send no message. */
    for (; advice->processes < run->process_count && result == 0; advice->processes++)
        result = note_host(advice, run->processes[advice->processes]->rank,
                           run->processes[advice->processes]->host);
    if (result < 0 || !is_end(advice, process, &tuple->tuple))
        return result;
    return esi_causality_add(advice->messages, element, tuple);
}

static const char *cluster_of(const struct esi_collectives_advice *advice,
                              const char *host)
{
    for (size_t i = 0; i < advice->plan->host_count; i++)
        if (strcmp(advice->plan->hosts[i].name, host) == 0)
            return advice->plan->hosts[i].cluster;
    return "";
}

void esi_collectives_advice_add_round_trip(struct esi_collectives_advice *advice,
                                           const char *host,
                                           const char *other,
                                           uint64_t ns)
{
    const char *clusters[] = {cluster_of(advice, host), cluster_of(advice, other)};
    bool is_near = strcmp(clusters[0], clusters[1]) == 0;

    /* The distance between a cluster and a host in none says nothing about wide
     * links. */
    if (strcmp(host, other) != 0 && (is_near || (clusters[0][0] && clusters[1][0])))
        esi_link_costs_add_round_trip(advice->costs,
                                      is_near ? ES_LINK_CLUSTER : ES_LINK_WIDE, ns);
}

/* --- Proposing -------------------------------------------------------------------- */

const struct esi_tree_advisor *esi_collectives_advice_advisor(
    const struct esi_collectives_advice *advice)
{
    return advice->advisor;
}

/* Locations of a group's ranks, numbered as by the ranks themselves.  The caller frees
 * *ret_places. */
static int make_places(const struct esi_collectives_advice *advice,
                       const struct esi_advised_group *group,
                       struct esi_location **ret_places)
{
    struct esi_host_info *ranks = calloc((size_t)group->size, sizeof *ranks);
    int result;

    if (!ranks)
        return -ENOMEM;
    for (int i = 0; i < group->size; i++) {
        int rank = group->world_ranks[i];

        ranks[i] = (struct esi_host_info){.socket = -1, .core = -1};
        if (rank >= 0 && rank < advice->rank_count)
            ranks[i] = advice->ranks[rank];
    }
    result = esi_placement_create(ranks, group->size, advice->plan, ret_places);
    free(ranks);
    return result;
}

int esi_collectives_advice_propose(const struct esi_collectives_advice *advice,
                                   size_t index,
                                   const struct esi_tree_rule *in_force,
                                   uint32_t version,
                                   struct esi_tree_advice *ret_advice)
{
    struct esi_advice_situation situation = {
        .costs = advice->costs, .in_force = in_force, .version = version};
    struct esi_advised_group group;
    struct esi_location *places;
    int result;

    if (index >= esi_tree_advisor_count(advice->advisor))
        return -ENOENT;
    esi_tree_advisor_group(advice->advisor, index, &group);
    result = make_places(advice, &group, &places);
    if (result < 0)
        return result;
    situation.places = places;
    result = esi_tree_advisor_propose(advice->advisor, index, &situation, ret_advice);
    free(places);
    return result;
}
