/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace metrics - formats runs as metrics for Prometheus, once or periodically. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/options.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/interrupt.h"
#include "cli/observe.h"
#include "monitors/metrics/metrics.h"
#include "tuplespace/run_directory.h"

#define SECOND_NS UINT64_C(1000000000)
#define WAITS_NS (3 * SECOND_NS) /* for reading all events, without an interval */

enum { OPTION_TEXTFILE = 256, OPTION_WAITS, OPTION_STALLED_AFTER };

struct metrics_arguments {
    const char *run;
    char *textfile;       /* directory, absolute; owned; NULL = standard output */
    uint64_t interval_ns; /* 0 = one observation */
    uint64_t stalled_after_ns;
    bool waits;
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"textfile", OPTION_TEXTFILE, "DIR", 0,
     "write DIR/eventspace-RUN.prom for node_exporter's textfile collector instead of "
     "standard output",
     0},
    {"interval", 'i', "TIME", 0,
     "rewrite the files at this interval (at least 1s) until no run is left; then "
     "remove them",
     0},
    {"waits", OPTION_WAITS, NULL, 0,
     "also who makes others wait, and unmatched messages: reads all events, for at "
     "most a fifth of the time",
     0},
    {"stalled-after", OPTION_STALLED_AFTER, "TIME", 0,
     "time in one operation, or polling without success, after which a rank counts as "
     "stalled (5s)",
     0},
    {0},
};

static const char doc[] =
    "Prints metrics of RUN, or of all live runs, for Prometheus (OpenMetrics): ranks "
    "by verdict, operations, bytes, shares and times of MPI. A "
    "run of any size has at most 80 series."
    "\vA file is removed with its run, and with --interval when the command ends. "
    "'eventspace view' serves the same as /metrics.\n\n"
    "Exit status: 0 success, 2 usage or input error, 3 RUN can no longer be read.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct metrics_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->consumer;
        return 0;
    case OPTION_TEXTFILE:
        free(arguments->textfile);
        arguments->textfile = realpath(text, NULL);
        if (!arguments->textfile)
            argp_error(state, "--textfile: '%s': %s", text, strerror(errno));
        return 0;
    case 'i':
        arguments->interval_ns =
            esi_option_duration(text, "--interval", SECOND_NS, state);
        return 0;
    case OPTION_WAITS:
        arguments->waits = true;
        return 0;
    case OPTION_STALLED_AFTER:
        arguments->stalled_after_ns =
            esi_option_duration(text, "--stalled-after", 1, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (arguments->interval_ns && !arguments->textfile)
            argp_error(state, "--interval needs --textfile");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Runs ------------------------------------------------------------------------- */

struct watched_run {
    struct esi_consumer consumer;
    struct esi_top *top;
    struct esi_top_look look;
    bool is_lost;
};

struct watched_runs {
    struct watched_run *items; /* owned */
    size_t count;
    size_t capacity;
};

/* A home server belongs to one run. */
static bool is_one_run(const struct metrics_arguments *arguments)
{
    return arguments->run || arguments->consumer.server;
}

static const char *name_of(const struct watched_run *run)
{
    return es_run_name(run->consumer.run);
}

/* Returns 0, or the exit status after a message. */
static int open_run(struct watched_runs *runs,
                    const char *name,
                    const struct metrics_arguments *arguments)
{
    struct esi_observer_config config = {.stalled_after_ns =
                                             arguments->stalled_after_ns};
    struct watched_run run = {.top = NULL};
    struct es_error error = {.text = ""};
    int result;

    if (ESI_ARRAY_RESERVE(runs->items, runs->capacity, runs->count + 1) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    result = esi_consumer_open(name, &arguments->consumer, &run.consumer);
    if (result != ES_EXIT_SUCCESS)
        return result;
    config.servers = run.consumer.servers;
    result = esi_top_create(run.consumer.run, &config, &error, &run.top);
    if (result < 0) {
        result = esi_command_fail_observe(name_of(&run), &error, result);
        esi_consumer_close(&run.consumer);
        return result;
    }
    esi_top_want_profiles(run.top);
    runs->items[runs->count++] = run;
    return ES_EXIT_SUCCESS;
}

static void close_run(struct watched_run *run)
{
    esi_top_destroy(run->top);
    esi_consumer_close(&run->consumer);
}

static bool is_watched(const struct watched_runs *runs, const char *name)
{
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(name_of(&runs->items[i]), name) == 0)
            return true;
    return false;
}

/* Checks the folder of run directories: the runs of one that is not ours are not
 * ours. */
static int check_folder(void)
{
    struct es_error error = {.text = ""};
    char(*names)[64] = NULL;
    int code = esi_run_directory_list(&error, &names);

    free(names);
    return code >= 0 ? ES_EXIT_SUCCESS
                     : esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                              "cannot look for run directories");
}

/* Opens new live runs.  Failures are reported and skipped. */
static int open_live_runs(struct watched_runs *runs,
                          const struct metrics_arguments *arguments)
{
    struct es_run_info *found;
    int count = es_run_list(&found);

    if (count < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, count,
                                      "cannot look for runs");
    for (int i = 0; i < count; i++)
        if (found[i].alive > 0 && !is_watched(runs, found[i].run))
            open_run(runs, found[i].run, arguments);
    free(found);
    return ES_EXIT_SUCCESS;
}

static void look_at_run(struct watched_run *run,
                        const struct metrics_arguments *arguments)
{
    uint64_t waits_ns = arguments->interval_ns ? arguments->interval_ns / 5 : WAITS_NS;
    int result = arguments->waits ? esi_top_read_waits(run->top, waits_ns) : 0;

    if (result >= 0)
        result = esi_top_look(run->top, &run->look);
    if (result < 0)
        esi_command_fail_lost(name_of(run), result);
    run->is_lost = result < 0;
}

