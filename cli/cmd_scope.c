/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace scope - lists, shows and changes the scopes of a run. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/options.h"
#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "eventspace/scope.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/show.h"

/* Longer than the limit for a scope's consumer. */
#define LIMIT_NS UINT64_C(20000000000)

enum { MOST_SETTINGS = 64 };
enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_SET };

struct scope_arguments {
    enum action action;
    const char *run;
    const char *name; /* name of the scope */
    const char *server;
    const char *format;
    char *settings[MOST_SETTINGS]; /* NAME=VALUE */
    size_t setting_count;
    bool all;   /* show: include default settings, and each element */
    bool paced; /* enable or disable the rate controller */
    double budget;
    double rate;
};

enum { OPTION_SERVER = 256, OPTION_BUDGET, OPTION_RATE };

static const struct argp_option options[] = {
    {"all", 'a', NULL, 0, "show: also default settings, and each element", 0},
    {"format", 'f', "FORMAT", 0,
     "text, or json (JSON Lines); of a tree also dot (for graphviz) or svg", 0},
    {"server", OPTION_SERVER, "ADDRESS", 0,
     "the run's home server, as tls:HOST:PORT, if this host is not one of the run's",
     0},
    {"budget", OPTION_BUDGET, "PERCENT", 0,
     "set: pull as often as this share of a core on the busiest host allows; 0: off",
     0},
    {"rate", OPTION_RATE, "HZ", 0,
     "set: find the cheapest tree with this number of pulls per second; 0: off", 0},
    {0},
};

static const char doc[] =
    "Lists the live scopes of RUN, shows the gather tree of the scope NAME with the "
    "cost of each stage, or changes that tree while its consumer goes on reading, "
    "without losing or repeating events."
    "\vSettings are shape, levels, fan-out, mode, threads, ahead, joints, reduce, "
    "batch, batch-wait, limit, nodes, node-threads, through-server, observe, sort, "
    "window, max and lossless; see eventspace-scope(1).\n\n"
    "Exit status: 0 success, 2 usage, no such scope, or an impossible setting, 3 "
    "the scope's consumer or the tuple server does not answer.";

/* --- Arguments ------------------------------------------------------------------- */

static enum action find_action(const char *text)
{
    if (strcmp(text, "list") == 0)
        return ACTION_LIST;
    if (strcmp(text, "show") == 0)
        return ACTION_SHOW;
    return strcmp(text, "set") == 0 ? ACTION_SET : ACTION_NONE;
}

static void refuse_action(const char *text, struct argp_state *state)
{
    argp_error(state, "'%s' is not an action; give list, show or set", text);
}

/* The RUN may precede the action or follow its arguments. */
static error_t take_argument(struct scope_arguments *arguments,
                             char *text,
                             struct argp_state *state)
{
    if (arguments->action == ACTION_NONE) {
        arguments->action = find_action(text);
        if (arguments->action != ACTION_NONE)
            return 0;
        if (arguments->run)
            refuse_action(arguments->run, state);
        arguments->run = text;
    } else if (arguments->action != ACTION_LIST && !arguments->name) {
        arguments->name = text;
    } else if (arguments->action == ACTION_SET && strchr(text, '=')) {
        if (arguments->setting_count == MOST_SETTINGS)
            argp_error(state, "more than %d settings in one command", MOST_SETTINGS);
        arguments->settings[arguments->setting_count++] = text;
    } else {
        return esi_command_take_run(text, state, &arguments->run);
    }
    return 0;
}

static void check_arguments(const struct scope_arguments *arguments,
                            struct argp_state *state)
{
    bool known =
        strcmp(arguments->format, "text") == 0 ||
        (arguments->action != ACTION_SET && strcmp(arguments->format, "json") == 0) ||
        (arguments->action == ACTION_SHOW && esi_show_has_format(arguments->format));

