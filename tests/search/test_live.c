/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_live.c - when matches are delivered while events arrive, and what is stored. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/live/live.h"
#include "tests/suites.h"

enum { MATCHES = 1024 };

/* --- One predicate and its matches ------------------------------------------------ */

struct search {
    struct es_pattern_file *file;
    struct es_order *order;
    struct esi_live *live;
    struct es_set_sink sink;
    char told[256]; /* "0.1 1.2; 0.3;" */
    unsigned matches;
    int result; /* returned by the sink of matches */
    struct match {
        struct es_event_id events[2];
    } list[MATCHES];              /* the first ones */
    const struct search *only_of; /* allows its matches only; NULL = any */
};

static bool has_match(const struct search *search, const struct match *match)
{
    for (unsigned i = 0; i < search->matches && i < MATCHES; i++)
        if (memcmp(&search->list[i], match, sizeof *match) == 0)
            return true;
    return false;
}

static int tell(void *data, const struct es_event_id *events, size_t count)
{
    struct search *search = data;
    struct match match = {.events = {{0, 0}, {0, 0}}};

    for (size_t i = 0; i < count && i < 2; i++)
        match.events[i] = events[i];
    if (search->only_of)
        assert_true(has_match(search->only_of, &match));
    if (search->matches < MATCHES)
        search->list[search->matches] = match;
    search->matches++;
    for (size_t i = 0; i <= count; i++) {
        size_t length = strlen(search->told);
        if (i < count)
            snprintf(search->told + length, sizeof search->told - length, "%s%u.%u",
                     i > 0 ? " " : "", events[i].trace, events[i].index);
        else
            snprintf(search->told + length, sizeof search->told - length, ";");
    }
    return search->result;
}

/* Searches predicate Q on two traces. */
static void set_up_order(struct search *search,
                         const char *text,
                         const struct esi_live_config *given,
                         uint64_t memory_bytes)
{
    struct esi_live_wanted wanted = {0, {tell, search}};
    struct esi_order_config order_config = {.memory_bytes = memory_bytes};
    struct esi_live_config config;
    struct es_error error = {.text = ""};

    *search = (struct search){.file = NULL};
    if (es_pattern_file_parse(text, strlen(text), "test", &search->file, &error) < 0)
        fail_msg("%s", error.text);
    wanted.predicate = es_pattern_find(search->file, "Q");
    esi_live_config_init(&config);
    assert_int_equal(0, esi_order_create(&order_config, &error, &search->order));
    assert_int_equal(0,
                     esi_live_create(search->file, &wanted, 1, search->order,
                                     given ? given : &config, &search->live, &error));
    search->sink = esi_live_sink(search->live);
    assert_int_equal(0, search->sink.trace(search->sink.data, 0, "P"));
    assert_int_equal(0, search->sink.trace(search->sink.data, 1, "Q"));
}

static void set_up(struct search *search,
                   const char *text,
                   const struct esi_live_config *given)
{
    set_up_order(search, text, given, 0);
}

static void tear_down(struct search *search)
{
    esi_live_destroy(search->live);
    es_order_destroy(search->order);
    es_pattern_file_destroy(search->file);
}

/* Adds an event, which receives `from` unless its index is 0. */
static int give(struct search *search,
                uint32_t trace,
                const char *type,
                struct es_event_id from)
{
    uint32_t index = es_order_count(search->order, trace) + 1;
    struct es_event_attribute time = {"time", NULL, 1000 * (int64_t)index};
    struct es_set_event event = {.id = {trace, index},
                                 .kind = ES_EVENT_SEND,
                                 .type = type,
                                 .text = "",
                                 .attributes = &time,
                                 .attribute_count = 1};

    if (from.index > 0) {
        event.kind = ES_EVENT_RECEIVE;
        event.partners = &from;
        event.partner_count = 1;
    }
    return search->sink.event(search->sink.data, &event);
}

static const struct es_event_id nothing = {0, 0};

static void take(struct search *search, uint32_t trace, const char *type)
{
    assert_int_equal(0, give(search, trace, type, nothing));
}

