/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace list - shows the runs on this host, or what one run consists of. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "base/table.h"
#include "cli/collect_tree.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/ending.h"
#include "eventspace/operation.h"
#include "eventspace/servers.h"
#include "tuplespace/run_directory.h"

struct list_arguments {
    const char *run;
    enum es_format format;
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

static void print_run_json(struct es_json_out *out, const struct es_run_info *info)
{
    es_json_out_begin_object(out, NULL);
    es_json_out_string(out, "type", "run");
    es_json_out_string(out, "run", info->run);
    es_json_out_bool(out, "live", info->alive > 0);
    es_json_out_signed(out, "processes", info->segments);
    es_json_out_signed(out, "alive", info->alive);
    es_json_out_unsigned(out, "started_ns", info->started_realtime_ns);
    es_json_out_bool(out, "elsewhere", info->elsewhere);
    es_json_out_end(out);
}

static void print_runs_json(const struct es_run_info *runs, int count)
{
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    for (int i = 0; i < count; i++)
        print_run_json(&out, &runs[i]);
}

static const char *state_of_run(const struct es_run_info *info)
{
    if (info->elsewhere)
        return info->alive > 0 ? "live, elsewhere" : "ended, elsewhere";
    return info->alive > 0 ? "live" : "ended";
}

static int print_runs_text(const struct es_run_info *runs, int count)
{
    static const struct es_table_column columns[] = {
        {"RUN", ES_TABLE_LEFT, 0},        {"STATE", ES_TABLE_LEFT, 0},
        {"PROCESSES", ES_TABLE_RIGHT, 0}, {"ALIVE", ES_TABLE_RIGHT, 0},
        {"STARTED", ES_TABLE_LEFT, 0},
    };
    enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };
    struct es_table *table;
    char when[32];

    if (count == 0) {
        puts("no runs on this host");
        return 0;
    }
    int code = es_table_create(columns, COLUMN_COUNT, &table);
    if (code < 0)
        return code;
    for (int i = 0; i < count; i++) {
        es_table_cell(table, "%s", runs[i].run);
        es_table_cell(table, "%s", state_of_run(&runs[i]));
        es_table_cell(table, "%d", runs[i].segments);
        es_table_cell(table, "%d", runs[i].alive);
        es_table_cell(table, "%s",
                      format_time(runs[i].started_realtime_ns, when, sizeof when));
    }
    code = es_table_print(table, stdout, es_table_width(stdout));
    es_table_destroy(table);
    return code;
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
    int found = es_run_directory_list(error, &names);

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
    int code = 0;
    int count = add_served_runs(&runs, all - elsewhere, &error);
    if (count < 0) {
        free(runs);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, count,
                                      "cannot look for runs");
    }
    if (arguments->format == ES_FORMAT_JSON)
        print_runs_json(runs, count);
    else
        code = print_runs_text(runs, count);
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
}

static void add_process_row(struct es_table *table,
                            const struct es_segment_info *info,
                            const struct sums *sums)
{
    char text[96];

    es_table_cell(table, info->rank < 0 ? "monitor" : "%d", info->rank);
    es_table_cell(table, "%s", info->host);
    es_table_cell(table, "%d", info->pid);
    es_table_cell(table, "%s", esi_ending_describe(info, text, sizeof text));
    es_table_cell(table, "%zu", sums->threads);
    es_table_cell(table, "%zu", sums->elements);
    es_table_cell(table, "%" PRIu64, sums->tuples);
    es_table_cell(table, "%" PRIu64, sums->overwritten);
    es_table_cell(table, "%" PRIu64, sums->polls);
    es_table_cell(table, "%" PRIu64, sums->held);
    es_table_cell(table, "%s", format_bytes(sums->bytes, text, sizeof text));
}

