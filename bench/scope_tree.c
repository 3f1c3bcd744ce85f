/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * scope_tree - the cost of a pull through trees of tuple servers, in turns with bare
 * trees of processes of the same shape over TCP.
 *
 *   scope_tree [ELEMENTS [ROUNDS [MILLISECONDS [written|tcp|HOSTS [bridge]]]]]
 *
 * Defaults: 1948 elements, 5 rounds, 300 ms per turn, all shapes.  Nothing is written
 * meanwhile, so that a pull finds the tuples of the previous one; with "written", each
 * element gets a tuple between two pulls, which is not included in the times.  With
 * "tcp", only direct and through one server over TCP.  With a number of hosts: their
 * servers over TCP side by side and, from 16 on, in a tree of fan-out 8, with this
 * number of elements on each host, all concatenated and concurrent; with "bridge", each
 * server is in its own network namespace behind the bridge br0.  Shapes with fewer
 * threads than servers are omitted.  The reading floor also takes turns: the same bytes
 * gathered by one loop in this process.
 *
 * Everything runs on this machine, and the hosts are simulated: CPU times are compared,
 * not networks.  "concatenated" reads the newest tuple of each element, "reduced" that
 * of each thread, which has 14.
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
#include "base/now.h"
#include "eventspace/scope.h"
#include "made_load.h"
#include "server_farm.h"

enum { PER_THREAD = 14, ROUNDS_MAX = 101, ENTRY_BYTES = 52 };
/* Most threads of a rank: hosts with more of them have several ranks. */
enum { PER_RANK = 10000 };

static const char *const transport_names[] = {"unix", "tcp", "tls", "tcp", "none"};

/* One line of the table. */
struct shape {
    const char *name;
    int hosts;
    int joints; /* additional hosts, without elements, for joints */
    enum es_shape shape;
    unsigned fan_out;
    int bare[BARE_LEVELS];
    int transport; /* enum farm_transport, or DIRECT */
};

/* No server: compared with the floor instead of the bare tree. */
#define DIRECT 4

static const struct shape shapes[] = {
    {"direct", 1, 0, ES_SHAPE_VIEWS, 0, {0}, DIRECT},
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
    bool written; /* between pulls */
    struct made_load *load;
    char run_name[64];
    struct es_run *away; /* opened before the load: for a consumer on another host */
    struct es_run *run;
    struct es_element_view **views;
    size_t count;
};

/* The data read by a bare leaf. */
struct leaves {
    const struct bench *bench;
    int count;
    bool reduced;
};

struct sample {
    double rate;   /* pulls per second */
    double cpu_us; /* of all processes, per pull */
};

/* The contestants that take turns. */
enum contestant { SCOPE, BARE, FLOOR, CONTESTANTS };

struct summary {
    struct sample median;
    double best; /* pulls per second */
};

/* The load whose segments exist: they are removed however the program ends. */
static struct made_load *standing;

static void remove_load(void)
{
    made_load_destroy(standing);
    standing = NULL;
}

