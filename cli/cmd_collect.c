/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace collect - switches collectors while the program runs. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect_hosts.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "eventspace/operation.h"

enum action {
    ACTION_NONE,
    ACTION_ON,
    ACTION_OFF,
    ACTION_THRESHOLD,
};

enum { THRESHOLD_MAX = 1 << 24 };

struct collect_arguments {
    enum action action;
    uint32_t threshold; /* 0 = not given yet */
    const char *run;
    struct es_selection selection;
};

/* Options that have no short form. */
enum { OPTION_THREAD = 256, OPTION_HOST, OPTION_ELEMENT };

static const struct argp_option options[] = {
    {"rank", 'r', "RANKS", 0, "only these ranks: 3 or 0-3,7", 0},
    {"thread", OPTION_THREAD, "N", 0, "only this thread of each rank", 0},
    {"class", 'c', "CLASSES", 0,
     "only elements that record one of these: send,receive ...", 0},
    {"collector", 'C', "NAME", 0, "only elements of this collector of the pathmap", 0},
    {"element", OPTION_ELEMENT, "PATTERN", 0,
     "only elements whose name fits: '*/collective'", 0},
    {"host", OPTION_HOST, "NAME", 0, "only elements on this host", 0},
    {0},
};

static const char doc[] = "Switches the collectors of RUN's elements while the program "
                          "runs: what is off costs the "
                          "program one load and a branch. `threshold N` keeps the "
                          "newest N tuples from now on, at "
                          "most as many as the element was made for."
                          "\vElements that come into being later begin as the pathmap "
                          "says. Ends with 1 if no "
                          "element fits the options.";

/* "send,receive" to bits of enum es_class. */
static uint32_t parse_classes(const char *text, struct argp_state *state)
{
    uint32_t classes = 0;
    char *copy = strdup(text), *rest = copy, *word;

    while ((word = strsep(&rest, ",")) != NULL) {
        enum es_class found = es_class_by_name(word);
        if (found == ES_CLASS_NONE)
            argp_error(
                state,
                "--class: '%s' is none of send, receive, completion, collective, "
                "communicator, one-sided, io, other",
                word);
        classes |= 1u << found;
    }
    free(copy);
    return classes;
}

static error_t take_argument(char *text,
                             struct argp_state *state,
                             struct collect_arguments *arguments)
{
    if (arguments->action == ACTION_NONE) {
        if (strcmp(text, "on") == 0)
            arguments->action = ACTION_ON;
        else if (strcmp(text, "off") == 0)
            arguments->action = ACTION_OFF;
        else if (strcmp(text, "threshold") == 0)
            arguments->action = ACTION_THRESHOLD;
        else
            argp_error(state, "'%s' is none of on, off, threshold", text);
        return 0;
    }
    if (arguments->action == ACTION_THRESHOLD && arguments->threshold == 0) {
        arguments->threshold =
            (uint32_t)esi_command_number(text, "threshold", 1, THRESHOLD_MAX, state);
        return 0;
    }
    return esi_command_take_run(text, state, &arguments->run);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct collect_arguments *arguments = state->input;
    struct es_selection *selection = &arguments->selection;

