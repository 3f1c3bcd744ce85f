/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_indexed.c - the search by ranges against the plain definition: random clauses
 * over random computations, all assignments tried one by one.
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

#include "monitors/patterns/domains.h"
#include "monitors/patterns/engine.h"
#include "monitors/patterns/indexed.h"
#include "monitors/patterns/indexed_plan.h"
#include "monitors/patterns/indexed_searcher.h"
#include "tests/patterns/made_sets.h"

enum {
    ROUNDS = 400,
    EVENTS = 18, /* some more are made */
    CLASSES = 3,
    SETS = 4,      /* values of a domain of sets */
    VARIABLES = 4, /* existential ones, at most */
    UNIVERSAL = 2,
    CLAUSES = 6,
    CLAUSES_MADE = 9, /* in all that is not random, at most */
    LITERALS = 3,
};

static const char text[] =
    "A := [type =~ \"a\"];\n"
    "B := [type =~ \"b\"];\n"
    "C := [type =~ \"c\"];\n"
    "Received := (A => B) & (B => C) & (C => A);\n"; /* keeps partners */
/* By chance: many events are in several classes, some in none. */
static const char *const types[] = {"a", "b", "c", "ab", "bc", "abc", "d"};

/* Events in classes, a random condition over them, and what assignments it has. */
struct world {
    struct made_draw draw;
    struct made_computation *made;
    const char **type_of; /* by number */
    struct es_pattern_file *file;
    struct es_domains *events;
    struct es_domain *sets;
    struct es_order *order;

    struct es_program_variable variables[VARIABLES + UNIVERSAL];
    struct es_atom atom;
    struct es_program_support support;
    struct es_program program;
    const struct es_domain *domains[VARIABLES + UNIVERSAL];
    uint64_t empty;
    struct es_literal literals[CLAUSES_MADE][LITERALS];
    struct es_clause clauses[CLAUSES_MADE];
    struct es_cnf cnf;

    uint8_t *found; /* by code of an assignment: how often it came */
    size_t codes;
    unsigned variable_count; /* existential ones */
};

/* --- Events ----------------------------------------------------------------------- */

static int give_to(const struct world *world,
                   uint32_t number,
                   const struct es_set_sink *sink)
{
    const struct made_event *event = &world->made->events[number];
    struct es_set_event given = {.id = event->id,
                                 .kind = event->kind,
                                 .partner_count = event->partner_count,
                                 .partners = event->partners,
                                 .type = world->type_of[number],
                                 .text = ""};

    return sink->event(sink->data, &given);
}

/* All events: both halves of a sync are in the order before any is in a domain. */
static void give_all(struct world *world)
{
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = es_domains_sink(world->events);

    for (uint32_t number = 0; number < world->made->count;) {
        uint32_t end = number + 1 + (world->made->events[number].kind == ES_EVENT_SYNC);

        for (uint32_t i = number; i < end; i++)
            assert_int_equal(give_to(world, i, &order), 0);
        for (; number < end; number++)
            assert_int_equal(give_to(world, number, &domains), 0);
    }
}

static void give_traces(struct world *world)
{
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = es_domains_sink(world->events);

    for (uint32_t trace = 0; trace < world->made->traces; trace++) {
        assert_int_equal(order.trace(order.data, trace, "T"), 0);
        assert_int_equal(domains.trace(domains.data, trace, "T"), 0);
    }
}

static void fill(struct world *world)
{
    give_traces(world);
    give_all(world);
    assert_int_equal(es_domains_finish(world->events), 0);
}

static uint32_t class_number(const struct world *world, unsigned number)
{
    const struct es_pattern_predicate *predicate =
        es_pattern_predicate(world->file, number);

    return predicate->occurrences[predicate->root->occurrence].class_number;
}

static void make_sets(struct world *world)
{
    uint32_t count = made_draw_below(&world->draw, SETS + 1);

    assert_int_equal(es_domain_create_sets(NULL, &world->sets), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct made_set_of_events set = {.count = 0};

        if (!made_draw_percent(&world->draw, 10))
            made_set_draw(world->made, &world->draw, 4, &set);
        assert_int_equal(es_domain_add_set(world->sets, set.events, set.count), 0);
    }
}

