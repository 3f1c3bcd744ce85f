/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parses the command lines of the example programs and prints their help; see
 * options.h. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS_MAX = 32, EXIT_USAGE = 2 };

/* getopt_long() reports row i of the table as FIRST_CODE + i. */
enum { FIRST_CODE = 1000, HELP_CODE = 999 };

static void print_value(const struct option_row *row)
{
    switch (row->kind) {
    case OPTION_NUMBER:
        printf(" (default %ld)\n", *(const long *)row->value);
        break;
    case OPTION_SECONDS:
        printf(" (default %g)\n", *(const double *)row->value);
        break;
    case OPTION_TEXT: {
        const char *text = *(const char *const *)row->value;
        if (text)
            printf(" (default %s)", text);
        printf("\n");
        break;
    }
    default:
        printf("\n");
    }
}

static void print_help(const char *program,
                       const char *usage,
                       const char *summary,
                       const struct option_row *rows)
{
    static const char *const argument[] = {
        [OPTION_NUMBER] = " N",
        [OPTION_SECONDS] = " X",
        [OPTION_TEXT] = " TEXT",
        [OPTION_FLAG] = "",
    };

    printf("Usage: %s %s\n%s\n\n", program, usage, summary);
    for (const struct option_row *row = rows; row->kind != OPTION_END; row++) {
        int width = printf("  --%s%s", row->name, argument[row->kind]);
        printf("%*s%s", width < 26 ? 26 - width : 1, "", row->help);
        print_value(row);
    }
    printf("  -h, --help              print this text and exit\n");
}

static void reject_value(const char *program,
                         const struct option_row *row,
                         const char *text)
{
    if (row->kind == OPTION_NUMBER)
        fprintf(stderr, "%s: --%s: '%s' is not a number from %ld to %ld\n", program,
                row->name, text, row->minimum, row->maximum);
    else
        fprintf(stderr, "%s: --%s: '%s' is not a number of zero or more\n", program,
                row->name, text);
    exit(EXIT_USAGE);
}

static void set_value(const char *program,
                      const struct option_row *row,
                      const char *text)
{
    char *end = NULL;

    errno = 0;
    switch (row->kind) {
    case OPTION_NUMBER: {
        long number = strtol(text, &end, 0);
        if (errno || end == text || *end || number < row->minimum ||
            number > row->maximum)
            reject_value(program, row, text);
        *(long *)row->value = number;
        break;
    }
    case OPTION_SECONDS: {
        double number = strtod(text, &end);
        if (errno || end == text || *end || !isfinite(number) || number < 0)
            reject_value(program, row, text);
        *(double *)row->value = number;
        break;
    }
    case OPTION_TEXT:
        *(const char **)row->value = text;
        break;
    default:
        *(bool *)row->value = true;
    }
}

int options_parse(int argc,
                  char **argv,
                  const char *usage,
                  const char *summary,
                  const struct option_row *rows)
{
    struct option table[OPTIONS_MAX + 2] = {{0}};
    int count = 0;

    for (; rows[count].kind != OPTION_END && count < OPTIONS_MAX; count++)
        table[count] = (struct option){
            .name = rows[count].name,
            .has_arg =
                rows[count].kind == OPTION_FLAG ? no_argument : required_argument,
            .val = FIRST_CODE + count,
        };
    table[count] = (struct option){.name = "help", .val = HELP_CODE};

    for (int code; (code = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (code == HELP_CODE || code == 'h') {
            print_help(argv[0], usage, summary, rows);
            exit(EXIT_SUCCESS);
        }
        if (code < FIRST_CODE) /* getopt_long() has printed the error. */
            exit(EXIT_USAGE);
        set_value(argv[0], &rows[code - FIRST_CODE], optarg);
    }
    return optind;
}

void options_no_arguments(int argc, char **argv, int first)
{
    if (first >= argc)
        return;
    fprintf(stderr, "%s: '%s': no argument is expected here\n", argv[0], argv[first]);
    exit(EXIT_USAGE);
}
