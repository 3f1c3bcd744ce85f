/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_explain.c - prints a plan. */
#include "config.h"

#include <inttypes.h>

#include "monitors/search/indexed/indexed_lookup.h"
#include "monitors/search/indexed/indexed_plan.h"

static const char *name_of(const struct esi_indexed_plan *plan, unsigned v)
{
    return plan->program->variables[v].name;
}

static void print_names(const struct esi_indexed_plan *plan,
                        uint64_t variables,
                        FILE *out)
{
    const char *before = "";

    for (; variables; variables &= variables - 1) {
        fprintf(out, "%s%s", before,
                name_of(plan, (unsigned)__builtin_ctzll(variables)));
        before = ", ";
    }
}

static void print_relation(const struct esi_indexed_plan *plan,
                           unsigned x,
                           unsigned y,
                           uint8_t mask,
                           FILE *out)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } relations[] = {{ESI_IS_BEFORE, "before"},
                     {ESI_IS_CONCURRENT, "concurrent with"},
                     {ESI_IS_AFTER, "after"},
                     {ESI_IS_SAME, "the same as"}};
    const char *before = "";

    fprintf(out, "%s ", name_of(plan, x));
    for (unsigned i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (mask & relations[i].bit) {
            fprintf(out, "%s%s", before, relations[i].name);
            before = " or ";
        }
    fprintf(out, "%s %s", mask ? "" : "nothing to", name_of(plan, y));
}

static void print_literal(const struct esi_indexed_plan *plan,
                          const struct esi_literal *literal,
                          FILE *out)
{
    if (literal->kind == ES_LITERAL_RELATION) {
        print_relation(plan, literal->x, literal->y, literal->mask, out);
        return;
    }
    esi_literal_print(plan->program, literal, out);
}

/* The variables whose values an index finds: those compared by `=` or order, and for
 * `!=` the universal ones. */
static uint64_t looked_up_of(const struct esi_indexed_plan *plan,
                             const struct esi_clause *clause)
{
    const struct esi_clause_facts *facts = esi_clause_facts_of(plan, clause);
    bool is_equality = facts->is_equality;
    uint64_t variables = 0;

    for (uint32_t i = 0; i < clause->count; i++)
        if (is_equality || esi_lookups_answer(plan, &clause->literals[i]))
            variables |= clause->literals[i].variables;
    return is_equality
               ? variables
               : (variables & clause->universal) | facts->bounded | facts->alternatives;
}

static void print_looked_up(const struct esi_indexed_plan *plan,
                            uint64_t variables,
                            FILE *out)
{
    fputs(" (tested", out);
    if (variables) {
        fputs("; an index of attributes finds values of ", out);
        print_names(plan, variables, out);
    }
    fputs(")\n", out);
}

static void print_literals(const struct esi_indexed_plan *plan,
                           const struct esi_clause *clause,
                           FILE *out)
{
    fputs("  ", out);
    for (uint32_t i = 0; i < clause->count; i++) {
        fputs(i > 0 ? " | " : "", out);
        print_literal(plan, &clause->literals[i], out);
    }
    if (clause->universal) {
        fputs("  for all ", out);
        print_names(plan, clause->universal, out);
    }
    fputs(" ", out);
}

static void print_clause(const struct esi_indexed_plan *plan,
                         const struct esi_clause *clause,
                         FILE *out)
{
    uint64_t exact = esi_clause_facts_of(plan, clause)->exact;

    print_literals(plan, clause, out);
    if (exact) {
        fputs(" (gives ranges of ", out);
        print_names(plan, exact, out);
        fputs(")\n", out);
        return;
    }
    print_looked_up(plan, looked_up_of(plan, clause), out);
}

static void print_conditions(const struct esi_indexed_plan *plan, FILE *out)
{
    fprintf(out, "conditions, of %zu relations in the rewritten pattern:\n",
            plan->size);
    for (unsigned x = 0; x < plan->variable_count; x++)
        for (uint64_t left = plan->masked[x] & ~((esi_program_bit(x) << 1) - 1); left;
             left &= left - 1) {
            unsigned y = (unsigned)__builtin_ctzll(left);

            fputs("  ", out);
            print_relation(plan, x, y, plan->masks[x][y], out);
            fputs("  (ranges)\n", out);
        }
    for (uint32_t i = 0; i < plan->clause_count; i++)
        print_clause(plan, &plan->clauses[i], out);
    for (uint32_t i = 0; i < plan->selecting_count; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clause_count + i];

        print_literals(plan, clause, out);
        fputs(clause->universal ? " (others are only tested)\n"
                                : " (selected before the search)\n",
              out);
    }
}

static void print_first(const struct esi_indexed_plan *plan, FILE *out)
{
    unsigned first = esi_indexed_plan_first(plan);

    fprintf(out, "begins with %s: the least of values times cost of a value, of",
            name_of(plan, first));
    fprintf(out, " what is %s\n", plan->returned ? "returned" : "hidden");
    for (uint64_t left = plan->existential; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        fprintf(out, "  %s: %" PRIu64 " values on %" PRIu32 " traces, cost %u%s\n",
                name_of(plan, v), esi_domain_count(plan->domains[v]),
                esi_domain_slots(plan->domains[v]), esi_indexed_plan_weight(plan, v),
                plan->returned >> v & 1 ? "" : ", hidden: one witness is enough");
    }
    fputs("continues with the variable for which the bound ones leave the fewest "
          "values\n",
          out);
}

static void print_groups(const struct esi_indexed_plan *plan, FILE *out)
{
    for (unsigned i = 0; i < plan->groups.count; i++) {
        fputs("may be exchanged, so that only rising values are searched: ", out);
        print_names(plan, plan->groups.items[i].members, out);
        fputs(plan->groups.items[i].is_concurrent ? "; each needs a trace of its own\n"
                                                  : "\n",
              out);
    }
}

void esi_indexed_plan_print(const struct esi_indexed_plan *plan, FILE *out)
{
    const struct esi_program_disjunct *disjunct =
        &plan->program->disjuncts[plan->disjunct];

    fprintf(out, "disjunct %" PRIu32 " of %" PRIu32 ": ", plan->disjunct + 1,
            plan->program->disjunct_count);
    print_names(plan, plan->existential, out);
    if (disjunct->universal & ~plan->universal) {
        fputs("; no values of ", out);
        print_names(plan, disjunct->universal & ~plan->universal, out);
    }
    fputs("\n", out);
    if (disjunct->lesser_count > 0)
        fprintf(out, "matches if none of %zu lesser disjuncts does\n",
                disjunct->lesser_count);
    if (plan->is_false) {
        fputs("cannot be satisfied\n", out);
        return;
    }
    print_conditions(plan, out);
    if (plan->existential)
        print_first(plan, out);
    print_groups(plan, out);
}
