/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_watch.c - observes a run, and stores the verdict as texts. */
#include "config.h"

#include "cli/page/page_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "base/now.h"
#include "cli/page/page_clusters.h"
#include "monitors/collectives/node_archive.h"
#include "monitors/collectives/node_watch.h"
#include "monitors/latent/latent.h"
#include "monitors/metrics/metrics.h"
#include "monitors/verdict/verdict_print.h"

#define SECOND_NS UINT64_C(1000000000)
#define METRICS_WAIT_NS (5 * SECOND_NS) /* less than the 10 s of a scrape */

enum { LOOKS = 20 }; /* the pause is this multiple of an observation's duration */

struct esi_page_watch {
    struct esi_page_watch_config config;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the following */
    pthread_cond_t woken;
    pthread_cond_t made; /* metrics were computed, or never will be */
    bool is_ending;
    bool is_over; /* the thread has ended */
    bool wants_metrics;
    struct esi_page_verdict verdict;
    char *trees;    /* owned, like `metrics`; NULL = no observation yet */
    bool has_nodes; /* of trees */
    char *metrics;
};

/* --- Verdicts --------------------------------------------------------------------- */

void esi_page_verdict_fini(struct esi_page_verdict *verdict)
{
    free(verdict->lines);
    free(verdict->text);
    free(verdict->headline);
    free(verdict->ranks.items);
    free(verdict->cycle.items);
    *verdict = (struct esi_page_verdict){.lines = NULL};
}

static int copy_ranks(const int *items, size_t count, struct esi_page_ranks *ret_copy)
{
    struct esi_page_ranks copy = {calloc(count + 1, sizeof *copy.items), count};

    if (!copy.items)
        return -ENOMEM;
    if (count > 0)
        memcpy(copy.items, items, count * sizeof *copy.items);
    *ret_copy = copy;
    return 0;
}

static int copy_text(const char *text, char **ret_copy)
{
    *ret_copy = text ? strdup(text) : NULL;
    return text && !*ret_copy ? -ENOMEM : 0;
}

int esi_page_watch_copy(struct esi_page_watch *watch,
                        struct esi_page_verdict *ret_verdict)
{
    struct esi_page_verdict copy = {.lines = NULL};
    const struct esi_page_verdict *from;
    int result;

    *ret_verdict = copy;
    if (!watch)
        return 0;
    from = &watch->verdict;
    pthread_mutex_lock(&watch->lock);
    copy.is_certain = from->is_certain;
    result = copy_ranks(from->ranks.items, from->ranks.count, &copy.ranks);
    if (result == 0)
        result = copy_ranks(from->cycle.items, from->cycle.count, &copy.cycle);
    if (result == 0)
        result = copy_text(from->lines, &copy.lines);
    if (result == 0)
        result = copy_text(from->text, &copy.text);
    if (result == 0)
        result = copy_text(from->headline, &copy.headline);
    pthread_mutex_unlock(&watch->lock);
    if (result < 0)
        esi_page_verdict_fini(&copy);
    *ret_verdict = copy;
    return result;
}

int esi_page_watch_copy_trees(struct esi_page_watch *watch, char **ret_lines)
{
    int result;

    pthread_mutex_lock(&watch->lock);
    result = copy_text(watch->trees, ret_lines);
    if (result == 0)
        result = watch->has_nodes;
    pthread_mutex_unlock(&watch->lock);
    return result;
}

int esi_page_watch_copy_metrics(struct esi_page_watch *watch, char **ret_text)
{
    uint64_t deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + METRICS_WAIT_NS;
    int result;

    pthread_mutex_lock(&watch->lock);
    watch->wants_metrics = true;
    while (!watch->metrics && !watch->is_over && esi_now_left_ns(deadline_ns) > 0)
        esi_condition_wait(&watch->made, &watch->lock, deadline_ns);
    result = copy_text(watch->metrics, ret_text);
    pthread_mutex_unlock(&watch->lock);
    return result;
}

/* The texts of an observation being written. */
struct look_texts {
    struct esi_page_verdict *verdict;
    size_t lines_length, text_length;
    FILE *lines;
    FILE *text;
};

static int open_texts(struct look_texts *texts, struct esi_page_verdict *verdict)
{
    *verdict = (struct esi_page_verdict){.lines = NULL};
    *texts = (struct look_texts){.verdict = verdict};
    texts->lines = open_memstream(&verdict->lines, &texts->lines_length);
    texts->text = open_memstream(&verdict->text, &texts->text_length);
    return texts->lines && texts->text ? 0 : -ENOMEM;
}

static int close_texts(struct look_texts *texts)
{
    int result = texts->lines && texts->text ? 0 : -ENOMEM;

    if (texts->lines && fclose(texts->lines) != 0)
        result = -ENOMEM;
    if (texts->text && fclose(texts->text) != 0)
        result = -ENOMEM;
    return result;
}

