/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tests of the numbers of receives against a model of MPI's matching.
 *
 * The model sends, posts, matches, cancels and forgets receives at random.  Every
 * number that is published must be that of the received message, or unknown if it
 * cannot be determined.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "wrappers/mpi/match.h"

#define SITE UINT64_C(0x401234) /* call site of all receives */

enum { SOURCES = 3, TAGS = 2, STEPS = 120, WAITING = -2 };

/* A receive of the model. */
struct taken {
    struct world *world;
    int source; /* as posted */
    int tag;
    struct esi_receive *queued;
    uint32_t number; /* if decided when it was posted */
    bool matched;
    bool cancelling; /* MPI_Cancel was called */
    bool cancelled;  /* and has succeeded */
    bool forgotten;  /* MPI_Request_free */
    bool done;
    int from; /* the message that it matched */
    int with;
    uint32_t truth;
    _Atomic int publications;
    _Atomic uint32_t published;
};

struct message {
    int source;
    int tag;
    uint32_t number;
};

/* The receives of a process on one communicator. Senders are the SOURCES ranks from
 * `first_source` on. */
struct world {
    struct esi_match *match;
    uint64_t random;
    int first_source;
    bool forgets;
    uint32_t sent[SOURCES][TAGS];
    struct taken taken[STEPS + 1];
    size_t taken_count;
    struct message early[STEPS * 2]; /* unexpected, in order of arrival */
    size_t early_count;
};

static void on_publish(void *owner, const struct es_tuple *tuple, uint64_t site)
{
    struct taken *taken = owner;

    assert_int_equal(site, SITE);
    atomic_store(&taken->published, tuple->sequence);
    atomic_fetch_add(&taken->publications, 1);
}

static bool fits(const struct taken *taken, int source, int tag)
{
    return (taken->source == ES_PEER_ANY || taken->source == source) &&
           (taken->tag == ES_TAG_ANY || taken->tag == tag);
}

static void pair(struct taken *taken, const struct message *message)
{
    taken->matched = true;
    taken->from = message->source;
    taken->with = message->tag;
    taken->truth = message->number;
}

static void arrive(struct world *world, int source, int tag)
{
    struct message message = {source, tag,
                              world->sent[source - world->first_source][tag]++};

    for (size_t i = 0; i < world->taken_count; i++) {
        struct taken *taken = &world->taken[i];

        if (!taken->matched && !taken->cancelled && fits(taken, source, tag)) {
            pair(taken, &message);
            return;
        }
    }
    world->early[world->early_count++] = message;
}

static void post(struct world *world, int source, int tag)
{
    struct taken *taken = &world->taken[world->taken_count++];

    *taken = (struct taken){.world = world, .source = source, .tag = tag};
    taken->queued = esi_match_post(world->match, source, tag, &taken->number);
    for (size_t i = 0; i < world->early_count; i++)
        if (fits(taken, world->early[i].source, world->early[i].tag)) {
            pair(taken, &world->early[i]);
            world->early_count--;
            memmove(&world->early[i], &world->early[i + 1],
                    (world->early_count - i) * sizeof world->early[0]);
            return;
        }
}

static void finish(struct world *world, struct taken *taken)
{
    struct es_tuple tuple = {.operation = 1};

    taken->done = true;
    if (taken->cancelled && taken->queued != NULL)
        esi_match_drop(world->match, taken->queued);
    else if (!taken->cancelled && taken->queued != NULL)
        esi_match_complete(world->match, taken->queued, taken->from, taken->with,
                           &tuple, SITE, taken);
    else if (!taken->cancelled)
        tuple.sequence = taken->number, on_publish(taken, &tuple, SITE);
}

static uint32_t number_of(const struct taken *taken)
{
    return taken->queued != NULL ? esi_match_number(taken->queued) : taken->number;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = number_of(*(struct taken *const *)a);
    uint32_t y = number_of(*(struct taken *const *)b);

    return (x > y) - (x < y);
}

