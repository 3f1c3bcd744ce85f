/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* follower.c - follows a run through a scope. */
#include "config.h"

#include "monitors/follow/follower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "scopes/origin_process.h"
#include "tuplespace/new_elements.h"

/* After a new element, others may follow within this time. */
#define SOON_NS UINT64_C(2000000000)
/* A host that did not answer for this long may be gone. */
#define SILENT_NS UINT64_C(10000000000)

/* The communicators of an origin's process. */
struct known_communicators {
    struct es_communicator_info *items; /* by index; size 0 = not known; owned */
    size_t capacity;
};

struct esi_follower {
    struct esi_follower_config config; /* the texts of its scope are not kept */
    struct es_scope *scope;
    const struct es_batch *last;               /* NULL = none yet */
    size_t joined;                             /* number of reported origins */
    uint64_t refreshed_ns;                     /* by CLOCK_MONOTONIC, like
                                                  `appeared_ns` */
    uint64_t appeared_ns;                      /* when elements were last found */
    struct known_communicators *communicators; /* by origin; owned */
    size_t communicator_count;
    size_t communicator_capacity;
};

static uint64_t clock_now_ns(void)
{
    return esi_now_ns(CLOCK_MONOTONIC);
}

/* --- Elements --------------------------------------------------------------------- */

/* Reports elements of the scope that were not reported yet. */
static int report_origins(struct esi_follower *follower)
{
    const struct esi_follower_config *config = &follower->config;
    size_t count = es_scope_origin_count(follower->scope);
    int result = 0;

    if (follower->joined == count)
        return 0;
    follower->appeared_ns = clock_now_ns();
    while (follower->joined < count && result >= 0) {
        uint32_t number = (uint32_t)follower->joined;

        if (config->on_origin)
            result = config->on_origin(config->data, number,
                                       es_scope_origin(follower->scope, number));
        follower->joined += result >= 0;
    }
    return result < 0 ? result : 0;
}

/* Searching for new segments costs more than a pull. */
static bool is_due(const struct esi_follower *follower, uint64_t now_ns)
{
    const struct esi_follower_config *config = &follower->config;
    bool soon = config->soon_ns > 0 &&
                (follower->joined == 0 || now_ns - follower->appeared_ns < SOON_NS);

    return now_ns - follower->refreshed_ns >=
               (soon ? config->soon_ns : config->refresh_ns) ||
           esi_run_has_new_elements(config->run);
}

int esi_follower_refresh(struct esi_follower *follower, bool now)
{
    uint64_t now_ns = clock_now_ns();
    int result;

    if (!now && !is_due(follower, now_ns))
        return 0;
    follower->refreshed_ns = now_ns;
    result = es_scope_refresh(follower->scope);
    if (result >= 0)
        result = report_origins(follower);
    return result < 0 ? result : 1;
}

/* --- Opening ---------------------------------------------------------------------- */

int esi_follower_open(const struct esi_follower_config *config,
                      struct es_error *error,
                      struct esi_follower **ret_follower)
{
    struct esi_follower *follower = calloc(1, sizeof *follower);
    int result;

    if (!follower)
        return -ENOMEM;
    follower->config = *config;
    result = es_scope_open(config->run, &config->scope, error, &follower->scope);
    if (result < 0) {
        free(follower);
        return result;
    }
    *ret_follower = follower;
    return 0;
}

void esi_follower_close(struct esi_follower *follower)
{
    int saved_errno = errno;

    if (!follower)
        return;
    es_scope_close(follower->scope);
    for (size_t i = 0; i < follower->communicator_count; i++)
        free(follower->communicators[i].items);
    free(follower->communicators);
    free(follower);
    errno = saved_errno;
}

struct es_scope *esi_follower_scope(const struct esi_follower *follower)
{
    return follower->scope;
}

/* --- Tuples ----------------------------------------------------------------------- */

int esi_follower_pull(struct esi_follower *follower,
                      unsigned flags,
                      const struct es_batch **ret_batch)
{
    const struct es_batch *batch;
    int result;

    follower->last = NULL;
    result = es_scope_pull(follower->scope, flags, &batch);
    if (result >= 0)
        result = report_origins(follower);
    if (result < 0)
        return result;
    follower->last = *ret_batch = batch;
    return batch->more;
}

