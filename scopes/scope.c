/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope.c - opens, pulls, changes and closes event scopes.
 *
 * The scope owns the reading positions, so that they stay when the tree is replaced.
 * The new tree begins after the tuples emitted by the old one; tuples that the old tree
 * held back are read again.  The scope itself keeps the last delivered batch, in case
 * it is requested again. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "eventspace/scope.h"
#include "scopes/remote/catalog.h"
#include "scopes/remote/run_files.h"
#include "scopes/remote/servers.h"
#include "scopes/run_map.h"
#include "scopes/scope_control.h"
#include "scopes/scope_private.h"
#include "scopes/stage_tree.h"

/* Timing a stage takes about a microsecond, more than reading an element.  Pulls are
 * therefore timed at intervals at which the cost is negligible.  The first pull is
 * always timed. */
#define TIMED_PER_STAGE_NS UINT64_C(5000000)

static bool is_measured(struct es_scope *scope)
{
    /* The time of the last system tick, which is cheap to read. */
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC_COARSE);

    if (scope->measured_ns != 0 &&
        now_ns - scope->measured_ns < TIMED_PER_STAGE_NS * scope->cost.stages)
        return false;
    scope->measured_ns = now_ns;
    return true;
}

void es_scope_config_init(struct es_scope_config *config)
{
    *config = (struct es_scope_config){
        .take = ES_TAKE_EVERY,
        .tree = {.shape = ES_SHAPE_VIEWS,
                 .levels = ES_LEVELS_ALL,
                 .limit_ns = UINT64_C(5000000000)},
        .sorting = ES_SORTING_NONE,
        .window_ns = UINT64_C(10000000),
        .max = 65536,
    };
    es_selection_init(&config->view.selection);
}

/* --- Costs ------------------------------------------------------------------- */

static void visit_stages(const struct es_stage *stage,
                         int depth,
                         es_stage_visit_fn visit,
                         void *data)
{
    visit(stage, depth, data);
    for (size_t i = 0; i < stage->child_count; i++)
        visit_stages(stage->children[i], depth + 1, visit, data);
}

void es_scope_foreach_stage(const struct es_scope *scope,
                            es_stage_visit_fn visit,
                            void *data)
{
    visit_stages(scope->root, 0, visit, data);
}

static void add_cost(const struct es_stage *stage, int depth, void *data)
{
    struct es_scope_cost *cost = data;

    (void)depth;
    cost->late += stage->cost.late;
}

void es_scope_cost(const struct es_scope *scope, struct es_scope_cost *ret_cost)
{
    *ret_cost = scope->cost;
    ret_cost->origins = scope->from.origins.count;
    ret_cost->total_ns += es_stage_cost_time_ns(&scope->root->cost);
    ret_cost->cpu_ns += es_stage_cost_cpu_ns(&scope->root->cost);
    for (size_t i = 0; i < scope->from.places.count; i++)
        ret_cost->lost += scope->from.places.items[i].read.lost;
    es_scope_foreach_stage(scope, add_cost, ret_cost);
}

/* --- The tree ----------------------------------------------------------------- */

/* Closes the tree and adds its costs to those of the scope. */
static void close_tree(struct es_scope *scope)
{
    if (!scope->root)
        return;
    scope->cost.total_ns += es_stage_cost_time_ns(&scope->root->cost);
    scope->cost.cpu_ns += es_stage_cost_cpu_ns(&scope->root->cost);
    es_scope_foreach_stage(scope, add_cost, &scope->cost);
    es_stage_close(scope->root);
    scope->root = NULL;
}

/* The facts about a host for the planner.  `infos` owns the texts. */
static struct es_host_info host_info_of(const struct es_server_info *info)
{
    return (struct es_host_info){.host = info->host,
                                 .cluster = info->cluster[0] ? info->cluster : NULL,
                                 .gateway = info->gateway[0] ? info->gateway : NULL,
                                 .has_server = info->state == ES_SERVER_UP};
}

/* Provides the sockets to the planner if needed.  The map is searched for when the tree
 * is configured, not when elements join.  Without a map, sockets have no
 * aggregators. */
