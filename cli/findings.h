/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The findings of `eventspace doctor`, one line each, printed at once. */
#ifndef ES_CLI_FINDINGS_H
#define ES_CLI_FINDINGS_H

#include <stddef.h>

#include "cli/command.h"

enum esi_finding {
    ES_FINDING_GOOD,
    ES_FINDING_NOTE,    /* works, but the user should know */
    ES_FINDING_PROBLEM, /* collecting does not work, or not completely */
};

/* Caller's memory; initially all zero except the format. */
struct esi_findings {
    enum esi_format format;
    size_t problems;
    char first[1200]; /* the first problem, or else the first note about the program */
};

/* Prints a finding on `subject`, a few words: "shared memory". */
void esi_findings_add(struct esi_findings *findings,
                      enum esi_finding kind,
                      const char *subject,
                      const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Checks this installation and this machine (cli/machine_findings.c). */
void esi_find_in_machine(struct esi_findings *findings);

/* Checks a program's file (cli/program_findings.c). Returns 0, or the exit status after
 * a message if it cannot be read. */
int esi_find_in_program(struct esi_findings *findings, const char *program);

#endif