    switch (key) {
    case 'r':
        selection->ranks = text;
        return 0;
    case OPTION_THREAD:
        selection->thread =
            (int)esi_command_number(text, "--thread", 0, INT32_MAX, state);
        return 0;
    case 'c':
        selection->classes = parse_classes(text, state);
        return 0;
    case 'C':
        selection->collector = text;
        return 0;
    case OPTION_ELEMENT:
        selection->name = text;
        return 0;
    case OPTION_HOST:
        selection->host = text;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(text, state, arguments);
    case ARGP_KEY_END:
        if (arguments->action == ACTION_NONE)
            argp_error(state, "say what to do: on, off or threshold N");
        if (arguments->action == ACTION_THRESHOLD && arguments->threshold == 0)
            argp_error(state, "threshold: how many tuples?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int set_threshold(const struct es_element_view *element, uint32_t threshold)
{
    struct es_element_info info;

    int code = es_element_set_threshold(element, threshold);
    if (code == 0)
        return ES_EXIT_SUCCESS;
    es_element_view_info(element, &info);
    if (code == -ERANGE)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "threshold %" PRIu32 ", element %s: it was made for at most "
            "%" PRIu32 "; start the program with a larger --threshold",
            threshold, info.name, info.threshold);
    return esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                                  "threshold %" PRIu32 ", element %s", threshold,
                                  info.name);
}

static int apply(const struct collect_arguments *arguments,
                 const struct es_element_view *element)
{
    if (arguments->action == ACTION_THRESHOLD)
        return set_threshold(element, arguments->threshold);
    es_element_enable(element, arguments->action == ACTION_ON);
    return ES_EXIT_SUCCESS;
}

/* On this host; an exit status. */
static int apply_here(const struct collect_arguments *arguments,
                      const struct es_run *run,
                      struct es_collect_result *result)
{
    struct es_element_view **elements;

    int count = es_run_select(run, &arguments->selection, &elements);
    if (count < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, count,
                                      "cannot select elements");
    for (int i = 0; i < count; i++)
        result->changed += apply(arguments, elements[i]) == ES_EXIT_SUCCESS;
    result->fit += count;
    free(elements);
    return ES_EXIT_SUCCESS;
}

static int report(const struct collect_arguments *arguments,
                  const char *run,
                  const struct es_collect_result *result)
{
    if (result->fit == 0 && result->silent == 0)
        return esi_command_fail(ES_EXIT_FINDING,
                                "run '%s': no element fits the options; "
                                "`eventspace list -e %s` shows all",
                                run, run);
    if (arguments->action == ACTION_THRESHOLD)
        printf("%d elements keep %" PRIu32 " tuples\n", result->changed,
               arguments->threshold);
    else
        printf("%d elements %s\n", result->changed,
               arguments->action == ACTION_ON ? "on" : "off");
    if (result->silent > 0)
        return ES_EXIT_LOST;
    return result->changed < result->fit ? ES_EXIT_USAGE : ES_EXIT_SUCCESS;
}

/* A run of several hosts has elements also where this command is not. */
static int open_run(const char *name,
                    struct es_servers **ret_servers,
                    struct es_run **ret_run)
{
    struct es_servers *servers = NULL;

    if (es_servers_open(name, NULL, NULL, &servers) == 0 &&
        es_servers_count(servers) > 1 &&
        es_run_open_empty(es_servers_run(servers), NULL, ret_run) == 0) {
        *ret_servers = servers;
        return ES_EXIT_SUCCESS;
    }
    es_servers_close(servers);
    *ret_servers = NULL;
    return esi_command_open_run(name, ret_run);
}

int esi_cmd_collect(int argc, char **argv)
{
    static const struct argp parser = {
        options, parse_option, "on [RUN]\noff [RUN]\nthreshold N [RUN]", doc, NULL,
        NULL,    NULL};
    struct collect_arguments arguments = {.action = ACTION_NONE};
    struct es_collect_result result = {.fit = 0};
    struct es_error error = {.text = ""};
    struct es_servers *servers;
    struct es_run *run;

    es_selection_init(&arguments.selection);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    int code = es_selection_check(&arguments.selection, &error);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot select elements");
    int status = open_run(arguments.run, &servers, &run);
    if (status)
        return status;
    const struct es_collect_change change = {.threshold = arguments.threshold,
                                             .on = arguments.action == ACTION_ON};
    if (servers)
        esi_collect_hosts(servers, &arguments.selection, &change, &result);
    status = apply_here(&arguments, run, &result);
    if (status == ES_EXIT_SUCCESS)
        status = report(&arguments, es_run_name(run), &result);
    es_run_close(run);
    es_servers_close(servers);
    return status;
}