/* Does what the wrapper of MPI_Cancel does with a receive whose number is decided. */
static void reopen(struct world *world, const struct taken *cancelled)
{
    struct taken *doubtful[STEPS];
    struct esi_receive *receives[STEPS];
    uint32_t number = number_of(cancelled);
    size_t count = 0;
    int result;

    for (size_t i = 0; i < world->taken_count; i++) {
        struct taken *taken = &world->taken[i];
        uint32_t its =
            taken->done || taken->forgotten ? ES_SEQUENCE_UNKNOWN : number_of(taken);

        if (taken->source == cancelled->source && taken->tag == cancelled->tag &&
            its != ES_SEQUENCE_UNKNOWN && its >= number)
            doubtful[count++] = taken;
    }
    qsort(doubtful, count, sizeof doubtful[0], by_number);
    for (size_t i = 0; i < count; i++)
        receives[i] = doubtful[i]->queued;
    result = esi_match_reopen(world->match, cancelled->source, cancelled->tag, number,
                              receives, count);
    if (result != 0 && result != -ESTALE)
        return;
    for (size_t i = result == 0 ? 0 : 1; i < count; i++) {
        doubtful[i]->queued = receives[i];
        doubtful[i]->number = ES_SEQUENCE_UNKNOWN;
    }
}

static void cancel(struct world *world, struct taken *taken)
{
    taken->cancelling = true;
    if (number_of(taken) != ES_SEQUENCE_UNKNOWN)
        reopen(world, taken);
    else if (taken->queued != NULL)
        esi_match_doubt(world->match, taken->queued);
    taken->cancelled = !taken->matched;
}

static void forget(struct world *world, struct taken *taken)
{
    taken->forgotten = true;
    if (taken->queued != NULL)
        esi_match_abandon(world->match, taken->queued);
    else if (taken->number != ES_SEQUENCE_UNKNOWN)
        esi_match_untrack(world->match);
}

/* A receive that the program has not completed; NULL if there is none. */
static struct taken *pick(struct world *world, bool finishable)
{
    size_t start = world->taken_count > 0
                       ? random_below(&world->random, (unsigned int)world->taken_count)
                       : 0;

    for (size_t i = 0; i < world->taken_count; i++) {
        struct taken *taken = &world->taken[(start + i) % world->taken_count];

        if (!taken->done && !taken->forgotten &&
            (!finishable || taken->matched || taken->cancelled))
            return taken;
    }
    return NULL;
}

static void step(struct world *world)
{
    unsigned int what = random_below(&world->random, 100);
    int source = world->first_source + random_int(&world->random, SOURCES);
    int tag = random_int(&world->random, TAGS);
    struct taken *taken;

    if (what < 32) {
        arrive(world, source, tag);
    } else if (what < 64) {
        /* Only from this world's sources, since other worlds may share the match. */
        post(world,
             random_below(&world->random, 4) == 0 && world->first_source == 0
                 ? ES_PEER_ANY
                 : source,
             random_below(&world->random, 4) == 0 ? ES_TAG_ANY : tag);
    } else if (what < 90) {
        taken = pick(world, true);
        if (taken != NULL)
            finish(world, taken);
    } else if (what < 99 || !world->forgets) {
        taken = pick(world, false);
        if (taken != NULL && !taken->cancelling)
            cancel(world, taken);
    } else {
        taken = pick(world, false);
        if (taken != NULL)
            forget(world, taken);
    }
}

/* Sends a message to every outstanding receive. */
static void end(struct world *world)
{
    for (size_t i = 0; i < world->taken_count; i++) {
        struct taken *taken = &world->taken[i];

        if (!taken->matched && !taken->cancelled)
            arrive(world, taken->source < 0 ? world->first_source : taken->source,
                   taken->tag < 0 ? 0 : taken->tag);
    }
    for (size_t i = world->taken_count; i > 0; i--)
        if (!world->taken[i - 1].done && !world->taken[i - 1].forgotten)
            finish(world, &world->taken[i - 1]);
}

/* Whether a forgotten receive may have taken a message of the channel.  The number is
 * also undetermined if a receive is cancelled there after others were forgotten. */
static bool may_be_unknown(const struct world *world, const struct taken *taken)
{
    bool forgotten = esi_multiple;
    bool cancelling = false;

    for (size_t i = 0; i < world->taken_count; i++) {
        const struct taken *other = &world->taken[i];

        forgotten = forgotten || other->forgotten;
        cancelling =
            cancelling || (other->cancelling && fits(other, taken->from, taken->with));
        if (other->forgotten && fits(other, taken->from, taken->with))
            return true;
    }
    return forgotten && cancelling;
}

