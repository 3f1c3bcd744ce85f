/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Moves trace elements to the hosts that the pathmap places them on. */
#include "config.h"

#include "scopes/server/mover.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/server/mover_plan.h"
#include "scopes/server/moving_wire.h"
#include "scopes/remote/element_client.h"
#include "scopes/remote/rpc.h"
#include "scopes/remote/servers.h"
#include "tuplespace/moving.h"

#define TURN_NS UINT64_C(5000000)
#define SCAN_NS UINT64_C(100000000)   /* between two looks for new elements */
#define RETRY_NS UINT64_C(1000000000) /* between two tries to connect */
#define LIMIT_NS UINT64_C(2000000000) /* for one answer */
#define LAST_NS UINT64_C(2000000000)  /* for all that is left at the end */

enum {
    CHUNK = 1024,
    CHUNKS_A_TURN = 64, /* of one element: a fast writer must not keep us from others */
};

/* A host that tuples go to. */
struct target {
    char host[64];
    struct es_link *link; /* owned; NULL = not connected */
    uint64_t id;          /* of the last request */
    uint64_t tried_ns;
    bool told; /* that it cannot be reached */
};

/* An element that is moved. */
struct moving {
    const struct es_element_view *view; /* borrowed from the run */
    size_t target;
    struct es_cursor cursor;
    uint32_t id; /* over there */
    bool taken;  /* the target has a place for it, over this link */
    bool ever_taken;
    bool registered;        /* the writer waits for us */
    bool stays;             /* the target has refused it: read here */
    uint64_t lost;          /* as the target has counted it */
    uint16_t communicators; /* told */
    enum es_segment_state state;
    bool ended;
};

struct es_mover {
    struct es_mover_config config;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;

    struct es_plan plan;        /* owned unless the config has one */
    struct es_servers *servers; /* owned unless the config has some */
    struct es_run *run;
    struct target *targets;
    size_t target_count;
    struct moving *items;
    size_t count;
    uint64_t scanned_ns;
    struct es_tuple tuples[CHUNK];
};

static void tell(const struct es_mover *mover, const char *what, const char *words)
{
    if (mover->config.server)
        es_server_log(mover->config.server, "%s: %s", what, words);
}

/* --- Targets ---------------------------------------------------------------------- */

static int find_target(struct es_mover *mover, const char *host, size_t *ret_target)
{
    struct target *grown;

    for (size_t i = 0; i < mover->target_count; i++)
        if (strcmp(mover->targets[i].host, host) == 0) {
            *ret_target = i;
            return 0;
        }
    grown = reallocarray(mover->targets, mover->target_count + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    mover->targets = grown;
    grown[mover->target_count] = (struct target){.id = 0};
    snprintf(grown[mover->target_count].host, sizeof grown->host, "%s", host);
    *ret_target = mover->target_count++;
    return 0;
}

static void lose_target(struct es_mover *mover, size_t index)
{
    struct target *target = &mover->targets[index];

    es_link_close(target->link);
    target->link = NULL;
    target->tried_ns = es_now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < mover->count; i++)
        if (mover->items[i].target == index)
            mover->items[i].taken = false;
}

/* Whether it is connected, now. */
static bool reach_target(struct es_mover *mover, struct target *target)
{
    struct es_error error = {.text = ""};
    uint64_t now = es_now_ns(CLOCK_MONOTONIC);

    if (target->link)
        return true;
    if (target->tried_ns != 0 && now - target->tried_ns < RETRY_NS)
        return false;
    if (!mover->config.servers)
        es_servers_refresh(mover->servers);
    if (es_servers_connect(mover->servers, target->host, LIMIT_NS, &error,
                           &target->link) == 0) {
        target->told = false;
        return true;
    }
    target->link = NULL;
    target->tried_ns = es_now_ns(CLOCK_MONOTONIC);
    if (!target->told)
        tell(mover, "elements cannot be moved", error.text);
    target->told = true;
    return false;
}

/* --- Finding elements ------------------------------------------------------------- */

static bool is_known(const struct es_mover *mover, const struct es_element_view *view)
{
    for (size_t i = 0; i < mover->count; i++)
        if (mover->items[i].view == view)
            return true;
    return false;
}

