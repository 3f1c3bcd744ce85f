/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * eventspace complete WORD... - lists completions of the last word of a command line,
 * one per line, with a tab and a description; for the completion of shells.
 *
 * Options come from the parsers' tables; runs, hosts and scopes from the current ones.
 * If nothing is printed, the shell completes file names.
 */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/launch/capture.h"
#include "cli/search/search_file.h"
#include "eventspace/operation.h"
#include "eventspace/run.h"

#define OPERATIONS_MAX 0x10000

/* The words to complete. */
static struct completion {
    const char *command;
    char **words; /* after the command; the last one is to be completed */
    int count;
} completion;

static const char *last_word(void)
{
    return completion.words[completion.count - 1];
}

/* `before` is the part of the word before the completed part: "--host=". */
static void print_candidate(const char *before, const char *text, const char *meaning)
{
    const char *typed = last_word() + strlen(before);

    if (strncmp(text, typed, strlen(typed)) == 0)
        printf("%s%s%s%s\n", before, text, meaning ? "\t" : "", meaning ? meaning : "");
}

/* --- Values ----------------------------------------------------------------------- */

static void print_runs(const char *before)
{
    struct es_run_info *runs = NULL;
    int count = es_run_list(&runs);

    for (int i = 0; i < count; i++)
        print_candidate(before, runs[i].run, runs[i].alive > 0 ? "live" : "ended");
    free(runs);
}

/* Names are grouped: ranks of one host are adjacent. */
static void print_hosts_of(const char *before, const char *name)
{
    struct es_segment_info info, previous = {.host = NULL};
    struct es_run *run;

    if (es_run_open(name, NULL, &run) < 0)
        return;
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        es_segment_view_info(es_run_segment(run, i), &info);
        if (!previous.host || strcmp(previous.host, info.host) != 0)
            print_candidate(before, info.host, name);
        previous = info;
    }
    es_run_close(run);
}

static void print_hosts(const char *before)
{
    struct es_run_info *runs = NULL;
    int count = es_run_list(&runs);

    for (int i = 0; i < count; i++)
        print_hosts_of(before, runs[i].run);
    free(runs);
}

static void print_operations(const char *before)
{
    for (unsigned code = 0; code < OPERATIONS_MAX; code++) {
        const struct es_operation *operation = es_operation_find((uint16_t)code);

        if (operation)
            print_candidate(before, operation->name,
                            es_class_name(operation->op_class));
    }
}

static void print_classes(const char *before)
{
    for (unsigned number = ES_CLASS_NONE + 1; number < ES_CLASS_COUNT; number++)
        print_candidate(before, es_class_name((enum es_class)number), NULL);
}

/* The first column of `scope list`, without its heading. */
static void print_scopes(const char *before)
{
    enum { BYTES = 65536, LIMIT_MS = 3000 };
    static char self[] = "/proc/self/exe", scope[] = "scope", list[] = "list";
    char *argv[] = {self, scope, list, NULL};
    char *out = malloc(BYTES), *rest, *line;

    if (out && esi_capture(argv, LIMIT_MS, out, BYTES) == 0) {
        strtok_r(out, "\n", &rest);
        while ((line = strtok_r(NULL, "\n", &rest))) {
            line[strcspn(line, " ")] = '\0';
            print_candidate(before, line, NULL);
        }
    }
    free(out);
}

static void print_patterns(const char *before)
{
    DIR *folder = opendir(esi_search_pattern_folder());
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char *ending = strstr(entry->d_name, ".pattern");

        if (!ending || ending[strlen(".pattern")])
            continue;
        *ending = '\0';
        print_candidate(before, entry->d_name, "comes with eventspace");
    }
    if (folder)
        closedir(folder);
}

/* Options of several commands with a fixed or computed list of values. */
static const struct option_values {
    const char *command; /* NULL: all commands with the option */
    const char *option;
    const char *words; /* separated by blanks; NULL: use `print` */
    void (*print)(const char *before);
} option_values[] = {
    {"events", "format", "text json csv", NULL},
    {"profile", "format", "text json csv", NULL},
    {"profile", "sort", "time calls bytes mean max name", NULL},
    {"profile", "show", "ranks operations sites sizes messages", NULL},
    {"top", "sort", "rank host state for doing peer events mpi caused suffered line",
     NULL},
    {"top", "by", "rank tree host", NULL},
    {NULL, "format", "text json", NULL},
    {NULL, "shape", "views flat hosts kary levels stages", NULL},
    {NULL, "store", "epoch cluster dense", NULL},
    {NULL, "engine", "indexed rewrite closure", NULL},
    {NULL, "sort", "stop start none", NULL},
    {NULL, "to", "event-set shiviz chrome perfetto dot csv ctf otf2", NULL},
    {NULL, "from", "event-set shiviz archive otf2", NULL},
    {NULL, "class", NULL, print_classes},
    {NULL, "host", NULL, print_hosts},
    {NULL, "operation", NULL, print_operations},
    {NULL, "scope", NULL, print_scopes},
    {NULL, "patterns", NULL, print_patterns},
};

