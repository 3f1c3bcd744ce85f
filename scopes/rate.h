/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The rate controller: decides how often a scope pulls, and through which tree, to meet
 * a goal.
 *
 *   struct esi_rate_config config;
 *
 *   esi_rate_config_init(&config);
 *   config.budget = 0.01;                  one percent of a core on the busiest host
 *   esi_rate_create(&config, &rate);
 *   every half second or so:
 *       esi_rate_feed(rate, &sample, &decision);
 *       if (decision.changed)
 *           apply decision.settings: es_scope_reconfigure(), the pause between pulls
 *
 * With a budget, it finds the highest rate of pulls within the budget; with a wanted
 * rate, the cheapest tree that reaches it; with both, the wanted rate as far as the
 * budget allows.  It explains its choice in words.
 *
 * Pure logic: no clock, no I/O, no threads.
 */
#ifndef ES_SCOPES_RATE_H
#define ES_SCOPES_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/scope.h"

enum {
    ES_RATE_REASON_BYTES = 320,
    ES_RATE_HISTORY = 16, /* decisions that are kept */
};

/* The settings controlled. */
struct esi_rate_settings {
    uint64_t interval_ns; /* between the starts of pulls; 0: no pause */
    size_t max;           /* most tuples per pull */
    enum es_mode mode;
    unsigned threads;
    unsigned ahead;
    enum es_shape shape;
    unsigned fan_out; /* of ES_SHAPE_KARY */
};

/* The settings, besides the interval and max, that may be changed. */
enum esi_rate_freedom {
    ES_RATE_MODE = 1,
    ES_RATE_THREADS = 2,
    ES_RATE_AHEAD = 4,
    ES_RATE_SHAPE = 8,
    ES_RATE_ALL = 15,
};

struct esi_rate_config {
    double budget;    /* share of a core on the program's busiest host; 0 if none */
    double wanted_hz; /* pulls per second; 0 if none */
    unsigned freedom; /* bits of enum esi_rate_freedom */
    struct esi_rate_settings settings; /* initial settings */
    uint64_t interval_min_ns;
    uint64_t interval_max_ns;
    size_t max_limit;     /* upper limit of `max` */
    unsigned max_threads; /* upper limits of threads and of pulls ahead */
    unsigned max_ahead;
};

/* Initializes all members except the goal.  Initial interval 10 ms, within 100 us and
 * 10 s; all freedom; at most 8 threads and 8 pulls ahead; max 65,536, up to
 * 1,048,576. */
void esi_rate_config_init(struct esi_rate_config *config);

/* The CPU time that the scope used on a host of the program since the previous
 * sample. */
struct esi_rate_host {
    const char *host; /* borrowed for the call */
    uint64_t cpu_ns;
};

struct esi_rate_sample {
    uint64_t now_ns;  /* any monotonic clock */
    uint64_t pulls;   /* like the members below: since the previous sample */
    uint64_t pull_ns; /* total wall time of the pulls */
    uint64_t tuples;
    uint64_t lost;
    uint64_t full;                     /* pulls that returned `max` tuples */
    const struct esi_rate_host *hosts; /* the hosts of the program; may be NULL */
    size_t host_count;
    size_t servers;  /* tuple servers in the tree; 0 if all is read directly */
    size_t elements; /* in the view */
};

struct esi_rate_decision {
    bool changed;
    struct esi_rate_settings settings;
    char reason[ES_RATE_REASON_BYTES]; /* of the latest decision */
};

struct esi_rate;

/* Returns 0; -EINVAL if there is no goal, or the limits contradict each other; or
 * -ENOMEM. */
int esi_rate_create(const struct esi_rate_config *config, struct esi_rate **ret_rate);
/* Destroys the controller.  Accepts NULL. */
void esi_rate_destroy(struct esi_rate *rate);

/* Processes a sample that was measured with the settings of the previous decision, and
 * decides.  If `changed` is set, the new settings apply to the following pulls. */
void esi_rate_feed(struct esi_rate *rate,
                   const struct esi_rate_sample *sample,
                   struct esi_rate_decision *ret_decision);

/* A past decision. */
struct esi_rate_entry {
    uint64_t now_ns;                   /* of its sample */
    double hz;                         /* pulls per second in the sample */
    double share;                      /* of a core on the busiest host */
    char host[64];                     /* the busiest host; "" if not known */
    uint64_t lost;                     /* tuples lost in the sample */
    struct esi_rate_settings settings; /* chosen settings */
    char reason[ES_RATE_REASON_BYTES];
};

/* Copies the last decisions, oldest first, at most ES_RATE_HISTORY.  Returns their
 * number. */
size_t esi_rate_history(const struct esi_rate *rate,
                        struct esi_rate_entry ret_entries[ES_RATE_HISTORY]);

/* Formats settings as "every 20 ms, views, concurrent, 2 ahead".  Returns `out`. */
const char *esi_rate_settings_format(const struct esi_rate_settings *settings,
                                     char *out,
                                     size_t size);

#endif
