/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace run - starts a program on N ranks with collecting, and cleans up
 * afterwards. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/job_environment.h"
#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/launch/job.h"
#include "cli/launch/launcher.h"
#include "cli/launch/preload.h"
#include "cli/launch/rank_watcher.h"
#include "cli/recording.h"
#include "cli/launch/run_server.h"
#include "cli/launch/run_setup.h"
#include "cli/launch/run_watch.h"
#include "cli/launch/server_step.h"
#include "cli/launch/supervise.h"
#include "cli/program_file.h"
#include "scopes/server/process_watch.h"
#include "tuplespace/plan/tree_rules.h"
#include "tuplespace/segment_name.h"
#include "tuplespace/transport/address.h"

enum { RANKS_MAX = 1 << 24, THRESHOLD_MAX = 1 << 24 };

/* Ranks may continue after the launcher has ended: limits the wait for them. */
#define WATCHERS_NS UINT64_C(2000000000)

struct run_arguments {
    struct esi_run_request request;
    struct esi_tree_rule tree; /* owned */
    const char *launcher;
    const char *record; /* directory of an archive; NULL = none */
    const char *listen; /* address for other hosts; NULL = from the map */
    bool shared_dir;
    bool keep;
    bool no_server;
    bool watch;
    bool aborts; /* the watch ends hanging runs */
};

/* Options that have no short form. */
enum {
    OPTION_HOSTFILE = 256,
    OPTION_MAP,
    OPTION_NAME,
    OPTION_THRESHOLD,
    OPTION_ON_FULL,
    OPTION_TREES,
    OPTION_LAUNCHER,
    OPTION_RECORD,
    OPTION_KEEP,
    OPTION_SITES,
    OPTION_LISTEN,
    OPTION_SHARED_DIR,
    OPTION_NO_SERVER,
    OPTION_WATCH
};

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "start N ranks; default: the batch job's, or slots", 0},
    {"hostfile", OPTION_HOSTFILE, "FILE", 0, "hosts to run on; default: this one", 0},
    {"map", OPTION_MAP, "MAP.json", 0, "collect as this pathmap says", 0},
    {"name", OPTION_NAME, "RUN", 0, "name of the run; default: made from PROGRAM", 0},
    {"threshold", OPTION_THRESHOLD, "N", 0, "every element keeps the newest N tuples",
     0},
    {"on-full", OPTION_ON_FULL, "block|discard", 0,
     "a full element makes the program wait for the recorder, so that nothing is lost, "
     "or discards the oldest tuple; default: as the map says, else discard",
     0},
    {"sites", OPTION_SITES, "on|off", 0,
     "record the call sites of operations; default: on", 0},
    {"trees", OPTION_TREES, "TREE", OPTION_ARG_OPTIONAL,
     "blocking collective operations go through trees such as kary:4, linear, "
     "binomial, exchange, levels:host,cluster; without TREE: as the map says",
     0},
    {"launcher", OPTION_LAUNCHER, "COMMAND", 0,
     "start the ranks with COMMAND instead of " ES_MPIEXEC
     "; split into words as a shell does, default from EVENTSPACE_LAUNCHER",
     0},
    {"record", OPTION_RECORD, "DIR", 0,
     "write all events to an archive, as 'eventspace record' does", 0},
    {"watch", OPTION_WATCH, "abort", OPTION_ARG_OPTIONAL,
     "check every second, report certain hangs, and leaks at the end; with abort, end "
     "a job that hangs with status 86",
     0},
    {"keep", OPTION_KEEP, NULL, 0, "keep tuples and run directory after a normal end",
     0},
    {"listen", OPTION_LISTEN, "ADDRESS", OPTION_HIDDEN,
     "address of this host for other hosts; * = all", 0},
    {"shared-dir", OPTION_SHARED_DIR, NULL, OPTION_HIDDEN,
     "the hosts share the folder of run directories", 0},
    {"no-server", OPTION_NO_SERVER, NULL, OPTION_HIDDEN,
     "start no tuple server: other hosts cannot observe the run", 0},
    {0},
};

