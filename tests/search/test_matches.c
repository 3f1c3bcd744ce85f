/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_matches.c - each set of events is delivered once, assignments are counted, and
 * proofs avoid the need to store them. */
#include "config.h"

#include "monitors/search/matches.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/matches_proof.h"
#include "monitors/search/tuple_set.h"
#include "tests/failing.h"
#include "tests/search/plain_engine.h"
#include "tests/search/searched.h"
#include "tests/suites.h"

static const char classes[] = "A := [\"\", \"A\", \"\"];\n"
                              "B := [\"\", \"B\", \"\"];\n"
                              "C := [\"\", \"C\", \"\"];\n"
                              "ANY := [\"\", \"\", \"\"];\n";

/* Searches a predicate Q over these classes in the example. */
static void search(struct searched *searched, const char *text)
{
    static struct small_set set;
    char whole[1024];

    searched_example(&set);
    snprintf(whole, sizeof whole, "%s%s", classes, text);
    searched_init(searched, whole, &set);
    assert_int_equal(searched_run(searched, &plain_engine, "Q"), 0);
    assert_int_equal(searched->statistics.matches, searched->count);
}

struct row {
    const char *text;
    const char *matches[8];
    unsigned assignments;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct searched searched;

        search(&searched, rows[i].text);
        if (!searched_are(&searched, rows[i].matches) ||
            searched.statistics.assignments != rows[i].assignments)
            fail_msg("%s: %u assignments", rows[i].text,
                     (unsigned)searched.statistics.assignments);
        searched_fini(&searched);
    }
}

