/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * daemon.c - detaches from the caller, serves, and decides when to end.
 *
 * The main thread scans the processes once a second.  The server ends on a request, on
 * a signal, if no process of the run has been alive on this host for the grace time, or
 * if its files were removed.  A second thread ends the process if this takes too long.
 */
#include "config.h"

#include "scopes/server/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/plain.h"
#include "eventspace/stage_module.h"
#include "scopes/server/placement.h"
#include "scopes/server/process_watch.h"
#include "scopes/server/registration.h"
#include "tuplespace/run_directory.h"

enum { TICK_MS = 1000, DRAIN_TICK_MS = 50, LOG_BYTES_MAX = 4 << 20 };

#define OLD_SUFFIX ".old"

#define ANSWER_NS UINT64_C(4000000000)
/* Longest time that the server takes to end: more than the waits for a placement, a
 * registration and an answer. */
#define END_NS UINT64_C(6000000000)
/* Longest time for consumers to read the remaining data after the run's end. */
#define DRAIN_NS UINT64_C(10000000000)

enum {
    READY_MS = 5000,
    NICE = 5, /* a rank that competes for the CPU gets about three times as much */
    REPORT_BYTES = 4096,
};

/* --- Reports to the process that started this one ----------------------------- */

/* Reports success with the text to print (`fault` NULL), or the fault. */
static void daemon_report(int ready, const char *fault, const char *text)
{
    if (ready >= 0)
        dprintf(ready, "%c%s\n", fault ? '-' : '+', fault ? fault : text);
    else if (fault)
        esi_plain_print(stderr, "eventspaced: %s\n", fault);
    else
        printf("%s\n", text);
    fflush(stdout);
}

_Noreturn static void print_report(const char *report, size_t length)
{
    if (length > 0 && report[0] == '+') {
        fputs(report + 1, stdout);
        fflush(stdout);
        _exit(ES_DAEMON_OK);
    }
    esi_plain_print(stderr, "eventspaced: %.*s\n",
                    length > 0 ? (int)strcspn(report + 1, "\n") : INT_MAX,
                    length > 0 ? report + 1 : "it did not say that it is ready");
    _exit(ES_DAEMON_FAULT);
}

/* Waits for one line of report from the server. */
_Noreturn static void await_ready(int ready)
{
    struct pollfd polled = {.fd = ready, .events = POLLIN};
    char report[REPORT_BYTES + 1];
    size_t length = 0;
    ssize_t more = 1;

    while (more > 0 && length < REPORT_BYTES && poll(&polled, 1, READY_MS) > 0) {
        more = read(ready, report + length, REPORT_BYTES - length);
        length += more > 0 ? (size_t)more : 0;
    }
    report[length] = '\0';
    print_report(report, length);
}

/* --- Leaving ------------------------------------------------------------------ */

static void close_all_between(unsigned first, unsigned last)
{
    enum { MANY = 65536 };

    if (first > last || syscall(SYS_close_range, first, last, 0u) == 0)
        return;
    /* Kernels before 5.9. */
    for (unsigned i = first; i <= last && i < MANY; i++)
        close((int)i);
}

/* Launchers wait until all copies of the descriptors of their ranks are closed, so only
 * the named descriptors may stay open. */
static void close_all_but(int one, int other)
{
    unsigned low = (unsigned)(one < other ? one : other);
    unsigned high = (unsigned)(one < other ? other : one);
    int null = open("/dev/null", O_RDWR);

    if (null >= 0)
        for (int i = 0; i <= STDERR_FILENO; i++)
            dup2(null, i);
    close_all_between(STDERR_FILENO + 1, low - 1);
    close_all_between(low + 1, high - 1);
    close_all_between(high + 1, ~0u);
}

/* Restores the default signal handling. */
static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Moves the descriptor above the standard ones, which will be replaced. */
static int move_up(int descriptor)
{
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    return moved < 0 ? descriptor : moved;
}

