/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace clean - removes the remains of dead runs: segments and run directories. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/rows.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/launch/run_setup.h"
#include "cli/launch/server_start.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment_name.h"

struct clean_arguments {
    const char *run;
    enum esi_format format;
    bool all;
    bool dead_processes;
    bool everywhere;
    bool force;
    bool dry_run;
};

/* Options that have no short form. */
enum { OPTION_FORCE = 256, OPTION_DEAD_PROCESSES, OPTION_DRY_RUN, OPTION_EVERYWHERE };

static const struct argp_option options[] = {
    {"all", 'a', NULL, 0, "all runs that have ended, without asking", 0},
    {"dead-processes", OPTION_DEAD_PROCESSES, NULL, 0,
     "also segments of dead processes of live runs", 0},
    {"everywhere", OPTION_EVERYWHERE, NULL, 0, "also segments of runs in other folders",
     0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "only print what would be removed", 0},
    {NULL, 'n', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0}, /* ranks elsewhere */
    {"force", OPTION_FORCE, NULL, 0,
     "also remove live runs, which can then no longer be monitored", 0},
    {0},
};

static const char doc[] =
    "Removes the segments and run directories of runs that have ended; with RUN, of "
    "this one only. Without RUN it lists these runs and asks first; without a terminal "
    "it needs --all.\vA run is live while one of its processes or its 'eventspace run' "
    "lives. Runs of other folders than EVENTSPACE_DIR (else "
    "XDG_RUNTIME_DIR/eventspace, else /tmp/eventspace-UID) are not removed. Exit "
    "status 1 if RUN is live, if some of its hosts were not reached, or if the answer "
    "was no.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct clean_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        return 0;
    case 'a':
        arguments->all = true;
        return 0;
    case OPTION_DEAD_PROCESSES:
        arguments->dead_processes = true;
        return 0;
    case OPTION_EVERYWHERE:
        arguments->everywhere = true;
        return 0;
    case OPTION_DRY_RUN:
    case 'n':
        arguments->dry_run = true;
        return 0;
    case OPTION_FORCE:
        arguments->force = true;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (arguments->run && arguments->all)
            argp_error(state, "--all and RUN: give one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The remains of one run. */
struct leftover {
    char run[64];
    int segments;
    int alive;
    bool has_directory;
    bool has_owner; /* its `eventspace run` is alive */
};

struct leftovers {
    struct leftover *items;
    size_t count;
};

static struct leftover *find_leftover(struct leftovers *list, const char *run)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].run, run) == 0)
            return &list->items[i];
    return NULL;
}

static void add_segments(struct leftovers *list,
                         const struct es_run_info *runs,
                         int count)
{
    for (int i = 0; i < count; i++) {
        struct leftover *item = &list->items[list->count++];
        snprintf(item->run, sizeof item->run, "%s", runs[i].run);
        item->segments = runs[i].segments;
        item->alive = runs[i].alive;
    }
}

static void add_directories(struct leftovers *list, char (*names)[64], int count)
{
    for (int i = 0; i < count; i++) {
        struct leftover *item = find_leftover(list, names[i]);
        if (!item) {
            item = &list->items[list->count++];
            snprintf(item->run, sizeof item->run, "%s", names[i]);
        }
        item->has_directory = true;
        item->has_owner = esi_run_setup_is_live(names[i]);
    }
}

/* Segments and directories, merged by run name.  Caller frees items. */
static int find_all(bool everywhere, struct es_error *error, struct leftovers *ret_list)
{
    struct es_run_info *runs;
    char(*names)[64];

    int run_count = everywhere ? es_run_list_everywhere(&runs) : es_run_list(&runs);
    if (run_count < 0)
        return run_count;
    int name_count = esi_run_directory_list(error, &names);
    if (name_count < 0) {
        free(runs);
        return name_count;
    }
    size_t room = (size_t)run_count + (size_t)name_count;
    struct leftovers list = {.items = calloc(room + 1, sizeof *list.items)};
    if (list.items) {
        add_segments(&list, runs, run_count);
        add_directories(&list, names, name_count);
    }
    free(runs);
    free(names);
    if (!list.items)
        return -ENOMEM;
    *ret_list = list;
    return 0;
}

