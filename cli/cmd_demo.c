/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace demo - demonstrates the main uses on the example programs: executes a
 * script that types the commands of a user. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/launch/installed.h"

enum { OPTION_PROGRAMS = 256 };

static const struct argp_option options[] = {
    {"programs", OPTION_PROGRAMS, NULL, 0,
     "print the folder of the example programs, and end", 0},
    {0},
};

static const char doc[] =
    "Shows the main features in about a minute, with example programs: it prints each "
    "command before it runs, and a summary at the end."
    "\vExit status: 0 all steps showed the expected result, 1 some did not, 2 usage, "
    "or no example programs.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    bool *only_programs = state->input;

    (void)text;
    if (key != OPTION_PROGRAMS)
        return ARGP_ERR_UNKNOWN;
    *only_programs = true;
    return 0;
}

/* The folder of the example programs; caller frees.  NULL if they are not installed. */
static char *find_programs(void)
{
    char *path = esi_installed_find("apps/windtunnel", ES_PROGRAMSDIR, "windtunnel");

    if (path)
        *strrchr(path, '/') = '\0';
    return path;
}

/* Returns only on failure. */
static int become_script(char *programs)
{
    char *script = esi_installed_find("share/demo", ES_DATADIR, "demo");
    char *command = realpath("/proc/self/exe", NULL);
    int status;

    if (script && command)
        execl("/bin/sh", "sh", script, command, programs, (char *)NULL);
    status = script ? esi_command_fail(ES_EXIT_USAGE, "cannot start %s: %s", script,
                                       strerror(errno))
                    : esi_command_fail(ES_EXIT_USAGE,
                                       "the script 'demo' is neither beside this "
                                       "command nor in %s",
                                       ES_DATADIR);
    free(command);
    free(script);
    return status;
}

int esi_cmd_demo(int argc, char **argv)
{
    static const struct argp parser = {options, parse_option, NULL, doc,
                                       NULL,    NULL,         NULL};
    bool only_programs = false;
    int status = ES_EXIT_SUCCESS;
    char *programs;

    esi_command_parse(&parser, argc, argv, 0, &only_programs);
    programs = find_programs();
    if (!programs)
        status = esi_command_fail(ES_EXIT_USAGE,
                                  "the example programs are neither beside this "
                                  "command nor in %s; was EventSpace configured "
                                  "without an MPI?",
                                  ES_PROGRAMSDIR);
    else if (only_programs)
        puts(programs);
    else
        status = become_script(programs);
    free(programs);
    return status;
}
