/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace list - lists the runs on this host, or the parts of one run. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "cli/collect_tree.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/screen.h"
#include "eventspace/operation.h"
#include "eventspace/servers.h"
#include "monitors/follow/describe.h"
#include "scopes/server/process_watch.h"
#include "tuplespace/process_state.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/started.h"

struct list_arguments {
    const char *run;
    enum esi_format format;
    bool elements;
    bool everywhere;
    bool verbose;
    enum esi_colours colours;
};

/* Options that have no short form. */
enum { OPTION_EVERYWHERE = 256 };

static const struct argp_option options[] = {
    {"elements", 'e', NULL, 0, "every element of RUN, not only sums per process", 0},
    {"everywhere", OPTION_EVERYWHERE, NULL, 0,
     "also runs of other folders than EVENTSPACE_DIR", 0},
    {"verbose", 'v', NULL, 0, "also columns that are zero, or of one host only", 0},
    {0},
};

static const char doc[] =
    "Shows the runs on this host; with RUN, its processes: threads, elements, tuples "
    "collected, overwritten and held back, polls that found nothing, shared memory."
    "\vOVERWRITTEN counts the tuples that newer ones have replaced; a monitor lacks "
    "them only if it had not read them before.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct list_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->colours;
        return 0;
    case 'e':
        arguments->elements = true;
        return 0;
    case 'v':
        arguments->verbose = true;
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

static const char *state_of_run(const struct es_run_info *info)
{
    if (info->elsewhere)
        return info->alive > 0 ? "live, elsewhere" : "ended, elsewhere";
    return info->alive > 0 ? "live" : "ended";
}

/* A run, and what is read from the segments of its processes on this host. */
struct listed_run {
    struct es_run_info info;
    int ranks;         /* without monitors */
    char program[256]; /* "" = not known */
    char ending[192];  /* how it ended, or which ranks failed; "" = neither */
    bool has_failed;
    size_t alone; /* processes that each see no other; 0 = none */
};

/* The program of the first known rank. */
static void read_program(const struct es_run *run, struct listed_run *listed)
{
    size_t count = es_run_segment_count(run);

    listed->ranks = 0;
    for (size_t i = 0; i < count; i++) {
        struct es_segment_info process;

        es_segment_view_info(es_run_segment(run, i), &process);
        if (process.rank < 0)
            continue;
        if (listed->ranks++ == 0)
            snprintf(listed->program, sizeof listed->program, "%s", process.program);
    }
}

static void read_ending(struct listed_run *listed)
{
    struct esi_ending ending;

    if (!esi_ending_scan(listed->info.run, &ending))
        return;
    listed->alone = ending.alone;
    listed->has_failed = ending.failed > 0;
    if (ending.failed > 0)
        snprintf(listed->ending, sizeof listed->ending, "%s", ending.first_failure);
    else if (ending.alive == 0)
        snprintf(listed->ending, sizeof listed->ending, "well");
    if (ending.failed > 1)
        esi_describe_append(listed->ending, sizeof listed->ending, ", and %zu more",
                            ending.failed - 1);
}

/* Members that cannot be read here keep the values of the list of runs. */
static void listed_run_init(struct listed_run *listed, const struct es_run_info *info)
{
    struct es_run *run;

    *listed = (struct listed_run){.info = *info, .ranks = info->segments};
    if (es_run_open(info->run, NULL, &run) < 0)
        return;
    if (es_run_segment_count(run) > 0) {
        read_program(run, listed);
        read_ending(listed);
    }
    es_run_close(run);
}

/* Time since the start; "" = not known. */
static const char *format_age(uint64_t started_ns, char *out, size_t size)
{
    uint64_t now_ns = esi_now_ns(CLOCK_REALTIME);

    if (started_ns == 0 || now_ns < started_ns)
        return "";
    return esi_quantity_time(out, size, (double)(now_ns - started_ns));
}

