/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_program.c - conditions of predicates, by examples in the small order X,
 *
 *   trace P:  p1 send A    p2 unary B
 *   trace Q:  q1 recv B    q2 unary C      (p1>q1)
 *   trace R:  r1 unary C
 *
 * with all assignments tried, by the definitions of program.h. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formula_truth.h"
#include "tests/suites.h"

enum { P1 = 1, P2 = 2, Q1 = 4, Q2 = 8, R1 = 16, ALL = 31 };

static const struct truth order_x = {
    .events = 5,
    .after = {P2 | Q1 | Q2, 0, Q2, 0, 0},
    .received = {Q1, 0, 0, 0, 0},
    .times = {0, 10, 5, 20, 0},
};

static const char classes[] = "A := [\"\", \"A\", \"\"]; B := [\"\", \"B\", \"\"];\n"
                              "C := [\"\", \"C\", \"\"]; D := [\"\", \"D\", \"\"];\n"
                              "ANY := [\"\", \"\", \"\"];\n"
                              "A $a, *a, ~a; B $b, *b, ~b; C $c, *c, ~c; D *d, $d;\n";

/* --- Programs --------------------------------------------------------------------- */

static struct es_pattern_file *parsed(const char *text)
{
    char whole[16384];
    struct es_pattern_file *file = NULL;
    struct es_error error = {.text = ""};
    int length = snprintf(whole, sizeof whole, "%s%s\n", classes, text);

    assert_in_range(length, 1, sizeof whole - 1);
    if (es_pattern_file_parse(whole, (size_t)length, "test", &file, &error))
        fail_msg("%s: %s", text, error.text);
    return file;
}

static struct esi_program *program_of(const struct es_pattern_file *file,
                                      const char *name)
{
    struct esi_program *program = NULL;
    struct es_error error = {.text = ""};
    uint32_t number = es_pattern_find(file, name);

    assert_int_not_equal(number, ES_PATTERN_NONE);
    if (esi_program_create(file, number, &program, &error))
        fail_msg("%s: %s", name, error.text);
    return program;
}

/* --- All assignments -------------------------------------------------------------- */

struct found {
    uint32_t sets[64]; /* distinct */
    size_t count;
};

struct trial {
    const struct esi_program *program;
    struct truth truth;
    struct found values[ES_PROGRAM_VARIABLES];
    const struct esi_program_disjunct *disjunct;
    struct found *found;
};

static void find_matches(const struct es_pattern_file *file,
                         uint32_t predicate,
                         struct found *ret_found);

static void keep(struct found *found, uint32_t set)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->sets[i] == set)
            return;
    assert_true(found->count < 64);
    found->sets[found->count++] = set;
}

static void find_class(const struct es_pattern_file *file,
                       uint32_t number,
                       struct found *ret_found)
{
    static const struct {
        const char *type;
        uint32_t events;
    } types[] = {{"A", P1}, {"B", P2 | Q1}, {"C", Q2 | R1}, {"D", 0}};
    const struct esi_pattern_class *class = esi_pattern_class(file, number);
    uint32_t events = ALL;

    for (size_t i = 0; i < class->condition_count; i++)
        for (size_t k = 0; k < 4 && class->conditions[i].piece_count; k++)
            if (strcmp(class->conditions[i].pieces[0], types[k].type) == 0)
                events = types[k].events;
    ret_found->count = 0;
    for (; events; events &= events - 1)
        keep(ret_found, events & -events);
}

/* Whether the condition holds for all values of the universal variables from v on. */
static bool holds_for_all(struct trial *trial,
                          const struct esi_program_disjunct *disjunct,
                          uint32_t v)
{
    while (v < trial->program->variable_count &&
           (!(disjunct->universal >> v & 1) || (trial->truth.empty >> v & 1)))
        v++;
    if (v == trial->program->variable_count)
        return truth_formula(&trial->truth, trial->program, disjunct->condition);
    for (size_t i = 0; i < trial->values[v].count; i++) {
        trial->truth.values[v] = trial->values[v].sets[i];
        if (!holds_for_all(trial, disjunct, v + 1))
            return false;
    }
    return true;
}