int esi_daemon_detach(int keep)
{
    int ends[2];
    pid_t child;

    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        esi_plain_print(stderr, "eventspaced: cannot go to the background: %s\n",
                        strerror(errno));
        exit(ES_DAEMON_FAULT);
    }
    if (child > 0) {
        close(ends[1]);
        /* Reaps the intermediate process; the result is taken from the report. */
        waitpid(child, NULL, 0);
        await_ready(ends[0]);
    }
    /* Becomes session leader, so that the next process cannot acquire a terminal. */
    setsid();
    child = fork();
    if (child != 0)
        _exit(child < 0 ? ES_DAEMON_FAULT : ES_DAEMON_OK);
    int ready = move_up(ends[1]);
    close_all_but(keep, ready);
    reset_signals();
    umask(S_IRWXG | S_IRWXO);
    (void)!chdir("/");
    return ready;
}

void esi_daemon_step_back(void)
{
    cpu_set_t all;

    /* The rank that started this process may be bound to its core; the server may run
     * on any.  The kernel removes the CPUs that this process may not use. */
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
}

struct daemon {
    const struct esi_daemon_options *options;
    const struct esi_server_location *location;
    int lock;
    int signals; /* signalfd */
    int ending;  /* eventfd: the main thread has found a reason to end */
    int log;
    size_t log_bytes;
    bool has_turned;                  /* the old log is from this server */
    char log_path[ES_RUN_PATH_BYTES]; /* "" for standard error */
    struct esi_run_key key;
    struct esi_service service;
    struct esi_host_registry *registry;
    struct esi_server *server;
    struct esi_watch *watch;
    struct esi_registration *registration; /* NULL if this is the home server */
    struct esi_placement *placement;
    char home[ES_ADDRESS_BYTES]; /* of the home server, as written to server.json */
    uint64_t lived_ns;           /* last time when there was a reason to serve */
    uint64_t ended_ns;           /* when the run's end was reported; 0 if not yet */
};

/* --- Log ---------------------------------------------------------------------- */

/* Returns the descriptor. */
static int open_file(const struct daemon *daemon, struct es_error *error)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC };
    const char *chosen = daemon->options->log;
    char file[96];

    if (!chosen)
        return esi_run_file_open(daemon->options->run,
                                 esi_server_file(daemon->location, "log", file), FLAGS,
                                 error);
    /* The path is free since the old log was renamed, and others may have seen that. */
    int descriptor = open(chosen, FLAGS | (daemon->has_turned ? O_EXCL : 0), 0600);
    return descriptor >= 0
               ? descriptor
               : es_error_set_at(error, -errno, chosen, 0, 0, "%s", strerror(errno));
}

/* Limits the size of the log without losing recent messages: one old log is kept.  Next
 * to a log named by the user, a file that is not from this server is not
 * overwritten. */
static void turn_over(struct daemon *daemon)
{
    bool may_replace = !daemon->options->log || daemon->has_turned;
    char old[ES_RUN_PATH_BYTES + sizeof OLD_SUFFIX];

    daemon->log_bytes = 0;
    snprintf(old, sizeof old, "%s" OLD_SUFFIX, daemon->log_path);
    if (renameat2(AT_FDCWD, daemon->log_path, AT_FDCWD, old,
                  may_replace ? 0 : RENAME_NOREPLACE) != 0)
        return;
    daemon->has_turned = true;
    int fresh = open_file(daemon, NULL);
    if (fresh >= 0) {
        close(daemon->log);
        daemon->log = fresh;
    }
}

static void log_line(void *data, const char *line)
{
    struct daemon *daemon = data;

    daemon->log_bytes += strlen(line) + 1;
    if (daemon->log_bytes > LOG_BYTES_MAX && daemon->log_path[0])
        turn_over(daemon);
    char *plain = esi_plain_duplicate(line);
    dprintf(daemon->log, "%s\n", plain ? plain : "");
    free(plain);
}

static int open_log(struct daemon *daemon, struct es_error *error)
{
    const char *chosen = daemon->options->log;
    int code = 0;

    if (!chosen && daemon->options->foreground) {
        daemon->log = dup(STDERR_FILENO);
        return daemon->log < 0 ? -errno : 0;
    }
    if (chosen)
        snprintf(daemon->log_path, sizeof daemon->log_path, "%s", chosen);
    else
        code = esi_server_path(daemon->location, "log", error, daemon->log_path);
    if (code < 0)
        return code;
    daemon->log = open_file(daemon, error);
    return daemon->log < 0 ? daemon->log : 0;
}

