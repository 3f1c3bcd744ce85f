/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_engine_closure.c - the search of the thesis: the examples of the semantics, with
 * every method of closures.
 *
 * Matches are written as events "p1" of trace P. The events of a match are joined by
 * commas; matches are sorted and separated by blanks.  "-" is the match without events.
 */
#include "config.h"

#include "monitors/search/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/thesis/successors.h"
#include "monitors/search/thesis/tuning.h"
#include "tests/search/small_set.h"
#include "tests/suites.h"

/* --- A text and events to search -------------------------------------------------- */

struct setting {
    const struct small_set *set;
    struct es_pattern_file *file;
    struct es_order *order;
    struct esi_domains *domains;
    struct esi_successors *successors;
};

/* Passes everything to three sinks. */
struct fork {
    struct es_set_sink sinks[3];
};

static int fork_trace(void *data, uint32_t trace, const char *name)
{
    struct fork *fork = data;

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(fork->sinks[i].trace(fork->sinks[i].data, trace, name), 0);
    return 0;
}

static int fork_event(void *data, const struct es_set_event *event)
{
    struct fork *fork = data;

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(fork->sinks[i].event(fork->sinks[i].data, event), 0);
    return 0;
}

static void begin(struct setting *setting,
                  const struct small_set *set,
                  const char *text)
{
    struct es_error error = {{0}, 0, 0, {0}};
    struct esi_order_config config = {.store = NULL};
    struct fork fork;
    struct es_set_sink sink = {fork_trace, fork_event, &fork};

    *setting = (struct setting){.set = set};
    if (es_pattern_file_parse(text, strlen(text), "text", &setting->file, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_order_create(&config, NULL, &setting->order), 0);
    assert_int_equal(
        esi_domains_create(setting->file, NULL, NULL, &setting->domains, &error), 0);
    assert_int_equal(esi_successors_create(&setting->successors), 0);
    fork.sinks[0] = es_order_sink(setting->order);
    fork.sinks[1] = esi_domains_sink(setting->domains);
    fork.sinks[2] = esi_successors_sink(setting->successors);
    assert_int_equal(small_set_stream(set, NULL, &sink), 0);
    assert_int_equal(esi_domains_finish(setting->domains), 0);
    esi_successors_finish(setting->successors);
}

static void end(struct setting *setting)
{
    esi_successors_destroy(setting->successors);
    esi_domains_destroy(setting->domains);
    es_order_destroy(setting->order);
    es_pattern_file_destroy(setting->file);
}

enum { MATCHES = 128, MATCH_TEXT = 80 };

struct found {
    const struct small_set *set;
    size_t count;
    char matches[MATCHES][MATCH_TEXT];
};

/* Adds a match as text, with names of traces in lower case. */
static int add_found(void *data, const struct es_event_id *events, size_t count)
{
    struct found *found = data;
    char *text = found->matches[found->count];
    size_t used = 0;

    assert_true(found->count < MATCHES);
    snprintf(text, MATCH_TEXT, "-");
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, MATCH_TEXT - used, "%s%c%u", i ? "," : "",
                                 found->set->names[events[i].trace][0] | 32,
                                 events[i].index);
    assert_true(used < MATCH_TEXT);
    found->count++;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void join(struct found *found, char *text, size_t room)
{
    size_t used = 0;

    qsort(found->matches, found->count, MATCH_TEXT, compare);
    text[0] = '\0';
    for (size_t i = 0; i < found->count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? " " : "",
                                 found->matches[i]);
    assert_true(used < room);
}

static struct esi_search_statistics run(const struct setting *setting,
                                        const char *predicate,
                                        const struct esi_search_config *config,
                                        struct found *found)
{
    struct esi_match_sink sink = {add_found, found};
    struct esi_search_statistics statistics;
    struct es_error error = {{0}, 0, 0, {0}};

    *found = (struct found){.set = setting->set};
    if (esi_search_run(setting->file, es_pattern_find(setting->file, predicate),
                       setting->domains, setting->order, config, &sink, &statistics,
                       &error) < 0)
        fail_msg("%s", error.text);
    return statistics;
}

/* Iterates over all methods of closures; returns false at the end. */
static bool next_config(const struct setting *setting,
                        unsigned number,
                        struct esi_search_config *ret_config)
{
    static struct esi_closure_tuning tuning;

    esi_search_config_init(ret_config);
    ret_config->engine = "closure";
    tuning.combining = number % 2;
    tuning.method = (enum esi_closure_method)(number / 2 % 4);
    tuning.successors = number < 8 ? NULL : setting->successors;
    ret_config->tuning = &tuning;
    return number < 16;
}

/* Searches predicate Q; `assignments` is not checked if it is 0. */
static void expect(const struct small_set *set,
                   const char *text,
                   const char *expected,
                   uint64_t assignments)
{
    struct esi_search_config config;
    struct setting setting;
    struct found found;
    char joined[MATCHES * 16];

    begin(&setting, set, text);
    for (unsigned i = 0; next_config(&setting, i, &config); i++) {
        struct esi_search_statistics statistics = run(&setting, "Q", &config, &found);

        join(&found, joined, sizeof joined);
        if (strcmp(joined, expected) != 0)
            fail_msg("%s\nfound: %s\nshould be: %s", text, joined, expected);
        assert_int_equal(statistics.matches, found.count);
        if (assignments)
            assert_int_equal(statistics.assignments, assignments);
        assert_true(statistics.is_complete);
    }
    end(&setting);
}

struct example {
    const char *text;
    const char *expected;
    uint64_t assignments;
};

static void expect_all(const struct small_set *set,
                       const char *classes,
                       const struct example *examples,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[1200];

        snprintf(text, sizeof text, "%s%s", classes, examples[i].text);
        expect(set, text, examples[i].expected, examples[i].assignments);
    }
}