/* What is removed, or would be. */
struct removal {
    const char *run;
    bool dry_run;
    int segments;
    bool directory;
    char unreached[ES_UNREACHED_BYTES]; /* comma-separated hosts; "" = none */
};

/* A remaining tuple server must end first; it may remove the directory itself. */
static int remove_directory(const char *run,
                            struct es_error *error,
                            char ret_unreached[ES_UNREACHED_BYTES])
{
    int code = esi_server_end(run, false, error, ret_unreached);

    if (code < 0 && code != -ENOENT)
        return code;
    es_error_clear(error);
    code = esi_run_directory_remove(run, error);
    return code == -ENOENT ? 0 : code;
}

static int fail_to_remove(const char *run, const struct es_error *error, int code)
{
    return esi_command_fail_error(ES_EXIT_USAGE, error, code,
                                  "cannot remove the directory of run '%s'", run);
}

static int remove_segments(const char *run, const struct clean_arguments *arguments)
{
    return arguments->everywhere ? es_run_remove_everywhere(run, arguments->force)
                                 : es_run_remove(run, arguments->force);
}

static int remove_leftover(const struct leftover *item,
                           const struct clean_arguments *arguments,
                           struct removal *ret_removal)
{
    bool live = item->alive > 0 || item->has_owner;
    struct removal removal = {.run = item->run,
                              .dry_run = arguments->dry_run,
                              .directory =
                                  item->has_directory && (!live || arguments->force)};
    struct es_error error = {.text = ""};

    /* If the directory contains foreign files, nothing is removed, not even the tuple
     * server. */
    int code = removal.directory ? esi_run_directory_check(item->run, &error) : 0;
    if (code < 0 && code != -ENOENT)
        return fail_to_remove(item->run, &error, code);
    es_error_clear(&error);
    removal.segments = arguments->force ? item->segments : item->segments - item->alive;
    if (!arguments->dry_run && removal.segments > 0) {
        removal.segments = remove_segments(item->run, arguments);
        if (removal.segments < 0)
            return esi_command_fail_error(ES_EXIT_USAGE, NULL, removal.segments,
                                          "cannot remove the segments of run '%s'",
                                          item->run);
    }
    if (!arguments->dry_run && removal.directory) {
        code = remove_directory(item->run, &error, removal.unreached);
        if (code < 0)
            return fail_to_remove(item->run, &error, code);
        /* Segments that the server could not remove. */
        remove_segments(item->run, arguments);
    }
    *ret_removal = removal;
    return ES_EXIT_SUCCESS;
}

/* For JSON only. */
static void describe_removal(struct esi_row *row, const void *record)
{
    const struct removal *removal = record;

    esi_row_text(row, "type", NULL, "removed");
    esi_row_text(row, "run", NULL, removal->run);
    esi_row_signed(row, "segments", NULL, removal->segments);
    esi_row_bool(row, "directory", NULL, removal->directory);
    esi_row_text(row, "unreached", NULL, removal->unreached);
    esi_row_bool(row, "dry_run", NULL, removal->dry_run);
}

static int clean_one(const struct leftover *item,
                     const struct clean_arguments *arguments,
                     size_t *removed)
{
    bool live = item->alive > 0 || item->has_owner;
    struct removal removal;

    if (live && !arguments->force && !arguments->dead_processes) {
        if (!arguments->run)
            return ES_EXIT_SUCCESS;
        return esi_command_fail(ES_EXIT_FINDING,
                                "run '%s' is live and was not removed; --force removes "
                                "it anyway",
                                item->run);
    }
    int status = remove_leftover(item, arguments, &removal);
    if (status == ES_EXIT_SUCCESS && (removal.segments > 0 || removal.directory)) {
        if (arguments->format == ES_FORMAT_JSON)
            esi_rows_print_json(stdout, describe_removal, &removal);
        else
            esi_plain_print(stdout, "%s %s: %d segments%s\n",
                            removal.dry_run ? "would remove" : "removed", removal.run,
                            removal.segments,
                            removal.directory ? ", run directory" : "");
        ++*removed;
    }
    if (status == ES_EXIT_SUCCESS && removal.unreached[0])
        return esi_command_fail(ES_EXIT_FINDING,
                                "data of run '%s' remains on hosts that were not "
                                "reached: %s; 'eventspace clean %s' there removes it",
                                item->run, removal.unreached, item->run);
    return status;
}

