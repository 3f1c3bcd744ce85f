/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The command lines of the example programs, as one table per program. */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <stdbool.h>

enum option_kind {
    OPTION_END = 0, /* a zeroed row terminates the table */
    OPTION_NUMBER,  /* long, between the row's minimum and maximum */
    OPTION_SECONDS, /* double, zero or more */
    OPTION_TEXT,    /* const char *, borrowed from argv */
    OPTION_FLAG,    /* bool, set to true; takes no argument */
};

/* One option. The value is the default until options_parse() is called. */
struct option_row {
    const char *name; /* without the two dashes */
    enum option_kind kind;
    void *value;
    const char *help;
    long minimum, maximum; /* of an OPTION_NUMBER */
};

/*
 * Parses the options of the table in argv. With --help, prints the help text and exits
 * with 0; if an option is unknown or its value is out of range, prints a message and
 * exits with 2. Call it before MPI_Init(), so that both work without a launcher.
 *
 * usage is the text after the program's name in the first line of the help, for example
 * "[OPTION]... CASE". Returns the index of the first argument that is not an option.
 */
int options_parse(int argc,
                  char **argv,
                  const char *usage,
                  const char *summary,
                  const struct option_row *rows);

/* Prints a message and exits with 2 if there are arguments from index `first` on. */
void options_no_arguments(int argc, char **argv, int first);

#endif