static size_t check(const struct world *world)
{
    size_t unknown = 0;

    for (size_t i = 0; i < world->taken_count; i++) {
        const struct taken *taken = &world->taken[i];
        uint32_t published = taken->published;

        if (taken->forgotten || taken->cancelled) {
            assert_int_equal(taken->publications, 0);
            continue;
        }
        assert_int_equal(taken->publications, 1);
        if (published == ES_SEQUENCE_UNKNOWN) {
            assert_true(may_be_unknown(world, taken));
            unknown++;
        } else {
            assert_int_equal(published, taken->truth);
        }
    }
    return unknown;
}

static uint64_t current_seed;

/* Prints the seed; ES_TEST_SEED=N repeats a failure. */
static int print_seed(void **state)
{
    (void)state;
    print_message("# last seed %llu\n", (unsigned long long)current_seed);
    return 0;
}

static void run_worlds(bool forgets, unsigned int worlds)
{
    uint64_t seed = random_seed();
    size_t receives = 0;
    size_t unknown = 0;
    struct world *world = malloc(sizeof *world);

    assert_non_null(world);
    for (unsigned int i = 0; i < worlds; i++, seed++) {
        struct esi_match match;

        esi_match_init(&match, on_publish);
        memset(world, 0, sizeof *world);
        world->match = &match;
        world->random = seed;
        world->forgets = forgets;
        for (int s = 0; s < STEPS; s++)
            step(world);
        end(world);
        current_seed = seed;
        unknown += check(world);
        receives += world->taken_count;
        assert_int_equal(match.held, 0);
        esi_match_fini(&match);
    }
    free(world);
    print_message("# %zu receives, %zu unknown\n", receives, unknown);
}

static void random_traffic_gets_the_true_numbers(void **state)
{
    (void)state;
    run_worlds(false, 4000);
}

static void forgotten_receives_leave_others_true_or_unknown(void **state)
{
    (void)state;
    run_worlds(true, 4000);
}

/* --- Single behaviours ----------------------------------------------------------- */

static struct taken post_one(struct esi_match *match, int source, int tag)
{
    struct taken taken = {.source = source, .tag = tag};

    taken.queued = esi_match_post(match, source, tag, &taken.number);
    return taken;
}

static void complete_one(struct esi_match *match,
                         struct taken *taken,
                         int from,
                         int with)
{
    struct es_tuple tuple = {.operation = 1};

    assert_non_null(taken->queued);
    esi_match_complete(match, taken->queued, from, with, &tuple, SITE, taken);
}

static void a_receive_behind_a_wildcard_is_held_back_until_that_completes(void **state)
{
    struct esi_match match;
    struct taken any;
    struct taken behind;
    _Atomic uint32_t shown = 0;

    (void)state;
    esi_match_init(&match, on_publish);
    match.shown = &shown;
    any = post_one(&match, ES_PEER_ANY, 7);
    behind = post_one(&match, 1, 7);
    complete_one(&match, &behind, 1, 7);
    assert_int_equal(behind.publications, 0);
    assert_int_equal(match.held, 1);
    assert_int_equal(shown, 1);
    complete_one(&match, &any, 1, 7);
    assert_int_equal(any.published, 0);
    assert_int_equal(behind.published, 1);
    assert_int_equal(match.held, 0);
    assert_int_equal(shown, 0);
    assert_int_equal(match.queued, 0);
    esi_match_fini(&match);
}

static void a_wildcard_of_another_tag_holds_nothing_back(void **state)
{
    struct esi_match match;
    struct taken any;
    struct taken other;

    (void)state;
    esi_match_init(&match, on_publish);
    any = post_one(&match, ES_PEER_ANY, 7);
    other = post_one(&match, 1, 8);
    assert_null(other.queued);
    assert_int_equal(other.number, 0);
    complete_one(&match, &any, 2, 7);
    assert_int_equal(any.published, 0);
    esi_match_fini(&match);
}

