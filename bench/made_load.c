/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Creates and writes runs without MPI. */
#include "config.h"

#include "made_load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/host.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"

#define TICK_NS UINT64_C(1000000) /* between two turns of a writer */

/* The writer's data of one element. */
struct element {
    struct esi_writer writer;
    uint64_t written;
    int rank;
};

/* A writer thread: every `writers`-th element, starting with `first`. */
struct crew_member {
    pthread_t thread;
    struct made_load *load; /* borrowed */
    size_t first;
    _Atomic bool done;
};

struct made_load {
    struct made_load_config config;
    char run[64];
    char host_prefix[48];
    struct es_segment **segments; /* owned, one per rank */
    int segment_count;
    struct element *elements; /* owned */
    size_t count;
    enum es_clock_kind clock;
    struct es_tuple tuple; /* common to all tuples */

    struct crew_member *crew; /* owned */
    int writers;
    double rate;
    uint64_t limit;
    _Atomic bool stop;
};

void made_load_config_init(struct made_load_config *config)
{
    *config = (struct made_load_config){.run = "load",
                                        .hosts = 1,
                                        .host_prefix = "host",
                                        .ranks = 1,
                                        .threads = 1,
                                        .elements = 14,
                                        .threshold = 63};
}

/* --- Making it -------------------------------------------------------------------- */

static int rank_host(const struct made_load_config *config, int rank)
{
    return (int)((int64_t)rank * config->hosts / config->ranks);
}

static void format_host(const struct made_load *load, int index, char out[64])
{
    if (load->config.here)
        esi_host_name(out);
    else
        snprintf(out, 64, "%s-%d", load->host_prefix, index);
}

static int per_rank(const struct made_load_config *config)
{
    return config->threads * config->elements;
}

/* Size of one rank's rings, including alignment. */
static uint64_t arena_bytes(const struct made_load_config *config)
{
    uint64_t slots = 2;

    while (slots <= config->threshold)
        slots *= 2;
    return (uint64_t)per_rank(config) * (slots * sizeof(struct es_tuple) + 64) + 65536;
}

static void add_world(struct es_segment *segment,
                      const struct made_load_config *config,
                      int rank)
{
    int32_t *group = malloc((size_t)config->ranks * sizeof *group);
    struct esi_communicator_config world = {.key = {1, 1},
                                            .rank = rank,
                                            .parent = ES_COMMUNICATOR_NONE,
                                            .name = "MPI_COMM_WORLD",
                                            .group = group,
                                            .group_size = config->ranks};
    uint16_t index;

    for (int i = 0; group && i < config->ranks; i++)
        group[i] = config->first_rank + i;
    if (group)
        esi_segment_add_communicator(segment, &world, &index);
    free(group);
}

static int add_segment(struct made_load *load, int rank, struct es_error *error)
{
    const struct made_load_config *config = &load->config;
    struct esi_segment_config segment;
    char host[64];
    int rc;

    format_host(load, rank_host(config, rank), host);
    esi_segment_config_init(&segment);
    segment.run = load->run;
    segment.host = host;
    segment.program = "load";
    segment.rank = config->first_rank + rank;
    segment.size = config->first_rank + config->ranks;
    segment.max_elements = (uint32_t)per_rank(config);
    segment.max_communicators = 16;
    segment.arena_bytes = arena_bytes(config);
    if (rank > 0)
        segment.calibrate_ns = 0; /* one clock: measured by the first rank */
    rc = esi_segment_create(&segment, error, &load->segments[rank]);
    if (rc != 0)
        return rc;
    load->segment_count++;
    add_world(load->segments[rank], config, rank);
    return 0;
}

static int add_element(struct made_load *load, int rank, int index)
{
    const struct made_load_config *config = &load->config;
    struct element *element = &load->elements[load->count];
    char name[64], collector[32];
    /* Elements of a thread differ in class, like real ones. */
    int op_class = ES_CLASS_SEND + index % config->elements % ES_CLASS_OTHER;
    struct esi_element_config made = {
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = collector,
        .rank = config->first_rank + rank,
        .thread = index / config->elements,
        .classes = 1u << op_class,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = config->threshold,
        .on_full = config->block ? ES_ON_FULL_BLOCK : ES_ON_FULL_DISCARD,
        .enabled = true,
    };
    int rc;

    snprintf(collector, sizeof collector, "load-%d", index % config->elements);
    snprintf(name, sizeof name, "%d.%d/%s", made.rank, made.thread, collector);
    rc = esi_segment_add_element(load->segments[rank], &made, &element->writer);
    if (rc != 0)
        return rc;
    element->rank = rank;
    load->count++;
    return 0;
}