/* --- What clients find -------------------------------------------------------- */

static void print_facts(const struct daemon *daemon, FILE *stream)
{
    struct esi_json_out out;
    const char *address;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_signed(&out, "version", 1);
    esi_json_out_string(&out, "run", daemon->options->run);
    esi_json_out_string(&out, "host", daemon->options->host);
    esi_json_out_signed(&out, "pid", getpid());
    esi_json_out_bool(&out, "home", daemon->options->home == NULL);
    esi_json_out_string(&out, "home_address", daemon->home);
    if (daemon->options->advertise)
        esi_json_out_string(&out, "advertise", daemon->options->advertise);
    esi_json_out_begin_array(&out, "addresses");
    for (size_t i = 0; (address = esi_server_address(daemon->server, i)) != NULL; i++)
        esi_json_out_string(&out, NULL, address);
    esi_json_out_end(&out);
    esi_json_out_end(&out);
}

/* Writes RUNDIR/server.json atomically. */
static int write_facts(const struct daemon *daemon, struct es_error *error)
{
    char file[96];
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (!stream)
        return -ENOMEM;
    print_facts(daemon, stream);
    int code =
        fclose(stream) == 0
            ? esi_run_file_replace(daemon->options->run,
                                   esi_server_file(daemon->location, "json", file),
                                   text, length, error)
            : -ENOMEM;
    free(text);
    return code;
}

static void remove_file(const struct daemon *daemon, const char *kind)
{
    char file[96];

    esi_run_file_remove(daemon->options->run,
                        esi_server_file(daemon->location, kind, file));
}

/* Determines the address of this server for other hosts: the first network address,
 * with the requested name, or this host's in place of "*". */
static void publish_address(struct daemon *daemon)
{
    const struct esi_daemon_options *options = daemon->options;
    const char *address = esi_server_address(daemon->server, 0), *one;
    char shown[ES_ADDRESS_BYTES];

    for (size_t i = 0; (one = esi_server_address(daemon->server, i)) != NULL; i++)
        if (strncmp(one, "unix:", 5) != 0) {
            address = one;
            break;
        }
    const char *host = options->advertise;
    const char *port = strrchr(address, ':'), *kind_end = strchr(address, ':');
    /* The home server knows better how this host is reached. */
    if (!host && !options->home && strstr(address, ":*:"))
        host = options->host;
    if (host && strncmp(address, "unix:", 5) != 0)
        snprintf(shown, sizeof shown, "%.*s:%s%s", (int)(kind_end - address), address,
                 host, port);
    else
        snprintf(shown, sizeof shown, "%s", address);
    esi_host_registry_set_address(daemon->registry, shown, options->advertise != NULL);
}

/* --- The processes ------------------------------------------------------------ */

static void report_lost_rank(void *data, const struct esi_lost_rank *lost)
{
    struct daemon *daemon = data;

    esi_acceptor_log(daemon->server, "rank %d (pid %d) has vanished: %s", lost->rank,
                     lost->pid, lost->how);
    esi_host_registry_add_lost(daemon->registry, lost);
}

static int add_ranks(void *data, const struct esi_host_entry *entry)
{
    int *ranks = data;

    if (entry->state == ES_SERVER_UP)
        *ranks += entry->ranks;
    return 0;
}

/* Updates the last time when there was a reason to serve. */
static void scan_processes(struct daemon *daemon)
{
    int everywhere = 0;

    int ranks = esi_watch_scan(daemon->watch, report_lost_rank, daemon);
    esi_host_registry_set_ranks(daemon->registry, ranks);
    esi_host_registry_foreach(daemon->registry, add_ranks, &everywhere);
    bool has_starter = daemon->location->kind == ES_RUN_DIRECTORY_HOME &&
                       esi_run_lock_is_taken(daemon->options->run, "lock");
    bool has_home =
        daemon->registration && esi_registration_is_up(daemon->registration);
    if (everywhere > 0 || has_starter || has_home)
        daemon->lived_ns = esi_now_ns(CLOCK_MONOTONIC);
}