static const char *file_of(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

static void describe_run(struct esi_row *row, const void *record)
{
    const struct listed_run *listed = record;
    const struct es_run_info *info = &listed->info;
    const char *program = listed->program[0] ? listed->program : NULL;
    const char *ending = listed->ending[0] ? listed->ending : NULL;
    char when[32];

    esi_row_text(row, "type", NULL, "run");
    esi_row_long_text(row, "run", "RUN", 12, info->run);
    esi_row_text(row, NULL, "STATE", state_of_run(info));
    esi_row_bool(row, "live", NULL, info->alive > 0);
    esi_row_signed(row, "processes", NULL, info->segments);
    esi_row_signed(row, "alive", NULL, info->alive);
    esi_row_signed(esi_row_minor(row, 1), "ranks", "RANKS", listed->ranks);
    esi_row_text(row, "program", NULL, program);
    esi_row_long_text(esi_row_minor(row, 2), NULL, "PROGRAM", 10,
                      program ? file_of(program) : NULL);
    esi_row_unsigned(row, "started_ns", NULL, info->started_realtime_ns);
    esi_row_text(esi_row_minor(row, 4), NULL, "STARTED",
                 format_time(info->started_realtime_ns, when, sizeof when));
    esi_row_quantity(esi_row_minor(row, 3), "AGE", "%s",
                     format_age(info->started_realtime_ns, when, sizeof when));
    esi_row_prose(esi_row_tone(row, listed->has_failed ? ESI_TONE_BAD : ESI_TONE_PLAIN),
                  "ending", "ENDED", 16, ending);
    esi_row_bool(row, "elsewhere", NULL, info->elsewhere);
    esi_row_unsigned(row, "alone", NULL, listed->alone);
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
    struct listed_run listed = {.ranks = 0};
    int code = esi_rows_begin(&rows, &listed);
    if (code < 0)
        return code;
    for (int i = 0; i < count; i++) {
        listed_run_init(&listed, &runs[i]);
        esi_rows_add(&rows, &listed);
    }
    code = esi_rows_finish(&rows);
    for (int i = 0; i < count && format == ESI_ROWS_TABLE; i++)
        esi_command_print_alone(runs[i].run);
    return code;
}

/* Whether the run's tuple servers answer, and the number of ranks they know. */
static bool ask_servers(const char *run, struct es_run_info *ret_info)
{
    struct es_error error = {.text = ""};
    char reason[1024];
    struct es_server_info server;
    struct es_servers *servers;
    int ranks = 0;

    int code = es_servers_open(run, NULL, &error, &servers);
    if (code == -EPERM)
        esi_command_note("run '%s' is not listed: %s", run,
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

/* Adds the runs with a tuple server but no process on this host: their job was started
 * here and runs elsewhere.  Returns the new count. */
static int add_served_runs(struct es_run_info **runs, int count, struct es_error *error)
{
    size_t capacity = (size_t)count;
    char(*names)[64] = NULL;
    int found = esi_run_directory_list(error, &names);

    if (found < 0)
        return found;
    for (int i = 0; i < found; i++) {
        struct es_run_info info;

        if (is_listed(*runs, count, names[i]) || !ask_servers(names[i], &info))
            continue;
        if (ESI_ARRAY_RESERVE(*runs, capacity, (size_t)count + 1) < 0)
            break;
        (*runs)[count++] = info;
    }
    free(names);
    return count;
}

/* Puts the runs of this folder first.  Returns their number. */
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
                                      "cannot look for runs in shared memory");
    int elsewhere = arguments->everywhere ? 0 : all - sort_out(runs, all);
    int count = add_served_runs(&runs, all - elsewhere, &error);
    if (count < 0) {
        free(runs);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, count,
                                      "cannot look for run directories");
    }
    int code = print_runs(runs, count, esi_format_rows(arguments->format));
    if (code >= 0 && elsewhere > 0 && arguments->format == ES_FORMAT_TEXT)
        printf("and %d in other folders, which --everywhere shows\n", elsewhere);
    free(runs);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot write the list of runs");
    return ES_EXIT_SUCCESS;
}

/* --- One run ---------------------------------------------------------------------- */