static bool is_match(struct trial *trial)
{
    if (!holds_for_all(trial, trial->disjunct, 0))
        return false;
    for (size_t i = 0; i < trial->disjunct->lesser_count; i++)
        if (holds_for_all(trial, &trial->program->disjuncts[trial->disjunct->lesser[i]],
                          0))
            return false;
    return true;
}

static void try_values(struct trial *trial, uint32_t v, uint32_t returned)
{
    while (v < trial->program->variable_count && !(trial->disjunct->variables >> v & 1))
        v++;
    if (v == trial->program->variable_count) {
        if (is_match(trial))
            keep(trial->found, returned);
        return;
    }
    for (size_t i = 0; i < trial->values[v].count; i++) {
        uint32_t value = trial->values[v].sets[i];

        trial->truth.values[v] = value;
        try_values(trial, v + 1,
                   returned | (trial->program->variables[v].is_returned ? value : 0));
    }
}

static void find_matches(const struct es_pattern_file *file,
                         uint32_t predicate,
                         struct found *ret_found)
{
    struct esi_program *program =
        program_of(file, esi_pattern_predicate(file, predicate)->name);
    struct trial *trial = calloc(1, sizeof *trial);

    assert_non_null(trial);
    trial->program = program;
    trial->truth = order_x;
    trial->found = ret_found;
    ret_found->count = 0;
    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct esi_program_variable *variable = &program->variables[v];

        if (variable->class_number != ES_PATTERN_NONE)
            find_class(file, variable->class_number, &trial->values[v]);
        else
            find_matches(file, variable->predicate, &trial->values[v]);
        if (variable->is_universal && trial->values[v].count == 0)
            trial->truth.empty |= UINT64_C(1) << v;
    }
    for (uint32_t s = 0; s < program->disjunct_count; s++) {
        trial->disjunct = &program->disjuncts[s];
        try_values(trial, 0, 0);
    }
    free(trial);
    esi_program_destroy(program);
}

/* --- Examples --------------------------------------------------------------------- */

struct example {
    const char *text; /* defines Q */
    uint32_t expected[12];
    size_t count;
};

static void check_examples(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *example = &examples[i];
        struct es_pattern_file *file = parsed(example->text);
        struct found found;
        size_t known;

        find_matches(file, es_pattern_find(file, "Q"), &found);
        known = found.count;
        for (size_t k = 0; k < example->count; k++)
            keep(&found, example->expected[k]);
        if (known != example->count || found.count != known)
            fail_msg("%s: %zu matches found, %zu expected, together %zu", example->text,
                     known, example->count, found.count);
        es_pattern_file_destroy(file);
    }
}

#define CHECK(...)                                                                     \
    do {                                                                               \
        static const struct example examples[] = {__VA_ARGS__};                        \
        check_examples(examples, sizeof examples / sizeof examples[0]);                \
    } while (0)

static void relations_bind_tightest_and_group_to_the_right(void **state)
{
    (void)state;
    CHECK({"Q := A --> B --> C;", {P1 | Q1 | Q2}, 1},
          {"Q := A --> B || C;", {P1 | P2 | Q2, P1 | P2 | R1, P1 | Q1 | R1}, 3},
          {"Q := A --> $b & $b --> C;", {P1 | Q1 | Q2}, 1},
          {"Q := A --> B & B --> C | C --> A;", {P1 | Q1 | Q2, P1 | P2 | Q1 | Q2}, 2});
}

static void each_use_of_a_name_takes_its_own_value(void **state)
{
    (void)state;
    CHECK({"Q := (A --> B) & (A --> C);", {P1 | P2 | Q2, P1 | Q1 | Q2}, 2},
          {"Q := C & C;", {Q2, R1, Q2 | R1}, 3}, {"Q := $c & $c;", {Q2, R1}, 2});
}

