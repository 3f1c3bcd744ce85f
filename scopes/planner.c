/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* planner.c - the input of a plan: elements in the order of the tree (by gateway,
 * cluster, host, socket, rank, process and thread), their hosts, and the settings that
 * people write as text. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "scopes/origin_process.h"
#include "scopes/planner.h"

/* --- Hosts by name ------------------------------------------------------------ */

static int compare_infos(const void *first, const void *second)
{
    const struct es_host_info *a = *(const struct es_host_info *const *)first;
    const struct es_host_info *b = *(const struct es_host_info *const *)second;

    return strcmp(a->host, b->host);
}

static int sort_infos(struct esi_planner *planner)
{
    size_t count = planner->infos ? planner->infos->count : 0;

    planner->hosts_sorted = calloc(count + 1, sizeof *planner->hosts_sorted);
    if (!planner->hosts_sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        planner->hosts_sorted[i] = &planner->infos->items[i];
    qsort(planner->hosts_sorted, count, sizeof *planner->hosts_sorted, compare_infos);
    return 0;
}

const struct es_host_info *esi_planner_host_info(const struct esi_planner *planner,
                                                 const char *host)
{
    struct es_host_info wanted = {.host = host};
    const struct es_host_info *key = &wanted;
    const struct es_host_info **found;

    if (!planner->infos)
        return NULL;
    found = bsearch(&key, planner->hosts_sorted, planner->infos->count,
                    sizeof *planner->hosts_sorted, compare_infos);
    return found ? *found : NULL;
}

const char *esi_planner_stage_host(const struct esi_planner *planner, const char *host)
{
    const struct esi_host_infos *infos = planner->infos;

    if (!infos || !infos->here || !host)
        return NULL;
    return strcmp(host, infos->here) == 0 || !esi_planner_host_info(planner, host)
               ? infos->here
               : host;
}

bool esi_planner_is_here(const struct esi_planner *planner, const char *host)
{
    const char *stands = esi_planner_stage_host(planner, host);

    if (!stands)
        return true;
    return stands == planner->infos->here && !planner->config->tree.through_server;
}

/* --- Elements in order -------------------------------------------------------- */

static int compare_numbers(long a, long b)
{
    return (a > b) - (a < b);
}

static int compare_threads(const struct es_origin *a, const struct es_origin *b)
{
    int order = compare_numbers(a->rank, b->rank);

    if (order == 0)
        order = compare_numbers(a->pid, b->pid);
    if (order == 0 && esi_origin_birth(a) != esi_origin_birth(b))
        order = esi_origin_birth(a) < esi_origin_birth(b) ? -1 : 1;
    return order ? order : compare_numbers(a->thread, b->thread);
}

static int compare_origins(const void *first, const void *second, void *data)
{
    const struct esi_planner *planner = data;
    size_t a = *(const size_t *)first;
    size_t b = *(const size_t *)second;
    int order = strcmp(planner->origins[a].host, planner->origins[b].host);

    if (order == 0 && planner->sockets)
        order = compare_numbers(planner->sockets[a], planner->sockets[b]);
    if (order == 0)
        order = compare_threads(&planner->origins[a], &planner->origins[b]);
    return order ? order : compare_numbers((long)a, (long)b);
}

/* Determines the socket of each element if the tree has aggregators for sockets. */
static int find_sockets(struct esi_planner *planner)
{
    const struct es_tree_config *tree = &planner->config->tree;

    if (tree->shape != ES_SHAPE_LEVELS || !(tree->levels & ES_LEVEL_SOCKET) ||
        !planner->infos || !planner->infos->socket_of)
        return 0;
    planner->sockets = calloc(planner->count + 1, sizeof *planner->sockets);
    if (!planner->sockets)
        return -ENOMEM;
    for (size_t i = 0; i < planner->count; i++)
        planner->sockets[i] =
            planner->infos->socket_of(planner->infos->data, planner->origins[i].rank);
    return 0;
}

static int order_origins(struct esi_planner *planner)
{
    planner->order = calloc(planner->count + 1, sizeof *planner->order);
    if (!planner->order)
        return -ENOMEM;
    for (size_t i = 0; i < planner->count; i++)
        planner->order[i] = i;
    qsort_r(planner->order, planner->count, sizeof *planner->order, compare_origins,
            planner);
    return 0;
}

static const struct es_origin *origin_at(const struct esi_planner *planner, size_t slot)
{
    return &planner->origins[planner->order[slot]];
}

static bool is_together(const struct esi_planner *planner,
                        enum esi_planner_group group,
                        size_t first,
                        size_t second)
{
    const struct es_origin *a = origin_at(planner, first);
    const struct es_origin *b = origin_at(planner, second);
    const int *sockets = planner->sockets;

    switch (group) {
    case ESI_GROUP_HOST:
        return strcmp(a->host, b->host) == 0;
    case ESI_GROUP_SOCKET:
        return !sockets ||
               sockets[planner->order[first]] == sockets[planner->order[second]];
    case ESI_GROUP_PROCESS:
        return esi_origin_is_same_process(a, b);
    case ESI_GROUP_THREAD:
        return compare_threads(a, b) == 0;
    }
    return false;
}

size_t esi_planner_group_end(const struct esi_planner *planner,
                             enum esi_planner_group group,
                             size_t from,
                             size_t end)
{
    size_t slot = from + 1;

    while (slot < end && is_together(planner, group, from, slot))
        slot++;
    return slot;
}

/* --- Hosts that have elements ------------------------------------------------- */

const char *esi_host_location_cluster(const struct esi_host_location *location)
{
    return location->info ? location->info->cluster : NULL;
}

const char *esi_host_location_gateway(const struct esi_host_location *location)
{
    return esi_host_location_cluster(location) ? location->info->gateway : NULL;
}

/* Compares texts that may be NULL. */
static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

size_t esi_planner_cluster_end(const struct esi_planner *planner,
                               size_t from,
                               size_t end)
{
    const char *cluster = esi_host_location_cluster(&planner->locations[from]);
    size_t at = from + 1;

    while (at < end && compare_texts(esi_host_location_cluster(&planner->locations[at]),
                                     cluster) == 0)
        at++;
    return at;
}

static int compare_locations(const void *first, const void *second)
{
    const struct esi_host_location *a = first;
    const struct esi_host_location *b = second;
    int order =
        compare_texts(esi_host_location_gateway(a), esi_host_location_gateway(b));

    if (order == 0)
        order =
            compare_texts(esi_host_location_cluster(a), esi_host_location_cluster(b));
    return order ? order : strcmp(a->host, b->host);
}

static size_t end_of_host(const struct esi_planner *planner, size_t from)
{
    return esi_planner_group_end(planner, ESI_GROUP_HOST, from, planner->count);
}

static size_t count_hosts(const struct esi_planner *planner)
{
    size_t count = 0;

    for (size_t at = 0; at < planner->count; at = end_of_host(planner, at))
        count++;
    return count;
}

static bool is_consumers(const struct esi_planner *planner, const char *host)
{
    return planner->infos && planner->infos->here &&
           strcmp(planner->infos->here, host) == 0;
}

static int list_locations(struct esi_planner *planner)
{
    planner->locations = calloc(count_hosts(planner) + 1, sizeof *planner->locations);
    if (!planner->locations)
        return -ENOMEM;
    for (size_t first = 0, end; first < planner->count; first = end) {
        const char *host = origin_at(planner, first)->host;

        end = end_of_host(planner, first);
        planner->locations[planner->location_count++] =
            (struct esi_host_location){.host = host,
                                       .info = esi_planner_host_info(planner, host),
                                       .first = first,
                                       .end = end,
                                       .here = is_consumers(planner, host),
                                       .direct = esi_planner_is_here(planner, host)};
    }
    qsort(planner->locations, planner->location_count, sizeof *planner->locations,
          compare_locations);
    return 0;
}

/* --- Settings ----------------------------------------------------------------- */

/* Reductions that emit operations unchanged; all others emit summaries. */
static const char *const picks[] = {"latest", "earliest"};

static int refuse_host(const struct esi_planner *planner,
                       const char *what,
                       const char *name,
                       struct es_error *error)
{
    struct esi_nearest nearest;

    if (!planner->infos || planner->infos->count == 0)
        return es_error_set(error, -EINVAL,
                            "%s: no stage can run on host '%.80s': the run has "
                            "no tuple servers",
                            what, name);
    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < planner->infos->count; i++)
        if (planner->infos->items[i].has_server)
            esi_nearest_try(&nearest, planner->infos->items[i].host);
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "%s: the run has no host '%.80s'; did you mean "
                            "'%s'?",
                            what, name, nearest.name);
    return es_error_set(error, -EINVAL, "%s: the run has no host '%.80s'", what, name);
}