/* --- Conditions ------------------------------------------------------------------- */

static void make_variable(struct world *world, unsigned v, bool is_universal)
{
    bool is_set = made_draw_percent(&world->draw, 15);
    unsigned number = made_draw_below(&world->draw, CLASSES);

    world->variables[v] = (struct es_program_variable){
        .name = "x",
        .is_universal = is_universal,
        .is_returned = !is_universal && made_draw_percent(&world->draw, 70),
        .class_number = is_set ? ES_PATTERN_NONE : class_number(world, number),
        .predicate = is_set ? 0 : ES_PATTERN_NONE,
        .occurrence = v,
    };
    world->domains[v] =
        is_set ? world->sets
               : es_domains_class(world->events, world->variables[v].class_number);
    if (is_universal)
        world->support.universal |= UINT64_C(1) << v;
    else
        world->support.variables |= UINT64_C(1) << v;
}

static void make_literal(struct world *world, struct es_literal *literal)
{
    unsigned count = world->program.variable_count;

    *literal = (struct es_literal){
        .kind =
            made_draw_percent(&world->draw, 75) ? ES_LITERAL_BEFORE : ES_LITERAL_EQUAL,
        .is_negated = made_draw_percent(&world->draw, 60),
        .x = (uint8_t)made_draw_below(&world->draw, count),
    };
    literal->y =
        (uint8_t)((literal->x + 1 + made_draw_below(&world->draw, count - 1)) % count);
    if (made_draw_percent(&world->draw, 15) &&
        world->domains[literal->x] != world->sets &&
        world->domains[literal->y] != world->sets)
        literal->kind = ES_LITERAL_RECEIVED;
}

/* Clauses with universal variables that have no values are true (D8). */
static void make_clause(struct world *world)
{
    struct es_clause *clause = &world->clauses[world->cnf.count];
    uint64_t variables = 0;

    *clause = (struct es_clause){.literals = world->literals[world->cnf.count],
                                 .count = 1 + made_draw_below(&world->draw, LITERALS)};
    for (size_t i = 0; i < clause->count; i++) {
        struct es_literal *literal = &world->literals[world->cnf.count][i];

        make_literal(world, literal);
        variables |= UINT64_C(1) << literal->x | UINT64_C(1) << literal->y;
    }
    clause->existential = variables & world->support.variables;
    clause->universal = variables & world->support.universal;
    if (clause->universal & world->empty)
        return;
    world->cnf.count++;
    world->cnf.literals += clause->count;
}

static void make_condition(struct world *world)
{
    unsigned universal = made_draw_below(&world->draw, UNIVERSAL + 1);
    unsigned clauses = made_draw_below(&world->draw, CLAUSES + 1);

    world->variable_count = 2 + made_draw_below(&world->draw, VARIABLES - 1);
    world->program = (struct es_program){
        .file = world->file,
        .variables = world->variables,
        .variable_count = world->variable_count + universal,
        .atoms = &world->atom,
        .atom_count = 1,
        .supports = &world->support,
        .support_count = 1,
    };
    for (unsigned v = 0; v < world->program.variable_count; v++)
        make_variable(world, v, v >= world->variable_count);
    world->empty = esi_universal_empty(&world->program, world->domains);
    world->cnf.clauses = world->clauses;
    for (unsigned i = 0; i < clauses; i++)
        make_clause(world);
}

static void add_clause(struct world *world, struct es_literal literal)
{
    size_t number = world->cnf.count++;

    world->literals[number][0] = literal;
    world->clauses[number] = (struct es_clause){
        .literals = world->literals[number],
        .count = 1,
        .existential = UINT64_C(1) << literal.x | UINT64_C(1) << literal.y,
    };
    world->cnf.literals++;
}

/* Three variables of one class, all returned, of which any two are alike to each other:
 * they may be exchanged. */
