/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of searches in a large event set (pattern_set_large.c): filling the order
 * and the classes, first matches, all matches of selective patterns, memory.
 *
 *   bench/patterns_large [-a|-m] [-n RANKS] [-e EVENTS] [-j THREADS] [-E ENGINE]
 *                        [-t SECONDS] [-d FOLDER] [-S STORE]
 *
 * With -a instead: comparisons of attributes, each with an index and by testing.  With
 * -m: pairs of messages, also without relations that follow from others.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "bench/pattern_data.h"
#include "monitors/search/search.h"

#define SECOND_NS UINT64_C(1000000000)

struct options {
    struct pattern_set_config set;
    struct esi_search_config search;
    uint64_t limit_s;
    const char *folder;
    const char *store;
    const struct suite *suite;
};

struct search {
    const char *predicate;
    uint64_t limit;   /* of matches; 0 for all */
    const char *name; /* in figures; NULL for that of the predicate */
};

/* Searches for one pattern file. */
struct suite {
    const char *name; /* in figures */
    const char *file;
    struct search searches[24]; /* terminated by one without a predicate */
};

static const struct suite large = {
    .name = "large",
    .file = "large.pattern",
    .searches = {{"Chain", 1, NULL},
                 {"Apart", 1, NULL},
                 {"Late", 1, NULL},
                 {"Sends", 1, NULL},
                 {"TimeoutsBetween", 0, NULL},
                 {"Together", 0, NULL},
                 {"Next", 0, NULL},
                 {"Three", 0, NULL},
                 {"Lost", 0, NULL}},
};

static const struct suite attributes = {
    .name = "attributes",
    .file = "attributes.pattern",
    .searches = {{"SamePeer", 0, NULL},
                 {"Chain", 0, NULL},
                 {"OnlyOne", 0, NULL},
                 {"Chosen", 0, NULL},
                 {"Apart", 0, NULL},
                 {"Either", 0, NULL},
                 {"During", 0, NULL},
                 {"Longer", 0, NULL},
                 {"LongerOrSame", 0, NULL},
                 {"SameStop", 0, NULL},
                 {"SameStop", 1, "SameStop_first"}},
};

static const struct suite messages = {
    .name = "messages",
    .file = "messages.pattern",
    .searches = {{"Overtaking", 0, NULL},
                 {"OvertakingPair", 0, NULL},
                 {"Race", 0, NULL}},
};

static int ignore_match(void *data, const struct es_event_id *events, size_t count)
{
    (void)data;
    (void)events;
    (void)count;
    return 0;
}

/* Formats ten million events as "10m", for the names of figures. */
static void name_size(const struct options *options, char *out, size_t size)
{
    uint64_t events = options->set.events;

    if (events % 1000000 == 0)
        snprintf(out, size, "%" PRIu64 "m", events / 1000000);
    else
        snprintf(out, size, "%" PRIu64, events);
}

static void print_figure(const struct options *options,
                         const char *what,
                         const char *measure,
                         double value,
                         const char *unit)
{
    char size[24];

    name_size(options, size, sizeof size);
    printf("figure: patterns_%s_%s_%s_%s %.10g %s\n", options->suite->name, size, what,
           measure, value, unit);
}

static void print_load(const struct options *options, const struct pattern_data *data)
{
    double events = (double)data->events;
    double rate = events / ((double)data->load_ns / 1e9);

    printf("%" PRIu64 " events on %" PRIu32 " ranks, %s: ordered and sorted in %.2f s, "
           "%.0f events/s, %.1f bytes of heap each\n",
           data->events, options->set.ranks, options->search.engine,
           (double)data->load_ns / 1e9, rate, (double)data->heap_bytes / events);
    print_figure(options, "load", "rate", rate, "events/s");
    print_figure(options, "load", "heap", (double)data->heap_bytes / events, "B/event");
}