int esi_planner_find_host(const struct esi_planner *planner,
                          const char *what,
                          const char *name,
                          struct es_error *error,
                          const struct es_host_info **ret_info)
{
    const struct es_host_info *info = esi_planner_host_info(planner, name);

    if (!info)
        return refuse_host(planner, what, name, error);
    if (!info->has_server && !planner->infos->renewed)
        return es_error_set(error, -EINVAL,
                            "%s: no stage can run on host '%.80s': it has no "
                            "tuple server",
                            what, name);
    *ret_info = info->has_server ? info : NULL;
    return 0;
}

static int list_host(struct esi_planner *planner,
                     const char *name,
                     struct es_error *error)
{
    const struct es_host_info *info;
    int result = esi_planner_find_host(planner, "joints", name, error, &info);

    if (result < 0 || !info)
        return result;
    if (ESI_ARRAY_RESERVE(planner->listed, planner->listed_capacity,
                          planner->listed_count + 1) < 0)
        return -ENOMEM;
    planner->listed[planner->listed_count++] = (struct esi_listed_host){.info = info};
    return 0;
}

/* Parses names separated by commas and blanks. */
static int read_joints(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.joints;
    char *names = text ? strdup(text) : NULL;
    char *rest = names;
    int result = text && !names ? -ENOMEM : 0;

    for (char *name; rest && result == 0 && (name = strtok_r(rest, ", ", &rest));)
        result = list_host(planner, name, error);
    free(names);
    return result;
}