    if (arguments->action == ACTION_NONE && arguments->run)
        refuse_action(arguments->run, state);
    if (arguments->action == ACTION_NONE)
        argp_error(state, "no action; give list, show or set");
    if (arguments->action != ACTION_LIST && !arguments->name)
        argp_error(state,
                   "no scope; give the NAME of one that 'eventspace scope list' shows");
    if (arguments->action == ACTION_SET && arguments->setting_count == 0 &&
        !arguments->paced)
        argp_error(state, "nothing to set; give SETTING=VALUE, --budget or --rate");
    if (!known)
        argp_error(
            state,
            "--format: '%s' is not a format of this action: list has text and json, "
            "show also dot and svg, set text",
            arguments->format);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct scope_arguments *arguments = state->input;

    switch (key) {
    case 'a':
        arguments->all = true;
        return 0;
    case 'f':
        arguments->format = text;
        return 0;
    case OPTION_SERVER:
        arguments->server = text;
        return 0;
    case OPTION_BUDGET:
        arguments->budget = esi_option_real(text, "--budget", 100, "%", state) / 100;
        arguments->paced = true;
        return 0;
    case OPTION_RATE:
        arguments->rate = esi_option_real(text, "--rate", 1e6, "Hz", state);
        arguments->paced = true;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(arguments, text, state);
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Requests --------------------------------------------------------------------- */

static int fail_request(const struct scope_arguments *arguments,
                        const struct es_error *error,
                        int code)
{
    static const char *const actions[] = {[ACTION_LIST] = "list scopes",
                                          [ACTION_SHOW] = "show scope ",
                                          [ACTION_SET] = "change scope "};
    bool lost = code == -ETIMEDOUT || code == -EPIPE || code == -ECONNREFUSED ||
                code == -ECONNRESET;

    return esi_command_fail_error(lost ? ES_EXIT_LOST : ES_EXIT_USAGE, error, code,
                                  "cannot %s%s", actions[arguments->action],
                                  arguments->name ? arguments->name : "");
}

static const struct esi_rpc_request list_request = {.name = "scopes"};

/* Prints that there is no such scope, and the existing ones, the most similar first. */
static int fail_to_find_scope(const struct scope_arguments *arguments,
                              const struct es_member *scopes)
{
    size_t count = esi_member_count(scopes);
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, arguments->name);
    for (size_t i = 0; i < count; i++)
        esi_nearest_try(&nearest,
                        esi_member_text_or(esi_member_at(scopes, i), "name", ""));
    if (nearest.name)
        return esi_command_fail(ES_EXIT_USAGE,
                                "there is no scope '%s'; did you mean '%s'?",
                                arguments->name, nearest.name);
    return esi_command_fail(
        ES_EXIT_USAGE, "there is no scope '%s'; 'eventspace scope list' shows %s%s",
        arguments->name, count == 1 ? "the only one, " : "those",
        count == 1 ? esi_member_text_or(esi_member_at(scopes, 0), "name", "")
                   : " that there are");
}

static int ask_servers(struct es_servers *servers,
                       const struct scope_arguments *arguments,
                       const struct esi_rpc_request *request,
                       struct es_message **ret_reply)
{
    struct es_error error = {.text = ""};
    struct es_message *list;
    int code = esi_servers_call(servers, NULL, request, LIMIT_NS, &error, ret_reply);

    if (code == -ENOENT && arguments->name &&
        esi_servers_call(servers, NULL, &list_request, LIMIT_NS, NULL, &list) == 0) {
        int status = fail_to_find_scope(
            arguments, esi_member_find(esi_message_root(list), "scopes"));
        esi_message_destroy(list);
        return status;
    }
    return code < 0 ? fail_request(arguments, &error, code) : 0;
}

/* Writes the members of a command to a scope. */
typedef void (*command_fn)(const struct scope_arguments *arguments,
                           struct esi_json_out *out);

struct scope_command {
    const struct scope_arguments *arguments;
    command_fn write;
};

static void write_command(struct esi_json_out *out, void *data)
{
    const struct scope_command *command = data;

    esi_json_out_string(out, "name", command->arguments->name);
    esi_json_out_begin_object(out, "command");
    command->write(command->arguments, out);
    esi_json_out_end(out);
}

/* Sends a command to the scope; the answer is the member "answer" of *ret_reply. */
static int send_command(struct es_servers *servers,
                        const struct scope_arguments *arguments,
                        command_fn write,
                        struct es_message **ret_reply)
{
    struct scope_command asked = {arguments, write};
    const struct esi_rpc_request request = {"scope.command", write_command, &asked};
    int status = ask_servers(servers, arguments, &request, ret_reply);
    const struct es_member *answer;

