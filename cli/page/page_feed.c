/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_feed.c - passes events to the diagram and to the analysis of waits. */
#include "config.h"

#include "cli/page/page_feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/json_out.h"
#include "base/now.h"
#include "base/own_cost.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/page/page_clusters.h"
#include "monitors/archive/archive_file.h"
#include "monitors/archive/archive_read.h"
#include "monitors/diagram/diagram_marks.h"
#include "scopes/scope_control.h"

#define COST_AGE_NS UINT64_C(1000000000)
#define STAGES_AGE_NS UINT64_C(1000000000)  /* minimum interval between readings */
#define STAGES_WAIT_NS UINT64_C(3000000000) /* how long a request waits for them */
#define SUMS_PERCENT 15 /* maximum size of stored sums relative to the archive */
#define COSTS_NS UINT64_C(300000000) /* how long a tuple server may take */

struct esi_page_feed {
    struct esi_page_feed_config config;
    struct esi_diagram *diagram;
    struct esi_diagram *kept;        /* sums of an earlier reading; NULL = none */
    uint64_t archive;                /* identifies their archive */
    char end[ESI_ARCHIVE_END_BYTES]; /* why the recording ended before the run, or "" */
    struct esi_causal_listener to_diagram;
    pthread_mutex_t lock; /* protects the following */
    struct esi_delay *delay;
    struct esi_causal_listener to_delay;
    struct esi_top_waits waits; /* as of the last pause in reading */
    uint64_t earliest_ns[ESI_PAGE_STREAMS];
    pthread_cond_t looked; /* the stages were read, or never will be */
    bool is_look_wanted;
    uint64_t looked_ns; /* CLOCK_MONOTONIC */
    char *stages;       /* owned; NULL = not read yet */
    struct esi_own_cost cost;
    double cores; /* as of the last measurement of the cost */
    bool is_read;
    bool is_over;
};

/* --- The archive ------------------------------------------------------------------ */

static void load_sums(struct esi_page_feed *feed, struct esi_archive_reader *reader)
{
    struct es_error error = {.text = ""};
    uint64_t all_bytes;
    size_t length;
    char *bytes;

    feed->archive = esi_archive_fingerprint(reader, &all_bytes);
    if (esi_archive_read_side(reader, ESI_ARCHIVE_DIAGRAM, &bytes, &length) == 0) {
        if (esi_diagram_load_marks(bytes, length, feed->archive, &error, &feed->kept) ==
            -EINVAL)
            esi_command_note("%s/" ESI_ARCHIVE_SIDE "/" ESI_ARCHIVE_DIAGRAM
                             " is not used: %s",
                             feed->config.name, error.text);
        free(bytes);
    }
    if (feed->kept)
        esi_page_clusters_of_archive(feed->config.name, feed->kept);
}

/* Errors of the archive are reported when its events are read. */
static void load_archive(struct esi_page_feed *feed)
{
    struct esi_archive_reader *reader;

    if (esi_archive_open(feed->config.name, NULL, &reader) < 0)
        return;
    (void)esi_archive_describe_end(reader, feed->end);
    if (feed->config.keeps_sums)
        load_sums(feed, reader);
    esi_archive_read_close(reader);
}

/* Skipped if the archive is read-only or has grown meanwhile. */
static void save_sums(const struct esi_page_feed *feed)
{
    struct esi_archive_reader *reader;
    unsigned char *bytes;
    uint64_t all_bytes;
    size_t length;

    if (esi_archive_open(feed->config.name, NULL, &reader) < 0)
        return;
    if (esi_archive_fingerprint(reader, &all_bytes) == feed->archive &&
        esi_diagram_save_marks(feed->diagram, feed->archive,
                               (size_t)(all_bytes * SUMS_PERCENT / 100), &bytes,
                               &length) == 0) {
        esi_archive_write_side(reader, ESI_ARCHIVE_DIAGRAM, bytes, length);
        free(bytes);
    }
    esi_archive_read_close(reader);
}

int esi_page_feed_create(const struct esi_page_feed_config *config,
                         struct esi_page_feed **ret_feed)
{
    struct esi_page_feed *feed = calloc(1, sizeof *feed);
    struct esi_delay_config delay = {.window = 0};

    if (!feed)
        return -ENOMEM;
    feed->config = *config;
    feed->cores = esi_own_cost_measure(&feed->cost);
    pthread_mutex_init(&feed->lock, NULL);
    esi_condition_init(&feed->looked);
    if (esi_diagram_create(&config->diagram, &feed->diagram) < 0 ||
        esi_delay_create(&delay, &feed->delay) < 0) {
        esi_page_feed_destroy(feed);
        return -ENOMEM;
    }
    if (config->is_archive)
        load_archive(feed);
    feed->to_diagram = esi_diagram_listener(feed->diagram);
    feed->to_delay = esi_delay_listener(feed->delay);
    *ret_feed = feed;
    return 0;
}

