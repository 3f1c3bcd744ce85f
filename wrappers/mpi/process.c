/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Starting and stopping collection in the observed process.
 *
 * After fork() the child shares the segment's pages with its parent, so it steps aside
 * immediately.  Our entry in LD_PRELOAD is removed at the first MPI call and not
 * before: a script that finally runs the MPI program must still pass it on.
 */
#include "config.h"

#include "wrappers/mpi/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/job_environment.h"
#include "base/plain.h"
#include "base/process.h"
#include "tuplespace/layout.h"
#include "tuplespace/started.h"
#include "tuplespace/tree_control.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/next.h"
#include "wrappers/mpi/profile.h"
#include "wrappers/mpi/spawn.h"
#include "wrappers/mpi/thread.h"
#include "wrappers/mpi/tree_ops.h"

enum es_clock_kind esi_clock = ES_CLOCK_MONOTONIC;
uint64_t esi_poll_gap;

enum state { NOT_STARTED, RUNNING, ASIDE };

static struct esi_process process = {.rank = -1, .first = -1, .size = -1};
static _Atomic int state = NOT_STARTED;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag warned = ATOMIC_FLAG_INIT;

void esi_process_warn(const char *format, ...)
{
    char text[512], line[512];
    int length = snprintf(text, sizeof text, "eventspace: rank %d: ", process.rank);
    va_list arguments;

    if (atomic_flag_test_and_set(&warned) || length < 0)
        return;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    esi_plain_copy(line, sizeof line - 1, text);
    strcat(line, "\n");
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        return; /* stderr may be closed */
}

/* The number in the variable, or -1. */
static int number_from(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long value;

    if (text == NULL || *text == '\0')
        return -1;
    value = strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < INT32_MAX ? (int)value : -1;
}

/* First rank of the N-th spawned world; -1 if ranks would not be unique. */
static int first_rank(int world)
{
    if (world == 0)
        return 0;
    return process.spawn[0] != '\0' && world > 0 &&
                   world < ES_GROUP_MAX / ES_WORLD_RANKS &&
                   process.size < ES_WORLD_RANKS
               ? world * ES_WORLD_RANKS
               : -1;
}

static void find_rank(void)
{
    struct esi_job_environment job;
    int rank = number_from("EVENTSPACE_RANK");

    esi_job_environment_read(&job);
    if (rank < 0)
        rank = job.rank;
    process.size = job.size;
    if (rank < 0) { /* not launched: a single process until MPI reports more */
        rank = 0;
        process.size = 1;
    }
    process.first = first_rank(job.world);
    process.rank = process.first >= 0 ? process.first + rank : -1;
}

/* Processes started by this one were not spawned by the same call. */
static void take_spawn(void)
{
    const char *spawn = getenv("EVENTSPACE_SPAWN");

    if (spawn == NULL)
        return;
    snprintf(process.spawn, sizeof process.spawn, "%s", spawn);
    unsetenv("EVENTSPACE_SPAWN");
}

/* Returns whether an entry of LD_PRELOAD, of `length` bytes, is this library. */
static bool is_our_entry(const char *entry, size_t length)
{
    static const char name[] = "libeventspace-mpi.so";

    while (length > 0 && memchr(entry, '/', length) != NULL) {
        const char *slash = memchr(entry, '/', length);

        length -= (size_t)(slash + 1 - entry);
        entry = slash + 1;
    }
    return length >= sizeof name - 1 && strncmp(entry, name, sizeof name - 1) == 0;
}

/* Whether an entry is a runtime that `eventspace exec` added for this program. */
static bool is_added_entry(const char *entry, size_t length)
{
    const char *added = getenv("EVENTSPACE_RUNTIMES");

    while (added != NULL && *added != '\0') {
        size_t added_length = strcspn(added, ":");

        if (added_length == length && strncmp(added, entry, length) == 0)
            return true;
        added += added_length;
        added += *added == ':';
    }
    return false;
}

/* Keeps the list for spawned processes, up to this library if it is there. */
static void keep_preload(const char *list)
{
    for (const char *entry = list; *entry != '\0';) {
        size_t length = strcspn(entry, ": ");

        if (is_our_entry(entry, length))
            snprintf(process.preload, sizeof process.preload, "%.*s",
                     (int)(entry + length - list), list);
        entry += length;
        entry += strspn(entry, ": ");
    }
}

/* Removes this library, and what was added for it, from LD_PRELOAD in place: child
 * processes are not collected, and nothing else in the environment moves.  Returns
 * false if it was not there. */
