/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_world.c - random conditions over classes of events, and their evaluation. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/domains/precedence.h"
#include "tests/search/made_world.h"

enum {
    EVENTS = 18, /* minimum */
    CLASSES = 3,
    CLAUSES = 6,
};

static const char text[] =
    "A := [type =~ \"a\"];\n"
    "B := [type =~ \"b\"];\n"
    "C := [type =~ \"c\"];\n"
    "Received := (A => B) & (B => C) & (C => A);\n"; /* makes domains store partners */
/* Drawn at random: many events are in several classes, some in none. */
static const char *const types[] = {"a", "b", "c", "ab", "bc", "abc", "d"};

/* --- Events ----------------------------------------------------------------------- */

static int give_to(const struct made_world *world,
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

void made_world_give(struct made_world *world)
{
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = esi_domains_sink(world->events);

    for (uint32_t number = 0; number < world->made->count;) {
        uint32_t end = number + 1 + (world->made->events[number].kind == ES_EVENT_SYNC);

        for (uint32_t i = number; i < end; i++)
            assert_int_equal(give_to(world, i, &order), 0);
        for (; number < end; number++)
            assert_int_equal(give_to(world, number, &domains), 0);
    }
}

void made_world_give_traces(struct made_world *world)
{
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = esi_domains_sink(world->events);

    for (uint32_t trace = 0; trace < world->made->traces; trace++) {
        assert_int_equal(order.trace(order.data, trace, "T"), 0);
        assert_int_equal(domains.trace(domains.data, trace, "T"), 0);
    }
}

static void fill(struct made_world *world)
{
    made_world_give_traces(world);
    made_world_give(world);
    assert_int_equal(esi_domains_finish(world->events), 0);
}

static uint32_t class_number(const struct made_world *world, unsigned number)
{
    const struct esi_pattern_predicate *predicate =
        esi_pattern_predicate(world->file, number);

    return predicate->occurrences[predicate->root->occurrence].class_number;
}

static void make_sets(struct made_world *world)
{
    uint32_t count = random_below(&world->draw, MADE_SETS + 1);

    assert_int_equal(esi_domain_create_sets(NULL, &world->sets), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct made_set_of_events set = {.count = 0};

        if (!random_percent(&world->draw, 10))
            made_set_draw(world->made, &world->draw, 4, &set);
        assert_int_equal(esi_domain_add_set(world->sets, set.events, set.count), 0);
    }
}

/* --- Conditions ------------------------------------------------------------------- */

static void make_variable(struct made_world *world, unsigned v, bool is_universal)
{
    bool is_set = random_percent(&world->draw, 15);
    unsigned number = random_below(&world->draw, CLASSES);

    world->variables[v] = (struct esi_program_variable){
        .name = "x",
        .is_universal = is_universal,
        .is_returned = !is_universal && random_percent(&world->draw, 70),
        .class_number = is_set ? ES_PATTERN_NONE : class_number(world, number),
        .predicate = is_set ? 0 : ES_PATTERN_NONE,
        .occurrence = v,
    };
    world->domains[v] =
        is_set ? world->sets
               : esi_domains_class(world->events, world->variables[v].class_number);
    if (is_universal)
        world->disjunct.universal |= UINT64_C(1) << v;
    else
        world->disjunct.variables |= UINT64_C(1) << v;
}

static void make_literal(struct made_world *world, struct esi_literal *literal)
{
    unsigned count = world->program.variable_count;

    *literal = (struct esi_literal){
        .kind = random_percent(&world->draw, 75) ? ES_LITERAL_BEFORE : ES_LITERAL_EQUAL,
        .is_negated = random_percent(&world->draw, 60),
        .x = (uint8_t)random_below(&world->draw, count),
    };
    literal->y =
        (uint8_t)((literal->x + 1 + random_below(&world->draw, count - 1)) % count);
    if (random_percent(&world->draw, 15) && world->domains[literal->x] != world->sets &&
        world->domains[literal->y] != world->sets)
        literal->kind = ES_LITERAL_RECEIVED;
    literal->variables = UINT64_C(1) << literal->x | UINT64_C(1) << literal->y;
}

/* A clause with a universal variable without values is true, and is left out (D8). */
static void make_clause(struct made_world *world)
{
    struct esi_clause *clause = &world->clauses[world->cnf.count];
    uint64_t variables = 0;

    *clause =
        (struct esi_clause){.literals = world->literals[world->cnf.count],
                            .count = 1 + random_below(&world->draw, MADE_LITERALS)};
    for (size_t i = 0; i < clause->count; i++) {
        struct esi_literal *literal = &world->literals[world->cnf.count][i];

        make_literal(world, literal);
        variables |= literal->variables;
    }
    clause->existential = variables & world->disjunct.variables;
    clause->universal = variables & world->disjunct.universal;
    if (clause->universal & world->empty)
        return;
    world->cnf.count++;
    world->cnf.literals += clause->count;
}

void made_world_make_condition(struct made_world *world)
{
    unsigned universal = random_below(&world->draw, MADE_UNIVERSAL + 1);
    unsigned clauses = random_below(&world->draw, CLAUSES + 1);

    world->variable_count = 2 + random_below(&world->draw, MADE_VARIABLES - 1);
    world->program = (struct esi_program){
        .file = world->file,
        .variables = world->variables,
        .variable_count = world->variable_count + universal,
        .atoms = &world->atom,
        .atom_count = 1,
        .disjuncts = &world->disjunct,
        .disjunct_count = 1,
    };
    for (unsigned v = 0; v < world->program.variable_count; v++)
        make_variable(world, v, v >= world->variable_count);
    world->empty = esi_universal_empty(&world->program, world->domains);
    world->cnf.clauses = world->clauses;
    for (unsigned i = 0; i < clauses; i++)
        make_clause(world);
}

/* Adds the clause that x is not `kind` y. */
static void add_clause(struct made_world *world,
                       enum esi_literal_kind kind,
                       uint8_t x,
                       uint8_t y)
{
    size_t number = world->cnf.count++;
    uint64_t variables = UINT64_C(1) << x | UINT64_C(1) << y;

    world->literals[number][0] = (struct esi_literal){
        .kind = kind, .is_negated = true, .x = x, .y = y, .variables = variables};
    world->clauses[number] = (struct esi_clause){
        .literals = world->literals[number],
        .count = 1,
        .existential = variables,
    };
    world->cnf.literals++;
}

void made_world_make_exchangeable(struct made_world *world)
{
    bool are_unordered = random_percent(&world->draw, 70);
    bool are_distinct = random_percent(&world->draw, 50);

    world->cnf.count = world->cnf.literals = 0;
    world->variable_count = world->program.variable_count = 3;
    world->disjunct.variables = 7;
    world->disjunct.universal = world->empty = 0;
    for (unsigned v = 0; v < 3; v++) {
        make_variable(world, v, false);
        world->variables[v].is_returned = true;
        world->domains[v] = world->domains[0];
    }
    for (uint8_t x = 0; x < 3; x++)
        for (uint8_t y = 0; y < 3; y++) {
            if (x != y && are_unordered)
                add_clause(world, ES_LITERAL_BEFORE, x, y);
            if (x < y && are_distinct)
                add_clause(world, ES_LITERAL_EQUAL, x, y);
        }
}

/* --- Worlds ----------------------------------------------------------------------- */

struct made_world *made_world_create(uint64_t seed, unsigned round, bool is_filled)
{
    struct made_world *world = calloc(1, sizeof *world);
    struct esi_order_config config = {.store = NULL};
    struct es_error error = {0};
    struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                              .seed = seed + round,
                              .traces = 2 + round % 5,
                              .events = EVENTS};

    assert_non_null(world);
    world->draw = seed + round;
    world->made = made_computation_create(&how);
    world->type_of = calloc(world->made->count + 1, sizeof *world->type_of);
    assert_non_null(world->type_of);
    for (uint32_t i = 0; i < world->made->count; i++)
        world->type_of[i] =
            types[random_below(&world->draw, sizeof types / sizeof types[0])];
    assert_int_equal(esi_order_create(&config, &error, &world->order), 0);
    assert_int_equal(
        es_pattern_file_parse(text, sizeof text - 1, "text", &world->file, &error), 0);
    if (is_filled) {
        assert_int_equal(
            esi_domains_create(world->file, NULL, NULL, &world->events, &error), 0);
        fill(world);
    }
    make_sets(world);
    if (is_filled)
        made_world_make_condition(world);
    return world;
}

