/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * scope_tree - what a pull through trees of tuple servers costs, against bare trees of
 * processes of the same shape over TCP, in turns with them.
 *
 *   scope_tree [ELEMENTS [ROUNDS [MILLISECONDS]]]      1948, 5 rounds, 300 ms a turn
 *
 * All runs on this machine, the hosts are pretended: what is compared is CPU time, not
 * networks.  "concatenated" takes the newest tuple of each element, "reduced" that of
 * each thread, which has 14.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bare_tree.h"
#include "eventspace/scope.h"
#include "made_load.h"
#include "server_farm.h"

enum { PER_THREAD = 14, ROUNDS_MAX = 101, ENTRY_BYTES = 52 };

static const char *const transport_names[] = {"unix", "tcp", "tls"};

/* One line of the table. */
struct shape {
    const char *name;
    int hosts;
    int joints; /* hosts beyond those, without elements, for joints */
    enum es_shape shape;
    unsigned fan_out;
    int bare[BARE_LEVELS];
    enum farm_transport transport;
};

static const struct shape shapes[] = {
    {"1 server", 1, 0, ES_SHAPE_HOSTS, 0, {1}, FARM_UNIX},
    {"1 server", 1, 0, ES_SHAPE_HOSTS, 0, {1}, FARM_TCP},
    {"1 server", 1, 0, ES_SHAPE_HOSTS, 0, {1}, FARM_TLS},
    {"4 servers", 4, 0, ES_SHAPE_HOSTS, 0, {4}, FARM_TCP},
    {"12 servers", 12, 0, ES_SHAPE_HOSTS, 0, {12}, FARM_TCP},
    {"3 x 4", 12, 3, ES_SHAPE_KARY, 4, {3, 4}, FARM_TCP},
    {"2 x 2 x 3", 12, 6, ES_SHAPE_KARY, 3, {2, 2, 3}, FARM_TCP},
};

struct bench {
    size_t elements;
    int rounds;
    uint64_t turn_ns;
    struct made_load *load;
    char run_name[64];
    struct es_run *away; /* opened before there was anything: the consumer's, which is
                            on none of the hosts */
    struct es_run *run;
    struct es_element_view **views;
    size_t count;
};

/* What a bare leaf reads. */
struct leaves {
    const struct bench *bench;
    int count;
    bool reduced;
};

struct sample {
    double rate;   /* pulls a second */
    double cpu_us; /* of all processes, per pull */
};