static void find_sockets(struct es_scope *scope,
                         bool asked,
                         struct esi_host_infos *hosts)
{
    const struct es_tree_config *tree = &scope->config.tree;

    if (tree->shape != ES_SHAPE_LEVELS || !(tree->levels & ES_LEVEL_SOCKET))
        return;
    if (!scope->map && asked &&
        esi_run_map_load(es_servers_run(scope->config.servers), scope->config.servers,
                         NULL, &scope->map) < 0)
        scope->map = NULL;
    if (!scope->map)
        return;
    hosts->socket_of = esi_run_map_socket;
    hosts->data = scope->map;
}

/* Plans over the hosts of the servers.  The plan borrows its texts; only the names of
 * hosts are used later, and these are owned by the scope. */
static int plan_over_hosts(struct es_scope *scope,
                           struct es_error *error,
                           struct esi_stage_node **ret_plan)
{
    size_t count = es_servers_count(scope->config.servers);
    struct es_server_info *infos = calloc(count + 1, sizeof *infos);
    struct es_host_info *items = calloc(count + 1, sizeof *items);
    /* When elements join, errors are not reported: joining must not fail because a
     * server is away. */
    struct esi_host_infos hosts = {
        .here = scope->from.here, .items = items, .renewed = error == NULL};
    int result = infos && items ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && result == 0; i++)
        if (es_servers_at(scope->config.servers, i, &infos[hosts.count]) == 0) {
            items[hosts.count] = host_info_of(&infos[hosts.count]);
            hosts.count++;
        }
    if (result == 0)
        find_sockets(scope, error != NULL || !scope->root, &hosts);
    if (result == 0)
        result = esi_stage_tree_plan(scope->from.origins.items,
                                     scope->from.origins.count, &scope->config, &hosts,
                                     scope->view_filter, error, ret_plan);
    free(items);
    free(scope->infos);
    scope->infos = infos;
    return result;
}

static int plan_tree(struct es_scope *scope,
                     struct es_error *error,
                     struct esi_stage_node **ret_plan)
{
    if (scope->config.servers)
        return plan_over_hosts(scope, error, ret_plan);
    return esi_stage_tree_plan(scope->from.origins.items, scope->from.origins.count,
                               &scope->config, NULL, scope->view_filter, error,
                               ret_plan);
}

/* Opens the tree and replaces the old one. */
static int raise_tree(struct es_scope *scope,
                      const struct esi_stage_node *plan,
                      struct es_error *error)
{
    struct es_stage *root;
    int result = esi_stage_node_open(plan, esi_origins_consumer_host(&scope->from),
                                     &scope->context, error, &root);

    if (result < 0)
        return result;
    close_tree(scope);
    esi_places_rewind(&scope->from.places);
    scope->broken = false;
    scope->root = root;
    scope->cost.stages = esi_stage_node_count(plan);
    return 0;
}

/* Creates a tree from the scope's origins and configuration, and replaces the current
 * tree, if any.  Tuples that the old tree held back are read again.  Returns -errno,
 * with a text if the configuration is wrong; then the scope keeps its tree. */
static int renew_tree(struct es_scope *scope, struct es_error *error)
{
    struct esi_stage_node *plan;
    int result = plan_tree(scope, error, &plan);

    if (result < 0)
        return result;
    result = raise_tree(scope, plan, error);
    esi_stage_node_destroy(plan);
    return result;
}

/* --- Opening and closing ------------------------------------------------------ */

/* Callback of the context. */
static int connect_to(void *data,
                      const char *host,
                      uint64_t timeout_ns,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    const struct es_scope *scope = data;

    return esi_servers_connect(scope->config.servers, host, timeout_ns, error,
                               ret_link);
}

/* Callback of the context. */
static int find_address(void *data, const char *host, char *out, size_t size)
{
    const struct es_scope *scope = data;

    return esi_servers_address(scope->config.servers, host, out, size);
}

static int open_scope(struct es_run *run,
                      const struct es_scope_config *config,
                      esi_scope_choose_fn choose,
                      void *choose_data,
                      struct es_error *error,
                      struct es_scope **ret_scope)
{
    struct es_scope *scope = calloc(1, sizeof *scope);
    int result;

