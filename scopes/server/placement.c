/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* placement.c - marks elements of this host that are placed elsewhere, and stores
 * elements of other hosts that are placed here. */
#include "config.h"

#include "scopes/server/placement.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/condition.h"
#include "base/now.h"
#include "scopes/chosen_scope.h"
#include "scopes/remote/catalog.h"
#include "scopes/remote/run_files.h"
#include "scopes/remote/servers.h"
#include "scopes/server/element_store.h"
#include "scopes/server/subtree_reader.h"
#include "tuplespace/element_view.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment_set.h"

#define PLAN_FILE "collect.plan"

#define TURN_NS UINT64_C(5000000)     /* between two pulls */
#define IDLE_NS UINT64_C(20000000)    /* the same, after IDLE_PULLS empty pulls */
#define MARK_NS UINT64_C(100000000)   /* between two searches for own elements */
#define JOIN_NS UINT64_C(250000000)   /* the same, for those of other hosts */
#define RETRY_NS UINT64_C(1000000000) /* between two attempts to open the scope */
#define LIMIT_NS UINT64_C(2000000000) /* for one answer */
#define LAST_NS UINT64_C(2000000000)  /* for the remaining tuples at the end */

enum {
    IDLE_PULLS = 200, /* one second */
    GROUP_MAX = 65536 /* larger groups are found through segments of their members */
};

struct esi_placement {
    struct esi_placement_config config;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool finishes;
    bool stops;

    struct es_plan plan;        /* owned, unless the config has one */
    struct es_servers *servers; /* owned, unless the config has some */
    struct es_run *run;
    uint64_t marked_ns; /* last search for elements of this host */

    struct es_scope *scope; /* NULL if not opened */
    uint64_t joined_ns;     /* last attempt to open or refresh it */
    /* By origin of the scope.  Large enough for all chosen elements: while elements
     * join, the scope has fewer origins. */
    struct esi_placed_element **placed;
    size_t placed_count;
    size_t placed_capacity;
    bool repeats;         /* the last batch was stored only in part */
    unsigned empty_pulls; /* consecutive pulls without a tuple */
};

/* --- The plan ------------------------------------------------------------------ */

static int load_from_home(struct esi_placement *placement)
{
    const char *run = placement->config.service->run;
    char *text;
    int result = placement->servers ? 0
                                    : es_servers_open(run, placement->config.home, NULL,
                                                      &placement->servers);

    if (result == 0)
        result = esi_run_file_fetch(placement->servers, PLAN_FILE, NULL, &text);
    if (result < 0)
        return result;
    result = esi_plan_parse(text, PLAN_FILE, NULL, &placement->plan);
    free(text);
    return result;
}

static int load_plan(struct esi_placement *placement)
{
    const char *run = placement->config.service->run;
    char path[ES_RUN_PATH_BYTES];

    if (esi_run_directory_path(run, PLAN_FILE, NULL, path) == 0 &&
        esi_plan_load(path, NULL, &placement->plan) == 0)
        return 0;
    return load_from_home(placement);
}

static bool has_placed_elements(const struct es_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->collectors[i].host[0])
            return true;
    return false;
}

/* The host that the plan names for an element, or "". */
static const char *planned_host(const struct es_plan *plan,
                                const struct es_element_info *info)
{
    for (size_t i = 0; i < plan->count && !info->shared; i++)
        if (strcmp(plan->collectors[i].name, info->collector) == 0 &&
            esi_collector_plan_has_rank(&plan->collectors[i], info->rank))
            return plan->collectors[i].host;
    return "";
}

/* --- Elements of this host ----------------------------------------------------- */

static void mark_element(const struct esi_placement *placement,
                         const struct es_element_view *element)
{
    const char *here = placement->config.service->host, *host;
    struct es_element_info info;

    es_element_view_info(element, &info);
    host = planned_host(&placement->plan, &info);
    if (!host[0] || strcmp(host, here) == 0)
        return;
    esi_element_relocate(element, ES_LOCATION_HERE, ES_LOCATION_AWAITED);
    if (esi_element_location(element) == ES_LOCATION_REFUSED)
        esi_subtree_reader_release(element);
    else if (info.block)
        esi_subtree_reader_hold(element);
}

/* Elements that no other server took can be read here again. */
static void unmark_element(const struct esi_placement *placement,
                           const struct es_element_view *element)
{
    (void)placement;
    esi_element_relocate(element, ES_LOCATION_AWAITED, ES_LOCATION_HERE);
    esi_subtree_reader_release(element);
}