/* Stores which of several addresses reached the home server. */
static void follow_home(struct daemon *daemon)
{
    char home[ES_ADDRESS_BYTES];

    if (!daemon->registration || !esi_registration_home(daemon->registration, home) ||
        strcmp(home, daemon->home) == 0)
        return;
    memcpy(daemon->home, home, sizeof home);
    write_facts(daemon, NULL);
}

/* --- The end ------------------------------------------------------------------ */

/* Active consumers still read the remaining data: the names of the segments are removed
 * now, their memory with the last user. */
static bool awaits_readers(struct daemon *daemon, uint64_t now)
{
    es_run_remove(daemon->options->run, false);
    esi_placement_finish(daemon->placement);
    return esi_service_is_read(&daemon->service) && now - daemon->ended_ns < DRAIN_NS;
}

/* Returns the reason to end now, or NULL. */
static const char *find_reason(struct daemon *daemon)
{
    const enum esi_run_end end = esi_host_registry_ending(daemon->registry);
    const uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    if (end != ES_RUN_GOES_ON && daemon->ended_ns == 0)
        daemon->ended_ns = now;
    if (end == ES_RUN_ENDED)
        return awaits_readers(daemon, now) ? NULL : "the run has ended";
    if (end == ES_RUN_ENDED_KEEP) {
        bool has_others =
            daemon->registration || esi_host_registry_others(daemon->registry) > 0;
        if (!has_others)
            return "the run has ended";
        return now - daemon->ended_ns >= daemon->options->keep_grace_ns
                   ? "the run has ended, and the grace time is over"
                   : NULL;
    }
    if (esi_run_lock_is_orphan(daemon->lock))
        return "its files were removed";
    if (now - daemon->lived_ns >= daemon->options->grace_ns)
        return "nothing of the run lives here, and the grace time is over";
    return NULL;
}

static const char *serve_till_the_end(struct daemon *daemon)
{
    struct pollfd polled[] = {
        {.fd = daemon->signals, .events = POLLIN},
        {.fd = esi_host_registry_descriptor(daemon->registry), .events = POLLIN},
    };
    const char *reason = NULL;
    uint64_t scanned_ns = 0, count;

    while (!reason) {
        /* A wakeup by the report of the end must not increase the rate of scans. */
        if (esi_now_ns(CLOCK_MONOTONIC) - scanned_ns >= TICK_MS * UINT64_C(900000)) {
            scanned_ns = esi_now_ns(CLOCK_MONOTONIC);
            scan_processes(daemon);
            follow_home(daemon);
        }
        reason = find_reason(daemon);
        bool has_ended = esi_host_registry_ending(daemon->registry) == ES_RUN_ENDED;
        if (reason || poll(polled, 2, has_ended ? DRAIN_TICK_MS : TICK_MS) <= 0)
            continue;
        if (polled[0].revents)
            reason = "it received a signal";
        if (polled[1].revents)
            (void)!read(polled[1].fd, &count, sizeof count);
    }
    return reason;
}

static void remove_directory(struct daemon *daemon)
{
    struct es_error error = {.text = ""};

    int code = esi_run_directory_remove(daemon->options->run, &error);
    if (code < 0 && code != -ENOENT)
        esi_acceptor_log(daemon->server, "the run directory stays: %s", error.text);
}

static void remove_facts(const struct daemon *daemon)
{
    if (esi_run_lock_is_orphan(daemon->lock))
        return;
    remove_file(daemon, "json");
    remove_file(daemon, "sock");
}

/* Ends the process although threads are blocked, at the latest END_NS after a signal or
 * after the main thread has found a reason.  Logs without waiting, because the log may
 * be what blocks. */