static int fill(struct made_load *load, struct es_error *error)
{
    const struct made_load_config *config = &load->config;
    int rc = 0;

    for (int rank = 0; rank < config->ranks && rc == 0; rank++) {
        rc = add_segment(load, rank, error);
        for (int i = 0; i < per_rank(config) && load->count < config->total && rc == 0;
             i++) {
            rc = add_element(load, rank, i);
            if (rc != 0)
                es_error_set(error, rc, "element %d of rank %d: %s", i, rank,
                             strerror(-rc));
        }
    }
    return rc;
}

static int check(const struct made_load_config *config, struct es_error *error)
{
    bool sound = config->hosts >= 1 && config->hosts <= config->ranks &&
                 config->ranks <= 100000 && config->threads >= 1 &&
                 config->threads <= 10000 && config->elements >= 1 &&
                 config->elements <= 10000;

    if (!sound || (int64_t)config->threads * config->elements > 1 << 20)
        return es_error_set(error, -EINVAL,
                            "hosts, ranks, threads or elements out of range (as many "
                            "ranks as hosts at least)");
    if (config->threshold < 1 || config->threshold > 1u << 24)
        return es_error_set(error, -EINVAL, "threshold %u: expected 1 to 16777216",
                            config->threshold);
    if (strlen(config->host_prefix) > 40 || strlen(config->run) > 63)
        return es_error_set(error, -EINVAL, "name too long");
    return 0;
}

static struct es_tuple make_tuple(void)
{
    const struct es_operation *send = es_operation_by_name("MPI_Send");

    return (struct es_tuple){.operation = send->code, .peer = 0, .bytes = 8};
}

int made_load_create(const struct made_load_config *config,
                     struct es_error *error,
                     struct made_load **ret_load)
{
    size_t total;
    struct made_load *load;
    int rc = check(config, error);

    if (rc != 0)
        return rc;
    load = calloc(1, sizeof *load);
    if (!load)
        return -ENOMEM;
    load->config = *config;
    total = (size_t)config->ranks * (size_t)per_rank(config);
    if (load->config.total == 0 || load->config.total > total)
        load->config.total = total;
    strcpy(load->run, config->run);
    strcpy(load->host_prefix, config->host_prefix);
    load->clock = es_clock_kind();
    load->tuple = make_tuple();
    load->segments = calloc((size_t)config->ranks, sizeof(struct es_segment *));
    load->elements = calloc(load->config.total, sizeof *load->elements);
    rc = load->segments && load->elements ? fill(load, error) : -ENOMEM;
    if (rc != 0) {
        made_load_destroy(load);
        return rc;
    }
    *ret_load = load;
    return 0;
}

void made_load_destroy(struct made_load *load)
{
    if (!load)
        return;
    made_load_stop(load);
    for (int i = 0; i < load->segment_count; i++)
        esi_segment_destroy(load->segments[i]);
    free(load->segments);
    free(load->elements);
    free(load);
}

/* --- What there is ---------------------------------------------------------------- */

size_t made_load_count(const struct made_load *load)
{
    return load->count;
}

uint64_t made_load_bytes(const struct made_load *load)
{
    uint64_t bytes = 0;

    for (int i = 0; i < load->segment_count; i++)
        bytes += esi_segment_layout(load->segments[i])->arena_used;
    return bytes + load->count * sizeof(struct esi_element_layout);
}

const char *made_load_host(const struct made_load *load, int index)
{
    static char host[64];

    format_host(load, index, host);
    return host;
}

void made_load_element(const struct made_load *load,
                       size_t index,
                       struct made_load_element *ret_element)
{
    const struct element *element = &load->elements[index];

    *ret_element = (struct made_load_element){
        .host = made_load_host(load, rank_host(&load->config, element->rank)),
        .rank = load->config.first_rank + element->rank,
        .name = element->writer.element->name,
        .written = element->written,
    };
}

/* --- Writing ---------------------------------------------------------------------- */

