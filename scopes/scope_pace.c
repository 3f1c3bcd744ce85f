/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* scope_pace.c - lets the rate controller control a scope: measures the cost of pulls,
 * applies the decisions, and keeps the chosen pause between pulls. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "scopes/rate.h"
#include "scopes/remote/remote.h"
#include "scopes/scope_control.h"
#include "scopes/scope_private.h"

#define SAMPLE_NS UINT64_C(500000000)
#define NAP_NS UINT64_C(100000000) /* less than a second */
enum { HOSTS_MOST = 256 };

struct host_cpu {
    char host[64];
    uint64_t cpu_ns; /* of its stages in the current tree */
};

struct esi_pace {
    struct esi_rate *rate;
    struct esi_rate_settings settings;
    uint64_t begun_ns; /* of the last pull */
    uint64_t sampled_ns;
    uint64_t full;      /* pulls since then that reached the limit */
    uint64_t pull_ns;   /* of pulls since then */
    uint64_t cpu_ns;    /* of the consumer's part of these pulls */
    uint64_t cpu_begun; /* of this process or thread, at the start of the last pull */
    struct es_scope_cost before;
    struct host_cpu hosts[HOSTS_MOST];
    size_t host_count;
};

/* CPU time in this process: of all threads if several threads pull. */
static uint64_t cpu_now_ns(const struct es_scope *scope)
{
    struct timespec now;

    clock_gettime(scope->config.tree.threads ? CLOCK_PROCESS_CPUTIME_ID
                                             : CLOCK_THREAD_CPUTIME_ID,
                  &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* --- Measuring ------------------------------------------------------------------- */

struct census {
    struct host_cpu hosts[HOSTS_MOST];
    size_t count;
    size_t servers;
};

static void add_cpu(struct census *census, const char *host, uint64_t cpu_ns)
{
    size_t i = 0;

    while (i < census->count && strcmp(census->hosts[i].host, host) != 0)
        i++;
    if (i == HOSTS_MOST)
        return;
    if (i == census->count) {
        census->hosts[i] = (struct host_cpu){.cpu_ns = 0};
        strncpy(census->hosts[i].host, host, sizeof census->hosts[i].host - 1);
        census->count++;
    }
    census->hosts[i].cpu_ns += cpu_ns;
}

static void count_stage(const struct es_stage *stage, int depth, void *data)
{
    struct census *census = data;
    struct esi_remote_status status;

    (void)depth;
    if (!esi_stage_is_remote(stage))
        return;
    esi_remote_status(stage, &status);
    add_cpu(census, status.host, status.server_cpu_ns);
    census->servers++;
}

/* CPU time used on `host` since the last sample; a new tree starts from 0. */
static uint64_t scope_pace_used(const struct esi_pace *pace,
                                const struct host_cpu *host)
{
    for (size_t i = 0; i < pace->host_count; i++)
        if (strcmp(pace->hosts[i].host, host->host) == 0 &&
            pace->hosts[i].cpu_ns <= host->cpu_ns)
            return host->cpu_ns - pace->hosts[i].cpu_ns;
    return host->cpu_ns;
}

static int scope_pace_apply(struct es_scope *scope,
                            const struct esi_rate_settings *settings)
{
    struct es_scope_config config = scope->config;

    config.max = settings->max;
    config.tree.mode = settings->mode;
    config.tree.threads = settings->threads;
    config.tree.ahead = settings->ahead;
    config.tree.shape = settings->shape;
    config.tree.fan_out = settings->fan_out;
    return es_scope_reconfigure(scope, &config, NULL);
}

static void scope_pace_sample(struct es_scope *scope, uint64_t now)
{
    struct esi_pace *pace = scope->pace;
    struct esi_rate_host hosts[HOSTS_MOST];
    size_t here = 0;
    struct census *census = calloc(1, sizeof *census);
    struct esi_rate_decision decision;
    struct es_scope_cost cost;
    struct esi_rate_sample taken;

    if (!census)
        return;
    es_scope_cost(scope, &cost);
    es_scope_foreach_stage(scope, count_stage, census);
    /* The consumer's own CPU time counts on the host whose memory it reads.  It is
     * measured, because the costs of stages are estimates whose differences are not
     * reliable. */
    add_cpu(census, scope->from.here, 0);
    for (size_t i = 0; i < census->count; i++) {
        hosts[i] = (struct esi_rate_host){census->hosts[i].host,
                                          scope_pace_used(pace, &census->hosts[i])};
        if (strcmp(census->hosts[i].host, scope->from.here) == 0)
            here = i;
    }
    hosts[here].cpu_ns += pace->cpu_ns;
    taken = (struct esi_rate_sample){.now_ns = now,
                                     .pulls = cost.pulls - pace->before.pulls,
                                     .pull_ns = pace->pull_ns,
                                     .tuples = cost.tuples - pace->before.tuples,
                                     .lost = cost.lost - pace->before.lost,
                                     .full = pace->full,
                                     .hosts = hosts,
                                     .host_count = census->count,
                                     .servers = census->servers,
                                     .elements = cost.origins};
    esi_rate_feed(pace->rate, &taken, &decision);
    memcpy(pace->hosts, census->hosts, sizeof pace->hosts);
    pace->host_count = census->count;
    pace->before = cost;
    pace->sampled_ns = now;
    pace->full = 0;
    pace->pull_ns = 0;
    pace->cpu_ns = 0;
    free(census);
    if (decision.changed && scope_pace_apply(scope, &decision.settings) == 0)
        pace->settings = decision.settings;
}

/* --- Pulling at its pace ---------------------------------------------------------- */

bool es_scope_is_paced(const struct es_scope *scope)
{
    return scope->pace != NULL;
}

/* Sleeps at most until the end of the interval.  Returns true when it is reached. */
static bool sleep_on(const struct esi_pace *pace)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t due = pace->begun_ns + pace->settings.interval_ns;
    uint64_t left = due > now ? due - now : 0;
    uint64_t step = left < NAP_NS ? left : NAP_NS;
    struct timespec span = {.tv_nsec = (long)step};

    if (step > 0)
        nanosleep(&span, NULL);
    return step == left;
}

void esi_scope_keep_pace(struct es_scope *scope)
{
    struct esi_pace *pace = scope->pace;
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    pace->full += !scope->repeats && scope->batch.count >= scope->config.max;
    if (now - pace->sampled_ns >= SAMPLE_NS)
        scope_pace_sample(scope, now);
    /* Executes commands in between, which may remove the controller. */
    while (scope->pace && !sleep_on(scope->pace))
        if (scope->control)
            esi_scope_poll(scope);
    if (!scope->pace)
        return;
    scope->pace->begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    scope->pace->cpu_begun = cpu_now_ns(scope);
}

void esi_scope_note_pull(struct es_scope *scope)
{
    struct esi_pace *pace = scope->pace;

    pace->cpu_ns += cpu_now_ns(scope) - pace->cpu_begun;
    pace->pull_ns += esi_now_ns(CLOCK_MONOTONIC) - pace->begun_ns;
}

int esi_scope_set_pace(struct es_scope *scope,
                       double budget,
                       double wanted_hz,
                       struct es_error *error)
{
    struct esi_rate_config config;
    struct esi_pace *pace;

    if (budget <= 0 && wanted_hz <= 0) {
        esi_scope_end_pace(scope);
        return 0;
    }
    esi_rate_config_init(&config);
    config.budget = budget;
    config.wanted_hz = wanted_hz;
    config.settings.max =
        scope->config.max < config.max_limit ? scope->config.max : config.max_limit;
    config.settings.mode = scope->config.tree.mode;
    config.settings.threads = scope->config.tree.threads;
    config.settings.ahead = scope->config.tree.ahead;
    config.settings.shape = scope->config.tree.shape;
    if (scope->config.tree.shape == ES_SHAPE_STAGES)
        config.freedom = ES_RATE_AHEAD; /* the tree is the user's */
    config.settings.fan_out = scope->config.tree.fan_out;
    pace = calloc(1, sizeof *pace);
    if (!pace)
        return -ENOMEM;
    if (esi_rate_create(&config, &pace->rate) < 0) {
        free(pace);
        return es_error_set(error, -EINVAL, "that is not a goal for a rate controller");
    }
    pace->settings = config.settings;
    pace->sampled_ns = esi_now_ns(CLOCK_MONOTONIC);
    es_scope_cost(scope, &pace->before);
    esi_scope_end_pace(scope);
    scope->pace = pace;
    return 0;
}

void esi_scope_end_pace(struct es_scope *scope)
{
    if (!scope->pace)
        return;
    esi_rate_destroy(scope->pace->rate);
    free(scope->pace);
    scope->pace = NULL;
}

void esi_scope_write_pace(const struct es_scope *scope, struct esi_json_out *out)
{
    struct esi_rate_entry entries[ES_RATE_HISTORY];
    size_t count = scope->pace ? esi_rate_history(scope->pace->rate, entries) : 0;

    esi_json_out_begin_array(out, "decisions");
    for (size_t i = 0; i < count; i++) {
        char text[128];

        esi_json_out_begin_object(out, NULL);
        esi_json_out_real(out, "rate", entries[i].hz);
        esi_json_out_real(out, "share", entries[i].share);
        esi_json_out_string(out, "host", entries[i].host);
        esi_json_out_string(
            out, "settings",
            esi_rate_settings_format(&entries[i].settings, text, sizeof text));
        esi_json_out_string(out, "reason", entries[i].reason);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}
