/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recording.c - records a run from the command line. */
#include "config.h"

#include "cli/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "cli/interrupt.h"
#include "cli/launch/run_setup.h"
#include "cli/launch/supervise.h"
#include "tuplespace/new_elements.h"

/* Pause between readings: if writers may be blocked, or after several empty readings.
 * A reading frees the tuples of the previous one, so the first empty reading may be the
 * one that unblocks a writer. */
#define PAUSE_NS 1000000
#define LONG_PAUSE_NS 10000000
#define EMPTY_READINGS 20
/* Between two updates of the progress line. */
#define PROGRESS_NS UINT64_C(500000000)
/* How long a run may continue after its launcher has ended. */
#define OVER_NS UINT64_C(2000000000)

enum { GAPS_BYTES = 160 };

static const char none_lost[] =
    "with 'eventspace run --on-full=block' the program waits for the recording, and "
    "none is lost; a larger --threshold loses less";
static const char none_missed[] =
    "'eventspace run --record DIR' records from the first event on";

struct recording {
    const struct esi_recording *given;
    struct esi_recorder *recorder;
    const struct esi_follower *follower; /* the recorder's */
    struct esi_notices notices;
    uint64_t begun_ns; /* by CLOCK_MONOTONIC, like those below */
    uint64_t shown_ns;
    uint64_t hung_up_ns;         /* 0 = the lifeline is open */
    uint64_t tuples;             /* recorded by the previous readings */
    unsigned empty;              /* consecutive empty readings */
    bool shows;                  /* the progress line is shown */
    bool lost_end;               /* contact was lost before the end of the run was
                                    seen */
    const char *run;             /* its name; borrowed */
    const struct es_run *source; /* as seen on this host; borrowed */
};

/* --- Output ----------------------------------------------------------------------- */

static void show_progress(struct recording *recording)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    struct esi_recorder_totals totals;
    char words[ESI_QUANTITY_BYTES];

    if (!recording->shows || now_ns - recording->shown_ns < PROGRESS_NS)
        return;
    recording->shown_ns = now_ns;
    esi_recorder_totals(recording->recorder, &totals);
    fprintf(stderr, "\r%" PRIu64 " tuples of %zu elements, %s, %" PRIu64 " lost",
            totals.tuples, totals.elements,
            esi_quantity_bytes(words, sizeof words, (double)totals.bytes), totals.lost);
    if (totals.lag_ns > 0)
        fprintf(stderr, ", %s behind",
                esi_quantity_time(words, sizeof words, (double)totals.lag_ns));
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

static void clear_progress(const struct recording *recording)
{
    if (recording->shows)
        fprintf(stderr, "\r\033[K");
}

/* What has been recorded. */
struct recorded {
    const char *directory;
    double seconds;
    struct esi_recorder_totals totals;
};

/* For JSON only. */
static void describe_recorded(struct esi_row *row, const void *record)
{
    const struct recorded *recorded = record;
    const struct esi_recorder_totals *totals = &recorded->totals;

    esi_row_text(row, "type", NULL, "recorded");
    esi_row_text(row, "directory", NULL, recorded->directory);
    esi_row_unsigned(row, "tuples", NULL, totals->tuples);
    esi_row_unsigned(row, "lost", NULL, totals->lost);
    esi_row_unsigned(row, "missed", NULL, totals->missed);
    esi_row_unsigned(row, "open", NULL, totals->open);
    esi_row_unsigned(row, "bytes", NULL, totals->bytes);
    esi_row_unsigned(row, "hosts", NULL, totals->hosts);
    esi_row_unsigned(row, "processes", NULL, totals->processes);
    esi_row_unsigned(row, "elements", NULL, totals->elements);
    esi_row_real(row, "seconds", NULL, recorded->seconds);
    esi_row_unsigned(row, "lag_most_ns", NULL, totals->lag_most_ns);
}

enum { SUMMARY_BYTES = 96 };

/* "12004 events of 2 ranks on 1 host, 391 KiB". */
static const char *format_amount(const struct esi_recorder_totals *totals,
                                 char ret_text[SUMMARY_BYTES])
{
    char size[ESI_QUANTITY_BYTES];

    snprintf(ret_text, SUMMARY_BYTES,
             "%" PRIu64 " events of %zu rank%s on %zu host%s, %s", totals->tuples,
             totals->processes, totals->processes == 1 ? "" : "s", totals->hosts,
             totals->hosts == 1 ? "" : "s",
             esi_quantity_bytes(size, sizeof size, (double)totals->bytes));
    return ret_text;
}