static void write_one(struct made_load *load, struct element *element)
{
    struct es_tuple tuple = load->tuple;

    tuple.sequence = (uint32_t)element->written;
    tuple.tag = (int32_t)(element - load->elements);
    tuple.start = es_clock_ticks_of(load->clock);
    esi_writer_open(&element->writer, &tuple);
    esi_writer_close(&element->writer, es_clock_ticks_of(load->clock));
    element->written++;
}

void made_load_write(struct made_load *load, uint64_t tuples)
{
    for (uint64_t t = 0; t < tuples; t++)
        for (size_t i = 0; i < load->count; i++)
            write_one(load, &load->elements[i]);
}

/* Number of tuples that each element should have by now. */
static double due_each(const struct made_load *load, uint64_t gone_ns)
{
    double due = load->rate * (double)gone_ns / 1e9;

    return load->limit > 0 && due > (double)load->limit ? (double)load->limit : due;
}

/* Writes all tuples that are due, in turn, continuing where it stopped. */
static void catch_up(struct crew_member *member, uint64_t *total, uint64_t due)
{
    struct made_load *load = member->load;
    size_t step = (size_t)load->writers;
    size_t own = (load->count - member->first + step - 1) / step;

    for (; *total < due; (*total)++) {
        size_t turn = (size_t)(*total % own);

        if (atomic_load_explicit(&load->stop, memory_order_relaxed))
            return;
        write_one(load, &load->elements[member->first + turn * step]);
    }
}

static void *write_on(void *argument)
{
    struct crew_member *member = argument;
    struct made_load *load = member->load;
    size_t step = (size_t)load->writers;
    size_t own = (load->count - member->first + step - 1) / step;
    struct timespec tick = {.tv_nsec = (long)TICK_NS};
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t total = 0;

    while (!atomic_load_explicit(&load->stop, memory_order_relaxed)) {
        catch_up(member, &total,
                 (uint64_t)(due_each(load, esi_now_ns(CLOCK_MONOTONIC) - begin) *
                            (double)own));
        if (load->limit > 0 && total >= load->limit * own)
            break;
        nanosleep(&tick, NULL);
    }
    atomic_store_explicit(&member->done, true, memory_order_release);
    return NULL;
}

int made_load_start(struct made_load *load, int writers, double rate, uint64_t count)
{
    if (writers < 1 || (size_t)writers > load->count)
        writers = writers < 1 ? 1 : (int)load->count;
    load->crew = calloc((size_t)writers, sizeof *load->crew);
    if (!load->crew)
        return -ENOMEM;
    load->writers = writers;
    load->rate = rate;
    load->limit = count;
    atomic_store_explicit(&load->stop, false, memory_order_relaxed);
    for (int i = 0; i < writers; i++) {
        struct crew_member *member = &load->crew[i];
        int rc;

        member->load = load;
        member->first = (size_t)i;
        rc = pthread_create(&member->thread, NULL, write_on, member);
        if (rc != 0) {
            /* Running writers stop at once; those that were not started must not be
             * used. */
            atomic_store_explicit(&load->stop, true, memory_order_relaxed);
            for (int j = 0; j < i; j++)
                pthread_join(load->crew[j].thread, NULL);
            free(load->crew);
            load->crew = NULL;
            return -rc;
        }
    }
    return 0;
}

bool made_load_is_done(const struct made_load *load)
{
    for (int i = 0; i < load->writers; i++)
        if (!atomic_load_explicit(&load->crew[i].done, memory_order_acquire))
            return false;
    return true;
}

/* Releases a writer that waits for its reader: it may overwrite the oldest tuple, which
 * the reader counts as lost. */
static void release_writers(struct made_load *load)
{
    for (size_t i = 0; load->config.block && i < load->count; i++)
        atomic_store_explicit(&load->elements[i].writer.element->on_full,
                              ES_ON_FULL_DISCARD, memory_order_relaxed);
}

void made_load_stop(struct made_load *load)
{
    if (!load->crew)
        return;
    atomic_store_explicit(&load->stop, true, memory_order_relaxed);
    if (!made_load_is_done(load))
        release_writers(load);
    for (int i = 0; i < load->writers; i++)
        pthread_join(load->crew[i].thread, NULL);
    free(load->crew);
    load->crew = NULL;
    for (int i = 0; i < load->segment_count; i++)
        esi_segment_set_state(load->segments[i], ES_SEGMENT_FINALIZED);
}