static struct esi_live_statistics statistics_of(const struct search *search)
{
    struct esi_live_statistics statistics;

    esi_live_statistics(search->live, &statistics);
    return statistics;
}

#define CLASSES                                                                        \
    "A := [\"\", \"a\", \"\"]; B := [\"\", \"b\", \"\"]; C := [\"\", \"c\", \"\"];"    \
    "A $a; B $b; C *c;"

/* --- Time of delivery ------------------------------------------------------------- */

static void a_match_is_told_with_its_last_event(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a --> $b;", NULL);
    take(&search, 0, "a");
    take(&search, 1, "b");
    assert_string_equal("", search.told);
    take(&search, 0, "b");
    assert_string_equal("0.1 0.2;", search.told);
    assert_int_equal(0, esi_live_end(search.live));
    assert_int_equal(1, esi_live_matches(search.live, 0));
    tear_down(&search);
}

/* No future event can lie between two existing ones. */
static void the_limited_operator_is_decided_at_once(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a -(C)-> $b;", NULL);
    take(&search, 0, "a");
    take(&search, 0, "b");
    assert_string_equal("0.1 0.2;", search.told);
    take(&search, 0, "c");
    take(&search, 0, "b");
    assert_string_equal("0.1 0.2;", search.told);
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal("0.1 0.2;", search.told);
    tear_down(&search);
}

static void what_may_still_fail_waits_for_the_end(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a !--> *c;", NULL);
    take(&search, 0, "a");
    take(&search, 1, "a");
    assert_int_equal(2, statistics_of(&search).candidates);
    take(&search, 0, "c");
    assert_int_equal(1, statistics_of(&search).candidates);
    assert_string_equal("", search.told);
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal("1.1;", search.told);
    tear_down(&search);
}

static void what_only_the_past_can_refuse_is_decided_at_once(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := *c !--> $a;", NULL);
    take(&search, 0, "a");
    assert_string_equal("0.1;", search.told);
    take(&search, 0, "c");
    take(&search, 0, "a");
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal("0.1;", search.told);
    tear_down(&search);
}

static void at_least_is_decided_when_it_is_reached(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a --> at least 2 of B;", NULL);
    take(&search, 0, "a");
    take(&search, 0, "b");
    assert_string_equal("", search.told);
    take(&search, 0, "b");
    assert_string_equal("0.1;", search.told);
    tear_down(&search);
}

static void at_most_is_decided_at_the_end(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a --> at most 1 of B;", NULL);
    take(&search, 0, "a");
    take(&search, 0, "b");
    take(&search, 0, "a");
    take(&search, 0, "b");
    assert_int_equal(1, statistics_of(&search).candidates);
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal("0.3;", search.told);
    tear_down(&search);
}

/* An empty universal class makes it true, but only at the end. */
static void no_values_at_the_end_are_no_obstacle(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a --> *c;", NULL);
    take(&search, 0, "a");
    assert_string_equal("", search.told);
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal("0.1;", search.told);
    tear_down(&search);
}

static int give_sync(struct search *search,
                     struct es_event_id id,
                     const char *type,
                     struct es_event_id partner)
{
    struct es_set_event event = {.id = id,
                                 .kind = ES_EVENT_SYNC,
                                 .type = type,
                                 .text = "",
                                 .partners = &partner,
                                 .partner_count = 1};

    return search->sink.event(search->sink.data, &event);
}

/* Each half of a sync receives the other one, whichever comes first. */
static void both_halves_of_a_sync_are_received(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a => $b;", NULL);
    for (uint32_t i = 1; i <= 2; i++) {
        struct es_event_id a = {0, i}, b = {1, i};
        assert_int_equal(0, i == 1 ? give_sync(&search, a, "a", b)
                                   : give_sync(&search, b, "b", a));
        assert_int_equal(0, i == 1 ? give_sync(&search, b, "b", a)
                                   : give_sync(&search, a, "a", b));
    }
    assert_string_equal("0.1 1.1;0.2 1.2;", search.told);
    tear_down(&search);
}

