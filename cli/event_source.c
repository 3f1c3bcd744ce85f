/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads an event set for a command, with progress on a terminal. */
#include "config.h"

#include "cli/event_source.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "monitors/archive/archive_read.h"
#include "monitors/causality/causality_scope.h"
#include "monitors/eventset/set_spool.h"
#include "monitors/eventset/set_write.h"
#include "monitors/eventset/sinks.h"

/* Between readings of a run without new data. */
#define PAUSE_NS 10000000

const char esi_event_source_lower_bound[] =
    "events shown as ordered are ordered, events shown as concurrent may be ordered, "
    "too";

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
            argp_error(state, "unexpected argument '%s': give one SET", text);
        source->path = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0}, {0}};

const struct argp esi_event_source_argp = {options,  parse_option, NULL, NULL,
                                           children, NULL,         NULL};

/* State of one reading. */
struct source_reading {
    const struct esi_event_source *source;
    struct esi_set_source_config config;
    struct esi_sinks sinks;
    struct es_set_sink items[1 + ES_SOURCE_SINKS];
    struct esi_consumer consumer; /* of a run */
    struct esi_progress progress;
};

/* The sinks, preceded by progress if there is a terminal. */
static void list_sinks(struct source_reading *reading,
                       const struct es_set_sink *sinks,
                       size_t count)
{
    size_t all = 0;

    assert(count <= ES_SOURCE_SINKS);
    all += esi_progress_start(&reading->progress, &reading->items[0]);
    for (size_t i = 0; i < count; i++)
        reading->items[all++] = sinks[i];
    reading->sinks = (struct esi_sinks){.items = reading->items, .count = all};
}

/* --- A run ------------------------------------------------------------------------ */

/* Whether neither this host nor a tuple server has a run of this name. */
static bool is_nowhere(const char *name)
{
    struct es_servers *servers;
    struct es_run *run;
    int result = es_run_open(name, NULL, &run);

    if (result == 0)
        es_run_close(run);
    if (result != -ENOENT)
        return result == -EINVAL; /* the name is invalid for a run */
    result = es_servers_open(name, NULL, NULL, &servers);
    if (result == 0)
        es_servers_close(servers);
    return result == -ENOENT;
}

/* A run that is cleaned up at its end vanishes; its attached segments can still be
 * read. */
static bool is_at_end(const struct esi_event_source *source,
                      const struct esi_follower *follower)
{
    return esi_interrupt_came() || esi_follower_is_over(follower) ||
           es_scope_has_vanished(esi_follower_scope(follower)) ||
           (source->is_enough && source->is_enough(source->enough_data));
}

static int pause_reading(const struct esi_event_source *source,
                         const struct esi_causality_scope *reading,
                         uint64_t now_ns)
{
    return source->paused ? source->paused(source->paused_data, reading, now_ns) : 0;
}

/* Reads until no process is alive, then reads the remaining data. */
static int follow_run(struct source_reading *reading, struct esi_causality_scope *scope)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const struct esi_follower *follower = esi_causality_scope_follower(scope);
    struct esi_notices notices = {.count = 0};
    int result;

    while (!is_at_end(reading->source, follower)) {
        struct es_scope *read = esi_follower_scope(follower);
        uint64_t now_ns = es_scope_run_now_ns(read);
        int more = esi_causality_scope_read(scope, false);

        if (more < 0)
            return more;
        result = pause_reading(reading->source, scope, now_ns);
        if (result < 0)
            return result;
        esi_notices_follow(&notices, follower);
        esi_progress_show(&reading->progress);
        if (more == 0 && !es_scope_is_paced(read))
            nanosleep(&pause, NULL);
    }
    return 0;
}

static int read_scope(void *data,
                      const struct esi_set_source_config *config,
                      struct esi_set_source_facts *facts,
                      struct es_error *error)
{
    struct source_reading *reading = data;
    struct esi_causality_scope_config scope_config;
    struct esi_causality_scope *scope;
    int result;

    esi_causality_scope_config_init(&scope_config);
    scope_config.causality.sink = config->sink;
    scope_config.causality.listener = config->listener;
    scope_config.causality.attributes = config->attributes;
    scope_config.scope.servers = reading->consumer.servers;
    result =
        esi_causality_scope_open(reading->consumer.run, &scope_config, error, &scope);
    if (result < 0)
        return result;
    if (reading->source->follow)
        result = follow_run(reading, scope);
    if (result >= 0)
        result = esi_causality_scope_finish(scope);
    esi_set_source_found(config, esi_causality_scope_causality(scope), facts);
    facts->is_under_way = !esi_follower_is_over(esi_causality_scope_follower(scope));
    esi_causality_scope_close(scope);
    return result;
}

/* --- Reading ---------------------------------------------------------------------- */

static int read_source(struct source_reading *reading,
                       struct esi_set_source_facts *ret_facts)
{
    struct es_error error = {.text = ""};
    int result = esi_set_source_read(&reading->config, ret_facts, &error);

    esi_progress_end(&reading->progress);
    if (result == -ECANCELED && esi_interrupt_came())
        return ES_EXIT_SUCCESS;
    if (result < 0 && reading->config.run_data && !reading->sinks.has_refused &&
        !error.text[0])
        return esi_command_fail_error(ES_EXIT_LOST, NULL, result,
                                      "the run can no longer be read");
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events");
    return ES_EXIT_SUCCESS;
}

static int read_run(struct source_reading *reading,
                    struct esi_set_source_facts *ret_facts)
{
    const struct esi_event_source *source = reading->source;
    int status;