static void *end_in_time(void *data)
{
    const struct timespec limit = {.tv_sec = END_NS / 1000000000};
    struct daemon *daemon = data;
    struct pollfd polled[] = {{.fd = daemon->signals, .events = POLLIN},
                              {.fd = daemon->ending, .events = POLLIN}};

    while (poll(polled, 2, -1) < 0)
        if (errno != EINTR)
            return NULL;
    nanosleep(&limit, NULL);
    esi_service_abandon(&daemon->service);
    remove_facts(daemon);
    fcntl(daemon->log, F_SETFL, O_APPEND | O_NONBLOCK);
    dprintf(daemon->log, "ended although something in it hung\n");
    _exit(ES_DAEMON_OK);
}

/* Without that thread, the server still ends unless a thread is blocked. */
static void start_guard(struct daemon *daemon)
{
    pthread_t guard;

    daemon->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (daemon->ending >= 0 && pthread_create(&guard, NULL, end_in_time, daemon) == 0)
        pthread_detach(guard);
}

/* Reports the end to other hosts, sends the pending answer, and removes what is
 * left. */
static void end_serving(struct daemon *daemon, const char *reason)
{
    bool has_ended = esi_host_registry_ending(daemon->registry) == ES_RUN_ENDED;
    const uint64_t one = 1;

    (void)!write(daemon->ending, &one, sizeof one);
    esi_acceptor_log(daemon->server, "ends: %s", reason);
    if (daemon->ended_ns)
        esi_host_registry_await_answers(daemon->registry, ANSWER_NS);
    esi_registration_stop(daemon->registration);
    daemon->registration = NULL;
    if (has_ended)
        es_run_remove(daemon->options->run, false);
    remove_facts(daemon);
    if (!esi_run_lock_is_orphan(daemon->lock) && has_ended &&
        daemon->location->kind == ES_RUN_DIRECTORY_OWN)
        remove_directory(daemon);
}

/* --- Start -------------------------------------------------------------------- */

/* Networks require the key; a first server that is started by hand creates it. */
static int find_key(struct daemon *daemon, struct es_error *error)
{
    const char *run = daemon->options->run;

    int code = esi_run_key_load(run, error, &daemon->key);
    if (code != -ENOENT)
        return code;
    es_error_clear(error);
    if (daemon->options->home)
        return es_error_set(error, code,
                            "the key of run '%s' is missing; copy the file 'key' from "
                            "the run directory of the home server's host",
                            run);
    code = esi_run_key_make(&daemon->key);
    return code == 0 ? esi_run_key_save(run, &daemon->key, error) : code;
}

/* Other servers remember the address of a killed server, because parts of trees contain
 * it.  If it is in use now, the server listens as if there had been none. */
static int listen_again(struct daemon *daemon, const struct esi_server_config *config)
{
    const struct esi_daemon_options *options = daemon->options;
    const char *addresses[ES_DAEMON_ADDRESSES + 1];
    struct esi_server_config again = *config;

    if (!options->former)
        return -ENOENT;
    memcpy(addresses, options->addresses, sizeof addresses);
    addresses[options->address_count - 1] = options->former;
    again.addresses = addresses;
    int code = esi_acceptor_start(&again, NULL, &daemon->server);
    explicit_bzero(&again.key, sizeof again.key);
    return code;
}

static int start_server(struct daemon *daemon, struct es_error *error)
{
    const struct esi_daemon_options *options = daemon->options;
    struct esi_server_config config = {
        .run = options->run,
        .host = options->host,
        .addresses = options->addresses,
        .key = daemon->key,
        .log = log_line,
        .log_data = daemon,
    };

    daemon->service = (struct esi_service){
        .run = options->run, .host = options->host, .hosts = daemon->registry};
    int code = esi_service_init(&daemon->service, error);
    if (code < 0)
        return code;
    if (!options->home)
        code = esi_clock_be_home(daemon->service.clocks, options->host);
    esi_service_fill(&daemon->service, &config.service);
    if (code == 0 && listen_again(daemon, &config) < 0)
        code = esi_acceptor_start(&config, error, &daemon->server);
    explicit_bzero(&config.key, sizeof config.key);
    if (code < 0)
        esi_service_fini(&daemon->service);
    else
        daemon->service.server = daemon->server;
    return code;
}

