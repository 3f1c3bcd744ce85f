/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_progress.c - a thread that shows on a terminal that a search goes on. */
#include "config.h"

#include "cli/search_progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/now.h"
#include "base/plain.h"
#include "cli/command.h"

#define FIRST_NS UINT64_C(2000000000) /* until then nothing is shown */
#define NEXT_NS UINT64_C(500000000)
#define SECOND_NS UINT64_C(1000000000)

struct esi_search_progress {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    const char *pattern; /* borrowed */
    uint64_t start_ns;
    uint64_t matches; /* this one and the next are guarded by the mutex */
    bool is_shown;
    bool is_over;
};

static void show_line(struct esi_search_progress *progress)
{
    uint64_t elapsed_ns = esi_now_ns(CLOCK_MONOTONIC) - progress->start_ns;

    fputs("\r\033[K", stderr);
    esi_plain_print(stderr, "%s: %" PRIu64 " matches in %" PRIu64 " s ...",
                    progress->pattern, progress->matches, elapsed_ns / SECOND_NS);
    progress->is_shown = true;
}

static void *run_progress(void *data)
{
    struct esi_search_progress *progress = data;
    uint64_t next_ns = progress->start_ns + FIRST_NS;

    pthread_mutex_lock(&progress->mutex);
    while (!progress->is_over) {
        if (esi_now_ns(CLOCK_MONOTONIC) >= next_ns) {
            show_line(progress);
            next_ns += NEXT_NS;
        } else
            esi_condition_wait(&progress->ended, &progress->mutex, next_ns);
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

/* Signals are for the thread that searches. */
static int start_thread(struct esi_search_progress *progress)
{
    sigset_t all;
    sigset_t before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&progress->thread, NULL, run_progress, progress);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

struct esi_search_progress *esi_search_progress_start(const char *pattern)
{
    struct esi_search_progress *progress;

    if (!esi_command_is_terminal(stderr))
        return NULL;
    progress = calloc(1, sizeof *progress);
    if (!progress)
        return NULL;
    progress->pattern = pattern;
    progress->start_ns = esi_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&progress->mutex, NULL);
    esi_condition_init(&progress->ended);
    if (start_thread(progress) == 0)
        return progress;
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
    return NULL;
}

static void clear_line(struct esi_search_progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}

void esi_search_progress_stop(struct esi_search_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->is_over = true;
    clear_line(progress);
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->ended);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}

void esi_search_progress_count(struct esi_search_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->matches++;
    pthread_mutex_unlock(&progress->mutex);
}

void esi_search_progress_clear(struct esi_search_progress *progress)
{
    if (!progress)
        return;
    pthread_mutex_lock(&progress->mutex);
    clear_line(progress);
    pthread_mutex_unlock(&progress->mutex);
}