    status = esi_consumer_open(source->path, &source->consumer, &reading->consumer);
    if (status != ES_EXIT_SUCCESS)
        return status;
    reading->config.read_run = read_scope;
    reading->config.run_data = reading;
    status = read_source(reading, ret_facts);
    esi_consumer_close(&reading->consumer);
    return status;
}

/* Rejects options that only apply to runs. */
static int check_file(const struct esi_event_source *source)
{
    const char *option = source->follow            ? "--follow"
                         : source->consumer.server ? "--server"
                         : source->consumer.local  ? "--local"
                                                   : NULL;

    if (!option)
        return ES_EXIT_SUCCESS;
    return esi_command_fail(ES_EXIT_USAGE, "%s is for runs, and %s is not one", option,
                            strcmp(source->path, "-") == 0 ? "standard input"
                                                           : source->path);
}

int esi_event_source_find(const struct esi_event_source *source,
                          enum esi_set_source_kind *ret_kind)
{
    struct es_error error = {.text = ""};
    int result = esi_set_source_detect(source->path, ret_kind, &error);

    if (result == 0 && !source->path)
        return ES_EXIT_SUCCESS; /* the only live run */
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events");
    if (*ret_kind == ES_SET_SOURCE_RUN && !source->consumer.server &&
        is_nowhere(source->path))
        return esi_command_fail_to_find_set(source->path);
    return ES_EXIT_SUCCESS;
}

void esi_event_source_tell_end(const char *directory)
{
    static const char *told; /* some commands read an archive twice */
    struct esi_archive_reader *reader;
    char text[ESI_ARCHIVE_END_BYTES];

    if (told == directory || esi_archive_open(directory, NULL, &reader) < 0)
        return;
    told = directory;
    if (esi_archive_describe_end(reader, text))
        esi_command_note("%s: %s", directory, text);
    esi_archive_read_close(reader);
}

int esi_event_source_refuse_set(const struct esi_event_source *source)
{
    enum esi_set_source_kind kind;
    int status = esi_event_source_find(source, &kind);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (kind == ES_SET_SOURCE_FILE || kind == ES_SET_SOURCE_INPUT)
        return esi_command_fail(ES_EXIT_USAGE,
                                "%s is an event set, which has no waits; give the "
                                "archive or the run",
                                source->path);
    return ES_EXIT_SUCCESS;
}

static int read_first(struct source_reading *reading,
                      struct esi_set_source_facts *ret_facts)
{
    enum esi_set_source_kind kind;
    int status;

    /* Before the run is opened: an interrupt ends the reading from its start on. */
    if (reading->source->follow)
        esi_interrupt_catch(ES_INTERRUPT_FIRST);
    status = esi_event_source_find(reading->source, &kind);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (kind == ES_SET_SOURCE_RUN)
        return read_run(reading, ret_facts);
    status = check_file(reading->source);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (kind == ES_SET_SOURCE_ARCHIVE)
        esi_event_source_tell_end(reading->source->path);
    return read_source(reading, ret_facts);
}

int esi_event_source_read(const struct esi_event_source *source,
                          bool attributes,
                          const struct es_set_sink *sinks,
                          size_t count,
                          struct esi_set_source_facts *ret_facts)
{
    struct source_reading reading = {.source = source};
    int status;

    list_sinks(&reading, sinks, count);
    reading.config = (struct esi_set_source_config){
        .path = source->kept ? source->kept : source->path,
        .sink = esi_sinks_sink(&reading.sinks),
        .listener = source->listener,
        .attributes = attributes,
        .found = source->found,
        .found_data = source->found_data,
    };
    if (!source->kept)
        return read_first(&reading, ret_facts);
    status = read_source(&reading, NULL);
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
        status = esi_event_source_read(source, true, &sink, 1, ret_facts);
        if (status != ES_EXIT_SUCCESS) {
            esi_set_write_destroy(write);
            return status;
        }
        result = esi_set_write_close(write, &error);
    }
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot store the events")
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
        return esi_command_fail(ES_EXIT_USAGE, "cannot store the events in a file: %s",
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

/* --- Missing data ----------------------------------------------------------------- */

/* Appends a count, unless it is 0. */
static void append_missing(char *text,
                           uint64_t count,
                           const char *one,
                           const char *many)
{
    size_t used = strlen(text);

    if (count > 0)
        snprintf(text + used, ES_MISSING_BYTES - used, "%s%" PRIu64 " %s",
                 used ? ", " : "", count, count == 1 ? one : many);
}

bool esi_event_source_format_missing(const struct esi_set_source_facts *facts,
                                     char ret_text[ES_MISSING_BYTES])
{
    const struct esi_causality_totals *totals = &facts->totals;

    ret_text[0] = '\0';
    if (!facts->is_matched || !facts->is_incomplete)
        return false;
    append_missing(ret_text, totals->lost, "tuple was lost", "tuples were lost");
    append_missing(ret_text, totals->unmatched_sends, "send has no receive",
                   "sends have no receive");
    append_missing(ret_text, totals->unmatched_receives, "receive has no send",
                   "receives have no send");
    append_missing(ret_text, totals->unnumbered, "end of a message has no number",
                   "ends of messages have no number");
    append_missing(ret_text, totals->incomplete, "collective operation lacks members",
                   "collective operations lack members");
    append_missing(ret_text, totals->late, "receive is recorded too late",
                   "receives are recorded too late");
    append_missing(ret_text, totals->unplaced, "tuple has no known communicator",
                   "tuples have no known communicator");
    return true;
}

void esi_event_source_tell_missing(const struct esi_set_source_facts *facts)
{
    char missing[ES_MISSING_BYTES];

    if (esi_event_source_format_missing(facts, missing))
        esi_command_note("incomplete: %s; %s", missing, esi_event_source_lower_bound);
}
