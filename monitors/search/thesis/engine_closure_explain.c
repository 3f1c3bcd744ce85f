/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_closure_explain.c - prints the plans of the engine "closure". */
#include "config.h"

#include <inttypes.h>

#include "monitors/search/thesis/engine_closure_private.h"

/* Prints one name, or several in braces. */
static void print_variables(const struct esi_program *program,
                            uint64_t variables,
                            FILE *out)
{
    bool is_single = variables && !(variables & (variables - 1));
    const char *between = "";

    if (!is_single)
        fputc('{', out);
    for (; variables; variables &= variables - 1) {
        fprintf(out, "%s%s", between,
                program->variables[__builtin_ctzll(variables)].name);
        between = ", ";
    }
    if (!is_single)
        fputc('}', out);
}

static void print_counted(const struct esi_program *program,
                          const struct esi_atom *atom,
                          FILE *out)
{
    const char *of =
        atom->counted != ES_PATTERN_NONE
            ? "events"
            : esi_pattern_predicate(program->file, atom->counted_predicate)->name;

    fprintf(out, "at %s %" PRIu32 " %s", atom->node->at_most ? "most" : "least",
            atom->node->number, of);
}

static void print_sides(const struct esi_program *program,
                        const struct esi_atom *atom,
                        FILE *out)
{
    bool is_count = atom->kind == ES_ATOM_COUNT;

    if (is_count && atom->is_reversed)
        print_counted(program, atom, out);
    else
        print_variables(program, atom->left, out);
    fprintf(out, " %s ", esi_pattern_operator_text(atom->op, atom->is_negated));
    if (!is_count)
        print_variables(program, atom->right, out);
    else if (atom->is_reversed)
        print_variables(program, atom->left, out);
    else
        print_counted(program, atom, out);
}

static void print_atom(const struct esi_program *program,
                       const struct esi_atom *atom,
                       FILE *out)
{
    switch (atom->kind) {
    case ES_ATOM_RELATION:
    case ES_ATOM_COUNT:
        print_sides(program, atom, out);
        break;
    case ES_ATOM_WITHIN:
        print_variables(program, atom->left, out);
        fprintf(out, " within %" PRId64 " ns", atom->node->within_ns);
        break;
    case ES_ATOM_COMPARE:
        fputs("attributes of ", out);
        print_variables(program, atom->left | atom->right, out);
        break;
    }
}

static void print_formula(const struct esi_program *program,
                          const struct esi_formula *formula,
                          FILE *out)
{
    switch (formula->kind) {
    case ES_FORMULA_TRUE:
        fputs("true", out);
        return;
    case ES_FORMULA_FALSE:
        fputs("false", out);
        return;
    case ES_FORMULA_ATOM:
        print_atom(program, &program->atoms[formula->atom], out);
        return;
    case ES_FORMULA_AND:
    case ES_FORMULA_OR:
        break;
    }
    for (size_t i = 0; i < formula->part_count; i++) {
        fputs(i == 0 ? "(" : formula->kind == ES_FORMULA_AND ? " & " : " | ", out);
        print_formula(program, formula->parts[i], out);
    }
    fputc(')', out);
}

static void explain_check(const struct esi_program *program,
                          const struct esi_closure_check *check,
                          FILE *out)
{
    if (check->lesser != ES_PATTERN_NONE) {
        fprintf(out, "    test that disjunct %" PRIu32 " does not hold\n",
                check->lesser + 1);
        return;
    }
    fputs("    test ", out);
    print_formula(program, check->parts->formula, out);
    if (check->early) {
        fputs(", of ", out);
        print_variables(program, check->early, out);
        fputs(" so far", out);
    } else if (check->parts->universal) {
        fputs(" for all ", out);
        print_variables(program, check->parts->universal, out);
    }
    fputc('\n', out);
}

static void explain_checks(const struct esi_program *program,
                           const struct esi_closure_plan *plan,
                           uint32_t level,
                           FILE *out)
{
    for (size_t i = plan->begins[level]; i < plan->begins[level + 1]; i++)
        explain_check(program, &plan->checks[i], out);
}

static void explain_disjunct(const struct esi_engine_task *task,
                             const struct esi_closure_plan *plan,
                             uint32_t disjunct,
                             FILE *out)
{
    const struct esi_program *program = task->program;

    fprintf(out, "  disjunct %" PRIu32 " of %" PRIu32 "%s\n", disjunct + 1,
            program->disjunct_count, plan->is_false ? ": nothing can match" : "");
    if (plan->is_false)
        return;
    explain_checks(program, plan, 0, out);
    for (uint32_t level = 0; level < plan->level_count; level++) {
        uint8_t v = plan->order[level];

        fprintf(out, "    bind %s (%" PRIu64 " values)%s\n", program->variables[v].name,
                esi_domain_count(task->domains[v]),
                level < plan->hidden_from ? "" : ", one is enough");
        explain_checks(program, plan, level + 1, out);
    }
}

static bool is_set(const struct esi_engine_task *task, uint64_t variables)
{
    return (variables & (variables - 1)) ||
           !esi_domain_is_single(task->domains[__builtin_ctzll(variables)]);
}

static void explain_operand(const struct esi_engine_task *task,
                            const struct esi_closure_operand *operand,
                            FILE *out)
{
    if (!is_set(task, operand->variables))
        return;
    fputs("  closure of ", out);
    print_variables(task->program, operand->variables, out);
    if (operand->parts[0]) {
        fputs(", combined of ", out);
        print_variables(task->program, operand->parts[0]->variables, out);
        fputs(" and ", out);
        print_variables(task->program, operand->parts[1]->variables, out);
    }
    fputc('\n', out);
}

void esi_closure_explain(const struct esi_engine_task *task,
                         const struct esi_closure_plan *plans,
                         const struct esi_closure_operands *operands,
                         FILE *out)
{
    static const char *const methods[] = {
        [ES_CLOSURE_EXISTING] = "walking forward",
        [ES_CLOSURE_STEP] = "stepping back",
        [ES_CLOSURE_BINARY] = "binary search",
        [ES_CLOSURE_JUMP] = "jumping back",
    };
    const struct esi_closure_tuning *tuning = task->tuning;

    fprintf(out,
            "  engine closure: variables in the order of the tree; closures by %s\n",
            methods[tuning->method]);
    for (uint32_t i = 0; i < task->program->disjunct_count; i++)
        explain_disjunct(task, &plans[i], i, out);
    for (size_t i = 0; i < operands->count; i++)
        explain_operand(task, &operands->items[i], out);
}