    if (!scope)
        return -ENOMEM;
    scope->from = (struct esi_scope_origins){.run = run,
                                             .config = &scope->config,
                                             .choose = choose,
                                             .choose_data = choose_data};
    scope->context =
        (struct es_stage_context){.origins = &scope->from.origins,
                                  .places = &scope->from.places,
                                  .communicator_name = esi_scope_communicator_name,
                                  .data = scope,
                                  .run = es_run_name(run),
                                  .reads_placed = choose != NULL};
    result = esi_scope_config_take(&scope->config, config, &scope->view_filter, error);
    if (config->servers) {
        scope->context.connect = connect_to;
        scope->context.address = find_address;
    }
    scope->from.places.fixed = !esi_scope_config_reads_every(config);
    if (result == 0)
        result = esi_origins_find_servers(&scope->from);
    if (result == 0)
        result = esi_origins_find(&scope->from, false);
    if (result >= 0)
        result = renew_tree(scope, error);
    if (result == 0)
        result = esi_scope_register(scope);
    if (result < 0) {
        es_scope_close(scope);
        return result;
    }
    *ret_scope = scope;
    return 0;
}

int es_scope_open(struct es_run *run,
                  const struct es_scope_config *config,
                  struct es_error *error,
                  struct es_scope **ret_scope)
{
    return open_scope(run, config, NULL, NULL, error, ret_scope);
}

int esi_scope_open_chosen(struct es_run *run,
                          const struct es_scope_config *config,
                          esi_scope_choose_fn choose,
                          void *data,
                          struct es_scope **ret_scope)
{
    return open_scope(run, config, choose, data, NULL, ret_scope);
}

void es_scope_close(struct es_scope *scope)
{
    int saved_errno = errno;

    if (!scope)
        return;
    esi_scope_end_pace(scope);
    esi_scope_deregister(scope);
    esi_origins_unregister(&scope->from);
    es_stage_close(scope->root);
    es_batch_fini(&scope->batch);
    esi_origins_fini(&scope->from);
    free(scope->infos);
    esi_pathmap_destroy(scope->map);
    esi_scope_config_fini(&scope->config);
    free(scope->view_filter);
    free(scope);
    errno = saved_errno;
}

/* --- Pulling ----------------------------------------------------------------- */

/* Unblocks writers whose tuples the consumer has used. */
static void scope_acknowledge(struct es_scope *scope)
{
    for (size_t i = 0; scope->config.lossless && i < scope->from.places.count; i++) {
        struct esi_read_state *place = &scope->from.places.items[i];

        if (!place->registered || place->acknowledged == place->delivered)
            continue;
        place->acknowledged = place->delivered;
        if (esi_origins_read_here(&scope->from, i))
            es_element_acknowledge(scope->from.origins.items[i].element,
                                   place->delivered);
    }
}

/* Keeps the unused tuples in the batch, except operations under way and other contents
 * that each pull delivers anew. */
static void keep_unused(struct es_scope *scope)
{
    struct es_batch *batch = &scope->batch;
    size_t kept = 0;

    batch->notice_count = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (!es_batch_is_open(batch, i))
            es_batch_move(batch, kept++, i);
    batch->count = kept;
    if (!esi_scope_config_reads_every(&scope->config))
        es_batch_clear(batch);
}

/* Adds hosts that do not answer and have no stage in the tree that could report
 * this. */
static int add_silent_hosts(struct es_scope *scope)
{
    struct es_batch *batch = &scope->batch;
    size_t reported = batch->notice_count;
    int result = 0;

    if (!scope->from.catalog)
        return 0;
    for (size_t i = 0; i < esi_catalog_silent_count(scope->from.catalog) && result == 0;
         i++) {
        const struct es_notice *notice = esi_catalog_silent(scope->from.catalog, i);
        size_t same = 0;

        while (same < reported && strcmp(batch->notices[same].part, notice->part) != 0)
            same++;
        if (same == reported)
            result = es_batch_notice(batch, notice);
    }
    return result;
}