static const char doc[] =
    "Starts PROGRAM on N ranks through the MPI's launcher and collects its "
    "communication while other commands look at it."
    "\vEnds with the launcher's exit status, 128 + N if signal N killed it, 130 after "
    "Ctrl-C. After a normal end nothing remains; else tuples are kept for 'eventspace "
    "events RUN' until 'eventspace clean'. If collecting is impossible, PROGRAM runs "
    "without it. After ':' another program follows, as for the launcher.";

static void take_tree(const char *text,
                      struct argp_state *state,
                      struct run_arguments *arguments)
{
    struct es_error error = {.text = ""};

    arguments->request.trees = true;
    if (!text)
        return;
    if (arguments->request.tree)
        argp_error(state, "--trees: only one tree can be given");
    int code = esi_tree_rule_parse_short(text, &error, &arguments->tree);
    if (code < 0)
        argp_error(state, "--trees=%s: at character %d: %s", text, error.column,
                   error.text);
    arguments->request.tree = &arguments->tree;
}

/* `-np 2` is common for launchers: option `n` with the value "p", followed by the
 * number. */
static void take_ranks(const char *text,
                       struct argp_state *state,
                       struct esi_run_request *request)
{
    if (strcmp(text, "p") == 0 && state->next < state->argc)
        text = state->argv[state->next++];
    request->ranks = (int)esi_option_number(text, "-n", 1, RANKS_MAX, state);
}

static void take_on_full(const char *text,
                         struct argp_state *state,
                         struct esi_run_request *request)
{
    if (strcmp(text, "block") != 0 && strcmp(text, "discard") != 0)
        argp_error(state, "--on-full: '%s': give block or discard", text);
    request->on_full = text;
}

static void take_watch(const char *text,
                       struct argp_state *state,
                       struct run_arguments *arguments)
{
    if (text && strcmp(text, "abort") != 0)
        argp_error(state, "--watch=%s: give --watch or --watch=abort", text);
    arguments->watch = true;
    arguments->aborts = text != NULL;
}