/* How many tuples were lost because recording was too slow. */
static const char *format_lost(const struct esi_recorder_totals *totals,
                               char ret_text[GAPS_BYTES])
{
    double all = (double)totals->lost + (double)totals->tuples;
    char words[ESI_QUANTITY_BYTES];
    int used =
        snprintf(ret_text, GAPS_BYTES, "%" PRIu64 " events were lost, %.3g %% of all",
                 totals->lost, 100.0 * (double)totals->lost / all);

    if (totals->lag_most_ns >= PAUSE_NS)
        snprintf(ret_text + used, GAPS_BYTES - (size_t)used,
                 ": recording was up to %s behind",
                 esi_quantity_time(words, sizeof words, (double)totals->lag_most_ns));
    else
        snprintf(ret_text + used, GAPS_BYTES - (size_t)used,
                 ": more arrived between two reads than elements keep");
    return ret_text;
}

static void print_text(const struct recorded *recorded)
{
    const struct esi_recorder_totals *totals = &recorded->totals;
    char amount[SUMMARY_BYTES], gaps[GAPS_BYTES], span[ESI_QUANTITY_BYTES];

    esi_plain_print(stdout, "%s: %s in %s", recorded->directory,
                    format_amount(totals, amount),
                    esi_quantity_time(span, sizeof span, recorded->seconds * 1e9));
    if (totals->open > 0)
        printf("; %" PRIu64 " operations were under way", totals->open);
    printf("\n");
    if (totals->lost > 0)
        esi_plain_print(stdout, "%s; %s\n", format_lost(totals, gaps), none_lost);
    if (totals->missed > 0)
        esi_plain_print(stdout,
                        "%" PRIu64 " events were overwritten before recording began; "
                        "%s\n",
                        totals->missed, none_missed);
}

/* Alongside a program: prints nothing if nobody called MPI, which is reported
 * elsewhere. */
static void note_summary(const char *directory,
                         const struct esi_recorder_totals *totals)
{
    char amount[SUMMARY_BYTES], gaps[GAPS_BYTES];

    if (totals->processes > 0 && !esi_command_is_quiet())
        esi_command_note("recorded in %s: %s", directory,
                         format_amount(totals, amount));
    if (totals->lost > 0)
        esi_command_note("%s: %s; %s", directory, format_lost(totals, gaps), none_lost);
    if (totals->missed > 0)
        esi_command_note("%s: %" PRIu64
                         " events were overwritten before their elements were found; "
                         "with --on-full=block none is lost",
                         directory, totals->missed);
}

static void print_summary(const struct esi_recording *given,
                          const struct recorded *recorded)
{
    const char *directory = recorded->directory;

    if (given->quiet) {
        note_summary(directory, &recorded->totals);
        return;
    }
    if (given->format == ES_FORMAT_JSON)
        esi_rows_print_json(stdout, describe_recorded, recorded);
    else
        print_text(recorded);
    fflush(stdout);
    if (recorded->totals.tuples > 0)
        esi_command_hint("eventspace order %s, search -p mpi %s, or export --to chrome "
                         "-o FILE %s",
                         directory, directory, directory);
}

/* --- Recording --------------------------------------------------------------- */

/* Whether the other end of the lifeline was closed. */
static bool has_hung_up(struct recording *recording)
{
    struct pollfd line = {.fd = recording->given->lifeline};

    if (recording->hung_up_ns == 0 && poll(&line, 1, 0) > 0)
        recording->hung_up_ns = esi_now_ns(CLOCK_MONOTONIC);
    return recording->hung_up_ns > 0;
}

static bool has_nothing(const struct recording *recording)
{
    struct esi_recorder_totals totals;

    esi_recorder_totals(recording->recorder, &totals);
    return totals.elements == 0;
}

/* Whether the run has ended except on hosts that no longer answer. */
static bool has_lost_the_end(struct recording *recording)
{
    if (!recording->lost_end)
        recording->lost_end = esi_follower_has_lost_contact(recording->follower) &&
                              !esi_run_setup_is_live(recording->run);
    return recording->lost_end;
}

static bool is_at_limit(const struct recording *recording)
{
    uint64_t limit_ns = recording->given->limit_ns;

    return limit_ns > 0 &&
           esi_now_ns(CLOCK_MONOTONIC) - recording->begun_ns >= limit_ns;
}

