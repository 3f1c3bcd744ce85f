/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The rate controller: how often a scope pulls, and through which tree, so that a goal
 * is met.
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
 * With a budget it finds the highest rate of pulls inside of it; with a wanted rate the
 * cheapest tree that reaches it; with both the wanted rate as far as the budget goes.
 * It says in words what it chose and why.
 *
 * Pure logic: no clock, no input or output, no threads.
 */
#ifndef ES_SCOPES_RATE_H
#define ES_SCOPES_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/scope.h"

enum {
    ES_RATE_REASON_BYTES = 320,
    ES_RATE_HISTORY = 16, /* decisions that are remembered */
};

/* What the controller sets. */
struct esi_rate_settings {
    uint64_t interval_ns; /* from the beginning of a pull to that of the next; 0 = the
                             next follows at once */
    size_t max;           /* tuples in one pull at most */
    enum es_mode mode;
    unsigned threads;
    unsigned ahead;
    enum es_shape shape;
    unsigned fan_out; /* of ES_SHAPE_KARY */
};

/* What of it, beside the interval and max, may be changed. */
enum esi_rate_freedom {
    ES_RATE_MODE = 1,
    ES_RATE_THREADS = 2,
    ES_RATE_AHEAD = 4,
    ES_RATE_SHAPE = 8,
    ES_RATE_ALL = 15,
};

struct esi_rate_config {
    double budget;    /* share of one core on the busiest of the program's hosts; 0 =
                         none */
    double wanted_hz; /* pulls a second; 0 = none */
    unsigned freedom; /* bits of enum esi_rate_freedom */
    struct esi_rate_settings settings; /* to begin with */
    uint64_t interval_min_ns;
    uint64_t interval_max_ns;
    size_t max_limit;     /* `max` is raised up to this */
    unsigned max_threads; /* at most so many threads, pulls ahead */
    unsigned max_ahead;
};

/* A goal must be put in.  Interval 10 ms to begin with, within 100 us and 10 s; all
 * freedom; at most 8 threads and 8 pulls ahead; max 65,536, up to 1,048,576. */
void esi_rate_config_init(struct esi_rate_config *config);

/* What the scope has used of one of the program's hosts since the sample before. */
struct esi_rate_host {
    const char *host; /* borrowed for the call */
    uint64_t cpu_ns;
};

struct esi_rate_sample {
    uint64_t now_ns;  /* any clock that does not jump */
    uint64_t pulls;   /* this and what follows: since the sample before */
    uint64_t pull_ns; /* wall time that the pulls took together */
    uint64_t tuples;
    uint64_t lost;
    uint64_t full;                     /* pulls that delivered all of `max` tuples */
    const struct esi_rate_host *hosts; /* where the program runs; may be NULL */
    size_t host_count;
    size_t servers;  /* tuple servers the tree stands on; 0 = all is read directly */
    size_t elements; /* in the view */
};

struct esi_rate_decision {
    bool changed;
    struct esi_rate_settings settings;
    char reason[ES_RATE_REASON_BYTES]; /* of the newest decision */
};

struct esi_rate;

/* -EINVAL: no goal, or limits that contradict each other.  -ENOMEM. */
int esi_rate_create(const struct esi_rate_config *config, struct esi_rate **ret_rate);
/* Accepts NULL. */
void esi_rate_destroy(struct esi_rate *rate);

/* Takes in what has been measured with the settings of the decision before, and
 * decides.  Where `changed` is set the new settings hold for the pulls that follow. */
void esi_rate_feed(struct esi_rate *rate,
                   const struct esi_rate_sample *sample,
                   struct esi_rate_decision *ret_decision);

/* One decision of the past. */
struct esi_rate_entry {
    uint64_t now_ns;                   /* of the sample it was made from */
    double hz;                         /* pulls a second then */
    double share;                      /* of a core on the busiest host then */
    char host[64];                     /* the busiest; "" = not known */
    uint64_t lost;                     /* tuples in that sample */
    struct esi_rate_settings settings; /* that were chosen */
    char reason[ES_RATE_REASON_BYTES];
};

/* The last decisions, the oldest first, ES_RATE_HISTORY at most.  Returns how many. */
size_t esi_rate_history(const struct esi_rate *rate,
                        struct esi_rate_entry ret_entries[ES_RATE_HISTORY]);

/* "every 20 ms, views, concurrent, 2 ahead" into `out`; returns out. */
const char *esi_rate_settings_format(const struct esi_rate_settings *settings,
                                     char *out,
                                     size_t size);

#endif
