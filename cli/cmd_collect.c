/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace collect - switches collectors and collective trees of a running
 * program. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cli/collect_hosts.h"
#include "cli/collect_tree.h"
#include "cli/command.h"
#include "cli/view_options.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "eventspace/operation.h"
#include "tuplespace/segment_name.h"
#include "base/options.h"

enum action {
    ACTION_NONE,
    ACTION_ON,
    ACTION_OFF,
    ACTION_THRESHOLD,
    ACTION_TREE,
};

struct collect_arguments {
    enum action action;
    uint32_t threshold; /* 0 = not given yet */
    const char *run;
    struct es_selection selection;
    bool is_selected;             /* an option of the selection was given */
    struct esi_tree_request tree; /* for `tree`; also contains run and format */
    struct esi_tree_rule limits;  /* conditions of the rule; the shape is not used */
    const char *communicator;     /* or NULL */
    bool has_limits;
};

/* Options that have no short form. */
enum {
    OPTION_CLASS = 256,
    OPTION_ELEMENT,
    OPTION_OPERATION,
    OPTION_BYTES,
    OPTION_FILE,
    OPTION_CLEAR,
    OPTION_WAIT,
};

#define WAIT_NS UINT64_C(5000000000)

static const struct argp_option options[] = {
    {"rank", 'r', "RANKS", 0, "only these ranks: 3 or 0-3,7", 0},
    {"thread", 't', "N", 0, "only this thread of each rank", 0},
    {"class", OPTION_CLASS, "CLASSES", 0,
     "elements that record one of these: send,receive ...", 0},
    {"collector", 'C', "NAME", 0, "only elements of this collector of the pathmap", 0},
    {"element", OPTION_ELEMENT, "PATTERN", 0,
     "only elements whose name matches: '*/collective'", 0},
    {"host", 'H', "NAME", 0, "only elements on this host", 0},
    {NULL, 0, NULL, 0, "With 'tree':", 2},
    {"comm", 'c', "PATTERN", 0, "for communicators whose name matches; default: '*'",
     2},
    {"operation", OPTION_OPERATION, "NAME,...", 0,
     "allreduce,ibcast ..., blocking (default), nonblocking, all", 2},
    {"bytes", OPTION_BYTES, "RANGE", 0, "for payloads of 0-4096 or 4096- bytes", 2},
    {"file", OPTION_FILE, "RULES.json", 0, "replace all rules by those of a file", 2},
    {"clear", OPTION_CLEAR, NULL, 0, "go back to the rules that the run began with", 2},
    {"wait", OPTION_WAIT, "TIME", 0, "maximum time for all communicators to follow (5)",
     2},
    {0},
};

static const char doc[] =
    "Switches the collectors of RUN's elements while the program runs: an element that "
    "is off costs the program one load and a branch. 'threshold N' keeps the newest N "
    "tuples from now on, up to the element's initial threshold. 'tree TREE' sends "
    "collective operations through another tree from now on: kary:4, linear, binomial, "
    "exchange, levels:host,cluster, explicit:0-1,0-2, or library; 'tree' alone shows "
    "the trees in force.\vNew elements begin as the pathmap says. Exit status 1 if no "
    "element matches the options.";

/* Whether the word is a tree and not a run's name, which contains no colon and is not
 * the name of a shape. */
static bool is_rule(const char *text)
{
    enum esi_tree_shape shape;

    return !esi_run_id_is_valid(text) || esi_tree_shape_by_name(text, &shape) == 0;
}

static void take_rule(const char *text,
                      struct argp_state *state,
                      struct esi_tree_request *request)
{
    struct es_error error = {.text = ""};

    if (esi_tree_rule_parse_short(text, &error, &request->rule) < 0)
        argp_error(state, "tree %s: at character %d: %s", text, error.column,
                   error.text);
    request->has_rule = true;
}

static enum action find_action(const char *text)
{
    static const char *const names[] = {[ACTION_ON] = "on",
                                        [ACTION_OFF] = "off",
                                        [ACTION_THRESHOLD] = "threshold",
                                        [ACTION_TREE] = "tree"};

    for (int i = ACTION_ON; i <= ACTION_TREE; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum action)i;
    return ACTION_NONE;
}

static void refuse_action(const char *text, struct argp_state *state)
{
    argp_error(state, "'%s' is not an action; give on, off, threshold N or tree", text);
}

/* The RUN may precede or follow the action. */
static error_t take_argument(char *text,
                             struct argp_state *state,
                             struct collect_arguments *arguments)
{
    if (arguments->action == ACTION_NONE) {
        arguments->action = find_action(text);
        if (arguments->action != ACTION_NONE)
            return 0;
        if (arguments->run)
            refuse_action(arguments->run, state);
        arguments->run = text;
        return 0;
    }
    if (arguments->action == ACTION_THRESHOLD && arguments->threshold == 0) {
        arguments->threshold =
            (uint32_t)esi_option_number(text, "threshold", 1, UINT32_MAX, state);
        return 0;
    }
    if (arguments->action == ACTION_TREE && !arguments->tree.has_rule &&
        is_rule(text)) {
        take_rule(text, state, &arguments->tree);
        return 0;
    }
    return esi_command_take_run(text, state, &arguments->run);
}

