/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace list - shows the runs on this host, or what one run consists of. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plain.h"
#include "base/rows.h"
#include "cli/collect_tree.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "eventspace/operation.h"
#include "eventspace/servers.h"
#include "scopes/server/process_watch.h"
#include "tuplespace/run_directory.h"

struct list_arguments {
    const char *run;
    enum esi_format format;
    bool elements;
    bool everywhere;
};

/* Options that have no short form. */
enum { OPTION_EVERYWHERE = 256 };

static const struct argp_option options[] = {
    {"elements", 'e', NULL, 0, "show every element of RUN, not only sums per process",
     0},
    {"everywhere", OPTION_EVERYWHERE, NULL, 0,
     "also runs whose directories lie in other folders than EVENTSPACE_DIR", 0},
    {0},
};

static const char doc[] =
    "Shows the runs on this host; with RUN, its processes: threads, elements, tuples "
    "collected, overwritten and held back, polls that found nothing, shared memory."
    "\vOVERWRITTEN counts the tuples that nobody can read any more; they are missing "
    "in what a monitor shows only if it had not read them before.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct list_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        return 0;
    case 'e':
        arguments->elements = true;
        return 0;
    case OPTION_EVERYWHERE:
        arguments->everywhere = true;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum esi_rows_format rows_format(enum esi_format format)
{
    return format == ES_FORMAT_JSON ? ESI_ROWS_JSON : ESI_ROWS_TABLE;
}

/* --- Runs ------------------------------------------------------------------------- */

/* Local time, to the second.  Returns `out`. */
static const char *format_time(uint64_t realtime_ns, char *out, size_t size)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm parts;

    if (realtime_ns == 0 || !localtime_r(&seconds, &parts) ||
        strftime(out, size, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(out, size, "-");
    return out;
}

static const char *state_of_run(const struct es_run_info *info)
{
    if (info->elsewhere)
        return info->alive > 0 ? "live, elsewhere" : "ended, elsewhere";
    return info->alive > 0 ? "live" : "ended";
}

static void describe_run(struct esi_row *row, const void *record)
{
    const struct es_run_info *info = record;
    char when[32];

    esi_row_text(row, "type", NULL, "run");
    esi_row_text(row, "run", "RUN", info->run);
    esi_row_text(row, NULL, "STATE", state_of_run(info));
    esi_row_bool(row, "live", NULL, info->alive > 0);
    esi_row_signed(row, "processes", "PROCESSES", info->segments);
    esi_row_signed(row, "alive", "ALIVE", info->alive);
    esi_row_unsigned(row, "started_ns", NULL, info->started_realtime_ns);
    esi_row_text(row, NULL, "STARTED",
                 format_time(info->started_realtime_ns, when, sizeof when));
    esi_row_bool(row, "elsewhere", NULL, info->elsewhere);
}

static int print_runs(const struct es_run_info *runs,
                      int count,
                      enum esi_rows_format format)
{
    struct esi_rows rows;

    if (count == 0 && format == ESI_ROWS_TABLE) {
        puts("no runs on this host");
        return 0;
    }
    esi_rows_init(&rows, format, stdout, describe_run);
    int code = esi_rows_begin(&rows, &(struct es_run_info){.run = ""});
    if (code < 0)
        return code;
    for (int i = 0; i < count; i++)
        esi_rows_add(&rows, &runs[i]);
    return esi_rows_finish(&rows);
}

/* Whether the run's tuple servers can be asked, and how many ranks they know. */
static bool ask_servers(const char *run, struct es_run_info *ret_info)
{
    struct es_error error = {.text = ""};
    char reason[1024];
    struct es_server_info server;
    struct es_servers *servers;
    int ranks = 0;

    int code = es_servers_open(run, NULL, &error, &servers);
    if (code == -EPERM)
        esi_command_note("run '%s' is left out: %s", run,
                         es_error_format(&error, reason, sizeof reason));
    if (code < 0)
        return false;
    for (size_t i = 0; es_servers_at(servers, i, &server) == 0; i++)
        ranks += server.ranks;
    es_servers_close(servers);
    *ret_info = (struct es_run_info){.segments = ranks, .alive = ranks};
    snprintf(ret_info->run, sizeof ret_info->run, "%s", run);
    return true;
}

static bool is_listed(const struct es_run_info *runs, int count, const char *run)
{
    for (int i = 0; i < count; i++)
        if (strcmp(runs[i].run, run) == 0)
            return true;
    return false;
}

/* Adds the runs that have a tuple server here, but no process: those of the host where
 * a job was started that runs elsewhere.  Returns how many there are then. */
static int add_served_runs(struct es_run_info **runs, int count, struct es_error *error)
{
    char(*names)[64] = NULL;
    int found = esi_run_directory_list(error, &names);

    if (found < 0)
        return found;
    for (int i = 0; i < found; i++) {
        struct es_run_info info, *grown;

        if (is_listed(*runs, count, names[i]) || !ask_servers(names[i], &info))
            continue;
        grown = reallocarray(*runs, (size_t)count + 1, sizeof *grown);
        if (!grown)
            break;
        grown[count++] = info;
        *runs = grown;
    }
    free(names);
    return count;
}

/* Puts those of this folder first.  Returns how many these are. */
static int sort_out(struct es_run_info *runs, int count)
{
    int here = 0;

    for (int i = 0; i < count; i++)
        if (!runs[i].elsewhere) {
            struct es_run_info info = runs[i];
            memmove(&runs[here + 1], &runs[here], (size_t)(i - here) * sizeof *runs);
            runs[here++] = info;
        }
    return here;
}

static int list_runs(const struct list_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct es_run_info *runs;
    int all = es_run_list_everywhere(&runs);

    if (all < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, all,
                                      "cannot look for runs, shared memory");
    int elsewhere = arguments->everywhere ? 0 : all - sort_out(runs, all);
    int count = add_served_runs(&runs, all - elsewhere, &error);
    if (count < 0) {
        free(runs);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, count,
                                      "cannot look for runs");
    }
    int code = print_runs(runs, count, rows_format(arguments->format));
    if (code >= 0 && elsewhere > 0 && arguments->format == ES_FORMAT_TEXT)
        printf("and %d whose directories lie in other folders: --everywhere\n",
               elsewhere);
    free(runs);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot print the runs");
    return ES_EXIT_SUCCESS;
}