static void foreach_own(const struct esi_placement *placement,
                        void (*visit)(const struct esi_placement *,
                                      const struct es_element_view *))
{
    for (size_t i = 0; i < es_run_segment_count(placement->run); i++) {
        const struct es_segment_view *segment = es_run_segment(placement->run, i);
        struct es_segment_info process;

        es_segment_view_info(segment, &process);
        if (process.kept || strcmp(process.host, placement->config.service->host) != 0)
            continue;
        for (size_t j = 0; j < es_segment_view_element_count(segment); j++)
            visit(placement, es_segment_view_element(segment, j));
    }
}

static void mark_elements(struct esi_placement *placement)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    if (placement->marked_ns != 0 && now - placement->marked_ns < MARK_NS)
        return;
    placement->marked_ns = now;
    if (es_run_refresh(placement->run) >= 0)
        foreach_own(placement, mark_element);
}

/* --- Elements of other hosts --------------------------------------------------- */

struct location_report {
    const struct esi_catalog_element *element;
    bool is_taken;
};

static void write_location(struct esi_json_out *out, void *data)
{
    const struct location_report *report = data;

    esi_json_out_signed(out, "pid", report->element->process->info.pid);
    esi_json_out_string(out, "name", report->element->info.name);
    esi_json_out_bool(out, "taken", report->is_taken);
}

/* Reports to the server of the process's host whether an element was taken. */
static void report_location(const struct esi_placement *placement,
                            const struct esi_catalog_element *element,
                            bool is_taken)
{
    struct location_report report = {.element = element, .is_taken = is_taken};
    const struct esi_rpc_request request = {
        .name = "element.placed", .write = write_location, .data = &report};

    esi_servers_call(placement->servers, element->info.host, &request, LIMIT_NS, NULL,
                     NULL);
}

static int store_element(const struct esi_placement *placement,
                         const struct esi_catalog_element *element,
                         struct es_error *error,
                         struct esi_placed_element **ret_placed)
{
    const struct es_segment_info *process = &element->process->info;
    const struct esi_placed_process facts = {
        .host = process->host,
        .program = process->program,
        .facts = {.pid = process->pid,
                  .rank = process->rank,
                  .size = process->size,
                  .clock = &element->process->clock}};
    const struct es_element_info *info = &element->info;
    const struct esi_element_config config = {.kind = ES_ELEMENT_TRACE,
                                              .on_full = ES_ON_FULL_DISCARD,
                                              .name = info->name,
                                              .collector = info->collector,
                                              .rank = info->rank,
                                              .thread = info->thread,
                                              .classes = info->classes,
                                              .peer = info->peer,
                                              .communicator = info->communicator,
                                              .tuple_bytes = sizeof(struct es_tuple),
                                              .threshold = info->threshold,
                                              .enabled = true};

    return esi_element_store_place(placement->config.service->elements, &facts, &config,
                                   error, ret_placed);
}

/* The scope's callback: returns true if the element is placed here and has got its
 * place. */
static bool choose_element(void *data, const struct esi_catalog_element *element)
{
    struct esi_placement *placement = data;
    const char *here = placement->config.service->host;
    const struct es_element_info *info = &element->info;
    struct es_error error = {.text = ""};
    int result;

    if (strcmp(planned_host(&placement->plan, info), here) != 0 ||
        strcmp(info->host, here) == 0)
        return false;
    if (ESI_ARRAY_RESERVE(placement->placed, placement->placed_capacity,
                          placement->placed_count + 1) < 0)
        return false;
    result = store_element(placement, element, &error,
                           &placement->placed[placement->placed_count]);
    report_location(placement, element, result == 0);
    if (result == 0)
        placement->placed_count++;
    else if (placement->config.service->server)
        esi_acceptor_log(placement->config.service->server,
                         "an element is not placed here: %s stays on host %s: %s",
                         info->name, info->host, error.text);
    return result == 0;
}

static int open_scope(struct esi_placement *placement)
{
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.servers = placement->servers;
    config.lossless = true;
    config.tree.shape = ES_SHAPE_HOSTS;
    config.tree.limit_ns = LIMIT_NS;
    placement->placed_count = 0;
    return esi_scope_open_chosen(placement->run, &config, choose_element, placement,
                                 &placement->scope);
}

/* Adds new elements to the scope; opens the scope if necessary. */
static void join_elements(struct esi_placement *placement)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t pause_ns = placement->scope ? JOIN_NS : RETRY_NS;

    if (placement->joined_ns != 0 && now - placement->joined_ns < pause_ns)
        return;
    if (placement->scope) {
        es_scope_refresh(placement->scope);
        placement->placed_count = es_scope_origin_count(placement->scope);
    } else {
        if (!placement->config.servers)
            es_servers_refresh(placement->servers);
        open_scope(placement);
    }
    placement->joined_ns = esi_now_ns(CLOCK_MONOTONIC);
}