static _Noreturn void die(const char *what, int code, const struct es_error *error)
{
    fprintf(stderr, "scope_tree: %s: %s\n", what,
            error && error->text[0] ? error->text : strerror(-code));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct sample median(const struct sample *samples, int count)
{
    double rates[ROUNDS_MAX], cpus[ROUNDS_MAX];

    for (int i = 0; i < count; i++) {
        rates[i] = samples[i].rate;
        cpus[i] = samples[i].cpu_us;
    }
    qsort(rates, (size_t)count, sizeof *rates, compare_doubles);
    qsort(cpus, (size_t)count, sizeof *cpus, compare_doubles);
    return (struct sample){.rate = rates[count / 2], .cpu_us = cpus[count / 2]};
}

/* --- The bare tree --------------------------------------------------------------- */

static size_t put(unsigned char *out, const struct es_tuple *tuple, uint64_t position)
{
    memcpy(out, tuple, sizeof *tuple);
    memcpy(out + sizeof *tuple, &position, sizeof position);
    return ENTRY_BYTES;
}

static size_t fill_leaf(void *data, int leaf, unsigned char *out, size_t room)
{
    const struct leaves *leaves = data;
    const struct bench *bench = leaves->bench;
    size_t begin = bench->count * (size_t)leaf / (size_t)leaves->count;
    size_t end = bench->count * (size_t)(leaf + 1) / (size_t)leaves->count;
    struct es_tuple newest = {.stop = 0}, tuple;
    uint64_t position = 0;
    size_t used = 0;

    for (size_t i = begin; i < end && used + ENTRY_BYTES <= room; i++) {
        if (es_element_latest(bench->views[i], &tuple, &position) <= 0)
            continue;
        if (tuple.stop > newest.stop)
            newest = tuple;
        if (!leaves->reduced || i % PER_THREAD == PER_THREAD - 1 || i + 1 == end) {
            used += put(out + used, leaves->reduced ? &newest : &tuple, position);
            newest.stop = 0;
        }
    }
    return used;
}

static struct sample measure_bare(struct bare_tree *tree, uint64_t turn_ns)
{
    uint64_t begin = now_ns(), cpu = own_cpu_ns() + bare_tree_cpu_ns(tree);
    uint64_t gone = 0, pulls = 0;

    while (gone < turn_ns) {
        if (bare_tree_sweep(tree) <= 0)
            die("bare tree", -EPIPE, NULL);
        pulls++;
        gone = now_ns() - begin;
    }
    cpu = own_cpu_ns() + bare_tree_cpu_ns(tree) - cpu;
    return (struct sample){.rate = (double)pulls * 1e9 / (double)gone,
                           .cpu_us = (double)cpu / 1e3 / (double)pulls};
}

/* --- The scope ------------------------------------------------------------------- */

static size_t expected(const struct bench *bench, bool reduced)
{
    return reduced ? (bench->elements + PER_THREAD - 1) / PER_THREAD : bench->elements;
}

static struct sample measure_scope(const struct bench *bench,
                                   struct es_scope *scope,
                                   const struct server_farm *farm,
                                   size_t wanted)
{
    uint64_t begin = now_ns();
    uint64_t cpu = own_cpu_ns() + server_farm_cpu_ns(farm);
    uint64_t gone = 0, pulls = 0;

    while (gone < bench->turn_ns) {
        const struct es_batch *batch;
        int result = es_scope_pull(scope, 0, &batch);

        if (result < 0)
            die("pull", result, NULL);
        if (batch->count != wanted || batch->notice_count > 0) {
            fprintf(stderr, "scope_tree: %zu tuples and %zu notices, not %zu tuples\n",
                    batch->count, batch->notice_count, wanted);
            exit(1);
        }
        pulls++;
        gone = now_ns() - begin;
    }
    cpu = own_cpu_ns() + server_farm_cpu_ns(farm) - cpu;
    return (struct sample){.rate = (double)pulls * 1e9 / (double)gone,
                           .cpu_us = (double)cpu / 1e3 / (double)pulls};
}

static void configure(const struct shape *shape,
                      const struct server_farm *farm,
                      bool reduced,
                      bool sequential,
                      struct es_scope_config *config)
{
    static char joints[256]; /* must live until the scope is opened */

    joints[0] = '\0';
    for (int i = 0; i < shape->joints; i++)
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints), "%shost-%d",
                 i > 0 ? "," : "", shape->hosts + i);
    es_scope_config_init(config);
    config->take = reduced ? ES_TAKE_LATEST_OF_THREAD : ES_TAKE_LATEST;
    config->servers = farm->servers;
    config->max = 1 << 20;
    config->tree.shape = shape->shape;
    config->tree.fan_out = shape->fan_out;
    config->tree.mode = sequential ? ES_MODE_SEQUENTIAL : ES_MODE_CONCURRENT;
    config->tree.through_server = true;
    config->tree.joints = shape->joints > 0 ? joints : NULL;
}

/* --- One line of the table ------------------------------------------------------- */

static void print_line(const struct shape *shape,
                       bool reduced,
                       bool sequential,
                       const struct sample *scope,
                       const struct sample *bare)
{
    char figure[64];

    printf("%-11s %-5s %-13s %-11s %10.0f %9.1f %10.0f %9.1f %7.2f\n", shape->name,
           transport_names[shape->transport], reduced ? "reduced" : "concatenated",
           sequential ? "sequential" : "concurrent", scope->rate, scope->cpu_us,
           bare->rate, bare->cpu_us, scope->rate / bare->rate);
    snprintf(figure, sizeof figure, "%s_%s_%s_%s", shape->name,
             transport_names[shape->transport], reduced ? "reduced" : "concatenated",
             sequential ? "sequential" : "concurrent");
    for (char *c = figure; *c; c++)
        if (*c == ' ')
            *c = '_';
    printf("figure: scope_tree_%s %.3f ratio\n", figure, scope->rate / bare->rate);
    fflush(stdout);
}