static void make_exchangeable(struct world *world)
{
    bool are_unordered = made_draw_percent(&world->draw, 70);
    bool are_distinct = made_draw_percent(&world->draw, 50);

    world->cnf.count = world->cnf.literals = 0;
    world->variable_count = world->program.variable_count = 3;
    world->support.variables = 7;
    world->support.universal = world->empty = 0;
    for (unsigned v = 0; v < 3; v++) {
        make_variable(world, v, false);
        world->variables[v].is_returned = true;
        world->domains[v] = world->domains[0];
    }
    for (uint8_t x = 0; x < 3; x++)
        for (uint8_t y = 0; y < 3; y++) {
            if (x != y && are_unordered)
                add_clause(world, (struct es_literal){ES_LITERAL_BEFORE, true, x, y, 0,
                                                      NULL, 0});
            if (x < y && are_distinct)
                add_clause(world, (struct es_literal){ES_LITERAL_EQUAL, true, x, y, 0,
                                                      NULL, 0});
        }
}

/* --- Worlds ----------------------------------------------------------------------- */

static struct world *world_create(uint64_t seed, unsigned round, bool is_filled)
{
    struct world *world = calloc(1, sizeof *world);
    struct es_order_config config;
    struct es_error error = {0};
    struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                              .seed = seed + round,
                              .traces = 2 + round % 5,
                              .events = EVENTS};

    assert_non_null(world);
    made_draw_init(&world->draw, seed + round);
    world->made = made_computation_create(&how);
    world->type_of = calloc(world->made->count + 1, sizeof *world->type_of);
    assert_non_null(world->type_of);
    for (uint32_t i = 0; i < world->made->count; i++)
        world->type_of[i] =
            types[made_draw_below(&world->draw, sizeof types / sizeof types[0])];
    es_order_config_init(&config);
    assert_int_equal(es_order_create(&config, &error, &world->order), 0);
    assert_int_equal(
        es_pattern_file_parse(text, sizeof text - 1, "text", &world->file, &error), 0);
    if (is_filled) {
        assert_int_equal(
            es_domains_create(world->file, NULL, NULL, &world->events, &error), 0);
        fill(world);
    }
    make_sets(world);
    if (is_filled)
        make_condition(world);
    return world;
}

static void world_destroy(struct world *world)
{
    free(world->found);
    es_domain_destroy(world->sets);
    es_domains_destroy(world->events);
    es_order_destroy(world->order);
    es_pattern_file_destroy(world->file);
    made_computation_destroy(world->made);
    free(world->type_of);
    free(world);
}

static struct esi_indexed_config config_of(const struct world *world)
{
    return (struct esi_indexed_config){.program = &world->program,
                                       .cnf = &world->cnf,
                                       .domains = world->domains,
                                       .order = world->order,
                                       .empty = world->empty,
                                       .all_witnesses = true};
}

/* Whether y names x. */
static bool names(const struct world *world, struct es_event_id x, struct es_event_id y)
{
    const struct made_event *event = &world->made->events[made_number(world->made, y)];

    for (uint32_t i = 0; i < event->partner_count; i++)
        if (es_event_is(event->partners[i], x))
            return true;
    return false;
}

/* --- The truth -------------------------------------------------------------------- */

static bool literal_is_true(const struct world *world,
                            const struct es_literal *literal,
                            const struct es_domain_value *values)
{
    struct es_event_id scratch[2];
    const struct es_event_id *x;
    const struct es_event_id *y;
    size_t x_count = es_domain_events(world->domains[literal->x], values[literal->x],
                                      &scratch[0], &x);
    size_t y_count = es_domain_events(world->domains[literal->y], values[literal->y],
                                      &scratch[1], &y);
    bool holds = false;

    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++)
            holds |= literal->kind == ES_LITERAL_BEFORE
                         ? made_precedes(world->made, x[i], y[j])
                     : literal->kind == ES_LITERAL_EQUAL ? es_event_is(x[i], y[j])
                                                         : names(world, x[i], y[j]);
    return holds != literal->is_negated;
}

/* The next value of a domain; false after the last. */
static bool next_value(const struct es_domain *domain, struct es_domain_value *value)
{
    value->position++;
    while (value->slot < es_domain_slots(domain) &&
           value->position >= es_domain_column(domain, value->slot).count) {
        value->slot++;
        value->position = 0;
    }
    return value->slot < es_domain_slots(domain);
}

static bool first_value(const struct es_domain *domain, struct es_domain_value *value)
{
    *value = (struct es_domain_value){0, UINT32_MAX};
    return next_value(domain, value);
}