/* Appends new tuples to the batch; its first `first` tuples are delivered again. */
static int fill_batch(struct es_scope *scope, struct es_pull *pull, size_t first)
{
    struct es_batch *batch = &scope->batch;
    int result = 0;

    pull->careful = scope->broken;
    if (scope->broken)
        result = renew_tree(scope, NULL);
    if (result < 0 || (first > 0 && first >= scope->config.max))
        return result;
    pull->max = scope->config.max - first;
    if (scope->root->timed)
        pull->realtime_ns = es_scope_run_now_ns(scope);
    batch->more = false;
    result = es_stage_pull(scope->root, pull, batch);
    if (result < 0)
        return result;
    if (scope->config.global_time)
        esi_origins_make_global(&scope->from, &scope->batch, first);
    return add_silent_hosts(scope);
}

/* Pulls.  If the tree fails, its successor reads the same tuples again. */
static int pull_batch(struct es_scope *scope, struct es_pull *pull, bool repeat)
{
    struct es_batch *batch = &scope->batch;
    size_t first, reports;
    int result;

    if (repeat) {
        keep_unused(scope);
    } else {
        scope_acknowledge(scope);
        es_batch_clear(batch);
    }
    first = batch->count;
    reports = batch->report_count;
    result = fill_batch(scope, pull, first);
    scope->repeats = result < 0;
    if (result == 0) {
        esi_places_commit(&scope->from.places);
        return 0;
    }
    scope->broken = true;
    batch->count = first;
    batch->report_count = reports;
    return result;
}

int es_scope_pull(struct es_scope *scope,
                  unsigned flags,
                  const struct es_batch **ret_batch)
{
    struct es_pull pull = {.drain = flags & ES_PULL_DRAIN};
    bool repeat;
    int result;

    if (scope->control)
        esi_scope_poll(scope);
    if (scope->pace)
        esi_scope_keep_pace(scope);
    repeat = scope->repeats || (flags & ES_PULL_REPEAT);
    pull.timeout_ns = scope->config.tree.limit_ns;
    pull.serial = ++scope->serial;
    pull.measure = is_measured(scope);
    result = pull_batch(scope, &pull, repeat);
    if (scope->pace)
        esi_scope_note_pull(scope);
    scope->cost.pulls++;
    if (result < 0) {
        scope->cost.failures++;
        return result;
    }
    scope->cost.tuples += scope->batch.count;
    *ret_batch = &scope->batch;
    return 0;
}

/* --- Changes ------------------------------------------------------------------ */

/* A host that does not answer must not delay the others repeatedly. */
static uint64_t refresh_limit(const struct es_scope *scope)
{
    uint64_t most = UINT64_C(1000000000);

    return scope->config.tree.limit_ns < most ? scope->config.tree.limit_ns : most;
}

int es_scope_refresh(struct es_scope *scope)
{
    size_t known = scope->from.origins.count;
    size_t catalogued = scope->from.catalogued;
    int joined = es_run_refresh(scope->from.run);
    int result;

    if (joined >= 0 && scope->from.catalog)
        joined = esi_catalog_refresh(scope->from.catalog, refresh_limit(scope));
    if (joined < 0)
        return joined;
    joined = esi_origins_find(&scope->from, true);
    result = joined > 0 ? renew_tree(scope, NULL) : joined;
    if (result < 0) {
        esi_origins_drop(&scope->from, known, catalogued);
        return result;
    }
    return joined;
}

int es_scope_reconfigure(struct es_scope *scope,
                         const struct es_scope_config *config,
                         struct es_error *error)
{
    struct es_scope_config before = scope->config;
    int result = 0;

    if (config->lossless && before.lossless && before.servers &&
        config->tree.through_server != before.tree.through_server)
        return es_error_set(error, -EINVAL,
                            "a scope for which programs wait cannot change between "
                            "this host's tuple server and direct reading");
    result = esi_scope_config_take_tree(&scope->config, config, error);
    if (result < 0)
        return result;
    result = renew_tree(scope, error);
    if (result < 0) {
        esi_scope_config_fini_tree(&scope->config);
        scope->config = before;
        return result;
    }
    esi_scope_config_fini_tree(&before);
    esi_origins_update_registration(&scope->from);
    return 0;
}

const struct es_scope_config *es_scope_config(const struct es_scope *scope)
{
    return &scope->config;
}
