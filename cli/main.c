/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The `eventspace` command: finds the subcommand in a table and runs it. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "eventspace/stage_module.h"
#include "tuplespace/transport/run_key.h"

static int run_help(int argc, char **argv);
static int run_version(int argc, char **argv);

/* A heading starts a group. */
const struct esi_command esi_commands[] = {
    {"Start", "run", "start a program on N ranks, and record it", esi_cmd_run},
    {NULL, "exec", "the per-rank form of run, under any launcher", esi_cmd_exec},
    {NULL, "demo", "show the main features with example programs", esi_cmd_demo},
    {NULL, "doctor", "check the installation, or a program", esi_cmd_doctor},
    {"Monitor and control", "list", "show runs, ranks, elements, counts and losses",
     esi_cmd_list},
    {NULL, "heartbeat", "show who progresses, who is stalled, and in what",
     esi_cmd_heartbeat},
    {NULL, "top", "show what each rank does on a terminal, like top(1)", esi_cmd_top},
    {NULL, "why", "explain why a run hangs or crashed", esi_cmd_why},
    {NULL, "collectives", "show who waits for whom in collective operations",
     esi_cmd_collectives},
    {NULL, "time", "show waiting, its causes, and the critical path", esi_cmd_time},
    {NULL, "view", "serve a page with the process-time diagram of a run", esi_cmd_view},
    {NULL, "profile", "show time and bytes in MPI by rank, operation, line and size",
     esi_cmd_profile},
    {NULL, "metrics", "print metrics for Prometheus and node_exporter",
     esi_cmd_metrics},
    {NULL, "events", "list the events of a run, or of a view of it", esi_cmd_events},
    {NULL, "collect", "switch collectors and collective trees while the program runs",
     esi_cmd_collect},
    {NULL, "scope", "list, show and change live event scopes", esi_cmd_scope},
    {"Record and analyse", "record", "write the events of a run to an archive on disk",
     esi_cmd_record},
    {NULL, "compare", "show the differences between two runs", esi_cmd_compare},
    {NULL, "order", "show which events can have caused which", esi_cmd_order},
    {NULL, "search", "find patterns in the order of events", esi_cmd_search},
    {NULL, "import", "convert a log or an archive to an event set", esi_cmd_import},
    {NULL, "export", "write an event set in the format of another tool",
     esi_cmd_export},
    {"Prepare and clean up", "map",
     "discover the hosts' topology and generate a pathmap", esi_cmd_map},
    {NULL, "check", "validate a pathmap", esi_cmd_check},
    {NULL, "clean", "remove the data of dead runs", esi_cmd_clean},
    {NULL, "help", "show the help of a command", run_help},
    {NULL, "version", "show the version", run_version},
    {NULL, "complete", NULL, esi_cmd_complete}, /* called by shells */
    {0},
};

enum {
    COMMAND_COUNT = sizeof esi_commands / sizeof esi_commands[0] - 1,
    NAME_BYTES = 64
};

static const struct esi_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(esi_commands[i].name, name) == 0)
            return &esi_commands[i];
    return NULL;
}

/* Only these two options may precede a command. */
static int fail_with_option(const char *name)
{
    static const char *const options[] = {"--help", "--version"};
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        esi_nearest_try(&nearest, options[i]);
    if (nearest.name)
        return esi_command_fail(ES_EXIT_USAGE, "no option '%s'; did you mean '%s'?",
                                name, nearest.name);
    return esi_command_fail(ES_EXIT_USAGE,
                            "no option '%s' in front of a command; see 'eventspace "
                            "--help'",
                            name);
}

static int fail_without_command(const char *name)
{
    struct esi_nearest nearest;

    if (*name == '-')
        return fail_with_option(name);
    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        esi_nearest_try(&nearest, esi_commands[i].name);
    if (nearest.name)
        return esi_command_fail(ES_EXIT_USAGE, "no command '%s'; did you mean '%s'?",
                                name, nearest.name);
    return esi_command_fail(ES_EXIT_USAGE, "no command '%s'; see 'eventspace --help'",
                            name);
}

static void print_usage(FILE *stream)
{
    fputs("Usage: eventspace COMMAND [OPTION...] [ARGUMENT...]\n"
          "Monitors the communication of MPI programs.\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!esi_commands[i].summary)
            continue;
        if (esi_commands[i].group)
            fprintf(stream, "\n%s:\n", esi_commands[i].group);
        fprintf(stream, "  %-13s%s\n", esi_commands[i].name, esi_commands[i].summary);
    }
    fputs(
        "\nFirst: 'eventspace demo', a tour in about a minute; or, in two terminals:\n"
        "  eventspace run -n 4 ./program     your own, and meanwhile\n"
        "  eventspace heartbeat              who progresses, who waits for whom\n"
        "'eventspace COMMAND --help' tells more. Exit status: 0 success, 1 a negative\n"
        "finding, 2 an error, 3 lost contact; run and exec end as the program does.\n",
        stream);
}

static int run_command(const struct esi_command *command, int argc, char **argv)
{
    char shown[NAME_BYTES];

    esi_command_set_name(command->name);
    snprintf(shown, sizeof shown, "eventspace %s", command->name);
    argv[0] = shown;
    int status = command->run(argc, argv);
    esi_command_tell_left_out();
    return status;
}

static int run_help(int argc, char **argv)
{
    char help[] = "--help";

    if (argc < 2) {
        print_usage(stdout);
        return ES_EXIT_SUCCESS;
    }
    const struct esi_command *command = find_command(argv[1]);
    if (!command || command->run == run_help || command->run == run_version) {
        if (command)
            return print_usage(stdout), ES_EXIT_SUCCESS;
        return fail_without_command(argv[1]);
    }
    char *arguments[] = {argv[0], help, NULL};
    return run_command(command, 2, arguments);
}

static int run_version(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return esi_command_fail(ES_EXIT_USAGE, "takes no arguments");
    puts(PACKAGE_STRING);
    return ES_EXIT_SUCCESS;
}

/* Loads the user's stages, except in commands that start programs. */
static bool load_stages(const struct esi_command *command)
{
    struct es_error error = {.text = ""};
    int loaded;

    if (command->run == esi_cmd_run || command->run == esi_cmd_exec)
        return true;
    loaded = es_stage_load_environment(&error);
    if (loaded < 0)
        esi_command_fail_error(ES_EXIT_USAGE, &error, loaded,
                               "the stages in EVENTSPACE_STAGES cannot be loaded");
    return loaded >= 0;
}

/* Truncated output must not look complete. */
static int check_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE)
        return status;
    return esi_command_fail(ES_EXIT_USAGE, "cannot write the output: %s",
                            strerror(errno));
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    esi_run_key_guard();
    setlocale(LC_CTYPE, "");
    argp_err_exit_status = ES_EXIT_USAGE;
    if (!*name) {
        print_usage(stderr);
        return ES_EXIT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        strcmp(name, "-?") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct esi_command *command = find_command(name);
    if (!command)
        return fail_without_command(name);
    if (!load_stages(command))
        return ES_EXIT_USAGE;
    return check_output(run_command(command, argc - 1, argv + 1));
}