/* --- Storing ------------------------------------------------------------------- */

/* The world ranks of a group; NULL if some are not known here.  The caller frees
 * them. */
static int32_t *find_group(const struct es_scope *scope,
                           uint32_t origin,
                           uint16_t communicator,
                           bool is_remote,
                           int size)
{
    int32_t *ranks =
        size > 0 && size <= GROUP_MAX ? calloc((size_t)size, sizeof *ranks) : NULL;

    for (int i = 0; ranks && i < size; i++) {
        ranks[i] = es_scope_world_rank(scope, origin, communicator, is_remote, i);
        if (ranks[i] < 0) {
            free(ranks);
            ranks = NULL;
        }
    }
    return ranks;
}

static int store_communicator(const struct esi_placement *placement,
                              uint32_t origin,
                              uint16_t index)
{
    struct es_communicator_info info;
    int32_t *group, *remote;
    int result = es_scope_communicator(placement->scope, origin, index, &info);

    if (result < 0)
        return result;
    group = find_group(placement->scope, origin, index, false, info.size);
    remote = find_group(placement->scope, origin, index, true, info.remote_size);
    result = esi_element_store_add_communicator(
        placement->config.service->elements, placement->placed[origin],
        &(struct esi_communicator_config){
            .key = {info.key[0], info.key[1]},
            .rank = info.rank,
            .parent = info.parent,
            .flags = info.remote_size > 0 ? ES_COMMUNICATOR_INTER : 0,
            .name = info.name,
            .group = group,
            .group_size = info.size,
            .remote = remote,
            .remote_size = info.remote_size,
            .keep_list = true});
    free(group);
    free(remote);
    return result;
}

/* Stores communicators before the tuples that name them by index; omits those that
 * their host does not know. */
static int store_communicators(const struct esi_placement *placement,
                               uint32_t origin,
                               uint16_t last)
{
    const struct esi_placed_element *placed = placement->placed[origin];
    int result = 0;

    if (last == ES_COMMUNICATOR_NONE)
        return 0;
    for (uint32_t i = esi_element_store_communicator_count(placed);
         i <= last && result == 0; i++)
        result = store_communicator(placement, origin, (uint16_t)i);
    return result == -ENOENT ? 0 : result;
}

static int store_batch(const struct esi_placement *placement,
                       const struct es_batch *batch)
{
    int result = 0;

    for (size_t i = 0; i < batch->count && result == 0; i++) {
        const struct es_mark *mark = &batch->marks[i];

        result =
            store_communicators(placement, mark->origin, batch->tuples[i].communicator);
        if (result == 0)
            result = esi_element_store_write(placement->config.service->elements,
                                             placement->placed[mark->origin],
                                             mark->position, &batch->tuples[i]);
    }
    return result;
}

/* Returns true if a pull got nothing from the host because its server did not
 * answer. */
static bool is_silent(const struct es_batch *batch, const char *host)
{
    static const char prefix[] = "host ";
    size_t length = sizeof prefix - 1;

    for (size_t i = 0; i < batch->notice_count; i++)
        if (strncmp(batch->notices[i].part, prefix, length) == 0 &&
            strcmp(batch->notices[i].part + length, host) == 0)
            return true;
    return false;
}

/* Stores the states of the last refresh: everything that these processes had written by
 * then is stored. */
static void store_states(const struct esi_placement *placement,
                         const struct es_batch *batch)
{
    struct es_segment_info process;

    for (uint32_t i = 0; i < placement->placed_count; i++)
        if (es_scope_process(placement->scope, i, &process) == 0 &&
            !is_silent(batch, process.host))
            esi_element_store_note(placement->placed[i], &process);
}

/* Does one pull.  Returns true if more tuples are available at once. */
static bool store_some(struct esi_placement *placement)
{
    const struct es_batch *batch;

    if (!placement->scope ||
        es_scope_pull(placement->scope, placement->repeats ? ES_PULL_REPEAT : 0,
                      &batch) < 0)
        return false;
    placement->repeats = store_batch(placement, batch) < 0;
    placement->empty_pulls = batch->count > 0 ? 0 : placement->empty_pulls + 1;
    if (placement->repeats)
        return false;
    if (!batch->more)
        store_states(placement, batch);
    return batch->more;
}

