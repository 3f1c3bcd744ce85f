/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_indexed.c - the search by ranges, against the plain definition: random clauses
 * over random computations, with all assignments tried one by one.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/search/indexed/indexed.h"
#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/indexed/indexed_search.h"
#include "tests/search/made_world.h"
#include "tests/suites.h"

enum { ROUNDS = 400 };

static struct esi_indexed_config config_of(const struct made_world *world)
{
    return (struct esi_indexed_config){.program = &world->program,
                                       .cnf = &world->cnf,
                                       .domains = world->domains,
                                       .order = world->order,
                                       .empty = world->empty,
                                       .all_witnesses = true};
}

/* --- Found assignments ------------------------------------------------------------ */

/* A number for an assignment of `variables`, made from events and numbers of sets, so
 * that it does not change while domains grow. */
static size_t code_of(const struct made_world *world,
                      uint64_t variables,
                      const struct esi_domain_value *values)
{
    size_t base = (world->made->count > MADE_SETS ? world->made->count : MADE_SETS) + 1;
    size_t code = 0;

    for (unsigned v = 0; v < world->variable_count; v++) {
        struct es_event_id scratch;
        const struct es_event_id *events;
        size_t digit = base - 1;

        if (variables >> v & 1 && world->domains[v] == world->sets) {
            digit = values[v].position;
        } else if (variables >> v & 1) {
            esi_domain_events(world->domains[v], values[v], &scratch, &events);
            digit = made_number(world->made, events[0]);
        }
        code = code * base + digit;
    }
    return code;
}

static void clear_found(struct made_world *world)
{
    size_t base = (world->made->count > MADE_SETS ? world->made->count : MADE_SETS) + 1;

    world->codes = 1;
    for (unsigned v = 0; v < world->variable_count; v++)
        world->codes *= base;
    free(world->found);
    world->found = calloc(world->codes, 1);
    assert_non_null(world->found);
}

static int note(void *data, const struct esi_domain_value *values)
{
    struct made_world *world = data;

    world->found[code_of(world, world->disjunct.variables, values)]++;
    return 0;
}

/* Exactly one of the true assignments that agree in `variables` must be found, once. */
static void check_found(struct made_world *world,
                        uint64_t variables,
                        enum esi_indexed_clauses which,
                        unsigned round)
{
    struct esi_domain_value values[MADE_VARIABLES];
    uint8_t *expected = calloc(world->codes, 1);

    assert_non_null(expected);
    for (bool more = made_world_first_assignment(world, values); more;
         more = made_world_next_assignment(world, values))
        if (made_world_satisfies(world, values, which))
            expected[code_of(world, variables, values)] = 1;
    for (size_t code = 0; code < world->codes; code++)
        if (world->found[code] != expected[code])
            fail_msg("round %u, %s: code %zu found %u times, expected %u", round,
                     made_computation_name(world->made), code, world->found[code],
                     expected[code]);
    free(expected);
}

/* --- Tests ------------------------------------------------------------------------ */

static struct esi_indexed *search_of(const struct esi_indexed_config *config)
{
    struct es_error error = {.text = ""};
    struct esi_indexed *search;

    if (esi_indexed_create(config, &search, &error) != 0)
        fail_msg("%s", error.text);
    return search;
}

static uint64_t returned_of(const struct made_world *world)
{
    uint64_t returned = 0;

    for (unsigned v = 0; v < world->variable_count; v++)
        if (world->variables[v].is_returned)
            returned |= UINT64_C(1) << v;
    return returned;
}

static int note_returned(void *data, const struct esi_domain_value *values)
{
    struct made_world *world = data;

    assert_true(made_world_satisfies(world, values, ESI_INDEXED_ALL));
    world->found[code_of(world, returned_of(world), values)]++;
    return 0;
}

