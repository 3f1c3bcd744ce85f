/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * observe - pulls a view of a live run, at full speed or at a given rate, until the
 * first process of the run has ended.
 *
 *   observe --run big --elements 1948 --rate 100 --set shape=flat --set threads=4
 *
 * At the end it prints the costs of the pulls, one `name: value` per line.  Like all
 * consumers, it only uses the public interface.
 */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/run.h"
#include "eventspace/scope.h"
#include "eventspace/servers.h"

#define SECOND_NS UINT64_C(1000000000)
#define LOOK_NS (SECOND_NS / 4) /* between two checks of the run's processes */
#define POLL_NS (SECOND_NS / 50)

enum { SETTINGS_MAX = 32, SERVERS_MAX = 64 };

struct settings {
    const char *run;
    struct es_scope_config scope;
    char *changes[SETTINGS_MAX]; /* NAME=VALUE, for es_scope_config_set() */
    size_t change_count;
    size_t elements; /* required in the view; 0 for those that exist */
    double rate;     /* 0 for full speed */
    double seconds;  /* 0: until the run ends */
    double patience;
    pid_t servers[SERVERS_MAX]; /* whose CPU time is also measured */
    size_t server_count;
};

enum observe_option {
    OPTION_RANKS = 256,
    OPTION_THREAD,
    OPTION_NAME,
    OPTION_TAKE,
    OPTION_SET,
    OPTION_CPU_OF,
    OPTION_WAIT,
};

static const struct argp_option options[] = {
    {"run", 'r', "RUN", 0, "the run (the only one)", 0},
    {"elements", 'e', "N", 0, "wait until the view has N elements", 0},
    {"ranks", OPTION_RANKS, "LIST", 0, "elements of these ranks, such as 0-3,7", 0},
    {"thread", OPTION_THREAD, "N", 0, "of this thread of each rank", 0},
    {"name", OPTION_NAME, "PATTERN", 0, "whose names are like this", 0},
    {"rate", 'R', "N", 0, "pulls a second; 0 = as many as there can be (0)", 0},
    {"seconds", 's', "S", 0, "for so long; 0 = until the run's first process ends (0)",
     0},
    {"wait", OPTION_WAIT, "S", 0, "wait so long for the elements (10)", 0},
    {"take", OPTION_TAKE, "WHAT", 0,
     "latest (of each element), thread (latest of each), every or new tuple (latest)",
     0},
    {"set", OPTION_SET, "NAME=VALUE", 0,
     "a setting of the scope, as `eventspace scope set` takes it", 0},
    {"cpu-of", OPTION_CPU_OF, "PID", 0, "tell the CPU time of this server, too", 0},
    {0},
};

static volatile sig_atomic_t interrupted;

/* --- Options --------------------------------------------------------------------- */

static double parse_number(const char *text, double most, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= most))
        argp_error(state, "\"%s\": expected a number from 0 to %.0f", text, most);
    return value;
}

static enum es_take parse_take(const char *text, struct argp_state *state)
{
    static const char *const names[] = {
        [ES_TAKE_EVERY] = "every",
        [ES_TAKE_NEW] = "new",
        [ES_TAKE_LATEST] = "latest",
        [ES_TAKE_LATEST_OF_THREAD] = "thread",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], text) == 0)
            return (enum es_take)i;
    argp_error(state, "\"%s\": expected latest, thread, every or new", text);
    return ES_TAKE_LATEST;
}

