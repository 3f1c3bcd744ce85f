/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A process that records how a rank ends.
 *
 * Only a parent can wait(2) for a process, and the rank's parent is the launcher.  The
 * watcher detects the end with a pidfd, and reads the status
 *
 *   - from /proc/PID/stat, until the launcher has waited for the rank, or else
 *   - from the pidfd, which keeps the status after that (Linux 6.15 and later).
 */
#include "config.h"

#include "cli/launch/rank_watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/host.h"
#include "base/job_environment.h"
#include "base/now.h"
#include "cli/launch/job.h"
#include "cli/launch/unseen.h"
#include "eventspace/run.h"
#include "scopes/server/process_watch.h"
#include "scopes/server/server_location.h"
#include "tuplespace/segment.h"
#include "tuplespace/started.h"

/* Polling interval for processes if the kernel has no pidfd (before Linux 5.3), and for
 * a rank whose end is to be recorded. */
enum { LOOK_MS = 50 };

/* Watchers share its lock.  It exists as long as the run. */
static const char lock_file[] = "run.json";

/* A part of linux/pidfd.h since Linux 6.13, with the exit code since 6.15. */
struct pidfd_facts {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

#define PIDFD_FACTS_GET _IOWR(0xff, 11, struct pidfd_facts)
#define PIDFD_FACTS_EXIT (UINT64_C(1) << 3)

struct rank_watcher {
    const char *run;
    pid_t rank;
    int pidfd; /* of the rank; -1 = the kernel has none */
    int lock;  /* -1 = nobody waits for the watcher */
    bool clean_up;
    const char *program;
    bool speaks; /* reports that the program did not call MPI */
    struct esi_unseen unseen;
};

/* --- The rank's end --------------------------------------------------------------- */

/* Returns whether the process is a zombie, and its status. */
static bool read_zombie(pid_t pid, int *ret_status)
{
    enum { STATE = 3, EXIT_CODE = 52 };
    char path[32], text[1024];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return false;
    text[length] = '\0';
    /* The program's name may contain blanks and parentheses. */
    const char *field = strrchr(text, ')');
    if (!field || (field[2] != 'Z' && field[2] != 'X'))
        return false;
    for (int i = STATE - 1; i < EXIT_CODE && field; i++)
        field = strchr(field + 1, ' ');
    if (!field)
        return false;
    *ret_status = atoi(field + 1);
    return true;
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* After the launcher has waited for the process. */
static bool read_reaped(int pidfd, int *ret_status)
{
    struct pidfd_facts facts = {.mask = PIDFD_FACTS_EXIT};

    if (ioctl(pidfd, PIDFD_FACTS_GET, &facts) != 0 || !(facts.mask & PIDFD_FACTS_EXIT))
        return false;
    *ret_status = facts.exit_code;
    return true;
}

/*
 * Waits for the rank's end.  Returns whether its status is available.  The time is
 * taken at once: a launcher soon ends the other ranks, and their watchers must not be
 * first.
 */
static bool await_end(struct rank_watcher *watcher,
                      int *ret_status,
                      uint64_t *ret_ended_ns)
{
    struct pollfd rank = {.fd = watcher->pidfd, .events = POLLIN};
    int ready, pause_ms;

    if (watcher->pidfd < 0) {
        while (!read_zombie(watcher->rank, ret_status)) {
            if (is_gone(watcher->rank))
                return false;
            poll(NULL, 0, LOOK_MS);
        }
        *ret_ended_ns = esi_now_ns(CLOCK_REALTIME);
        return true;
    }
    do {
        pause_ms =
            watcher->speaks ? esi_unseen_look(&watcher->unseen, watcher->rank) : -1;
        ready = poll(&rank, 1, pause_ms);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    *ret_ended_ns = esi_now_ns(CLOCK_REALTIME);
    return read_zombie(watcher->rank, ret_status) ||
           read_reaped(watcher->pidfd, ret_status);
}

/* Whether somebody called MPI. */
static bool has_segments(const char *run)
{
    struct esi_ending ending;

    return esi_ending_scan(run, &ending) && ending.segments > ending.before_mpi;
}

/* Rank 0's watcher looks for segments before it records the end: they exist until
 * then. */
static bool scan_seen(const char *run, struct esi_ending *ret_ending)
{
    enum { LOOKS = 20 };
    bool found = esi_ending_scan(run, ret_ending);

    for (int i = 0; i < LOOKS && found && ret_ending->is_first_unseen; i++) {
        poll(NULL, 0, LOOK_MS);
        found = esi_ending_scan(run, ret_ending);
    }
    return found;
}

/* The last rank of a job without `eventspace run` removes the remains, if all ranks
 * ended successfully: when as many ranks have ended as the launcher started. */
static void clean_up_run(const char *run)
{
    int expected = esi_job_local_ranks();
    struct esi_ending ending;

    if (scan_seen(run, &ending) && ending.alive == 0 && ending.failed == 0 &&
        ending.segments >= (size_t)(expected > 0 ? expected : 1))
        es_run_remove(run, false);
}

/* --- The process ------------------------------------------------------------------ */

static void close_range_of(unsigned first, unsigned last)
{
    enum { MANY = 65536 };

    if (first > last || syscall(SYS_close_range, first, last, 0u) == 0)
        return;
    /* Kernels before 5.9. */
    for (unsigned i = first; i <= last && i < MANY; i++)
        close((int)i);
}

/* Moves a descriptor above the numbers below `rest`, which are reassigned. */
static int copy_above(int descriptor, int rest)
{
    return descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, rest);
}

static int move_descriptor(int descriptor, int to)
{
    close(to);
    return descriptor < 0 ? -1 : dup2(descriptor, to);
}

/*
 * Readers of the program's pipes and sockets must see their end when the program closes
 * them, so no copies may remain here: Hydra takes the statuses of its ranks in another
 * order if one of their pipes stays open, and then mixes its own kills into them.
 * Terminals do not matter.  Numbers 0 to 2 stay in use, so that later descriptors are
 * not mistaken for standard error.
 */
static void drop_descriptors(struct rank_watcher *watcher)
{
    enum { PIDFD = STDERR_FILENO + 1, LOCK, REST };
    int pidfd = copy_above(watcher->pidfd, REST),
        lock = copy_above(watcher->lock, REST);
    int null = open("/dev/null", O_RDWR);
    int last = watcher->speaks ? STDOUT_FILENO : STDERR_FILENO;

    for (int i = 0; null >= 0 && i <= last; i++)
        dup2(null, i);
    watcher->pidfd = move_descriptor(pidfd, PIDFD);
    watcher->lock = move_descriptor(lock, LOCK);
    close_range_of(REST, ~0u);
}

_Noreturn static void watch_rank(struct rank_watcher *watcher)
{
    uint64_t ended_ns;
    int status;

    if (await_end(watcher, &status, &ended_ns)) {
        bool is_recorded = has_segments(watcher->run);
        es_run_note_exit(watcher->run, watcher->rank, status, ended_ns);
        if (status == 0 && watcher->speaks && !is_recorded)
            esi_unseen_note(&watcher->unseen, watcher->program, false);
        if (status == 0 && watcher->clean_up)
            clean_up_run(watcher->run);
    }
    _exit(0);
}

/* The watcher's parent exits at once, so that the program has no unknown child; and not
 * before it has left the session and dropped the descriptors, so that a program that
 * ends at once has them alone, too. */
static int fork_watcher(struct rank_watcher *watcher)
{
    sigset_t all;
    int status;
    pid_t between = fork();

    if (between == 0) {
        /* Signals are for the program. */
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        setsid();
        drop_descriptors(watcher);
        pid_t pid = fork();
        if (pid == 0)
            watch_rank(watcher);
        _exit(pid < 0 ? errno : 0);
    }
    if (between < 0)
        return -errno;
    while (waitpid(between, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* The record of this process until its program calls MPI, and of its end if it never
 * does.  If that is impossible, the program will say so at its first call. */
static void record_start(const char *run, const char *program)
{
    struct esi_job_environment job;
    struct esi_segment_config config;
    char host[ES_HOST_NAME_BYTES];
    const char *given = getenv("EVENTSPACE_RANK");

    esi_job_environment_read(&job);
    esi_segment_config_init(&config);
    config.run = run;
    config.host = esi_host_name(host);
    config.program = program;
    config.job = job.job;
    config.launcher = job.launcher;
    config.rank = given && *given ? atoi(given) : job.rank;
    config.size = job.size;
    if (config.rank < 0) { /* a single process, unless MPI reports more */
        config.rank = 0;
        config.size = 1;
    }
    /* The numbers of spawned worlds are known to MPI only. */
    if (job.world == 0)
        esi_segment_create_started(&config, NULL);
}

int esi_rank_watcher_start(const char *run,
                           const char *program,
                           bool clean_up,
                           bool speaks)
{
    struct sigaction before, plain = {.sa_handler = SIG_DFL};
    struct rank_watcher watcher = {
        .run = run,
        .rank = getpid(),
        .pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
        .lock = esi_run_lock_share(run, lock_file),
        .clean_up = clean_up,
        .program = program,
        .speaks = speaks,
    };

    record_start(run, program);

    /* waitpid() must find the intermediate process even if our parent ignores
     * SIGCHLD. */
    sigaction(SIGCHLD, &plain, &before);
    int code = fork_watcher(&watcher);
    sigaction(SIGCHLD, &before, NULL);
    if (watcher.pidfd >= 0)
        close(watcher.pidfd);
    if (watcher.lock >= 0)
        close(watcher.lock);
    return code;
}

void esi_rank_watchers_await(const char *run, uint64_t timeout_ns)
{
    esi_run_lock_await_free(run, lock_file, timeout_ns);
}