static int begin_moving(struct es_mover *mover,
                        const struct es_element_view *view,
                        const char *host)
{
    struct moving *grown = reallocarray(mover->items, mover->count + 1, sizeof *grown);
    struct es_element_info info;
    struct moving *item;
    int result;

    if (!grown)
        return -ENOMEM;
    mover->items = grown;
    item = &grown[mover->count];
    *item = (struct moving){.view = view};
    result = find_target(mover, host, &item->target);
    if (result < 0)
        return result;
    es_element_view_info(view, &info);
    es_element_set_moved(view, true);
    item->registered = info.block && es_element_register_reader(view, 0) == 0;
    mover->count++;
    return 0;
}

static void scan_segment(struct es_mover *mover, const struct es_segment_view *segment)
{
    struct es_segment_info process;

    es_segment_view_info(segment, &process);
    if (process.kept || strcmp(process.host, mover->config.host) != 0)
        return;
    for (size_t i = 0; i < es_segment_view_element_count(segment); i++) {
        const struct es_element_view *view = es_segment_view_element(segment, i);
        const char *host = esi_mover_host(&mover->plan, view, mover->config.host);

        /* What there is no memory for is tried again at the next scan. */
        if (host && !is_known(mover, view))
            begin_moving(mover, view, host);
    }
}

static void scan(struct es_mover *mover)
{
    uint64_t now = es_now_ns(CLOCK_MONOTONIC);

    if (mover->scanned_ns != 0 && now - mover->scanned_ns < SCAN_NS)
        return;
    mover->scanned_ns = now;
    if (es_run_refresh(mover->run) < 0)
        return;
    for (size_t i = 0; i < es_run_segment_count(mover->run); i++)
        scan_segment(mover, es_run_segment(mover->run, i));
}

/* --- Moving one element ----------------------------------------------------------- */

static void write_take(struct es_json_out *out, void *data)
{
    const struct moving *item = data;

    es_moving_write(out, item->view);
}

static int take(struct target *target, struct moving *item, struct es_error *error)
{
    int64_t id, position;
    const struct esi_rpc_request request = {"element.take", write_take, item};
    struct es_message *reply;
    int result =
        esi_rpc_call(target->link, ++target->id, &request, LIMIT_NS, error, &reply);

    if (result < 0)
        return result;
    result = es_member_integer(es_message_root(reply), "id", 0, UINT32_MAX, error, &id);
    if (result == 0)
        result = es_member_integer(es_message_root(reply), "position", 0, INT64_MAX,
                                   error, &position);
    es_message_destroy(reply);
    if (result < 0)
        return result;
    item->id = (uint32_t)id;
    item->cursor = (struct es_cursor){.position = (uint64_t)position};
    item->taken = item->ever_taken = true;
    item->communicators = 0;
    item->state = ES_SEGMENT_RUNNING;
    item->ended = false;
    return 0;
}

struct telling {
    const struct es_mover *mover;
    const struct moving *item;
    struct es_communicator_info info;
    struct es_segment_info process;
};

static void write_communicator(struct es_json_out *out, void *data)
{
    const struct telling *telling = data;

    es_json_out_unsigned(out, "id", telling->item->id);
    es_moving_write_communicator(out, telling->mover->run,
                                 es_element_view_segment(telling->item->view),
                                 telling->item->communicators, &telling->info);
}

/* Tuples name their communicators by index: these must be there before them. */
static int tell_communicators(struct es_mover *mover,
                              struct target *target,
                              struct moving *item)
{
    const struct es_segment_view *segment = es_element_view_segment(item->view);
    struct telling telling = {.mover = mover, .item = item};
    const struct esi_rpc_request request = {"element.communicator", write_communicator,
                                            &telling};
    int result = 0;

    while (result == 0 && es_segment_view_communicator(segment, item->communicators,
                                                       &telling.info) == 0) {
        result =
            esi_rpc_call(target->link, ++target->id, &request, LIMIT_NS, NULL, NULL);
        if (result == 0)
            item->communicators++;
    }
    return result;
}

/* Tuples that follow each other without a gap: where some were lost, the first behind
 * the gap comes alone. */
static size_t read_run(struct es_mover *mover,
                       const struct moving *item,
                       struct es_cursor *cursor)
{
    size_t count = es_element_read(item->view, cursor, mover->tuples, CHUNK);

    if (cursor->lost == item->cursor.lost || count <= 1)
        return count;
    *cursor = item->cursor;
    return es_element_read(item->view, cursor, mover->tuples, 1);
}