/* Why the named run was not found. */
static int fail_to_find(const char *run)
{
    struct es_error error = {.text = ""};
    struct es_run *found;

    int code = esi_run_directory_check(run, &error);
    if (code < 0 && code != -ENOENT)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "run '%s'", run);
    es_error_clear(&error);
    code = es_run_open(run, &error, &found);
    if (code == -ENOENT)
        return esi_command_fail_to_find(run);
    if (code == -EACCES)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "run '%s' was not removed", run);
    if (code == 0)
        es_run_close(found);
    return esi_command_fail(ES_EXIT_USAGE,
                            "run '%s' was not removed: it is not in the folder of run "
                            "directories in use (EVENTSPACE_DIR); --everywhere removes "
                            "it",
                            run);
}

static int clean_named(struct leftovers *list, const struct clean_arguments *arguments)
{
    const struct leftover *item = find_leftover(list, arguments->run);
    size_t removed = 0;

    return item ? clean_one(item, arguments, &removed) : fail_to_find(arguments->run);
}

static int clean_list(struct leftovers *list,
                      const struct clean_arguments *arguments,
                      size_t *ret_removed)
{
    int worst = ES_EXIT_SUCCESS;
    size_t removed = 0;

    for (size_t i = 0; i < list->count; i++) {
        int status = clean_one(&list->items[i], arguments, &removed);
        if (status > worst)
            worst = status;
    }
    if (removed == 0 && arguments->format == ES_FORMAT_TEXT)
        puts("nothing to remove");
    *ret_removed = removed;
    return worst;
}

static bool is_agreed(size_t runs)
{
    char answer[8] = "";

    printf("Remove %zu runs? [y/N] ", runs);
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) &&
           (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

/* No run was named: lists them first. */
static int clean_asked(struct leftovers *list, const struct clean_arguments *arguments)
{
    struct clean_arguments shown = *arguments;
    size_t count;

    shown.dry_run = true;
    int status = clean_list(list, &shown, &count);
    if (status != ES_EXIT_SUCCESS || count == 0 || arguments->dry_run)
        return status;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return esi_command_fail(
            ES_EXIT_USAGE, "nothing was removed: cannot ask without a terminal; give "
                           "RUN or --all");
    if (!is_agreed(count))
        return esi_command_fail(ES_EXIT_FINDING, "nothing was removed");
    return clean_list(list, arguments, &count);
}

static int clean_leftovers(struct leftovers *list,
                           const struct clean_arguments *arguments)
{
    size_t removed;

    if (arguments->run)
        return clean_named(list, arguments);
    return arguments->all ? clean_list(list, arguments, &removed)
                          : clean_asked(list, arguments);
}

int esi_cmd_clean(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {options,  parse_option, "[RUN]", doc,
                                       children, NULL,         NULL};
    struct clean_arguments arguments = {.run = NULL};
    struct es_error error = {.text = ""};
    struct leftovers list;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.run && !esi_run_id_is_valid(arguments.run))
        return esi_command_fail(ES_EXIT_USAGE,
                                "'%s' is not the name of a run; give one that 'list' "
                                "shows",
                                arguments.run);
    int code = find_all(arguments.everywhere, &error, &list);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot look for runs");
    int status = clean_leftovers(&list, &arguments);
    free(list.items);
    return status;
}
