/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf_print.c - rewritten patterns as text. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "monitors/search/truth/cnf.h"

static void print_variable(const struct esi_program *program, unsigned v, FILE *out)
{
    const struct esi_program_variable *variable = &program->variables[v];
    bool has_sign = variable->name[0] == '*' || strstr(variable->name, ".*");

    fprintf(out, "%s%s", variable->is_universal && !has_sign ? "*" : "",
            variable->name);
}

static void print_set(const struct esi_program *program, uint64_t set, FILE *out)
{
    const char *before = "{";

    if (!set)
        fputs("{", out);
    for (; set; set &= set - 1, before = ", ") {
        fputs(before, out);
        print_variable(program, (unsigned)__builtin_ctzll(set), out);
    }
    fputs("}", out);
}

/* --- Comparisons ------------------------------------------------------------------ */

static void print_operand(const struct esi_program *program,
                          const struct esi_pattern_operand *operand,
                          uint64_t variable,
                          FILE *out)
{
    if (variable) {
        print_variable(program, (unsigned)__builtin_ctzll(variable), out);
        fprintf(
            out, ".%s",
            esi_pattern_field_name(program->file, operand->field, operand->attribute));
    } else if (operand->constant.is_number) {
        fprintf(out, "%" PRId64, operand->constant.number);
    } else {
        fprintf(out, "\"%s\"", operand->constant.text);
    }
}

static void print_compare(const struct esi_program *program,
                          const struct esi_atom *atom,
                          FILE *out)
{
    const struct esi_pattern_node *node = atom->node;

    print_operand(program, &node->operands[0], atom->left, out);
    fprintf(out, " %s ", esi_pattern_test_text(node->test, node->is_negated));
    print_operand(program, &node->operands[1], atom->right, out);
}

/* --- Counts ----------------------------------------------------------------------- */

/* The notation of any occurrence of the class. */
static const char *class_name(const struct es_pattern_file *file, uint32_t number)
{
    for (uint32_t p = 0; p < es_pattern_predicates(file); p++) {
        const struct esi_pattern_predicate *predicate = esi_pattern_predicate(file, p);

        for (uint32_t i = 0; i < predicate->occurrence_count; i++)
            if (predicate->occurrences[i].class_number == number &&
                predicate->occurrences[i].sign == ES_SIGN_COUNTED)
                return predicate->occurrences[i].name;
    }
    return "?";
}

static void print_count(const struct esi_program *program,
                        const struct esi_atom *atom,
                        FILE *out)
{
    const char *name =
        atom->counted_predicate != ES_PATTERN_NONE
            ? esi_pattern_predicate(program->file, atom->counted_predicate)->name
            : class_name(program->file, atom->counted);

    if (!atom->is_reversed) {
        print_set(program, atom->left, out);
        fprintf(out, " %s ", esi_pattern_operator_text(atom->op, atom->is_negated));
    }
    fprintf(out, "at %s %" PRIu32 " of %s", atom->node->at_most ? "most" : "least",
            atom->node->number, name);
    if (atom->is_reversed) {
        fprintf(out, " %s ", esi_pattern_operator_text(atom->op, atom->is_negated));
        print_set(program, atom->left, out);
    }
}

/* --- Parts that are kept whole ---------------------------------------------------- */

static void print_atom(const struct esi_program *program,
                       uint32_t number,
                       uint64_t variables,
                       FILE *out)
{
    const struct esi_atom *atom = &program->atoms[number];

    if (atom->kind == ES_ATOM_WITHIN) {
        print_set(program, atom->left & variables, out);
        fprintf(out, " within %" PRId64 "ns", atom->node->within_ns);
    } else if ((atom->left | atom->right) & ~variables) {
        fputs("true", out);
    } else if (atom->kind == ES_ATOM_COMPARE) {
        print_compare(program, atom, out);
    } else if (atom->kind == ES_ATOM_COUNT) {
        print_count(program, atom, out);
    } else {
        print_set(program, atom->left, out);
        fprintf(out, " %s ", esi_pattern_operator_text(atom->op, atom->is_negated));
        print_set(program, atom->right, out);
    }
}

/* Recursion is limited by the nesting of operators. */
static void print_formula(const struct esi_program *program,
                          const struct esi_formula *formula,
                          uint64_t variables,
                          FILE *out)
{
    if (formula->kind == ES_FORMULA_ATOM) {
        print_atom(program, formula->atom, variables, out);
        return;
    }
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR) {
        fputs(formula->kind == ES_FORMULA_TRUE ? "true" : "false", out);
        return;
    }
    for (size_t i = 0; i < formula->part_count; i++) {
        fputs(i == 0 ? "(" : formula->kind == ES_FORMULA_AND ? " & " : " | ", out);
        print_formula(program, formula->parts[i], variables, out);
    }
    fputs(")", out);
}

/* --- Literals --------------------------------------------------------------------- */

static void print_near(const struct esi_program *program,
                       const struct esi_literal *literal,
                       FILE *out)
{
    print_variable(program, literal->x, out);
    if (literal->x != literal->y) {
        fputs(", ", out);
        print_variable(program, literal->y, out);
    }
    fprintf(out, " within %" PRId64 "ns",
            program->atoms[literal->atom].node->within_ns);
}

void esi_literal_print(const struct esi_program *program,
                       const struct esi_literal *literal,
                       FILE *out)
{
    static const char *const signs[][2] = {[ES_LITERAL_BEFORE] = {"->", "!->"},
                                           [ES_LITERAL_EQUAL] = {"=", "!="},
                                           [ES_LITERAL_RECEIVED] = {"=>", "!=>"}};

    switch (literal->kind) {
    case ES_LITERAL_BEFORE:
    case ES_LITERAL_EQUAL:
    case ES_LITERAL_RECEIVED:
        print_variable(program, literal->x, out);
        fprintf(out, " %s ", signs[literal->kind][literal->is_negated]);
        print_variable(program, literal->y, out);
        break;
    case ES_LITERAL_NEAR:
        print_near(program, literal, out);
        break;
    case ES_LITERAL_COMPARE:
        print_compare(program, &program->atoms[literal->atom], out);
        break;
    case ES_LITERAL_COUNT:
        print_count(program, &program->atoms[literal->atom], out);
        break;
    case ES_LITERAL_FORMULA:
        print_formula(program, literal->formula, literal->variables, out);
        break;
    case ES_LITERAL_RELATION:
        break; /* only in plans, which print it */
    }
}

void esi_cnf_print(const struct esi_program *program,
                   const struct esi_cnf *cnf,
                   FILE *out)
{
    for (size_t i = 0; i < cnf->count; i++) {
        const struct esi_clause *clause = &cnf->clauses[i];

        fputs("  ", out);
        if (clause->count == 0)
            fputs("false", out);
        for (size_t k = 0; k < clause->count; k++) {
            if (k > 0)
                fputs(" | ", out);
            esi_literal_print(program, &clause->literals[k], out);
        }
        fputs("\n", out);
    }
    if (cnf->count == 0)
        fputs("  true\n", out);
}
