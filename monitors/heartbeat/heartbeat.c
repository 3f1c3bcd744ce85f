/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat.c - pulls the threads' latest events and keeps their history. */
#include "config.h"

#include "monitors/heartbeat/heartbeat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "monitors/follow/activity.h"
#include "monitors/follow/follower.h"

/* World ranks of a communicator, read once. */
struct member_list {
    uint64_t key[2];
    int side;   /* a rank whose partners are meant, in an intercommunicator; else -1 */
    int *ranks; /* owned */
    size_t count;
};

struct esi_heartbeat {
    struct es_run *run; /* borrowed */
    struct esi_heartbeat_config config;
    struct esi_follower *follower;
    struct es_scope *scope;           /* the follower's */
    struct esi_follower *collectives; /* opened when the first wait lasts */

    struct esi_thread_state *threads; /* owned; by rank, pid, thread */
    struct esi_thread_state *before;  /* as they were at the last pull */
    size_t thread_count;
    size_t thread_capacity;
    uint32_t *first_origin; /* per thread; owned */
    size_t first_capacity;
    size_t *thread_of; /* per origin of the scope; owned */
    size_t origin_count;
    size_t origin_capacity;

    struct member_list *lists; /* owned */
    size_t list_count;
    size_t list_capacity;
    struct esi_collectives_seen seen;
    struct esi_wait *waits; /* owned; one per thread */
    struct esi_wait_node *nodes;
    struct esi_wait_result result;
    uint64_t pulls;
};

static void free_analysis(struct esi_heartbeat *heartbeat)
{
    esi_waits_free(heartbeat->waits, heartbeat->thread_count);
    esi_wait_result_fini(&heartbeat->result);
    free(heartbeat->nodes);
    heartbeat->waits = NULL;
    heartbeat->nodes = NULL;
}

void esi_heartbeat_destroy(struct esi_heartbeat *heartbeat)
{
    int saved_errno = errno;

    if (!heartbeat)
        return;
    free_analysis(heartbeat);
    for (size_t i = 0; i < heartbeat->list_count; i++)
        free(heartbeat->lists[i].ranks);
    free(heartbeat->lists);
    esi_collectives_seen_fini(&heartbeat->seen);
    free(heartbeat->threads);
    free(heartbeat->before);
    free(heartbeat->first_origin);
    free(heartbeat->thread_of);
    esi_follower_close(heartbeat->collectives);
    esi_follower_close(heartbeat->follower);
    free(heartbeat);
    errno = saved_errno;
}

/* --- Threads ----------------------------------------------------------------- */

static int compare_threads(const struct esi_thread_state *a,
                           const struct esi_thread_state *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return strcmp(a->host, b->host);
}

static struct esi_thread_state thread_of_origin(const struct es_origin *origin)
{
    return (struct esi_thread_state){.host = origin->host,
                                     .pid = origin->pid,
                                     .rank = origin->rank,
                                     .thread = origin->thread};
}