/* 1 when there may be more, 0 when all was moved. */
static int move_some(struct es_mover *mover, struct target *target, struct moving *item)
{
    struct es_cursor cursor = item->cursor;
    size_t count = read_run(mover, item, &cursor);
    struct es_write_header header = {.element = item->id,
                                     .tuple_bytes = sizeof(struct es_tuple),
                                     .position = cursor.position - count};
    struct es_tuples_header answer;
    int result;

    if (count == 0)
        return 0;
    result = tell_communicators(mover, target, item);
    if (result == 0)
        result = esi_element_client_write(target->link, ++target->id, &header,
                                          mover->tuples, count, LIMIT_NS, &answer);
    if (result < 0)
        return result;
    item->cursor = cursor;
    item->lost = answer.lost;
    es_element_set_lost_moving(item->view, item->lost);
    if (item->registered)
        es_element_acknowledge(item->view, cursor.position);
    return 1;
}

/* What there is, or as much as one element's turn has. */
static int move_chunks(struct es_mover *mover,
                       struct target *target,
                       struct moving *item)
{
    int result = 1;

    for (int i = 0; i < CHUNKS_A_TURN && result > 0; i++)
        result = move_some(mover, target, item);
    return result < 0 ? result : 0;
}

static enum es_segment_state state_of(const struct es_segment_info *process)
{
    switch (process->state) {
    case ES_PROCESS_FINALIZED:
        return ES_SEGMENT_FINALIZED;
    case ES_PROCESS_ABORTED:
        return ES_SEGMENT_ABORTED;
    default:
        return ES_SEGMENT_RUNNING;
    }
}

/* As waitpid(2) gives it; -1 = nobody saw. */
static int status_of(const struct es_segment_info *process)
{
    if (process->signal != 0)
        return process->signal;
    return process->exit_code >= 0 ? process->exit_code << 8 : -1;
}

static void write_note(struct es_json_out *out, void *data)
{
    const struct telling *telling = data;

    es_json_out_unsigned(out, "id", telling->item->id);
    es_json_out_unsigned(out, "state", state_of(&telling->process));
    es_json_out_bool(out, "ended", !telling->process.alive);
    es_json_out_signed(out, "status", status_of(&telling->process));
}

static int tell_state(struct es_mover *mover,
                      struct target *target,
                      struct moving *item)
{
    struct telling telling = {.mover = mover, .item = item};
    const struct esi_rpc_request request = {"element.note", write_note, &telling};
    int result;

    es_segment_view_info(es_element_view_segment(item->view), &telling.process);
    if (state_of(&telling.process) == item->state &&
        !telling.process.alive == item->ended)
        return 0;
    result = esi_rpc_call(target->link, ++target->id, &request, LIMIT_NS, NULL, NULL);
    if (result < 0)
        return result;
    item->state = state_of(&telling.process);
    item->ended = !telling.process.alive;
    return 0;
}

/* The target has no room for the element: it is read here, as if it were not placed
 * elsewhere. */
static void leave_here(const struct es_mover *mover,
                       struct moving *item,
                       const struct es_error *error)
{
    struct es_element_info info;
    char words[sizeof error->text + 160];

    es_element_view_info(item->view, &info);
    snprintf(words, sizeof words, "%s stays on host %s: %s", info.name,
             mover->config.host, error->text);
    tell(mover, "an element is not moved", words);
    es_element_set_moved(item->view, false);
    if (item->registered)
        es_element_unregister_reader(item->view);
    item->registered = false;
    item->stays = true;
}

/* What is gone while nobody takes it. */
static void count_losses(const struct moving *item)
{
    struct es_element_info info;

    es_element_view_info(item->view, &info);
    if (info.oldest > item->cursor.position)
        es_element_set_lost_moving(item->view,
                                   item->lost + info.oldest - item->cursor.position);
}

static void move_element(struct es_mover *mover, struct moving *item)
{
    struct target *target = &mover->targets[item->target];
    struct es_error error = {.text = ""};
    int result = 0;

    if (item->stays)
        return;
    if (!reach_target(mover, target)) {
        count_losses(item);
        return;
    }
    if (!item->taken)
        result = take(target, item, &error);
    if (result == -EDQUOT || result == -ENOSPC) {
        leave_here(mover, item, &error);
        return;
    }
    if (result == -EBUSY) /* it is being made there */
        return;
    result = result < 0 ? result : move_chunks(mover, target, item);
    if (result == 0)
        result = tell_state(mover, target, item);
    if (result < 0) {
        tell(mover, "elements cannot be moved",
             error.text[0] ? error.text : strerror(-result));
        lose_target(mover, item->target);
    }
}

