/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_nodes.c - gathers the results of all internal nodes of collective trees. */
#include "config.h"

#include "monitors/collectives/tree_nodes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/condition.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/collectives/node_pieces.h"
#include "monitors/follow/follower.h"
#include "scopes/origin_process.h"
#include "wrappers/stages/node_edges.h"

#define INTERVAL_NS UINT64_C(100000000)
#define REFRESH_NS UINT64_C(1000000000)
/* How long pieces of an operation wait for the others: several pulls. */
#define PIECES_NS UINT64_C(2000000000)
#define INCOMPLETE_NS UINT64_C(60000000000)

enum { NODE_THREADS = 16 };

/* A process whose elements are read. */
struct tree_node {
    const char *host; /* borrowed from the origins */
    int pid;
    uint64_t birth;
    int rank;
    struct esi_node_pieces pieces;
    struct esi_node_finding half; /* an upward phase whose downward phase may be in
                                     the next reply */
    bool has_half;
    uint64_t half_pull; /* number of the pull that delivered it */
};

struct esi_tree_nodes {
    struct esi_tree_nodes_config config;
    struct es_run *run; /* owned */
    struct esi_follower *follower;
    struct es_scope *scope;  /* the follower's; NULL = no elements of trees yet: the
                                follower looks for them and is not pulled */
    struct tree_node *nodes; /* owned */
    size_t node_count;
    size_t node_capacity;
    size_t *node_of; /* owned; per origin */
    size_t origin_capacity;
    uint64_t pull; /* number of the current pull */

    pthread_mutex_t lock; /* protects the counts and `ends` */
    pthread_cond_t wake;
    struct esi_tree_nodes_counts counts;
    bool ends;
    bool runs;
    pthread_t thread;
};

/* --- Nodes ------------------------------------------------------------------------ */

static bool is_of(const struct tree_node *node, const struct es_origin *origin)
{
    return node->pid == origin->pid && node->rank == origin->rank &&
           node->birth == esi_origin_birth(origin) &&
           strcmp(node->host, origin->host) == 0;
}

/* Finds or creates the node of an origin that has joined. */
static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_tree_nodes *nodes = data;
    size_t index = nodes->node_count;

    if (ESI_ARRAY_RESERVE(nodes->node_of, nodes->origin_capacity, (size_t)number + 1) <
        0)
        return -ENOMEM;
    while (index > 0 && !is_of(&nodes->nodes[index - 1], origin))
        index--;
    if (index == 0) {
        if (ESI_ARRAY_RESERVE(nodes->nodes, nodes->node_capacity,
                              nodes->node_count + 1) < 0)
            return -ENOMEM;
        index = ++nodes->node_count;
        nodes->nodes[index - 1] = (struct tree_node){.host = origin->host,
                                                     .pid = origin->pid,
                                                     .birth = esi_origin_birth(origin),
                                                     .rank = origin->rank};
    }
    nodes->node_of[number] = index - 1;
    return 0;
}

static struct tree_node *node_at(const struct esi_tree_nodes *nodes, uint32_t origin)
{
    return &nodes->nodes[nodes->node_of[origin]];
}

/* --- Opening ---------------------------------------------------------------------- */

void esi_tree_nodes_config_init(struct esi_tree_nodes_config *config)
{
    *config = (struct esi_tree_nodes_config){.run = NULL};
    es_scope_config_init(&config->scope);
    config->scope.view.selection.classes = ES_CLASSES_TREE | 1u << ES_CLASS_COLLECTIVE;
    config->scope.tree.nodes = true;
    config->scope.tree.node_threads = NODE_THREADS;
    config->scope.tree.through_server = true;
    config->scope.name = "collectives-nodes";
}

/* A tree of stages has a cost on all hosts in each pull, which runs without
 * instrumented trees avoid. */
static int open_when_needed(struct esi_tree_nodes *nodes, struct es_error *error)
{
    struct esi_follower_config config = {.run = nodes->run,
                                         .scope = nodes->config.scope,
                                         .refresh_ns = REFRESH_NS,
                                         .on_origin = take_origin,
                                         .data = nodes};
    struct esi_follower *follower;
    int result;

    if (nodes->scope || es_scope_origin_count(esi_follower_scope(nodes->follower)) == 0)
        return 0;
    config.scope.servers = nodes->config.servers;
    if (!config.scope.servers)
        config.scope.tree.through_server = false;
    result = esi_follower_open(&config, error, &follower);
    if (result < 0)
        return result;
    esi_follower_close(nodes->follower);
    nodes->follower = follower;
    nodes->scope = esi_follower_scope(follower);
    return 0;
}

