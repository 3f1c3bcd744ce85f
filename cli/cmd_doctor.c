/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace doctor - checks what works here, and what cannot be collected of a
 * program. */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"
#include "base/rows.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/findings.h"

struct doctor_arguments {
    const char *program;
    enum esi_format format;
};

static const char doc[] =
    "Checks the installation, its MPIs, and shared memory, clock and kernel of this "
    "machine; with PROGRAM also lists which of its MPI routines are not recorded, and "
    "why.\vExit status 1 if there is a problem.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct doctor_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->program)
            argp_error(state, "unexpected argument '%s': give one PROGRAM", text);
        arguments->program = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* For JSON only.  A finding is its kind, its subject and its text. */
static void describe_finding(struct esi_row *row, const void *record)
{
    const char *const *finding = record;

    esi_row_text(row, "type", NULL, "finding");
    esi_row_text(row, "kind", NULL, finding[0]);
    esi_row_text(row, "subject", NULL, finding[1]);
    esi_row_text(row, "text", NULL, finding[2]);
}

/* Keeps the finding for the last sentence. */
static void keep_first(struct esi_findings *findings,
                       enum esi_finding kind,
                       const char *subject,
                       const char *text)
{
    bool is_problem = kind == ES_FINDING_PROBLEM && findings->problems == 0;
    bool is_doubt = kind == ES_FINDING_NOTE && strcmp(subject, "program") == 0 &&
                    !findings->first[0];

    if (is_problem || is_doubt)
        snprintf(findings->first, sizeof findings->first, "%s: %s", subject, text);
}

void esi_findings_add(struct esi_findings *findings,
                      enum esi_finding kind,
                      const char *subject,
                      const char *format,
                      ...)
{
    static const char *const names[] = {
        [ES_FINDING_GOOD] = "good",
        [ES_FINDING_NOTE] = "note",
        [ES_FINDING_PROBLEM] = "problem",
    };
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (findings->format == ES_FORMAT_JSON)
        esi_rows_print_json(stdout, describe_finding,
                            (const char *const[]){names[kind], subject, text});
    else
        esi_plain_print(stdout, "%-8s %s: %s\n", names[kind], subject, text);
    keep_first(findings, kind, subject, text);
    findings->problems += kind == ES_FINDING_PROBLEM;
}

static void print_first(const struct esi_findings *findings, const char *program)
{
    if (findings->problems > 0)
        esi_plain_print(stdout, "Fix this first: %s\n", findings->first);
    else if (findings->first[0])
        esi_plain_print(stdout, "Check this first: %s\n", findings->first);
    else
        esi_plain_print(
            stdout, "No problem found: 'eventspace run -n 2 -- %s' is the next step.\n",
            program ? program : "PROGRAM");
}

int esi_cmd_doctor(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {NULL,     parse_option, "[PROGRAM]", doc,
                                       children, NULL,         NULL};
    struct doctor_arguments arguments = {.program = NULL};
    int status = ES_EXIT_SUCCESS;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    struct esi_findings findings = {.format = arguments.format};
    esi_find_in_machine(&findings);
    if (arguments.program)
        status = esi_find_in_program(&findings, arguments.program);
    if (status)
        return status;
    if (arguments.format == ES_FORMAT_TEXT)
        print_first(&findings, arguments.program);
    return findings.problems ? ES_EXIT_FINDING : ES_EXIT_SUCCESS;
}
