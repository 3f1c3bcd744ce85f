/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The common parts of the subcommands of `eventspace`: the table of commands, error
 * messages, and shared options.
 *
 * A subcommand is a file cli/cmd_NAME.c with one function, declared in commands.h and
 * listed in main.c.  It parses with argp(3) and calls the layers below:
 *
 *     static const struct argp_child children[] = {
 *         {&esi_format_argp, 0, NULL, 0}, {0}};
 *     static const struct argp parser = {
 *         options, parse_option, "[RUN]", doc, children, NULL, NULL};
 *     ...
 *     esi_command_parse(&parser, argc, argv, 0, &arguments);
 *
 * with `case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->format;` for the
 * child.  argv[0] is the name shown in messages, "eventspace NAME".
 */
#ifndef ES_CLI_COMMAND_H
#define ES_CLI_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/rows.h"
#include "eventspace/error.h"
#include "eventspace/run.h"

/* Exit status of every subcommand (except `run` and `exec`, which return that of the
 * program). */
enum esi_exit {
    ES_EXIT_SUCCESS = 0,
    ES_EXIT_FINDING = 1,  /* a negative finding: stalled, no match, not healthy */
    ES_EXIT_USAGE = 2,    /* usage or input error, or an error of the system */
    ES_EXIT_LOST = 3,     /* lost contact with the observed run */
    ES_EXIT_POSSIBLE = 4, /* `why`: possible findings, but no certain one */
};

struct es_servers;
struct esi_ending;

/* One row of the table of subcommands. */
struct esi_command {
    const char *group; /* heading of the group that starts here, or NULL */
    const char *name;
    const char *summary; /* half a line for `eventspace --help`; NULL: hidden */
    int (*run)(int argc, char **argv);
};

/* Sets the name of the running subcommand for messages.  Called once by main(). */
void esi_command_set_name(const char *name);

/* Prints "eventspace SUBCOMMAND: MESSAGE" on standard error.  The form of messages is
 * "what, where: why; what to do". Returns `status`. */
int esi_command_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Likewise, followed by the text of the es_error as the reason, or strerror(-code) if
 * it is empty: "eventspace SUBCOMMAND: WHAT: REASON". `error` may be NULL. Returns
 * `status`. */
int esi_command_fail_error(int status,
                           const struct es_error *error,
                           int code,
                           const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Three common messages.  If the code of an output is not an error, its stream has
 * failed.  Each returns the exit status. */
int esi_command_fail_output(int code);
int esi_command_fail_observe(const char *run, const struct es_error *error, int code);
int esi_command_fail_lost(const char *run, int code);

/* Prints a line on standard error with the same prefix that is not an error: a note. */
void esi_command_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a suggestion for the next step, "next: TEXT", on standard error.  Only if both
 * outputs are terminals, and not after --quiet. */
void esi_command_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void esi_command_set_quiet(void);
bool esi_command_is_quiet(void);

/* Describes the problem that `count` processes of a run are singletons, and what to do.
 * Returns `out`. */
const char *esi_command_describe_alone(size_t count, char *out, size_t size);

/* Prints this for a run whose processes on this host are singletons. */
void esi_command_print_alone(const char *run);

/* Describes that the world has more ranks than are seen here.  Returns `out`. */
const char *esi_command_describe_absent(const struct esi_ending *ending,
                                        char *out,
                                        size_t size);

/* Prints this for a run whose ranks are all on this host, as far as its servers (NULL =
 * none) know. */
void esi_command_print_absent(const char *run, struct es_servers *servers);

/* Calls argp_parse(); ends the process with ES_EXIT_USAGE on a usage error, and with 0
 * after --help, --usage and --version.  Adds these options and --quiet.  For an unknown
 * option, suggests a similar one.  `flags` are those of argp (ARGP_IN_ORDER for
 * commands that take a program). */
void esi_command_parse(const struct argp *parser,
                       int argc,
                       char **argv,
                       unsigned flags,
                       void *input);

/* For completion: makes esi_command_parse() call `on_parse` with the options of the
 * command instead of parsing, and end the process. */
void esi_command_on_parse(void (*on_parse)(const struct argp *parser, unsigned flags));

/* The option at the end of `word` ("--name" or "-abc"), if the next word of the command
 * line is its value; otherwise NULL. */
const struct argp_option *esi_command_open_option(const struct argp *parser,
                                                  const char *word);

/* For subcommands with the single argument [RUN]: stores it, rejects a second one.  Use
 * as `case ARGP_KEY_ARG: return esi_command_take_run(text, state, &arguments->run);` */
error_t esi_command_take_run(char *text,
                             struct argp_state *state,
                             const char **ret_run);

/* Parses the value of --format: text, json or csv. */
enum esi_rows_format esi_command_rows_format(const char *text,
                                             struct argp_state *state);

/* Opens RUN; NULL means the only live run.  Returns 0, or the exit status after a
 * message. */
int esi_command_open_run(const char *run, struct es_run **ret_run);

/* Prints that there is no such run on this host, and the existing ones, the most
 * similar first.  Returns the exit status. */
int esi_command_fail_to_find(const char *run);
/* Likewise, if the argument could also be a file or an archive. */
int esi_command_fail_to_find_set(const char *path);

/* --format text|json, for use as a child parser; its input is an enum esi_format *. */
enum esi_format {
    ES_FORMAT_TEXT = 0,
    ES_FORMAT_JSON, /* JSON Lines */
};
extern const struct argp esi_format_argp;
enum esi_rows_format esi_format_rows(enum esi_format format);

/* --wide, for commands that print tables, for use as a child parser; it has no
 * input. */
extern const struct argp esi_wide_argp;

/* Prints which columns were omitted, if standard error is a terminal. */
void esi_command_tell_left_out(void);

/* Whether `stream` is a terminal that supports colours and redrawing. */
bool esi_command_is_terminal(FILE *stream);

#endif
