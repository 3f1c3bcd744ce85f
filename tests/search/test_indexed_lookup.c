/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_indexed_lookup.c - comparisons of attributes by an index, and relations
 * implied by others: the matches are those found without them, in one order for
 * any number of threads.
 */
#include "config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/indexed/indexed.h"
#include "monitors/search/indexed/indexed_sorted.h"
#include "tests/search/typed_world.h"
#include "tests/suites.h"

enum { EVENTS = 240, TRACES = 12, KEYS = 30 };

static const char text[] =
    "A := [type =~ \"a\"];\n"
    "B := [type =~ \"b\"];\n"
    "C := [type =~ \"c\"];\n"
    "D := [type = \"d\"];\n"
    "A $a; B $b, ~h; C $c; D $d, $e, *v;\n"
    "Same := $a & $b & $a.key = $b.key;\n"
    "Ordered := ($a --> $d) & $a.key = $d.key;\n"
    "Chain := ($a --> $b) & $b.key = $d.key & $d.other = $c.other;\n"
    "Twice := ($d || $e) & $d.key = $e.key & $d.other = $e.other;\n"
    "Crossed := ($d !<-> $e) & $d.key = $e.other & ($c --> $d);\n"
    "Sent := ($d => $e) & ($d.key = $e.key | $d.other = $e.other);\n"
    "Hidden := $a & ~h & $a.key = ~h.key & ($a || $c);\n"
    "Thrice := ($a --> $d) & $d.key = $a.key & $d.other = $a.other &\n"
    "    $a.key = $d.other;\n"
    "Unlike := ($a || $b) & $a.key != $b.key;\n"
    "Alone := $d & (($d <-> *v) | $d.other != *v.other);\n"
    "AloneByKey := $d & (($d <-> *v) | $d.key != *v.key);\n"
    "NoneBetween := ($a --> $b) &\n"
    "    (($a !--> *v) | (*v !--> $b) | $a.other != *v.other);\n"
    "Chosen := ($a --> $b) & $a.key = 3 & $b.other > 7;\n"
    "ChosenTwice := ($d || $e) & $d.key <= 9 & $e.key <= 9;\n"
    "ChosenEither := ($a --> $d) & ($a.key = 3 | $a.other = 5);\n"
    "NoOther := $d & (*v.key != 3 | ($d !--> *v));\n"
    "Either := ($a || $d) & ($a.key = $d.key | $a.other = $d.other);\n"
    "EitherOfThree := ($a --> $b) & $d & ($d.key = $a.key | $d.other = $b.other |\n"
    "    $a --> $b & $b.key = 3);\n"
    "Inside := ($a || $d) & $d.key > $a.key & $d.key <= $a.other;\n"
    "InsideTwo := ($a --> $d) & ($b || $d) & $d.key >= $a.key & $b.other > $d.key;\n"
    "Nested := ($a || $d) & $a.key < $d.key & $d.key < $d.other &\n"
    "    $d.other < $a.other & $d.key >= 3 & $a.key <= $d.other;\n"
    "Below := ($a || $d) & $d.key < $a.key;\n"
    "BelowBoth := ($a --> $d) & ($b || $d) & $d.key < $a.key &\n"
    "    $d.other <= $b.other;\n"
    "AboveMost := ($a --> $d) & $a.key >= 27 & $d.key > $a.key &\n"
    "    $d.other >= $a.other;\n"
    "EqualOrBelow := ($a || $d) & ($a.key = $d.key | $d.other < $a.other);\n"
    "EqualOrFew := ($a --> $d) & ($d.key = 3 | $d.other > 28 | $d.key = $a.other);\n"
    "EitherTwice := ($a --> $d) & ($d.key = $a.key | $d.other = $a.other) &\n"
    "    ($d.key >= 25 | $d.key = $a.other);\n"
    "EqualTwice := ($a --> $d) & ($d.key = $a.key | $d.other = $a.other) &\n"
    "    ($d.key = $a.other | $d.other = $a.key);\n"
    "EqualOrOther := ($a || $d) & $b & ($d.key = \"t3\" | $d.key = $b.key) &\n"
    "    ($b.other = 3 | $b.key < $a.key);\n"
    "Overtaken := ($a => $d) & ($b => $e) & ($a --> $b) & ($e --> $d);\n"
    "Around := ($a => $d) & ($d --> $b) & ($b => $e) & ($e --> $a);\n"
    "Between := ($a --> $b) & ($b => $d) & ($d --> $c);\n"
    "Met := ($a => $b) & ($a || $b);\n"
    "Next := ($a => $d) & ($d -(D)-> $e) & ($b => $e);\n"
    "Sides := ($a & $b & $a.key = $b.key) | ($c & $d & $c.other = $d.other);\n";

