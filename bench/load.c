/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * load - writes a run without MPI: any number of hosts, ranks, threads and elements at
 * a given rate, through the real tuple space.
 *
 *   load --run big --hosts 4 --ranks 8 --threads 20 --elements 14 --rate 1000 \
 *        --seconds 10
 *
 * Prints "ready" when all elements exist, and at the end what it has written: a line
 * per element, to verify readers, and the sums.
 */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "made_load.h"

struct settings {
    struct made_load_config load;
    char run[64];
    int writers;
    double rate;
    uint64_t count;
    double seconds;
    double linger;
    bool quiet;
};

enum load_option {
    OPTION_ELEMENTS = 256,
    OPTION_TOTAL,
    OPTION_THRESHOLD,
    OPTION_BLOCK,
    OPTION_WRITERS,
    OPTION_COUNT,
    OPTION_LINGER,
    OPTION_PREFIX,
    OPTION_HERE,
    OPTION_FIRST_RANK,
};

static const struct argp_option options[] = {
    {"run", 'r', "NAME", 0, "the run's name (load-PID)", 0},
    {"hosts", 'h', "N", 0, "hosts, by name only (1)", 0},
    {"host-prefix", OPTION_PREFIX, "TEXT", 0, "they are named TEXT-0, ... (host)", 0},
    {"here", OPTION_HERE, NULL, 0, "one host, which has this host's name", 0},
    {"first-rank", OPTION_FIRST_RANK, "N", 0, "number of the first rank (0)", 0},
    {"ranks", 'n', "N", 0, "ranks on all hosts together (1)", 0},
    {"threads", 't', "N", 0, "threads of a rank (1)", 0},
    {"elements", OPTION_ELEMENTS, "N", 0, "elements of a thread (14)", 0},
    {"total", OPTION_TOTAL, "N", 0, "make no more than N elements in all", 0},
    {"threshold", OPTION_THRESHOLD, "N", 0, "tuples kept in an element (63)", 0},
    {"block", OPTION_BLOCK, NULL, 0, "writers wait for registered readers", 0},
    {"rate", 'R', "N", 0, "tuples a second written to each element (100)", 0},
    {"writers", OPTION_WRITERS, "N", 0, "writing threads (2)", 0},
    {"seconds", 's', "S", 0, "how long to write; 0 = till a signal (10)", 0},
    {"count", OPTION_COUNT, "N", 0, "write N tuples to each element, then end", 0},
    {"linger", OPTION_LINGER, "S", 0, "keep the segments for S seconds more (0)", 0},
    {"quiet", 'q', NULL, 0, "only sums at the end", 0},
    {0},
};

/* --- Options --------------------------------------------------------------------- */

static double parse_real(const char *text, double most, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= most))
        argp_error(state, "\"%s\": expected a number from 0 to %.0f", text, most);
    return value;
}

static int parse_count(const char *text, int most, struct argp_state *state)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 1 || value > most)
        argp_error(state, "\"%s\": expected a number from 1 to %d", text, most);
    return (int)value;
}

