/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_feed.h - the data of the page: the diagram and the waits of a run, filled while
 * the run or its archive is read.
 *
 *     esi_page_feed_create(&config, &feed);
 *     esi_page_feed_read(feed, &facts);     returns when the run is over
 *     esi_page_feed_destroy(feed);
 *
 * One thread reads.  All other functions are thread safe.
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
    bool keeps_sums;                      /* for an archive: store the sums beside it */
    bool follow;                          /* for a run: read until it is over, or an
                                             interrupt */
    struct esi_consumer_options consumer; /* for a run */
    struct esi_diagram_config diagram;
};

struct esi_page_feed;

/* Returns 0 or -ENOMEM. */
int esi_page_feed_create(const struct esi_page_feed_config *config,
                         struct esi_page_feed **ret_feed);
/* Accepts NULL. */
void esi_page_feed_destroy(struct esi_page_feed *feed);

/* Reads everything present, and new events if following.  Returns the exit status,
 * after a message if it is not 0. */
int esi_page_feed_read(struct esi_page_feed *feed,
                       struct esi_set_source_facts *ret_facts);

struct esi_page_state {
    const char *name; /* borrowed, for the life of the feed, like `end` */
    const char *end;  /* why a recording ended before the run, and when; or "" */
    bool is_archive;
    bool is_read; /* reading has ended */
    bool is_over; /* the run has ended */
};

/* Processors kept busy by this command since the previous call, or since somewhat more
 * than a second ago; negative: not known yet. */
double esi_page_feed_cost(struct esi_page_feed *feed);

void esi_page_feed_state(struct esi_page_feed *feed, struct esi_page_state *ret_state);
struct esi_diagram *esi_page_feed_diagram(struct esi_page_feed *feed);
/* The diagram for rows and windows of run time: while an archive is read, its stored
 * sums if there are any, which have all rows and nothing else. */
struct esi_diagram *esi_page_feed_sums(struct esi_page_feed *feed);

enum { ESI_PAGE_STREAMS = 8 };

/* The start of the earliest call that arrived since the previous call for this stream,
 * a number below ESI_PAGE_STREAMS; UINT64_MAX = none. */
uint64_t esi_page_feed_take_earliest(struct esi_page_feed *feed, size_t stream);

/* Calls `use` with the waits charged so far, which are locked meanwhile.  Returns 0,
 * -ENOMEM or its result. */
int esi_page_feed_use_delay(struct esi_page_feed *feed,
                            int (*use)(void *data, struct esi_delay *delay),
                            void *data);

/* The unmatched messages and the cost of reading so far; `delay` is NULL. */
void esi_page_feed_waits(struct esi_page_feed *feed, struct esi_top_waits *ret_waits);

/* The stages of the scope that reads the run and their costs, at most one second old
 * while reading, as written by esi_scope_write_stages(). Waits for the reading thread,
 * which answers between two pulls.  NULL if not known, as for an archive.  Returns 0 or
 * -ENOMEM; the caller frees *ret_stages. */
int esi_page_feed_copy_stages(struct esi_page_feed *feed, char **ret_stages);

#endif