static const char *const predicates[] = {
    "Same",         "Thrice",     "Ordered",      "Chain",         "Twice",
    "Crossed",      "Sent",       "Hidden",       "Chosen",        "ChosenTwice",
    "ChosenEither", "NoOther",    "Either",       "EitherOfThree", "Inside",
    "Below",        "BelowBoth",  "AboveMost",    "EqualOrBelow",  "EqualOrFew",
    "EitherTwice",  "EqualTwice", "EqualOrOther", "InsideTwo",     "Nested",
    "Overtaken",    "Around",     "Between",      "Next",          "Met",
    "Unlike",       "Alone",      "AloneByKey",   "NoneBetween",   "Sides"};

static const struct typed_world_config worlds = {.text = text,
                                                 .traces = TRACES,
                                                 .events = EVENTS,
                                                 .keys = KEYS};

/* Indexes are made at once, and lists of any length are used. */
static const struct esi_indexed_tuning eager = {.listed_share = 1, .sorted_share = 1};
/* No index is worth its creation. */
static const struct esi_indexed_tuning never = {.index_ordinal = UINT_MAX,
                                                .index_comparisons = UINT_MAX,
                                                .listed_share = 8,
                                                .sorted_share = 64};

static struct typed_answer search(const struct typed_world *world,
                                  const char *predicate,
                                  unsigned threads,
                                  const struct esi_indexed_tuning *tuning)
{
    struct esi_search_config config;

    esi_search_config_init(&config);
    config.engine = "indexed";
    config.threads = threads;
    config.tuning = tuning;
    return typed_world_search(world, predicate, &config);
}

/* A hash of all matches that does not depend on their order. */
static uint64_t sum_of(const struct typed_answer *answer)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < answer->count;) {
        uint32_t events = answer->words[i++];
        uint64_t hash = events;

        for (uint32_t word = 0; word < 2 * events; word++)
            hash = (hash ^ answer->words[i++]) * UINT64_C(0x9e3779b97f4a7c15);
        sum += hash ^ hash >> 29;
    }
    return sum;
}

static void check_same_matches(const struct typed_answer *one,
                               const struct typed_answer *other)
{
    assert_int_equal(one->matches, other->matches);
    assert_int_equal(one->statistics.assignments, other->statistics.assignments);
    assert_true(one->statistics.is_complete && other->statistics.is_complete);
    assert_int_equal(sum_of(one), sum_of(other));
}

/* The engine compares values itself: no index, and the relations as written. */
static struct typed_answer search_rewritten(const struct typed_world *world,
                                            const char *predicate)
{
    struct esi_search_config config;

    esi_search_config_init(&config);
    config.engine = "rewrite";
    return typed_world_search(world, predicate, &config);
}

static void check_predicate(const struct typed_world *world, const char *predicate)
{
    struct esi_indexed_tuning threaded = esi_indexed_defaults;
    struct typed_answer with = search(world, predicate, 1, NULL);
    struct typed_answer without = search(world, predicate, 1, &never);
    struct typed_answer at_once = search(world, predicate, 1, &eager);
    struct typed_answer written = search_rewritten(world, predicate);

    check_same_matches(&with, &without);
    check_same_matches(&with, &at_once);
    check_same_matches(&with, &written);
    threaded.alone_ns = 0;
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        struct typed_answer many = search(world, predicate, threads, &threaded);

        typed_answers_check(&with, &many);
        typed_answer_fini(&many);
    }
    typed_answer_fini(&with);
    typed_answer_fini(&without);
    typed_answer_fini(&at_once);
    typed_answer_fini(&written);
}

