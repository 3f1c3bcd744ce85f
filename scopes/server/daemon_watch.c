/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Watches which processes of the run live on this host, and which have vanished. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/server/daemon.h"
#include "scopes/server/ending.h"
#include "tuplespace/segment_set.h"

enum {
    SETTLED = 255,
    /* Looks at a process that is gone before it is told: its watcher notes meanwhile
     * how it ended. */
    LOOKS = 2,
};

struct watched {
    const struct es_segment_view *segment; /* borrowed from the run */
    unsigned char gone;                    /* looks since it is, or SETTLED */
};

struct esi_watch {
    struct es_run *run;
    char host[64];
    struct watched *items; /* owned; in the order of the run's segments */
    size_t count;
};

int esi_watch_create(struct esi_segment_set *segments,
                     const char *host,
                     struct esi_watch **ret_watch)
{
    struct esi_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return -ENOMEM;
    snprintf(watch->host, sizeof watch->host, "%s", host);
    int code = esi_run_open_shared(segments, false, NULL, &watch->run);
    if (code < 0) {
        free(watch);
        return code;
    }
    *ret_watch = watch;
    return 0;
}

void esi_watch_destroy(struct esi_watch *watch)
{
    if (!watch)
        return;
    es_run_close(watch->run);
    free(watch->items);
    free(watch);
}

static unsigned char find_gone(const struct esi_watch *watch,
                               size_t hint,
                               const struct es_segment_view *segment)
{
    /* The order changes seldom. */
    if (hint < watch->count && watch->items[hint].segment == segment)
        return watch->items[hint].gone;
    for (size_t i = 0; i < watch->count; i++)
        if (watch->items[i].segment == segment)
            return watch->items[i].gone;
    return 0;
}

/* Brings the list into the order that the run has now. */
static int daemon_watch_follow(struct esi_watch *watch)
{
    size_t count = es_run_segment_count(watch->run);
    struct watched *items = calloc(count + 1, sizeof *items);

    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        items[i].segment = es_run_segment(watch->run, i);
        items[i].gone = find_gone(watch, i, items[i].segment);
    }
    free(watch->items);
    watch->items = items;
    watch->count = count;
    return 0;
}

static void daemon_watch_describe(const struct es_segment_info *info,
                                  struct esi_lost_rank *ret_lost)
{
    struct esi_lost_rank lost = {.rank = info->rank, .pid = info->pid};

    esi_ending_describe(info, lost.how, sizeof lost.how);
    *ret_lost = lost;
}

/* Whether the process lives. */
static bool look_at(struct watched *item,
                    const char *host,
                    void (*lose)(void *data, const struct esi_lost_rank *lost),
                    void *data)
{
    struct es_segment_info info;
    struct esi_lost_rank lost;

    if (item->gone == SETTLED)
        return false;
    es_segment_view_info(item->segment, &info);
    /* What tuple servers hold is no process, and monitors do not make a run live. */
    if (info.kept || info.rank < 0 || strcmp(info.host, host) != 0) {
        item->gone = SETTLED;
        return false;
    }
    if (info.alive)
        return true;
    bool has_finished = info.state == ES_PROCESS_FINALIZED;
    if (!has_finished && ++item->gone < LOOKS)
        return false;
    item->gone = SETTLED;
    if (!has_finished) {
        daemon_watch_describe(&info, &lost);
        lose(data, &lost);
    }
    return false;
}

int esi_watch_scan(struct esi_watch *watch,
                   void (*lose)(void *data, const struct esi_lost_rank *lost),
                   void *data)
{
    int alive = 0;

    /* What cannot be looked at now can be later. */
    if (es_run_refresh(watch->run) >= 0)
        daemon_watch_follow(watch);
    for (size_t i = 0; i < watch->count; i++)
        alive += look_at(&watch->items[i], watch->host, lose, data);
    return alive;
}