static bool leave_preload(void)
{
    char *list = getenv("LD_PRELOAD");
    char *from = list;
    char *to = list;
    bool found = false;

    if (list == NULL)
        return false;
    keep_preload(list);
    while (*from != '\0') {
        size_t length = strcspn(from, ": ");

        if (is_our_entry(from, length)) {
            found = true;
        } else if (!is_added_entry(from, length)) {
            if (to != list)
                *to++ = ':';
            memmove(to, from, length);
            to += length;
        }
        from += length;
        from += strspn(from, ": ");
    }
    *to = '\0';
    if (*list == '\0')
        unsetenv("LD_PRELOAD");
    return found;
}

/* A program linked with another MPI is executed again without this library, before its
 * first instruction, because handles of that MPI do not fit our wrappers. */
__attribute__((constructor)) static void leave_other_mpi(int argc, char **argv)
{
    (void)argc;
    if (!esi_next_is_foreign() || !leave_preload())
        return;
    find_rank();
    esi_segment_pass_on();
    esi_process_warn("the program is not linked with " ESI_OWN_MPI
                     ", which this library is for; it runs uncollected");
    execv("/proc/self/exe", argv);
}

void esi_process_leave_mpi(void)
{
    pthread_mutex_lock(&starting);
    if (atomic_load_explicit(&state, memory_order_relaxed) == NOT_STARTED) {
        find_rank();
        leave_preload();
        esi_segment_pass_on();
        atomic_store_explicit(&state, ASIDE, memory_order_release);
        esi_process_warn("the program has loaded another MPI than " ESI_OWN_MPI
                         ", which this library is for; it runs uncollected; "
                         "EVENTSPACE_MPI says which one is to be collected");
    }
    pthread_mutex_unlock(&starting);
}

static void step_aside_in_child(void)
{
    atomic_store_explicit(&state, ASIDE, memory_order_relaxed);
    esi_trees_remove();
    esi_ledger_leave();
    esi_profile_leave();
    memset(&esi_thread_self, 0, sizeof esi_thread_self);
}

/* Returns whether the run was named, by `eventspace run`, `exec` or the user.
 * Otherwise the library was preloaded manually or linked, and nobody removes left-over
 * segments. */
static bool is_named(void)
{
    const char *name = getenv("EVENTSPACE_RUN");

    return name != NULL && *name != '\0';
}

/* The run id: its name, or one shared by all ranks with the same parent on this
 * host. */
static void find_run(char run[64])
{
    uint64_t parent_start = 0;

    esi_process_start_time(getppid(), &parent_start);
    if (is_named())
        snprintf(run, 64, "%s", getenv("EVENTSPACE_RUN"));
    else
        snprintf(run, 64, "job-%d-%llx", (int)getppid(),
                 (unsigned long long)parent_start);
}

/* At exit(3): removes the segment of a process that ended normally.  In other cases it
 * remains for diagnosis. */
static void remove_if_well(int status, void *argument)
{
    const struct esi_segment_layout *layout;

    (void)argument;
    if (atomic_load_explicit(&state, memory_order_acquire) != RUNNING)
        return; /* in a child */
    layout = esi_segment_layout(process.segment);
    if (status == 0 && layout->pid == getpid() &&
        atomic_load_explicit(&layout->state, memory_order_relaxed) ==
            ES_SEGMENT_FINALIZED)
        esi_segment_remove(process.segment);
}

/* The collectors if nothing was specified. */
static int make_plan(void)
{
    int result = esi_plan_default(&process.plan);

    if (result >= 0 && esi_trees != NULL)
        result = esi_plan_add_trees(&process.plan);
    return result;
}

static int load_plan_file(struct es_error *error)
{
    const char *path = getenv("EVENTSPACE_PLAN");
    const char *directory = getenv("EVENTSPACE_RUN_DIR");
    char beside[4096];

    if (path == NULL && directory != NULL) {
        snprintf(beside, sizeof beside, "%s/collect.plan", directory);
        if (access(beside, R_OK) == 0)
            path = beside;
    }
    if (path == NULL || *path == '\0')
        return make_plan();
    return esi_plan_load(path, error, &process.plan);
}

/* `eventspace exec --sites` overrides the plan. */
static int load_plan(struct es_error *error)
{
    const char *sites = getenv("EVENTSPACE_SITES");
    int result = load_plan_file(error);

    if (result >= 0 && sites != NULL)
        esi_plan_set_sites(&process.plan, strcmp(sites, "off") != 0);
    return result;
}

static int make_segment(struct es_error *error)
{
    struct esi_job_environment job;
    struct esi_segment_config config;
    char run[64];
    char host[ES_HOST_NAME_BYTES];
    char program[256] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length < 0)
        program[0] = '\0';
    find_run(run);
    esi_host_name(host);
    esi_job_environment_read(&job);
    esi_segment_config_init(&config);
    config.run = run;
    config.host = host;
    config.program = program;
    config.job = job.job;
    config.launcher = job.launcher;
    config.rank = process.rank;
    config.size = process.size;
    config.spawn = esi_spawn_mark(process.spawn);
    config.continues = true;
    return esi_segment_create(&config, error, &process.segment);
}

