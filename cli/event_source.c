/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reading an event set for a command, with progress on a terminal. */
#include "config.h"

#include "cli/event_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/now.h"
#include "cli/command.h"
#include "cli/consumer.h"
#include "monitors/causality_scope.h"

#define FIRST_NS UINT64_C(2000000000) /* until then nothing is shown */
#define NEXT_NS UINT64_C(500000000)

enum { LOOK_EVERY = 4096 }; /* events between two looks at the clock */

/* Passes on what comes, and shows now and then how much it was. */
struct progress {
    const struct es_set_sink *sink;
    uint64_t events;
    uint64_t next_ns; /* when to show; 0 = never */
    bool shown;
};

static void show(struct progress *progress)
{
    uint64_t now_ns = es_now_ns(CLOCK_MONOTONIC);

    if (now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + NEXT_NS;
    progress->shown = true;
    fprintf(stderr, "\r%" PRIu64 " events ...", progress->events);
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    const struct progress *progress = data;

    return progress->sink->trace(progress->sink->data, trace, name);
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct progress *progress = data;

    if (++progress->events % LOOK_EVERY == 0 && progress->next_ns)
        show(progress);
    return progress->sink->event(progress->sink->data, event);
}

/* --- Runs ------------------------------------------------------------------------- */

static int read_run(void *data,
                    const struct es_set_source_config *config,
                    struct es_set_source_facts *facts,
                    struct es_error *error)
{
    const struct esi_consumer *consumer = data;
    struct es_causality_scope_config scope_config;
    struct es_causality_scope *scope;
    int result;

    es_causality_scope_config_init(&scope_config);
    scope_config.causality.sink = config->sink;
    scope_config.causality.attributes = config->attributes;
    scope_config.servers = consumer->servers;
    result = es_causality_scope_open(consumer->run, &scope_config, error, &scope);
    if (result < 0)
        return result;
    result = es_causality_scope_finish(scope);
    facts->is_incomplete =
        es_causality_is_incomplete(es_causality_scope_causality(scope));
    es_causality_totals(es_causality_scope_causality(scope), &facts->totals);
    es_causality_scope_close(scope);
    return result;
}

/* A word that names no file is a run.  0, or the exit status after the message. */
static int open_run(const char *name, struct esi_consumer *ret_consumer)
{
    static const struct esi_consumer_options options = {.server = NULL};
    struct es_run *run;
    int result = es_run_open(name, NULL, &run);

    if (result == -ENOENT)
        return esi_command_fail(ES_EXIT_USAGE, "%s: no such file, archive or run",
                                name);
    if (result == 0)
        es_run_close(run);
    return esi_consumer_open(name, &options, ret_consumer);
}

/* --- All -------------------------------------------------------------------------- */

static int read_source(struct es_set_source_config *config,
                       struct progress *progress,
                       struct es_set_source_facts *ret_facts)
{
    struct es_error error = {.text = ""};
    int result = es_set_source_read(config, ret_facts, &error);

    if (progress->shown)
        fputs("\r\033[K", stderr);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events");
    return ES_EXIT_SUCCESS;
}

int esi_event_source_read(const char *path,
                          bool attributes,
                          const struct es_set_sink *sink,
                          struct es_set_source_facts *ret_facts)
{
    struct progress progress = {
        .sink = sink,
        .next_ns =
            esi_command_is_terminal(stderr) ? es_now_ns(CLOCK_MONOTONIC) + FIRST_NS : 0,
    };
    struct es_set_source_config config = {
        .path = path,
        .sink = {.trace = take_trace, .event = take_event, .data = &progress},
        .attributes = attributes,
    };
    struct esi_consumer consumer;
    enum es_set_source_kind kind;
    int status;

    if (es_set_source_detect(path, &kind, NULL) < 0 || kind != ES_SET_SOURCE_RUN)
        return read_source(&config, &progress, ret_facts);
    status = open_run(path, &consumer);
    if (status != ES_EXIT_SUCCESS)
        return status;
    config.read_run = read_run;
    config.run_data = &consumer;
    status = read_source(&config, &progress, ret_facts);
    esi_consumer_close(&consumer);
    return status;
}

bool esi_event_source_is_file(const char *path, const char *why)
{
    enum es_set_source_kind kind;

    if (es_set_source_detect(path, &kind, NULL) < 0 || kind == ES_SET_SOURCE_FILE ||
        kind == ES_SET_SOURCE_ARCHIVE)
        return true;
    esi_command_fail(ES_EXIT_USAGE,
                     "%s reads the events twice: %s cannot be; write a file first, "
                     "with `eventspace import` or `export`",
                     why, kind == ES_SET_SOURCE_INPUT ? "standard input" : "a run");
    return false;
}

void esi_event_source_tell_missing(const struct es_set_source_facts *facts)
{
    const struct es_causality_totals *totals = &facts->totals;

    if (!facts->is_matched || !facts->is_incomplete)
        return;
    esi_command_note("the order is a lower bound: %" PRIu64
                     " tuples were lost, %" PRIu64 " sends and %" PRIu64
                     " receives have no other end, %" PRIu64
                     " collective operations lack members",
                     totals->lost, totals->unmatched_sends, totals->unmatched_receives,
                     totals->incomplete);
}