static void a_variable_of_a_predicate_ranges_over_its_matches(void **state)
{
    (void)state;
    CHECK({"BC := B --> C; BC *x; Q := A --> *x;", {P1}, 1},
          {"BC := B --> C; Q := A --> BC;", {P1 | Q1 | Q2}, 1},
          {"BC := B --> C; BC $x; Q := (A --> $x) & (B <-> $x);", {P1 | Q1 | Q2}, 1},
          {"BC := B --> C; BC ~x; Q := A --> ~x;", {P1}, 1},
          {"AB := A --> ~b; Q := AB --> C;", {P1 | Q2}, 1},
          {"E := A | B; Q := E --> C;", {P1 | Q2, Q1 | Q2}, 2},
          {"N := ~a --> ~b; Q := N & A;", {P1}, 1},
          {"N := ~b --> ~a; Q := N & A;", {0}, 0},
          {"N := $a !--> *d; Q := N --> B;", {P1 | P2, P1 | Q1}, 2},
          {"N := B !--> *c; Q := (A --> N) | (N --> A);", {P1 | P2}, 1});
}

static void a_match_leaves_out_what_it_does_not_need(void **state)
{
    (void)state;
    CHECK({"Q := (A --> B) | (A --> C);", {P1 | P2, P1 | Q1, P1 | Q2}, 3},
          {"Q := (A !--> *c) | (B !--> *c);", {P2}, 1},
          {"Q := $a | ($a & B);", {P1}, 1}, {"Q := (B || *a) | C;", {Q2, R1}, 2});
}

static void both_sides_make_a_match_where_each_holds_for_some_values(void **state)
{
    (void)state;
    /* p1 precedes only q2; r1 is the only event concurrent with q2. */
    CHECK({"C $u, $v; Q := ($u <-> *c) | ($v <-> *c);", {Q2 | R1}, 1},
          {"B $u, $v; Q := ($u <-> *b) | ($v <-> *b);", {P2 | Q1}, 1},
          {"B $u, $v; Q := ($u <-> *b) | ($v <-> *c);", {0}, 0},
          {"B $u; C $v, *w; Q := ($u !--> *c) | ($v !--> *w);", {P2, Q2, R1}, 3});
}

static void hidden_operands_count_with_their_value_and_are_not_passed_up(void **state)
{
    (void)state;
    CHECK({"Q := (A --> ~b) || C;", {P1 | R1}, 1},
          {"Q := (A --> B) || C;", {P1 | P2 | R1, P1 | Q1 | R1}, 2},
          {"Q := (A | B) --> C;", {P1 | Q2, Q1 | Q2}, 2},
          {"Q := (A & B) --> C;", {P1 | P2 | Q2, P1 | Q1 | Q2}, 2},
          {"Q := ((~a)) --> ((B));", {P2, Q1}, 2},
          {"Q := (~a | B) --> C;", {Q1 | Q2}, 1}, {"Q := (~a & ~b) || C;", {Q2, R1}, 2},
          {"Q := (~a & ~b) --> C;", {0}, 0}, {"Q := (~a & ~b) !<-> C;", {Q2, R1}, 2});
}

static void universal_variables_without_values_are_satisfied(void **state)
{
    (void)state;
    CHECK({"Q := (A --> B) & (A --> *d);", {P1 | P2, P1 | Q1}, 2},
          {"Q := (B --> A) & (A --> *d);", {0}, 0}, {"Q := A & *d;", {P1}, 1},
          {"Q := (~a & ~b) --> *d;", {0}, 1}, {"Q := A --> D;", {0}, 0});
}

static void hidden_events_are_not_returned(void **state)
{
    (void)state;
    CHECK({"Q := A --> ~b;", {P1}, 1}, {"Q := C || C;", {Q2 | R1}, 1},
          {"Q := ~a --> ~b;", {0}, 1}, {"Q := *b --> *c;", {0}, 0},
          {"Q := *a --> *b;", {0}, 1}, {"Q := B <-> B;", {P2, Q1}, 2},
          {"Q := (A & C) <-> B;", {P1 | Q1 | Q2}, 1});
}

