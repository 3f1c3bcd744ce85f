/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace map - discovers this host's topology and writes a path map. */
#include "config.h"

#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "pathmap/pathmap.h"
#include "base/options.h"

struct map_arguments {
    struct esi_pathmap_request request;
    const char *output;
    bool expand;
};

enum { KEY_EXPAND = 256, KEY_HOSTFILE, KEY_THREADS, KEY_THRESHOLD };

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "ranks of the program (default: one for each slot)", 0},
    {"hostfile", KEY_HOSTFILE, "FILE", 0, "hosts, as MPI launchers read them", 0},
    {"output", 'o', "MAP.json", 0,
     "write the map to this file; default: standard output", 0},
    {"threads", KEY_THREADS, "N", 0, "threads of each rank (default: 1)", 0},
    {"threshold", KEY_THRESHOLD, "N", 0, "tuples that each element keeps", 0},
    {"expand", KEY_EXPAND, NULL, 0, "spell out every path", 0},
    {0},
};

static const char doc[] =
    "Writes a pathmap: this host with its topology, or the hosts of a hostfile, the "
    "ranks placed on them, the default collectors and scopes."
    "\vThe format is in eventspace-pathmap(5). 'eventspace run --map' uses the map, "
    "'eventspace check' validates it.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct map_arguments *arguments = state->input;
    struct esi_pathmap_request *request = &arguments->request;

    switch (key) {
    case 'n':
        request->ranks = (int)esi_option_number(text, "-n", 1, 1 << 20, state);
        return 0;
    case 'o':
        arguments->output = text;
        return 0;
    case KEY_EXPAND:
        arguments->expand = true;
        return 0;
    case KEY_HOSTFILE:
        request->hostfile = text;
        return 0;
    case KEY_THREADS:
        request->threads = (int)esi_option_number(text, "--threads", 1, 4096, state);
        return 0;
    case KEY_THRESHOLD:
        request->threshold = (uint32_t)esi_option_number(text, "--threshold", 1,
                                                         ES_PLAN_THRESHOLD_MAX, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "takes no arguments: '%s'", text);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {options, parse_option, NULL, doc, NULL, NULL, NULL};

static int print_map(const struct esi_pathmap *map)
{
    char *text;
    int code = esi_pathmap_format(map, &text);

    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                      "cannot write the map");
    fputs(text, stdout);
    free(text);
    return ES_EXIT_SUCCESS;
}

static int save_map(const struct esi_pathmap *map, const char *path)
{
    struct es_error error = {.text = ""};
    int code = esi_pathmap_save(map, path, &error);

    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot save the map");
    return ES_EXIT_SUCCESS;
}

int esi_cmd_map(int argc, char **argv)
{
    struct map_arguments arguments = {.output = NULL};
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    int code = esi_pathmap_generate(&arguments.request, &error, &map);
    if (code == 0 && arguments.expand)
        code = esi_pathmap_expand(map, &error);
    if (code < 0) {
        esi_pathmap_destroy(map);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "cannot make a map");
    }
    int status = arguments.output ? save_map(map, arguments.output) : print_map(map);
    esi_pathmap_destroy(map);
    return status;
}