/* Observes each run; the first time twice, so that rates can be computed. */
static void look_at_runs(struct watched_runs *runs,
                         const struct metrics_arguments *arguments)
{
    bool again = false;

    for (size_t i = 0; i < runs->count; i++) {
        look_at_run(&runs->items[i], arguments);
        again |= !runs->items[i].is_lost && runs->items[i].look.observation.again;
    }
    if (!again)
        return;
    esi_interrupt_sleep(ES_SECOND_LOOK_NS);
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->items[i].is_lost && runs->items[i].look.observation.again)
            look_at_run(&runs->items[i], arguments);
}

/* --- Files ------------------------------------------------------------------------ */

/* Caller frees; NULL if out of memory. */
static char *path_of(const struct watched_run *run,
                     const struct metrics_arguments *arguments)
{
    char *path;

    return asprintf(&path, "%s/eventspace-%s.prom", arguments->textfile, name_of(run)) <
                   0
               ? NULL
               : path;
}

static int fill_file(const char *path,
                     const struct esi_top_look *look,
                     struct es_error *error)
{
    struct esi_output_file *file;
    int result = esi_output_file_open_own(path, error, &file);

    if (result < 0)
        return result;
    /* node_exporter runs as another user. */
    fchmod(fileno(esi_output_file_stream(file)), 0644);
    result = esi_metrics_print(&look, 1, ESI_METRICS_PROMETHEUS,
                               esi_output_file_stream(file));
    if (result < 0) {
        esi_output_file_discard(file);
        return result;
    }
    return esi_output_file_close(file, error);
}

/* Returns 0, or the exit status after a message. */
static int write_file(const struct watched_run *run,
                      const struct metrics_arguments *arguments)
{
    struct es_error error = {.text = ""};
    char *path = path_of(run, arguments);
    int result = path ? 0 : -ENOMEM;

    if (result == 0)
        result = esi_run_directory_note_outside(name_of(run), path, &error);
    if (result == -ENOENT) /* the user must remove the file of a run without a
                              directory */
        result = 0;
    if (result == 0)
        result = fill_file(path, &run->look, &error);
    free(path);
    return result == 0 ? ES_EXIT_SUCCESS
                       : esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                                "cannot write the metrics of run '%s'",
                                                name_of(run));
}

static void remove_file(const struct watched_run *run,
                        const struct metrics_arguments *arguments)
{
    char *path = path_of(run, arguments);

    if (path)
        esi_file_remove_own(path);
    free(path);
}

/* --- The command ------------------------------------------------------------------ */

/* Returns 0, or the exit status after a message. */
static int print_runs(const struct watched_runs *runs)
{
    const struct esi_top_look **looks = calloc(runs->count + 1, sizeof *looks);
    int result = looks ? 0 : -ENOMEM;

    for (size_t i = 0; looks && i < runs->count; i++)
        looks[i] = runs->items[i].is_lost ? NULL : &runs->items[i].look;
    if (result == 0)
        result = esi_metrics_print(looks, runs->count, ESI_METRICS_OPENMETRICS, stdout);
    free(looks);
    return result == 0 ? ES_EXIT_SUCCESS : esi_command_fail_output(result);
}

static int write_files(const struct watched_runs *runs,
                       const struct metrics_arguments *arguments)
{
    int status = ES_EXIT_SUCCESS;

    for (size_t i = 0; i < runs->count && status == ES_EXIT_SUCCESS; i++)
        if (!runs->items[i].is_lost)
            status = write_file(&runs->items[i], arguments);
    return status;
}

static void close_runs(struct watched_runs *runs,
                       const struct metrics_arguments *arguments,
                       bool all)
{
    size_t left = 0;

    for (size_t i = 0; i < runs->count; i++) {
        struct watched_run *run = &runs->items[i];

        if (!all && !run->is_lost && !esi_top_is_over(&run->look)) {
            runs->items[left++] = *run;
            continue;
        }
        if (arguments->interval_ns)
            remove_file(run, arguments);
        close_run(run);
    }
    runs->count = left;
}

static int look_and_write(struct watched_runs *runs,
                          const struct metrics_arguments *arguments)
{
    int status =
        is_one_run(arguments) ? ES_EXIT_SUCCESS : open_live_runs(runs, arguments);

    if (status != ES_EXIT_SUCCESS)
        return status;
    look_at_runs(runs, arguments);
    status = arguments->textfile ? write_files(runs, arguments) : print_runs(runs);
    if (status == ES_EXIT_SUCCESS && is_one_run(arguments) && runs->items[0].is_lost)
        status = ES_EXIT_LOST;
    return status;
}

static int observe_runs(const struct metrics_arguments *arguments)
{
    struct watched_runs runs = {.count = 0};
    int status = is_one_run(arguments) ? open_run(&runs, arguments->run, arguments)
                                       : check_folder();

    if (status != ES_EXIT_SUCCESS) {
        free(runs.items);
        return status;
    }
    esi_interrupt_catch(ES_INTERRUPT_FIRST);
    do {
        status = look_and_write(&runs, arguments);
        if (!arguments->interval_ns)
            break;
        close_runs(&runs, arguments, false);
        if (runs.count > 0)
            esi_interrupt_sleep(arguments->interval_ns);
    } while (status == ES_EXIT_SUCCESS && runs.count > 0 && !esi_interrupt_came());
    close_runs(&runs, arguments, true);
    free(runs.items);
    return status;
}

int esi_cmd_metrics(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {options, parse_option, "[RUN]", doc, children, 0,
                                       0};
    struct metrics_arguments arguments = {.stalled_after_ns = ESI_STALLED_AFTER_NS};
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = observe_runs(&arguments);
    free(arguments.textfile);
    return status;
}