/* --- One run ---------------------------------------------------------------------- */

/* Sums over elements. */
struct sums {
    size_t threads;
    size_t elements;
    uint64_t tuples;
    uint64_t overwritten;
    uint64_t polls;
    uint64_t held;
    uint64_t bytes;
};

static void add_sums(struct sums *sums, const struct sums *more)
{
    sums->threads += more->threads;
    sums->elements += more->elements;
    sums->tuples += more->tuples;
    sums->overwritten += more->overwritten;
    sums->polls += more->polls;
    sums->held += more->held;
    sums->bytes += more->bytes;
}

/* Threads are numbered from 0 in each process. */
static void sum_up(const struct es_segment_view *segment, struct sums *ret_sums)
{
    struct sums sums = {.elements = es_segment_view_element_count(segment)};
    struct es_segment_info process;

    for (size_t i = 0; i < sums.elements; i++) {
        struct es_element_info info;
        es_element_view_info(es_segment_view_element(segment, i), &info);
        if (info.thread >= 0 && (size_t)info.thread >= sums.threads)
            sums.threads = (size_t)info.thread + 1;
        sums.tuples += info.head;
        sums.overwritten += info.oldest;
        sums.polls += info.polls;
        sums.held += info.held;
    }
    es_segment_view_info(segment, &process);
    sums.bytes = process.segment_bytes;
    *ret_sums = sums;
}

