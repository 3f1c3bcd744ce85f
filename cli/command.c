/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the subcommands share: messages, common options, opening a run. */
#include "config.h"

#include "cli/command.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"

static const char *command_name = "";

void esi_command_set_name(const char *name)
{
    command_name = name;
}

__attribute__((format(printf, 1, 0))) static void print_message(const char *format,
                                                                va_list arguments)
{
    /* What was printed before belongs before the message, also where both go to one
     * file. */
    fflush(stdout);
    fprintf(stderr, "eventspace%s%s: ", *command_name ? " " : "", command_name);
    esi_plain_vprint(stderr, format, arguments);
}

/* The lines below the first, of errors in patterns, are indented; others are none. */
static void print_reason(char *reason)
{
    static const char indented[] = "\n    ";

    fputs(": ", stderr);
    for (char *next; (next = strstr(reason, indented)); reason = next) {
        *next = '\0';
        esi_plain_write(stderr, reason);
        fputs(indented, stderr);
        next += strlen(indented);
    }
    esi_plain_print(stderr, "%s\n", reason);
}

int esi_command_fail(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

int esi_command_fail_error(int status,
                           const struct es_error *error,
                           int code,
                           const char *format,
                           ...)
{
    char reason[1024];
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    if (error && error->text[0]) {
        es_error_format(error, reason, sizeof reason);
        print_reason(reason);
    } else {
        fprintf(stderr, ": %s\n", strerror(-code));
    }
    return status;
}

void esi_command_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void esi_command_parse(const struct argp *parser,
                       int argc,
                       char **argv,
                       unsigned flags,
                       void *input)
{
    error_t failure = argp_parse(parser, argc, argv, flags, NULL, input);

    if (failure)
        exit(esi_command_fail(ES_EXIT_USAGE, "options: %s", strerror(failure)));
}

error_t esi_command_take_run(char *text, struct argp_state *state, const char **ret_run)
{
    if (*ret_run)
        argp_error(state, "one RUN at a time: '%s' is one too many", text);
    *ret_run = text;
    return 0;
}

int esi_command_open_run(const char *run, struct es_run **ret_run)
{
    struct es_error error = {.text = ""};
    int code = es_run_open(run, &error, ret_run);

    if (code >= 0)
        return 0;
    if (code == -ENOENT && !run)
        return esi_command_fail(ES_EXIT_USAGE,
                                "no run on this host; start one with `eventspace run`, "
                                "or see `eventspace list --everywhere`");
    if (code == -ENOENT)
        return esi_command_fail(ES_EXIT_USAGE,
                                "run '%s': not found on this host; `eventspace list` "
                                "shows what there is",
                                run);
    return esi_command_fail_error(ES_EXIT_USAGE, &error, code, "cannot open the run");
}

static error_t parse_format(int key, char *text, struct argp_state *state)
{
    enum esi_format *format = state->input;

    if (key != 'f')
        return ARGP_ERR_UNKNOWN;
    if (strcmp(text, "text") == 0)
        *format = ES_FORMAT_TEXT;
    else if (strcmp(text, "json") == 0)
        *format = ES_FORMAT_JSON;
    else
        argp_error(state, "--format: '%s' is neither 'text' nor 'json'", text);
    return 0;
}

static const struct argp_option format_options[] = {
    {"format", 'f', "FORMAT", 0, "text (for people) or json (JSON Lines)", 0},
    {0},
};

const struct argp esi_format_argp = {format_options, parse_format, NULL, NULL,
                                     NULL,           NULL,         NULL};

bool esi_command_is_terminal(FILE *stream)
{
    const char *kind = getenv("TERM");

    return isatty(fileno(stream)) && kind && strcmp(kind, "dumb") != 0;
}