/* Whether the data present now is all that is to be recorded. */
static bool is_at_end(struct recording *recording)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    if (esi_interrupt_came() || is_at_limit(recording))
        return true;
    if (recording->given->lifeline >= 0 && !has_hung_up(recording))
        return false; /* no process may have started yet */
    if (recording->given->lifeline >= 0 &&
        (now_ns - recording->hung_up_ns >= OVER_NS || has_nothing(recording)))
        return true;
    return esi_follower_is_over(recording->follower) ||
           es_scope_has_vanished(esi_follower_scope(recording->follower)) ||
           has_lost_the_end(recording);
}

/* Why the recording ends while the run goes on; NULL = it does not. */
static const char *early_end(const struct recording *recording)
{
    if (recording->lost_end)
        return "contact with hosts of the run was lost";
    if (esi_follower_is_over(recording->follower))
        return NULL;
    return esi_interrupt_came()     ? "interrupted"
           : is_at_limit(recording) ? "limit of time"
                                    : NULL;
}

static bool are_ends_recorded(const struct es_run *run)
{
    struct es_segment_info info;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        es_segment_view_info(es_run_segment(run, i), &info);
        if (!info.kept && !info.alive && info.ended_realtime_ns == 0)
            return false;
    }
    return true;
}

/* The watchers of processes on this host record how these ended a moment after that. */
static void await_ends(const struct recording *recording)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);

    while (!are_ends_recorded(recording->source) && !esi_interrupt_came() &&
           esi_now_ns(CLOCK_MONOTONIC) - begun_ns < OVER_NS)
        nanosleep(&pause, NULL);
}

/* Reads everything present if the run is over, however long it takes.  Data written
 * meanwhile is ignored: a program that continues to write must not keep an interrupted
 * recording from ending. */
static int read_rest(struct recording *recording)
{
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result;

    do {
        result = esi_recorder_read(recording->recorder, true);
    } while (result > 0 && (esi_now_ns(CLOCK_MONOTONIC) - begun_ns < OVER_NS ||
                            esi_follower_is_over(recording->follower)));
    return result < 0 ? result : 0;
}

static void rest_of_run(struct recording *recording)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct esi_recorder_totals totals;

    esi_recorder_totals(recording->recorder, &totals);
    if (totals.tuples != recording->tuples)
        recording->empty = 0;
    else if (++recording->empty > EMPTY_READINGS)
        pause.tv_nsec = LONG_PAUSE_NS;
    recording->tuples = totals.tuples;
    esi_run_wait_for_elements(recording->source, (uint64_t)pause.tv_nsec);
}

static int follow_run(struct recording *recording)
{
    for (;;) {
        bool at_end = is_at_end(recording);

        if (at_end && recording->given->lifeline >= 0)
            await_ends(recording);
        int result = at_end ? read_rest(recording)
                            : esi_recorder_read(recording->recorder, false);

        if (at_end && early_end(recording))
            esi_recorder_end_early(recording->recorder, early_end(recording));
        if (result < 0 || at_end)
            return result;
        esi_notices_follow(&recording->notices, recording->follower);
        show_progress(recording);
        if (result == 0 && !es_scope_is_paced(esi_follower_scope(recording->follower)))
            rest_of_run(recording);
    }
}

static int fail_creation(const struct es_error *error, int code)
{
    return esi_command_fail_error(ES_EXIT_USAGE, error, code, "cannot record");
}

static void tell_ready(int descriptor, bool is_ready)
{
    if (descriptor < 0)
        return;
    while (is_ready && write(descriptor, "r", 1) < 0 && errno == EINTR)
        continue;
    close(descriptor);
}