/* A search whose domains do not grow; the caller destroys its plan, too. */
static struct esi_indexed *frozen_search_of(const struct esi_indexed_config *config,
                                            struct esi_indexed_plan **plan)
{
    struct es_error error = {.text = ""};
    struct esi_indexed *search;

    if (esi_indexed_plan_create(config, false, plan, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_indexed_create_for(*plan, &search), 0);
    return search;
}

static const struct {
    const char *what;
    bool has_one_witness;
    bool skips_universal; /* in each fourth world */
    bool is_frozen;
    unsigned times;
} searches[] = {
    {"all assignments, also in a second search", .skips_universal = true, .times = 2},
    {"one witness of hidden variables is enough", .has_one_witness = true, .times = 1},
    {"what is remembered of values changes nothing", .is_frozen = true, .times = 1},
};

static void each_search_finds_what_it_has_to_once(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        print_message("# %s\n", searches[i].what);
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct made_world *world = made_world_create(seed, round, true);
            struct esi_indexed_config config = config_of(world);
            struct esi_indexed_plan *plan = NULL;
            struct esi_indexed *search;

            config.all_witnesses = !searches[i].has_one_witness;
            config.skips_universal = searches[i].skips_universal && round % 4 == 3;
            search = searches[i].is_frozen ? frozen_search_of(&config, &plan)
                                           : search_of(&config);
            for (unsigned again = 0; again < searches[i].times; again++) {
                clear_found(world);
                assert_int_equal(
                    esi_indexed_all(search, config.all_witnesses ? note : note_returned,
                                    world),
                    0);
                check_found(world,
                            config.all_witnesses ? world->disjunct.variables
                                                 : returned_of(world),
                            config.skips_universal ? ESI_INDEXED_EXISTENTIAL
                                                   : ESI_INDEXED_ALL,
                            round);
            }
            esi_indexed_destroy(search);
            esi_indexed_plan_destroy(plan);
            made_world_destroy(world);
        }
    }
}

struct sum {
    const struct made_world *world;
    const struct esi_indexed_plan *plan;
    uint64_t total;
};

static int add(void *data, const struct esi_domain_value *values)
{
    struct sum *sum = data;

    assert_true(made_world_satisfies(sum->world, values, ESI_INDEXED_ALL));
    sum->total += esi_groups_multiplicity(&sum->plan->groups, values);
    return 0;
}

static uint64_t count_true(struct made_world *world)
{
    struct esi_domain_value values[MADE_VARIABLES];
    uint64_t total = 0;

    for (bool more = made_world_first_assignment(world, values); more;
         more = made_world_next_assignment(world, values))
        total += made_world_satisfies(world, values, ESI_INDEXED_ALL);
    return total;
}

static void exchanged_variables_are_searched_once_and_counted_all(void **state)
{
    uint64_t seed = random_seed();
    unsigned grouped = 0;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct made_world *world = made_world_create(seed, round, true);
        struct esi_indexed_config config;
        struct esi_indexed *search;
        struct esi_indexed_plan *plan;
        struct sum sum = {.world = world};

        made_world_make_exchangeable(world);
        config = config_of(world);
        config.all_witnesses = false;
        search = frozen_search_of(&config, &plan);
        sum.plan = plan;
        grouped += plan->groups.count > 0;
        assert_int_equal(esi_indexed_all(search, add, &sum), 0);
        assert_int_equal(sum.total, count_true(world));
        esi_indexed_destroy(search);
        esi_indexed_plan_destroy(plan);
        made_world_destroy(world);
    }
    assert_true(grouped > ROUNDS / 4);
}

