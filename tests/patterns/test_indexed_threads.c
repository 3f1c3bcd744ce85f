/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_indexed_threads.c - several threads that search one support give what one gives,
 * in the same order: small enough for the thread sanitizer.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/now.h"
#include "monitors/patterns/search.h"
#include "tests/order/made_computation.h"

enum {
    EVENTS = 300,
    TRACES = 9,
    EVENTS_OF_MATCHES = 1 << 20, /* remembered of a search, at most */
};

static const char text[] = "A := [type =~ \"a\"];\n"
                           "B := [type =~ \"b\"];\n"
                           "C := [type =~ \"c\"];\n"
                           "A $a, *u; B $b, ~h; C $c;\n"
                           "Pairs := A --> B;\n"
                           "Alike := A || A;\n"
                           "Rising := A --> (B --> C);\n"
                           "Between := A -(C)-> B;\n"
                           "Sides := ($a --> $b) | ($a || $c);\n"
                           "Hidden := ($a --> ~h) & ($a || $c);\n"
                           "Last := ($c !--> *u) & ($b || $c);\n"
                           "Many := (A --> at least 3 of B) & (A || C);\n";

static const char *const predicates[] = {"Pairs", "Alike",  "Rising", "Between",
                                         "Sides", "Hidden", "Last",   "Many"};

static const char *const types[] = {"a", "b", "c", "ab", "d", "d", "d", "d"};

struct world {
    struct made_computation *made;
    struct es_pattern_file *file;
    struct es_domains *domains;
    struct es_order *order;
};

/* The matches of one search, one after the other, each after its number of events. */
struct answer {
    uint32_t *words;
    size_t count;
    uint64_t matches;
    struct es_search_statistics statistics;
};

/* --- Events ----------------------------------------------------------------------- */

static void give(struct world *world, uint32_t number, struct made_draw *draw)
{
    const struct made_event *event = &world->made->events[number];
    struct es_set_event given = {
        .id = event->id,
        .kind = event->kind,
        .partner_count = event->partner_count,
        .partners = event->partners,
        .type = types[made_draw_below(draw, sizeof types / sizeof types[0])],
        .text = "",
    };
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = es_domains_sink(world->domains);

    assert_int_equal(order.event(order.data, &given), 0);
    assert_int_equal(domains.event(domains.data, &given), 0);
}

static void world_init(struct world *world, uint64_t seed, enum made_shape shape)
{
    struct made_config how = {
        .shape = shape, .seed = seed, .traces = TRACES, .events = EVENTS};
    struct es_order_config config;
    struct es_error error = {0};
    struct es_set_sink order;
    struct es_set_sink domains;
    struct made_draw draw;

    made_draw_init(&draw, seed);
    es_order_config_init(&config);
    world->made = made_computation_create(&how);
    assert_int_equal(es_order_create(&config, &error, &world->order), 0);
    assert_int_equal(
        es_pattern_file_parse(text, sizeof text - 1, "text", &world->file, &error), 0);
    assert_int_equal(
        es_domains_create(world->file, NULL, NULL, &world->domains, &error), 0);
    order = es_order_sink(world->order);
    domains = es_domains_sink(world->domains);
    for (uint32_t trace = 0; trace < world->made->traces; trace++) {
        assert_int_equal(order.trace(order.data, trace, "T"), 0);
        assert_int_equal(domains.trace(domains.data, trace, "T"), 0);
    }
    for (uint32_t i = 0; i < world->made->count; i++)
        give(world, i, &draw);
    assert_int_equal(es_domains_finish(world->domains), 0);
}

static void world_fini(struct world *world)
{
    es_domains_destroy(world->domains);
    es_pattern_file_destroy(world->file);
    es_order_destroy(world->order);
    made_computation_destroy(world->made);
}

/* --- Searches --------------------------------------------------------------------- */

static int take(void *data, const struct es_event_id *events, size_t count)
{
    struct answer *answer = data;

    if (answer->count + 1 + 2 * count > EVENTS_OF_MATCHES)
        return 1;
    answer->words[answer->count++] = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        answer->words[answer->count++] = events[i].trace;
        answer->words[answer->count++] = events[i].index;
    }
    answer->matches++;
    return 0;
}