static int start_registration(struct daemon *daemon)
{
    const struct esi_registration_config config = {
        .options = daemon->options,
        .registry = daemon->registry,
        .clocks = daemon->service.clocks,
        .key = &daemon->key,
        .server = daemon->server,
    };

    return daemon->options->home
               ? esi_registration_start(&config, &daemon->registration)
               : 0;
}

/* The placement finds the home server like all clients on this host. */
static int start_placement(struct daemon *daemon)
{
    const struct esi_placement_config config = {.service = &daemon->service};

    return esi_placement_start(&config, &daemon->placement);
}

static int start_serving(struct daemon *daemon, struct es_error *error)
{
    const struct esi_daemon_options *options = daemon->options;

    int code = open_log(daemon, error);
    if (code == 0)
        code = es_stage_load_environment(error);
    if (code >= 0)
        code = find_key(daemon, error);
    if (code == 0)
        code = esi_host_registry_create(options->run, options->host, !options->home,
                                        &daemon->registry);
    if (code < 0)
        return code;
    esi_host_registry_set_site(daemon->registry, options->cluster, options->gateway);
    code = start_server(daemon, error);
    if (code == 0)
        code =
            esi_watch_create(daemon->service.segments, options->host, &daemon->watch);
    if (code < 0)
        return code;
    publish_address(daemon);
    if (options->home)
        snprintf(daemon->home, sizeof daemon->home, "%.*s",
                 (int)strcspn(options->home, ","), options->home);
    code = write_facts(daemon, error);
    if (code == 0)
        code = start_registration(daemon);
    return code == 0 ? start_placement(daemon) : code;
}

static void stop_serving(struct daemon *daemon)
{
    /* While the other servers still run. */
    esi_placement_stop(daemon->placement);
    esi_registration_stop(daemon->registration);
    if (daemon->registry)
        esi_host_registry_close(daemon->registry);
    if (daemon->server) {
        esi_server_stop(daemon->server);
        esi_watch_destroy(daemon->watch);
        esi_service_fini(&daemon->service);
    }
    esi_host_registry_destroy(daemon->registry);
    explicit_bzero(&daemon->key, sizeof daemon->key);
    if (daemon->log >= 0)
        close(daemon->log);
}

/* Blocks the signals in all threads; the main one receives them through a
 * descriptor. */
static int take_signals(void)
{
    sigset_t taken;

    sigemptyset(&taken);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGHUP);
    sigprocmask(SIG_BLOCK, &taken, NULL);
    return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Reports the addresses, one per line. */
static void report_addresses(const struct daemon *daemon, int ready)
{
    char text[ES_DAEMON_ADDRESSES * (ES_ADDRESS_BYTES + 1)] = "";
    const char *address;

    for (size_t i = 0; (address = esi_server_address(daemon->server, i)) != NULL; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 i > 0 ? "\n" : "", address);
    daemon_report(ready, NULL, text);
    if (ready >= 0)
        close(ready);
}

int esi_daemon_serve(const struct esi_daemon_options *options,
                     const struct esi_server_location *location,
                     int lock,
                     int ready)
{
    struct daemon daemon = {.options = options,
                            .location = location,
                            .lock = lock,
                            .ending = -1,
                            .log = -1};
    struct es_error error = {.text = ""};
    char fault[sizeof error.source + sizeof error.text + 32];

    daemon.signals = take_signals();
    int code = daemon.signals < 0 ? -errno : start_serving(&daemon, &error);
    if (code < 0) {
        es_error_format(&error, fault, sizeof fault);
        daemon_report(ready, error.text[0] ? fault : strerror(-code), "");
    } else {
        start_guard(&daemon);
        if (daemon.registration)
            esi_registration_await(daemon.registration);
        report_addresses(&daemon, ready);
        esi_acceptor_log(daemon.server, "serves run %s on %s, pid %d", options->run,
                         options->host, (int)getpid());
        daemon.lived_ns = esi_now_ns(CLOCK_MONOTONIC);
        end_serving(&daemon, serve_till_the_end(&daemon));
    }
    stop_serving(&daemon);
    return code < 0 ? ES_DAEMON_FAULT : ES_DAEMON_OK;
}