static int write_diagnosis(struct look_texts *texts,
                           const struct esi_diagnosis *diagnosis)
{
    const struct esi_verdict_style style = {.all = true, .waits = true};
    const struct esi_verdict_item *item;
    int result = esi_diagnosis_print_json(diagnosis, texts->lines);

    if (result == 0)
        result = esi_diagnosis_print_text(diagnosis, &style, texts->text);
    if (result < 0 || diagnosis->count == 0)
        return result;
    item = &diagnosis->items[0];
    texts->verdict->is_certain = item->certain;
    result = copy_ranks(item->ranks.items, item->ranks.count, &texts->verdict->ranks);
    if (result == 0)
        result =
            copy_ranks(item->cycle.items, item->cycle.count, &texts->verdict->cycle);
    return result;
}

/* The first line of the verdict, if there is a problem. */
static int cut_headline(struct esi_page_verdict *verdict)
{
    if (verdict->ranks.count == 0)
        return 0;
    verdict->headline = strndup(verdict->text, strcspn(verdict->text, "\n"));
    return verdict->headline ? 0 : -ENOMEM;
}

/* Takes the texts, if the observation succeeded. */
static int keep_look(struct esi_page_watch *watch, struct look_texts *texts, int result)
{
    struct esi_page_verdict *verdict = texts->verdict;
    int closed = close_texts(texts);

    if (result == 0)
        result = closed;
    if (result == 0)
        result = cut_headline(verdict);
    if (result < 0) {
        esi_page_verdict_fini(verdict);
        return result;
    }
    pthread_mutex_lock(&watch->lock);
    esi_page_verdict_fini(&watch->verdict);
    watch->verdict = *verdict;
    pthread_mutex_unlock(&watch->lock);
    return 0;
}

/* --- An archive ------------------------------------------------------------------- */

/* A run that ended successfully has no verdicts. */
static int write_end(struct look_texts *texts,
                     const struct esi_archived_facts *archived)
{
    struct esi_diagnosis diagnosis;
    int result;

    if (esi_archived_facts_ended_well(archived))
        return 0;
    result = esi_diagnosis_make(esi_archived_facts_get(archived), NULL, &diagnosis);
    if (result == 0) {
        result = write_diagnosis(texts, &diagnosis);
        esi_diagnosis_fini(&diagnosis);
    }
    return result;
}

static int write_archived(struct look_texts *texts, const char *directory)
{
    struct esi_latent latent;
    int result = esi_latent_read(directory, NULL, &latent);

    if (result < 0)
        return result;
    result = write_end(texts, latent.archived);
    if (result == 0) {
        esi_latent_print_json(&latent, texts->lines);
        esi_latent_print_text(&latent, texts->text);
    }
    esi_latent_fini(&latent);
    return result;
}

/* `result` is that of printing to `out`, which wrote *lines; takes both. */
static void keep_trees(struct esi_page_watch *watch,
                       FILE *out,
                       char **lines,
                       int result)
{
    if (!out || fclose(out) != 0 || result < 0) {
        free(*lines);
        return;
    }
    pthread_mutex_lock(&watch->lock);
    free(watch->trees);
    watch->trees = *lines;
    watch->has_nodes = result > 0;
    pthread_mutex_unlock(&watch->lock);
}

/* Errors of the archive are reported when its events are read. */
static void look_at_archived_trees(struct esi_page_watch *watch)
{
    char *lines = NULL;
    size_t length;
    FILE *out = open_memstream(&lines, &length);
    int result =
        out ? esi_node_archive_print(watch->config.name, ESI_ROWS_JSON, out, NULL) : 0;

    keep_trees(watch, out, &lines, result);
}

static void look_at_archive(struct esi_page_watch *watch)
{
    const char *directory = watch->config.name;
    struct esi_page_verdict verdict;
    struct look_texts texts;
    int result = open_texts(&texts, &verdict);

    if (result == 0)
        result = write_archived(&texts, directory);
    keep_look(watch, &texts, result);
    look_at_archived_trees(watch);
}

/* --- A run ------------------------------------------------------------------------ */

/* Waits for this time.  Returns false if the thread is to end. */
static bool wait_for_next(struct esi_page_watch *watch, uint64_t span_ns)
{
    uint64_t deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + span_ns;
    bool is_ending;

    pthread_mutex_lock(&watch->lock);
    while (!watch->is_ending && esi_now_left_ns(deadline_ns) > 0)
        esi_condition_wait(&watch->woken, &watch->lock, deadline_ns);
    is_ending = watch->is_ending;
    pthread_mutex_unlock(&watch->lock);
    return !is_ending;
}

static bool are_metrics_wanted(struct esi_page_watch *watch)
{
    bool are_wanted;

    pthread_mutex_lock(&watch->lock);
    are_wanted = watch->wants_metrics;
    pthread_mutex_unlock(&watch->lock);
    return are_wanted;
}

struct metrics_writing {
    struct esi_top_look look;
    FILE *out;
};

static int write_metrics(void *data, struct esi_delay *delay)
{
    struct metrics_writing *writing = data;
    const struct esi_top_look *look = &writing->look;

    writing->look.waits.delay = delay;
    return esi_metrics_print(&look, 1, ESI_METRICS_OPENMETRICS, writing->out);
}