static bool first_assignment(const struct world *world, struct es_domain_value *values)
{
    bool has_values = true;

    for (unsigned v = 0; v < world->variable_count; v++)
        has_values &= first_value(world->domains[v], &values[v]);
    return has_values;
}

static bool next_assignment(const struct world *world, struct es_domain_value *values)
{
    for (unsigned v = 0; v < world->variable_count; v++) {
        if (next_value(world->domains[v], &values[v]))
            return true;
        first_value(world->domains[v], &values[v]);
    }
    return false;
}

static bool clause_is_true(const struct world *world,
                           const struct es_clause *clause,
                           uint64_t universal,
                           struct es_domain_value *values)
{
    int u = universal ? __builtin_ctzll(universal) : -1;

    if (u < 0) {
        for (size_t i = 0; i < clause->count; i++)
            if (literal_is_true(world, &clause->literals[i], values))
                return true;
        return false;
    }
    for (bool more = first_value(world->domains[u], &values[u]); more;
         more = next_value(world->domains[u], &values[u]))
        if (!clause_is_true(world, clause, universal & (universal - 1), values))
            return false;
    return true;
}

static bool is_true(const struct world *world,
                    const struct es_domain_value *assignment,
                    enum esi_indexed_clauses which)
{
    struct es_domain_value values[VARIABLES + UNIVERSAL];

    memcpy(values, assignment, world->variable_count * sizeof *values);
    for (size_t i = 0; i < world->cnf.count; i++) {
        const struct es_clause *clause = &world->clauses[i];

        if (which == ESI_INDEXED_ALL ||
            (which == ESI_INDEXED_UNIVERSAL) == (clause->universal != 0))
            if (!clause_is_true(world, clause, clause->universal, values))
                return false;
    }
    return true;
}

/* A number for an assignment of `variables`, from events and numbers of sets: it stays
 * the same while domains grow. */
static size_t code_of(const struct world *world,
                      uint64_t variables,
                      const struct es_domain_value *values)
{
    size_t base = (world->made->count > SETS ? world->made->count : SETS) + 1;
    size_t code = 0;

    for (unsigned v = 0; v < world->variable_count; v++) {
        struct es_event_id scratch;
        const struct es_event_id *events;
        size_t digit = base - 1;

        if (variables >> v & 1 && world->domains[v] == world->sets) {
            digit = values[v].position;
        } else if (variables >> v & 1) {
            es_domain_events(world->domains[v], values[v], &scratch, &events);
            digit = made_number(world->made, events[0]);
        }
        code = code * base + digit;
    }
    return code;
}

static void clear_found(struct world *world)
{
    size_t base = (world->made->count > SETS ? world->made->count : SETS) + 1;

    world->codes = 1;
    for (unsigned v = 0; v < world->variable_count; v++)
        world->codes *= base;
    free(world->found);
    world->found = calloc(world->codes, 1);
    assert_non_null(world->found);
}

static int note(void *data, const struct es_domain_value *values)
{
    struct world *world = data;

    world->found[code_of(world, world->support.variables, values)]++;
    return 0;
}

/* Of the true assignments that agree in `variables` one was to be found, once. */
static void check_found(struct world *world,
                        uint64_t variables,
                        enum esi_indexed_clauses which,
                        unsigned round)
{
    struct es_domain_value values[VARIABLES];
    uint8_t *expected = calloc(world->codes, 1);

    assert_non_null(expected);
    for (bool more = first_assignment(world, values); more;
         more = next_assignment(world, values))
        if (is_true(world, values, which))
            expected[code_of(world, variables, values)] = 1;
    for (size_t code = 0; code < world->codes; code++)
        if (world->found[code] != expected[code])
            fail_msg("round %u, %s: code %zu found %u times, expected %u", round,
                     made_computation_name(world->made), code, world->found[code],
                     expected[code]);
    free(expected);
}

/* --- Tests ------------------------------------------------------------------------ */