/* Sums over elements. */
struct sums {
    size_t threads;
    size_t elements;
    size_t off; /* number of these that are off */
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
    sums->off += more->off;
    sums->tuples += more->tuples;
    sums->overwritten += more->overwritten;
    sums->polls += more->polls;
    sums->held += more->held;
    sums->bytes += more->bytes;
}

/* Threads are numbered from 0 in each process. */
static void sum_up(const struct es_segment_view *segment, struct sums *ret_sums)
{
    size_t count = es_segment_view_element_count(segment);
    struct sums sums = {.elements = 0};
    struct es_segment_info process;

    for (size_t i = 0; i < count; i++) {
        struct es_element_info info;
        es_element_view_info(es_segment_view_element(segment, i), &info);
        if (info.classes == ES_CLASSES_STARTED)
            continue;
        sums.elements++;
        if (info.thread >= 0 && (size_t)info.thread >= sums.threads)
            sums.threads = (size_t)info.thread + 1;
        sums.off += !info.enabled;
        sums.tuples += info.head;
        sums.overwritten += info.oldest;
        sums.polls += info.polls;
        sums.held += info.held;
    }
    es_segment_view_info(segment, &process);
    sums.bytes = process.segment_bytes;
    *ret_sums = sums;
}

/* Reports what found no memory or no place, and so is not recorded. */
static void print_shortages(const struct es_segment_info *info)
{
    if (info->elements_refused)
        printf("rank %d: %" PRIu32 " elements are not collected: no shared memory "
               "left\n",
               info->rank, info->elements_refused);
    if (info->elements_shrunk)
        printf("rank %d: %" PRIu32 " %s less than the requested threshold\n",
               info->rank, info->elements_shrunk,
               info->elements_shrunk == 1 ? "element has" : "elements have");
    if (info->communicators_refused)
        printf("rank %d: %" PRIu32 " communicators have no room in the table\n",
               info->rank, info->communicators_refused);
    if (info->tuples_refused)
        printf("rank %d: %" PRIu64 " tuples were not recorded: no memory left in the "
               "program\n",
               info->rank, info->tuples_refused);
}

/* One process and its collected data. */
struct listed_process {
    const char *run;
    struct es_segment_info info;
    bool before_mpi; /* it has not called MPI, or had not when it ended */
    struct sums sums;
    const struct sums *shown; /* of all processes: columns that are 0 are omitted;
                                 borrowed */
};

/* All processes of a run, each read once: totals and rows agree while it goes on. */
struct listed_processes {
    struct listed_process *items; /* owned */
    size_t count;
    struct sums shown;
};

static const char *heading_if(const char *heading, uint64_t number)
{
    return number > 0 ? heading : NULL;
}

static void describe_ending(struct esi_row *row, const struct es_segment_info *info)
{
    esi_row_text(row, "state", NULL, esi_process_state_name(info->state));
    if (info->exit_code >= 0)
        esi_row_signed(row, "exit_code", NULL, info->exit_code);
    if (info->state == ES_PROCESS_KILLED)
        esi_row_signed(row, "signal", NULL, info->signal);
}