static int print_processes_text(const struct es_run *run)
{
    static const struct es_table_column columns[] = {
        {"RANK", ES_TABLE_RIGHT, 0},    {"HOST", ES_TABLE_LEFT, 8},
        {"PID", ES_TABLE_RIGHT, 0},     {"STATE", ES_TABLE_LEFT, 9},
        {"THREADS", ES_TABLE_RIGHT, 0}, {"ELEMENTS", ES_TABLE_RIGHT, 0},
        {"TUPLES", ES_TABLE_RIGHT, 0},  {"OVERWRITTEN", ES_TABLE_RIGHT, 0},
        {"POLLS", ES_TABLE_RIGHT, 0},   {"HELD", ES_TABLE_RIGHT, 0},
        {"MEMORY", ES_TABLE_RIGHT, 0},
    };
    enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };
    size_t count = es_run_segment_count(run);
    struct sums all = {.threads = 0}, sums;
    struct es_segment_info info;
    struct es_table *table;
    size_t monitors = 0;
    char memory[32];

    int code = es_table_create(columns, COLUMN_COUNT, &table);
    if (code < 0)
        return code;
    for (size_t i = 0; i < count; i++) {
        es_segment_view_info(es_run_segment(run, i), &info);
        sum_up(es_run_segment(run, i), &sums);
        /* What monitors record of themselves is not the run. */
        if (info.rank < 0)
            monitors++;
        else
            add_sums(&all, &sums);
        add_process_row(table, &info, &sums);
    }
    es_plain_print(
        stdout,
        "run %s: %zu processes, %zu threads, %zu elements, %" PRIu64 " tuples, "
        "%" PRIu64 " overwritten, %s",
        es_run_name(run), count - monitors, all.threads, all.elements, all.tuples,
        all.overwritten, format_bytes(all.bytes, memory, sizeof memory));
    if (monitors)
        printf("; %zu monitoring", monitors);
    putchar('\n');
    code = es_table_print(table, stdout, es_table_width(stdout));
    es_table_destroy(table);
    for (size_t i = 0; i < count; i++) {
        es_segment_view_info(es_run_segment(run, i), &info);
        print_shortages(&info);
    }
    return code;
}

static void add_element_row(struct es_table *table, const struct es_element_info *info)
{
    es_table_cell(table, "%s", info->name);
    es_table_cell(table, "%s", info->host);
    es_table_cell(table, "%s", info->enabled ? "on" : "off");
    es_table_cell(table, "%s", info->block ? "block" : "discard");
    es_table_cell(table, "%" PRIu32, info->threshold);
    es_table_cell(table, "%" PRIu64, info->head);
    es_table_cell(table, "%" PRIu64, info->oldest);
    es_table_cell(table, "%" PRIu64, info->polls);
    es_table_cell(table, "%" PRIu64, info->held);
    es_table_cell(table, "%" PRIu64, info->blocked);
}

/* All elements of the program, in order.  Caller frees the array. */
static int select_all(const struct es_run *run, struct es_element_view ***ret_elements)
{
    struct es_selection all;

    es_selection_init(&all);
    all.classes = ES_CLASSES_ALL | ES_CLASSES_TREE;
    return es_run_select(run, &all, ret_elements);
}

static int print_elements_text(const struct es_run *run)
{
    static const struct es_table_column columns[] = {
        {"ELEMENT", ES_TABLE_LEFT, 16},     {"HOST", ES_TABLE_LEFT, 8},
        {"ON", ES_TABLE_LEFT, 0},           {"FULL", ES_TABLE_LEFT, 0},
        {"THRESHOLD", ES_TABLE_RIGHT, 0},   {"TUPLES", ES_TABLE_RIGHT, 0},
        {"OVERWRITTEN", ES_TABLE_RIGHT, 0}, {"POLLS", ES_TABLE_RIGHT, 0},
        {"HELD", ES_TABLE_RIGHT, 0},        {"WAITS", ES_TABLE_RIGHT, 0},
    };
    enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };
    struct es_element_view **elements;
    struct es_table *table;

    int count = select_all(run, &elements);
    if (count < 0)
        return count;
    int code = es_table_create(columns, COLUMN_COUNT, &table);
    if (code == 0) {
        for (int i = 0; i < count; i++) {
            struct es_element_info info;
            es_element_view_info(elements[i], &info);
            add_element_row(table, &info);
        }
        putchar('\n');
        code = es_table_print(table, stdout, es_table_width(stdout));
        es_table_destroy(table);
    }
    free(elements);
    return code;
}