void made_world_destroy(struct made_world *world)
{
    free(world->found);
    esi_domain_destroy(world->sets);
    esi_domains_destroy(world->events);
    es_order_destroy(world->order);
    es_pattern_file_destroy(world->file);
    made_computation_destroy(world->made);
    free(world->type_of);
    free(world);
}

/* Whether x is a partner of y. */
static bool names(const struct made_world *world,
                  struct es_event_id x,
                  struct es_event_id y)
{
    const struct made_event *event = &world->made->events[made_number(world->made, y)];

    for (uint32_t i = 0; i < event->partner_count; i++)
        if (esi_event_is(event->partners[i], x))
            return true;
    return false;
}

/* --- The truth -------------------------------------------------------------------- */

static bool literal_is_true(const struct made_world *world,
                            const struct esi_literal *literal,
                            const struct esi_domain_value *values)
{
    struct es_event_id scratch[2];
    const struct es_event_id *x;
    const struct es_event_id *y;
    size_t x_count = esi_domain_events(world->domains[literal->x], values[literal->x],
                                       &scratch[0], &x);
    size_t y_count = esi_domain_events(world->domains[literal->y], values[literal->y],
                                       &scratch[1], &y);
    bool holds = false;

    for (size_t i = 0; i < x_count; i++)
        for (size_t j = 0; j < y_count; j++)
            holds |= literal->kind == ES_LITERAL_BEFORE
                         ? made_precedes(world->made, x[i], y[j])
                     : literal->kind == ES_LITERAL_EQUAL ? esi_event_is(x[i], y[j])
                                                         : names(world, x[i], y[j]);
    return holds != literal->is_negated;
}

