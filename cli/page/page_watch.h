/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_watch.h - periodically computes the verdict on a run, its metrics and the
 * activity of its collective trees while the page is served; for an archive, the
 * verdict once.
 *
 * A separate thread observes the run and uses at most a twentieth of its time; if the
 * run has trees, another one gathers the results of their nodes.
 */
#ifndef ES_CLI_PAGE_PAGE_WATCH_H
#define ES_CLI_PAGE_PAGE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/consumer.h"
#include "cli/page/page_feed.h"

struct esi_page_watch_config {
    const char *name; /* of the run, or the directory of its archive; borrowed */
    bool is_archive;
    struct esi_consumer_options consumer; /* for a run */
    struct esi_page_feed *feed; /* sets the clusters of the hosts in its diagram, and
                                   reads its waits; borrowed */
};

struct esi_page_watch;

/* Returns 0, or -errno if the thread cannot be started. */
int esi_page_watch_start(const struct esi_page_watch_config *config,
                         struct esi_page_watch **ret_watch);
/* Ends the thread.  Accepts NULL. */
void esi_page_watch_stop(struct esi_page_watch *watch);

struct esi_page_ranks {
    int *items;
    size_t count;
};

/* The results of the last observation.  All texts and ranks are owned. */
struct esi_page_verdict {
    char *lines;    /* as from `why --format json`; NULL = no observation yet */
    char *text;     /* as from `why` */
    char *headline; /* NULL = no problem */
    bool is_certain;
    struct esi_page_ranks ranks; /* the ranks concerned */
    struct esi_page_ranks cycle; /* each waits for the next; empty = none */
};

/* Copies the results; free with _fini.  Returns 0 or -ENOMEM. NULL has no
 * observation. */
int esi_page_watch_copy(struct esi_page_watch *watch,
                        struct esi_page_verdict *ret_verdict);
void esi_page_verdict_fini(struct esi_page_verdict *verdict);

/* The activity of the internal nodes of instrumented trees up to the last observation,
 * as JSON Lines: see esi_node_watch_print(); "" for an archive without tuples of trees.
 * NULL if there was no observation yet.  Returns 1; 0 if there is no node; or -ENOMEM.
 * The caller frees *ret_lines. */
int esi_page_watch_copy_trees(struct esi_page_watch *watch, char **ret_lines);

/* The metrics of the run for Prometheus, as of the last observation.  They are computed
 * from the first request on, which waits for one observation.  NULL if there is none in
 * time, or for an archive.  Returns 0 or -ENOMEM; the caller frees *ret_text. */
int esi_page_watch_copy_metrics(struct esi_page_watch *watch, char **ret_text);

#endif