static void a_sink_may_have_enough_or_fail(void **state)
{
    struct search search;

    (void)state;
    set_up(&search, CLASSES "Q := $a;", NULL);
    search.result = 1;
    take(&search, 0, "a");
    take(&search, 0, "a");
    assert_int_equal(1, search.matches);
    assert_true(esi_live_has_enough(search.live));
    tear_down(&search);
    set_up(&search, CLASSES "Q := $a;", NULL);
    search.result = -77;
    assert_int_equal(-77, give(&search, 0, "a", nothing));
    tear_down(&search);
}

/* --- Retention -------------------------------------------------------------------- */

/* Two traces that exchange messages all the time. */
static void stream_long_of(struct search *search, unsigned rounds, const char *type)
{
    for (unsigned i = 0; i < rounds; i++) {
        struct es_event_id ping = {0, es_order_count(search->order, 0) + 2};
        struct es_event_id pong = {1, es_order_count(search->order, 1) + 4};
        take(search, 0, type);
        take(search, 0, "ping");
        take(search, 1, "x");
        take(search, 1, "x");
        assert_int_equal(0, give(search, 1, "y", ping));
        take(search, 1, "pong");
        assert_int_equal(0, give(search, 0, "y", pong));
        take(search, 0, "x");
    }
}

static void stream_long(struct search *search, unsigned rounds)
{
    stream_long_of(search, rounds, "a");
}

static void what_no_match_can_take_is_dropped(void **state)
{
    static const char *const texts[] = {
        "Q := $a || $b;",
        "Q := $b --> $a;",
        "Q := ($a --> $b) within 3us;",
        "Q := $b --> $a --> $b;",
        "Q := $b --> at least 3 of A;",
        "Q := $b || at most 2 of A;",
        "Q := $a --> at least 3 of B;",
        "Q := $a -(A)-> $b;",
        "X := [\"\", \"x\", \"\"]; X ~x; Q := $a --> ~x;",
    };
    struct esi_live_config config;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 256;
    config.skew_ns = 10000;
    config.traces_are_told = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct esi_live_statistics statistics;
        struct search search;
        char text[256];
        snprintf(text, sizeof text, CLASSES "%s", texts[i]);
        set_up(&search, text, &config);
        stream_long(&search, 5000);
        statistics = statistics_of(&search);
        assert_true(statistics.dropped_events > 4000);
        assert_true(statistics.kept_events < 600);
        assert_true(statistics.is_complete);
        assert_int_equal(40000, statistics.events);
        tear_down(&search);
    }
}

/* An event that no variable needs any more is still part of matches that are values. */
static void values_have_the_times_of_events_that_could_go(void **state)
{
    struct esi_live_config config;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 1;
    config.traces_are_told = true;
    set_up(&search,
           CLASSES "X := [\"\", \"x\", \"\"]; A ~s; R := C | ~s => B; "
                   "S := (R !|| X) | C; S $v; Q := ($v !|| X) within 100us;",
           &config);
    take(&search, 0, "a");
    assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, 1}));
    take(&search, 1, "x");
    take(&search, 1, "x");
    assert_int_equal(0, esi_live_end(search.live));
    assert_string_equal(search.told, "1.1 1.2;1.1 1.2 1.3;1.1 1.3;");
    tear_down(&search);
}

static void beyond_the_limit_the_oldest_are_lost(void **state)
{
    struct esi_live_config config;
    struct esi_live_statistics statistics;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 64;
    config.kept_events = 500;
    set_up(&search, CLASSES "Q := $a --> $b;", &config);
    stream_long(&search, 2000);
    statistics = statistics_of(&search);
    assert_true(statistics.kept_events <= 600);
    assert_true(statistics.lost_events > 1000);
    assert_false(statistics.is_complete);
    assert_int_equal(0, search.matches);
    take(&search, 0, "b");
    assert_true(search.matches > 100);
    tear_down(&search);
}

static void candidates_have_a_limit(void **state)
{
    struct esi_live_config config;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.kept_candidates = 3;
    set_up(&search, CLASSES "Q := $a !--> *c;", &config);
    for (unsigned i = 0; i < 5; i++)
        take(&search, 0, "a");
    assert_int_equal(3, statistics_of(&search).candidates);
    assert_int_equal(2, statistics_of(&search).lost_candidates);
    assert_false(statistics_of(&search).is_complete);
    assert_int_equal(0, esi_live_end(search.live));
    assert_int_equal(3, search.matches);
    tear_down(&search);
}

