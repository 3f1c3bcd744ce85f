/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Archives are read and matched by several threads: the sink gets the same events in
 * the same order as with one thread. Of an error in the archive and a refusal by the
 * sink, the first one is returned.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "eventspace/operation.h"
#include "monitors/causality/set_source.h"
#include "tests/archive/made_archive.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { RANKS = 3, STEPS = 20000, SEEDS = 2 };

/* --- Archives --------------------------------------------------------------------- */

struct run {
    struct made_archive made;
    uint64_t random;
    uint64_t now;
    uint64_t position[RANKS];
    uint32_t sent[RANKS][RANKS];
    uint32_t barriers;
};

static void append(struct run *run, uint32_t rank, const char *name, struct es_tuple is)
{
    is.operation = es_operation_by_name(name)->code;
    assert_int_equal(
        esi_archive_append(run->made.archive, rank, &is, run->position[rank]++), 0);
}

/* Appends a message. Its receive may begin before its send. */
static void make_message(struct run *run)
{
    uint32_t from = random_below(&run->random, RANKS);
    uint32_t to = (from + 1 + random_below(&run->random, RANKS - 1)) % RANKS;
    struct es_tuple tuple = {.start = run->now + 5,
                             .stop = run->now + 10,
                             .sequence = run->sent[from][to]++,
                             .peer = (int32_t)to,
                             .tag = 1,
                             .bytes = 8};

    append(run, from, "MPI_Send", tuple);
    tuple.start = run->now + random_below(&run->random, 10);
    tuple.stop = run->now + 20;
    tuple.peer = (int32_t)from;
    append(run, to, "MPI_Recv", tuple);
}

static void make_barrier(struct run *run)
{
    for (uint32_t i = 0; i < RANKS; i++)
        append(run, i, "MPI_Barrier",
               (struct es_tuple){.start = run->now + i,
                                 .stop = run->now + 10 + i,
                                 .sequence = run->barriers,
                                 .peer = ES_PEER_NONE});
    run->barriers++;
}

static void begin_run(struct run *run, unsigned seed)
{
    *run = (struct run){.random = seed, .now = 2000};
    made_archive_begin(&run->made, RANKS);
    for (unsigned i = 0; i < STEPS; i++, run->now += 30) {
        int kind = random_int(&run->random, 100);

        if (kind == 0)
            make_barrier(run);
        else if (kind == 1)
            esi_archive_lose(run->made.archive, (uint32_t)kind, 1);
        else
            make_message(run);
    }
    made_archive_close(&run->made);
}

/* --- Reading ---------------------------------------------------------------------- */

struct taken {
    uint64_t events;
    uint64_t traces;
    uint64_t most; /* number of events that the sink accepts */
    uint64_t hash;
    struct es_error error;
    struct esi_set_source_facts facts;
};

static void mix(struct taken *taken, uint64_t number)
{
    taken->hash = esi_hash_mix(taken->hash, number);
}

static void mix_text(struct taken *taken, const char *text)
{
    taken->hash = esi_hash_mix_bytes(taken->hash, text, strlen(text));
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct taken *taken = data;

    assert_int_equal(trace, taken->traces);
    taken->traces++;
    mix(taken, taken->events);
    mix_text(taken, name);
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct taken *taken = data;

    assert_true(event->id.trace < taken->traces);
    if (taken->events == taken->most)
        return -ENOSPC;
    taken->events++;
    mix(taken, event->id.trace);
    mix(taken, event->id.index);
    mix(taken, event->kind);
    for (uint32_t i = 0; i < event->partner_count; i++) {
        mix(taken, event->partners[i].trace);
        mix(taken, event->partners[i].index);
    }
    mix_text(taken, event->type);
    mix_text(taken, event->text);
    for (size_t i = 0; i < event->attribute_count; i++) {
        mix_text(taken, event->attributes[i].name);
        mix_text(taken, event->attributes[i].text ? event->attributes[i].text : "");
        mix(taken, (uint64_t)event->attributes[i].number);
    }
    return 0;
}

static int read_run(const struct run *run,
                    unsigned threads,
                    bool attributes,
                    uint64_t most,
                    struct taken *taken)
{
    const struct esi_set_source_config config = {
        .path = run->made.directory,
        .sink = {take_trace, take_event, taken},
        .attributes = attributes,
        .threads = threads};

    *taken = (struct taken){.most = most};
    return esi_set_source_read(&config, &taken->facts, &taken->error);
}

/* Reads the run with one thread and with two; the results have to be equal. */
static int compare_threads(const struct run *run,
                           bool attributes,
                           uint64_t most,
                           struct taken *taken)
{
    struct taken alone;
    int result = read_run(run, 1, attributes, most, &alone);

    assert_int_equal(read_run(run, 2, attributes, most, taken), result);
    assert_int_equal(taken->events, alone.events);
    assert_int_equal(taken->traces, alone.traces);
    assert_true(taken->hash == alone.hash);
    assert_string_equal(taken->error.text, alone.error.text);
    assert_string_equal(taken->error.source, alone.error.source);
    assert_memory_equal(&taken->facts.totals, &alone.facts.totals,
                        sizeof alone.facts.totals);
    return result;
}

/* --- Tests ------------------------------------------------------------------------ */

static void threads_change_nothing(void **state)
{
    struct taken taken;
    struct run run;

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        begin_run(&run, seed);
        assert_int_equal(compare_threads(&run, false, UINT64_MAX, &taken), 0);
        assert_true(taken.events > (uint64_t)STEPS);
        assert_true(taken.facts.totals.collectives > 0);
        assert_true(taken.facts.totals.messages > (uint64_t)STEPS / 2);
        assert_int_equal(compare_threads(&run, true, UINT64_MAX, &taken), 0);
        made_archive_remove(&run.made);
    }
}

static void a_sink_ends_the_reading(void **state)
{
    struct taken taken;
    struct run run;

    (void)state;
    begin_run(&run, 4);
    for (uint64_t most = 0; most < (uint64_t)STEPS; most += 7777) {
        assert_int_equal(compare_threads(&run, true, most, &taken), -ENOSPC);
        assert_string_equal(taken.error.text, "");
        assert_int_equal(taken.events, most);
    }
    made_archive_remove(&run.made);
}

/* Overwrites as many bytes as a packet has, at a random position in a stream. */
static void damage(struct run *run)
{
    size_t length;
    char *bytes = made_archive_load(&run->made, "made/1.0-all.1", &length);
    size_t at = random_next(&run->random) % (length - 2 * MADE_PACKET_BYTES);

    memset(bytes + at, 0xff, MADE_PACKET_BYTES);
    made_archive_store(&run->made, "made/1.0-all.1", bytes, length);
    free(bytes);
}

static void what_comes_before_damage_is_given(void **state)
{
    struct taken taken;
    struct run run;

    (void)state;
    begin_run(&run, 4);
    /* The next damage may be before or after the previous one. */
    for (int i = 0; i < 3; i++) {
        damage(&run);
        assert_int_equal(compare_threads(&run, false, UINT64_MAX, &taken), -EBADMSG);
        assert_non_null(strstr(taken.error.text, "is damaged"));
        /* The refusal comes before the damage, so it is returned. */
        assert_true(taken.events > 0);
        assert_int_equal(compare_threads(&run, false, taken.events - 1, &taken),
                         -ENOSPC);
        assert_string_equal(taken.error.text, "");
    }
    made_archive_remove(&run.made);
}

SUITE(test_archive_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_sink_ends_the_reading),
        cmocka_unit_test(what_comes_before_damage_is_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
