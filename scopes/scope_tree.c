/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_tree.c - renews the tree of an open scope.
 *
 * Reading positions are the scope's, so a tree can be replaced while they stay.  The
 * new tree begins behind what the old one gave.  What that kept is read again; what was
 * given last is kept by the scope itself, in case it is asked for again.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/remote/catalog.h"
#include "scopes/scope_private.h"
#include "scopes/stage_tree.h"

/* The tree that is closed takes its account with it. */
static void close_tree(struct es_scope *scope)
{
    if (!scope->root)
        return;
    scope->cost.cpu_ns += es_stage_cost_cpu_ns(&scope->root->cost);
    es_scope_foreach_stage(scope, esi_scope_add_cost, &scope->cost);
    es_stage_close(scope->root);
    scope->root = NULL;
}

/* What the planner is to know of the hosts.  `infos` has their texts. */
static struct es_host_info site_of(const struct es_server_info *info)
{
    return (struct es_host_info){.host = info->host,
                                 .cluster = info->cluster[0] ? info->cluster : NULL,
                                 .gateway = info->gateway[0] ? info->gateway : NULL,
                                 .has_server = info->state == ES_SERVER_UP};
}

/* Lets the planner know the sockets, where it wants them.  The map is looked for when
 * somebody says what the tree shall be, and not again when elements join.  Without one
 * there are no joints of sockets. */
static void find_sockets(struct es_scope *scope,
                         bool asked,
                         struct esi_host_infos *sites)
{
    const struct es_tree_config *tree = &scope->config.tree;

    if (tree->shape != ES_SHAPE_LEVELS || !(tree->levels & ES_LEVEL_SOCKET))
        return;
    if (!scope->sockets && asked)
        (void)esi_sockets_load(scope->config.servers, &scope->sockets);
    if (!scope->sockets)
        return;
    sites->socket_of = esi_sockets_find;
    sites->data = scope->sockets;
}

/* Plans over the hosts of the servers.  The plan borrows from what it was made of but
 * for hosts' names, which it is used with: they are the scope's. */
static int plan_over_hosts(struct es_scope *scope,
                           struct es_error *error,
                           struct esi_stage_node **ret_plan)
{
    size_t count = es_servers_count(scope->config.servers);
    struct es_server_info *infos = calloc(count + 1, sizeof *infos);
    struct es_host_info *items = calloc(count + 1, sizeof *items);
    /* Nobody is told of errors when elements join: that must not fail for a server that
     * is away. */
    struct esi_host_infos sites = {
        .here = scope->here, .items = items, .renewed = error == NULL};
    int result = infos && items ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && result == 0; i++)
        if (es_servers_at(scope->config.servers, i, &infos[sites.count]) == 0) {
            items[sites.count] = site_of(&infos[sites.count]);
            sites.count++;
        }
    if (result == 0)
        find_sockets(scope, error != NULL || !scope->root, &sites);
    if (result == 0)
        result = esi_stage_tree_plan(scope->origins.items, scope->origins.count,
                                     &scope->config, &sites, scope->view_filter, error,
                                     ret_plan);
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
    return esi_stage_tree_plan(scope->origins.items, scope->origins.count,
                               &scope->config, NULL, scope->view_filter, error,
                               ret_plan);
}

/* Opens the tree and lets it take the old one's place. */
static int raise_tree(struct es_scope *scope,
                      const struct esi_stage_node *plan,
                      struct es_error *error)
{
    struct es_stage *root;
    int result =
        esi_stage_node_open(plan, esi_scope_here(scope), &scope->context, error, &root);

    if (result < 0)
        return result;
    close_tree(scope);
    esi_locations_rewind(&scope->places);
    scope->broken = false;
    scope->root = root;
    scope->cost.stages = esi_stage_node_count(plan);
    return 0;
}

int esi_scope_renew_tree(struct es_scope *scope, struct es_error *error)
{
    struct esi_stage_node *plan;
    int result = plan_tree(scope, error, &plan);

    if (result < 0)
        return result;
    result = raise_tree(scope, plan, error);
    esi_stage_node_destroy(plan);
    return result;
}

/* A host that does not answer is not to hold up the others again and again. */
static uint64_t refresh_limit(const struct es_scope *scope)
{
    uint64_t most = UINT64_C(1000000000);

    return scope->config.tree.limit_ns < most ? scope->config.tree.limit_ns : most;
}

int es_scope_refresh(struct es_scope *scope)
{
    size_t known = scope->origins.count;
    size_t catalogued = scope->catalogued;
    int joined = es_run_refresh(scope->run);
    int result;

    if (joined >= 0 && scope->catalog)
        joined = esi_catalog_refresh(scope->catalog, refresh_limit(scope));
    if (joined < 0)
        return joined;
    joined = esi_scope_find_origins(scope, true);
    result = joined > 0 ? esi_scope_renew_tree(scope, NULL) : joined;
    if (result < 0) {
        esi_scope_drop_origins(scope, known);
        scope->catalogued = catalogued;
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
    result = esi_scope_take_tree_config(scope, config, error);
    if (result < 0)
        return result;
    result = esi_scope_renew_tree(scope, error);
    if (result < 0) {
        esi_scope_free_tree_config(&scope->config);
        scope->config = before;
        return result;
    }
    esi_scope_free_tree_config(&before);
    esi_scope_update_registration(scope);
    return 0;
}

const struct es_scope_config *es_scope_config(const struct es_scope *scope)
{
    return &scope->config;
}