static void what_is_held_back_at_the_end_is_published_unknown(void **state)
{
    struct esi_match match;
    struct taken any;
    struct taken behind;

    (void)state;
    esi_match_init(&match, on_publish);
    any = post_one(&match, ES_PEER_ANY, ES_TAG_ANY);
    behind = post_one(&match, 1, 7);
    complete_one(&match, &behind, 1, 7);
    esi_match_flush(&match);
    assert_int_equal(behind.publications, 1);
    assert_int_equal(behind.published, ES_SEQUENCE_UNKNOWN);
    assert_int_equal(any.publications, 0);
    esi_match_fini(&match);
}

static void held_back_receives_are_bounded_and_none_is_numbered_wrongly(void **state)
{
    enum { MANY = 10000 };
    struct esi_match match;
    struct taken any;
    struct taken *many = calloc(MANY, sizeof *many);
    struct taken late;
    size_t unknown = 0;

    (void)state;
    assert_non_null(many);
    esi_match_init(&match, on_publish);
    any = post_one(&match, ES_PEER_ANY, 7);
    for (int i = 0; i < MANY; i++) {
        struct es_tuple tuple = {.operation = 1};

        many[i] = post_one(&match, 1, 7);
        if (many[i].queued != NULL) {
            complete_one(&match, &many[i], 1, 7);
        } else {
            tuple.sequence = many[i].number;
            on_publish(&many[i], &tuple, SITE);
        }
        assert_true(match.held <= 4096);
    }
    complete_one(&match, &any, 2, 7); /* it took no message of the others */
    late = post_one(&match, 2, 7);
    assert_null(late.queued);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(many[i].publications, 1);
        unknown += many[i].published == ES_SEQUENCE_UNKNOWN;
        assert_true(many[i].published == ES_SEQUENCE_UNKNOWN ||
                    many[i].published == (uint32_t)i);
    }
    assert_true(unknown > 0);
    esi_match_fini(&match);
    free(many);
}

/* --- Threads --------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 300 };

struct actor {
    pthread_t thread;
    struct esi_match *match;
    int number;
    uint64_t seed;
    struct world *worlds[ROUNDS];
};

/* Each thread has sources of its own, so its numbers do not depend on the others. */
static void *act(void *argument)
{
    struct actor *actor = argument;

    for (int round = 0; round < ROUNDS; round++) {
        struct world *world = actor->worlds[round];

        world->match = actor->match;
        world->first_source = (actor->number + 1 + round * (THREADS + 1)) * SOURCES;
        world->random = actor->seed + (uint64_t)(round * THREADS + actor->number);
        for (int s = 0; s < STEPS; s++)
            step(world);
        end(world);
    }
    return NULL;
}

static void threads_get_the_true_numbers_on_one_match(void **state)
{
    static struct actor actors[THREADS];
    struct esi_match match;
    uint64_t seed = random_seed();

    (void)state;
    current_seed = seed;
    esi_multiple = true;
    esi_match_init(&match, on_publish);
    for (int i = 0; i < THREADS; i++) {
        actors[i] = (struct actor){.match = &match, .number = i, .seed = seed};
        for (int round = 0; round < ROUNDS; round++) {
            actors[i].worlds[round] = calloc(1, sizeof(struct world));
            assert_non_null(actors[i].worlds[round]);
        }
        assert_int_equal(pthread_create(&actors[i].thread, NULL, act, &actors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(actors[i].thread, NULL);
    assert_int_equal(match.held, 0);
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            check(actors[i].worlds[round]);
            free(actors[i].worlds[round]);
        }
    esi_match_fini(&match);
    esi_multiple = false;
}

SUITE(test_match)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_traffic_gets_the_true_numbers, print_seed),
        cmocka_unit_test_teardown(forgotten_receives_leave_others_true_or_unknown,
                                  print_seed),
        cmocka_unit_test(a_receive_behind_a_wildcard_is_held_back_until_that_completes),
        cmocka_unit_test(a_wildcard_of_another_tag_holds_nothing_back),
        cmocka_unit_test(what_is_held_back_at_the_end_is_published_unknown),
        cmocka_unit_test(held_back_receives_are_bounded_and_none_is_numbered_wrongly),
        cmocka_unit_test_teardown(threads_get_the_true_numbers_on_one_match,
                                  print_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