/* If there are many candidates they are not checked at each value,
 * but before one is lost. */
static void many_candidates_are_refused_before_any_is_lost(void **state)
{
    struct esi_live_config config;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.kept_candidates = 100;
    set_up(&search, CLASSES "Q := $a !--> *c;", &config);
    for (unsigned i = 0; i < 100; i++)
        take(&search, 0, "a");
    assert_int_equal(100, statistics_of(&search).candidates);
    take(&search, 0, "c");
    for (unsigned i = 0; i < 50; i++)
        take(&search, 0, "a");
    assert_int_equal(0, statistics_of(&search).lost_candidates);
    assert_int_equal(50, statistics_of(&search).candidates);
    assert_int_equal(0, esi_live_end(search.live));
    assert_int_equal(50, search.matches);
    tear_down(&search);
}

/* Few events of the classes, with many others in between. */
static void stream_rare(struct search *search)
{
    for (unsigned i = 0; i < 8; i++) {
        take(search, 0, "a");
        take(search, 1, "b");
        take(search, 0, i == 3 ? "c" : "x");
        stream_long_of(search, 1000, "x");
        take(search, 0, "b");
    }
}

static bool order_forgot(const struct search *search)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(search->order, &statistics);
    return statistics.forgotten_events > 0;
}

/* A send that is received soon is in time, however many events came before. */
static void partners_that_come_in_time_are_not_missed(void **state)
{
    struct esi_live_config config;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 64;
    config.kept_events = 200;
    config.traces_are_told = true;
    set_up(&search, CLASSES "Q := A.B;", &config);
    for (uint32_t i = 1; i <= 2000; i++) {
        take(&search, 0, "a");
        assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, i}));
    }
    assert_int_equal(2000, search.matches);
    assert_true(statistics_of(&search).is_complete);
    /* A late receive that is in no class of the pattern does not matter. */
    assert_int_equal(0, give(&search, 1, "x", (struct es_event_id){0, 1}));
    assert_true(statistics_of(&search).is_complete);
    assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, 1}));
    assert_int_equal(1, statistics_of(&search).missed_partners);
    assert_false(statistics_of(&search).is_complete);
    tear_down(&search);
}

/* Sends wait for their receives while there is room. A dropped send is a loss only if
 * it is received later. */
static void sends_that_are_received_late_are_missed(void **state)
{
    struct esi_live_config config;
    struct search search;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 64;
    config.kept_events = 400;
    set_up(&search, CLASSES "Q := ($a => $b) & $a.time < $b.time;", &config);
    for (uint32_t i = 1; i <= 2000; i++) {
        take(&search, 1, "x");
        take(&search, 0, "a");
        assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, i}));
    }
    assert_int_equal(2000, search.matches);
    assert_true(statistics_of(&search).kept_events < 500);
    assert_int_equal(0, statistics_of(&search).lost_events);
    assert_true(statistics_of(&search).is_complete);
    assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, 2000}));
    assert_int_equal(2001, search.matches);
    assert_true(statistics_of(&search).is_complete);
    assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, 1}));
    assert_int_equal(1, statistics_of(&search).missed_partners);
    assert_false(statistics_of(&search).is_complete);
    tear_down(&search);
}

/* A class with partners is itself a partner: the lists of partners do not keep more
 * events than otherwise. */
static void partners_of_partners_are_forgotten(void **state)
{
    struct esi_live_config config;
    struct search search;
    uint64_t bytes = 0;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 64;
    config.kept_events = 200;
    config.kept_matches = 100;
    set_up(&search, CLASSES "D := A.B; E := B.D; Q := E;", &config);
    for (uint32_t i = 1; i <= 20000; i++) {
        take(&search, 0, "a");
        assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, i}));
        if (i == 2000)
            bytes = statistics_of(&search).bytes;
    }
    assert_int_equal(20000, search.matches);
    assert_true(statistics_of(&search).bytes <= bytes + bytes / 4);
    assert_int_equal(0, statistics_of(&search).missed_partners);
    assert_int_equal(0, give(&search, 1, "b", (struct es_event_id){0, 1}));
    assert_int_equal(1, statistics_of(&search).missed_partners);
    tear_down(&search);
}