static _Noreturn void die(const char *what, int code, const struct es_error *error)
{
    fprintf(stderr, "scope_tree: %s: %s\n", what,
            error && error->text[0] ? error->text : strerror(-code));
    exit(1);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

/* Writes between two pulls; the time it takes is added to the start values of the
 * turn. */
static void write_between(const struct bench *bench, uint64_t *begin, uint64_t *cpu)
{
    uint64_t now, used;

    if (!bench->written)
        return;
    now = esi_now_ns(CLOCK_MONOTONIC);
    used = own_cpu_ns();
    made_load_write(bench->load, 1);
    *cpu += own_cpu_ns() - used;
    *begin += esi_now_ns(CLOCK_MONOTONIC) - now;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct summary summarize(const struct sample *samples, int count)
{
    double rates[ROUNDS_MAX], cpus[ROUNDS_MAX];

    for (int i = 0; i < count; i++) {
        rates[i] = samples[i].rate;
        cpus[i] = samples[i].cpu_us;
    }
    qsort(rates, (size_t)count, sizeof *rates, compare_doubles);
    qsort(cpus, (size_t)count, sizeof *cpus, compare_doubles);
    return (struct summary){
        .median = {.rate = rates[count / 2], .cpu_us = cpus[count / 2]},
        .best = rates[count - 1]};
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

static struct sample measure_bare(const struct bench *bench, struct bare_tree *tree)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC),
             cpu = own_cpu_ns() + bare_tree_cpu_ns(tree);
    uint64_t gone = 0, pulls = 0;

    while (gone < bench->turn_ns) {
        if (bare_tree_sweep(tree) <= 0)
            die("bare tree", -EPIPE, NULL);
        pulls++;
        write_between(bench, &begin, &cpu);
        gone = esi_now_ns(CLOCK_MONOTONIC) - begin;
    }
    cpu = own_cpu_ns() + bare_tree_cpu_ns(tree) - cpu;
    return (struct sample){.rate = (double)pulls * 1e9 / (double)gone,
                           .cpu_us = (double)cpu / 1e3 / (double)pulls};
}

/* The floor: the work of all leaves, one after the other, in this process. */
static struct sample measure_floor(const struct bare_shape *bare,
                                   const struct leaves *leaves,
                                   unsigned char *memory,
                                   uint64_t turn_ns)
{
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC), cpu = own_cpu_ns(), gone = 0,
             sweeps = 0;

    while (gone < turn_ns) {
        for (int i = 0; i < leaves->count; i++)
            if (bare->fill(bare->data, i, memory, bare->room) == 0)
                die("floor", -EIO, NULL);
        sweeps++;
        write_between(leaves->bench, &begin, &cpu);
        gone = esi_now_ns(CLOCK_MONOTONIC) - begin;
    }
    cpu = own_cpu_ns() - cpu;
    return (struct sample){.rate = (double)sweeps * 1e9 / (double)gone,
                           .cpu_us = (double)cpu / 1e3 / (double)sweeps};
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
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t cpu = own_cpu_ns() + server_farm_cpu_ns(farm);
    uint64_t gone = 0, pulls = 0;

    while (gone < bench->turn_ns) {
        const struct es_batch *batch;
        int result = es_scope_pull(scope, 0, &batch);

        if (result < 0)
            die("pull", result, NULL);
        if (batch->count != wanted || batch->notice_count > 0) {
            fprintf(stderr, "scope_tree: %zu tuples, not %zu%s%s\n", batch->count,
                    wanted, batch->notice_count > 0 ? ": " : "",
                    batch->notice_count > 0 ? strerror(-batch->notices[0].code) : "");
            exit(1);
        }
        pulls++;
        write_between(bench, &begin, &cpu);
        gone = esi_now_ns(CLOCK_MONOTONIC) - begin;
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
    config->tree.limit_ns = UINT64_C(60000000000); /* first pulls touch all memory */
    config->tree.shape = shape->shape;
    config->tree.fan_out = shape->fan_out;
    config->tree.mode = sequential ? ES_MODE_SEQUENTIAL : ES_MODE_CONCURRENT;
    config->tree.through_server = shape->transport != DIRECT;
    config->tree.joints = shape->joints > 0 ? joints : NULL;
}

/* --- One line of the table ------------------------------------------------------- */

static void print_figure(const char *line,
                         const char *name,
                         double value,
                         const char *unit)
{
    char figure[128];

    snprintf(figure, sizeof figure, "%s_%s", line, name);
    for (char *c = figure; *c; c++)
        if (*c == ' ')
            *c = '_';
    printf("figure: scope_tree_%s %.3f %s\n", figure, value, unit);
}

static void print_line(const struct bench *bench,
                       const struct shape *shape,
                       bool reduced,
                       bool sequential,
                       const struct summary summaries[CONTESTANTS])
{
    const struct summary *scope = &summaries[SCOPE], *bare = &summaries[BARE];
    const struct summary *reading = &summaries[FLOOR];
    double ratio = scope->median.rate / bare->median.rate;
    char line[96];

    printf("%7zu %-10s %-4s %-12s %-10s %9.0f %9.0f %8.1f %9.0f %9.0f %8.1f %10.0f "
           "%5.2f %5.2f\n",
           bench->elements, shape->name, transport_names[shape->transport],
           reduced ? "reduced" : "concatenated",
           sequential ? "sequential" : "concurrent", scope->median.rate, scope->best,
           scope->median.cpu_us, bare->median.rate, bare->best, bare->median.cpu_us,
           reading->median.rate, ratio, scope->best / bare->best);
    snprintf(line, sizeof line, "%zu_%s_%s_%s_%s", bench->elements, shape->name,
             transport_names[shape->transport], reduced ? "reduced" : "concatenated",
             sequential ? "sequential" : "concurrent");
    print_figure(line, "of_bare", ratio, "ratio");
    print_figure(line, "best_of_bare_best", scope->best / bare->best, "ratio");
    print_figure(line, "cpu_of_bare", scope->median.cpu_us / bare->median.cpu_us,
                 "ratio");
    print_figure(line, "of_floor", scope->median.rate / reading->median.rate, "ratio");
    print_figure(line, "cpu_per_element",
                 scope->median.cpu_us * 1e3 / (double)bench->elements, "ns");
    print_figure(line, "cpu", scope->median.cpu_us, "us");
    print_figure(line, "bare_cpu", bare->median.cpu_us, "us");
    fflush(stdout);
}

/* Turns alternate, so that other load of the machine affects all contestants. */
static void take_turns(const struct bench *bench,
                       const struct server_farm *farm,
                       struct es_scope *scope,
                       struct bare_tree *tree,
                       const struct bare_shape *bare,
                       struct summary ret_summaries[CONTESTANTS])
{
    static struct sample samples[CONTESTANTS][ROUNDS_MAX];
    const struct leaves *leaves = bare->data;
    unsigned char *memory = malloc(bare->room);

    if (!memory)
        die("floor", -ENOMEM, NULL);
    for (int i = 0; i < bench->rounds; i++) {
        samples[SCOPE][i] =
            measure_scope(bench, scope, farm, expected(bench, leaves->reduced));
        samples[FLOOR][i] = measure_floor(bare, leaves, memory, bench->turn_ns / 4);
        samples[BARE][i] = tree ? measure_bare(bench, tree) : samples[FLOOR][i];
    }
    for (int i = 0; i < CONTESTANTS; i++)
        ret_summaries[i] = summarize(samples[i], bench->rounds);
    free(memory);
}

static void run_line(const struct bench *bench,
                     const struct shape *shape,
                     const struct server_farm *farm,
                     bool reduced,
                     bool sequential)
{
    struct summary summaries[CONTESTANTS];
    struct leaves leaves = {.bench = bench, .count = shape->hosts, .reduced = reduced};
    struct bare_shape bare = {.sequential = sequential,
                              .fill = fill_leaf,
                              .data = &leaves,
                              .room = bench->elements * ENTRY_BYTES + 4096};
    struct es_error error = {.text = ""};
    struct es_scope_config config;
    struct es_scope *scope;
    bool direct = shape->transport == DIRECT;
    struct bare_tree *tree = NULL;
    int result;

    memcpy(bare.fan, shape->bare, sizeof bare.fan);
    result = direct ? 0 : bare_tree_start(&bare, &tree);
    if (result < 0)
        die("bare tree", result, NULL);
    configure(shape, farm, reduced, sequential, &config);
    result = es_scope_open(direct ? bench->run : bench->away, &config, &error, &scope);
    if (result < 0)
        die("scope", result, &error);
    take_turns(bench, farm, scope, tree, &bare, summaries);
    print_line(bench, shape, reduced, sequential, summaries);
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
    int per_host = (int)((threads + (size_t)hosts - 1) / (size_t)hosts);
    int ranks = (per_host + PER_RANK - 1) / PER_RANK; /* per host */
    int result;

    made_load_config_init(&config);
    snprintf(bench->run_name, sizeof bench->run_name, "scope-tree-%d-%d", (int)getpid(),
             hosts);
    config.run = bench->run_name;
    config.hosts = hosts;
    config.ranks = hosts * ranks;
    config.threads = (per_host + ranks - 1) / ranks;
    config.elements = PER_THREAD;
    config.total = bench->elements;
    result = es_run_open_empty(bench->run_name, &error, &bench->away);
    if (result < 0)
        die("run", result, &error);
    result = made_load_create(&config, &error, &bench->load);
    if (result < 0)
        die("load", result, &error);
    standing = bench->load;
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
    remove_load();
}

/* A line for each combination of reading and asking, or the first `lines` of them. */
static void run_shape(struct bench *bench, const struct shape *shape, int lines)
{
    struct es_error error = {.text = ""};
    struct server_farm farm = {.count = 0};
    size_t threads = (bench->elements + PER_THREAD - 1) / PER_THREAD;
    int result;

    /* Threads are not divided, and each server must have one. */
    if (threads < (size_t)shape->hosts) {
        printf("%7zu %-10s %-4s left out: %zu threads of %d elements for %d servers\n",
               bench->elements, shape->name, transport_names[shape->transport], threads,
               PER_THREAD, shape->hosts);
        return;
    }
    make_run(bench, shape->hosts);
    result = 0;
    if (shape->transport != DIRECT)
        result = server_farm_start(&farm, bench->run_name, "host",
                                   shape->hosts + shape->joints,
                                   (enum farm_transport)shape->transport, &error);
    if (result < 0)
        die("servers", result, &error);
    for (int i = 0; i < lines; i++)
        /* The order of one child does not matter. */
        if (i < 2 || shape->hosts > 1)
            run_line(bench, shape, &farm, i % 2 == 1, i >= 2);
    if (shape->transport != DIRECT)
        server_farm_stop(&farm);
    end_run(bench);
}

static void run_hosts(struct bench *bench, int hosts, enum farm_transport transport)
{
    enum { FAN_OUT = 8 };
    char name[32];
    struct shape flat = {.name = name,
                         .hosts = hosts,
                         .shape = ES_SHAPE_HOSTS,
                         .bare = {hosts},
                         .transport = (int)transport};
    struct shape tree = {.name = name,
                         .hosts = hosts,
                         .joints = hosts / FAN_OUT,
                         .shape = ES_SHAPE_KARY,
                         .fan_out = FAN_OUT,
                         .bare = {hosts / FAN_OUT, FAN_OUT},
                         .transport = (int)transport};

    bench->elements *= (size_t)hosts;
    snprintf(name, sizeof name, "%d servers", hosts);
    run_shape(bench, &flat, 1);
    snprintf(name, sizeof name, "%d x %d", hosts / FAN_OUT, FAN_OUT);
    if (hosts >= 2 * FAN_OUT && hosts % FAN_OUT == 0)
        run_shape(bench, &tree, 1);
}

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: scope_tree [ELEMENTS [ROUNDS [MILLISECONDS [written|tcp|HOSTS "
            "[bridge]]]]]\n");
    exit(2);
}

static long argument(int argc, char **argv, int index, long most, long other)
{
    char *end;
    long value;

    if (index >= argc)
        return other;
    value = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || value < 1 || value > most)
        usage();
    return value;
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .elements = (size_t)argument(argc, argv, 1, 1000000, 1948),
        .rounds = (int)argument(argc, argv, 2, ROUNDS_MAX, 5),
        .turn_ns = (uint64_t)argument(argc, argv, 3, 60000, 300) * 1000000,
    };
    bool one = argc > 4 && strcmp(argv[4], "tcp") == 0;
    bool written = argc > 4 && strcmp(argv[4], "written") == 0;
    long hosts = one || written ? 0 : argument(argc, argv, 4, 64, 0);
    bool bridge = argc == 6 && hosts > 0 && strcmp(argv[5], "bridge") == 0;

    if (argc > (bridge ? 6 : 5) ||
        (hosts > 0 && bench.elements > (size_t)(1000000 / hosts)))
        usage();
    bench.written = written;
    atexit(remove_load);
    printf("%7s %-10s %-4s %-12s %-10s %9s %9s %8s %9s %9s %8s %10s %5s %5s\n", "view",
           "shape", "link", "takes", "children", "pulls/s", "best", "CPU us", "bare/s",
           "best", "CPU us", "floor/s", "ratio", "best");
    if (hosts > 0)
        run_hosts(&bench, (int)hosts, bridge ? FARM_BRIDGE : FARM_TCP);
    for (size_t i = 0; hosts == 0 && i < sizeof shapes / sizeof shapes[0]; i++)
        if (!one || shapes[i].transport == DIRECT ||
            (shapes[i].hosts == 1 && shapes[i].transport == FARM_TCP))
            run_shape(&bench, &shapes[i], 4);
    return 0;
}
