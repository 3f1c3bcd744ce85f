/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What `eventspace doctor` finds, one line each, printed as it is found. */
#ifndef ES_CLI_FINDINGS_H
#define ES_CLI_FINDINGS_H

#include <stddef.h>

#include "cli/command.h"

enum esi_finding {
    ES_FINDING_GOOD,
    ES_FINDING_NOTE,    /* works, but the user should know */
    ES_FINDING_PROBLEM, /* collecting does not work, or not all of it */
};

/* Caller's memory; begins as zeros with the format set. */
struct esi_findings {
    enum esi_format format;
    size_t problems;
    char first[1200]; /* the first problem, else the first note about the program */
};

/* Prints one finding about `subject`, a few words: "shared memory". */
void esi_findings_add(struct esi_findings *findings,
                      enum esi_finding kind,
                      const char *subject,
                      const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Looks at this installation and this machine (cli/machine_findings.c). */
void esi_find_in_machine(struct esi_findings *findings);

/* Looks at a program's file (cli/program_findings.c).  0, or the exit status after the
 * message when it cannot be read. */
int esi_find_in_program(struct esi_findings *findings, const char *program);

#endif