/* First place whose thread is not before `thread`. */
static size_t find_thread(const struct esi_heartbeat *heartbeat,
                          const struct esi_thread_state *thread)
{
    size_t low = 0;
    size_t high = heartbeat->thread_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_threads(&heartbeat->threads[middle], thread) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_thread(struct esi_heartbeat *heartbeat,
                          size_t place,
                          const struct esi_thread_state *thread,
                          uint32_t origin)
{
    size_t behind = heartbeat->thread_count - place;

    memmove(heartbeat->threads + place + 1, heartbeat->threads + place,
            behind * sizeof *heartbeat->threads);
    memmove(heartbeat->first_origin + place + 1, heartbeat->first_origin + place,
            behind * sizeof *heartbeat->first_origin);
    heartbeat->threads[place] = *thread;
    heartbeat->first_origin[place] = origin;
    heartbeat->thread_count++;
}

/* Adds the thread of an origin that has joined, if it is new. */
static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_heartbeat *heartbeat = data;
    struct esi_thread_state thread = thread_of_origin(origin);
    size_t place = find_thread(heartbeat, &thread);

    if (place < heartbeat->thread_count &&
        compare_threads(&heartbeat->threads[place], &thread) == 0)
        return 0;
    if (ESI_ARRAY_RESERVE_PAIR(heartbeat->threads, heartbeat->before,
                               heartbeat->thread_capacity,
                               heartbeat->thread_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(heartbeat->first_origin, heartbeat->first_capacity,
                          heartbeat->thread_count + 1) < 0)
        return -ENOMEM;
    free_analysis(heartbeat); /* waits are per thread and no more fit */
    insert_thread(heartbeat, place, &thread, number);
    return 0;
}

/* Notes whose each origin is, if some have joined. */
static int index_origins(struct esi_heartbeat *heartbeat)
{
    size_t count = es_scope_origin_count(heartbeat->scope);

    if (count == heartbeat->origin_count)
        return 0;
    if (ESI_ARRAY_RESERVE(heartbeat->thread_of, heartbeat->origin_capacity, count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct esi_thread_state thread =
            thread_of_origin(es_scope_origin(heartbeat->scope, i));

        heartbeat->thread_of[i] = find_thread(heartbeat, &thread);
    }
    heartbeat->origin_count = count;
    return 0;
}

int esi_heartbeat_create(struct es_run *run,
                         const struct esi_heartbeat_config *config,
                         struct es_error *error,
                         struct esi_heartbeat **ret_heartbeat)
{
    struct esi_heartbeat *heartbeat = calloc(1, sizeof *heartbeat);
    struct esi_follower_config follower = {
        .run = run, .on_origin = take_origin, .data = heartbeat};
    struct es_scope_config *scope = &follower.scope;
    int result;

    if (!heartbeat)
        return -ENOMEM;
    heartbeat->run = run;
    heartbeat->config = *config;
    es_scope_config_init(scope);
    scope->take = ES_TAKE_LATEST_OF_THREAD;
    scope->open = true;
    scope->counters = true;
    /* As many as there are threads: a limit could only hide some. */
    scope->max = SIZE_MAX / 2;
    scope->servers = config->servers;
    if (config->tree)
        scope->tree = *config->tree;
    scope->name = "heartbeat";
    result = esi_follower_open(&follower, error, &heartbeat->follower);
    if (result < 0) {
        free(heartbeat);
        return result;
    }
    heartbeat->scope = esi_follower_scope(heartbeat->follower);
    *ret_heartbeat = heartbeat;
    return 0;
}

/* --- One pull ---------------------------------------------------------------- */

/* Keeps the states of the pull before and clears what this one will fill. */
static void turn_over(struct esi_heartbeat *heartbeat)
{
    if (heartbeat->thread_count == 0)
        return;
    memcpy(heartbeat->before, heartbeat->threads,
           heartbeat->thread_count * sizeof *heartbeat->threads);
    for (size_t i = 0; i < heartbeat->thread_count; i++) {
        struct esi_thread_state *thread = &heartbeat->threads[i];

        thread->events = 0;
        thread->polls = 0;
        thread->elements = 0;
        thread->elements_off = 0;
        thread->last.present = false;
        thread->open.present = false;
        thread->members = NULL;
        thread->member_count = 0;
    }
}

static void read_process(struct esi_heartbeat *heartbeat, size_t index)
{
    struct esi_thread_state *thread = &heartbeat->threads[index];
    struct es_segment_info info;

    if (es_scope_process(heartbeat->scope, heartbeat->first_origin[index], &info) < 0)
        return;
    thread->process = info.state;
    thread->signal = info.signal;
    thread->exit_code = info.exit_code;
}

static void read_batch(struct esi_heartbeat *heartbeat, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->report_count; i++) {
        const struct es_report *report = &batch->reports[i];
        struct esi_thread_state *thread =
            &heartbeat->threads[heartbeat->thread_of[report->origin]];

        thread->events += report->head;
        thread->polls += report->polls;
        thread->elements++;
        thread->elements_off += (report->flags & ES_REPORT_OFF) != 0;
    }
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t origin = batch->marks[i].origin;
        struct esi_thread_state *thread =
            &heartbeat->threads[heartbeat->thread_of[origin]];

        esi_activity_read(heartbeat->scope, origin, &batch->tuples[i],
                          es_batch_is_open(batch, i) ? &thread->open : &thread->last);
    }
}

static void classify_threads(struct esi_heartbeat *heartbeat, uint64_t now_ns)
{
    bool is_first = heartbeat->pulls == 1;

    /* Who has joined since the last pull had done nothing before. */
    for (size_t i = 0; i < heartbeat->thread_count; i++)
        esi_thread_judge(&heartbeat->threads[i],
                         is_first ? NULL : &heartbeat->before[i],
                         heartbeat->config.stalled_after_ns, now_ns);
}