static void print_search(const struct options *options,
                         const struct search *search,
                         const struct esi_search_statistics *statistics)
{
    const char *predicate = search->name ? search->name : search->predicate;

    if (!statistics->is_complete && statistics->matches == 0) {
        printf("%-22s > %" PRIu64 " s\n", predicate, options->limit_s);
        print_figure(options, predicate, "limit", (double)options->limit_s, "s");
        return;
    }
    printf("%-22s %12.3f ms %14" PRIu64 " comparisons %8" PRIu64 " matches%s %10" PRIu64
           " bytes\n",
           predicate, (double)statistics->elapsed_ns / 1e6, statistics->comparisons,
           statistics->matches, statistics->is_complete ? "    " : " ...",
           statistics->bytes);
    print_figure(options, predicate, "ms", (double)statistics->elapsed_ns / 1e6, "ms");
    print_figure(options, predicate, "comparisons", (double)statistics->comparisons,
                 "comparisons");
    print_figure(options, predicate, "matches", (double)statistics->matches, "matches");
    print_figure(options, predicate, "bytes", (double)statistics->bytes, "B");
}

static int search_one(struct options *options,
                      const struct pattern_data *data,
                      const struct search *search,
                      struct es_error *error)
{
    static const struct esi_match_sink sink = {.match = ignore_match};
    uint32_t predicate = es_pattern_find(data->file, search->predicate);
    struct esi_search_statistics statistics;
    int code;

    if (predicate == ES_PATTERN_NONE)
        return es_error_set(error, -EINVAL, "no predicate '%s' in %s",
                            search->predicate, options->suite->file);
    options->search.limit = search->limit;
    options->search.deadline_ns =
        esi_now_ns(CLOCK_MONOTONIC) + options->limit_s * SECOND_NS;
    code = esi_search_run(data->file, predicate, data->domains, data->order,
                          &options->search, &sink, &statistics, error);
    if (code < 0)
        return code;
    print_search(options, search, &statistics);
    fflush(stdout);
    return 0;
}

static int search_all(struct options *options,
                      const struct pattern_data *data,
                      struct es_error *error)
{
    int code = 0;

    for (const struct search *search = options->suite->searches;
         code == 0 && search->predicate; search++)
        code = search_one(options, data, search, error);
    return code;
}

static bool parse_number(const char *text, uint64_t limit, uint64_t *ret_number)
{
    char *end;

    *ret_number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *ret_number > 0 &&
           *ret_number <= limit;
}

static bool parse_option(struct options *options, int option, const char *text)
{
    uint64_t number = 0;

    switch (option) {
    case 'a':
        options->suite = &attributes;
        return true;
    case 'm':
        options->suite = &messages;
        return true;
    case 'n':
        if (!parse_number(text, UINT32_MAX - 1, &number))
            return false;
        options->set.ranks = (uint32_t)number;
        return true;
    case 'e':
        return parse_number(text, UINT64_MAX, &options->set.events);
    case 't':
        return parse_number(text, 1000000, &options->limit_s);
    case 'j':
        if (!parse_number(text, 1024, &number))
            return false;
        options->search.threads = (unsigned)number;
        return true;
    case 'E':
        options->search.engine = text;
        return true;
    case 'S':
        options->store = text;
        return true;
    case 'd':
        options->folder = text;
        return true;
    default:
        return false;
    }
}

static int run(struct options *options, struct es_error *error)
{
    struct pattern_data data;
    char path[4096];
    int code;

    snprintf(path, sizeof path, "%s/%s", options->folder, options->suite->file);
    code = pattern_data_load(&options->set, path, options->store, false, &data, error);
    if (code < 0)
        return code;
    print_load(options, &data);
    code = search_all(options, &data, error);
    pattern_data_fini(&data);
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {
        .limit_s = 60, .folder = "bench/patterns", .suite = &large};
    struct es_error error;
    int option;

    pattern_set_config_init(&options.set, "large");
    esi_search_config_init(&options.search);
    options.search.engine = "indexed";
    while ((option = getopt(argc, argv, "amn:e:t:j:E:S:d:")) != -1)
        if (!parse_option(&options, option, optarg))
            optind = argc + 1;
    if (optind != argc) {
        fputs("usage: patterns_large [-a|-m] [-n RANKS] [-e EVENTS] [-j THREADS] "
              "[-E ENGINE] [-t SECONDS] [-d FOLDER] [-S STORE]\n",
              stderr);
        return 2;
    }
    if (run(&options, &error) < 0) {
        fprintf(stderr, "patterns_large: %s\n", error.text);
        return 2;
    }
    return 0;
}
