/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* changes.c - reconfigures a scope at random while its elements are
 * written at full speed. */
#include "config.h"

#include "tests/scopes/changes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"

/* A run that takes longer is considered stuck. */
enum { LIMIT_S = 120 };

struct reading {
    struct es_scope *scope;
    int next[CHANGES_WRITERS]; /* number that each element must deliver next */
    uint64_t random;
    unsigned changes;
    unsigned repetitions;
};

void changes_add_writer(struct changes *changes, struct esi_writer *writer)
{
    assert_true(changes->writer_count < CHANGES_WRITERS);
    changes->writers[changes->writer_count++] =
        (struct changes_writer){.writer = writer, .clock = changes->made->clock};
}

static void *write_all(void *data)
{
    const struct changes_writer *writer = data;

    for (int i = writer->first; i < writer->end; i++) {
        uint64_t now = es_clock_ticks_of(writer->clock);
        struct es_tuple tuple = made_tuple("MPI_Send", now - 1, now);

        tuple.tag = i;
        esi_writer_write(writer->writer, &tuple);
    }
    return NULL;
}

static void change(struct reading *reading, const struct changes *changes)
{
    static const char gathered[] = "{\"type\": \"gather\"}";
    static const char sorted[] =
        "{\"type\": \"sort\", \"properties\": {\"window\": \"2ms\"}, \"children\": ["
        "{\"type\": \"batch\", \"per\": \"host\", \"properties\": {\"tuples\": 100, "
        "\"wait\": \"1ms\"}, \"children\": [{\"type\": \"gather\", \"per\": "
        "\"thread\"}]}]}";
    static const char *const settings[][2] = {
        {"shape", "views"},     {"shape", "flat"},         {"shape", "hosts"},
        {"shape", "kary"},      {"shape", "levels"},       {"fan-out", "2"},
        {"fan-out", "0"},       {"levels", "host"},        {"levels", "all"},
        {"mode", "sequential"}, {"mode", "concurrent"},    {"threads", "2"},
        {"threads", "0"},       {"sort", "none"},          {"sort", "none"},
        {"sort", "stop"},       {"sort", "start"},         {"window", "0"},
        {"window", "2ms"},      {"window", "50ms"},        {"max", "50"},
        {"max", "999"},         {"max", "65536"},          {"batch", "100"},
        {"batch", "0"},         {"batch-wait", "1ms"},     {"ahead", "2"},
        {"ahead", "0"},         {"through-server", "yes"}, {"through-server", "no"},
        {"shape", "stages"},    {"shape", "stages"},       {"stages", gathered},
        {"stages", sorted},
    };
    enum { COUNT = sizeof settings / sizeof *settings };
    struct es_scope_config config = *es_scope_config(reading->scope);
    struct es_error error = {.text = ""};

    for (unsigned more = 1 + random_below(&reading->random, 3); more > 0; more--) {
        const char *const *setting = settings[random_below(&reading->random, COUNT)];

        assert_int_equal(es_scope_config_set(&config, setting[0], setting[1], NULL), 0);
    }
    if (config.tree.shape == ES_SHAPE_STAGES) {
        config.tree.stages = config.tree.stages ? config.tree.stages : gathered;
        config.tree.threads = 0;
        config.tree.batch = 0;
        config.sorting = ES_SORTING_NONE;
    }
    /* Without a server on this host a scope cannot read through it, and a lossless
     * scope cannot switch between the two. */
    if (!changes->toggle)
        config.tree.through_server = changes->through_server;
    if (es_scope_reconfigure(reading->scope, &config, &error) != 0)
        fail_msg("change %u: %s", reading->changes, error.text);
    reading->changes++;
}

/* Checks a batch that is used: the numbers of each element are consecutive. */
static void use(struct reading *reading, const struct es_batch *batch)
{
    for (size_t i = 0; i < batch->report_count; i++)
        if (batch->reports[i].lost)
            fail_msg("after %u changes: %llu tuples of element %u lost",
                     reading->changes, (unsigned long long)batch->reports[i].lost,
                     batch->reports[i].origin);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t origin = batch->marks[i].origin;

        if (batch->tuples[i].tag != reading->next[origin])
            fail_msg("after %u changes, %u repetitions: element %u gave %d, not %d",
                     reading->changes, reading->repetitions, origin,
                     batch->tuples[i].tag, reading->next[origin]);
        assert_int_equal(batch->marks[i].position, batch->tuples[i].tag);
        reading->next[origin]++;
    }
}

static bool is_complete(const struct changes *changes, const struct reading *reading)
{
    for (size_t i = 0; i < changes->writer_count; i++)
        if (reading->next[i] < changes->writers[i].end)
            return false;
    return true;
}

static void read_all(const struct changes *changes, struct reading *reading)
{
    time_t begun = time(NULL);
    bool repeat = false;

    while (!is_complete(changes, reading)) {
        const struct es_batch *batch;
        unsigned flags = repeat ? ES_PULL_REPEAT : 0;

        if (time(NULL) - begun > LIMIT_S)
            fail_msg("not complete after %d s and %u changes", LIMIT_S,
                     reading->changes);
        if (random_below(&reading->random, 20) == 0)
            flags |= ES_PULL_DRAIN;
        assert_int_equal(es_scope_pull(reading->scope, flags, &batch), 0);
        if (batch->notice_count)
            fail_msg("%s: %s", batch->notices[0].part,
                     strerror(-batch->notices[0].code));
        repeat = random_below(&reading->random, 4) == 0;
        reading->repetitions += repeat;
        if (!repeat)
            use(reading, batch);
        if (random_below(&reading->random, 2) == 0)
            change(reading, changes);
    }
}

static void set_all_to_block(const struct es_run *run)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);

        for (size_t j = 0; j < es_segment_view_element_count(segment); j++)
            es_element_set_block(es_segment_view_element(segment, j), true);
    }
}

void changes_run(struct changes *changes,
                 struct es_run *run,
                 struct es_servers *servers)
{
    struct reading reading = {.random = random_seed()};
    struct es_scope_config config;
    struct es_error error = {.text = ""};

    es_scope_config_init(&config);
    /* A server that is slow on a busy machine is not lost. */
    config.tree.limit_ns = LIMIT_S * UINT64_C(500000000);
    if (changes->block)
        set_all_to_block(run);
    config.lossless = changes->block;
    config.tree.through_server = changes->through_server;
    config.servers = servers;
    if (es_scope_open(run, &config, &error, &reading.scope) != 0)
        fail_msg("%s", error.text);
    do {
        for (size_t i = 0; i < changes->writer_count; i++) {
            struct changes_writer *writer = &changes->writers[i];

            writer->first = writer->end;
            writer->end += changes->tuples;
            assert_int_equal(pthread_create(&writer->thread, NULL, write_all, writer),
                             0);
        }
        read_all(changes, &reading);
        for (size_t i = 0; i < changes->writer_count; i++)
            pthread_join(changes->writers[i].thread, NULL);
    } while (reading.changes < changes->least);
    printf("# %u changes, %u repetitions\n", reading.changes, reading.repetitions);
    es_scope_close(reading.scope);
}
