/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The common parts of the subcommands: messages, shared options, opening a run. */
#include "config.h"

#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/options.h"
#include "base/plain.h"
#include "base/table.h"
#include "eventspace/servers.h"
#include "scopes/server/process_watch.h"
#include "tuplespace/run_directory.h"

enum { OPTION_WIDE = 256 };

static const char *command_name = "";
static bool is_quiet;

void esi_command_set_name(const char *name)
{
    command_name = name;
}

__attribute__((format(printf, 1, 0))) static void print_message(const char *format,
                                                                va_list arguments)
{
    /* Earlier output must precede the message, even if both go to the same file. */
    fflush(stdout);
    fprintf(stderr, "eventspace%s%s: ", *command_name ? " " : "", command_name);
    esi_plain_vprint(stderr, format, arguments);
}

/* For errors in patterns, the lines after the first are indented; other reasons have
 * one line. */
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

int esi_command_fail_output(int code)
{
    return esi_command_fail_error(ES_EXIT_USAGE, NULL, code < 0 ? code : -EIO,
                                  "cannot write the output");
}

int esi_command_fail_observe(const char *run, const struct es_error *error, int code)
{
    return esi_command_fail_error(ES_EXIT_USAGE, error, code, "cannot observe run '%s'",
                                  run);
}

int esi_command_fail_lost(const char *run, int code)
{
    return esi_command_fail_error(ES_EXIT_LOST, NULL, code,
                                  "run '%s' can no longer be read", run);
}

void esi_command_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

const char *esi_command_describe_alone(size_t count, char *out, size_t size)
{
    snprintf(
        out, size,
        "%zu processes, and each believes that it is alone (rank 0 of 1): launcher "
        "and MPI do not speak the same PMI; start them by srun --mpi=pmi2 (MPICH), "
        "srun --mpi=pmix (Open MPI) or the mpiexec of their MPI",
        count);
    return out;
}

const char *esi_command_describe_absent(const struct esi_ending *ending,
                                        char *out,
                                        size_t size)
{
    size_t others = ending->absent - 1;
    int used =
        snprintf(out, size, "only %zu of %zu ranks are seen here: rank %d",
                 ending->size - ending->absent, ending->size, ending->first_absent);

    if (others > 0)
        used += snprintf(out + used, size - (size_t)used, " and %zu other%s", others,
                         others > 1 ? "s" : "");
    snprintf(out + used, size - (size_t)used,
             " %s not called MPI under EventSpace ('eventspace doctor PROGRAM' says "
             "why)",
             others > 0 ? "have" : "has");
    return out;
}

void esi_command_print_alone(const char *run)
{
    struct esi_ending ending;
    char text[400];

    if (esi_ending_scan(run, &ending) && ending.alone > 0)
        esi_text_prose_print(
            stdout, "run %s: %s", run,
            esi_command_describe_alone(ending.alone, text, sizeof text));
}

void esi_command_print_absent(const char *run, struct es_servers *servers)
{
    struct esi_ending ending;
    char text[400];

    if ((!servers || es_servers_count(servers) < 2) && esi_ending_scan(run, &ending) &&
        ending.absent > 0)
        esi_text_prose_print(stdout, "run %s: %s", run,
                             esi_command_describe_absent(&ending, text, sizeof text));
}

void esi_command_set_quiet(void)
{
    is_quiet = true;
}

bool esi_command_is_quiet(void)
{
    return is_quiet;
}

void esi_command_hint(const char *format, ...)
{
    va_list arguments;
    char *text;

    if (is_quiet || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO))
        return;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    fflush(stdout);
    esi_text_prose_print(stderr, "next: %s", text);
    free(text);
}

error_t esi_command_take_run(char *text, struct argp_state *state, const char **ret_run)
{
    if (*ret_run)
        argp_error(state, "unexpected argument '%s': give one RUN", text);
    *ret_run = text;
    return 0;
}

enum esi_rows_format esi_command_rows_format(const char *text, struct argp_state *state)
{
    static const char *const words[] = {
        [ESI_ROWS_TABLE] = "text",
        [ESI_ROWS_JSON] = "json",
        [ESI_ROWS_CSV] = "csv",
        NULL,
    };

