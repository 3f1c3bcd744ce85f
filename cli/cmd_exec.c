/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * eventspace exec - runs one rank's program with collecting.
 *
 * Whatever fails here, the program runs: without collecting, after one line with the
 * reason.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/job_environment.h"
#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/launch/job.h"
#include "cli/launch/preload.h"
#include "cli/launch/rank_host.h"
#include "cli/launch/rank_watcher.h"
#include "cli/launch/server_step.h"
#include "cli/launch/supervise.h"
#include "tuplespace/segment_name.h"

struct exec_arguments {
    bool no_wait;
    bool keep;
    bool serve; /* no program: a task of the servers' job step */
    char **program;
};

/* Options that have no short form. */
enum { OPTION_NO_WAIT = 256, OPTION_KEEP, OPTION_SITES, OPTION_SERVE };

static const struct argp_option options[] = {
    {"no-wait", OPTION_NO_WAIT, NULL, 0, "do not record how PROGRAM ends", 0},
    {"keep", OPTION_KEEP, NULL, 0,
     "keep the tuples of a job without 'run' after a normal end", 0},
    {"sites", OPTION_SITES, "on|off", 0,
     "record the call sites of operations; default: as set for the run, else on", 0},
    {"serve", OPTION_SERVE, NULL, OPTION_HIDDEN,
     "no PROGRAM: start this host's tuple server, and stay until it ends", 0},
    {0},
};

static const char doc[] =
    "Runs PROGRAM, collected, as one rank of a job that any launcher has started:\n"
    "    mpiexec -n 64 eventspace exec -- PROGRAM\n"
    "\vThe run is EVENTSPACE_RUN; without it, all ranks derive the same name. The exit "
    "status is that of PROGRAM. If collecting is impossible, PROGRAM runs without it.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct exec_arguments *arguments = state->input;

    switch (key) {
    case OPTION_NO_WAIT:
        arguments->no_wait = true;
        return 0;
    case OPTION_KEEP:
        arguments->keep = true;
        return 0;
    case OPTION_SITES:
        esi_option_switch(text, "--sites", state);
        setenv("EVENTSPACE_SITES", text, 1);
        return 0;
    case OPTION_SERVE:
        arguments->serve = true;
        return 0;
    case ARGP_KEY_ARG:
        /* The remaining arguments belong to the program. */
        arguments->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (!arguments->serve)
            argp_error(state, "no PROGRAM given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The run's name: given, derived by all ranks, or generated for this process. */
static int choose_run(char *program, struct es_error *error, const char **ret_run)
{
    static char name[ES_RUN_NAME_BYTES];
    const char *given = getenv("EVENTSPACE_RUN");

    if (given && *given) {
        if (!esi_run_id_is_valid(given))
            return es_error_set_at(
                error, -EINVAL, "EVENTSPACE_RUN", 0, 0,
                "'%s' is not a run's name: 1 to 63 letters, digits, '_' or '-', "
                "with single dots between them",
                given);
        *ret_run = given;
        return 0;
    }
    if (!esi_job_agreed_name(name))
        esi_job_fresh_name(program, name);
    *ret_run = name;
    return setenv("EVENTSPACE_RUN", name, 1) == 0 ? 0 : -errno;
}

/* Prepares the environment; returns false, after a message, if the program must run
 * without. */
static bool prepare_environment(char *program, const char **ret_run)
{
    struct es_error error = {.text = ""};
    char *library;

    int code = esi_preload_find_for(program, &error, &library);
    if (code < 0) {
        esi_command_fail_error(0, &error, code, "not collecting");
        return false;
    }
    code = choose_run(program, &error, ret_run);
    if (code == 0)
        code = esi_preload_set(program, library);
    free(library);
    if (code < 0)
        esi_command_fail_error(0, &error, code, "not collecting");
    return code == 0;
}

/* A task of the job step that contains a run's tuple servers. */
static int serve_host(void)
{
    const char *run = getenv("EVENTSPACE_RUN");

    if (!run || !esi_run_id_is_valid(run))
        return esi_command_fail(ES_EXIT_USAGE,
                                "--serve: EVENTSPACE_RUN has to name a run");
    esi_server_step_serve(run);
    return ES_EXIT_SUCCESS;
}

int esi_cmd_exec(int argc, char **argv)
{
    static const struct argp parser = {
        options, parse_option, "[--] PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
    struct exec_arguments arguments = {.program = NULL};
    const char *run = NULL;

    esi_command_parse(&parser, argc, argv, ARGP_IN_ORDER, &arguments);
    bool is_looked_after = getenv("EVENTSPACE_RUN") != NULL;
    /* A single process reports that nothing was recorded, but only to a terminal: the
     * watcher must not keep a pipe of the program or of its launcher. */
    bool is_speaker =
        !is_looked_after && !esi_job_rank_variable() && isatty(STDERR_FILENO);
    esi_rank_host_prepare();
    if (arguments.serve)
        return serve_host();
    bool is_disabled = getenv("EVENTSPACE_DISABLE") != NULL;
    bool is_prepared = !is_disabled && prepare_environment(arguments.program[0], &run);
    /* The other ranks would wait for this one in their collective trees. */
    if (!is_disabled && !is_prepared && getenv("EVENTSPACE_TREES"))
        return esi_command_fail(ES_EXIT_USAGE,
                                "the run's collective operations go through trees, but "
                                "this rank lacks the library that implements them");
    if (!is_prepared || arguments.no_wait)
        esi_supervise_become(arguments.program);

    bool cleans_up = !is_looked_after && !arguments.keep;
    /* The watcher is killed with the batch job's step, possibly too early. */
    if (cleans_up && esi_job_environment_is_batch())
        setenv("EVENTSPACE_REMOVE", "1", 1);
    int code = esi_rank_watcher_start(run, arguments.program[0], cleans_up, is_speaker);
    if (code < 0)
        esi_command_note("how %s ends will not be recorded: %s", arguments.program[0],
                         strerror(-code));
    esi_supervise_become(arguments.program);
}
