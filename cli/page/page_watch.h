/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_watch.h - the verdict on a run, its numbers, and what its collective trees do,
 * looked for again and again while the page is served; of an archive the verdict, once.
 *
 * A thread of its own looks, and takes a twentieth of its time for that at most; where
 * a run has trees another one gathers what their nodes tell.
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
    struct esi_consumer_options consumer; /* of a run */
    struct esi_page_feed *feed; /* whose diagram is told the clusters of a run's hosts,
                                   and that has its waits; borrowed */
};

struct esi_page_watch;

/* -errno: there is no thread for it. */
int esi_page_watch_start(const struct esi_page_watch_config *config,
                         struct esi_page_watch **ret_watch);
/* Ends looking.  Accepts NULL. */
void esi_page_watch_stop(struct esi_page_watch *watch);

struct esi_page_ranks {
    int *items;
    size_t count;
};

/* What the last look found.  All texts and ranks are owned. */
struct esi_page_verdict {
    char *lines;    /* as of `why --format json`; NULL = nobody has looked yet */
    char *text;     /* as of `why` */
    char *headline; /* NULL = nothing is wrong */
    bool is_certain;
    struct esi_page_ranks ranks; /* whom it is about */
    struct esi_page_ranks cycle; /* each waits for the next; empty = there is none */
};

/* To be ended with _fini.  0 or -ENOMEM.  Of NULL nobody has looked. */
int esi_page_watch_copy(struct esi_page_watch *watch,
                        struct esi_page_verdict *ret_verdict);
void esi_page_verdict_fini(struct esi_page_verdict *verdict);

/* What internal nodes of instrumented trees did until the last look, as JSON Lines:
 * see esi_node_watch_print(); "" of an archive without tuples of trees.  NULL: nobody
 * has looked yet.  0 or -ENOMEM; caller frees *ret_lines. */
int esi_page_watch_copy_trees(struct esi_page_watch *watch, char **ret_lines);

/* The run as numbers for Prometheus, as of the last look.  Looks make them from the
 * first time on that somebody asks, who waits for one.  NULL: it does not come, or it
 * is an archive.  0 or -ENOMEM; caller frees *ret_text. */
int esi_page_watch_copy_metrics(struct esi_page_watch *watch, char **ret_text);

#endif