/* Stores the remaining tuples and closes the scope, whose last pull acknowledges
 * them. */
static void end_storing(struct esi_placement *placement)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t stored;
    struct es_scope_cost cost = {.tuples = 0};

    placement->joined_ns = 0;
    if (placement->scope)
        join_elements(placement);
    do {
        stored = cost.tuples;
        store_some(placement);
        if (placement->scope)
            es_scope_cost(placement->scope, &cost);
    } while (cost.tuples != stored && esi_now_ns(CLOCK_MONOTONIC) - begin < LAST_NS);
    es_scope_close(placement->scope);
    placement->scope = NULL;
}

/* --- The thread ---------------------------------------------------------------- */

/* Sleeps for this time, unless the thread must stop. */
static bool must_stop(struct esi_placement *placement, uint64_t sleep_ns)
{
    uint64_t end_ns = esi_now_ns(CLOCK_MONOTONIC) + sleep_ns;
    bool stops;

    pthread_mutex_lock(&placement->lock);
    if (!placement->stops && sleep_ns > 0)
        esi_condition_wait(&placement->wake, &placement->lock, end_ns);
    stops = placement->stops;
    pthread_mutex_unlock(&placement->lock);
    return stops;
}

/* Returns true if there is a plan that places elements; false means that there will be
 * none. */
static bool placement_prepare(struct esi_placement *placement)
{
    const struct esi_placement_config *config = &placement->config;
    const char *run = config->service->run;

    while (!config->plan && load_plan(placement) != 0)
        if (must_stop(placement, RETRY_NS))
            return false;
    if (!has_placed_elements(&placement->plan))
        return false;
    /* The home server may not be known yet. */
    while (!placement->servers &&
           es_servers_open(run, config->home, NULL, &placement->servers) != 0)
        if (must_stop(placement, RETRY_NS))
            return false;
    return esi_run_open_shared(config->service->segments, true, NULL,
                               &placement->run) >= 0;
}

static bool has_elements_here(const struct esi_placement *placement)
{
    for (size_t i = 0; i < placement->plan.count; i++)
        if (strcmp(placement->plan.collectors[i].host,
                   placement->config.service->host) == 0)
            return true;
    return false;
}

/* The time to sleep before the next turn. */
static uint64_t pause_ns(const struct esi_placement *placement, bool stores, bool more)
{
    if (!stores)
        return MARK_NS;
    if (more)
        return 0;
    return placement->empty_pulls < IDLE_PULLS ? TURN_NS : IDLE_NS;
}

/* Runs until the thread must stop. */
static void place_elements(struct esi_placement *placement)
{
    bool stores = has_elements_here(placement), more = false;

    do {
        mark_elements(placement);
        if (stores && atomic_load(&placement->finishes)) {
            end_storing(placement);
            stores = false;
        }
        if (stores) {
            join_elements(placement);
            more = store_some(placement);
        }
    } while (!must_stop(placement, pause_ns(placement, stores, more)));
    end_storing(placement);
    foreach_own(placement, unmark_element);
}

static void *run_placement(void *data)
{
    struct esi_placement *placement = data;

    if (placement_prepare(placement))
        place_elements(placement);
    return NULL;
}

int esi_placement_start(const struct esi_placement_config *config,
                        struct esi_placement **ret_placement)
{
    struct esi_placement *placement = calloc(1, sizeof *placement);
    int result;

    if (!placement)
        return -ENOMEM;
    placement->config = *config;
    placement->servers = config->servers;
    if (config->plan)
        placement->plan = *config->plan;
    pthread_mutex_init(&placement->lock, NULL);
    esi_condition_init(&placement->wake);
    result = pthread_create(&placement->thread, NULL, run_placement, placement);
    if (result != 0) {
        free(placement);
        return -result;
    }
    *ret_placement = placement;
    return 0;
}

void esi_placement_finish(struct esi_placement *placement)
{
    if (placement)
        atomic_store(&placement->finishes, true);
}

void esi_placement_stop(struct esi_placement *placement)
{
    if (!placement)
        return;
    pthread_mutex_lock(&placement->lock);
    placement->stops = true;
    pthread_cond_signal(&placement->wake);
    pthread_mutex_unlock(&placement->lock);
    pthread_join(placement->thread, NULL);
    free(placement->placed);
    es_run_close(placement->run);
    if (!placement->config.servers)
        es_servers_close(placement->servers);
    if (!placement->config.plan)
        esi_plan_fini(&placement->plan);
    pthread_mutex_destroy(&placement->lock);
    pthread_cond_destroy(&placement->wake);
    free(placement);
}