static int open_scout(struct esi_tree_nodes *nodes, struct es_error *error)
{
    struct esi_follower_config scout = {.run = nodes->run, .refresh_ns = REFRESH_NS};

    es_scope_config_init(&scout.scope);
    scout.scope.view = nodes->config.scope.view;
    scout.scope.view.selection.classes = ES_CLASSES_TREE;
    scout.scope.servers = nodes->config.servers;
    return esi_follower_open(&scout, error, &nodes->follower);
}

static int open_scope(struct esi_tree_nodes *nodes, struct es_error *error)
{
    int result = nodes->config.servers
                     ? es_run_open_empty(nodes->config.run, error, &nodes->run)
                     : es_run_open(nodes->config.run, error, &nodes->run);

    if (result == 0)
        result = open_scout(nodes, error);
    return result < 0 ? result : open_when_needed(nodes, error);
}

int esi_tree_nodes_open(const struct esi_tree_nodes_config *config,
                        struct es_error *error,
                        struct esi_tree_nodes **ret_nodes)
{
    struct esi_tree_nodes *nodes = calloc(1, sizeof *nodes);
    int result;

    if (!nodes)
        return -ENOMEM;
    nodes->config = *config;
    if (nodes->config.interval_ns == 0)
        nodes->config.interval_ns = INTERVAL_NS;
    pthread_mutex_init(&nodes->lock, NULL);
    esi_condition_init(&nodes->wake);
    result = open_scope(nodes, error);
    if (result < 0) {
        esi_tree_nodes_close(nodes);
        return result;
    }
    *ret_nodes = nodes;
    return 0;
}

/* Ends the thread without a last pull.  Returns whether there was one. */
static bool end_thread(struct esi_tree_nodes *nodes)
{
    if (!nodes->runs)
        return false;
    pthread_mutex_lock(&nodes->lock);
    nodes->ends = true;
    pthread_cond_signal(&nodes->wake);
    pthread_mutex_unlock(&nodes->lock);
    pthread_join(nodes->thread, NULL);
    nodes->runs = nodes->ends = false;
    return true;
}

void esi_tree_nodes_close(struct esi_tree_nodes *nodes)
{
    int saved_errno = errno;

    if (!nodes)
        return;
    end_thread(nodes);
    esi_follower_close(nodes->follower);
    es_run_close(nodes->run);
    for (size_t i = 0; i < nodes->node_count; i++)
        esi_node_pieces_fini(&nodes->nodes[i].pieces);
    pthread_cond_destroy(&nodes->wake);
    pthread_mutex_destroy(&nodes->lock);
    free(nodes->nodes);
    free(nodes->node_of);
    free(nodes);
    errno = saved_errno;
}

/* --- Results ---------------------------------------------------------------------- */

/* Counts of one pull. */
struct brought {
    uint64_t results;
    uint64_t pieced;
    uint64_t incomplete;
};

/* Delivers one result. */
static void emit_result(struct esi_tree_nodes *nodes,
                        const struct esi_node_finding *finding,
                        struct brought *brought)
{
    const struct es_origin *origin = es_scope_origin(nodes->scope, finding->origin);
    struct tree_node *node = node_at(nodes, finding->origin);
    const struct es_communicator_info *info = esi_follower_communicator(
        nodes->follower, finding->origin, finding->communicator);
    struct esi_tree_node_result result;

    brought->results++;
    brought->pieced += finding->pieced;
    esi_node_finding_measure(finding, origin->clock, &result);
    result.world_rank = node->rank;
    result.host = node->host;
    if (info) {
        memcpy(result.key, info->key, sizeof result.key);
        result.communicator = info->name;
        result.rank = info->rank;
    }
    if (nodes->config.on_result)
        nodes->config.on_result(nodes->config.data, &result);
}

static void finish_finding(struct esi_tree_nodes *nodes,
                           struct tree_node *node,
                           struct esi_node_finding *finding,
                           struct brought *brought)
{
    const struct es_clock *clock =
        es_scope_origin(nodes->scope, finding->origin)->clock;

    esi_node_pieces_complete(&node->pieces, clock, finding);
    emit_result(nodes, finding, brought);
}

