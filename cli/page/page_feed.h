/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_feed.h - what the page shows of a run: its diagram and its waits, filled while
 * the run or an archive of it is read.
 *
 *     esi_page_feed_create(&config, &feed);
 *     esi_page_feed_read(feed, &facts);     returns when the run is over
 *     esi_page_feed_destroy(feed);
 *
 * One thread reads.  All other calls may run together with it and with each other.
 */
#ifndef ES_CLI_PAGE_PAGE_FEED_H
#define ES_CLI_PAGE_PAGE_FEED_H

#include <stdbool.h>

#include "cli/event_source.h"
#include "monitors/delay/delay.h"
#include "monitors/diagram/diagram.h"
#include "monitors/top/top.h"

struct esi_page_feed_config {
    const char *name; /* of the run, or the directory of its archive; borrowed */
    bool is_archive;
    bool keeps_sums;                      /* of an archive, beside it */
    bool follow;                          /* a run: until it is over, or an interrupt */
    struct esi_consumer_options consumer; /* of a run */
    struct esi_diagram_config diagram;
};

struct esi_page_feed;

/* 0 or -ENOMEM. */
int esi_page_feed_create(const struct esi_page_feed_config *config,
                         struct esi_page_feed **ret_feed);
/* Accepts NULL. */
void esi_page_feed_destroy(struct esi_page_feed *feed);

/* Reads all there is, and what comes if it is to follow.  The exit status, after the
 * message where it is not 0. */
int esi_page_feed_read(struct esi_page_feed *feed,
                       struct esi_set_source_facts *ret_facts);

struct esi_page_state {
    const char *name; /* borrowed, as long as the feed lives */
    bool is_archive;
    bool is_read; /* nothing more will come */
    bool is_over; /* the run has ended */
};

/* How many processors this command has kept busy since that was asked before, or
 * somewhat more than a second ago; negative: that is not known yet. */
double esi_page_feed_cost(struct esi_page_feed *feed);

void esi_page_feed_state(struct esi_page_feed *feed, struct esi_page_state *ret_state);
struct esi_diagram *esi_page_feed_diagram(struct esi_page_feed *feed);
/* What rows and windows of run time are told from: while an archive is read the sums
 * that were kept of it, which have all rows and nothing else, if there are any. */
struct esi_diagram *esi_page_feed_sums(struct esi_page_feed *feed);

enum { ESI_PAGE_STREAMS = 8 };

/* The beginning of the earliest call that came since the last time this was asked for a
 * stream, a number below ESI_PAGE_STREAMS; UINT64_MAX = none came. */
uint64_t esi_page_feed_take_earliest(struct esi_page_feed *feed, size_t stream);

/* Calls `use` with the waits charged so far, which stand still meanwhile.  0, -ENOMEM
 * or what it returned. */
int esi_page_feed_use_delay(struct esi_page_feed *feed,
                            int (*use)(void *data, struct esi_delay *delay),
                            void *data);

/* What has no other end, and what the reading costs, so far; `delay` is NULL. */
void esi_page_feed_waits(struct esi_page_feed *feed, struct esi_top_waits *ret_waits);

/* The stages of the scope that reads the run and what they have cost, at most a second
 * old while it is read, as esi_scope_write_stages() writes them into an object.  Waits
 * for the reading thread, which looks between two pulls.  NULL: none are known, as of
 * an archive.  0 or -ENOMEM; caller frees *ret_stages. */
int esi_page_feed_copy_stages(struct esi_page_feed *feed, char **ret_stages);

#endif