/* The number of the same element in another scope, which usually is the same;
 * UINT32_MAX = none. */
static uint32_t find_origin(const struct esi_follower *follower,
                            const struct es_origin *wanted,
                            uint32_t first)
{
    size_t count = follower->joined;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)((first + i) % count);
        const struct es_origin *origin = es_scope_origin(follower->scope, number);

        if (esi_origin_is_same_process(origin, wanted) &&
            strcmp(origin->name, wanted->name) == 0)
            return number;
    }
    return UINT32_MAX;
}

/* The follower's number of an origin of the scope; UINT32_MAX = none. */
static uint32_t find_number(const struct esi_follower *follower,
                            const struct es_scope *scope,
                            uint32_t origin)
{
    return find_origin(follower, es_scope_origin(scope, origin), origin);
}

static int report_open(const struct esi_follower *follower,
                       const struct es_scope *scope,
                       const struct es_batch *batch,
                       esi_follower_open_fn take,
                       void *data)
{
    int result = 0;

    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        uint32_t number;

        if (!es_batch_is_open(batch, i))
            continue;
        number = find_number(follower, scope, batch->marks[i].origin);
        if (number != UINT32_MAX)
            result = take(data, number, &batch->tuples[i], batch->marks[i].site);
    }
    return result < 0 ? result : 0;
}

static void report_off(const struct esi_follower *follower,
                       const struct es_scope *scope,
                       const struct es_batch *batch,
                       esi_follower_off_fn take,
                       void *data)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        uint32_t number;

        if ((batch->reports[i].flags & ES_REPORT_OFF) == 0)
            continue;
        number = find_number(follower, scope, batch->reports[i].origin);
        if (number != UINT32_MAX)
            take(data, number);
    }
}

int esi_follower_read_open(struct esi_follower *follower,
                           esi_follower_open_fn take,
                           esi_follower_off_fn take_off,
                           void *data)
{
    struct es_scope_config config = *es_scope_config(follower->scope);
    const struct es_batch *batch;
    struct es_scope *scope;
    int result = esi_follower_refresh(follower, true);

    if (result < 0)
        return result;
    config.take = ES_TAKE_LATEST;
    config.open = true;
    config.sorting = ES_SORTING_NONE;
    config.lossless = false;
    config.counters = take_off != NULL;
    config.max = SIZE_MAX / 2;
    config.name = NULL;
    config.tree.reduce = NULL;
    result = es_scope_open(follower->config.run, &config, NULL, &scope);
    if (result < 0)
        return result;
    result = es_scope_pull(scope, 0, &batch);
    if (result >= 0)
        result = report_open(follower, scope, batch, take, data);
    if (result >= 0 && take_off)
        report_off(follower, scope, batch, take_off, data);
    es_scope_close(scope);
    return result;
}

/* --- Communicators ---------------------------------------------------------------- */

static int reserve_communicator(struct esi_follower *follower,
                                uint32_t origin,
                                uint16_t index)
{
    struct known_communicators *known;
    size_t before;

    if (ESI_ARRAY_RESERVE(follower->communicators, follower->communicator_capacity,
                          follower->joined) < 0)
        return -ENOMEM;
    while (follower->communicator_count < follower->joined)
        follower->communicators[follower->communicator_count++] =
            (struct known_communicators){.items = NULL};
    known = &follower->communicators[origin];
    before = known->capacity;
    if (ESI_ARRAY_RESERVE(known->items, known->capacity, (size_t)index + 1) < 0)
        return -ENOMEM;
    memset(known->items + before, 0, (known->capacity - before) * sizeof *known->items);
    return 0;
}

const struct es_communicator_info *esi_follower_communicator(
    struct esi_follower *follower,
    uint32_t origin,
    uint16_t communicator)
{
    struct es_communicator_info *info;

    if (communicator == ES_COMMUNICATOR_NONE ||
        ((origin >= follower->communicator_count ||
          communicator >= follower->communicators[origin].capacity) &&
         reserve_communicator(follower, origin, communicator) < 0))
        return NULL;
    info = &follower->communicators[origin].items[communicator];
    if (info->size == 0 &&
        es_scope_communicator(follower->scope, origin, communicator, info) < 0)
        info->size = 0;
    return info->size > 0 ? info : NULL;
}