/* Events that the order has forgotten seem to be unordered; this
 * must not make a match. */
static void what_the_order_has_forgotten_makes_no_match(void **state)
{
    static const char *const texts[] = {
        "Q := $a || $b;", "Q := ($a --> $b) & ($a !--> *c);", "Q := *c !--> $b;",
        "Q := $a --> at most 1 of C;", "Q := $a -(C)-> $b;"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct search small, large;
        char text[256];

        snprintf(text, sizeof text, CLASSES "%s", texts[i]);
        set_up_order(&large, text, NULL, 0);
        set_up_order(&small, text, NULL, 4096);
        small.only_of = &large;
        stream_rare(&large);
        stream_rare(&small);
        assert_int_equal(0, esi_live_end(large.live));
        assert_int_equal(0, esi_live_end(small.live));
        assert_true(statistics_of(&large).is_complete);
        assert_true(large.matches > 0);
        assert_true(small.matches <= large.matches);
        if (small.matches < large.matches)
            assert_false(statistics_of(&small).is_complete);
        assert_true(order_forgot(&small));
        tear_down(&small);
        tear_down(&large);
    }
}

/* --- Many operands ---------------------------------------------------------------- */

/* Searches `sides` alternatives without matches and two with matches. */
static void search_many_sides(unsigned sides)
{
    size_t room = 64 + (size_t)sides * 40, length;
    char *text = malloc(room);
    struct search search;

    assert_non_null(text);
    length = (size_t)snprintf(text, room, "%s", CLASSES "Q := (A --> B)");
    for (unsigned i = 0; i < sides; i++)
        length += (size_t)snprintf(text + length, room - length,
                                   " | (A --> [\"\", \"n%u\", \"\"])", i);
    snprintf(text + length, room - length, " | C;");
    set_up(&search, text, NULL);
    take(&search, 0, "a");
    take(&search, 0, "b");
    take(&search, 1, "c");
    assert_int_equal(0, esi_live_end(search.live));
    assert_int_equal(2, esi_live_matches(search.live, 0));
    assert_non_null(strstr(search.told, "0.1 0.2;"));
    assert_non_null(strstr(search.told, "1.1;"));
    tear_down(&search);
    free(text);
}

static void many_sides_are_searched(void **state)
{
    (void)state;
    search_many_sides(257);
    search_many_sides(1000);
    search_many_sides(5000);
}

SUITE(test_live)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_match_is_told_with_its_last_event),
        cmocka_unit_test(many_sides_are_searched),
        cmocka_unit_test(the_limited_operator_is_decided_at_once),
        cmocka_unit_test(what_may_still_fail_waits_for_the_end),
        cmocka_unit_test(what_only_the_past_can_refuse_is_decided_at_once),
        cmocka_unit_test(at_least_is_decided_when_it_is_reached),
        cmocka_unit_test(at_most_is_decided_at_the_end),
        cmocka_unit_test(no_values_at_the_end_are_no_obstacle),
        cmocka_unit_test(both_halves_of_a_sync_are_received),
        cmocka_unit_test(a_sink_may_have_enough_or_fail),
        cmocka_unit_test(what_no_match_can_take_is_dropped),
        cmocka_unit_test(values_have_the_times_of_events_that_could_go),
        cmocka_unit_test(beyond_the_limit_the_oldest_are_lost),
        cmocka_unit_test(candidates_have_a_limit),
        cmocka_unit_test(many_candidates_are_refused_before_any_is_lost),
        cmocka_unit_test(partners_that_come_in_time_are_not_missed),
        cmocka_unit_test(sends_that_are_received_late_are_missed),
        cmocka_unit_test(partners_of_partners_are_forgotten),
        cmocka_unit_test(what_the_order_has_forgotten_makes_no_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
