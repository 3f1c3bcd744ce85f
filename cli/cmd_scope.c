/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace scope - lists, shows and changes the live scopes of a run. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/table.h"
#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/show.h"

/* More than a scope's consumer is given. */
#define LIMIT_NS UINT64_C(20000000000)

enum { MOST_SETTINGS = 64 };
enum action { ACTION_NONE, ACTION_LIST, ACTION_SHOW, ACTION_SET };

struct scope_arguments {
    enum action action;
    const char *run;
    const char *name; /* the scope's */
    const char *server;
    const char *format;
    char *settings[MOST_SETTINGS]; /* NAME=VALUE */
    size_t setting_count;
    bool paced; /* the rate controller is to have it, or no longer */
    double budget;
    double rate;
};

enum { OPTION_SERVER = 256, OPTION_BUDGET, OPTION_RATE };

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0,
     "text, or json (JSON Lines); of a tree also dot (for graphviz) or svg", 0},
    {"server", OPTION_SERVER, "ADDRESS", 0,
     "the run's home server, as tls:HOST:PORT, if this is none of the run's hosts", 0},
    {"budget", OPTION_BUDGET, "PERCENT", 0,
     "set: pull as often as this share of a core on the busiest host allows; 0 = no "
     "longer",
     0},
    {"rate", OPTION_RATE, "HZ", 0,
     "set: find the cheapest tree that pulls so often a second; 0 = no longer", 0},
    {0},
};

static const char doc[] =
    "Lists the live scopes of RUN, shows the gather tree of the scope NAME with what "
    "each stage has cost, or changes that tree while its consumer goes on reading: no "
    "event is lost or seen twice."
    "\vSettings are shape, levels, fan-out, mode, threads, ahead, joints, reduce, "
    "batch, batch-wait, limit, nodes, node-threads, through-server, observe, sort, "
    "window, max and lossless; see eventspace-scope(1).\n\n"
    "Exit status: 0 success, 2 usage, no such scope, or a setting that cannot be, 3 "
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

