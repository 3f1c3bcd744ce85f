/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the subcommands of `eventspace` share: the table's row, error messages, the
 * options that several of them have.
 *
 * A subcommand is one file cli/cmd_NAME.c with one function, declared in commands.h and
 * listed in main.c.  It parses with argp(3) and calls the layers:
 *
 *     static const struct argp_child children[] = {
 *         {&esi_format_argp, 0, NULL, 0}, {0}};
 *     static const struct argp parser = {
 *         options, parse_option, "[RUN]", doc, children, NULL, NULL};
 *     ...
 *     esi_command_parse(&parser, argc, argv, 0, &arguments);
 *
 * with `case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->format;` for the
 * child. argv[0] is the name to show in messages, "eventspace NAME".
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

/* Exit status of every subcommand (but `run` and `exec`, which end as the program
 * does). */
enum esi_exit {
    ES_EXIT_SUCCESS = 0,
    ES_EXIT_FINDING = 1,  /* a negative finding: stalled, no match, not healthy */
    ES_EXIT_USAGE = 2,    /* usage or input error, or the system refused */
    ES_EXIT_LOST = 3,     /* lost contact with what was observed */
    ES_EXIT_POSSIBLE = 4, /* `why`: findings that are possible, none is certain */
};

/* One row of the table of subcommands. */
struct esi_command {
    const char *group; /* heading of the group that it opens, or NULL */
    const char *name;
    const char *summary; /* half a line for `eventspace --help`; NULL: not told */
    int (*run)(int argc, char **argv);
};

/* The subcommand that is running, for messages.  Set once by main(). */
void esi_command_set_name(const char *name);

/* Prints "eventspace SUBCOMMAND: MESSAGE" on standard error.  Word messages as
 * "what, where: why; what to do".  Returns `status`. */
int esi_command_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, with what an es_error says, or strerror(-code) where it is empty, as the
 * reason: "eventspace SUBCOMMAND: WHAT: REASON".  `error` may be NULL.  Returns
 * `status`. */
int esi_command_fail_error(int status,
                           const struct es_error *error,
                           int code,
                           const char *format,
                           ...) __attribute__((format(printf, 4, 5)));

/* Three of them, of many commands.  Where the code of an output is no error its stream
 * is what failed.  Each returns the status. */
int esi_command_fail_output(int code);
int esi_command_fail_observe(const char *run, const struct es_error *error, int code);
int esi_command_fail_lost(const char *run, int code);

/* Prints a line on standard error with the same beginning that is no failure: a hint.
 */
void esi_command_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* After an answer, the next question: prints "next: TEXT" on standard error.  Only
 * where a person reads both outputs on a terminal, and not after --quiet. */
void esi_command_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void esi_command_set_quiet(void);

/* Says that nothing was recorded, as no process of `program` called MPI. */
void esi_command_note_unrecorded(const char *program);

/* What is wrong with `count` processes of a run that are each alone, and what to do.
 * Returns `out`. */
const char *esi_command_describe_alone(size_t count, char *out, size_t size);

/* Prints that of the run, where its processes on this host are alone. */
void esi_command_print_alone(const char *run);

/* argp_parse() that ends the process with ES_EXIT_USAGE on a usage error, and with 0
 * after --help, --usage and --version, which it adds, as it does --quiet.  An unknown
 * option is answered with the one that may have been meant.  `flags` are argp's
 * (ARGP_IN_ORDER for commands that take a program). */
void esi_command_parse(const struct argp *parser,
                       int argc,
                       char **argv,
                       unsigned flags,
                       void *input);

/* For completion: from now on esi_command_parse() calls `on_parse` with the options of
 * the command instead of parsing, and ends the process. */
void esi_command_on_parse(void (*on_parse)(const struct argp *parser, unsigned flags));

/* The option that `word`, "--name" or "-abc", ends with, if the next word of the
 * command line is its value; else NULL. */
const struct argp_option *esi_command_open_option(const struct argp *parser,
                                                  const char *word);

/* For a subcommand whose one argument is [RUN]: stores it, refuses a second one.  Use
 * as `case ARGP_KEY_ARG: return esi_command_take_run(text, state, &arguments->run);` */
error_t esi_command_take_run(char *text,
                             struct argp_state *state,
                             const char **ret_run);

/* The value of a --format that is text, json or csv. */
enum esi_rows_format esi_command_rows_format(const char *text,
                                             struct argp_state *state);

/* Opens RUN; NULL means the only live run.  0, or the exit status after the message. */
int esi_command_open_run(const char *run, struct es_run **ret_run);

/* Says that there is no such run on this host, and which there are, the one that may
 * have been meant first.  Returns the exit status. */
int esi_command_fail_to_find(const char *run);
/* The same of what could be a file or an archive as well. */
int esi_command_fail_to_find_set(const char *path);

/* --format text|json, to be included as a child parser; its input is an
 * enum esi_format *. */
enum esi_format {
    ES_FORMAT_TEXT = 0,
    ES_FORMAT_JSON, /* JSON Lines */
};
extern const struct argp esi_format_argp;
enum esi_rows_format esi_format_rows(enum esi_format format);

/* --wide, for commands that print tables, to be included as a child parser; it has no
 * input. */
extern const struct argp esi_wide_argp;

/* Says on standard error, where that is a terminal, which columns were left out. */
void esi_command_tell_left_out(void);

/* Colours and redrawing are for terminals: whether `stream` is one that can. */
bool esi_command_is_terminal(FILE *stream);

#endif