    if (status != 0)
        return status;
    answer = esi_member_find(esi_message_root(*ret_reply), "answer");
    if (!esi_member_find(answer, "code"))
        return 0;
    status = esi_command_fail(ES_EXIT_USAGE, "scope '%s': %s", arguments->name,
                              esi_member_text_or(answer, "text", "refused"));
    esi_message_destroy(*ret_reply);
    return status;
}

static const struct es_member *answer_of(const struct es_message *reply)
{
    return esi_member_find(esi_message_root(reply), "answer");
}

/* --- list ------------------------------------------------------------------------ */

static void describe_scope(struct esi_row *row, const void *record)
{
    const struct es_member *scope = record;
    int64_t pid = esi_member_integer_or(scope, "pid", 0);
    double rate = esi_member_real_or(scope, "rate", 0);
    char words[ESI_QUANTITY_BYTES];

    esi_row_text(row, "type", NULL, "scope");
    esi_row_long_text(row, "name", "SCOPE", 12, esi_member_text_or(scope, "name", ""));
    esi_row_long_text(esi_row_minor(row, 2), "host", "HOST", 8,
                      esi_member_text_or(scope, "host", ""));
    esi_row_long_text(esi_row_minor(row, 4), "program", "PROGRAM", 8,
                      esi_member_text_or(scope, "program", ""));
    esi_row_signed(esi_row_minor(row, 6), NULL, "PID", pid);
    esi_row_long_text(esi_row_minor(row, 3), "view", "VIEW", 8,
                      esi_member_text_or(scope, "view", ""));
    esi_row_text(esi_row_minor(row, 5), "shape", "SHAPE",
                 esi_member_text_or(scope, "shape", ""));
    esi_row_signed(row, "pid", NULL, pid);
    esi_row_signed(esi_row_minor(row, 7), "pulls", "PULLS",
                   esi_member_integer_or(scope, "pulls", 0));
    esi_row_quantity(row, "PULLS/S", "%s",
                     esi_quantity_number(words, sizeof words, rate));
    esi_row_signed(esi_row_minor(row, 1), "tuples", "TUPLES",
                   esi_member_integer_or(scope, "tuples", 0));
    esi_row_signed(row, "lost", "LOST", esi_member_integer_or(scope, "lost", 0));
    esi_row_signed(row, "failures", NULL, esi_member_integer_or(scope, "failures", 0));
    esi_row_signed(row, "silent_ns", NULL,
                   esi_member_integer_or(scope, "silent_ns", 0));
    esi_row_real(row, "rate", NULL, rate);
}

static int print_scopes(const struct es_member *scopes, const char *format)
{
    bool is_json = strcmp(format, "json") == 0;
    struct esi_rows rows;

    esi_rows_init(&rows, is_json ? ESI_ROWS_JSON : ESI_ROWS_TABLE, stdout,
                  describe_scope);
    int code = esi_rows_begin(&rows, NULL);
    if (code < 0)
        return code;
    for (size_t i = 0; i < esi_member_count(scopes); i++)
        esi_rows_add(&rows, esi_member_at(scopes, i));
    return esi_rows_finish(&rows);
}

static int list_scopes(struct es_servers *servers,
                       const struct scope_arguments *arguments)
{
    struct es_message *reply;
    int status = ask_servers(servers, arguments, &list_request, &reply);

    if (status != 0)
        return status;
    status = print_scopes(esi_member_find(esi_message_root(reply), "scopes"),
                          arguments->format);
    esi_message_destroy(reply);
    return status < 0 ? esi_command_fail_output(status) : ES_EXIT_SUCCESS;
}

/* --- show ------------------------------------------------------------------------ */

/* Prints the default settings, or the others, in one sentence. */
struct settings_print {
    const struct es_member *settings;
    bool wants_default;
    FILE *out;
};

/* Values that cannot be set come from the consumer, not from the user. */
static bool can_be_set(const char *name, const char *value)
{
    struct es_scope_config config;

    es_scope_config_init(&config);
    return es_scope_config_set(&config, name, value, NULL) == 0;
}

static void print_setting(void *data,
                          const char *name,
                          const char *by_default,
                          const char *help)
{
    struct settings_print *print = data;
    const char *value = esi_member_text_or(print->settings, name, by_default);

    (void)help;
    if ((strcmp(value, by_default) == 0 || !can_be_set(name, value)) ==
        print->wants_default)
        fprintf(print->out, " %s=%s", name, value);
}

/* Prints nothing if out of memory. */
static void print_settings_that(const struct es_member *answer, bool are_default)
{
    struct settings_print print = {.settings = esi_member_find(answer, "settings"),
                                   .wants_default = are_default};
    struct es_scope_config defaults;
    char *text = NULL;
    size_t size;

    print.out = open_memstream(&text, &size);
    if (!print.out)
        return;
    es_scope_config_init(&defaults);
    es_scope_config_foreach(&defaults, print_setting, &print);
    if (fclose(print.out) == 0)
        esi_text_prose_print(stdout, "%s:%s", are_default ? "default" : "set",
                             *text || are_default ? text : " as by default");
    free(text);
}

static void print_settings(const struct es_member *answer, bool all)
{
    print_settings_that(answer, false);
    if (all)
        print_settings_that(answer, true);
}

static void print_decisions(const struct es_member *decisions)
{
    for (size_t i = 0; i < esi_member_count(decisions); i++) {
        const struct es_member *decision = esi_member_at(decisions, i);
        const char *host = esi_member_text_or(decision, "host", "");
        char rate[ESI_QUANTITY_BYTES], before[128] = "";

        /* There is no data on hosts before the first sample. */
        if (host[0])
            snprintf(before, sizeof before,
                     "at %s pulls/s, %.2f %% of a core on %.64s: ",
                     esi_quantity_number(rate, sizeof rate,
                                         esi_member_real_or(decision, "rate", 0)),
                     100 * esi_member_real_or(decision, "share", 0), host);
        esi_text_prose_print(stdout, "%s%s: %s", before,
                             esi_member_text_or(decision, "settings", ""),
                             esi_member_text_or(decision, "reason", ""));
    }
}

static int print_tree(const struct es_member *answer,
                      const struct scope_arguments *arguments)
{
    const struct esi_show_options shown = {.all = arguments->all};
    const char *format = arguments->format;
    bool text = strcmp(format, "text") == 0;
    const struct es_member *stages = esi_member_find(answer, "stages");
    int result;

    if (text)
        print_settings(answer, arguments->all);
    result = esi_stage_rows_print(stages, text ? "table" : format, stdout, &shown);
    if (text)
        print_decisions(esi_member_find(answer, "decisions"));
    return result;
}

static void write_show(const struct scope_arguments *arguments,
                       struct esi_json_out *out)
{
    (void)arguments;
    esi_json_out_string(out, "do", "show");
}

static int show_scope(struct es_servers *servers,
                      const struct scope_arguments *arguments)
{
    struct es_message *reply;
    int status = send_command(servers, arguments, write_show, &reply);

    if (status != 0)
        return status;
    status = print_tree(answer_of(reply), arguments);
    esi_message_destroy(reply);
    return status < 0 ? esi_command_fail_output(status) : ES_EXIT_SUCCESS;
}

/* --- set -------------------------------------------------------------------------- */

static void write_set(const struct scope_arguments *arguments, struct esi_json_out *out)
{
    esi_json_out_string(out, "do", "set");
    esi_json_out_begin_object(out, "settings");
    for (size_t i = 0; i < arguments->setting_count; i++) {
        char *value = strchr(arguments->settings[i], '=');

        *value = '\0';
        esi_json_out_string(out, arguments->settings[i], value + 1);
        *value = '=';
    }
    esi_json_out_end(out);
}

/* Enables the rate controller for the scope. */
static void write_rate(const struct scope_arguments *arguments,
                       struct esi_json_out *out)
{
    esi_json_out_string(out, "do", "rate");
    esi_json_out_real(out, "budget", arguments->budget);
    esi_json_out_real(out, "rate", arguments->rate);
}

/* The settings before a change, and the number of changed ones printed. */
struct scope_change {
    const struct es_member *before;
    size_t count;
};

static int print_change(void *data, const char *name, const struct es_member *value)
{
    struct scope_change *change = data;
    const char *now = esi_member_as_text(value);
    const char *before = esi_member_text_or(change->before, name, "none");

    if (now && strcmp(now, before) != 0) {
        esi_plain_print(stdout, "%s: %s -> %s\n", name, before, now);
        change->count++;
    }
    return 0;
}

static void print_pace(const struct scope_arguments *arguments)
{
    if (arguments->budget > 0)
        printf("budget: %.4g %% of a core\n", 100 * arguments->budget);
    if (arguments->rate > 0)
        printf("rate: %.4g pulls/s\n", arguments->rate);
    if (arguments->budget <= 0 && arguments->rate <= 0)
        puts("the rate controller no longer controls it");
}

static void print_changes(const struct scope_arguments *arguments,
                          const struct es_message *before,
                          const struct es_message *after)
{
    struct scope_change change = {.before =
                                      esi_member_find(answer_of(before), "settings")};

    if (arguments->paced)
        print_pace(arguments);
    esi_member_foreach(esi_member_find(answer_of(after), "settings"), print_change,
                       &change);
    if (change.count == 0 && !arguments->paced)
        puts("nothing changed: these settings were already in force");
}

/* Enables the rate controller first; *ret_reply is the last answer. */
static int change_scope(struct es_servers *servers,
                        const struct scope_arguments *arguments,
                        struct es_message **ret_reply)
{
    bool sets = arguments->setting_count > 0;
    int status = arguments->paced
                     ? send_command(servers, arguments, write_rate, ret_reply)
                     : ES_EXIT_SUCCESS;