static void print_words(const char *before, const char *words)
{
    char *copy = strdup(words), *rest;

    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest))
        print_candidate(before, word, NULL);
    free(copy);
}

static void print_values(const char *before, const char *option)
{
    for (size_t i = 0; i < sizeof option_values / sizeof option_values[0]; i++) {
        const struct option_values *values = &option_values[i];

        if (strcmp(values->option, option) != 0 ||
            (values->command && strcmp(values->command, completion.command) != 0))
            continue;
        if (values->words)
            print_words(before, values->words);
        else
            values->print(before);
        return;
    }
}

/* --- Words ------------------------------------------------------------------------ */

static void print_options(const struct argp *parser)
{
    const struct argp_option *option = parser->options;
    char name[64];

    for (; option && (option->name || option->key || option->doc); option++) {
        if (!option->name || !option->doc || (option->flags & OPTION_DOC))
            continue;
        snprintf(name, sizeof name, "--%s", option->name);
        print_candidate("", name, option->doc);
    }
    for (const struct argp_child *child = parser->children; child && child->argp;
         child++)
        print_options(child->argp);
}

/* The word at one position of a usage line: "show" at 0 of "show NAME [RUN]". */
static char *word_of_form(const char *form, size_t length, int index)
{
    while (index-- > 0) {
        size_t word = strcspn(form, " \n");

        word = word < length ? word : length;
        form += word, length -= word;
        if (length > 0 && *form == ' ')
            form++, length--;
    }
    size_t word = strcspn(form, " \n");
    return strndup(form, word < length ? word : length);
}

static bool is_small(const char *word)
{
    return word && *word >= 'a' && *word <= 'z';
}

/* Completes the argument after `before` others, of which `first` is the first, by a
 * usage line such as "show NAME [RUN]": lower-case words are literal. */
static void print_by_form(const char *form,
                          size_t length,
                          int before,
                          const char *first)
{
    char *named = word_of_form(form, length, 0);
    char *here = word_of_form(form, length, before);

    if (before == 0 && is_small(here))
        print_candidate("", here, NULL);
    else if (before > 0 && is_small(named) && strcmp(named, first) != 0)
        ; /* another usage line applies */
    else if (here && strcmp(here, "NAME") == 0)
        print_scopes("");
    else if (here && strstr(here, "RUN"))
        print_runs("");
    free(named);
    free(here);
}

static const char *usage_of(const struct argp *parser)
{
    const struct argp_child *child = parser->children;
    const char *usage = parser->args_doc;

    for (; !usage && child && child->argp; child++)
        usage = usage_of(child->argp);
    return usage;
}

static void print_arguments(const struct argp *parser, int before, const char *first)
{
    const char *form = usage_of(parser);

    while (form && *form) {
        size_t length = strcspn(form, "\n");

        print_by_form(form, length, before, first);
        form += length + (form[length] == '\n');
    }
}

/* Completes the last word after all others were parsed: called by esi_command_parse()
 * instead of parsing. */
static void complete_word(const struct argp *parser, unsigned flags)
{
    const struct argp_option *open = NULL; /* the option whose value comes next */
    const char *first = NULL, *last = last_word();
    int before = 0;
    bool has_options = true;

    for (int i = 0; i < completion.count - 1; i++) {
        const char *word = completion.words[i];

        if (open) {
            open = NULL;
        } else if (has_options && word[0] == '-' && word[1]) {
            has_options = strcmp(word, "--") != 0;
            open = esi_command_open_option(parser, word);
        } else {
            first = first ? first : word;
            before++;
        }
    }
    if (before > 0 && (flags & ARGP_IN_ORDER))
        return; /* an argument of the program */
    const char *value = strchr(last, '=');
    if (open) {
        print_values("", open->name);
    } else if (has_options && strncmp(last, "--", 2) == 0 && value) {
        char *name = strndup(last + 2, (size_t)(value - last - 2));
        char *until = strndup(last, (size_t)(value - last + 1));

        if (name && until)
            print_values(until, name);
        free(name);
        free(until);
    } else if (has_options && last[0] == '-') {
        print_options(parser);
    } else {
        print_arguments(parser, before, first);
    }
}

int esi_cmd_complete(int argc, char **argv)
{
    static char nothing[] = "";
    static char *no_words[] = {nothing};
    int words = argc > 1 ? argc - 1 : 1;

    completion.words = argc > 1 ? argv + 1 : no_words;
    completion.count = words;
    if (words == 1) {
        for (const struct esi_command *command = esi_commands; command->name; command++)
            if (command->summary)
                print_candidate("", command->name, command->summary);
        return ES_EXIT_SUCCESS;
    }
    for (const struct esi_command *command = esi_commands; command->name; command++)
        if (strcmp(command->name, argv[1]) == 0) {
            char *arguments[] = {argv[1], NULL};

            completion.command = command->name;
            completion.words = argv + 2;
            completion.count = words - 1;
            esi_command_on_parse(complete_word);
            return command->run(1, arguments);
        }
    return ES_EXIT_SUCCESS;
}
