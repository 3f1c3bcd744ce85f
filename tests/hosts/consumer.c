/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * consumer - pulls every event of a run from all its hosts and reports what it
 * received.
 *
 *     consumer RUN HOME|- IDLE [SETTING=VALUE...]
 *
 * Writes JSON Lines to standard output, as read by tests/hosts/account.py: an object
 * for each event, at the end the number of lost tuples. Writes to standard error a line
 * for each notice that differs from the last one of its subtree. Ends when no tuple has
 * arrived for IDLE seconds.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/scope.h"

enum { PAUSE_MS = 20, REFRESH_PULLS = 10, PARTS = 16 };

/* The last notice of each subtree. */
struct told {
    struct es_notice notices[PARTS];
    size_t count;
};

struct consumer {
    struct es_servers *servers;
    struct es_run *run;
    struct es_scope *scope;
    struct told told;
    uint64_t lost;
};

static int fail(const char *what, int code, const struct es_error *error)
{
    fprintf(stderr, "consumer: %s: %s\n", what,
            error->text[0] ? error->text : strerror(-code));
    return 3;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void print_event(const struct es_origin *origin, uint64_t position)
{
    printf("{\"type\": \"event\", \"host\": \"%s\", \"rank\": %d, \"element\": \"%s\", "
           "\"position\": %" PRIu64 "}\n",
           origin->host, origin->rank, origin->name, position);
}

static void print_notice(struct told *told, const struct es_notice *notice)
{
    struct es_notice *last = told->notices;

    while (last < told->notices + told->count && strcmp(last->part, notice->part) != 0)
        last++;
    if (last == told->notices + PARTS)
        return;
    if (last < told->notices + told->count && last->code == notice->code)
        return;
    if (last == told->notices + told->count)
        told->count++;
    *last = *notice;
    fprintf(stderr, "%s: %s\n", notice->part, strerror(-notice->code));
}

static void use(struct consumer *consumer, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        print_event(es_scope_origin(consumer->scope, batch->marks[i].origin),
                    batch->marks[i].position);
    for (size_t i = 0; i < batch->report_count; i++)
        consumer->lost += batch->reports[i].lost;
    for (size_t i = 0; i < batch->notice_count; i++)
        print_notice(&consumer->told, &batch->notices[i]);
    if (batch->notice_count == 0)
        consumer->told.count = 0;
}

/* Maximum time of pulls that does not count as idle, in seconds. */
#define MOST_EXCUSED 15.0

/* Returns when no tuple has arrived for `idle` seconds.  The time in a pull that waits
 * for a silent host does not count, since tuples of other hosts may be available after
 * it. */
static void pull_all(struct consumer *consumer, double idle)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    const struct es_batch *batch;
    double last = now();
    double excused = 0;

    for (unsigned pulls = 0; now() < last + idle + excused; pulls++) {
        double begun = now();

        if (pulls % REFRESH_PULLS == 0)
            es_scope_refresh(consumer->scope);
        if (es_scope_pull(consumer->scope, ES_PULL_DRAIN, &batch) == 0) {
            use(consumer, batch);
            if (batch->count > 0)
                last = now();
            if (batch->more)
                continue;
        }
        if (excused < MOST_EXCUSED)
            excused += now() - begun;
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
}

static void print_end(const struct consumer *consumer)
{
    uint64_t missed = 0;

    for (size_t i = 0; i < es_scope_origin_count(consumer->scope); i++)
        missed += es_scope_origin(consumer->scope, (uint32_t)i)->missed;
    printf("{\"type\": \"end\", \"lost\": %" PRIu64 ", \"overwritten_before\": %" PRIu64
           "}\n",
           consumer->lost, missed);
}

static int open_all(struct consumer *consumer,
                    const char *name,
                    const char *home,
                    char **settings,
                    struct es_error *error)
{
    struct es_scope_config config;

    es_scope_config_init(&config);
    config.name = "consumer";
    int code = es_servers_open(name, home, error, &consumer->servers);
    if (code == 0)
        code =
            es_run_open_empty(es_servers_run(consumer->servers), error, &consumer->run);
    for (; code == 0 && *settings; settings++) {
        char *value = strchr(*settings, '=');
        if (!value)
            return es_error_set(error, -EINVAL, "%s: no value", *settings);
        *value = '\0';
        code = es_scope_config_set(&config, *settings, value + 1, error);
    }
    config.servers = consumer->servers;
    return code == 0 ? es_scope_open(consumer->run, &config, error, &consumer->scope)
                     : code;
}

int main(int argc, char **argv)
{
    struct consumer consumer = {.lost = 0};
    struct es_error error = {.text = ""};

    if (argc < 4) {
        fprintf(stderr, "usage: consumer RUN HOME|- IDLE [SETTING=VALUE...]\n");
        return 2;
    }
    const char *home = strcmp(argv[2], "-") == 0 ? NULL : argv[2];
    int code = open_all(&consumer, argv[1], home, argv + 4, &error);
    if (code == 0) {
        pull_all(&consumer, atof(argv[3]));
        print_end(&consumer);
    }
    int status = code < 0 ? fail(argv[1], code, &error) : 0;
    es_scope_close(consumer.scope);
    es_run_close(consumer.run);
    es_servers_close(consumer.servers);
    return status;
}