/* --- The running example X -------------------------------------------------------- */

static const char x_classes[] = "A := [\"\", \"A\", \"\"];"
                                "B := [\"\", \"B\", \"\"];"
                                "C := [\"\", \"C\", \"\"];"
                                "D := [\"\", \"D\", \"\"];"
                                "ANY := [\"\", \"\", \"\"];";

static void make_x(struct small_set *set)
{
    uint32_t p, q, r, a;

    small_set_init(set);
    p = small_set_trace(set, "P");
    q = small_set_trace(set, "Q");
    r = small_set_trace(set, "R");
    a = small_set_event(set, p, ES_EVENT_SEND, "A", "", 0);
    small_set_number(set, "time", 10);
    small_set_event(set, p, ES_EVENT_UNARY, "B", "", 0);
    small_set_number(set, "time", 20);
    small_set_event(set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(a));
    small_set_number(set, "time", 30);
    small_set_event(set, q, ES_EVENT_UNARY, "C", "", 0);
    small_set_number(set, "time", 40);
    small_set_event(set, r, ES_EVENT_UNARY, "C", "", 0);
    small_set_number(set, "time", 1000);
    small_set_close(set);
}

static void expect_of_x(const struct example *examples, size_t count)
{
    struct small_set set;

    make_x(&set);
    expect_all(&set, x_classes, examples, count);
}

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void occurrences_take_values_of_their_own(void **state)
{
    static const struct example examples[] = {
        {"Q := A;", "p1", 1},
        {"Q := A --> B --> C;", "p1,q1,q2", 1},
        {"Q := A --> B || C;", "p1,p2,q2 p1,p2,r1 p1,q1,r1", 3},
        {"Q := (A --> B) & (A --> C);", "p1,p2,q2 p1,q1,q2", 2},
        {"Q := C & C;", "q2 q2,r1 r1", 4},
        {"C $c; Q := $c & $c;", "q2 r1", 2},
        {"BC := B --> C; BC *x; Q := A --> *x;", "p1", 1},
        {"BC := B --> C; BC $x; Q := A --> $x;", "p1,q1,q2", 1},
        {"BC := B || C; BC $x; Q := A --> $x;", "p1,p2,q2 p1,p2,r1 p1,q1,r1", 3},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

static void sides_of_an_or_that_are_not_needed_are_left_out(void **state)
{
    static const struct example examples[] = {
        {"Q := (A --> B) | (A --> C);", "p1,p2 p1,q1 p1,q2", 3},
        {"C *c; Q := (A !--> *c) | (B !--> *c);", "p2", 1},
        {"Q := (A | B) --> C;", "p1,q2 q1,q2", 2},
        {"Q := (A & B) --> C;", "p1,p2,q2 p1,q1,q2", 2},
        {"Q := A | (A & B);", "p1 p1,p2 p1,q1", 3},
        {"A $a; Q := $a | ($a & B);", "p1", 1},
        {"Q := (D --> A) | (B --> C);", "q1,q2", 1},
        /* Nothing succeeds a clause that passes up no events. */
        {"B ~b; C *c; P := (C --> (~b --> *c)) | A; Q := P --> B;", "p1,p2 p1,q1", 2},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

static void hidden_values_count_where_they_stand_only(void **state)
{
    static const struct example examples[] = {
        {"B ~b; Q := (A --> ~b) || C;", "p1,r1", 1},
        {"Q := (A --> B) || C;", "p1,p2,r1 p1,q1,r1", 2},
        {"B ~b; Q := A --> ~b;", "p1", 1},
        {"A ~a; B ~b; Q := ~a --> ~b;", "-", 1},
        {"B *b; C *c; Q := *b --> *c;", "", 0},
        {"C ~c; Q := ~c --> A;", "", 0},
        {"C ~c; B $b; Q := $b --> ~c;", "q1", 1},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

static void universals_without_values_hold(void **state)
{
    static const struct example examples[] = {
        {"D *d; Q := (A --> B) & (A --> *d);", "p1,p2 p1,q1", 2},
        {"D *d; Q := (B --> A) & (A --> *d);", "", 0},
        {"D *d; Q := A --> *d;", "p1", 1},
        {"D *d; Q := A !--> *d;", "p1", 1},
        {"Q := A -(D)-> C;", "p1,q2", 1},
        {"Q := A --> D;", "", 0},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

static void relations_are_of_sets(void **state)
{
    static const struct example examples[] = {
        {"Q := C || C;", "q2,r1", 2},
        {"Q := B <-> B;", "p2 q1", 2},
        {"Q := (A & C) <-> B;", "p1,q1,q2", 1},
        {"Q := B !<-> B;", "p2,q1", 2},
        {"Q := A -(ANY)-> C;", "", 0},
        {"Q := A -(ANY)-> B;", "p1,p2 p1,q1", 2},
        {"Q := (A --> B) <-> (A --> C);", "p1,p2,q2 p1,q1,q2", 2},
        {"Q := (A & C) || B;", "", 0},
        {"Q := ((A & C) & B) --> C;", "p1,p2,q2,r1 p1,q1,q2,r1", 2},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

static void messages_times_and_numbers_are_told(void **state)
{
    static const struct example examples[] = {
        {"Q := A => B;", "p1,q1", 1},
        {"Q := A !=> B;", "p1,p2", 1},
        {"Q := (A => B) --> C;", "p1,q1,q2", 1},
        {"Q := (A --> B) within 10ns;", "p1,p2", 1},
        {"Q := (A & C) within 100ns;", "p1,q2", 1},
        {"Q := A --> at least 2 of B;", "p1", 1},
        {"Q := A --> at least 3 of B;", "", 0},
        {"Q := A --> at most 1 of C;", "p1", 1},
        {"Q := at most 0 of B --> C;", "r1", 1},
        {"Q := at least 1 of A => B;", "q1", 1},
        {"A $a; B $b; Q := ($a & $b) & $b.time > $a.time & $b.time <= 20;", "p1,p2", 1},
        {"C *c; A $a; Q := $a & $a.time < *c.time;", "p1", 1},
        {"A $a; B ~b; Q := ($a.time < ~b.time) within 10ns;", "p1", 1},
        {"A $a; B ~b; Q := ($a.time < ~b.time) within 9ns;", "", 0},
        {"D *d; A $a; Q := $a & $a.time > *d.time;", "p1", 1},
    };

    (void)state;
    expect_of_x(examples, LENGTH(examples));
}

/* --- Other sets ------------------------------------------------------------------- */

/* u precedes only c1, and v only c2 (D6). */
static void both_sides_of_an_or_may_be_needed(void **state)
{
    struct small_set set;
    uint32_t p, q, r, s, u, v;

    (void)state;
    small_set_init(&set);
    p = small_set_trace(&set, "P");
    q = small_set_trace(&set, "Q");
    r = small_set_trace(&set, "R");
    s = small_set_trace(&set, "S");
    u = small_set_event(&set, p, ES_EVENT_SEND, "U", "", 0);
    v = small_set_event(&set, q, ES_EVENT_SEND, "V", "", 0);
    small_set_event(&set, r, ES_EVENT_RECEIVE, "C", "", SMALL_BIT(u));
    small_set_event(&set, s, ES_EVENT_RECEIVE, "C", "", SMALL_BIT(v));
    small_set_close(&set);
    expect(&set,
           "U := [type=\"U\"]; V := [type=\"V\"]; C := [type=\"C\"];"
           "U $u; V $v; C *c; Q := ($u !--> *c) | ($v !--> *c);",
           "p1,q1", 1);
}

/* Two servers with two connections each and an x between them: `~c` would have to be
 * the same for both (erratum 32). */
static void a_universal_of_a_predicate_ranges_over_its_matches(void **state)
{
    struct small_set set;
    uint32_t p, q;

    (void)state;
    small_set_init(&set);
    p = small_set_trace(&set, "P");
    q = small_set_trace(&set, "Q");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t trace = i ? q : p;

        small_set_event(&set, trace, ES_EVENT_UNARY, "C", "", 0);
        small_set_event(&set, trace, ES_EVENT_UNARY, "X", "", 0);
        small_set_event(&set, trace, ES_EVENT_UNARY, "C", "", 0);
    }
    small_set_close(&set);
    expect(&set,
           "C := [type=\"C\"]; X := [type=\"X\"]; C *c;"
           "Pair := (C -(*c)-> C); Pair *ce; X $x; X $y;"
           "Q := (*ce !<-> ($x & $y)) & ($x || $y);",
           "", 0);
    expect(&set,
           "C := [type=\"C\"]; X := [type=\"X\"]; C *c;"
           "Pair := (C -(*c)-> C); Pair *ce; X $x; X $y;"
           "Q := (*ce <-> ($x & $y)) & ($x || $y);",
           "p2,q2", 2);
}

/* Closures of closures, with messages in both directions. */
static void sides_of_sides_are_sets_of_all_their_events(void **state)
{
    struct small_set set;
    uint32_t p, q, r, a, b, c;

    (void)state;
    small_set_init(&set);
    p = small_set_trace(&set, "P");
    q = small_set_trace(&set, "Q");
    r = small_set_trace(&set, "R");
    a = small_set_event(&set, p, ES_EVENT_SEND, "A", "", 0);
    small_set_event(&set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(a));
    b = small_set_event(&set, q, ES_EVENT_SEND, "M", "", 0);
    small_set_event(&set, p, ES_EVENT_RECEIVE, "C", "", SMALL_BIT(b));
    c = small_set_event(&set, p, ES_EVENT_SEND, "D", "", 0);
    small_set_event(&set, r, ES_EVENT_RECEIVE, "E", "", SMALL_BIT(c));
    small_set_close(&set);
    expect_all(
        &set,
        "A := [type=\"A\"]; B := [type=\"B\"]; C := [type=\"C\"]; D := [type=\"D\"];"
        "E := [type=\"E\"]; M := [type=\"M\"];",
        (const struct example[]){
            {"Q := (A --> C) <-> M;", "p1,p2,q2", 1},
            {"Q := ((A --> B) --> (C --> D)) --> E;", "p1,p2,p3,q1,r1", 1},
            {"Q := ((A --> C) <-> (B --> M)) --> E;", "p1,p2,q1,q2,r1", 1},
            {"Q := (A --> C) --> (B --> M);", "", 0},
            {"Q := (A --> B) --> (M --> C) --> E;", "p1,p2,q1,q2,r1", 1},
            {"S := A --> C; Q := S <-> (M & B);", "p1,p2,q1,q2", 1},
            {"S := A --> C; T := B | M; S $s; Q := $s <-> T;", "p1,p2,q1 p1,p2,q2", 2},
        },
        7);
}

/* --- Ends, statistics and plans --------------------------------------------------- */

static void a_limit_ends_the_search(void **state)
{
    struct esi_search_config config;
    struct esi_search_statistics statistics;
    struct small_set set;
    struct setting setting;
    struct found found;
    char text[400];

    (void)state;
    make_x(&set);
    snprintf(text, sizeof text, "%sQ := A --> B;", x_classes);
    begin(&setting, &set, text);
    next_config(&setting, 5, &config);
    config.limit = 1;
    statistics = run(&setting, "Q", &config, &found);
    assert_int_equal(found.count, 1);
    assert_false(statistics.is_complete);
    end(&setting);
}

/* Nine variables with 60 values each: the search would not end by itself. */
static void a_search_can_be_cancelled(void **state)
{
    atomic_bool is_cancelled = true;
    struct esi_search_config config;
    struct esi_search_statistics statistics;
    struct small_set set;
    struct setting setting;
    struct found found;
    uint32_t p;

    (void)state;
    small_set_init(&set);
    p = small_set_trace(&set, "P");
    for (unsigned i = 0; i < 60; i++)
        small_set_event(&set, p, ES_EVENT_UNARY, "A", "", 0);
    small_set_close(&set);
    begin(&setting, &set,
          "A := [type=\"A\"]; Q := A || A || A || A || A || A || A || A || A;");
    next_config(&setting, 5, &config);
    config.is_cancelled = &is_cancelled;
    statistics = run(&setting, "Q", &config, &found);
    assert_int_equal(found.count, 0);
    assert_false(statistics.is_complete);
    end(&setting);
}

static void closures_and_comparisons_are_counted(void **state)
{
    struct esi_search_config config;
    struct esi_search_statistics statistics;
    struct small_set set;
    struct setting setting;
    struct found found;
    char text[400];

    (void)state;
    make_x(&set);
    snprintf(text, sizeof text, "%sQ := (A --> B) --> C;", x_classes);
    begin(&setting, &set, text);
    next_config(&setting, 4, &config);
    statistics = run(&setting, "Q", &config, &found);
    /* A, B and twice C were bound; {p1, p2} and {p1, q1} have a closure each. */
    assert_int_equal(statistics.special, 2);
    assert_int_equal(statistics.backtracks, 1 + 2 + 4);
    assert_true(statistics.comparisons > 2);
    assert_int_equal(statistics.unknown, 0);
    assert_true(statistics.bytes > 0);
    end(&setting);
}

static void a_plan_tells_order_tests_and_closures(void **state)
{
    struct esi_search_config config;
    struct es_error error = {{0}, 0, 0, {0}};
    struct small_set set;
    struct setting setting;
    char *words = NULL, text[400];
    size_t length;
    FILE *out = open_memstream(&words, &length);

    (void)state;
    assert_non_null(out);
    make_x(&set);
    snprintf(text, sizeof text, "%sC *c; B ~b; Q := (A --> B) || *c & A --> ~b;",
             x_classes);
    begin(&setting, &set, text);
    next_config(&setting, 5, &config);
    assert_int_equal(
        esi_search_explain(setting.file, es_pattern_find(setting.file, "Q"),
                           setting.domains, setting.order, &config, out, &error),
        0);
    fclose(out);
    assert_non_null(strstr(words, "bind A (1 values)"));
    assert_non_null(strstr(words, "test A --> B"));
    assert_non_null(strstr(words, "test {A, B} || *c for all *c"));
    assert_non_null(strstr(words, "bind ~b (2 values), one is enough"));
    assert_non_null(strstr(words, "closure of {A, B}, combined of A and B"));
    free(words);
    end(&setting);
}

SUITE(test_engine_closure)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occurrences_take_values_of_their_own),
        cmocka_unit_test(sides_of_an_or_that_are_not_needed_are_left_out),
        cmocka_unit_test(hidden_values_count_where_they_stand_only),
        cmocka_unit_test(universals_without_values_hold),
        cmocka_unit_test(relations_are_of_sets),
        cmocka_unit_test(messages_times_and_numbers_are_told),
        cmocka_unit_test(both_sides_of_an_or_may_be_needed),
        cmocka_unit_test(a_universal_of_a_predicate_ranges_over_its_matches),
        cmocka_unit_test(sides_of_sides_are_sets_of_all_their_events),
        cmocka_unit_test(a_limit_ends_the_search),
        cmocka_unit_test(a_search_can_be_cancelled),
        cmocka_unit_test(closures_and_comparisons_are_counted),
        cmocka_unit_test(a_plan_tells_order_tests_and_closures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