static void print_process_json(struct es_json_out *out,
                               const struct es_run *run,
                               const struct es_segment_view *segment)
{
    struct es_segment_info info;
    struct sums sums;

    es_segment_view_info(segment, &info);
    sum_up(segment, &sums);
    es_json_out_begin_object(out, NULL);
    es_json_out_string(out, "type", "process");
    es_json_out_string(out, "run", es_run_name(run));
    es_json_out_string(out, "host", info.host);
    es_json_out_signed(out, "rank", info.rank);
    es_json_out_signed(out, "size", info.size);
    es_json_out_signed(out, "pid", info.pid);
    es_json_out_string(out, "program", info.program);
    es_json_out_bool(out, "alive", info.alive);
    es_json_out_string(out, "state", esi_ending_state_name(info.state));
    if (info.state == ES_PROCESS_EXITED && info.exit_code >= 0)
        es_json_out_signed(out, "exit_code", info.exit_code);
    if (info.state == ES_PROCESS_KILLED)
        es_json_out_signed(out, "signal", info.signal);
    es_json_out_unsigned(out, "threads", sums.threads);
    es_json_out_unsigned(out, "elements", sums.elements);
    es_json_out_unsigned(out, "tuples", sums.tuples);
    es_json_out_unsigned(out, "overwritten", sums.overwritten);
    es_json_out_unsigned(out, "polls", sums.polls);
    es_json_out_unsigned(out, "held", sums.held);
    es_json_out_unsigned(out, "bytes", sums.bytes);
    es_json_out_unsigned(out, "elements_refused", info.elements_refused);
    es_json_out_unsigned(out, "elements_shrunk", info.elements_shrunk);
    es_json_out_unsigned(out, "communicators_refused", info.communicators_refused);
    es_json_out_end(out);
}

static void print_classes_json(struct es_json_out *out, uint32_t classes)
{
    es_json_out_begin_array(out, "classes");
    for (unsigned i = 1; i < ES_CLASS_COUNT; i++)
        if (classes & 1u << i)
            es_json_out_string(out, NULL, es_class_name((enum es_class)i));
    es_json_out_end(out);
}

static void print_element_json(struct es_json_out *out,
                               const struct es_element_info *info)
{
    es_json_out_begin_object(out, NULL);
    es_json_out_string(out, "type", "element");
    es_json_out_string(out, "element", info->name);
    es_json_out_string(out, "collector", info->collector);
    es_json_out_string(out, "host", info->host);
    es_json_out_signed(out, "rank", info->rank);
    es_json_out_signed(out, "thread", info->thread);
    print_classes_json(out, info->classes);
    es_json_out_bool(out, "enabled", info->enabled);
    es_json_out_string(out, "full", info->block ? "block" : "discard");
    es_json_out_unsigned(out, "threshold", info->threshold);
    es_json_out_unsigned(out, "tuple_bytes", info->tuple_bytes);
    es_json_out_unsigned(out, "tuples", info->head);
    es_json_out_unsigned(out, "overwritten", info->oldest);
    es_json_out_unsigned(out, "polls", info->polls);
    es_json_out_unsigned(out, "held", info->held);
    es_json_out_unsigned(out, "waits", info->blocked);
    es_json_out_end(out);
}

static int print_run_contents_json(const struct es_run *run, bool with_elements)
{
    struct es_element_view **elements;
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        print_process_json(&out, run, es_run_segment(run, i));
    if (!with_elements)
        return 0;
    int count = select_all(run, &elements);
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++) {
        struct es_element_info info;
        es_element_view_info(elements[i], &info);
        print_element_json(&out, &info);
    }
    free(elements);
    return 0;
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

