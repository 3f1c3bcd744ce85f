/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The command line of a subcommand: its own options and the common ones. */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/examples.h"

/* Not used as keys by commands. */
enum { OPTION_USAGE = 0x10000, OPTION_QUIET };

static const struct argp_option shared_options[] = {
    {"help", 'h', NULL, 0, "give this help list", -1},
    {NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
    {"usage", OPTION_USAGE, NULL, 0, "give a short usage message", -1},
    {"version", 'V', NULL, 0, "print the version", -1},
    {"quiet", OPTION_QUIET, NULL, 0,
     "no line that suggests a next command, or sums up what went well", -1},
    {0},
};

/* Called instead of parsing; NULL = none. */
static void (*complete)(const struct argp *parser, unsigned flags);

/* --- Usage errors ----------------------------------------------------------------- */

/* argp(3) ends its messages with two lines that refer to --help, in its own quotation
 * style.  They are captured until the process ends, and replaced by one line. */
static struct {
    char *text;
    size_t length;
    FILE *stream;     /* NULL: argp writes directly to standard error */
    const char *name; /* of the command; borrowed */
} said;

static void tell_said(void)
{
    char *advice;

    if (!said.stream || fclose(said.stream) != 0)
        return;
    advice = strstr(said.text, "Try `");
    if (advice)
        *advice = '\0';
    fputs(said.text, stderr);
    if (advice)
        fprintf(stderr, "%s: see '%s --help'\n", said.name, said.name);
    free(said.text);
}

/* After a valid command line. */
static void drop_said(void)
{
    if (said.stream && fclose(said.stream) == 0)
        free(said.text);
    said.stream = NULL;
}

static void keep_what_is_said(struct argp_state *state)
{
    said.stream = open_memstream(&said.text, &said.length);
    if (!said.stream || atexit(tell_said) != 0)
        return;
    state->err_stream = said.stream;
}

/* --- Help ------------------------------------------------------------------------- */

enum { MARGIN = 79 };

/* Adds a name to the line at `column`, or to the next one.  Returns the column. */
static size_t print_name(size_t column, const char *name)
{
    enum { WIDTH = 76, INDENT = 5 };
    size_t length = strlen(name) + strlen(", --");

    if (column + length > WIDTH) {
        fputs("\n     ", stdout);
        column = INDENT;
    }
    printf(" --%s,", name);
    return column + length;
}

/* Options that the list omits to fit on one screen. */
static size_t print_hidden(size_t column, const struct argp *parser)
{
    const struct argp_option *option = parser->options;

    for (; option && (option->name || option->key || option->doc); option++)
        if (option->name && option->doc && (option->flags & OPTION_HIDDEN))
            column = print_name(column, option->name);
    for (const struct argp_child *child = parser->children; child && child->argp;
         child++)
        column = print_hidden(column, child->argp);
    return column;
}

static void print_examples(const char *lines)
{
    fputs("\nExamples:\n", stdout);
    while (*lines) {
        int length = (int)strcspn(lines, "\n");

        printf("  %.*s\n", length, lines);
        lines += length + 1;
    }
}

/* The options of the command, the names of the common ones, and examples. */
__attribute__((noreturn)) static void print_help(const struct argp_state *state)
{
    const struct argp *own = state->root_argp->children[0].argp;
    const char *name = strrchr(state->name, ' ');
    const char *lines = name ? esi_examples_find(name + 1) : NULL;
    static const char manual[] = " as in the manual page.";
    size_t column = strlen("Also:");

    setenv("ARGP_HELP_FMT", "no-dup-args-note,opt-doc-col=26,rmargin=79", 0);
    argp_help(own, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, state->name);
    fputs("\nAlso:", stdout);
    column = print_hidden(column, own);
    for (const struct argp_option *option = shared_options; option->key; option++)
        if (option->name)
            column = print_name(column, option->name);
    fputs(column + strlen(manual) > MARGIN ? "\n     " : "", stdout);
    puts(manual);
    if (lines)
        print_examples(lines);
    exit(ES_EXIT_SUCCESS);
}

static error_t parse_shared(int key, char *text, struct argp_state *state)
{
    (void)text;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        keep_what_is_said(state);
        return 0;
    case 'h':
    case '?':
        print_help(state);
    case OPTION_USAGE:
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V':
        puts(PACKAGE_STRING);
        exit(ES_EXIT_SUCCESS);
    case OPTION_QUIET:
        esi_command_set_quiet();
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- Unknown options -------------------------------------------------------------- */

/* The name to search for, and the first option with this prefix. */
struct option_search {
    const char *name;
    size_t length;
    int key; /* for a short option, if `name` is NULL */
    const struct argp_option *found;
    struct esi_nearest nearest;
};

static void search_options(const struct argp *parser, struct option_search *search)
{
    const struct argp_option *option = parser->options;

    for (; option && (option->name || option->key || option->doc); option++) {
        if (!search->name) {
            if (option->key == search->key && !search->found)
                search->found = option;
            continue;
        }
        if (!option->name || (option->flags & OPTION_DOC))
            continue;
        if (strncmp(option->name, search->name, search->length) == 0 && !search->found)
            search->found = option;
        esi_nearest_try(&search->nearest, option->name);
    }
    for (const struct argp_child *child = parser->children; child && child->argp;
         child++)
        search_options(child->argp, search);
}

static bool takes_next_word(const struct argp_option *option)
{
    return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* The option "--name", if the next word is its value.  Except in a completion, does not
 * return if the option is unknown and there is a similar one; getopt rejects the
 * others. */
static const struct argp_option *find_long_option(const struct argp *parser,
                                                  const char *word)
{
    const char *value = strchr(word, '=');
    char *name = value ? strndup(word, (size_t)(value - word)) : strdup(word);
    struct option_search search = {.name = name};

    if (!name)
        return NULL;
    search.length = strlen(name);
    esi_nearest_init(&search.nearest, name);
    search_options(parser, &search);
    if (!search.found && search.nearest.name && !complete)
        exit(esi_command_fail(ES_EXIT_USAGE, "no option '--%s'; did you mean '--%s'?",
                              name, search.nearest.name));
    free(name);
    return !value && takes_next_word(search.found) ? search.found : NULL;
}

/* Likewise for "-abc": letters up to the first that takes a value. */
static const struct argp_option *find_short_option(const struct argp *parser,
                                                   const char *letters)
{
    for (; *letters; letters++) {
        struct option_search search = {.key = (unsigned char)*letters};

        search_options(parser, &search);
        if (takes_next_word(search.found))
            return letters[1] ? NULL : search.found;
    }
    return NULL;
}

const struct argp_option *esi_command_open_option(const struct argp *parser,
                                                  const char *word)
{
    return word[1] == '-' ? find_long_option(parser, word + 2)
                          : find_short_option(parser, word + 1);
}

/* getopt reports unknown options, but suggests none. */
static void check_names(const struct argp *parser,
                        int argc,
                        char **argv,
                        unsigned flags)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool is_option = argv[i][0] == '-' && argv[i][1];

        if (is_option && esi_command_open_option(parser, argv[i]))
            i++;
        else if (!is_option && (flags & ARGP_IN_ORDER))
            return;
    }
}

void esi_command_on_parse(void (*on_parse)(const struct argp *parser, unsigned flags))
{
    complete = on_parse;
}

void esi_command_parse(const struct argp *parser,
                       int argc,
                       char **argv,
                       unsigned flags,
                       void *input)
{
    const struct argp_child children[] = {{parser, 0, NULL, 0}, {0}};
    const struct argp whole = {shared_options, parse_shared, NULL, NULL,
                               children,       NULL,         NULL};

    if (complete) {
        complete(&whole, flags);
        exit(ES_EXIT_SUCCESS);
    }
    check_names(&whole, argc, argv, flags);
    said.name = argv[0];
    error_t failure = argp_parse(&whole, argc, argv, flags | ARGP_NO_HELP, NULL, input);

    if (failure)
        exit(esi_command_fail(ES_EXIT_USAGE, "options: %s", strerror(failure)));
    drop_said();
}