static struct answer search(const struct world *world,
                            const char *predicate,
                            const struct es_search_config *config)
{
    struct answer answer = {.words = calloc(EVENTS_OF_MATCHES, sizeof *answer.words)};
    const struct es_match_sink sink = {take, &answer};
    struct es_error error = {0};

    assert_non_null(answer.words);
    assert_int_equal(es_search_run(world->file, es_pattern_find(world->file, predicate),
                                   world->domains, world->order, config, &sink,
                                   &answer.statistics, &error),
                     0);
    return answer;
}

static void check_same(const struct answer *one, const struct answer *many)
{
    assert_int_equal(many->matches, one->matches);
    assert_int_equal(many->count, one->count);
    assert_memory_equal(many->words, one->words, one->count * sizeof *one->words);
    assert_int_equal(many->statistics.assignments, one->statistics.assignments);
    assert_int_equal(many->statistics.is_complete, one->statistics.is_complete);
}

static void check_predicate(const struct world *world,
                            const char *predicate,
                            uint64_t limit)
{
    struct es_search_config config;
    struct answer one;

    es_search_config_init(&config);
    config.engine = "indexed";
    config.limit = limit;
    one = search(world, predicate, &config);
    for (config.threads = 2; config.threads <= 8; config.threads += 3) {
        struct answer many = search(world, predicate, &config);

        check_same(&one, &many);
        free(many.words);
    }
    free(one.words);
}

/* --- Tests ------------------------------------------------------------------------ */

static void matches_come_in_one_order_for_any_number_of_threads(void **state)
{
    static const enum made_shape shapes[] = {MADE_NEAR, MADE_CLIENTS, MADE_SYNCS};
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct world world;

        world_init(&world, seed + s, shapes[s]);
        for (unsigned i = 0; i < sizeof predicates / sizeof predicates[0]; i++) {
            check_predicate(&world, predicates[i], 0);
            check_predicate(&world, predicates[i], 1);
            check_predicate(&world, predicates[i], 37);
        }
        world_fini(&world);
    }
}

static void what_is_cancelled_ends_with_what_was_found(void **state)
{
    atomic_bool is_cancelled = true;
    struct es_search_config config;
    struct world world;
    struct answer answer;

    (void)state;
    world_init(&world, 1, MADE_NEAR);
    es_search_config_init(&config);
    config.engine = "indexed";
    config.threads = 4;
    config.is_cancelled = &is_cancelled;
    answer = search(&world, "Rising", &config);
    assert_false(answer.statistics.is_complete);
    free(answer.words);

    atomic_store(&is_cancelled, false);
    config.deadline_ns = es_now_ns(CLOCK_MONOTONIC) + 1000000;
    answer = search(&world, "Rising", &config);
    config.deadline_ns = 0;
    free(answer.words);
    answer = search(&world, "Rising", &config);
    assert_true(answer.statistics.is_complete);
    assert_true(answer.matches > 0);
    free(answer.words);
    world_fini(&world);
}

/* Not of threads, but of the same predicates. */
static void check_explained(const struct world *world,
                            const char *predicate,
                            const char *const *expected)
{
    struct es_search_config config;
    struct es_error error = {0};
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);

    es_search_config_init(&config);
    config.engine = "indexed";
    assert_non_null(stream);
    assert_int_equal(
        es_search_explain(world->file, es_pattern_find(world->file, predicate),
                          world->domains, world->order, &config, stream, &error),
        0);
    fclose(stream);
    for (; *expected; expected++)
        if (!strstr(out, *expected))
            fail_msg("no \"%s\" in:\n%s", *expected, out);
    free(out);
}

static void a_plan_says_what_ranges_tell_and_where_it_begins(void **state)
{
    static const char *const alike[] = {
        "A concurrent with A#2  (ranges)", "begins with A:",
        "may be exchanged, so that only rising values are searched: A, A#2",
        "each needs a trace of its own", NULL};
    static const char *const between[] = {"A before B  (ranges)", "for all ",
                                          "(gives ranges of A, B)", NULL};
    static const char *const many[] = {"(tested)", NULL};
    struct world world;

    (void)state;
    world_init(&world, 1, MADE_NEAR);
    check_explained(&world, "Alike", alike);
    check_explained(&world, "Between", between);
    check_explained(&world, "Many", many);
    world_fini(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_come_in_one_order_for_any_number_of_threads),
        cmocka_unit_test(what_is_cancelled_ends_with_what_was_found),
        cmocka_unit_test(a_plan_says_what_ranges_tell_and_where_it_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