bool made_world_next_value(const struct esi_domain *domain,
                           struct esi_domain_value *value)
{
    value->position++;
    while (value->slot < esi_domain_slots(domain) &&
           value->position >= esi_domain_column(domain, value->slot).count) {
        value->slot++;
        value->position = 0;
    }
    return value->slot < esi_domain_slots(domain);
}

bool made_world_first_value(const struct esi_domain *domain,
                            struct esi_domain_value *value)
{
    *value = (struct esi_domain_value){0, UINT32_MAX};
    return made_world_next_value(domain, value);
}

bool made_world_first_assignment(const struct made_world *world,
                                 struct esi_domain_value *values)
{
    bool has_values = true;

    for (unsigned v = 0; v < world->variable_count; v++)
        has_values &= made_world_first_value(world->domains[v], &values[v]);
    return has_values;
}

bool made_world_next_assignment(const struct made_world *world,
                                struct esi_domain_value *values)
{
    for (unsigned v = 0; v < world->variable_count; v++) {
        if (made_world_next_value(world->domains[v], &values[v]))
            return true;
        made_world_first_value(world->domains[v], &values[v]);
    }
    return false;
}

static bool clause_is_true(const struct made_world *world,
                           const struct esi_clause *clause,
                           uint64_t universal,
                           struct esi_domain_value *values)
{
    int u = universal ? __builtin_ctzll(universal) : -1;

    if (u < 0) {
        for (size_t i = 0; i < clause->count; i++)
            if (literal_is_true(world, &clause->literals[i], values))
                return true;
        return false;
    }
    for (bool more = made_world_first_value(world->domains[u], &values[u]); more;
         more = made_world_next_value(world->domains[u], &values[u]))
        if (!clause_is_true(world, clause, universal & (universal - 1), values))
            return false;
    return true;
}

bool made_world_satisfies(const struct made_world *world,
                          const struct esi_domain_value *assignment,
                          enum esi_indexed_clauses which)
{
    struct esi_domain_value values[MADE_VARIABLES + MADE_UNIVERSAL];

    memcpy(values, assignment, world->variable_count * sizeof *values);
    for (size_t i = 0; i < world->cnf.count; i++) {
        const struct esi_clause *clause = &world->clauses[i];

        if (which == ESI_INDEXED_ALL ||
            (which == ESI_INDEXED_UNIVERSAL) == (clause->universal != 0))
            if (!clause_is_true(world, clause, clause->universal, values))
                return false;
    }
    return true;
}