    if (status != 0 || !sets)
        return status;
    if (arguments->paced)
        esi_message_destroy(*ret_reply);
    return send_command(servers, arguments, write_set, ret_reply);
}

static int set_scope(struct es_servers *servers,
                     const struct scope_arguments *arguments)
{
    struct es_message *before, *after;
    int status = send_command(servers, arguments, write_show, &before);

    if (status != 0)
        return status;
    status = change_scope(servers, arguments, &after);
    if (status == 0) {
        print_changes(arguments, before, after);
        esi_message_destroy(after);
    }
    esi_message_destroy(before);
    return status;
}

static bool is_run(const char *name)
{
    struct es_run *run;
    bool is_there = name && es_run_open(name, NULL, &run) == 0;

    if (is_there)
        es_run_close(run);
    return is_there;
}

/* Handles "show RUN NAME" if only the first word is a run. */
static void order_words(struct scope_arguments *arguments)
{
    const char *first = arguments->name;

    if (!first || !arguments->run || is_run(arguments->run) || !is_run(first))
        return;
    arguments->name = arguments->run;
    arguments->run = first;
}

int esi_cmd_scope(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_wide_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {options,
                                       parse_option,
                                       "list [RUN]\nshow NAME [RUN]\n"
                                       "set NAME SETTING=VALUE... [RUN]",
                                       doc,
                                       children,
                                       NULL,
                                       NULL};
    struct scope_arguments arguments = {.format = "text"};
    struct es_servers *servers;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    order_words(&arguments);
    status = esi_consumer_open_servers(arguments.run, arguments.server, &servers);
    if (status != 0)
        return status;
    if (arguments.action == ACTION_LIST)
        status = list_scopes(servers, &arguments);
    else if (arguments.action == ACTION_SHOW)
        status = show_scope(servers, &arguments);
    else
        status = set_scope(servers, &arguments);
    es_servers_close(servers);
    return status;
}