static void the_limited_operator_lets_nothing_stand_between(void **state)
{
    (void)state;
    CHECK({"Q := A -(ANY)-> C;", {0}, 0}, {"Q := A -(ANY)-> B;", {P1 | P2, P1 | Q1}, 2},
          {"Q := A -(D)-> C;", {P1 | Q2}, 1}, {"Q := A -(*b)-> C;", {0}, 0},
          {"BC := B --> C; Q := A -(BC)-> C;", {P1 | Q2}, 1});
}

static void times_and_receipts(void **state)
{
    (void)state;
    CHECK({"Q := A => B;", {P1 | Q1}, 1}, {"Q := A !=> B;", {P1 | P2}, 1},
          {"Q := (A --> B) within 7ns;", {P1 | Q1}, 1},
          {"Q := (A --> ~b) within 4ns;", {0}, 0},
          {"Q := ((A --> B) & *d) within 10ns;", {P1 | P2, P1 | Q1}, 2},
          {"Q := (A & *b) within 9ns;", {0}, 0});
}

/* --- Structure -------------------------------------------------------------------- */

static void check_atom(const struct esi_program *program,
                       const struct esi_formula *formula,
                       bool is_negated,
                       uint64_t left,
                       uint64_t right)
{
    const struct esi_atom *atom;

    assert_int_equal(formula->kind, ES_FORMULA_ATOM);
    atom = &program->atoms[formula->atom];
    assert_int_equal(atom->kind, ES_ATOM_RELATION);
    assert_int_equal(atom->op, ES_OPERATOR_BEFORE);
    assert_int_equal(atom->is_negated, is_negated);
    assert_int_equal(atom->left, left);
    assert_int_equal(atom->right, right);
}