static void all_assignments_are_found_once(void **state)
{
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world *world = world_create(seed, round, true);
        struct esi_indexed_config config = config_of(world);
        struct esi_indexed *search;
        struct es_error error = {0};

        config.skips_universal = round % 4 == 3;
        assert_int_equal(esi_indexed_create(&config, &search, &error), 0);
        for (int again = 0; again < 2; again++) {
            clear_found(world);
            assert_int_equal(esi_indexed_all(search, note, world), 0);
            check_found(world, world->support.variables,
                        config.skips_universal ? ESI_INDEXED_EXISTENTIAL
                                               : ESI_INDEXED_ALL,
                        round);
        }
        esi_indexed_destroy(search);
        world_destroy(world);
    }
}

static uint64_t returned_of(const struct world *world)
{
    uint64_t returned = 0;

    for (unsigned v = 0; v < world->variable_count; v++)
        if (world->variables[v].is_returned)
            returned |= UINT64_C(1) << v;
    return returned;
}

static int note_returned(void *data, const struct es_domain_value *values)
{
    struct world *world = data;

    assert_true(is_true(world, values, ESI_INDEXED_ALL));
    world->found[code_of(world, returned_of(world), values)]++;
    return 0;
}

static void one_witness_of_hidden_variables_is_enough(void **state)
{
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world *world = world_create(seed, round, true);
        struct esi_indexed_config config = config_of(world);
        struct esi_indexed *search;
        struct es_error error = {0};

        config.all_witnesses = false;
        clear_found(world);
        assert_int_equal(esi_indexed_create(&config, &search, &error), 0);
        assert_int_equal(esi_indexed_all(search, note_returned, world), 0);
        check_found(world, returned_of(world), ESI_INDEXED_ALL, round);
        esi_indexed_destroy(search);
        world_destroy(world);
    }
}

/* With memory of small domains, too. */
static void search_frozen(struct world *world, unsigned round)
{
    struct esi_indexed_config config = config_of(world);
    struct esi_indexed_plan *plan;
    struct esi_searcher *searcher;
    struct es_error error = {0};

    clear_found(world);
    assert_int_equal(esi_indexed_plan_create(&config, false, &plan, &error), 0);
    assert_int_equal(esi_searcher_create(plan, &searcher), 0);
    searcher->found = note;
    searcher->found_data = world;
    assert_int_equal(esi_searcher_all(searcher), 0);
    check_found(world, world->support.variables, ESI_INDEXED_ALL, round);
    esi_searcher_destroy(searcher);
    esi_indexed_plan_destroy(plan);
}

static void what_is_remembered_of_values_changes_nothing(void **state)
{
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world *world = world_create(seed, round, true);

        search_frozen(world, round);
        world_destroy(world);
    }
}

struct sum {
    const struct world *world;
    const struct esi_indexed_plan *plan;
    uint64_t total;
};

static int add(void *data, const struct es_domain_value *values)
{
    struct sum *sum = data;

    assert_true(is_true(sum->world, values, ESI_INDEXED_ALL));
    sum->total += esi_indexed_multiplicity(sum->plan, values);
    return 0;
}

static uint64_t count_true(struct world *world)
{
    struct es_domain_value values[VARIABLES];
    uint64_t total = 0;

    for (bool more = first_assignment(world, values); more;
         more = next_assignment(world, values))
        total += is_true(world, values, ESI_INDEXED_ALL);
    return total;
}

static void exchanged_variables_are_searched_once_and_counted_all(void **state)
{
    uint64_t seed = made_seed();
    unsigned grouped = 0;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world *world = world_create(seed, round, true);
        struct esi_indexed_config config;
        struct esi_searcher *searcher;
        struct es_error error = {0};
        struct esi_indexed_plan *plan;
        struct sum sum = {.world = world};

        make_exchangeable(world);
        config = config_of(world);
        config.all_witnesses = false;
        assert_int_equal(esi_indexed_plan_create(&config, false, &plan, &error), 0);
        assert_int_equal(esi_searcher_create(plan, &searcher), 0);
        sum.plan = plan;
        grouped += plan->group_count > 0;
        searcher->found = add;
        searcher->found_data = &sum;
        assert_int_equal(esi_searcher_all(searcher), 0);
        assert_int_equal(sum.total, count_true(world));
        esi_searcher_destroy(searcher);
        esi_indexed_plan_destroy(plan);
        world_destroy(world);
    }
    assert_true(grouped > ROUNDS / 4);
}

