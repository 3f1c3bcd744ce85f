/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace check - tells whether a pathmap is right, or where it is wrong. */
#include "config.h"

#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "pathmap/pathmap.h"
#include "scopes/map_check.h"

struct check_arguments {
    const char *path;
    enum es_format format;
};

static const char doc[] =
    "Checks a pathmap and prints one line about what is in it."
    "\vThe first fault is told with its line, its column, the way to the member, what "
    "was found and what was expected; the exit status is then 2. The format is in "
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
            argp_error(state, "one map at a time: '%s' is one too many", text);
        arguments->path = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which map? Say MAP.json");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {NULL,     parse_option, "MAP.json", doc,
                                   children, NULL,         NULL};

static void print_counts_json(const char *path,
                              const struct es_pathmap_summary *summary)
{
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    es_json_out_begin_object(&out, NULL);
    es_json_out_string(&out, "type", "pathmap");
    es_json_out_string(&out, "file", path);
    es_json_out_bool(&out, "valid", true);
    es_json_out_bool(&out, "expanded", summary->expanded);
    es_json_out_unsigned(&out, "hosts", summary->hosts);
    es_json_out_unsigned(&out, "ranks", summary->ranks);
    es_json_out_unsigned(&out, "threads", summary->threads);
    es_json_out_unsigned(&out, "collectors", summary->collectors);
    es_json_out_unsigned(&out, "collectives", summary->collectives);
    es_json_out_unsigned(&out, "scopes", summary->scopes);
    es_json_out_unsigned(&out, "paths", summary->paths);
    es_json_out_unsigned(&out, "ring_bytes", summary->ring_bytes);
    es_json_out_end(&out);
}

static void print_fault_json(const char *path, const struct es_error *error)
{
    struct es_json_out out;

    es_json_out_init(&out, stdout);
    es_json_out_begin_object(&out, NULL);
    es_json_out_string(&out, "type", "pathmap");
    es_json_out_string(&out, "file", path);
    es_json_out_bool(&out, "valid", false);
    es_json_out_signed(&out, "line", error->line);
    es_json_out_signed(&out, "column", error->column);
    es_json_out_string(&out, "error", error->text);
    es_json_out_end(&out);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_counts(const char *path, const struct es_pathmap_summary *summary)
{
    es_plain_print(
        stdout,
        "%s: good: %zu rank%s with %zu thread%s on %zu host%s, %zu collector%s, "
        "%zu scope%s",
        path, summary->ranks, plural(summary->ranks), summary->threads,
        plural(summary->threads), summary->hosts, plural(summary->hosts),
        summary->collectors, plural(summary->collectors), summary->scopes,
        plural(summary->scopes));
    if (summary->collectives > 0)
        es_plain_print(stdout, ", %zu collective tree%s", summary->collectives,
                       plural(summary->collectives));
    if (summary->expanded)
        es_plain_print(stdout, ", %zu path%s", summary->paths, plural(summary->paths));
    putchar('\n');
}

int esi_cmd_check(int argc, char **argv)
{
    struct check_arguments arguments = {.path = NULL};
    struct es_error error = {.text = ""};
    struct es_pathmap_summary summary;
    struct es_pathmap *map = NULL;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    int code = es_pathmap_load(arguments.path, &error, &map);
    if (code == 0) {
        code = es_map_check_stages(map, &error);
        if (code < 0)
            es_pathmap_destroy(map);
    }
    if (code < 0) {
        if (arguments.format == ES_FORMAT_JSON)
            print_fault_json(arguments.path, &error);
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "the map is wrong");
    }
    es_pathmap_summarize(map, &summary);
    es_pathmap_destroy(map);
    if (arguments.format == ES_FORMAT_JSON)
        print_counts_json(arguments.path, &summary);
    else
        print_counts(arguments.path, &summary);
    return ES_EXIT_SUCCESS;
}