static void assignments_from_elsewhere_are_judged(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct made_world *world = made_world_create(seed, round, true);
        struct esi_indexed_config config = config_of(world);
        struct esi_indexed *search = search_of(&config);
        struct esi_domain_value values[MADE_VARIABLES];
        bool has_values = made_world_first_assignment(world, values);

        for (unsigned i = 0; has_values && i < 20; i++) {
            unsigned v = random_below(&world->draw, world->variable_count);

            if (!made_world_next_value(world->domains[v], &values[v]))
                made_world_first_value(world->domains[v], &values[v]);
            assert_int_equal(esi_indexed_holds(search, values, ESI_INDEXED_ALL),
                             made_world_satisfies(world, values, ESI_INDEXED_ALL));
            assert_int_equal(
                esi_indexed_holds(search, values, ESI_INDEXED_EXISTENTIAL),
                made_world_satisfies(world, values, ESI_INDEXED_EXISTENTIAL));
        }
        esi_indexed_destroy(search);
        made_world_destroy(world);
    }
}

/* --- Searches while events arrive ------------------------------------------------- */

struct live {
    struct made_world *world;
    struct esi_indexed *search; /* NULL = not yet */
};

static int pin(void *data, uint32_t number, struct es_event_id id)
{
    struct live *live = data;
    struct made_world *world = live->world;
    uint64_t excluded = 0;

    for (unsigned v = 0; live->search && v < world->variable_count; v++) {
        struct esi_domain_value value;

        if (world->variables[v].class_number != number)
            continue;
        assert_true(esi_domain_find(world->domains[v], id, &value));
        assert_int_equal(
            esi_indexed_pinned(live->search, v, value, excluded, note, world), 0);
        excluded |= UINT64_C(1) << v;
    }
    return 0;
}

/* A variable of sets has values before any event arrives. */
static bool has_sets(const struct made_world *world)
{
    for (unsigned v = 0; v < world->variable_count; v++)
        if (world->domains[v] == world->sets)
            return true;
    return false;
}

static void check_pinned(uint64_t seed, unsigned round)
{
    struct made_world *world = made_world_create(seed, round, false);
    struct live live = {.world = world};
    const struct esi_domains_listener listener = {.joined = pin, .data = &live};
    struct esi_indexed_config config;
    struct es_error error = {0};

    assert_int_equal(
        esi_domains_create(world->file, NULL, &listener, &world->events, &error), 0);
    made_world_give_traces(world);
    made_world_make_condition(world);
    config = config_of(world);
    config.skips_universal = true;
    live.search = search_of(&config);
    clear_found(world);
    made_world_give(world);
    if (!has_sets(world))
        check_found(world, world->disjunct.variables, ESI_INDEXED_EXISTENTIAL, round);
    esi_indexed_destroy(live.search);
    made_world_destroy(world);
}

static void searches_for_each_arrival_find_all_once(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned round = 0; round < 2 * ROUNDS; round++)
        check_pinned(seed, round);
}

/* A send of one bound variable that receives from another one: found with this seed. */
static void a_variable_has_two_bound_partners(void **state)
{
    (void)state;
    check_pinned(UINT64_C(1795809072), 56);
}

static int stop(void *data, const struct esi_domain_value *values)
{
    (void)values;
    ++*(unsigned *)data;
    return 1;
}

static void enough_is_enough(void **state)
{
    struct made_world *world = made_world_create(1, 0, true);
    struct esi_indexed_config config;
    struct esi_indexed *search;
    unsigned calls = 0;

    (void)state;
    world->cnf.count = 0;
    config = config_of(world);
    search = search_of(&config);
    for (unsigned v = 0; v < world->variable_count; v++)
        assert_true(esi_domain_count(world->domains[v]) > 0);
    assert_int_equal(esi_indexed_all(search, stop, &calls), 1);
    assert_int_equal(calls, 1);
    esi_indexed_destroy(search);
    made_world_destroy(world);
}

SUITE(test_indexed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_search_finds_what_it_has_to_once),
        cmocka_unit_test(exchanged_variables_are_searched_once_and_counted_all),
        cmocka_unit_test(assignments_from_elsewhere_are_judged),
        cmocka_unit_test(searches_for_each_arrival_find_all_once),
        cmocka_unit_test(a_variable_has_two_bound_partners),
        cmocka_unit_test(enough_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