static void a_match_has_the_events_of_what_is_returned(void **state)
{
    static const struct row rows[] = {
        {"Q := A;", {"p1"}, 1},
        {"B ~b; Q := A --> ~b;", {"p1"}, 1},
        {"B $b; Q := A --> $b;", {"p1 p2", "p1 q1"}, 2},
        {"A ~a; B ~b; Q := ~a --> ~b;", {""}, 1},
        {"B *b; C *c; Q := *b --> *c;", {NULL}, 0},
        {"B ~b; Q := (A --> ~b) || C;", {"p1 r1"}, 1},
        /* One occurrence hides an event that another one returns. */
        {"B ~b; Q := B & (A --> ~b);", {"p1 p2", "p1 q1"}, 2},
        {"B ~b; Q := B <-> ~b;", {"p2", "q1"}, 2},
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void each_set_comes_once_and_assignments_are_counted(void **state)
{
    static const struct row rows[] = {
        {"Q := C || C;", {"q2 r1"}, 2},
        {"Q := C & C;", {"q2", "r1", "q2 r1"}, 4},
        {"Q := B <-> B;", {"p2", "q1"}, 2},
        {"Q := B | B;", {"p2", "q1"}, 4},
        {"Q := (A --> B) | (A --> C);", {"p1 p2", "p1 q1", "p1 q2"}, 3},
        /* The variables of a predicate that was replaced form one value. */
        {"P := C || C; Q := A & P;", {"p1 q2 r1"}, 1},
        {"P := C & C; Q := A & P;", {"p1 q2", "p1 r1", "p1 q2 r1"}, 3},
        {"C ~c; P := C || ~c; P $p; Q := A & $p;", {"p1 q2", "p1 r1"}, 2},
        {"P := C || C; P ~p; Q := A & ~p;", {"p1"}, 1},
        /* So do those of one that was not replaced. */
        {"P := (C || C) | A; Q := P & C;", {"q2 r1", "p1 q2", "p1 r1"}, 4},
        /* Two alternatives hold without an event. */
        {"A ~a; B ~b; C ~c; P := ~a --> ~b; R := ~b --> ~c; Q := P | R;", {""}, 2},
        {"A ~a; B ~b; P := ~a --> ~b; P ~p; Q := A & ~p;", {"p1"}, 1},
    };

    (void)state;
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

/* --- Proofs ----------------------------------------------------------------------- */

struct proved {
    const char *text;
    struct esi_matches_proof proof;
};

static void proof_of(const char *text, struct esi_matches_proof *ret_proof)
{
    const struct esi_domain *domains[ES_PROGRAM_VARIABLES];
    struct esi_program *program;
    struct searched searched;

    search(&searched, text);
    assert_int_equal(esi_program_create(searched.file,
                                        es_pattern_find(searched.file, "Q"), &program,
                                        NULL),
                     0);
    for (uint32_t v = 0; v < program->variable_count; v++) {
        assert_int_not_equal(program->variables[v].class_number, ES_PATTERN_NONE);
        domains[v] =
            esi_domains_class(searched.domains, program->variables[v].class_number);
    }
    *ret_proof = esi_matches_prove(program, domains, NULL);
    esi_program_destroy(program);
    searched_fini(&searched);
}

static void what_cannot_come_twice_is_known(void **state)
{
    static const struct proved rows[] = {
        {"Q := A;", {true, true, true}},
        {"Q := A --> B;", {true, true, true}},
        {"Q := A & B & C;", {true, true, true}},
        /* With hidden variables sets repeat, but not with different tuples. */
        {"B ~b; Q := A --> ~b;", {false, false, true}},
        /* One class twice: only precedence distinguishes the occurrences. */
        {"Q := C || C;", {false, true, false}},
        {"Q := B --> B;", {true, true, true}},
        {"Q := ANY --> ANY --> ANY;", {false, true, false}},
        {"ANY $x; ANY $y; ANY $z; Q := ($x --> $y) & ($y --> $z);", {true, true, true}},
        {"ANY $x; ANY $y; ANY $z; Q := ($x --> $y) & ($x --> $z);",
         {false, true, false}},
        {"B $x; C $y; B $z; Q := $x --> $y --> $z;", {true, true, true}},
        {"B $x; B $y; C $z; Q := $x --> $y --> $z;", {false, true, false}},
        {"ANY $x; ANY $y; Q := $x => $y;", {true, true, true}},
        {"Q := B !--> B;", {false, true, false}},
        {"Q := (B --> B) | (B || B);", {false, true, false}},
        /* Classes that share an event, one by way of a third. */
        {"Q := ANY & A;", {false, true, false}},
        {"Q := ANY --> A;", {true, true, true}},
        {"A $a; B $b; ANY $x; Q := ($a --> $x) & ($x --> $b);", {true, true, true}},
        {"A $a; C $c; ANY $x; Q := ($a --> $x) & ($c || $x);", {false, true, false}},
        /* Two variables of one occurrence. */
        {"P := A --> B; Q := P & C;", {true, false, true}},
        {"B *b; Q := A !--> *b;", {true, true, true}},
        {"Q := A | B;", {false, true, false}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct esi_matches_proof proof;

        proof_of(rows[i].text, &proof);
        if (memcmp(&proof, &rows[i].proof, sizeof proof) != 0)
            fail_msg("%s: %d %d %d", rows[i].text, proof.are_sets_distinct,
                     proof.are_tuples_distinct, proof.do_sets_tell_tuples);
    }
}

/* --- Sets of tuples --------------------------------------------------------------- */

/* Tuples of up to three small numbers, compared with a table of all of them. */
static void a_tuple_is_new_once(void **state)
{
    enum { ROUNDS = 20000, BASE = 12 };
    static bool seen[4][BASE * BASE * BASE];
    struct esi_tuple_set set = {.length = 0};
    uint64_t draw;
    uint64_t count = 0;

    (void)state;
    memset(seen, 0, sizeof seen);
    draw = random_seed();
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t length = random_below(&draw, 4);
        uint32_t numbers[3];
        uint32_t place = 0;

        for (uint32_t j = 0; j < length; j++) {
            numbers[j] = random_below(&draw, BASE);
            place = place * BASE + numbers[j];
        }
        assert_int_equal(esi_tuple_set_add(&set, numbers, length),
                         !seen[length][place]);
        count += !seen[length][place];
        seen[length][place] = true;
        assert_int_equal(set.hash.count, count);
    }
    assert_true(esi_tuple_set_bytes(&set) > 8 * count);
    esi_tuple_set_fini(&set);
}

/* --- Ends ------------------------------------------------------------------------- */

static void a_limit_ends_the_search(void **state)
{
    struct searched searched;

    (void)state;
    search(&searched, "Q := ANY & ANY;");
    assert_int_equal(searched.count, 15);
    assert_true(searched.statistics.is_complete);
    for (unsigned limit = 1; limit <= 15; limit++) {
        searched.config.limit = limit;
        assert_int_equal(searched_run(&searched, &plain_engine, "Q"), 0);
        assert_int_equal(searched.count, limit);
        assert_false(searched.statistics.is_complete);
    }
    searched.config.limit = 16;
    assert_int_equal(searched_run(&searched, &plain_engine, "Q"), 0);
    assert_int_equal(searched.count, 15);
    assert_true(searched.statistics.is_complete);
    searched_fini(&searched);
}

static int end_at_third(void *data, const struct es_event_id *events, size_t count)
{
    int *calls = data;

    (void)events;
    (void)count;
    return ++*calls == 3 ? 1 : 0;
}

static int refuse(void *data, const struct es_event_id *events, size_t count)
{
    (void)data;
    (void)events;
    (void)count;
    return -EPIPE;
}

static int run_into(struct searched *searched, const struct esi_match_sink *sink)
{
    struct esi_search_task task = {
        .file = searched->file,
        .predicate = es_pattern_find(searched->file, "Q"),
        .domains = searched->domains,
        .order = searched->order,
        .config = &searched->config,
    };

    return esi_search_run_by(&plain_engine, &task, sink, &searched->statistics, NULL);
}

static void a_sink_ends_the_search(void **state)
{
    int calls = 0;
    struct esi_match_sink sink = {.match = end_at_third, .data = &calls};
    struct searched searched;

    (void)state;
    search(&searched, "Q := ANY & ANY;");
    assert_int_equal(run_into(&searched, &sink), 0);
    assert_int_equal(calls, 3);
    assert_int_equal(searched.statistics.matches, 3);
    assert_false(searched.statistics.is_complete);
    sink.match = refuse;
    assert_int_equal(run_into(&searched, &sink), -EPIPE);
    searched_fini(&searched);
}

/* --- Memory ----------------------------------------------------------------------- */

static struct searched failing;
static const char *failing_predicate;

static int count_match(void *data, const struct es_event_id *events, size_t count)
{
    (void)events;
    (void)count;
    (*(unsigned *)data)++;
    return 0;
}

static int attempt(void)
{
    unsigned calls = 0;
    const struct esi_match_sink sink = {.match = count_match, .data = &calls};
    struct esi_search_statistics statistics;
    struct esi_search_task task = {
        .file = failing.file,
        .predicate = es_pattern_find(failing.file, failing_predicate),
        .domains = failing.domains,
        .order = failing.order,
        .config = &failing.config,
    };
    int result = esi_search_run_by(&plain_engine, &task, &sink, &statistics, NULL);

    if (result == 0)
        assert_int_equal(calls, failing.count);
    return result;
}

static void allocations_may_fail(void **state)
{
    static const char *const texts[] = {
        "Q := ANY & ANY & ANY;",
        "A ~a; B ~b; P := (C || C) | A; Q := P & C;",
        "P := A --> B | A --> C; P *p; Q := ANY !--> *p;",
        "P := A --> B | A --> C; Q := A --> at least 1 of P;",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        search(&failing, texts[i]);
        failing_predicate = "Q";
        failing_each(attempt, 5);
        searched_fini(&failing);
    }
}

static void bytes_are_counted(void **state)
{
    struct searched searched;
    uint64_t few;

    (void)state;
    search(&searched, "Q := A;");
    few = searched.statistics.bytes;
    assert_true(few > 0);
    searched_fini(&searched);
    search(&searched, "Q := ANY & ANY & ANY & ANY;");
    assert_true(searched.statistics.bytes >= few + 8 * searched.count);
    searched_fini(&searched);
}

SUITE(test_matches)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_match_has_the_events_of_what_is_returned),
        cmocka_unit_test(each_set_comes_once_and_assignments_are_counted),
        cmocka_unit_test(what_cannot_come_twice_is_known),
        cmocka_unit_test(a_tuple_is_new_once),
        cmocka_unit_test(a_limit_ends_the_search),
        cmocka_unit_test(a_sink_ends_the_search),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(bytes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