static error_t take_argument(struct scope_arguments *arguments,
                             char *text,
                             struct argp_state *state)
{
    if (arguments->action == ACTION_NONE) {
        arguments->action = find_action(text);
        if (arguments->action == ACTION_NONE)
            argp_error(state, "'%s' is none of list, show, set", text);
    } else if (arguments->action != ACTION_LIST && !arguments->name) {
        arguments->name = text;
    } else if (arguments->action == ACTION_SET && strchr(text, '=')) {
        if (arguments->setting_count == MOST_SETTINGS)
            argp_error(state, "more than %d settings", MOST_SETTINGS);
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

    if (arguments->action == ACTION_NONE)
        argp_error(state, "what to do is missing: list, show or set");
    if (arguments->action != ACTION_LIST && !arguments->name)
        argp_error(state, "the scope's name is missing; see `eventspace scope list`");
    if (arguments->action == ACTION_SET && arguments->setting_count == 0 &&
        !arguments->paced)
        argp_error(state, "nothing to set: give NAME=VALUE");
    if (!known)
        argp_error(state, "--format: '%s' is no format of this action",
                   arguments->format);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct scope_arguments *arguments = state->input;

    switch (key) {
    case 'f':
        arguments->format = text;
        return 0;
    case OPTION_SERVER:
        arguments->server = text;
        return 0;
    case OPTION_BUDGET:
        arguments->budget = esi_option_real(text, "--budget", 0, 100, "%", state) / 100;
        arguments->paced = true;
        return 0;
    case OPTION_RATE:
        arguments->rate = esi_option_real(text, "--rate", 0, 1e6, "Hz", state);
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

/* --- Asking ---------------------------------------------------------------------- */

static int fail_request(const struct es_error *error, int code)
{
    bool lost = code == -ETIMEDOUT || code == -EPIPE || code == -ECONNREFUSED ||
                code == -ECONNRESET;

    return esi_command_fail_error(lost ? ES_EXIT_LOST : ES_EXIT_USAGE, error, code,
                                  "the request failed");
}

static int ask_servers(struct es_servers *servers,
                       const struct esi_rpc_request *request,
                       struct es_message **ret_reply)
{
    struct es_error error = {.text = ""};
    int code = esi_servers_call(servers, NULL, request, LIMIT_NS, &error, ret_reply);

    return code < 0 ? fail_request(&error, code) : 0;
}

/* What a scope is to do: writes the members of the command. */
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

/* Has the scope do something; its answer is the member "answer" of *ret_reply. */
static int send_command(struct es_servers *servers,
                        const struct scope_arguments *arguments,
                        command_fn write,
                        struct es_message **ret_reply)
{
    struct scope_command asked = {arguments, write};
    const struct esi_rpc_request request = {"scope.command", write_command, &asked};
    int status = ask_servers(servers, &request, ret_reply);
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

static void print_scope_json(struct esi_json_out *out, const struct es_member *scope)
{
    static const char *const texts[] = {"name", "host", "program", "view", "shape"};
    static const char *const numbers[] = {"pid",  "pulls",    "tuples",
                                          "lost", "failures", "silent_ns"};

    esi_json_out_begin_object(out, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        esi_json_out_string(out, texts[i], esi_member_text_or(scope, texts[i], ""));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        esi_json_out_signed(out, numbers[i],
                            esi_member_integer_or(scope, numbers[i], 0));
    esi_json_out_real(out, "rate", esi_member_real_or(scope, "rate", 0));
    esi_json_out_end(out);
}

static void add_scope_row(struct es_table *table, const struct es_member *scope)
{
    esi_text_table_cell(table, "%s", esi_member_text_or(scope, "name", ""));
    esi_text_table_cell(table, "%s", esi_member_text_or(scope, "host", ""));
    esi_text_table_cell(table, "%s", esi_member_text_or(scope, "program", ""));
    esi_text_table_cell(table, "%" PRId64, esi_member_integer_or(scope, "pid", 0));
    esi_text_table_cell(table, "%s", esi_member_text_or(scope, "view", ""));
    esi_text_table_cell(table, "%s", esi_member_text_or(scope, "shape", ""));
    esi_text_table_cell(table, "%" PRId64, esi_member_integer_or(scope, "pulls", 0));
    esi_text_table_cell(table, "%.1f", esi_member_real_or(scope, "rate", 0));
    esi_text_table_cell(table, "%" PRId64, esi_member_integer_or(scope, "tuples", 0));
    esi_text_table_cell(table, "%" PRId64, esi_member_integer_or(scope, "lost", 0));
}

static int print_scopes(const struct es_member *scopes, const char *format)
{
    static const struct esi_text_table_column columns[] = {
        {"SCOPE", ES_TABLE_LEFT, 0},   {"HOST", ES_TABLE_LEFT, 0},
        {"PROGRAM", ES_TABLE_LEFT, 8}, {"PID", ES_TABLE_RIGHT, 0},
        {"VIEW", ES_TABLE_LEFT, 8},    {"SHAPE", ES_TABLE_LEFT, 0},
        {"PULLS", ES_TABLE_RIGHT, 0},  {"PULLS/S", ES_TABLE_RIGHT, 0},
        {"TUPLES", ES_TABLE_RIGHT, 0}, {"LOST", ES_TABLE_RIGHT, 0}};
    struct es_table *table;
    struct esi_json_out out;
    int result;

    esi_json_out_init(&out, stdout);
    if (esi_text_table_create(columns, sizeof columns / sizeof *columns, &table) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < esi_member_count(scopes); i++) {
        if (strcmp(format, "json") == 0)
            print_scope_json(&out, esi_member_at(scopes, i));
        else
            add_scope_row(table, esi_member_at(scopes, i));
    }
    result = strcmp(format, "json") == 0
                 ? 0
                 : esi_text_table_print(table, stdout, esi_text_table_width(stdout));
    esi_text_table_destroy(table);
    return result;
}

static int list_scopes(struct es_servers *servers,
                       const struct scope_arguments *arguments)
{
    const struct esi_rpc_request request = {.name = "scopes"};
    struct es_message *reply;
    int status = ask_servers(servers, &request, &reply);

    if (status != 0)
        return status;
    status = print_scopes(esi_member_find(esi_message_root(reply), "scopes"),
                          arguments->format);
    esi_message_destroy(reply);
    return status < 0
               ? esi_command_fail_error(ES_EXIT_USAGE, NULL, status, "cannot print")
               : ES_EXIT_SUCCESS;
}

/* --- show ------------------------------------------------------------------------ */

static int print_setting(void *data, const char *name, const struct es_member *value)
{
    esi_plain_print(stdout, "%s%s=%s", *(const char **)data, name,
                    esi_member_as_text(value));
    *(const char **)data = " ";
    return 0;
}

static void print_settings(const struct es_member *answer)
{
    const char *between = "";

    esi_member_foreach(esi_member_find(answer, "settings"), print_setting, &between);
    fputs("\n", stdout);
}

/* What the rate controller chose, and why. */
static void print_decisions(const struct es_member *decisions)
{
    for (size_t i = 0; i < esi_member_count(decisions); i++) {
        const struct es_member *decision = esi_member_at(decisions, i);
        const char *host = esi_member_text_or(decision, "host", "");

        /* Before the first sample nothing is known of the hosts. */
        if (host[0])
            esi_plain_print(stdout, "at %.1f pulls/s, %.2f %% of a core on %s: ",
                            esi_member_real_or(decision, "rate", 0),
                            100 * esi_member_real_or(decision, "share", 0), host);
        esi_plain_print(stdout, "%s: %s\n",
                        esi_member_text_or(decision, "settings", ""),
                        esi_member_text_or(decision, "reason", ""));
    }
}

static int print_tree(const struct es_member *answer, const char *format)
{
    bool text = strcmp(format, "text") == 0;
    const struct es_member *stages = esi_member_find(answer, "stages");
    struct esi_show_options shown = {.width = esi_text_table_width(stdout)};
    size_t count = esi_member_count(stages);
    struct esi_stage_row *rows = calloc(count + 1, sizeof *rows);
    int result;

    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        esi_stage_row_read(esi_member_at(stages, i), 0, NULL, &rows[i]);
    if (text)
        print_settings(answer);
    result = esi_show_print(text ? "table" : format, stdout, rows, count, &shown);
    if (text)
        print_decisions(esi_member_find(answer, "decisions"));
    free(rows);
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
    status = print_tree(answer_of(reply), arguments->format);
    esi_message_destroy(reply);
    return status < 0
               ? esi_command_fail_error(ES_EXIT_USAGE, NULL, status, "cannot print")
               : ES_EXIT_SUCCESS;
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

/* Hands the scope to the rate controller. */
static void write_rate(const struct scope_arguments *arguments,
                       struct esi_json_out *out)
{
    esi_json_out_string(out, "do", "rate");
    esi_json_out_real(out, "budget", arguments->budget);
    esi_json_out_real(out, "rate", arguments->rate);
}

static int change_scope(struct es_servers *servers,
                        const struct scope_arguments *arguments,
                        command_fn write,
                        bool shows)
{
    struct es_message *reply;
    int status = send_command(servers, arguments, write, &reply);

    if (status != 0)
        return status;
    if (shows)
        print_settings(answer_of(reply));
    esi_message_destroy(reply);
    return ES_EXIT_SUCCESS;
}

static int set_scope(struct es_servers *servers,
                     const struct scope_arguments *arguments)
{
    bool sets = arguments->setting_count > 0;
    int status =
        arguments->paced ? change_scope(servers, arguments, write_rate, !sets) : 0;

    return status == 0 && sets ? change_scope(servers, arguments, write_set, true)
                               : status;
}

int esi_cmd_scope(int argc, char **argv)
{
    static const struct argp parser = {options,
                                       parse_option,
                                       "list [RUN]\nshow NAME [RUN]\n"
                                       "set NAME SETTING=VALUE... [RUN]",
                                       doc,
                                       NULL,
                                       NULL,
                                       NULL};
    struct scope_arguments arguments = {.format = "text"};
    struct es_servers *servers;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
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