static error_t parse_place_option(int key, char *text, struct argp_state *state)
{
    struct made_load_config *load = &((struct settings *)state->input)->load;

    switch (key) {
    case 'h':
        load->hosts = parse_count(text, 100000, state);
        return 0;
    case OPTION_PREFIX:
        load->host_prefix = text;
        return 0;
    case OPTION_HERE:
        load->here = true;
        return 0;
    case OPTION_FIRST_RANK:
        load->first_rank = parse_count(text, 1000000, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_load_option(int key, char *text, struct argp_state *state)
{
    struct settings *settings = state->input;
    struct made_load_config *load = &settings->load;

    switch (key) {
    case 'r':
        if (strlen(text) >= sizeof settings->run)
            argp_error(state, "run \"%s\": too long", text);
        strcpy(settings->run, text);
        return 0;
    case 'n':
        load->ranks = parse_count(text, 100000, state);
        return 0;
    case 't':
        load->threads = parse_count(text, 10000, state);
        return 0;
    case OPTION_ELEMENTS:
        load->elements = parse_count(text, 10000, state);
        return 0;
    case OPTION_TOTAL:
        load->total = (size_t)parse_count(text, 10000000, state);
        return 0;
    case OPTION_THRESHOLD:
        load->threshold = (uint32_t)parse_count(text, 1 << 24, state);
        return 0;
    case OPTION_BLOCK:
        load->block = true;
        return 0;
    default:
        return parse_place_option(key, text, state);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct settings *settings = state->input;

    switch (key) {
    case 'R':
        settings->rate = parse_real(text, 1e9, state);
        return 0;
    case OPTION_WRITERS:
        settings->writers = parse_count(text, 1000, state);
        return 0;
    case 's':
        settings->seconds = parse_real(text, 1e6, state);
        return 0;
    case OPTION_COUNT:
        settings->count = (uint64_t)parse_count(text, INT32_MAX, state);
        return 0;
    case OPTION_LINGER:
        settings->linger = parse_real(text, 1e6, state);
        return 0;
    case 'q':
        settings->quiet = true;
        return 0;
    default:
        return parse_load_option(key, text, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .doc = "Writes a run without MPI through the real tuple space.",
};

/* --- The run --------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Sleeps for this time, in short slices if there is a load that may finish earlier.
 * Returns true if a signal ended it. */
static bool rest(const sigset_t *signals, double seconds, const struct made_load *load)
{
    double end = now_s() + seconds;

    while (!load || !made_load_is_done(load)) {
        double left = end - now_s();
        struct timespec slice = {.tv_nsec = 20000000};

        if (left <= 0)
            return false;
        if (left < 0.02)
            slice.tv_nsec = (long)(left * 1e9);
        if (sigtimedwait(signals, NULL, &slice) > 0)
            return true;
    }
    return false;
}

static void print_counts(const struct made_load *load, bool quiet, double seconds)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < made_load_count(load); i++) {
        struct made_load_element element;

        made_load_element(load, i, &element);
        sum += element.written;
        if (!quiet)
            printf("%s %d %s %" PRIu64 "\n", element.host, element.rank, element.name,
                   element.written);
    }
    printf("written: %" PRIu64 " tuples to %zu elements, %.0f a second\n", sum,
           made_load_count(load), seconds > 0 ? (double)sum / seconds : 0.0);
    fflush(stdout);
}

static int write_run(const struct settings *settings,
                     const sigset_t *signals,
                     struct made_load *load)
{
    /* Repeated sleeps without end: a signal or the count ends them. */
    double seconds = settings->seconds > 0 ? settings->seconds : 1e9;
    double begin = now_s();
    bool interrupted;
    int rc = made_load_start(load, settings->writers, settings->rate, settings->count);

    if (rc != 0) {
        fprintf(stderr, "load: writers: %s\n", strerror(-rc));
        return 1;
    }
    interrupted = rest(signals, seconds, load);
    made_load_stop(load);
    print_counts(load, settings->quiet, now_s() - begin);
    if (!interrupted)
        rest(signals, settings->linger, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    struct es_error error = {.text = ""};
    struct settings settings = {.writers = 2, .rate = 100, .seconds = 10};
    struct made_load *load;
    sigset_t signals;
    int rc;

    made_load_config_init(&settings.load);
    snprintf(settings.run, sizeof settings.run, "load-%d", (int)getpid());
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &settings);
    settings.load.run = settings.run;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    /* Before anything exists that must be removed. */
    sigprocmask(SIG_BLOCK, &signals, NULL);
    rc = made_load_create(&settings.load, &error, &load);
    if (rc != 0) {
        fprintf(stderr, "load: %s\n", error.text[0] ? error.text : strerror(-rc));
        return rc == -EINVAL ? 2 : 1;
    }
    printf("ready: run %s, %d ranks on %d hosts, %zu elements, %" PRIu64 " bytes\n",
           settings.run, settings.load.ranks, settings.load.hosts,
           made_load_count(load), made_load_bytes(load));
    fflush(stdout);
    rc = write_run(&settings, &signals, load);
    made_load_destroy(load);
    return rc;
}