static void give_half(struct esi_tree_nodes *nodes,
                      struct tree_node *node,
                      struct brought *brought)
{
    struct esi_node_finding half = node->half;

    if (!node->has_half)
        return;
    node->has_half = false;
    finish_finding(nodes, node, &half, brought);
}

/* The two halves of a result may arrive in different replies. */
static void take_finding(struct esi_tree_nodes *nodes,
                         struct tree_node *node,
                         struct esi_node_finding *finding,
                         struct brought *brought)
{
    bool is_other_half = node->has_half && !finding->has_up &&
                         node->half.communicator == finding->communicator &&
                         node->half.sequence == finding->sequence;

    if (is_other_half) {
        node->half.has_down = true;
        node->half.down = finding->down;
    }
    give_half(nodes, node, brought);
    if (is_other_half)
        return;
    if (finding->has_down) {
        finish_finding(nodes, node, finding, brought);
        return;
    }
    node->half = *finding;
    node->has_half = true;
    node->half_pull = nodes->pull;
}

/* A half that has no counterpart after a whole pull is delivered alone. */
static void give_halves(struct esi_tree_nodes *nodes, bool all, struct brought *brought)
{
    for (size_t i = 0; i < nodes->node_count; i++)
        if (all || nodes->nodes[i].half_pull < nodes->pull)
            give_half(nodes, &nodes->nodes[i], brought);
}

/* Index after the last tuple of the node whose first one is at `first`. */
static size_t end_of_node(const struct esi_tree_nodes *nodes,
                          const struct es_batch *batch,
                          size_t first)
{
    const struct tree_node *node = node_at(nodes, batch->marks[first].origin);
    size_t end = first + 1;

    while (end < batch->count && node_at(nodes, batch->marks[end].origin) == node)
        end++;
    return end;
}

static int take_tuples(struct esi_tree_nodes *nodes,
                       const struct es_batch *batch,
                       size_t first,
                       size_t end,
                       uint64_t now_ns,
                       struct brought *brought)
{
    struct tree_node *node = node_at(nodes, batch->marks[first].origin);
    int result = 0;

    for (size_t i = first, count; i < end && result == 0; i += count) {
        struct esi_node_finding finding;

        count = esi_node_finding_read(batch, i, end, &finding);
        if (count > 0) {
            take_finding(nodes, node, &finding, brought);
            continue;
        }
        count = 1;
        result = esi_node_pieces_add(&node->pieces, &batch->tuples[i], &batch->marks[i],
                                     now_ns);
        if (result == -EINVAL)
            result = 0;
    }
    return result;
}

/* Results of the same operation from different nodes are never combined. */
static int take_batch(struct esi_tree_nodes *nodes,
                      const struct es_batch *batch,
                      uint64_t now_ns,
                      struct brought *brought)
{
    int result = 0;

    for (size_t i = 0, end; i < batch->count && result == 0; i = end) {
        end = end_of_node(nodes, batch, i);
        result = take_tuples(nodes, batch, i, end, now_ns, brought);
    }
    return result;
}

/* Takes operations whose pieces are complete, and those to give up. */
static void take_pieces(struct esi_tree_nodes *nodes,
                        uint64_t now_ns,
                        bool all,
                        struct brought *brought)
{
    uint64_t patience_ns = all ? 0 : PIECES_NS + 4 * nodes->config.interval_ns;
    uint64_t long_ns = all ? 0 : INCOMPLETE_NS;

    for (size_t i = 0; i < nodes->node_count; i++) {
        struct esi_node_pieces *pieces = &nodes->nodes[i].pieces;
        struct esi_node_finding finding;
        int taken = pieces->edges.count > 0;

        while (taken != 0 && pieces->edges.count > 0) {
            uint32_t origin =
                pieces->edges.edges[pieces->edges.instances[0].first].mark.origin;

            taken = esi_node_pieces_take(pieces,
                                         es_scope_origin(nodes->scope, origin)->clock,
                                         now_ns, patience_ns, long_ns, &finding);
            brought->incomplete += taken == -ENODATA;
            if (taken > 0)
                emit_result(nodes, &finding, brought);
        }
    }
}

/* --- Pulling ---------------------------------------------------------------------- */