/* --- Who waits for whom ------------------------------------------------------ */

static int note_collective(struct esi_heartbeat *heartbeat,
                           uint32_t origin,
                           const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    const struct es_scope *scope = esi_follower_scope(heartbeat->collectives);
    struct esi_collective_seen instance = {.rank = es_scope_origin(scope, origin)->rank,
                                           .sequence = tuple->sequence};
    const struct es_communicator_info *info;

    if (!operation || operation->order == ES_ORDER_NONE ||
        tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    info =
        esi_follower_communicator(heartbeat->collectives, origin, tuple->communicator);
    if (!info)
        return 0;
    memcpy(instance.key, info->key, sizeof instance.key);
    return esi_collectives_seen_note(&heartbeat->seen, &instance);
}

static int open_collectives(struct esi_heartbeat *heartbeat)
{
    struct esi_follower_config follower = {.run = heartbeat->run};
    struct es_scope_config *scope = &follower.scope;

    es_scope_config_init(scope);
    scope->view.selection.classes =
        1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR;
    scope->servers = heartbeat->config.servers;
    if (heartbeat->config.tree)
        scope->tree = *heartbeat->config.tree;
    scope->name = "heartbeat-collectives";
    return esi_follower_open(&follower, NULL, &heartbeat->collectives);
}

/* Reads which instances of the collectives the ranks have completed since the last
 * time. */
static int read_collectives(struct esi_heartbeat *heartbeat)
{
    const struct es_batch *batch;
    int more;
    int result = heartbeat->collectives
                     ? esi_follower_refresh(heartbeat->collectives, true)
                     : open_collectives(heartbeat);

    if (result < 0)
        return result;
    do {
        more = esi_follower_pull(heartbeat->collectives, 0, &batch);
        result = more < 0 ? more : 0;
        for (size_t i = 0; result >= 0 && i < batch->count; i++)
            result =
                note_collective(heartbeat, batch->marks[i].origin, &batch->tuples[i]);
    } while (result >= 0 && more);
    return result < 0 ? result : 0;
}

/* Reads the world ranks of a group.  -ENOENT where one is not known here: half a list
 * would prove nothing. */
static int read_members(const struct esi_heartbeat *heartbeat,
                        const struct esi_activity *open,
                        bool remote,
                        struct member_list *list)
{
    int *ranks = calloc(list->count + 1, sizeof *ranks);

    if (!ranks)
        return -ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        ranks[i] = es_scope_world_rank(heartbeat->scope, open->origin,
                                       open->communicator_index, remote, (int)i);
        if (ranks[i] < 0) {
            free(ranks);
            return -ENOENT;
        }
    }
    list->ranks = ranks;
    return 0;
}

static const struct member_list *find_list(const struct esi_heartbeat *heartbeat,
                                           const uint64_t key[2],
                                           int side)
{
    for (size_t i = 0; i < heartbeat->list_count; i++) {
        const struct member_list *list = &heartbeat->lists[i];

        if (list->side == side && list->key[0] == key[0] && list->key[1] == key[1])
            return list;
    }
    return NULL;
}

/* The ranks that a thread's open operation can hear from; NULL when they are not known.
 */
static const struct member_list *find_members(struct esi_heartbeat *heartbeat,
                                              const struct esi_thread_state *thread)
{
    const struct esi_activity *open = &thread->open;
    const struct member_list *known;
    const struct es_communicator_info *info = esi_follower_communicator(
        heartbeat->follower, open->origin, open->communicator_index);
    struct member_list list;
    bool remote;

    if (!info)
        return NULL;
    remote = info->remote_size > 0;
    list = (struct member_list){.key = {open->key[0], open->key[1]},
                                .side = remote ? thread->rank : -1,
                                .count =
                                    (size_t)(remote ? info->remote_size : info->size)};
    known = find_list(heartbeat, list.key, list.side);
    if (known || read_members(heartbeat, open, remote, &list) < 0)
        return known;
    if (ESI_ARRAY_RESERVE(heartbeat->lists, heartbeat->list_capacity,
                          heartbeat->list_count + 1) < 0) {
        free(list.ranks);
        return NULL;
    }
    heartbeat->lists[heartbeat->list_count] = list;
    return &heartbeat->lists[heartbeat->list_count++];
}