static void describe_process(struct esi_row *row, const void *record)
{
    const struct listed_process *process = record;
    const struct es_segment_info *info = &process->info;
    const struct sums *sums = &process->sums;
    char text[96];

    esi_row_text(row, "type", NULL, "process");
    esi_row_text(row, "run", NULL, process->run);
    esi_row_quantity(row, "RANK", info->rank < 0 ? "monitor" : "%d", info->rank);
    esi_row_long_text(row, "host", "HOST", 8, info->host);
    esi_row_signed(row, "rank", NULL, info->rank);
    esi_row_signed(row, "size", NULL, info->size);
    esi_row_signed(esi_row_minor(row, 3), "pid", "PID", info->pid);
    esi_row_text(row, "program", NULL, info->program);
    esi_row_bool(row, "alive", NULL, info->alive);
    esi_row_bool(row, "before_mpi", NULL, process->before_mpi);
    esi_row_long_text(
        esi_row_tone(row, esi_process_has_failed(info->state, info->exit_code)
                              ? ESI_TONE_BAD
                              : ESI_TONE_PLAIN),
        NULL, "STATE", 9,
        esi_ending_describe(info, process->before_mpi, text, sizeof text));
    describe_ending(row, info);
    esi_row_unsigned(esi_row_minor(row, 4), "threads", "THREADS", sums->threads);
    esi_row_unsigned(esi_row_minor(row, 5), "elements", "ELEMENTS", sums->elements);
    esi_row_unsigned(row, "elements_off", heading_if("OFF", process->shown->off),
                     sums->off);
    esi_row_unsigned(row, "tuples", "TUPLES", sums->tuples);
    esi_row_unsigned(esi_row_minor(row, 2), "overwritten",
                     heading_if("OVERWRITTEN", process->shown->overwritten),
                     sums->overwritten);
    esi_row_unsigned(esi_row_minor(row, 7), "polls",
                     heading_if("POLLS", process->shown->polls), sums->polls);
    esi_row_unsigned(esi_row_minor(row, 8), "held",
                     heading_if("HELD", process->shown->held), sums->held);
    esi_row_bytes(esi_row_minor(row, 6), "bytes", "MEMORY", (int64_t)sums->bytes);
    esi_row_unsigned(row, "elements_refused", NULL, info->elements_refused);
    esi_row_unsigned(row, "elements_shrunk", NULL, info->elements_shrunk);
    esi_row_unsigned(row, "communicators_refused", NULL, info->communicators_refused);
    esi_row_unsigned(row, "tuples_refused", NULL, info->tuples_refused);
}

static void read_process(struct listed_process *process,
                         const struct es_run *run,
                         const struct es_segment_view *segment)
{
    process->run = es_run_name(run);
    es_segment_view_info(segment, &process->info);
    process->before_mpi = esi_ending_is_before_mpi(run, segment);
    sum_up(segment, &process->sums);
}

/* Columns that are 0 in all processes are left out unless `all` is set.  Returns 0 or
 * -ENOMEM; the caller frees the items. */
static int read_processes(const struct es_run *run,
                          bool all,
                          struct listed_processes *ret_processes)
{
    static const struct sums every = {
        .off = 1, .overwritten = 1, .polls = 1, .held = 1};
    size_t count = es_run_segment_count(run);
    struct listed_process *items = calloc(count + 1, sizeof *items);

    if (!items)
        return -ENOMEM;
    *ret_processes = (struct listed_processes){.items = items, .count = count};
    for (size_t i = 0; i < count; i++) {
        read_process(&items[i], run, es_run_segment(run, i));
        items[i].shown = &ret_processes->shown;
        add_sums(&ret_processes->shown, &items[i].sums);
    }
    if (all)
        ret_processes->shown = every;
    return 0;
}

/* The sums of the program's processes.  Monitors, which may record themselves, are not
 * part of the run. */
static void print_run_line(const char *run, const struct listed_processes *processes)
{
    size_t monitors = 0;
    struct sums all = {.threads = 0};
    char memory[32];
    char beside[40] = "";

    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].info.rank < 0)
            monitors++;
        else
            add_sums(&all, &processes->items[i].sums);
    if (monitors)
        snprintf(beside, sizeof beside, "; %zu monitoring", monitors);
    esi_text_prose_print(
        stdout,
        "run %s: %zu processes, %zu threads, %zu elements, %" PRIu64 " tuples, "
        "%" PRIu64 " overwritten, %s%s",
        run, processes->count - monitors, all.threads, all.elements, all.tuples,
        all.overwritten, esi_quantity_bytes(memory, sizeof memory, (double)all.bytes),
        beside);
}

/* Reports the living ranks whose elements, or `some` of them, are off. */
static void print_off(const char *run,
                      const struct listed_processes *processes,
                      bool some)
{
    int *ranks = calloc(processes->count + 1, sizeof *ranks);
    char words[400];
    size_t found = 0;

    for (size_t i = 0; ranks && i < processes->count; i++) {
        const struct listed_process *process = &processes->items[i];

        if (process->info.rank >= 0 && process->info.alive && process->sums.off > 0 &&
            some == (process->sums.off < process->sums.elements))
            ranks[found++] = process->info.rank;
    }
    if (found > 0)
        esi_text_prose_print(
            stdout, "%s",
            esi_describe_off(words, sizeof words, run, ranks, found, some));
    free(ranks);
}