static error_t parse_view_option(int key, char *text, struct argp_state *state)
{
    struct settings *settings = state->input;

    switch (key) {
    case OPTION_RANKS:
        settings->scope.view.selection.ranks = text;
        return 0;
    case OPTION_THREAD:
        settings->scope.view.selection.thread = (int)parse_number(text, 1e6, state);
        return 0;
    case OPTION_NAME:
        settings->scope.view.selection.name = text;
        return 0;
    case OPTION_TAKE:
        settings->scope.take = parse_take(text, state);
        return 0;
    case OPTION_SET:
        if (settings->change_count == SETTINGS_MAX)
            argp_error(state, "more than %d settings", SETTINGS_MAX);
        settings->changes[settings->change_count++] = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct settings *settings = state->input;

    switch (key) {
    case 'r':
        settings->run = text;
        return 0;
    case 'e':
        settings->elements = (size_t)parse_number(text, 1e7, state);
        return 0;
    case 'R':
        settings->rate = parse_number(text, 1e6, state);
        return 0;
    case 's':
        settings->seconds = parse_number(text, 1e6, state);
        return 0;
    case OPTION_WAIT:
        settings->patience = parse_number(text, 1e6, state);
        return 0;
    case OPTION_CPU_OF:
        if (settings->server_count == SERVERS_MAX)
            argp_error(state, "more than %d servers", SERVERS_MAX);
        settings->servers[settings->server_count++] =
            (pid_t)parse_number(text, INT32_MAX, state);
        return 0;
    default:
        return parse_view_option(key, text, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .doc = "Pulls a view of a live run and tells what that costs.",
};

/* --- Failing, and time ----------------------------------------------------------- */

static _Noreturn void die(const char *what, int code, const struct es_error *error)
{
    fprintf(stderr, "observe: %s: %s\n", what,
            error && error->text[0] ? error->text : strerror(-code));
    exit(code == -EINVAL ? 2 : 1);
}

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t time_ns)
{
    struct timespec time = {.tv_sec = (time_t)(time_ns / SECOND_NS),
                            .tv_nsec = (long)(time_ns % SECOND_NS)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* CPU time of all named servers since their start. */
static uint64_t servers_cpu(const struct settings *settings)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < settings->server_count; i++) {
        clockid_t clock;

        if (clock_getcpuclockid(settings->servers[i], &clock) == 0)
            sum += read_clock(clock);
    }
    return sum;
}

/* --- The scope ------------------------------------------------------------------- */

struct observer {
    struct es_servers *servers; /* NULL if not needed */
    struct es_run *run;
    struct es_scope *scope;
};

static void apply_changes(struct settings *settings)
{
    struct es_error error = {.text = ""};

    for (size_t i = 0; i < settings->change_count; i++) {
        char *value = strchr(settings->changes[i], '=');
        int code;

        if (!value)
            die(settings->changes[i], -EINVAL, NULL);
        *value++ = '\0';
        code =
            es_scope_config_set(&settings->scope, settings->changes[i], value, &error);
        if (code < 0)
            die("setting", code, &error);
    }
}

static bool may_come(int code)
{
    return code == -ENOENT || code == -EPIPE || code == -ECONNREFUSED;
}

/* Opens the run, and its servers if the scope uses them; they may still be starting. */
static void open_run(const struct settings *settings,
                     uint64_t limit_ns,
                     struct observer *observer)
{
    bool server = settings->scope.tree.through_server;

    for (;;) {
        struct es_error error = {.text = ""};
        int code =
            server ? es_servers_open(settings->run, NULL, &error, &observer->servers)
                   : es_run_open(settings->run, &error, &observer->run);

        if (code == 0)
            break;
        if (!may_come(code) || read_clock(CLOCK_MONOTONIC) > limit_ns)
            die("run", code, &error);
        sleep_until(read_clock(CLOCK_MONOTONIC) + POLL_NS);
    }
    if (server) {
        struct es_error error = {.text = ""};
        int code = es_run_open_empty(es_servers_run(observer->servers), &error,
                                     &observer->run);

        if (code < 0)
            die("run", code, &error);
    }
}

static void open_observer(struct settings *settings, struct observer *ret_observer)
{
    uint64_t limit_ns =
        read_clock(CLOCK_MONOTONIC) + (uint64_t)(settings->patience * 1e9);
    struct observer observer = {.run = NULL};
    struct es_error error = {.text = ""};
    int code;

    open_run(settings, limit_ns, &observer);
    settings->scope.servers = observer.servers;
    code = es_scope_open(observer.run, &settings->scope, &error, &observer.scope);
    if (code < 0)
        die("scope", code, &error);
    while (es_scope_origin_count(observer.scope) < settings->elements &&
           read_clock(CLOCK_MONOTONIC) < limit_ns && !interrupted) {
        sleep_until(read_clock(CLOCK_MONOTONIC) + POLL_NS);
        es_scope_refresh(observer.scope);
    }
    if (settings->elements &&
        es_scope_origin_count(observer.scope) != settings->elements)
        fprintf(stderr, "observe: the view has %zu elements, not %zu\n",
                es_scope_origin_count(observer.scope), settings->elements);
    *ret_observer = observer;
}

static void close_observer(struct observer *observer)
{
    es_scope_close(observer->scope);
    es_run_close(observer->run);
    es_servers_close(observer->servers);
}

/* --- Pulling --------------------------------------------------------------------- */

struct record {
    uint64_t begun_ns;
    uint64_t cpu_ns;        /* at the beginning; later the time used */
    uint64_t seconds_ns;    /* elapsed time */
    uint64_t server_cpu_ns; /* at the start, at the last check, and its time */
    uint64_t server_last_ns;
    uint64_t server_seen_ns;
    uint64_t pulls;
    uint64_t skipped; /* pulls that were due while another was in progress */
    uint64_t notices;
};

/* Returns true if the process of the first element has ended. */
static bool has_ended(struct es_scope *scope)
{
    struct es_segment_info info;

    es_scope_refresh(scope);
    if (es_scope_has_vanished(scope))
        return true;
    return es_scope_process(scope, 0, &info) == 0 &&
           (!info.alive || info.state != ES_PROCESS_RUNNING);
}

static void pull_once(struct observer *observer, struct record *record)
{
    const struct es_batch *batch;

    do {
        int code = es_scope_pull(observer->scope, 0, &batch);

        if (code < 0)
            die("pull", code, NULL);
        record->notices += batch->notice_count;
    } while (batch->more && !interrupted);
    record->pulls++;
}

/* Servers may end before this program: their CPU time after the last check is not
 * measured. */
static void look_at_servers(const struct settings *settings, struct record *record)
{
    uint64_t spent = servers_cpu(settings);

    if (spent < record->server_last_ns)
        return;
    record->server_last_ns = spent;
    record->server_seen_ns = read_clock(CLOCK_MONOTONIC);
}

/* Waits until the next pull is due; skips those that could not start in time. */
static void wait_turn(const struct settings *settings,
                      uint64_t now,
                      uint64_t *due,
                      struct record *record)
{
    uint64_t step;

    if (settings->rate <= 0)
        return;
    step = (uint64_t)(1e9 / settings->rate);
    for (*due += step; *due < now; *due += step)
        record->skipped++;
    sleep_until(*due);
}

static void observe(const struct settings *settings,
                    struct observer *observer,
                    struct record *record)
{
    uint64_t now = read_clock(CLOCK_MONOTONIC);
    uint64_t limit_ns =
        settings->seconds > 0 ? now + (uint64_t)(settings->seconds * 1e9) : UINT64_MAX;
    uint64_t look_ns = now + LOOK_NS;
    uint64_t due = now;

    record->begun_ns = now;
    record->cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    look_at_servers(settings, record);
    record->server_cpu_ns = record->server_last_ns;
    while (!interrupted && now < limit_ns) {
        pull_once(observer, record);
        now = read_clock(CLOCK_MONOTONIC);
        if (now >= look_ns) {
            look_ns = now + LOOK_NS;
            look_at_servers(settings, record);
            if (has_ended(observer->scope))
                break;
        }
        wait_turn(settings, now, &due, record);
    }
    record->cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - record->cpu_ns;
    record->seconds_ns = read_clock(CLOCK_MONOTONIC) - record->begun_ns;
    look_at_servers(settings, record);
}

static double server_percent(const struct record *record)
{
    uint64_t seen_ns = record->server_seen_ns - record->begun_ns;

    return seen_ns == 0
               ? 0
               : 100.0 * (double)(record->server_last_ns - record->server_cpu_ns) /
                     (double)seen_ns;
}

static void print_record(const struct settings *settings,
                         const struct observer *observer,
                         const struct record *record)
{
    struct es_scope_cost cost;
    double seconds = (double)record->seconds_ns / 1e9;
    double pulls = record->pulls > 0 ? (double)record->pulls : 1;

    es_scope_cost(observer->scope, &cost);
    printf("elements: %zu\n", cost.origins);
    printf("stages: %zu\n", cost.stages);
    printf("seconds: %.3f\n", seconds);
    printf("pulls: %" PRIu64 "\n", record->pulls);
    printf("rate: %.2f pulls/s\n", (double)record->pulls / seconds);
    printf("skipped: %" PRIu64 "\n", record->skipped);
    printf("cpu_per_pull: %.2f us\n", (double)record->cpu_ns / 1e3 / pulls);
    printf("cpu: %.3f %%\n", (double)record->cpu_ns / 1e7 / seconds);
    if (settings->server_count > 0)
        printf("server_cpu: %.3f %%\n", server_percent(record));
    printf("tuples: %" PRIu64 "\n", cost.tuples);
    printf("lost: %" PRIu64 "\n", cost.lost);
    printf("notices: %" PRIu64 "\n", record->notices);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = interrupt};
    struct settings settings = {.patience = 10};
    struct record record = {.pulls = 0};
    struct observer observer;

    es_scope_config_init(&settings.scope);
    settings.scope.take = ES_TAKE_LATEST;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &settings);
    apply_changes(&settings);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    open_observer(&settings, &observer);
    observe(&settings, &observer, &record);
    print_record(&settings, &observer, &record);
    close_observer(&observer);
    return 0;
}