static error_t parse_selection(int key,
                               char *text,
                               struct argp_state *state,
                               struct es_selection *selection)
{
    switch (key) {
    case 'r':
        selection->ranks = text;
        return 0;
    case 't':
        selection->thread =
            (int)esi_option_number(text, "--thread", 0, INT32_MAX, state);
        return 0;
    case OPTION_CLASS:
        selection->classes = esi_option_classes(text, state);
        if (selection->classes & ~ES_CLASSES_ALL)
            argp_error(state,
                       "--class: '%s': only operations of MPI can be switched: send, "
                       "receive, completion, collective, communicator, one-sided, io, "
                       "other",
                       text);
        return 0;
    case 'C':
        selection->collector = text;
        return 0;
    case OPTION_ELEMENT:
        selection->name = text;
        return 0;
    case 'H':
        selection->host = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_tree_option(int key,
                                 char *text,
                                 struct argp_state *state,
                                 struct collect_arguments *arguments)
{
    struct esi_tree_request *request = &arguments->tree;
    struct es_error error = {.text = ""};

    switch (key) {
    case 'c':
        if (*text == '\0' || strlen(text) >= sizeof request->rule.communicator)
            argp_error(state, "--comm: '%s': give 1 to 63 characters", text);
        arguments->communicator = text;
        break;
    case OPTION_OPERATION:
        if (esi_tree_rule_parse_operations(text, &error, &arguments->limits) < 0)
            argp_error(state, "--operation: %s", error.text);
        break;
    case OPTION_BYTES:
        if (esi_tree_rule_parse_bytes(text, &error, &arguments->limits) < 0)
            argp_error(state, "--bytes: %s", error.text);
        break;
    case OPTION_FILE:
        request->file = text;
        return 0;
    case OPTION_CLEAR:
        request->clear = true;
        return 0;
    case OPTION_WAIT:
        request->wait_ns = esi_option_duration(text, "--wait", 0, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    arguments->has_limits = true;
    return 0;
}

/* Checks combinations of options. */
static void check_options(struct collect_arguments *arguments, struct argp_state *state)
{
    const struct esi_tree_request *request = &arguments->tree;
    bool is_tree = arguments->action == ACTION_TREE;

    if (arguments->action == ACTION_NONE && arguments->run)
        refuse_action(arguments->run, state);
    if (arguments->action == ACTION_NONE)
        argp_error(state, "no action; give on, off, threshold N or tree");
    if (arguments->action == ACTION_THRESHOLD && arguments->threshold == 0)
        argp_error(state, "threshold: no number of tuples; give N");
    if (is_tree && arguments->is_selected)
        argp_error(state, "tree: all ranks have the same trees; choose with --comm, "
                          "--operation and --bytes");
    if (!is_tree && (arguments->has_limits || request->file || request->clear))
        argp_error(state, "--comm, --operation, --bytes, --file and --clear are for "
                          "'collect tree'");
    if (request->has_rule + (request->file != NULL) + request->clear > 1)
        argp_error(state, "TREE, --file and --clear: give one of them");
    if (is_tree && arguments->has_limits && !request->has_rule)
        argp_error(state, "--comm, --operation and --bytes need the TREE that they are "
                          "for");
}

/* Combines the rule's shape, an argument, with its conditions, which are options. */
static void complete_rule(struct collect_arguments *arguments)
{
    struct esi_tree_rule *rule = &arguments->tree.rule;

    rule->operations = arguments->limits.operations;
    rule->min_bytes = arguments->limits.min_bytes;
    rule->max_bytes = arguments->limits.max_bytes;
    if (arguments->communicator)
        snprintf(rule->communicator, sizeof rule->communicator, "%s",
                 arguments->communicator);
    arguments->tree.run = arguments->run;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct collect_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->tree.format;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(text, state, arguments);
    case ARGP_KEY_END:
        check_options(arguments, state);
        complete_rule(arguments);
        return 0;
    default:
        break;
    }
    if (parse_selection(key, text, state, &arguments->selection) == 0) {
        arguments->is_selected = true;
        return 0;
    }
    return parse_tree_option(key, text, state, arguments);
}

/* Returns whether it was changed.  A limit is recorded, since many elements have the
 * same. */
static bool set_threshold(const struct es_element_view *element,
                          uint32_t threshold,
                          struct esi_collect_result *result)
{
    struct es_element_info info;

    int code = es_element_set_threshold(element, threshold);
    if (code == 0)
        return true;
    es_element_view_info(element, &info);
    if (code == -ERANGE)
        esi_collect_note_limit(result, info.threshold_max);
    else
        esi_command_fail_error(ES_EXIT_USAGE, NULL, code,
                               "cannot set threshold %" PRIu32 " of element %s",
                               threshold, info.name);
    return false;
}

static bool apply_settings(const struct collect_arguments *arguments,
                           const struct es_element_view *element,
                           struct esi_collect_result *result)
{
    if (arguments->action == ACTION_THRESHOLD)
        return set_threshold(element, arguments->threshold, result);
    es_element_enable(element, arguments->action == ACTION_ON);
    return true;
}

/* For this host; returns an exit status. */
static int apply_here(const struct collect_arguments *arguments,
                      const struct es_run *run,
                      struct esi_collect_result *result)
{
    struct es_element_view **elements;

    int count = es_run_select(run, &arguments->selection, &elements);
    if (count < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, count,
                                      "cannot select elements of run '%s'",
                                      es_run_name(run));
    for (int i = 0; i < count; i++)
        result->changed += apply_settings(arguments, elements[i], result);
    result->fit += count;
    free(elements);
    return ES_EXIT_SUCCESS;
}

/* One message for all elements that cannot hold so many tuples. */
static void report_limits(uint32_t threshold, const struct esi_collect_result *result)
{
    char range[48] = "";

    if (result->most_limit > result->least_limit)
        snprintf(range, sizeof range, " to %" PRIu32, result->most_limit);
    esi_command_fail(ES_EXIT_USAGE,
                     "threshold %" PRIu32 ": %d of %d elements were made for at most "
                     "%" PRIu32 "%s; start the program with a larger --threshold",
                     threshold, result->fit - result->changed, result->fit,
                     result->least_limit, range);
}

static int report_settings(const struct collect_arguments *arguments,
                           const char *run,
                           const struct esi_collect_result *result)
{
    if (result->fit == 0 && result->silent == 0)
        return esi_command_fail(ES_EXIT_FINDING,
                                "run '%s': no element matches the options; 'eventspace "
                                "list -e %s' shows all",
                                run, run);
    if (result->least_limit > 0)
        report_limits(arguments->threshold, result);
    if (result->changed == 0 && result->fit > 0)
        return result->silent > 0 ? ES_EXIT_LOST : ES_EXIT_USAGE;
    if (arguments->action == ACTION_THRESHOLD)
        printf("%d elements keep %" PRIu32 " tuples\n", result->changed,
               arguments->threshold);
    else
        esi_plain_print(stdout, "%d elements %s\n", result->changed,
                        arguments->action == ACTION_ON ? "on" : "off");
    if (result->silent > 0)
        return ES_EXIT_LOST;
    return result->changed < result->fit ? ES_EXIT_USAGE : ES_EXIT_SUCCESS;
}

/* A run on several hosts may have elements only elsewhere; a run on one host must have
 * segments here. */
static int open_run(const char *name, struct esi_consumer *ret_consumer)
{
    static const struct esi_consumer_options everywhere = {.server = NULL};
    int status = esi_consumer_open(name, &everywhere, ret_consumer);

    if (status || !ret_consumer->servers || es_servers_count(ret_consumer->servers) > 1)
        return status;
    esi_consumer_close(ret_consumer);
    *ret_consumer = (struct esi_consumer){.run = NULL};
    return esi_command_open_run(name, &ret_consumer->run);
}

static int collect_tree(struct collect_arguments *arguments)
{
    int status = esi_collect_tree(&arguments->tree);

    esi_tree_rule_fini(&arguments->tree.rule);
    return status;
}

int esi_cmd_collect(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 2}, {&esi_wide_argp, 0, NULL, 2}, {0}};
    static const struct argp parser = {
        options,
        parse_option,
        "on [RUN]\noff [RUN]\nthreshold N [RUN]\ntree [TREE] [RUN]",
        doc,
        children,
        NULL,
        NULL};
    struct collect_arguments arguments = {.action = ACTION_NONE,
                                          .tree = {.wait_ns = WAIT_NS}};
    struct esi_collect_result result = {.fit = 0};
    struct es_error error = {.text = ""};
    struct esi_consumer consumer;

    es_selection_init(&arguments.selection);
    esi_tree_rule_init(&arguments.limits, ES_TREE_LIBRARY);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.action == ACTION_TREE)
        return collect_tree(&arguments);
    int code = es_selection_check(&arguments.selection, &error);
    if (code < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, code,
                                      "cannot select elements");
    int status = open_run(arguments.run, &consumer);
    if (status)
        return status;
    const struct esi_collect_change change = {.threshold = arguments.threshold,
                                              .on = arguments.action == ACTION_ON};
    if (consumer.servers)
        esi_collect_hosts(consumer.servers, &arguments.selection, &change, &result);
    status = apply_here(&arguments, consumer.run, &result);
    if (status == ES_EXIT_SUCCESS)
        status = report_settings(&arguments, es_run_name(consumer.run), &result);
    esi_consumer_close(&consumer);
    return status;
}
