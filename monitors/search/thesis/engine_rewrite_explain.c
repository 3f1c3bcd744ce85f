/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_rewrite_explain.c - prints the plans of the engine "rewrite". */
#include "config.h"

#include <inttypes.h>

#include "monitors/search/thesis/engine_rewrite_private.h"

static void explain_variables(const struct esi_plans *plans, FILE *out)
{
    const struct esi_program *program = plans->task->program;

    fputs("variables:\n", out);
    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct esi_program_variable *variable = &program->variables[v];

        fprintf(out, "  %s: %" PRIu32 " %s, %s\n", variable->name,
                plans->choice.values[v]->count,
                plans->choice.values[v]->is_single ? "events" : "sets of events",
                variable->is_universal  ? "all of them"
                : variable->is_returned ? "one, returned"
                                        : "one, hidden");
    }
}

static void explain_set(const struct esi_program *program, uint64_t set, FILE *out)
{
    const char *before = "";

    fputs("{", out);
    for (; set; set &= set - 1, before = ", ")
        fprintf(out, "%s%s", before, program->variables[__builtin_ctzll(set)].name);
    fputs("}", out);
}

static void explain_order(const struct esi_plan *plan, FILE *out)
{
    const struct esi_reordered *reordered = &plan->reordered;

    switch (reordered->reordering) {
    case ES_REORDER_NONE:
        fprintf(out, "  order: as written, operands before their relation%s\n",
                reordered->is_too_large ? "; it is too long to look for a better one"
                                        : "");
        break;
    case ES_REORDER_BRUTE:
        fprintf(out,
                "  order: the best of %" PRIu64
                ", %.3g tests expected (samples took %" PRIu64
                " comparisons, not counted)\n",
                reordered->orders, reordered->work, plan->sampled);
        break;
    case ES_REORDER_SUCCESS:
        fprintf(out,
                "  order: clauses with the least tests expected first, in each the "
                "relation that most values satisfy (samples took %" PRIu64
                " comparisons, not counted)\n",
                plan->sampled);
        break;
    case ES_REORDER_CLUSTER:
        if (reordered->is_kept) {
            fputs("  order: as written, which is expected to take less than to begin "
                  "with the most frequent variable\n",
                  out);
            break;
        }
        fprintf(
            out,
            "  order: %sthe most frequent variable first, then what gives values to "
            "the fewest others\n",
            reordered->is_too_large ? "too many to compare them all, so " : "");
        break;
    }
}

static void explain_disjunct(const struct esi_plans *plans, uint32_t number, FILE *out)
{
    const struct esi_program *program = plans->task->program;
    const struct esi_program_disjunct *disjunct = &program->disjuncts[number];
    const struct esi_plan *plan = &plans->items[number];

    fputs("match of ", out);
    explain_set(program, disjunct->variables, out);
    if (disjunct->lesser_count)
        fprintf(out, ", if no part of it is a match (%zu to be tested)",
                disjunct->lesser_count);
    fprintf(out, ":\n  size: %zu relations, and %zu equalities\n", plan->size_before,
            plan->literals_before - plan->size_before);
    if (plan->cnf->literals != plan->literals_before)
        fprintf(out, "  pruned: %zu relations, and %zu equalities\n", plan->cnf->size,
                plan->cnf->literals - plan->cnf->size);
    explain_order(plan, out);
    fputs("  searched, each line for all values of its *variables:\n", out);
}

static int explain_before_pruning(const struct esi_plans *plans,
                                  uint32_t number,
                                  FILE *out,
                                  struct es_error *error)
{
    struct esi_cnf *cnf;
    int result =
        esi_cnf_create(plans->task->program, number, plans->empty, &cnf, error);

    if (result)
        return result;
    fputs("  before pruning:\n", out);
    esi_cnf_print(plans->task->program, cnf, out);
    esi_cnf_destroy(cnf);
    return 0;
}

int esi_rewrite_explain(const struct esi_engine_task *task,
                        FILE *out,
                        struct es_error *error)
{
    const struct esi_rewrite_tuning *tuning = task->tuning;
    struct esi_plans plans;
    int result = esi_plans_create(task, &plans, error);

    if (result)
        return result;
    explain_variables(&plans, out);
    for (uint32_t s = 0; s < plans.count && result == 0; s++) {
        explain_disjunct(&plans, s, out);
        esi_cnf_print(task->program, plans.items[s].cnf, out);
        if (plans.items[s].cnf->literals != plans.items[s].literals_before)
            result = explain_before_pruning(&plans, s, out, error);
    }
    if (plans.count == 0)
        fputs("it can have no match\n", out);
    fprintf(out, "values that fail for a *variable are %stried first the next time\n",
            tuning->failed_first ? "" : "not ");
    esi_plans_destroy(&plans);
    return result;
}