static void print_remarks(const char *run, const struct listed_processes *processes)
{
    esi_command_print_alone(run);
    for (size_t i = 0; i < processes->count; i++)
        print_shortages(&processes->items[i].info);
    print_off(run, processes, false);
    print_off(run, processes, true);
}

static int print_processes(const char *run,
                           const struct listed_processes *processes,
                           enum esi_rows_format format)
{
    const struct listed_process none = {.info.state = ES_PROCESS_RUNNING,
                                        .shown = &processes->shown};
    struct esi_rows rows;

    if (format == ESI_ROWS_TABLE)
        print_run_line(run, processes);
    esi_rows_init(&rows, format, stdout, describe_process);
    int code = esi_rows_begin(&rows, &none);
    if (code < 0)
        return code;
    for (size_t i = 0; i < processes->count; i++)
        esi_rows_add(&rows, &processes->items[i]);
    code = esi_rows_finish(&rows);
    if (format == ESI_ROWS_TABLE)
        print_remarks(run, processes);
    return code;
}

/* All elements of the program, sorted.  Caller frees the array. */
static int select_all(const struct es_run *run, struct es_element_view ***ret_elements)
{
    struct es_selection all;

    es_selection_init(&all);
    all.classes = ES_CLASSES_ALL | ES_CLASSES_TREE;
    return es_run_select(run, &all, ret_elements);
}

static void describe_classes(struct esi_row *row, uint32_t classes)
{
    if (!esi_row_begin_array(row, "classes"))
        return;
    for (unsigned i = 1; i < ES_CLASS_COUNT; i++)
        if (classes & 1u << i)
            esi_row_text(row, NULL, NULL, es_class_name((enum es_class)i));
    esi_row_end(row);
}