/* "12.3 MiB".  Returns `out`. */
static const char *format_bytes(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(out, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

/* What did not find room: the user should know that something is missing, and why. */
static void print_shortages(const struct es_segment_info *info)
{
    if (info->elements_refused)
        printf("rank %d: %" PRIu32 " elements found no shared memory: not collected\n",
               info->rank, info->elements_refused);
    if (info->elements_shrunk)
        printf("rank %d: %" PRIu32 " elements have less than the threshold asked for\n",
               info->rank, info->elements_shrunk);
    if (info->communicators_refused)
        printf("rank %d: %" PRIu32 " communicators found no place in the table\n",
               info->rank, info->communicators_refused);
    if (info->tuples_refused)
        printf("rank %d: %" PRIu64 " tuples found no memory in the program: "
               "not recorded\n",
               info->rank, info->tuples_refused);
}

/* One process, and what it has collected. */
struct listed_process {
    const char *run;
    struct es_segment_info info;
    struct sums sums;
};

static void describe_ending(struct esi_row *row, const struct es_segment_info *info)
{
    struct esi_json_out *json = esi_row_json(row);

    esi_row_text(row, "state", NULL, esi_ending_state_name(info->state));
    if (json && info->state == ES_PROCESS_EXITED && info->exit_code >= 0)
        esi_json_out_signed(json, "exit_code", info->exit_code);
    if (json && info->state == ES_PROCESS_KILLED)
        esi_json_out_signed(json, "signal", info->signal);
}

static void describe_process(struct esi_row *row, const void *record)
{
    const struct listed_process *process = record;
    const struct es_segment_info *info = &process->info;
    const struct sums *sums = &process->sums;
    char rank[16], text[96];

    esi_row_text(row, "type", NULL, "process");
    esi_row_text(row, "run", NULL, process->run);
    snprintf(rank, sizeof rank, info->rank < 0 ? "monitor" : "%d", info->rank);
    esi_row_quantity(row, "RANK", rank);
    esi_row_long_text(row, "host", "HOST", 8, info->host);
    esi_row_signed(row, "rank", NULL, info->rank);
    esi_row_signed(row, "size", NULL, info->size);
    esi_row_signed(row, "pid", "PID", info->pid);
    esi_row_text(row, "program", NULL, info->program);
    esi_row_bool(row, "alive", NULL, info->alive);
    esi_row_long_text(row, NULL, "STATE", 9,
                      esi_ending_describe(info, text, sizeof text));
    describe_ending(row, info);
    esi_row_unsigned(row, "threads", "THREADS", sums->threads);
    esi_row_unsigned(row, "elements", "ELEMENTS", sums->elements);
    esi_row_unsigned(row, "tuples", "TUPLES", sums->tuples);
    esi_row_unsigned(row, "overwritten", "OVERWRITTEN", sums->overwritten);
    esi_row_unsigned(row, "polls", "POLLS", sums->polls);
    esi_row_unsigned(row, "held", "HELD", sums->held);
    esi_row_unsigned(row, "bytes", NULL, sums->bytes);
    esi_row_quantity(row, "MEMORY", format_bytes(sums->bytes, text, sizeof text));
    esi_row_unsigned(row, "elements_refused", NULL, info->elements_refused);
    esi_row_unsigned(row, "elements_shrunk", NULL, info->elements_shrunk);
    esi_row_unsigned(row, "communicators_refused", NULL, info->communicators_refused);
    esi_row_unsigned(row, "tuples_refused", NULL, info->tuples_refused);
}

static void process_init(struct listed_process *process,
                         const struct es_run *run,
                         size_t index)
{
    process->run = es_run_name(run);
    es_segment_view_info(es_run_segment(run, index), &process->info);
    sum_up(es_run_segment(run, index), &process->sums);
}

/* What the processes of the program come to; monitors record themselves, too, which is
 * not the run. */
static void print_run_line(const struct es_run *run)
{
    size_t count = es_run_segment_count(run), monitors = 0;
    struct sums all = {.threads = 0};
    struct listed_process process;
    char memory[32];

    for (size_t i = 0; i < count; i++) {
        process_init(&process, run, i);
        if (process.info.rank < 0)
            monitors++;
        else
            add_sums(&all, &process.sums);
    }
    esi_plain_print(
        stdout,
        "run %s: %zu processes, %zu threads, %zu elements, %" PRIu64 " tuples, "
        "%" PRIu64 " overwritten, %s",
        es_run_name(run), count - monitors, all.threads, all.elements, all.tuples,
        all.overwritten, format_bytes(all.bytes, memory, sizeof memory));
    if (monitors)
        printf("; %zu monitoring", monitors);
    putchar('\n');
}

static int print_processes(const struct es_run *run, enum esi_rows_format format)
{
    size_t count = es_run_segment_count(run);
    struct listed_process process = {.info.state = ES_PROCESS_RUNNING};
    struct esi_rows rows;

    if (format == ESI_ROWS_TABLE)
        print_run_line(run);
    esi_rows_init(&rows, format, stdout, describe_process);
    int code = esi_rows_begin(&rows, &process);
    if (code < 0)
        return code;
    for (size_t i = 0; i < count; i++) {
        process_init(&process, run, i);
        esi_rows_add(&rows, &process);
    }
    code = esi_rows_finish(&rows);
    for (size_t i = 0; format == ESI_ROWS_TABLE && i < count; i++) {
        process_init(&process, run, i);
        print_shortages(&process.info);
    }
    return code;
}

/* All elements of the program, in order.  Caller frees the array. */
static int select_all(const struct es_run *run, struct es_element_view ***ret_elements)
{
    struct es_selection all;

    es_selection_init(&all);
    all.classes = ES_CLASSES_ALL | ES_CLASSES_TREE;
    return es_run_select(run, &all, ret_elements);
}

static void describe_classes(struct esi_row *row, uint32_t classes)
{
    struct esi_json_out *json = esi_row_json(row);

    if (!json)
        return;
    esi_json_out_begin_array(json, "classes");
    for (unsigned i = 1; i < ES_CLASS_COUNT; i++)
        if (classes & 1u << i)
            esi_json_out_string(json, NULL, es_class_name((enum es_class)i));
    esi_json_out_end(json);
}

static void describe_element(struct esi_row *row, const void *record)
{
    const struct es_element_info *info = record;

    esi_row_text(row, "type", NULL, "element");
    esi_row_long_text(row, "element", "ELEMENT", 16, info->name);
    esi_row_text(row, "collector", NULL, info->collector);
    esi_row_long_text(row, "host", "HOST", 8, info->host);
    esi_row_signed(row, "rank", NULL, info->rank);
    esi_row_signed(row, "thread", NULL, info->thread);
    describe_classes(row, info->classes);
    esi_row_bool(row, "enabled", NULL, info->enabled);
    esi_row_text(row, NULL, "ON", info->enabled ? "on" : "off");
    esi_row_text(row, "full", "FULL", info->block ? "block" : "discard");
    esi_row_unsigned(row, "threshold", "THRESHOLD", info->threshold);
    esi_row_unsigned(row, "tuple_bytes", NULL, info->tuple_bytes);
    esi_row_unsigned(row, "tuples", "TUPLES", info->head);
    esi_row_unsigned(row, "overwritten", "OVERWRITTEN", info->oldest);
    esi_row_unsigned(row, "polls", "POLLS", info->polls);
    esi_row_unsigned(row, "held", "HELD", info->held);
    esi_row_unsigned(row, "waits", "WAITS", info->blocked);
}

static int print_elements(const struct es_run *run, enum esi_rows_format format)
{
    struct es_element_view **elements;
    struct es_element_info info = {.head = 0};
    struct esi_rows rows;

    int count = select_all(run, &elements);
    if (count < 0)
        return count;
    if (format == ESI_ROWS_TABLE)
        putchar('\n');
    esi_rows_init(&rows, format, stdout, describe_element);
    int code = esi_rows_begin(&rows, &info);
    for (int i = 0; code == 0 && i < count; i++) {
        es_element_view_info(elements[i], &info);
        esi_rows_add(&rows, &info);
    }
    free(elements);
    return code < 0 ? code : esi_rows_finish(&rows);
}

/* --- Hosts ------------------------------------------------------------------------ */

static const char *state_name(enum es_server_state state)
{
    switch (state) {
    case ES_SERVER_UP:
        return "up";
    case ES_SERVER_ENDED:
        return "ended";
    case ES_SERVER_SILENT:
        break;
    }
    return "silent";
}

/* Of the host's clock against the home server's. */
static void describe_clock_cells(struct esi_row *row, const struct es_server_info *info)
{
    char offset[32] = "-", drift[32] = "-", error[32] = "-";

    if (info->clock_known) {
        snprintf(offset, sizeof offset, "%+.6f s", (double)info->clock_offset_ns / 1e9);
        snprintf(drift, sizeof drift, "%+.3f ppm", info->clock_drift_ppb / 1e3);
        snprintf(error, sizeof error, "%.1f us", (double)info->clock_error_ns / 1e3);
    }
    esi_row_quantity(row, "OFFSET", offset);
    esi_row_quantity(row, "DRIFT", drift);
    esi_row_quantity(row, "ERROR", error);
}

static void describe_clock(struct esi_json_out *json, const struct es_server_info *info)
{
    if (!info->clock_known) {
        esi_json_out_null(json, "clock");
        return;
    }
    esi_json_out_begin_object(json, "clock");
    esi_json_out_unsigned(json, "monotonic_ns", info->clock_monotonic_ns);
    esi_json_out_signed(json, "offset_ns", info->clock_offset_ns);
    esi_json_out_real(json, "drift_ppb", info->clock_drift_ppb);
    esi_json_out_unsigned(json, "error_ns", info->clock_error_ns);
    esi_json_out_end(json);
}

/* The server of one host, as a run knows it. */
struct host {
    const char *run;
    struct es_server_info info;
};

static void describe_host(struct esi_row *row, const void *record)
{
    const struct es_server_info *info = &((const struct host *)record)->info;
    char state[32];

    esi_row_text(row, "type", NULL, "host");
    esi_row_text(row, "run", NULL, ((const struct host *)record)->run);
    esi_row_long_text(row, "host", "HOST", 8, info->host);
    esi_row_text(row, "cluster", NULL, info->cluster);
    esi_row_text(row, NULL, "CLUSTER", info->cluster[0] ? info->cluster : "-");
    esi_row_text(row, "gateway", NULL, info->gateway);
    esi_row_text(row, "address", NULL, info->address);
    esi_row_text(row, "state", NULL, state_name(info->state));
    snprintf(state, sizeof state, "%s%s", state_name(info->state),
             info->home ? ", home" : "");
    esi_row_text(row, NULL, "SERVER", state);
    esi_row_bool(row, "home", NULL, info->home);
    esi_row_bool(row, "here", NULL, info->here);
    esi_row_signed(row, "ranks", "RANKS", info->ranks);
    esi_row_unsigned(row, "silent_ns", NULL, info->silent_ns);
    describe_clock_cells(row, info);
    esi_row_text(row, NULL, "ADDRESS", info->address);
    if (esi_row_json(row))
        describe_clock(esi_row_json(row), info);
}

static int print_hosts(struct es_servers *servers,
                       const char *run,
                       enum esi_rows_format format)
{
    struct host host = {.run = run};
    struct esi_rows rows;

    if (format == ESI_ROWS_TABLE)
        putchar('\n');
    esi_rows_init(&rows, format, stdout, describe_host);
    int code = esi_rows_begin(&rows, &host);
    if (code < 0)
        return code;
    for (size_t i = 0; es_servers_at(servers, i, &host.info) == 0; i++)
        esi_rows_add(&rows, &host);
    return esi_rows_finish(&rows);
}

/* --- All of it -------------------------------------------------------------------- */

/* `servers` NULL: the run has none. */
static int print_run(const struct es_run *run,
                     struct es_servers *servers,
                     const struct list_arguments *arguments)
{
    enum esi_rows_format format = rows_format(arguments->format);
    int code = print_processes(run, format);

    if (code == 0 && arguments->elements)
        code = print_elements(run, format);
    if (code == 0 && servers)
        code = print_hosts(servers, es_run_name(run), format);
    return code;
}

static int list_run(const struct list_arguments *arguments)
{
    struct esi_consumer_options everywhere = {.server = NULL};
    struct esi_consumer consumer;
    int code;

    int status = esi_consumer_open(arguments->run, &everywhere, &consumer);
    if (status)
        return status;
    code = es_run_refresh(consumer.run);
    if (code >= 0)
        code = print_run(consumer.run, consumer.servers, arguments);
    if (code >= 0)
        code = esi_collect_tree_list(&consumer, arguments->format);
    if (code < 0)
        status =
            esi_command_fail_error(ES_EXIT_USAGE, NULL, code, "cannot show run '%s'",
                                   es_run_name(consumer.run));
    esi_consumer_close(&consumer);
    return status;
}

int esi_cmd_list(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {options,  parse_option, "[RUN]", doc,
                                       children, NULL,         NULL};
    struct list_arguments arguments = {.run = NULL};

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.run || arguments.elements)
        return list_run(&arguments);
    return list_runs(&arguments);
}