/* Allows an operator to change trees.  Without space for it they cannot be changed. */
static void make_tree_control(void)
{
    if (esi_trees != NULL && esi_segment_add_tree_control(process.segment) < 0)
        esi_process_warn("no room in /dev/shm for changing collective trees later on");
}

/* The program is recorded anyway, but the other file may be malicious. */
static void warn_of_rival(void)
{
    unsigned int user;

    if (esi_segment_has_rival(process.segment, &user))
        esi_process_warn(
            "the name of its segment in /dev/shm is taken by user %u; it uses another "
            "one",
            user);
}

bool esi_process_wants_sites(const struct esi_process *self)
{
    for (size_t i = 0; i < self->plan.count; i++)
        if (self->plan.collectors[i].sites)
            return true;
    return false;
}

/* Outstanding operations, and totals of completed ones; not if nobody can see them. */
static void make_ledger(void)
{
    const char *wanted = getenv("EVENTSPACE_LEDGER");

    if (wanted == NULL || strcmp(wanted, "off") != 0) {
        esi_ledger_start(process.segment);
        esi_profile_start(process.segment, esi_process_wants_sites(&process));
    }
}

static int start_process(void)
{
    struct es_error error = {.line = 0};
    char text[400];
    int result;

    take_spawn();
    find_rank();
    leave_preload();
    if (getenv("EVENTSPACE_DISABLE") != NULL) {
        esi_segment_pass_on();
        return ASIDE;
    }
    /* Even if nothing can be recorded: trees need all ranks. */
    if (esi_trees_start != NULL)
        esi_trees_start(process.rank);
    result = load_plan(&error);
    if (result >= 0)
        result = make_segment(&error);
    if (result >= 0 && pthread_atfork(NULL, NULL, step_aside_in_child) != 0)
        result = -ENOMEM;
    if (result < 0) {
        esi_segment_pass_on();
        if (error.text[0] == '\0')
            es_error_set(&error, result, "%s", strerror(-result));
        esi_process_warn("%s; the program runs uncollected",
                         es_error_format(&error, text, sizeof text));
        return ASIDE;
    }
    if (!is_named() || getenv("EVENTSPACE_REMOVE") != NULL)
        on_exit(remove_if_well, NULL);
    warn_of_rival();
    make_tree_control();
    make_ledger();
    esi_clock = es_clock_kind();
    esi_fast_is_open = esi_clock == ES_CLOCK_TSC && !esi_multiple && esi_trees == NULL;
    esi_poll_gap =
        esi_segment_layout(process.segment)->clock.frequency_hz / ESI_POLL_GAPS;
    return RUNNING;
}

struct esi_process *esi_process_get(void)
{
    /* Pairs with the release below: the process is initialized. */
    int now = atomic_load_explicit(&state, memory_order_acquire);

    if (now == NOT_STARTED) {
        pthread_mutex_lock(&starting);
        now = atomic_load_explicit(&state, memory_order_relaxed);
        if (now == NOT_STARTED) {
            now = start_process();
            atomic_store_explicit(&state, now, memory_order_release);
        }
        pthread_mutex_unlock(&starting);
    }
    return now == RUNNING ? &process : NULL;
}

int esi_process_first_rank(void)
{
    return process.first;
}

void esi_process_set_world(int rank, int size, bool is_spawned)
{
    struct esi_process *self = esi_process_get();

    if (is_spawned == (process.first == 0))
        process.first = is_spawned ? -1 : 0;
    rank = process.first >= 0 ? process.first + rank : -1;
    if (self != NULL && (self->rank != rank || self->size != size)) {
        self->rank = rank;
        self->size = size;
        esi_segment_set_rank(self->segment, rank, size);
    }
}

void esi_process_set_state(enum esi_segment_state segment_state)
{
    struct esi_process *self = esi_process_get();

    if (self != NULL)
        esi_segment_set_state(self->segment, segment_state);
}

void esi_process_set_abort_code(int code)
{
    struct esi_process *self = esi_process_get();

    if (self != NULL)
        atomic_store_explicit(&esi_segment_layout(self->segment)->abort_code,
                              (uint32_t)code, memory_order_relaxed);
}

void esi_process_count_refused_tuple(void)
{
    struct esi_process *self = esi_process_get();

    if (self != NULL)
        atomic_fetch_add_explicit(&esi_segment_layout(self->segment)->tuples_refused, 1,
                                  memory_order_relaxed);
}