static void assignments_from_elsewhere_are_judged(void **state)
{
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world *world = world_create(seed, round, true);
        struct esi_indexed_config config;
        struct esi_indexed *search;
        struct es_error error = {0};
        struct es_domain_value values[VARIABLES];
        bool has_values;

        config = config_of(world);
        has_values = first_assignment(world, values);
        assert_int_equal(esi_indexed_create(&config, &search, &error), 0);
        for (unsigned i = 0; has_values && i < 20; i++) {
            unsigned v = made_draw_below(&world->draw, world->variable_count);

            if (!next_value(world->domains[v], &values[v]))
                first_value(world->domains[v], &values[v]);
            assert_int_equal(esi_indexed_holds(search, values, ESI_INDEXED_ALL),
                             is_true(world, values, ESI_INDEXED_ALL));
            assert_int_equal(esi_indexed_holds(search, values, ESI_INDEXED_EXISTENTIAL),
                             is_true(world, values, ESI_INDEXED_EXISTENTIAL));
        }
        esi_indexed_destroy(search);
        world_destroy(world);
    }
}

/* --- Searches while events arrive ------------------------------------------------- */

struct live {
    struct world *world;
    struct esi_indexed *search; /* NULL: not yet */
};

static int pin(void *data, uint32_t number, struct es_event_id id)
{
    struct live *live = data;
    struct world *world = live->world;
    uint64_t excluded = 0;

    for (unsigned v = 0; live->search && v < world->variable_count; v++) {
        struct es_domain_value value;

        if (world->variables[v].class_number != number)
            continue;
        assert_true(es_domain_find(world->domains[v], id, &value));
        assert_int_equal(
            esi_indexed_pinned(live->search, v, value, excluded, note, world), 0);
        excluded |= UINT64_C(1) << v;
    }
    return 0;
}

/* A variable of sets has values without anything arriving. */
static bool has_sets(const struct world *world)
{
    for (unsigned v = 0; v < world->variable_count; v++)
        if (world->domains[v] == world->sets)
            return true;
    return false;
}

static void check_pinned(uint64_t seed, unsigned round)
{
    struct world *world = world_create(seed, round, false);
    struct live live = {.world = world};
    const struct es_domains_listener listener = {pin, &live};
    struct esi_indexed_config config;
    struct es_error error = {0};

    assert_int_equal(
        es_domains_create(world->file, NULL, &listener, &world->events, &error), 0);
    give_traces(world);
    make_condition(world);
    config = config_of(world);
    config.skips_universal = true;
    assert_int_equal(esi_indexed_create(&config, &live.search, &error), 0);
    clear_found(world);
    give_all(world);
    if (!has_sets(world))
        check_found(world, world->support.variables, ESI_INDEXED_EXISTENTIAL, round);
    esi_indexed_destroy(live.search);
    world_destroy(world);
}

static void searches_for_each_arrival_find_all_once(void **state)
{
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < 2 * ROUNDS; round++)
        check_pinned(seed, round);
}

static int stop(void *data, const struct es_domain_value *values)
{
    (void)values;
    ++*(unsigned *)data;
    return 1;
}

static void enough_is_enough(void **state)
{
    struct world *world = world_create(1, 0, true);
    struct esi_indexed_config config;
    struct esi_indexed *search;
    struct es_error error = {0};
    unsigned calls = 0;

    (void)state;
    world->cnf.count = 0;
    config = config_of(world);
    assert_int_equal(esi_indexed_create(&config, &search, &error), 0);
    for (unsigned v = 0; v < world->variable_count; v++)
        assert_true(es_domain_count(world->domains[v]) > 0);
    assert_int_equal(esi_indexed_all(search, stop, &calls), 1);
    assert_int_equal(calls, 1);
    esi_indexed_destroy(search);
    world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_assignments_are_found_once),
        cmocka_unit_test(one_witness_of_hidden_variables_is_enough),
        cmocka_unit_test(what_is_remembered_of_values_changes_nothing),
        cmocka_unit_test(exchanged_variables_are_searched_once_and_counted_all),
        cmocka_unit_test(assignments_from_elsewhere_are_judged),
        cmocka_unit_test(searches_for_each_arrival_find_all_once),
        cmocka_unit_test(enough_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