    return (enum esi_rows_format)esi_option_word(text, "--format", words, state);
}

/* The names of this host's runs, newest first, limited in number: "a, b, ...". */
static void list_runs(const struct es_run_info *runs, int count, FILE *out)
{
    enum { SHOWN = 5 };

    for (int i = 0; i < count && i < SHOWN; i++)
        fprintf(out, "%s'%s'", i ? ", " : "", runs[i].run);
    if (count > SHOWN)
        fprintf(out, " and %d more", count - SHOWN);
}

/* `what` is not on this host; `none` is the text if there are no runs. */
static int fail_to_find(const char *name, const char *what, const char *none)
{
    struct es_run_info *runs = NULL;
    struct esi_nearest nearest;
    char *names = NULL;
    size_t size;
    int count = es_run_list(&runs), status;
    FILE *out = open_memstream(&names, &size);

    esi_nearest_init(&nearest, name);
    for (int i = 0; i < count; i++)
        esi_nearest_try(&nearest, runs[i].run);
    if (out && count > 0)
        list_runs(runs, count, out);
    if (out)
        fclose(out);
    if (nearest.name)
        status = esi_command_fail(
            ES_EXIT_USAGE, "%s on this host; did you mean '%s'? See 'eventspace list'",
            what, nearest.name);
    else if (names && *names)
        status = esi_command_fail(ES_EXIT_USAGE,
                                  "%s on this host, which has %s; see 'eventspace "
                                  "list'",
                                  what, names);
    else
        status = esi_command_fail(ES_EXIT_USAGE,
                                  "%s on this host, which has %s; see 'eventspace "
                                  "list --everywhere'",
                                  what, none);
    free(names);
    free(runs);
    return status;
}

int esi_command_fail_to_find(const char *run)
{
    int folder = esi_run_directory_open(run, NULL);
    char what[256];

    if (folder >= 0) {
        close(folder);
        return esi_command_fail(ES_EXIT_USAGE,
                                "run '%s': it has a run directory, but no process of "
                                "it has called MPI on this host, and no tuple server "
                                "answers; 'eventspace clean %s' removes it",
                                run, run);
    }
    snprintf(what, sizeof what, "run '%.200s': not found", run);
    return fail_to_find(run, what, "none");
}

int esi_command_fail_to_find_set(const char *path)
{
    char what[256];

    snprintf(what, sizeof what, "%.200s: no such file, archive or run", path);
    return fail_to_find(path, what, "no run");
}

int esi_command_open_run(const char *run, struct es_run **ret_run)
{
    struct es_error error = {.text = ""};
    int code = es_run_open(run, &error, ret_run);

    if (code >= 0)
        return 0;
    if (code == -ENOENT && !run)
        return esi_command_fail(ES_EXIT_USAGE,
                                "no run on this host; start one with 'eventspace run', "
                                "or see 'eventspace list --everywhere'");
    if (code == -ENOENT)
        return esi_command_fail_to_find(run);
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

enum esi_rows_format esi_format_rows(enum esi_format format)
{
    return format == ES_FORMAT_JSON ? ESI_ROWS_JSON : ESI_ROWS_TABLE;
}

static error_t parse_wide(int key, char *text, struct argp_state *state)
{
    (void)text;
    (void)state;
    if (key != OPTION_WIDE)
        return ARGP_ERR_UNKNOWN;
    esi_text_table_set_wide();
    return 0;
}

static const struct argp_option wide_options[] = {
    {"wide", OPTION_WIDE, NULL, 0, "full tables, at any width", 0},
    {0},
};

const struct argp esi_wide_argp = {wide_options, parse_wide, NULL, NULL,
                                   NULL,         NULL,       NULL};

void esi_command_tell_left_out(void)
{
    const char *titles = esi_text_table_left_out();

    if (*titles && isatty(STDERR_FILENO))
        esi_text_prose_print(stderr, "eventspace %s: %s left out; --wide shows all",
                             command_name, titles);
}

bool esi_command_is_terminal(FILE *stream)
{
    const char *kind = getenv("TERM");

    return isatty(fileno(stream)) && kind && strcmp(kind, "dumb") != 0;
}
