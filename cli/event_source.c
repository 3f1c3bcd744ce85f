/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reading an event set for a command, with progress on a terminal. */
#include "config.h"

#include "cli/event_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/command.h"
#include "cli/event_source_run.h"
#include "monitors/eventset/set_spool.h"
#include "monitors/eventset/set_write.h"

#define FIRST_NS UINT64_C(2000000000) /* until then nothing is shown */
#define NEXT_NS UINT64_C(500000000)

enum { LOOK_EVERY = 4096 }; /* events between two looks at the clock */

/* --- Options ---------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"follow", 'F', NULL, 0, "go on until it ends, or an interrupt (Ctrl-C)", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct esi_event_source *source = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &source->consumer;
        return 0;
    case 'F':
        source->follow = true;
        return 0;
    case ARGP_KEY_ARG:
        if (source->path)
            argp_error(state, "one SET at a time: '%s' is one too many", text);
        source->path = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0}, {0}};

const struct argp esi_event_source_argp = {options,  parse_option, NULL, NULL,
                                           children, NULL,         NULL};

/* --- Progress --------------------------------------------------------------------- */

/* Passes on what comes, and shows now and then how much it was. */
struct progress {
    const struct es_set_sink *sink;
    uint64_t events;
    uint64_t next_ns; /* when to show; 0 = never */
    bool shown;
    bool refused; /* the sink did not take something */
};