static void give_members(struct esi_heartbeat *heartbeat)
{
    for (size_t i = 0; i < heartbeat->thread_count; i++) {
        struct esi_thread_state *thread = &heartbeat->threads[i];
        const struct member_list *list;

        if (!esi_thread_is_blocked(thread) || !thread->open.has_communicator)
            continue;
        list = find_members(heartbeat, thread);
        thread->members = list ? list->ranks : NULL;
        thread->member_count = list ? list->count : 0;
    }
}

static int analyse_waits(struct esi_heartbeat *heartbeat)
{
    int result;

    free_analysis(heartbeat);
    result = esi_waits_derive(heartbeat->threads, heartbeat->thread_count,
                              &heartbeat->seen, &heartbeat->waits);
    if (result < 0)
        return result;
    heartbeat->nodes = calloc(heartbeat->thread_count + 1, sizeof *heartbeat->nodes);
    if (!heartbeat->nodes)
        return -ENOMEM;
    for (size_t i = 0; i < heartbeat->thread_count; i++) {
        const struct esi_wait *wait = &heartbeat->waits[i];

        heartbeat->nodes[i] =
            (struct esi_wait_node){.rank = heartbeat->threads[i].rank,
                                   .state = wait->state,
                                   .certain = wait->certain,
                                   .targets = wait->targets,
                                   .target_count = wait->target_count};
    }
    return esi_wait_analyse(heartbeat->nodes, heartbeat->thread_count,
                            &heartbeat->result);
}

static size_t count_verdicts(const struct esi_heartbeat *heartbeat,
                             enum esi_verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < heartbeat->thread_count; i++)
        count += heartbeat->threads[i].verdict == verdict;
    return count;
}

static void fill_report(const struct esi_heartbeat *heartbeat,
                        const struct es_batch *batch,
                        uint64_t now_ns,
                        struct esi_heartbeat_report *ret_report)
{
    *ret_report = (struct esi_heartbeat_report){
        .run = es_run_name(heartbeat->run),
        .pull = heartbeat->pulls,
        .realtime_ns = now_ns,
        .threads = heartbeat->threads,
        .waits = heartbeat->waits,
        .nodes = heartbeat->nodes,
        .thread_count = heartbeat->thread_count,
        .result = &heartbeat->result,
        .stalled = count_verdicts(heartbeat, ES_VERDICT_STALLED),
        .dead = count_verdicts(heartbeat, ES_VERDICT_DEAD),
        .finished = count_verdicts(heartbeat, ES_VERDICT_FINISHED),
        .unknown = count_verdicts(heartbeat, ES_VERDICT_UNKNOWN),
        .paced = es_scope_is_paced(heartbeat->scope),
        .vanished = es_scope_has_vanished(heartbeat->scope),
        .notices = batch->notices,
        .notice_count = batch->notice_count,
    };
}

static bool has_lasting_waits(const struct esi_heartbeat *heartbeat)
{
    for (size_t i = 0; i < heartbeat->thread_count; i++)
        if (heartbeat->threads[i].lasts)
            return true;
    return false;
}

int esi_heartbeat_beat(struct esi_heartbeat *heartbeat,
                       struct esi_heartbeat_report *ret_report)
{
    const struct es_batch *batch;
    uint64_t now_ns;
    int result = esi_follower_refresh(heartbeat->follower, true);

    if (result >= 0)
        result = esi_follower_pull(heartbeat->follower, 0, &batch);
    if (result >= 0)
        result = index_origins(heartbeat);
    if (result < 0)
        return result;
    now_ns = es_scope_run_now_ns(heartbeat->scope);
    heartbeat->pulls++;
    turn_over(heartbeat);
    for (size_t i = 0; i < heartbeat->thread_count; i++)
        read_process(heartbeat, i);
    read_batch(heartbeat, batch);
    classify_threads(heartbeat, now_ns);
    give_members(heartbeat);
    if (has_lasting_waits(heartbeat))
        result = read_collectives(heartbeat);
    if (result >= 0)
        result = analyse_waits(heartbeat);
    if (result < 0)
        return result;
    fill_report(heartbeat, batch, now_ns, ret_report);
    return 0;
}
