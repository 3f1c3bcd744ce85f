/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes a synthetic event set (pattern_sets.h) as JSON Lines (docs/event-sets.md).
 *
 *   bench/pattern_set tcp -o tcp.jsonl
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/pattern_sets.h"
#include "monitors/eventset/set_write.h"

struct options {
    struct pattern_set_config config;
    const char *output;
};

static int usage(void)
{
    fputs("usage: pattern_set [-o FILE] [-s SEED] [-n RANKS] [-e EVENTS] NAME\nsets:\n",
          stderr);
    for (const struct pattern_set_help *set = pattern_sets(); set->name; set++)
        fprintf(stderr, "  %-10s %s\n", set->name, set->help);
    return 2;
}

static bool parse_number(const char *text, uint64_t limit, uint64_t *ret_number)
{
    char *end;

    errno = 0;
    *ret_number = strtoull(text, &end, 10);
    return *text != '\0' && *text != '-' && *end == '\0' && errno == 0 &&
           *ret_number <= limit;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    uint64_t number = 0;
    int option;

    while ((option = getopt(argc, argv, "o:s:n:e:")) != -1) {
        bool is_good = option != '?';

        if (option == 'o')
            options->output = optarg;
        else if (is_good)
            is_good = parse_number(optarg, option == 'n' ? UINT32_MAX - 1 : UINT64_MAX,
                                   &number);
        if (!is_good)
            return false;
        if (option == 's')
            options->config.seed = number;
        if (option == 'n')
            options->config.ranks = (uint32_t)number;
        if (option == 'e')
            options->config.events = number;
    }
    options->config.name = argv[optind];
    return optind + 1 == argc;
}

static int write_set(const struct options *options, struct es_error *error)
{
    struct esi_set_write *write;
    struct es_set_sink sink;
    int code = esi_set_write_open(options->output, error, &write);

    if (code < 0)
        return code;
    sink = esi_set_write_sink(write);
    code = pattern_set_stream(&options->config, &sink, error);
    if (code < 0) {
        esi_set_write_destroy(write);
        return code;
    }
    return esi_set_write_close(write, error);
}

int main(int argc, char **argv)
{
    struct options options = {.output = "-"};
    struct es_error error;

    pattern_set_config_init(&options.config, NULL);
    if (!parse_options(argc, argv, &options))
        return usage();
    if (write_set(&options, &error) < 0) {
        fprintf(stderr, "pattern_set: %s\n", error.text);
        return 2;
    }
    return 0;
}