static void count_pull(struct esi_tree_nodes *nodes,
                       const struct es_batch *batch,
                       const struct brought *brought)
{
    struct esi_tree_nodes_counts *counts = &nodes->counts;

    pthread_mutex_lock(&nodes->lock);
    counts->results += brought->results;
    counts->pieced += brought->pieced;
    counts->incomplete += brought->incomplete;
    counts->elements = es_scope_origin_count(nodes->scope);
    if (batch) {
        counts->silent = batch->notice_count;
        for (size_t i = 0; i < batch->report_count; i++)
            counts->lost += batch->reports[i].lost;
    }
    pthread_mutex_unlock(&nodes->lock);
}

/* Hosts whose server does not answer are retried the next time.  -errno: there are
 * trees, but they cannot be read. */
static int refresh_nodes(struct esi_tree_nodes *nodes, bool now)
{
    return esi_follower_refresh(nodes->follower, now) == 0
               ? 0
               : open_when_needed(nodes, NULL);
}

/* Pulls once; *ret_more: more data is available. */
static int pull_once(struct esi_tree_nodes *nodes, bool drain, bool *ret_more)
{
    const struct es_batch *batch = NULL;
    struct brought brought = {.results = 0};
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    *ret_more = false;
    if (!nodes->scope)
        return 0;
    result = esi_follower_pull(nodes->follower, drain ? ES_PULL_DRAIN : 0, &batch);
    nodes->pull++;
    if (result >= 0)
        result = take_batch(nodes, batch, now_ns, &brought);
    if (result == 0) {
        *ret_more = batch->more;
        give_halves(nodes, drain && !batch->more, &brought);
        take_pieces(nodes, now_ns, drain && !batch->more, &brought);
    }
    count_pull(nodes, result == 0 ? batch : NULL, &brought);
    return result < 0 ? result : (int)brought.results;
}

int esi_tree_nodes_pull(struct esi_tree_nodes *nodes)
{
    bool more;
    int result = refresh_nodes(nodes, false);

    return result < 0 ? result : pull_once(nodes, false, &more);
}

int esi_tree_nodes_drain(struct esi_tree_nodes *nodes)
{
    int sum = 0, result = refresh_nodes(nodes, true);
    bool more;

    if (result < 0)
        return result;
    /* The second pass finds what became complete in the first. */
    for (int i = 0; i < 2; i++) {
        result = pull_once(nodes, false, &more);
        if (result < 0)
            return result;
        sum += result;
    }
    do {
        result = pull_once(nodes, true, &more);
        sum += result > 0 ? result : 0;
    } while (result >= 0 && more);
    return result < 0 ? result : sum;
}

/* --- The thread ------------------------------------------------------------------- */

/* Waits until the next pull is due.  Returns false if the thread is to end. */
static bool wait_for_turn(struct esi_tree_nodes *nodes, uint64_t due_ns)
{
    bool ends;

    pthread_mutex_lock(&nodes->lock);
    while (!nodes->ends && esi_condition_wait(&nodes->wake, &nodes->lock, due_ns))
        continue;
    ends = nodes->ends;
    pthread_mutex_unlock(&nodes->lock);
    return !ends;
}

static void *run_thread(void *data)
{
    struct esi_tree_nodes *nodes = data;
    uint64_t due_ns = esi_now_ns(CLOCK_MONOTONIC);

    do {
        uint64_t now_ns;

        (void)esi_tree_nodes_pull(nodes);
        now_ns = esi_now_ns(CLOCK_MONOTONIC);
        due_ns += nodes->config.interval_ns;
        if (due_ns < now_ns)
            due_ns = now_ns;
        if (nodes->scope && es_scope_is_paced(nodes->scope))
            due_ns = now_ns;
    } while (wait_for_turn(nodes, due_ns));
    return NULL;
}

int esi_tree_nodes_start(struct esi_tree_nodes *nodes)
{
    sigset_t all, before;
    int result;

    if (nodes->runs)
        return -EALREADY;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = -pthread_create(&nodes->thread, NULL, run_thread, nodes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    nodes->runs = result == 0;
    return result;
}

void esi_tree_nodes_stop(struct esi_tree_nodes *nodes)
{
    if (end_thread(nodes))
        (void)esi_tree_nodes_drain(nodes);
}

void esi_tree_nodes_counts(struct esi_tree_nodes *nodes,
                           struct esi_tree_nodes_counts *ret_counts)
{
    pthread_mutex_lock(&nodes->lock);
    *ret_counts = nodes->counts;
    pthread_mutex_unlock(&nodes->lock);
}

struct es_scope *esi_tree_nodes_scope(struct esi_tree_nodes *nodes)
{
    return nodes->scope;
}
