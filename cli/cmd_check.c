/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace check - checks a path map and reports the position of errors. */
#include "config.h"

#include "base/json_out.h"
#include "base/plain.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "pathmap/pathmap.h"
#include "scopes/run_map.h"

struct check_arguments {
    const char *path;
    enum esi_format format;
};

static const char doc[] =
    "Validates a pathmap and prints one line about its content."
    "\vFor an invalid map it reports the first error: line, column, the path of the "
    "member, what was found and what was expected, with exit status 2. The "
    "format is in "
    "eventspace-pathmap(5).";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct check_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->path)
            argp_error(state, "unexpected argument '%s': give one map", text);
        arguments->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no map; give MAP.json");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL,     parse_option, "MAP.json", doc,
                                   children, NULL,         NULL};

static void print_counts_json(const char *path,
                              const struct esi_pathmap_summary *summary)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "pathmap");
    esi_json_out_string(&out, "file", path);
    esi_json_out_bool(&out, "valid", true);
    esi_json_out_bool(&out, "expanded", summary->expanded);
    esi_json_out_unsigned(&out, "hosts", summary->hosts);
    esi_json_out_unsigned(&out, "ranks", summary->ranks);
    esi_json_out_unsigned(&out, "threads", summary->threads);
    esi_json_out_unsigned(&out, "collectors", summary->collectors);
    esi_json_out_unsigned(&out, "collectives", summary->collectives);
    esi_json_out_unsigned(&out, "scopes", summary->scopes);
    esi_json_out_unsigned(&out, "paths", summary->paths);
    esi_json_out_unsigned(&out, "ring_bytes", summary->ring_bytes);
    esi_json_out_end(&out);
}

static void print_fault_json(const char *path, const struct es_error *error)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "pathmap");
    esi_json_out_string(&out, "file", path);
    esi_json_out_bool(&out, "valid", false);
    esi_json_out_signed(&out, "line", error->line);
    esi_json_out_signed(&out, "column", error->column);
    esi_json_out_string(&out, "error", error->text);
    esi_json_out_end(&out);
}

static const char *plural_ending(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_counts(const char *path, const struct esi_pathmap_summary *summary)
{
    esi_plain_print(
        stdout,
        "%s: valid: %zu rank%s with %zu thread%s on %zu host%s, %zu collector%s, %zu "
        "scope%s",
        path, summary->ranks, plural_ending(summary->ranks), summary->threads,
        plural_ending(summary->threads), summary->hosts, plural_ending(summary->hosts),
        summary->collectors, plural_ending(summary->collectors), summary->scopes,
        plural_ending(summary->scopes));
    if (summary->collectives > 0)
        esi_plain_print(stdout, ", %zu collective tree%s", summary->collectives,
                        plural_ending(summary->collectives));
    if (summary->expanded)
        esi_plain_print(stdout, ", %zu path%s", summary->paths,
                        plural_ending(summary->paths));
    putchar('\n');
}

int esi_cmd_check(int argc, char **argv)
{
    struct check_arguments arguments = {.path = NULL};
    struct es_error error = {.text = ""};
    struct esi_pathmap_summary summary;
    struct esi_pathmap *map = NULL;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    int code = esi_pathmap_load(arguments.path, &error, &map);
    if (code == 0) {
        code = esi_run_map_check_stages(map, &error);
        if (code < 0)
            esi_pathmap_destroy(map);
    }
    if (code < 0) {
        if (arguments.format == ES_FORMAT_JSON)
            print_fault_json(arguments.path, &error);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "the map is invalid");
    }
    esi_pathmap_summarize(map, &summary);
    esi_pathmap_destroy(map);
    if (arguments.format == ES_FORMAT_JSON)
        print_counts_json(arguments.path, &summary);
    else
        print_counts(arguments.path, &summary);
    return ES_EXIT_SUCCESS;
}