static void check_all(const struct typed_world *world)
{
    for (unsigned i = 0; i < sizeof predicates / sizeof predicates[0]; i++)
        check_predicate(world, predicates[i]);
}

static const enum made_shape shapes[] = {MADE_NEAR, MADE_CHANNELS, MADE_SYNCS};

static void what_is_looked_up_is_what_is_compared(void **state)
{
    (void)state;
    typed_worlds_check(&worlds, shapes, sizeof shapes / sizeof shapes[0], check_all);
}

static void check_all_plainly(const struct typed_world *world)
{
    for (unsigned i = 0; i < sizeof predicates / sizeof predicates[0]; i++) {
        struct typed_answer plain = typed_world_search_plainly(world, predicates[i]);
        struct typed_answer with = search(world, predicates[i], 1, NULL);
        struct typed_answer at_once = search(world, predicates[i], 1, &eager);

        check_same_matches(&plain, &with);
        check_same_matches(&plain, &at_once);
        typed_answer_fini(&plain);
        typed_answer_fini(&with);
        typed_answer_fini(&at_once);
    }
}

static void what_is_looked_up_is_what_holds(void **state)
{
    static const struct typed_world_config small = {
        .text = text, .traces = 5, .events = 50, .keys = 8};

    (void)state;
    typed_worlds_check(&small, shapes, sizeof shapes / sizeof shapes[0],
                       check_all_plainly);
}

/* --- By definition ---------------------------------------------------------------- */

static bool have_same_key(const struct typed_event *a, const struct typed_event *b)
{
    return a->form != TYPED_ABSENT && b->form != TYPED_ABSENT && a->key == b->key &&
           (a->form == TYPED_TEXT) == (b->form == TYPED_TEXT);
}

static uint64_t count_same(const struct typed_world *world)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < world->made->count; i++)
        for (uint32_t j = 0; j < world->made->count; j++)
            count += strchr(world->events[i].type, 'a') &&
                     strchr(world->events[j].type, 'b') &&
                     have_same_key(&world->events[i], &world->events[j]);
    return count;
}

static bool is_alone(const struct typed_world *world, uint32_t number)
{
    for (uint32_t i = 0; i < world->made->count; i++)
        if (i != number && strcmp(world->events[i].type, "d") == 0 &&
            world->events[i].other == world->events[number].other)
            return false;
    return true;
}

static void numbers_are_compared_as_numbers_and_texts_as_texts(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        struct typed_world world;
        struct typed_answer answer;
        uint64_t alone = 0;

        typed_world_init(&world, &worlds, seed + round, MADE_UNIFORM);
        answer = search(&world, "Same", 1, NULL);
        assert_int_equal(answer.statistics.assignments, count_same(&world));
        typed_answer_fini(&answer);
        for (uint32_t i = 0; i < world.made->count; i++)
            alone += strcmp(world.events[i].type, "d") == 0 && is_alone(&world, i);
        answer = search(&world, "Alone", 1, NULL);
        assert_int_equal(answer.matches, alone);
        typed_answer_fini(&answer);
        typed_world_fini(&world);
    }
}

/* --- Savings and explanations ----------------------------------------------------- */

static void few_values_are_tried(void **state)
{
    struct typed_world world;
    struct typed_answer with, without;

    (void)state;
    typed_world_init(&world, &worlds, 1, MADE_UNIFORM);
    with = search(&world, "Same", 1, NULL);
    without = search(&world, "Same", 1, &never);
    assert_true(with.statistics.backtracks < without.statistics.backtracks / 2);
    assert_true(with.statistics.bytes > without.statistics.bytes);
    typed_answer_fini(&with);
    typed_answer_fini(&without);
    typed_world_fini(&world);
}