static void run_line(const struct bench *bench,
                     const struct shape *shape,
                     const struct server_farm *farm,
                     bool reduced,
                     bool sequential)
{
    struct sample scopes[ROUNDS_MAX], bares[ROUNDS_MAX], scope_median, bare_median;
    struct leaves leaves = {.bench = bench, .count = shape->hosts, .reduced = reduced};
    struct bare_shape bare = {.sequential = sequential,
                              .fill = fill_leaf,
                              .data = &leaves,
                              .room = bench->elements * ENTRY_BYTES + 4096};
    struct es_error error = {.text = ""};
    struct es_scope_config config;
    struct es_scope *scope;
    struct bare_tree *tree;
    int result;

    memcpy(bare.fan, shape->bare, sizeof bare.fan);
    result = bare_tree_start(&bare, &tree);
    if (result < 0)
        die("bare tree", result, NULL);
    configure(shape, farm, reduced, sequential, &config);
    result = es_scope_open(bench->away, &config, &error, &scope);
    if (result < 0)
        die("scope", result, &error);
    for (int i = 0; i < bench->rounds; i++) {
        scopes[i] = measure_scope(bench, scope, farm, expected(bench, reduced));
        bares[i] = measure_bare(tree, bench->turn_ns);
    }
    scope_median = median(scopes, bench->rounds);
    bare_median = median(bares, bench->rounds);
    print_line(shape, reduced, sequential, &scope_median, &bare_median);
    es_scope_close(scope);
    bare_tree_stop(tree);
}

/* --- A run on so many hosts ------------------------------------------------------ */

static void make_run(struct bench *bench, int hosts)
{
    struct es_error error = {.text = ""};
    struct made_load_config config;
    struct es_selection all;
    size_t threads = (bench->elements + PER_THREAD - 1) / PER_THREAD;
    int result;

    made_load_config_init(&config);
    snprintf(bench->run_name, sizeof bench->run_name, "scope-tree-%d-%d", (int)getpid(),
             hosts);
    config.run = bench->run_name;
    config.hosts = hosts;
    config.ranks = hosts;
    config.threads = (int)((threads + (size_t)hosts - 1) / (size_t)hosts);
    config.elements = PER_THREAD;
    config.total = bench->elements;
    result = es_run_open_empty(bench->run_name, &error, &bench->away);
    if (result < 0)
        die("run", result, &error);
    result = made_load_create(&config, &error, &bench->load);
    if (result < 0)
        die("load", result, &error);
    made_load_write(bench->load, 2);
    result = es_run_open(bench->run_name, &error, &bench->run);
    if (result < 0)
        die("run", result, &error);
    es_selection_init(&all);
    result = es_run_select(bench->run, &all, &bench->views);
    if (result < 0)
        die("elements", result, NULL);
    bench->count = (size_t)result;
}

static void end_run(struct bench *bench)
{
    free(bench->views);
    es_run_close(bench->run);
    es_run_close(bench->away);
    made_load_destroy(bench->load);
}

static void run_shape(struct bench *bench, const struct shape *shape)
{
    struct es_error error = {.text = ""};
    struct server_farm farm;
    int result;

    make_run(bench, shape->hosts);
    result = server_farm_start(&farm, bench->run_name, "host",
                               shape->hosts + shape->joints, shape->transport, &error);
    if (result < 0)
        die("servers", result, &error);
    for (int i = 0; i < 4; i++)
        /* With one child there is no order. */
        if (i < 2 || shape->hosts > 1)
            run_line(bench, shape, &farm, i % 2 == 1, i >= 2);
    server_farm_stop(&farm);
    end_run(bench);
}

static long argument(int argc,
                     char **argv,
                     int index,
                     long least,
                     long most,
                     long other)
{
    char *end;
    long value;

    if (index >= argc)
        return other;
    value = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "usage: scope_tree [ELEMENTS [ROUNDS [MILLISECONDS]]]\n");
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .elements = (size_t)argument(argc, argv, 1, 168, 1000000, 1948),
        .rounds = (int)argument(argc, argv, 2, 1, ROUNDS_MAX, 5),
        .turn_ns = (uint64_t)argument(argc, argv, 3, 1, 60000, 300) * 1000000,
    };

    printf("%zu elements; bare = a tree of processes over TCP of the same shape\n",
           bench.elements);
    printf("%-11s %-5s %-13s %-11s %10s %9s %10s %9s %7s\n", "shape", "link", "takes",
           "children", "pulls/s", "CPU us", "bare/s", "CPU us", "ratio");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        run_shape(&bench, &shapes[i]);
    return 0;
}