/* --- Status ----------------------------------------------------------------------- */

size_t esi_follower_notices(const struct esi_follower *follower,
                            const struct es_notice **ret_notices)
{
    if (!follower->last)
        return 0;
    *ret_notices = follower->last->notices;
    return follower->last->notice_count;
}

void esi_follower_losses(const struct esi_follower *follower,
                         uint64_t *ret_lost,
                         uint64_t *ret_missed)
{
    struct es_scope_cost cost;

    es_scope_cost(follower->scope, &cost);
    *ret_lost = cost.lost;
    *ret_missed = 0;
    for (uint32_t i = 0; i < es_scope_origin_count(follower->scope); i++)
        *ret_missed += es_scope_origin(follower->scope, i)->missed;
}

/* Monitors have no rank and do not keep a run alive: this process may be one. */
static bool is_writing(const struct es_segment_info *info)
{
    return info->alive && info->rank >= 0;
}

/* Whether a process on this host is alive. */
static bool lives_here(const struct esi_follower *follower)
{
    const struct es_run *run = follower->config.run;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        struct es_segment_info info;

        es_segment_view_info(es_run_segment(run, i), &info);
        if (is_writing(&info))
            return true;
    }
    return false;
}

/* Whether a process on another host is alive, as far as is known. */
static bool lives_elsewhere(const struct es_scope *scope)
{
    for (uint32_t i = 0; i < es_scope_origin_count(scope); i++) {
        struct es_segment_info info;

        if (!es_scope_origin(scope, i)->element &&
            es_scope_process(scope, i, &info) == 0 && is_writing(&info))
            return true;
    }
    return false;
}

/* Whether the home server is alive and reports processes, or that some may still start.
 * Called only if no living process is known. */
static bool may_come(const struct esi_follower *follower)
{
    struct es_servers *servers = follower->config.scope.servers;
    bool waits = es_run_segment_count(follower->config.run) == 0 &&
                 es_scope_origin_count(follower->scope) == 0;
    struct es_server_info info;

    if (!servers || es_servers_refresh(servers) < 0)
        return false;
    for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++)
        if (info.state == ES_SERVER_UP && (info.ranks > 0 || waits))
            return true;
    return false;
}

bool esi_follower_is_over(const struct esi_follower *follower)
{
    return !lives_here(follower) && !lives_elsewhere(follower->scope) &&
           !may_come(follower);
}

static bool is_silent(const struct es_batch *batch, const char *host)
{
    static const char label[] = "host ";

    for (size_t i = 0; i < batch->notice_count; i++) {
        const struct es_notice *notice = &batch->notices[i];

        if (notice->silent_ns >= SILENT_NS &&
            strncmp(notice->part, label, sizeof label - 1) == 0 &&
            strcmp(notice->part + sizeof label - 1, host) == 0)
            return true;
    }
    return false;
}

bool esi_follower_has_lost_contact(const struct esi_follower *follower)
{
    bool lost = false;

    if (!follower->last || follower->last->notice_count == 0)
        return false;
    for (uint32_t i = 0; i < follower->joined; i++) {
        struct es_segment_info info;

        if (es_scope_process(follower->scope, i, &info) < 0 || !info.alive)
            continue;
        if (!is_silent(follower->last, es_scope_origin(follower->scope, i)->host))
            return false;
        lost = true;
    }
    return lost;
}

static void take_earlier(uint64_t *start_ns, uint64_t paired_ns)
{
    if (*start_ns == 0 || paired_ns < *start_ns)
        *start_ns = paired_ns;
}

uint64_t esi_follower_start_ns(const struct esi_follower *follower)
{
    const struct es_run *run = follower->config.run;
    uint64_t start_ns = 0;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        const struct es_clock *clock = es_segment_view_clock(segment);
        struct es_segment_info info;

        es_segment_view_info(segment, &info);
        take_earlier(&start_ns, es_scope_run_ns(follower->scope, info.host, clock,
                                                clock->base_ticks));
    }
    for (uint32_t i = 0; i < es_scope_origin_count(follower->scope); i++) {
        const struct es_origin *origin = es_scope_origin(follower->scope, i);

        take_earlier(&start_ns,
                     es_origin_run_ns(origin, origin->clock->base_ticks, NULL));
    }
    return start_ns;
}
