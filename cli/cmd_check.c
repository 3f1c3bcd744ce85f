/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace check - checks a path map and reports the position of errors. */
#include "config.h"

#include "base/plain.h"
#include "base/rows.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "pathmap/pathmap.h"
#include "scopes/run_map.h"

/* A map, and what is in it or wrong with it. */
struct map_check {
    const char *path;
    enum esi_format format;
    bool is_valid;
    struct es_error error;
    struct esi_pathmap_summary summary;
};

static const char doc[] =
    "Validates a pathmap and prints one line about its content."
    "\vFor an invalid map it reports the first error: line, column, the path of the "
    "member, what was found and what was expected, with exit status 2. The "
    "format is in "
    "eventspace-pathmap(5).";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct map_check *check = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &check->format;
        return 0;
    case ARGP_KEY_ARG:
        if (check->path)
            argp_error(state, "unexpected argument '%s': give one map", text);
        check->path = text;
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

/* For JSON only. */
static void describe_check(struct esi_row *row, const void *record)
{
    const struct map_check *check = record;
    const struct esi_pathmap_summary *summary = &check->summary;

    esi_row_text(row, "type", NULL, "pathmap");
    esi_row_text(row, "file", NULL, check->path);
    esi_row_bool(row, "valid", NULL, check->is_valid);
    if (!check->is_valid) {
        esi_row_signed(row, "line", NULL, check->error.line);
        esi_row_signed(row, "column", NULL, check->error.column);
        esi_row_text(row, "error", NULL, check->error.text);
        return;
    }
    esi_row_bool(row, "expanded", NULL, summary->expanded);
    esi_row_unsigned(row, "hosts", NULL, summary->hosts);
    esi_row_unsigned(row, "ranks", NULL, summary->ranks);
    esi_row_unsigned(row, "threads", NULL, summary->threads);
    esi_row_unsigned(row, "collectors", NULL, summary->collectors);
    esi_row_unsigned(row, "collectives", NULL, summary->collectives);
    esi_row_unsigned(row, "scopes", NULL, summary->scopes);
    esi_row_unsigned(row, "paths", NULL, summary->paths);
    esi_row_unsigned(row, "ring_bytes", NULL, summary->ring_bytes);
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
    struct map_check check = {.path = NULL};
    struct esi_pathmap *map = NULL;

    esi_command_parse(&parser, argc, argv, 0, &check);
    int code = esi_pathmap_load(check.path, &check.error, &map);
    if (code == 0)
        code = esi_run_map_check_stages(map, &check.error);
    check.is_valid = code == 0;
    if (check.is_valid)
        esi_pathmap_summarize(map, &check.summary);
    esi_pathmap_destroy(map);
    if (check.format == ES_FORMAT_JSON)
        esi_rows_print_json(stdout, describe_check, &check);
    else if (check.is_valid)
        print_counts(check.path, &check.summary);
    return check.is_valid ? ES_EXIT_SUCCESS
                          : esi_command_fail_error(ES_EXIT_USAGE, &check.error, code,
                                                   "the map is invalid");
}