static void describe_element(struct esi_row *row, const void *record)
{
    const struct es_element_info *info = record;

    esi_row_text(row, "type", NULL, "element");
    esi_row_long_text(row, "element", "ELEMENT", 16, info->name);
    esi_row_text(row, "collector", NULL, info->collector);
    esi_row_long_text(esi_row_minor(row, 5), "host", "HOST", 8, info->host);
    esi_row_signed(row, "rank", NULL, info->rank);
    esi_row_signed(row, "thread", NULL, info->thread);
    describe_classes(row, info->classes);
    esi_row_bool(row, "enabled", NULL, info->enabled);
    esi_row_text(row, NULL, "ON", info->enabled ? "on" : "off");
    esi_row_text(esi_row_minor(row, 3), "full", "FULL",
                 info->block ? "block" : "discard");
    esi_row_unsigned(esi_row_minor(row, 4), "threshold", "THRESHOLD", info->threshold);
    esi_row_unsigned(row, "tuple_bytes", NULL, info->tuple_bytes);
    esi_row_unsigned(row, "tuples", "TUPLES", info->head);
    esi_row_unsigned(esi_row_minor(row, 2), "overwritten", "OVERWRITTEN", info->oldest);
    esi_row_unsigned(esi_row_minor(row, 7), "polls", "POLLS", info->polls);
    esi_row_unsigned(esi_row_minor(row, 8), "held", "HELD", info->held);
    esi_row_unsigned(esi_row_minor(row, 6), "waits", "WAITS", info->blocked);
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

/* The host's clock relative to the home server's. */
static void describe_clock(struct esi_row *row,
                           const struct es_server_info *info,
                           bool shown)
{
    bool is_known = info->clock_known;

    esi_row_time(esi_row_minor(esi_row_if(row, is_known), 3), NULL,
                 shown ? "OFFSET" : NULL, info->clock_offset_ns);
    esi_row_quantity(esi_row_minor(esi_row_if(row, is_known), 5),
                     shown ? "DRIFT" : NULL, "%+.3f ppm", info->clock_drift_ppb / 1e3);
    esi_row_time(esi_row_minor(esi_row_if(row, is_known), 2), NULL,
                 shown ? "ERROR" : NULL, (int64_t)info->clock_error_ns);
    if (!esi_row_begin_object(esi_row_if(row, is_known), "clock"))
        return;
    esi_row_unsigned(row, "monotonic_ns", NULL, info->clock_monotonic_ns);
    esi_row_signed(row, "offset_ns", NULL, info->clock_offset_ns);
    esi_row_real(row, "drift_ppb", NULL, info->clock_drift_ppb);
    esi_row_unsigned(row, "error_ns", NULL, info->clock_error_ns);
    esi_row_end(row);
}

/* The server of one host. */
struct host {
    const char *run;
    struct es_server_info info;
    bool several; /* false: no clock to compare with, no cluster */
};

static void describe_host(struct esi_row *row, const void *record)
{
    const struct host *host = record;
    const struct es_server_info *info = &host->info;

    esi_row_text(row, "type", NULL, "host");
    esi_row_text(row, "run", NULL, host->run);
    esi_row_long_text(row, "host", "HOST", 8, info->host);
    esi_row_text(row, "cluster", NULL, info->cluster);
    esi_row_text(esi_row_minor(row, 4), NULL, host->several ? "CLUSTER" : NULL,
                 info->cluster[0] ? info->cluster : "-");
    esi_row_text(row, "gateway", NULL, info->gateway);
    esi_row_text(row, "address", NULL, info->address);
    esi_row_text(row, "state", NULL, state_name(info->state));
    esi_row_words(row, "SERVER", 0, "%s%s", state_name(info->state),
                  info->home ? ", home" : "");
    esi_row_bool(row, "home", NULL, info->home);
    esi_row_bool(row, "here", NULL, info->here);
    esi_row_signed(row, "ranks", "RANKS", info->ranks);
    esi_row_unsigned(row, "silent_ns", NULL, info->silent_ns);
    describe_clock(row, info, host->several);
    esi_row_text(esi_row_minor(row, 1), NULL, "ADDRESS", info->address);
}

static int print_hosts(struct es_servers *servers,
                       const char *run,
                       const struct list_arguments *arguments)
{
    enum esi_rows_format format = esi_format_rows(arguments->format);
    struct host host = {.run = run,
                        .several = arguments->verbose || es_servers_count(servers) > 1};
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

/* `servers` is NULL if the run has none. */
static int print_run(const struct es_run *run,
                     struct es_servers *servers,
                     const struct list_arguments *arguments)
{
    enum esi_rows_format format = esi_format_rows(arguments->format);
    struct listed_processes processes;
    int code = read_processes(run, arguments->verbose, &processes);

    if (code < 0)
        return code;
    code = print_processes(es_run_name(run), &processes, format);
    free(processes.items);
    if (code == 0 && format == ESI_ROWS_TABLE)
        esi_command_print_absent(es_run_name(run), servers);
    if (code == 0 && arguments->elements)
        code = print_elements(run, format);
    if (code == 0 && servers)
        code = print_hosts(servers, es_run_name(run), arguments);
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
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0},
                                                 {&esi_colours_argp, 0, NULL, 0},
                                                 {&esi_wide_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp parser = {options,  parse_option, "[RUN]", doc,
                                       children, NULL,         NULL};
    struct list_arguments arguments = {.run = NULL};
    struct esi_screen screen;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    esi_screen_open(&screen,
                    arguments.format == ES_FORMAT_TEXT ? arguments.colours
                                                       : ES_COLOURS_NEVER,
                    false);
    esi_screen_begin(&screen);
    status = arguments.run || arguments.elements ? list_run(&arguments)
                                                 : list_runs(&arguments);
    if (esi_screen_show(&screen) < 0 && status == ES_EXIT_SUCCESS)
        status = esi_command_fail_output(-EIO);
    esi_screen_close(&screen);
    return status;
}