static void print_host_json(struct es_json_out *out,
                            const char *run,
                            const struct es_server_info *info)
{
    es_json_out_begin_object(out, NULL);
    es_json_out_string(out, "type", "host");
    es_json_out_string(out, "run", run);
    es_json_out_string(out, "host", info->host);
    es_json_out_string(out, "cluster", info->cluster);
    es_json_out_string(out, "gateway", info->gateway);
    es_json_out_string(out, "address", info->address);
    es_json_out_string(out, "state", state_name(info->state));
    es_json_out_bool(out, "home", info->home);
    es_json_out_bool(out, "here", info->here);
    es_json_out_signed(out, "ranks", info->ranks);
    es_json_out_unsigned(out, "silent_ns", info->silent_ns);
    if (info->clock_known) {
        es_json_out_begin_object(out, "clock");
        es_json_out_unsigned(out, "monotonic_ns", info->clock_monotonic_ns);
        es_json_out_signed(out, "offset_ns", info->clock_offset_ns);
        es_json_out_real(out, "drift_ppb", info->clock_drift_ppb);
        es_json_out_unsigned(out, "error_ns", info->clock_error_ns);
        es_json_out_end(out);
    } else {
        es_json_out_null(out, "clock");
    }
    es_json_out_end(out);
}

static void print_hosts_json(struct es_servers *servers, const char *run)
{
    struct es_server_info info;
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++)
        print_host_json(&out, run, &info);
}

/* Of the host's clock against the home server's. */
static void add_clock_cells(struct es_table *table, const struct es_server_info *info)
{
    if (!info->clock_known) {
        for (int i = 0; i < 3; i++)
            es_table_cell(table, "-");
        return;
    }
    es_table_cell(table, "%+.6f s", (double)info->clock_offset_ns / 1e9);
    es_table_cell(table, "%+.3f ppm", info->clock_drift_ppb / 1e3);
    es_table_cell(table, "%.1f us", (double)info->clock_error_ns / 1e3);
}

static int print_hosts_text(struct es_servers *servers)
{
    static const struct es_table_column columns[] = {
        {"HOST", ES_TABLE_LEFT, 8},    {"CLUSTER", ES_TABLE_LEFT, 0},
        {"SERVER", ES_TABLE_LEFT, 0},  {"RANKS", ES_TABLE_RIGHT, 0},
        {"OFFSET", ES_TABLE_RIGHT, 0}, {"DRIFT", ES_TABLE_RIGHT, 0},
        {"ERROR", ES_TABLE_RIGHT, 0},  {"ADDRESS", ES_TABLE_LEFT, 0},
    };
    enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };
    struct es_server_info info;
    struct es_table *table;

    int code = es_table_create(columns, COLUMN_COUNT, &table);
    if (code < 0)
        return code;
    for (size_t i = 0; es_servers_at(servers, i, &info) == 0; i++) {
        es_table_cell(table, "%s", info.host);
        es_table_cell(table, "%s", info.cluster[0] ? info.cluster : "-");
        es_table_cell(table, "%s%s", state_name(info.state), info.home ? ", home" : "");
        es_table_cell(table, "%d", info.ranks);
        add_clock_cells(table, &info);
        es_table_cell(table, "%s", info.address);
    }
    putchar('\n');
    code = es_table_print(table, stdout, es_table_width(stdout));
    es_table_destroy(table);
    return code;
}

/* --- All of it -------------------------------------------------------------------- */

/* `servers` NULL: the run has none. */
static int print_run(const struct es_run *run,
                     struct es_servers *servers,
                     const struct list_arguments *arguments)
{
    int code;

    if (arguments->format == ES_FORMAT_JSON) {
        code = print_run_contents_json(run, arguments->elements);
        if (code == 0 && servers)
            print_hosts_json(servers, es_run_name(run));
        return code;
    }
    code = print_processes_text(run);
    if (code == 0 && arguments->elements)
        code = print_elements_text(run);
    if (code == 0 && servers)
        code = print_hosts_text(servers);
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