static void the_limited_operator_is_one_relation_and_one_of_two(void **state)
{
    struct es_pattern_file *file = parsed("Q := A -(C)-> B;");
    struct esi_program *program = program_of(file, "Q");
    const struct esi_formula *condition = program->disjuncts[0].condition;

    (void)state;
    assert_int_equal(program->variable_count, 3);
    assert_true(program->variables[2].is_universal);
    assert_int_equal(program->disjunct_count, 1);
    assert_int_equal(program->disjuncts[0].variables, 3);
    assert_int_equal(program->disjuncts[0].universal, 4);
    assert_int_equal(condition->kind, ES_FORMULA_AND);
    assert_int_equal(condition->part_count, 2);
    check_atom(program, condition->parts[0], false, 1, 2);
    assert_int_equal(condition->parts[1]->kind, ES_FORMULA_OR);
    assert_int_equal(condition->parts[1]->part_count, 2);
    check_atom(program, condition->parts[1]->parts[0], true, 1, 4);
    check_atom(program, condition->parts[1]->parts[1], true, 4, 2);
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

static void sides_that_need_the_same_variables_are_one_disjunct(void **state)
{
    struct es_pattern_file *file =
        parsed("Q := ($a --> $b) & (($a !--> *c) | (*c !--> $b));"
               "R := (~a !--> *b) | (~b !--> *c);"
               "S := (~a !--> *c) | (~b !--> *c);");
    struct esi_program *program = program_of(file, "Q");

    (void)state;
    assert_int_equal(program->disjunct_count, 1);
    assert_int_equal(program->disjuncts[0].variables, 3);
    esi_program_destroy(program);
    /* They share no universal variable: both together are never minimal. */
    program = program_of(file, "R");
    assert_int_equal(program->disjunct_count, 2);
    esi_program_destroy(program);
    program = program_of(file, "S");
    assert_int_equal(program->disjunct_count, 3);
    assert_int_equal(program->disjuncts[2].lesser_count, 2);
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

static void equal_relations_are_one_atom(void **state)
{
    struct es_pattern_file *file =
        parsed("Q := ($a --> $b) & ($a --> $b) & ($a !--> $b);");
    struct esi_program *program = program_of(file, "Q");

    (void)state;
    assert_int_equal(program->atom_count, 2);
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

static void names_are_replaced_by_variables_with_names_of_their_own(void **state)
{
    struct es_pattern_file *file =
        parsed("Open := $a --> B; Open $x; Q := (A --> A) & Open & Open & $x;"
               "R := Open | A; E := A | B; S := E --> C;"
               "N := $a --> *c; T := N --> B; U := N | B;");
    static const char *const names[] = {"A",         "A#2",      "Open.$a", "Open.B",
                                        "Open#2.$a", "Open#2.B", "$x.$a",   "$x.B"};
    struct esi_program *program = program_of(file, "Q");

    (void)state;
    assert_int_equal(program->variable_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(program->variables[i].name, names[i]);
    assert_int_equal(program->variables[2].occurrence,
                     program->variables[3].occurrence);
    esi_program_destroy(program);
    program = program_of(file, "R");
    assert_int_equal(program->variable_count, 3);
    esi_program_destroy(program);
    program = program_of(file, "S"); /* E has two disjuncts */
    assert_int_equal(program->variable_count, 2);
    assert_int_not_equal(program->variables[0].predicate, ES_PATTERN_NONE);
    esi_program_destroy(program);
    program = program_of(file, "T");
    assert_int_equal(program->variable_count, 3);
    esi_program_destroy(program);
    program = program_of(file, "U"); /* N has a universal variable */
    assert_int_equal(program->variable_count, 2);
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

static void counts_and_comparisons_are_atoms(void **state)
{
    struct es_pattern_file *file =
        parsed("Q := ($a --> at least 3 of B) & $a.tag = $b.tag;"
               "R := at most 2 of B || (A & *c);");
    struct esi_program *program = program_of(file, "Q");

    (void)state;
    assert_int_equal(program->variable_count, 2);
    assert_int_equal(program->atom_count, 2);
    assert_int_equal(program->atoms[0].kind, ES_ATOM_COUNT);
    assert_int_equal(program->atoms[0].left, 1);
    assert_false(program->atoms[0].is_reversed);
    assert_int_equal(program->atoms[1].kind, ES_ATOM_COMPARE);
    assert_int_equal(program->atoms[1].right, 2);
    assert_int_equal(program->disjuncts[0].variables, 3);
    esi_program_destroy(program);
    program = program_of(file, "R");
    assert_true(program->atoms[0].is_reversed);
    assert_int_equal(program->atoms[0].left, 1); /* the universal one is not passed */
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

static uint64_t variable_of(const struct esi_program *program, const char *name)
{
    for (uint32_t v = 0; v < program->variable_count; v++)
        if (strcmp(program->variables[v].name, name) == 0)
            return esi_program_bit(v);
    fail_msg("no %s", name);
    return 0;
}

/* For the disjunct with these variables. */
static bool may_be_minimal(const struct esi_program *program,
                           uint64_t variables,
                           uint64_t empty)
{
    for (uint32_t i = 0; i < program->disjunct_count; i++)
        if (program->disjuncts[i].variables == variables)
            return esi_program_may_be_minimal(program, i, empty);
    fail_msg("no disjunct %#llx", (unsigned long long)variables);
    return false;
}

static void what_only_empty_universal_variables_hold_together_is_never_minimal(
    void **state)
{
    struct es_pattern_file *file =
        parsed("Q := ($a !--> *c) | (($b !--> *c) & ($b !--> *d)) | ($c !--> *d);");
    struct esi_program *program = program_of(file, "Q");
    uint64_t a = variable_of(program, "$a");
    uint64_t b = variable_of(program, "$b");
    uint64_t x = variable_of(program, "$c");
    uint64_t c = variable_of(program, "*c");
    uint64_t d = variable_of(program, "*d");

    (void)state;
    assert_true(may_be_minimal(program, a | b | x, 0));
    assert_true(may_be_minimal(program, a | b, d));
    assert_false(may_be_minimal(program, a | b, c));
    assert_true(may_be_minimal(program, b | x, c));
    assert_false(may_be_minimal(program, a | b | x, c));
    assert_true(may_be_minimal(program, b, c | d));
    assert_false(may_be_minimal(program, b | x, c | d));
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

/* --- Limits ----------------------------------------------------------------------- */

static void check_refusal(const char *text, const char *words)
{
    struct es_pattern_file *file = parsed(text);
    struct esi_program *program = NULL;
    struct es_error error = {.text = ""};

    assert_int_equal(
        esi_program_create(file, es_pattern_find(file, "Q"), &program, &error),
        -EINVAL);
    assert_null(program);
    if (!strstr(error.text, words))
        fail_msg("%s", error.text);
    es_pattern_file_destroy(file);
}

static void too_many_choices_are_refused(void **state)
{
    char text[4096] = "Q := ";

    (void)state;
    for (int i = 0; i < 20; i++)
        strcat(text, i ? " & (A | B)" : "(A | B)");
    strcat(text, ";");
    check_refusal(text, "256");
    strcpy(text, "Q := ");
    for (int i = 0; i < 9; i++)
        strcat(text, i ? " | (A --> *c)" : "(A --> *c)");
    strcat(text, ";");
    check_refusal(text, "256");
    strcpy(text, "Q := ");
    for (int i = 0; i < 40; i++)
        strcat(text, i ? " & ($a --> $b | $b --> $a)" : "($a --> $b | $b --> $a)");
    strcat(text, ";");
    {
        struct es_pattern_file *file = parsed(text);

        esi_program_destroy(program_of(file, "Q"));
        es_pattern_file_destroy(file);
    }
}

static void conditions_that_double_at_each_step_are_refused(void **state)
{
    char text[8192] = "Q := ";

    (void)state;
    for (int i = 0; i < 60; i++)
        strcat(text, "($a & $b & (($a | $b) --> ");
    strcat(text, "$c");
    for (int i = 0; i < 60; i++)
        strcat(text, "))");
    strcat(text, ";");
    check_refusal(text, "too long");
}

static void names_within_names_do_not_take_for_ever(void **state)
{
    char text[8192] = "P0 := A --> B;\n";
    struct es_pattern_file *file;
    struct esi_program *program;

    (void)state;
    for (int i = 1; i <= 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "P%d := P%d --> P%d;\n", i, i - 1, i - 1);
    strcat(text, "Q := P100;");
    file = parsed(text);
    program = program_of(file, "Q");
    assert_in_range(program->variable_count, 1, ES_PROGRAM_VARIABLES);
    esi_program_destroy(program);
    es_pattern_file_destroy(file);
}

SUITE(test_program)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations_bind_tightest_and_group_to_the_right),
        cmocka_unit_test(each_use_of_a_name_takes_its_own_value),
        cmocka_unit_test(a_variable_of_a_predicate_ranges_over_its_matches),
        cmocka_unit_test(a_match_leaves_out_what_it_does_not_need),
        cmocka_unit_test(both_sides_make_a_match_where_each_holds_for_some_values),
        cmocka_unit_test(hidden_operands_count_with_their_value_and_are_not_passed_up),
        cmocka_unit_test(universal_variables_without_values_are_satisfied),
        cmocka_unit_test(hidden_events_are_not_returned),
        cmocka_unit_test(the_limited_operator_lets_nothing_stand_between),
        cmocka_unit_test(times_and_receipts),
        cmocka_unit_test(the_limited_operator_is_one_relation_and_one_of_two),
        cmocka_unit_test(sides_that_need_the_same_variables_are_one_disjunct),
        cmocka_unit_test(equal_relations_are_one_atom),
        cmocka_unit_test(names_are_replaced_by_variables_with_names_of_their_own),
        cmocka_unit_test(counts_and_comparisons_are_atoms),
        cmocka_unit_test(
            what_only_empty_universal_variables_hold_together_is_never_minimal),
        cmocka_unit_test(too_many_choices_are_refused),
        cmocka_unit_test(conditions_that_double_at_each_step_are_refused),
        cmocka_unit_test(names_within_names_do_not_take_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