/* Includes the waits charged by the page.  If out of memory, the old text stays. */
static void make_metrics(struct esi_page_watch *watch, const struct esi_top_look *look)
{
    struct metrics_writing writing = {.look = *look};
    char *text = NULL;
    size_t length;
    bool is_whole;

    writing.out = open_memstream(&text, &length);
    if (!writing.out)
        return;
    esi_page_feed_waits(watch->config.feed, &writing.look.waits);
    is_whole =
        esi_page_feed_use_delay(watch->config.feed, write_metrics, &writing) == 0;
    if (fclose(writing.out) != 0 || !is_whole) {
        free(text);
        return;
    }
    pthread_mutex_lock(&watch->lock);
    free(watch->metrics);
    watch->metrics = text;
    pthread_cond_broadcast(&watch->made);
    pthread_mutex_unlock(&watch->lock);
}

/* If the run has vanished, the last verdict stays. */
static int look_at_run(struct esi_page_watch *watch, struct esi_top *top)
{
    struct esi_page_verdict verdict;
    struct look_texts texts;
    struct esi_top_look look;
    int result;

    if (are_metrics_wanted(watch))
        esi_top_want_profiles(top);
    result = esi_top_look(top, &look);
    if (result < 0 || look.observation.vanished)
        return result < 0 ? result : -ENOENT;
    if (look.profile)
        make_metrics(watch, &look);
    result = open_texts(&texts, &verdict);
    if (result == 0)
        result = write_diagnosis(&texts, look.observation.diagnosis);
    return keep_look(watch, &texts, result);
}

/* NULL if they cannot be observed. */
static struct esi_node_watch *watch_trees(struct esi_page_watch *watch,
                                          const struct esi_consumer *consumer)
{
    struct esi_tree_nodes_config config;
    struct esi_node_watch *nodes = NULL;

    esi_tree_nodes_config_init(&config);
    config.run = watch->config.name;
    config.servers = consumer->servers;
    config.scope.name = "view-nodes";
    esi_node_watch_start(&config, NULL, &nodes);
    return nodes;
}

/* If out of memory, the old text stays. */
static void look_at_trees(struct esi_page_watch *watch, struct esi_node_watch *nodes)
{
    char *lines = NULL;
    size_t length;
    FILE *out = nodes ? open_memstream(&lines, &length) : NULL;
    int result = out ? esi_node_watch_print(nodes, ESI_ROWS_JSON, out) : 0;

    keep_trees(watch, out, &lines, result);
}

static void look_again_and_again(struct esi_page_watch *watch,
                                 const struct esi_consumer *consumer,
                                 struct esi_node_watch *nodes)
{
    struct esi_diagram *diagram = esi_page_feed_diagram(watch->config.feed);
    struct esi_observer_config config = {.stalled_after_ns = ESI_STALLED_AFTER_NS,
                                         .servers = consumer->servers};
    struct esi_top *top;
    uint64_t begun_ns, span_ns;

    if (esi_top_create(consumer->run, &config, NULL, &top) < 0)
        return;
    do {
        begun_ns = esi_now_ns(CLOCK_MONOTONIC);
        esi_page_clusters_of_servers(consumer, diagram);
        if (look_at_run(watch, top) < 0) {
            esi_node_watch_stop(nodes);
            look_at_trees(watch, nodes);
            break;
        }
        look_at_trees(watch, nodes);
        span_ns = LOOKS * (esi_now_ns(CLOCK_MONOTONIC) - begun_ns);
    } while (wait_for_next(watch, span_ns > SECOND_NS ? span_ns : SECOND_NS));
    esi_top_destroy(top);
}

static void *watch_thread(void *data)
{
    struct esi_page_watch *watch = data;
    struct esi_node_watch *nodes;
    struct esi_consumer consumer;

    if (watch->config.is_archive) {
        look_at_archive(watch);
    } else if (esi_consumer_open(watch->config.name, &watch->config.consumer,
                                 &consumer) == 0) {
        esi_page_clusters_of_run(&consumer, esi_page_feed_diagram(watch->config.feed));
        nodes = watch_trees(watch, &consumer);
        look_again_and_again(watch, &consumer, nodes);
        esi_node_watch_destroy(nodes);
        esi_consumer_close(&consumer);
    }
    pthread_mutex_lock(&watch->lock);
    watch->is_over = true;
    pthread_cond_broadcast(&watch->made);
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

int esi_page_watch_start(const struct esi_page_watch_config *config,
                         struct esi_page_watch **ret_watch)
{
    struct esi_page_watch *watch = calloc(1, sizeof *watch);
    int result;

    if (!watch)
        return -ENOMEM;
    watch->config = *config;
    pthread_mutex_init(&watch->lock, NULL);
    esi_condition_init(&watch->woken);
    esi_condition_init(&watch->made);
    result = -pthread_create(&watch->thread, NULL, watch_thread, watch);
    if (result < 0)
        free(watch);
    else
        *ret_watch = watch;
    return result;
}

void esi_page_watch_stop(struct esi_page_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    pthread_cond_signal(&watch->woken);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    esi_page_verdict_fini(&watch->verdict);
    free(watch->trees);
    free(watch->metrics);
    pthread_cond_destroy(&watch->woken);
    pthread_cond_destroy(&watch->made);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