int esi_recording_run(const struct esi_consumer *consumer,
                      const struct esi_recording *given)
{
    struct recording recording = {
        .given = given,
        .run = es_run_name(consumer->run),
        .source = consumer->run,
        .begun_ns = esi_now_ns(CLOCK_MONOTONIC),
        .shows = !given->quiet && given->format == ES_FORMAT_TEXT &&
                 esi_command_is_terminal(stderr),
    };
    struct esi_recorder_config config = given->recorder;
    struct es_error error = {.text = ""};
    struct recorded recorded = {.directory = given->recorder.directory};
    int result;
    int closed;

    esi_interrupt_catch(ES_INTERRUPT_FIRST);
    /* Exceeding the file size limit is reported as a write error. */
    signal(SIGXFSZ, SIG_IGN);
    config.scope.servers = consumer->servers;
    result = esi_recorder_create(consumer->run, &config, &error, &recording.recorder);
    tell_ready(given->ready, result == 0);
    if (result < 0)
        return fail_creation(&error, result);
    recording.follower = esi_recorder_follower(recording.recorder);
    result = follow_run(&recording);
    closed = esi_recorder_close(recording.recorder, &recorded.totals, &error);
    recorded.seconds = (double)(esi_now_ns(CLOCK_MONOTONIC) - recording.begun_ns) / 1e9;
    clear_progress(&recording);
    print_summary(given, &recorded);
    if (closed < 0 && error.text[0])
        return esi_command_fail_error(ES_EXIT_USAGE, &error, closed,
                                      "recording ended too soon");
    if (result < 0 || closed < 0)
        return esi_command_fail_error(ES_EXIT_LOST, NULL, result < 0 ? result : closed,
                                      "the run can no longer be read");
    if (recording.lost_end)
        return esi_command_fail(ES_EXIT_LOST,
                                "lost contact with hosts of the run before its end");
    return ES_EXIT_SUCCESS;
}

/* --- Alongside `eventspace run` --------------------------------------------------- */

/* In the child. */
static int record_run(const char *run, const char *directory, int ready, int lifeline)
{
    struct esi_recording recording = {
        .recorder = {.directory = directory},
        .quiet = true,
        .ready = ready,
        .lifeline = lifeline,
    };
    struct esi_consumer consumer = {.run = NULL};
    struct es_error error = {.text = ""};
    int status = 0;

    esi_supervise_leave_signals();
    es_scope_config_init(&recording.recorder.scope);
    recording.recorder.scope.lossless = true;
    if (es_servers_open(run, NULL, &error, &consumer.servers) < 0)
        consumer.servers = NULL;
    status = es_run_open_empty(run, &error, &consumer.run);
    if (status < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, status, "cannot record");
    status = esi_recording_run(&consumer, &recording);
    esi_consumer_close(&consumer);
    return status;
}

/* Both ends of two pipes. */
struct recording_pipes {
    int ready[2];
    int lifeline[2];
};

static int open_pipes(struct recording_pipes *ret_pipes)
{
    if (pipe2(ret_pipes->ready, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(ret_pipes->lifeline, O_CLOEXEC) < 0) {
        int code = -errno;

        close(ret_pipes->ready[0]);
        close(ret_pipes->ready[1]);
        return code;
    }
    return 0;
}

/* Whether the child reports that it is recording. */
static bool await_ready(int descriptor)
{
    ssize_t count;
    char byte;

    do {
        count = read(descriptor, &byte, 1);
    } while (count < 0 && errno == EINTR);
    return count == 1;
}

/* The child failed to start; it has printed the reason, unless it was killed. */
static int fail_start(struct esi_recording_child *child)
{
    int status = 0;

    close(child->lifeline);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
    if (WIFSIGNALED(status))
        esi_command_fail(ES_EXIT_USAGE,
                         "cannot record: the recording was killed by signal %d",
                         WTERMSIG(status));
    return ES_EXIT_USAGE;
}

int esi_recording_start(const char *run,
                        const char *directory,
                        struct esi_recording_child *ret_child)
{
    struct esi_recording_child child = {.lifeline = -1};
    struct recording_pipes pipes;

    int code = open_pipes(&pipes);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code, "cannot record");
    fflush(NULL);
    child.pid = fork();
    if (child.pid == 0) {
        close(pipes.ready[0]);
        close(pipes.lifeline[1]);
        _exit(record_run(run, directory, pipes.ready[1], pipes.lifeline[0]));
    }
    code = child.pid < 0 ? -errno : 0;
    close(pipes.ready[1]);
    close(pipes.lifeline[0]);
    child.lifeline = pipes.lifeline[1];
    bool is_ready = code == 0 && await_ready(pipes.ready[0]);
    close(pipes.ready[0]);
    if (code < 0) {
        close(child.lifeline);
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code, "cannot record");
    }
    if (!is_ready)
        return fail_start(&child);
    *ret_child = child;
    return 0;
}

void esi_recording_end(struct esi_recording_child *child)
{
    int status = 0;
    pid_t ended;

    if (child->pid <= 0)
        return;
    close(child->lifeline);
    while ((ended = waitpid(child->pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (ended > 0 && WIFSIGNALED(status))
        esi_command_note(
            "the recording was killed by signal %d: the archive ends there",
            WTERMSIG(status));
    child->pid = 0;
}