void esi_page_feed_destroy(struct esi_page_feed *feed)
{
    if (!feed)
        return;
    esi_delay_destroy(feed->delay);
    esi_diagram_destroy(feed->diagram);
    esi_diagram_destroy(feed->kept);
    free(feed->stages);
    pthread_cond_destroy(&feed->looked);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

/* --- Reading ---------------------------------------------------------------------- */

static void note_earliest(struct esi_page_feed *feed, uint64_t ns)
{
    for (size_t i = 0; i < ESI_PAGE_STREAMS; i++)
        if (ns < feed->earliest_ns[i])
            feed->earliest_ns[i] = ns;
}

static int pass_event(void *data,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    struct esi_page_feed *feed = data;
    int result;

    if (esi_interrupt_came())
        return -ECANCELED;
    result = feed->to_diagram.told(feed->to_diagram.data, event, call);
    if (result < 0)
        return result;
    pthread_mutex_lock(&feed->lock);
    result = feed->to_delay.told(feed->to_delay.data, event, call);
    if (call)
        note_earliest(feed, call->told->start_ns);
    pthread_mutex_unlock(&feed->lock);
    return result;
}

static int pass_gap(void *data, uint32_t trace, const struct esi_gap *gap)
{
    struct esi_page_feed *feed = data;
    int result = feed->to_diagram.gap(feed->to_diagram.data, trace, gap);

    if (result < 0)
        return result;
    pthread_mutex_lock(&feed->lock);
    result = feed->to_delay.gap(feed->to_delay.data, trace, gap);
    note_earliest(feed, gap->begin_ns);
    pthread_mutex_unlock(&feed->lock);
    return result;
}

static int pass_open(void *data, uint32_t trace, const struct esi_causal_call *call)
{
    struct esi_page_feed *feed = data;
    int result = feed->to_diagram.open(feed->to_diagram.data, trace, call);

    if (result < 0)
        return result;
    pthread_mutex_lock(&feed->lock);
    result = feed->to_delay.open(feed->to_delay.data, trace, call);
    pthread_mutex_unlock(&feed->lock);
    return result;
}

static int pass_instance(void *data, const struct esi_causal_instance *instance)
{
    struct esi_page_feed *feed = data;

    return feed->to_diagram.instance(feed->to_diagram.data, instance);
}

static bool is_look_wanted(struct esi_page_feed *feed)
{
    bool is_wanted;

    pthread_mutex_lock(&feed->lock);
    is_wanted = feed->is_look_wanted;
    pthread_mutex_unlock(&feed->lock);
    return is_wanted;
}

/* Queries the servers without the lock, since they may be slow. */
static int look_at_stages(struct esi_page_feed *feed, struct es_scope *scope)
{
    struct esi_json_text json;
    char *stages;
    int result = esi_json_text_begin(&json);

    if (result < 0)
        return result;
    esi_json_out_begin_object(&json.out, NULL);
    esi_scope_write_stages(scope, COSTS_NS, &json.out);
    esi_json_out_end(&json.out);
    result = esi_json_text_finish(&json, &stages, NULL);
    if (result < 0)
        return result;
    pthread_mutex_lock(&feed->lock);
    free(feed->stages);
    feed->stages = stages;
    feed->looked_ns = esi_now_ns(CLOCK_MONOTONIC);
    feed->is_look_wanted = false;
    pthread_cond_broadcast(&feed->looked);
    pthread_mutex_unlock(&feed->lock);
    return 0;
}

static void note_waits(struct esi_page_feed *feed,
                       const struct esi_causality_scope *reading)
{
    struct esi_top_waits waits;

    esi_top_waits_sum(reading, &waits);
    pthread_mutex_lock(&feed->lock);
    feed->waits = waits;
    pthread_mutex_unlock(&feed->lock);
}

static int pause_reading(void *data,
                         const struct esi_causality_scope *reading,
                         uint64_t now_ns)
{
    struct es_scope *scope = esi_follower_scope(esi_causality_scope_follower(reading));
    struct esi_page_feed *feed = data;

    note_waits(feed, reading);
    esi_diagram_set_now(feed->diagram, now_ns);
    return is_look_wanted(feed) ? look_at_stages(feed, scope) : 0;
}

int esi_page_feed_read(struct esi_page_feed *feed,
                       struct esi_set_source_facts *ret_facts)
{
    const struct es_set_sink sink = esi_diagram_sink(feed->diagram);
    struct esi_event_source source = {
        .path = feed->config.name,
        .follow = feed->config.follow,
        .paused = pause_reading,
        .paused_data = feed,
        .consumer = feed->config.consumer,
        .listener = {.told = pass_event,
                     .open = pass_open,
                     .gap = pass_gap,
                     .instance = pass_instance,
                     .data = feed},
    };
    int status;

    *ret_facts = (struct esi_set_source_facts){.is_under_way = false};
    if (feed->config.is_archive)
        esi_page_clusters_of_archive(feed->config.name, feed->diagram);
    status = esi_event_source_read(&source, false, &sink, 1, ret_facts);
    if (feed->config.keeps_sums && !feed->kept && status == ES_EXIT_SUCCESS &&
        !esi_interrupt_came())
        save_sums(feed);

    pthread_mutex_lock(&feed->lock);
    if (feed->kept)
        note_earliest(feed, 0);
    feed->is_read = true;
    feed->is_over = !ret_facts->is_under_way;
    pthread_cond_broadcast(&feed->looked);
    pthread_mutex_unlock(&feed->lock);
    return status;
}

/* --- Queries ---------------------------------------------------------------------- */

void esi_page_feed_state(struct esi_page_feed *feed, struct esi_page_state *ret_state)
{
    pthread_mutex_lock(&feed->lock);
    *ret_state = (struct esi_page_state){
        .name = feed->config.name,
        .end = feed->end,
        .is_archive = feed->config.is_archive,
        .is_read = feed->is_read,
        .is_over = feed->config.is_archive || feed->is_over,
    };
    pthread_mutex_unlock(&feed->lock);
}

double esi_page_feed_cost(struct esi_page_feed *feed)
{
    double cores;

    pthread_mutex_lock(&feed->lock);
    if (esi_now_ns(CLOCK_MONOTONIC) - feed->cost.wall_ns >= COST_AGE_NS)
        feed->cores = esi_own_cost_measure(&feed->cost);
    cores = feed->cores;
    pthread_mutex_unlock(&feed->lock);
    return cores;
}

struct esi_diagram *esi_page_feed_diagram(struct esi_page_feed *feed)
{
    return feed->diagram;
}

struct esi_diagram *esi_page_feed_sums(struct esi_page_feed *feed)
{
    bool is_kept;

    pthread_mutex_lock(&feed->lock);
    is_kept = feed->kept && !feed->is_read;
    pthread_mutex_unlock(&feed->lock);
    return is_kept ? feed->kept : feed->diagram;
}

uint64_t esi_page_feed_take_earliest(struct esi_page_feed *feed, size_t stream)
{
    uint64_t earliest_ns;

    pthread_mutex_lock(&feed->lock);
    earliest_ns = feed->earliest_ns[stream];
    feed->earliest_ns[stream] = UINT64_MAX;
    pthread_mutex_unlock(&feed->lock);
    return earliest_ns;
}

int esi_page_feed_use_delay(struct esi_page_feed *feed,
                            int (*use)(void *data, struct esi_delay *delay),
                            void *data)
{
    int result;

    pthread_mutex_lock(&feed->lock);
    result = esi_delay_settle(feed->delay);
    if (result >= 0)
        result = use(data, feed->delay);
    pthread_mutex_unlock(&feed->lock);
    return result;
}

void esi_page_feed_waits(struct esi_page_feed *feed, struct esi_top_waits *ret_waits)
{
    pthread_mutex_lock(&feed->lock);
    *ret_waits = feed->waits;
    pthread_mutex_unlock(&feed->lock);
}

/* Requests new stages from the reading thread if they are old.  Called with the
 * lock. */
static void await_look(struct esi_page_feed *feed)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    if (feed->stages && now_ns - feed->looked_ns < STAGES_AGE_NS)
        return;
    feed->is_look_wanted = true;
    while (feed->is_look_wanted && !feed->is_read &&
           esi_now_left_ns(now_ns + STAGES_WAIT_NS) > 0)
        esi_condition_wait(&feed->looked, &feed->lock, now_ns + STAGES_WAIT_NS);
}

int esi_page_feed_copy_stages(struct esi_page_feed *feed, char **ret_stages)
{
    int result;

    *ret_stages = NULL;
    if (feed->config.is_archive)
        return 0;
    pthread_mutex_lock(&feed->lock);
    await_look(feed);
    if (feed->stages)
        *ret_stages = strdup(feed->stages);
    result = feed->stages && !*ret_stages ? -ENOMEM : 0;
    pthread_mutex_unlock(&feed->lock);
    return result;
}