/* Parses "of=FIELD" or "by=FIELD". */
static int read_option(struct esi_reduction *reduction,
                       const char *word,
                       struct es_error *error)
{
    const char **option = strncmp(word, "of=", 3) == 0   ? &reduction->of
                          : strncmp(word, "by=", 3) == 0 ? &reduction->by
                                                         : NULL;

    if (!option)
        return es_error_set(error, -EINVAL,
                            "reduce: '%.60s': expected a reduction and then of=FIELD "
                            "or by=FIELD",
                            word);
    if (*option)
        return es_error_set(error, -EINVAL, "reduce: '%.2s' is given twice", word);
    *option = word + 3;
    return 0;
}

static bool is_summary(const char *to)
{
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++)
        if (strcmp(to, picks[i]) == 0)
            return false;
    return true;
}

/* Parses "NAME of=FIELD by=FIELD"; the stage checks whether there is such a
 * reduction. */
static int read_reduction(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.reduce;
    struct esi_reduction *reduction = &planner->reduction;
    char *rest = reduction->text;
    int result = 0;

    planner->sites = planner->config->sites || (text && strstr(text, "by=site"));
    if (!text) {
        if (planner->config->take == ES_TAKE_LATEST_OF_THREAD)
            reduction->to = "latest";
        return 0;
    }
    if (strlen(text) >= sizeof reduction->text)
        return es_error_set(error, -EINVAL, "reduce: the text is too long");
    memcpy(reduction->text, text, strlen(text) + 1);
    reduction->to = strtok_r(rest, " ", &rest);
    if (!reduction->to)
        return es_error_set(error, -EINVAL, "reduce: expected the name of a reduction");
    for (char *word; result == 0 && (word = strtok_r(rest, " ", &rest));)
        result = read_option(reduction, word, error);
    reduction->summarizes = is_summary(reduction->to);
    return result;
}

static const struct {
    const char *name;
    struct esi_observed_stages what;
} observations[] = {
    {"hosts", {.hosts = true}},
    {"joints", {.joints = true}},
    {"all", {.hosts = true, .joints = true, .threads = true}},
};

/* Collectors without a name get that of the scope. */
static void name_collectors(struct esi_planner *planner, const char *name)
{
    struct esi_observed_stages *observation = &planner->observation;

    if (!*name && planner->config->name)
        name = planner->config->name;
    snprintf(observation->name, sizeof observation->name, "%.*s",
             (int)sizeof observation->name - 1, *name ? name : "scope");
}

static int read_observation(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.observe;
    size_t length = text ? strcspn(text, " ") : 0;

    if (!text)
        return 0;
    for (size_t i = 0; i < sizeof observations / sizeof *observations; i++) {
        const char *name = text + length + strspn(text + length, " ");

        if (strlen(observations[i].name) != length ||
            strncmp(text, observations[i].name, length) != 0)
            continue;
        if (strlen(name) >= sizeof planner->observation.name)
            return es_error_set(error, -EINVAL,
                                "observe: the collectors' name is too long");
        planner->observation = observations[i].what;
        name_collectors(planner, name);
        return 0;
    }
    return es_error_set(error, -EINVAL,
                        "observe: '%.60s': expected hosts, joints or all, and then "
                        "the collectors' name",
                        text);
}

/* --- All of it ---------------------------------------------------------------- */

int esi_planner_init(struct esi_planner *planner, struct es_error *error)
{
    int result = sort_infos(planner);

    if (result == 0)
        result = find_sockets(planner);
    if (result == 0)
        result = order_origins(planner);
    if (result == 0)
        result = list_locations(planner);
    if (result == 0)
        result = read_joints(planner, error);
    if (result == 0)
        result = read_reduction(planner, error);
    return result ? result : read_observation(planner, error);
}

void esi_planner_fini(struct esi_planner *planner)
{
    free(planner->order);
    free(planner->sockets);
    free(planner->hosts_sorted);
    free(planner->locations);
    free(planner->listed);
}