static void check_listen(const char *text, struct argp_state *state)
{
    char address[ES_INTERFACE_BYTES];

    if (strcmp(text, "*") != 0 && esi_interface_find(text, address) < 0)
        argp_error(state,
                   "--listen: '%s' is not an address of this host that others can "
                   "reach; give one of its addresses or names, or *",
                   text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct run_arguments *arguments = state->input;
    struct esi_run_request *request = &arguments->request;

    switch (key) {
    case 'n':
        take_ranks(text, state, request);
        return 0;
    case OPTION_HOSTFILE:
        request->hostfile = text;
        return 0;
    case OPTION_MAP:
        request->map = text;
        return 0;
    case OPTION_NAME:
        if (!esi_run_id_is_valid(text))
            argp_error(state,
                       "--name: '%s': give 1 to 63 letters, digits, '_' or '-', with "
                       "single dots between them",
                       text);
        request->name = text;
        return 0;
    case OPTION_THRESHOLD:
        request->threshold =
            (uint32_t)esi_option_number(text, "--threshold", 1, THRESHOLD_MAX, state);
        return 0;
    case OPTION_ON_FULL:
        take_on_full(text, state, request);
        return 0;
    case OPTION_SITES:
        request->no_sites = !esi_option_switch(text, "--sites", state);
        return 0;
    case OPTION_TREES:
        take_tree(text, state, arguments);
        return 0;
    case OPTION_LAUNCHER:
        arguments->launcher = text;
        return 0;
    case OPTION_RECORD:
        arguments->record = text;
        request->is_recorded = true;
        return 0;
    case OPTION_WATCH:
        take_watch(text, state, arguments);
        return 0;
    case OPTION_KEEP:
        arguments->keep = true;
        return 0;
    case OPTION_LISTEN:
        check_listen(text, state);
        arguments->listen = text;
        return 0;
    case OPTION_SHARED_DIR:
        arguments->shared_dir = true;
        return 0;
    case OPTION_NO_SERVER:
        arguments->no_server = true;
        return 0;
    case ARGP_KEY_ARG:
        /* The remaining arguments belong to the program. */
        request->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no PROGRAM given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The exit status as in shells. */
static int exit_status_of(int status)
{
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : ES_EXIT_USAGE;
}

/* How the launcher ended. */
struct launch_end {
    int exit_status;          /* as in shells */
    bool interrupted;         /* SIGINT was received meanwhile */
    bool aborted;             /* the watch has ended the job */
    struct esi_unseen unseen; /* why there may be no data */
};

/*
 * A launcher that kills the other ranks when one has ended returns the status of that
 * one.  MPICH's combines all statuses by `or`, sometimes including those of its own
 * kills: then it returns 9 instead of a rank's code, and 15 instead of signal 6.  In
 * one of some hundred runs it tells of a hangup, 1, that nobody got, and that of
 * MPICH 4.2 sometimes returns 0.  Then the rank's own status is used.
 */
static int correct_status(int exit_status, const struct esi_ending *ending)
{
    bool says_other = exit_status == 0 || exit_status == SIGHUP ||
                      exit_status == SIGKILL || exit_status == 128 + SIGKILL;

    if (says_other && ending->exit_code > 0)
        return ending->exit_code;
    if (exit_status == 0 && ending->signal > 0)
        return ES_EXIT_FINDING;
    if (ending->signal > 0 && exit_status == (ending->signal | SIGKILL))
        return ending->signal;
    return exit_status;
}

/* After Ctrl-C launchers return any status; 0 is used only if all ranks ended
 * successfully.  It is never used if a rank was killed. */
static int choose_status(const struct launch_end *end, const struct esi_ending *ending)
{
    bool went_well = end->exit_status == 0 && ending->segments > 0 &&
                     ending->failed == 0 && ending->alive == 0;

    if (end->interrupted && !went_well)
        return 128 + SIGINT;
    if (end->aborted && !went_well)
        return ES_EXIT_ABORTED;
    return correct_status(end->exit_status, ending);
}

/* With the user's own launcher, ranks may be on any host. */
static bool may_have_others(const struct run_arguments *arguments,
                            const struct esi_run_setup *setup)
{
    const char *chosen = getenv("EVENTSPACE_LAUNCHER");

    return setup->has_other_hosts || arguments->launcher || (chosen && *chosen);
}

/* Reports what the user cannot see: the first rank that failed, and why there may be no
 * data.  `ending` is NULL if there is nothing to tell of processes. */
static void report_end(const struct run_arguments *arguments,
                       const struct esi_run_setup *setup,
                       const struct launch_end *end,
                       const struct esi_ending *ending)
{
    char text[400];

    if (!ending) {
        if (!setup->has_other_hosts && end->exit_status == 0)
            esi_unseen_note(&end->unseen, arguments->request.program[0],
                            may_have_others(arguments, setup));
        return;
    }
    if (ending->alone > 0)
        esi_command_note("%s",
                         esi_command_describe_alone(ending->alone, text, sizeof text));
    if (ending->absent > 0 && !may_have_others(arguments, setup))
        esi_command_note("%s", esi_command_describe_absent(ending, text, sizeof text));
    if (end->interrupted) {
        if (ending->failed > 0)
            esi_command_note("interrupted: %zu of %zu ranks ended early",
                             ending->failed, ending->segments);
        return;
    }
    if (ending->failed == 0)
        return;
    if (ending->together) {
        esi_command_note("%s, which the whole job got", ending->first_failure);
        return;
    }
    esi_command_note("%s%s", ending->first_failure,
                     ending->failed > ending->killed + 1 ? ", and other ranks ended on "
                                                           "their own"
                                                         : "");
    /* After an error in MPI the launcher also kills the rank that failed.  Each rank
     * has its watcher: they may see ends that follow each other in the other order. */
    if (ending->killed > 0 && ending->other_signal)
        esi_command_note("%zu other%s killed%s by signal %d (%s), too; which was first "
                         "may not be known",
                         ending->killed, ending->killed > 1 ? "s were" : " was",
                         ending->killed > 1 ? ", also" : "", ending->other_signal,
                         strsignal(ending->other_signal));
    else if (ending->killed > 0 &&
             (ending->signal == SIGKILL || ending->signal == SIGTERM))
        esi_command_note("%zu other%s killed, too; which was first may not be known",
                         ending->killed, ending->killed > 1 ? "s were" : " was");
    else if (ending->killed > 0)
        esi_command_note("the launcher then killed %zu other%s", ending->killed,
                         ending->killed > 1 ? "s" : "");
}

/* After a failure, and on request, tuples are kept; one line says how to read them.
 * Returns the exit status. */
static int finish_run(const struct run_arguments *arguments,
                      const struct esi_run_setup *setup,
                      const struct launch_end *end)
{
    bool keep = arguments->keep;
    struct esi_ending ending = {.segments = 0};

    esi_rank_watchers_await(setup->name, WATCHERS_NS);
    bool found =
        esi_ending_scan(setup->name, &ending) && ending.segments > ending.before_mpi;
    int exit_status = choose_status(end, &ending);
    /* The data of other hosts cannot be checked here. */
    bool is_kept = (found || setup->has_other_hosts) &&
                   (keep || exit_status != 0 || ending.failed > 0);
    esi_run_server_end(setup->name, is_kept);
    /* The status tells how a single process ended. */
    bool is_told = found || (ending.failed > 0 && ending.segments > 1);
    report_end(arguments, setup, end, is_told ? &ending : NULL);
    if (is_kept) {
        esi_command_note(
            "data kept: 'eventspace heartbeat %s' and 'eventspace events %s' show it, "
            "'eventspace clean %s' removes it",
            setup->name, setup->name, setup->name);
        return exit_status;
    }
    es_run_remove(setup->name, false);
    if (!keep)
        esi_run_setup_remove(setup);
    return exit_status;
}

static void start_server(const struct run_arguments *arguments,
                         const struct esi_run_setup *setup)
{
    struct esi_run_network network = {
        .others = may_have_others(arguments, setup),
        .advertise = setup->address[0] ? setup->address : NULL,
        .everywhere = arguments->listen && strcmp(arguments->listen, "*") == 0,
        .shared = arguments->shared_dir,
    };

    if (arguments->listen && !network.everywhere)
        network.advertise = arguments->listen;
    esi_run_server_start(setup->name, &network);
}

/* Otherwise each rank would report this.  Returns 0, or an exit status after a
 * message. */
static int check_program(const struct run_arguments *arguments,
                         const struct esi_run_setup *setup)
{
    enum { NO_PROGRAM = 127 }; /* as in shells */
    const char *program = arguments->request.program[0];

    if (may_have_others(arguments, setup) || arguments->request.hostfile ||
        esi_program_is_there(program))
        return 0;
    return esi_command_fail(NO_PROGRAM, "%s: no such program on this host", program);
}

/* If recording is requested and fails, the program is not started.  Returns 0, or an
 * exit status after a message. */
static int start_recording(const struct esi_run_setup *setup,
                           const char *program,
                           const char *directory,
                           struct esi_recording_child *recorder)
{
    struct es_error error = {.text = ""};
    char *library;

    if (!setup->name[0])
        return esi_command_fail(ES_EXIT_USAGE, "cannot record: nothing is collected");
    int code = esi_preload_find_for(program, &error, &library);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "cannot record");
    free(library);
    int status = esi_recording_start(setup->name, directory, recorder);
    if (status == 0)
        esi_run_setup_await_readers(setup);
    return status;
}

/* Removes the preparations of a run that was not started. */
static void call_off(const struct esi_run_setup *setup)
{
    if (!setup->name[0])
        return;
    esi_run_server_end(setup->name, false);
    es_run_remove(setup->name, false);
    esi_run_setup_remove(setup);
}

static int launch_ranks(const struct run_arguments *arguments,
                        const struct esi_run_setup *setup,
                        struct launch_end *ret_end)
{
    struct esi_launcher_request request = {
        .command = arguments->launcher,
        .ranks = setup->ranks,
        .hostfile = arguments->request.hostfile,
        .collect = setup->name[0] != '\0',
        .program = arguments->request.program,
    };
    struct es_error error = {.text = ""};
    struct esi_command_line line;

    int code = esi_launcher_command_line(&request, &error, &line);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "--launcher");
    if (request.collect && !arguments->no_server)
        esi_server_step_start(line.words[0]);
    /* Launchers end their ranks on SIGTERM, but not when killed. */
    struct esi_supervision supervision = {.argv = line.words, .death_signal = SIGTERM};
    pid_t child = esi_supervise_start(&supervision);
    esi_run_server_hide_key();
    if (child < 0) {
        code = esi_command_fail_error(ES_EXIT_USAGE, NULL, child, "cannot start %s",
                                      line.words[0]);
    } else {
        int ended = esi_supervise_wait(child, request.collect ? &ret_end->unseen : NULL,
                                       &ret_end->interrupted);
        ret_end->exit_status = exit_status_of(ended);
        code = ES_EXIT_SUCCESS;
    }
    esi_command_line_fini(&line);
    return code;
}

/* Prints a message if the watch cannot be started; the program runs nevertheless. */
static void start_watch(const struct run_arguments *arguments,
                        const struct esi_run_setup *setup,
                        const struct esi_recording_child *recorder,
                        struct esi_run_watch *watch)
{
    int other = recorder->pid > 0 ? recorder->lifeline : -1;
    int code = 0;

    if (!arguments->watch)
        return;
    if (setup->name[0])
        code = esi_run_watch_start(setup->name, arguments->aborts, other, watch);
    if (!setup->name[0] || code < 0)
        esi_command_note("the run is not watched: %s",
                         code < 0 ? strerror(-code) : "nothing is collected");
}

/* Launchers may end shortly before the ranks that they killed, and an archive contains
 * how each rank ended. */
static void await_ends(const char *run)
{
    enum { LOOKS = 100, LOOK_MS = 10 };
    struct esi_ending ending;

    for (int i = 0; i < LOOKS; i++) {
        if (!esi_ending_scan(run, &ending) || ending.alive == 0)
            return;
        poll(NULL, 0, LOOK_MS);
    }
}

/* Returns the exit status. */
static int run_program(const struct run_arguments *arguments,
                       const struct esi_run_setup *setup,
                       struct esi_recording_child *recorder)
{
    struct launch_end end = {.exit_status = 0};
    struct esi_run_watch watch = {.pid = 0};

    start_watch(arguments, setup, recorder, &watch);
    int status = launch_ranks(arguments, setup, &end);
    if (status)
        end.exit_status = status;
    if (recorder->pid > 0)
        await_ends(setup->name);
    esi_recording_end(recorder);
    end.aborted = esi_run_watch_end(&watch);
    if (setup->name[0])
        return finish_run(arguments, setup, &end);
    return end.interrupted ? 128 + SIGINT : end.exit_status;
}

/* Default: as many ranks as the batch job was submitted for.  Sections after ":" have
 * ranks of their own. */
static void choose_ranks(const char *launcher, struct esi_run_request *request)
{
    int later = esi_launcher_later_ranks(launcher, request->program);
    struct esi_job_environment job;

    /* Without -n, MPICH starts a program once. */
    if (later > 0 && (request->ranks || !request->map))
        request->ranks = (request->ranks ? request->ranks : 1) + later;

    esi_job_environment_read(&job);
    if (!request->ranks && !request->map && !request->hostfile && job.allocated > 0)
        request->ranks = job.allocated;
}

int esi_cmd_run(int argc, char **argv)
{
    static const struct argp parser = {
        options,
        parse_option,
        "[--] PROGRAM [ARGUMENT...] [: OPTIONS PROGRAM [ARGUMENT...]]...",
        doc,
        NULL,
        NULL,
        NULL};
    struct run_arguments arguments = {.launcher = NULL};
    struct esi_recording_child recorder = {.pid = 0};
    struct esi_run_setup setup;

    esi_command_parse(&parser, argc, argv, ARGP_IN_ORDER, &arguments);
    const char *variable = esi_job_rank_variable();
    if (variable)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "a launcher has started this as one of several ranks (%s is set), and each "
            "would start a run of its own; let the launcher start 'eventspace exec -- "
            "%s'",
            variable, arguments.request.program[0]);
    choose_ranks(arguments.launcher, &arguments.request);
    int status = esi_run_setup(&arguments.request, &setup);
    esi_tree_rule_fini(&arguments.tree);
    if (status)
        return status;
    status = check_program(&arguments, &setup);
    if (status == 0 && setup.name[0] && !arguments.no_server)
        start_server(&arguments, &setup);
    if (status == 0 && arguments.record)
        status = start_recording(&setup, arguments.request.program[0], arguments.record,
                                 &recorder);
    if (status)
        call_off(&setup);
    else
        status = run_program(&arguments, &setup, &recorder);
    esi_run_setup_fini(&setup);
    return status;
}