static void show_progress(void *data)
{
    struct progress *progress = data;
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    if (progress->next_ns == 0 || now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + NEXT_NS;
    progress->shown = true;
    fprintf(stderr, "\r%" PRIu64 " events ...", progress->events);
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct progress *progress = data;
    int result = progress->sink->trace(progress->sink->data, trace, name);

    progress->refused |= result < 0;
    return result;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct progress *progress = data;
    int result;

    if (++progress->events % LOOK_EVERY == 0)
        show_progress(progress);
    result = progress->sink->event(progress->sink->data, event);
    progress->refused |= result < 0;
    return result;
}

/* --- Reading ---------------------------------------------------------------------- */

static void take_unmatched(void *data, const struct esi_causality *causality)
{
    if (esi_unmatched_take(data, causality) < 0)
        esi_command_note("no memory for the channels on which ends are missing");
}

static int read_source(struct esi_set_source_config *config,
                       struct progress *progress,
                       struct esi_set_source_facts *ret_facts)
{
    struct es_error error = {.text = ""};
    int result = esi_set_source_read(config, ret_facts, &error);

    if (progress->shown)
        fputs("\r\033[K", stderr);
    if (result < 0 && config->run_data && !progress->refused && !error.text[0])
        return esi_command_fail_error(ES_EXIT_LOST, NULL, result,
                                      "the run can no longer be read");
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events");
    return ES_EXIT_SUCCESS;
}

static int read_run(const struct esi_event_source *source,
                    struct esi_set_source_config *config,
                    struct progress *progress,
                    struct esi_set_source_facts *ret_facts)
{
    struct esi_run_reading reading = {
        .follow = source->follow,
        .is_enough = source->is_enough,
        .enough_data = source->enough_data,
        .progress = show_progress,
        .data = progress,
    };
    int status = esi_run_reading_open(&reading, source->path, &source->consumer);

    if (status != ES_EXIT_SUCCESS)
        return status;
    config->read_run = esi_run_reading_read;
    config->run_data = &reading;
    status = read_source(config, progress, ret_facts);
    esi_consumer_close(&reading.consumer);
    return status;
}

/* Options of runs are not for files. */
static int check_file(const struct esi_event_source *source)
{
    const char *option = source->follow            ? "--follow"
                         : source->consumer.server ? "--server"
                         : source->consumer.local  ? "--local"
                                                   : NULL;

    if (!option)
        return ES_EXIT_SUCCESS;
    return esi_command_fail(ES_EXIT_USAGE, "%s is for runs, and %s is none", option,
                            strcmp(source->path, "-") == 0 ? "standard input"
                                                           : source->path);
}

static int read_first(const struct esi_event_source *source,
                      struct esi_set_source_config *config,
                      struct progress *progress,
                      struct esi_set_source_facts *ret_facts)
{
    enum esi_set_source_kind kind;
    int status;

    if (esi_set_source_detect(source->path, &kind, NULL) == 0 &&
        kind == ES_SET_SOURCE_RUN)
        return read_run(source, config, progress, ret_facts);
    status = check_file(source);
    return status == ES_EXIT_SUCCESS ? read_source(config, progress, ret_facts)
                                     : status;
}

int esi_event_source_read(const struct esi_event_source *source,
                          bool attributes,
                          const struct es_set_sink *sink,
                          struct esi_set_source_facts *ret_facts)
{
    struct progress progress = {
        .sink = sink,
        .next_ns = esi_command_is_terminal(stderr)
                       ? esi_now_ns(CLOCK_MONOTONIC) + FIRST_NS
                       : 0,
    };
    struct esi_set_source_config config = {
        .path = source->kept ? source->kept : source->path,
        .sink = {.trace = take_trace, .event = take_event, .data = &progress},
        .attributes = attributes,
        .found = source->unmatched ? take_unmatched : NULL,
        .found_data = source->unmatched,
    };
    int status;

    if (!source->kept)
        return read_first(source, &config, &progress, ret_facts);
    status = read_source(&config, &progress, NULL);
    if (status == ES_EXIT_SUCCESS && ret_facts)
        *ret_facts = source->facts;
    return status;
}

bool esi_event_source_tells_traces_first(const struct esi_event_source *source)
{
    enum esi_set_source_kind kind;

    return source->kept ||
           (esi_set_source_detect(source->path, &kind, NULL) == 0 &&
            (kind == ES_SET_SOURCE_FILE || kind == ES_SET_SOURCE_INPUT));
}

/* --- Reading twice ---------------------------------------------------------------- */

static int copy_to(const struct esi_event_source *source,
                   const char *path,
                   struct esi_set_source_facts *ret_facts)
{
    struct es_error error = {.text = ""};
    struct esi_set_write *write;
    struct es_set_sink sink;
    int result = esi_set_write_open(path, &error, &write);
    int status;

    if (result == 0) {
        sink = esi_set_write_sink(write);
        status = esi_event_source_read(source, true, &sink, ret_facts);
        if (status != ES_EXIT_SUCCESS) {
            esi_set_write_destroy(write);
            return status;
        }
        result = esi_set_write_close(write, &error);
    }
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot keep the events")
                      : ES_EXIT_SUCCESS;
}

int esi_event_source_keep(struct esi_event_source *source)
{
    enum esi_set_source_kind kind;
    int descriptor;
    char *path;
    int status;

    if (esi_set_source_detect(source->path, &kind, NULL) < 0 ||
        kind == ES_SET_SOURCE_FILE || kind == ES_SET_SOURCE_ARCHIVE)
        return ES_EXIT_SUCCESS; /* can be read twice, or not at all */
    descriptor = esi_spool_open_file(NULL);
    if (descriptor < 0)
        return esi_command_fail(ES_EXIT_USAGE, "cannot keep the events in a file: %s",
                                strerror(-descriptor));
    if (asprintf(&path, "/proc/self/fd/%d", descriptor) < 0) {
        close(descriptor);
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    }
    status = copy_to(source, path, &source->facts);
    source->kept = path;
    source->descriptor = descriptor;
    return status;
}

void esi_event_source_fini(struct esi_event_source *source)
{
    if (!source->kept)
        return;
    close(source->descriptor);
    free(source->kept);
    source->kept = NULL;
}

void esi_event_source_tell_missing(const struct esi_set_source_facts *facts)
{
    const struct esi_causality_totals *totals = &facts->totals;

    if (!facts->is_matched || !facts->is_incomplete)
        return;
    esi_command_note("the order is a lower bound: %" PRIu64
                     " tuples were lost, %" PRIu64 " sends and %" PRIu64
                     " receives have no other end, %" PRIu64
                     " ends of messages have no number, %" PRIu64
                     " collective operations lack members",
                     totals->lost, totals->unmatched_sends, totals->unmatched_receives,
                     totals->unnumbered, totals->incomplete);
}