/* --- The thread ------------------------------------------------------------------- */

/* Sleeps so long, unless it must stop. */
static bool must_stop(struct es_mover *mover, uint64_t sleep_ns)
{
    struct timespec until;
    bool stop;

    clock_gettime(CLOCK_REALTIME, &until);
    sleep_ns += (uint64_t)until.tv_nsec;
    until.tv_sec += (time_t)(sleep_ns / 1000000000);
    until.tv_nsec = (long)(sleep_ns % 1000000000);
    pthread_mutex_lock(&mover->lock);
    if (!mover->stop)
        pthread_cond_timedwait(&mover->wake, &mover->lock, &until);
    stop = mover->stop;
    pthread_mutex_unlock(&mover->lock);
    return stop;
}

static void move_all(struct es_mover *mover)
{
    for (size_t i = 0; i < mover->count; i++)
        move_element(mover, &mover->items[i]);
}

static bool has_more(const struct moving *item)
{
    struct es_element_info info;

    es_element_view_info(item->view, &info);
    return item->taken && !item->stays && info.head > item->cursor.position;
}

/* What the target never took can be read here again. */
static void end_moving(struct es_mover *mover)
{
    for (size_t i = 0; i < mover->count; i++) {
        if (!mover->items[i].ever_taken)
            es_element_set_moved(mover->items[i].view, false);
        if (mover->items[i].registered)
            es_element_unregister_reader(mover->items[i].view);
    }
}

/* Whether there is a plan by which something is to be moved; false: there will be none.
 */
static bool prepare(struct es_mover *mover)
{
    const struct es_mover_config *config = &mover->config;

    while (!config->plan && esi_mover_load_plan(config->run, config->home,
                                                &mover->servers, &mover->plan) != 0)
        if (must_stop(mover, RETRY_NS))
            return false;
    if (!esi_mover_has_work(&mover->plan, config->host))
        return false;
    /* The home server may not have been found yet. */
    while (!mover->servers &&
           es_servers_open(config->run, config->home, NULL, &mover->servers) != 0)
        if (must_stop(mover, RETRY_NS))
            return false;
    return es_run_open_empty(config->run, NULL, &mover->run) >= 0;
}

static void *run_mover(void *data)
{
    struct es_mover *mover = data;
    uint64_t begin;

    if (!prepare(mover)) {
        if (!mover->config.servers)
            es_servers_close(mover->servers);
        mover->servers = NULL;
        return NULL;
    }
    do {
        scan(mover);
        move_all(mover);
    } while (!must_stop(mover, TURN_NS));
    begin = es_now_ns(CLOCK_MONOTONIC);
    mover->scanned_ns = 0;
    scan(mover);
    for (size_t i = 0; i < mover->count && es_now_ns(CLOCK_MONOTONIC) - begin < LAST_NS;
         i++)
        do
            move_element(mover, &mover->items[i]);
        while (has_more(&mover->items[i]) &&
               es_now_ns(CLOCK_MONOTONIC) - begin < LAST_NS);
    end_moving(mover);
    return NULL;
}

int es_mover_start(const struct es_mover_config *config, struct es_mover **ret_mover)
{
    struct es_mover *mover = calloc(1, sizeof *mover);
    int result;

    if (!mover)
        return -ENOMEM;
    mover->config = *config;
    mover->servers = config->servers;
    if (config->plan)
        mover->plan = *config->plan;
    pthread_mutex_init(&mover->lock, NULL);
    pthread_cond_init(&mover->wake, NULL);
    result = pthread_create(&mover->thread, NULL, run_mover, mover);
    if (result != 0) {
        free(mover);
        return -result;
    }
    *ret_mover = mover;
    return 0;
}

void es_mover_stop(struct es_mover *mover)
{
    if (!mover)
        return;
    pthread_mutex_lock(&mover->lock);
    mover->stop = true;
    pthread_cond_signal(&mover->wake);
    pthread_mutex_unlock(&mover->lock);
    pthread_join(mover->thread, NULL);
    for (size_t i = 0; i < mover->target_count; i++)
        es_link_close(mover->targets[i].link);
    free(mover->targets);
    free(mover->items);
    es_run_close(mover->run);
    if (!mover->config.servers)
        es_servers_close(mover->servers);
    if (!mover->config.plan)
        es_plan_fini(&mover->plan);
    pthread_mutex_destroy(&mover->lock);
    pthread_cond_destroy(&mover->wake);
    free(mover);
}