static void a_plan_says_what_an_index_finds(void **state)
{
    static const char *const same[] = {
        "(tested; an index of attributes finds values of $a, $b)", NULL};
    static const char *const alone[] = {
        "(tested; an index of attributes finds values of *v)", NULL};
    static const char *const below[] = {
        "(tested; an index of attributes finds values of $a, $d)", NULL};
    static const char *const unlike[] = {"(tested)", NULL};
    struct typed_world world;

    (void)state;
    typed_world_init(&world, &worlds, 1, MADE_UNIFORM);
    typed_world_check_explained(&world, "Same", same);
    typed_world_check_explained(&world, "Alone", alone);
    typed_world_check_explained(&world, "Below", below);
    typed_world_check_explained(&world, "EqualOrBelow", below);
    typed_world_check_explained(&world, "Unlike", unlike);
    typed_world_fini(&world);
}

/* --- The index itself ------------------------------------------------------------- */

static const struct esi_pattern_node *comparison_of(const struct esi_pattern_node *node)
{
    while (node->kind != ES_NODE_COMPARE)
        node = node->right;
    return node;
}

static bool is_before(struct esi_domain_value a, struct esi_domain_value b)
{
    return a.slot < b.slot || (a.slot == b.slot && a.position < b.position);
}

/* Checks that the values are ascending and have the key, or none;
 * returns their number. */
static uint64_t check_listed(const struct esi_domain *domain,
                             const struct esi_pattern_node *node,
                             struct esi_listed listed,
                             const struct esi_domain_key *key)
{
    for (size_t i = 0; i < listed.count; i++) {
        struct esi_domain_key found;
        bool has_key = esi_domain_key(node, 0, domain, listed.values[i], &found);

        assert_int_equal(has_key, key != NULL);
        assert_true(!key ||
                    (found.number == key->number && found.is_text == key->is_text));
        assert_true(i == 0 || is_before(listed.values[i - 1], listed.values[i]));
    }
    return listed.count;
}

static void each_value_is_listed_once(void **state)
{
    struct typed_world world;
    const struct esi_pattern_predicate *predicate;
    const struct esi_pattern_node *node;
    const struct esi_domain *domain;
    struct esi_sorted_index *index;
    struct esi_key_form form;
    uint64_t listed = 0;

    (void)state;
    typed_world_init(&world, &worlds, random_seed(), MADE_UNIFORM);
    predicate = esi_pattern_predicate(world.file, es_pattern_find(world.file, "Same"));
    node = comparison_of(predicate->root);
    form = (struct esi_key_form){.count = 1, .nodes = {node}};
    domain = esi_domains_class(
        world.domains,
        predicate->occurrences[node->operands[0].occurrence].class_number);
    assert_int_equal(esi_sorted_index_create(domain, &form, &index), 0);
    for (int64_t number = -1; number <= KEYS; number++)
        for (int is_text = 0; is_text < 2; is_text++) {
            struct esi_domain_key key = {number, is_text};

            listed +=
                check_listed(domain, node, esi_sorted_index_find(index, key), &key);
        }
    listed += check_listed(domain, node, esi_sorted_index_absent(index), NULL);
    assert_int_equal(listed, esi_domain_count(domain));
    assert_true(esi_sorted_index_bytes(index) > 16 * listed);
    esi_sorted_index_destroy(index);
    typed_world_fini(&world);
}

SUITE(test_indexed_lookup)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_looked_up_is_what_is_compared),
        cmocka_unit_test(what_is_looked_up_is_what_holds),
        cmocka_unit_test(numbers_are_compared_as_numbers_and_texts_as_texts),
        cmocka_unit_test(few_values_are_tried),
        cmocka_unit_test(a_plan_says_what_an_index_finds),
        cmocka_unit_test(each_value_is_listed_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
