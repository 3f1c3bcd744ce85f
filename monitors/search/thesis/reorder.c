/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reorder.c - orders a rewritten pattern: brute force (Nichols, 6.2.1),
 * least/most-successful-first (6.2.2) and variable clustering (6.2.3).
 *
 * Universal variables take values for each clause anew: they are never assigned, and no
 * order begins with one. */
#include "config.h"

#include "monitors/search/thesis/reorder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these limits, finding an order would take longer than it saves. */
enum { MOST_CLAUSES = 2048, MOST_LITERALS = 1 << 15 };

enum {
    MANY_VALUES = 1 << 20, /* combinations of values that justify sampling success */
    MOST_SAMPLED = 256,    /* literals */
    KEEPS_AS_WRITTEN = 4,  /* the order as written is kept if its work, times this,
                              is less than that of clusters */
};

struct reorder_literal {
    struct esi_literal literal;
    double success;
};

struct reorder_clause {
    struct esi_clause clause;
    struct reorder_literal *literals; /* clause.count */
    double work;
};

struct esi_reorder {
    const struct esi_reorder_facts *facts;
    struct reorder_clause *clauses;
    size_t count;
};

/* --- Estimates of the tests of a search (6.2.1) ----------------------------------- */

/* For a clause it is the sum over its h literals of
 *
 *    i (l r)i success_i  times the product over j < i of (l r)j (1 - success_j)
 *
 * where the success of the last one is omitted, since it ends the clause either way; l
 * and r are the numbers of values that its variables may take.  For all clauses it is
 * the same sum, with the expected tests of each clause in place of l r, and its failure
 * in place of success.  All are assumed to be independent of each other. */

void esi_work_add(struct esi_work *work, double cost, double ends, bool is_last)
{
    work->number++;
    work->expected += work->number * cost * (is_last ? 1 : ends) * work->reached;
    work->reached *= cost * (1 - ends);
}

static double values_of(const struct esi_reorder *reorder,
                        unsigned variable,
                        uint64_t assigned)
{
    return assigned >> variable & 1 ? 1 : reorder->facts->counts[variable];
}

/* The number of pairs of values that a literal may take if these variables are
 * assigned. */
static double pairs_of(const struct esi_reorder *reorder,
                       const struct reorder_literal *literal,
                       uint64_t assigned)
{
    unsigned x = literal->literal.x;
    unsigned y = literal->literal.y;

    return values_of(reorder, x, assigned) *
           (x == y ? 1 : values_of(reorder, y, assigned));
}

/* Expected tests of a clause with its literals in their current order. */
static double work_of_clause(const struct esi_reorder *reorder,
                             const struct reorder_clause *clause,
                             uint64_t assigned)
{
    struct esi_work work = {.reached = 1};
    size_t count = clause->clause.count;

    for (size_t i = 0; i < count; i++) {
        const struct reorder_literal *literal = &clause->literals[i];

        esi_work_add(&work, pairs_of(reorder, literal, assigned), literal->success,
                     i + 1 == count);
        assigned |= literal->literal.variables;
    }
    return work.expected;
}

/* Probability that no literal of a clause holds. */
static double failure_of(const struct reorder_clause *clause)
{
    double failure = 1;

    for (size_t i = 0; i < clause->clause.count; i++)
        failure *= 1 - clause->literals[i].success;
    return failure;
}

/* Expected tests of all clauses in their current order. */
static double work_of_all(const struct esi_reorder *reorder)
{
    struct esi_work work = {.reached = 1};
    uint64_t assigned = 0;

    for (size_t i = 0; i < reorder->count; i++) {
        const struct reorder_clause *clause = &reorder->clauses[i];

        esi_work_add(&work, work_of_clause(reorder, clause, assigned),
                     failure_of(clause), i + 1 == reorder->count);
        assigned |= clause->clause.existential;
    }
    return work.expected;
}

/* --- The order with the least work of all (6.2.1) --------------------------------- */

/* The work of a clause depends on the variables that earlier clauses assigned, not on
 * the order of these clauses, and the total work increases with the work of each
 * clause.  So for each order of the clauses, the best order of each clause's literals
 * is found independently, and none of the d! h1! ... hd! orders is missed. */

enum { MOST_ORDERS = 1 << 18 }; /* orders of clauses times orders of literals of each */

struct brute {
    struct esi_reorder *reorder;
    struct reorder_clause *best; /* clauses in the best order so far */
    double best_work;
    double *work; /* of the clauses placed so far */
    double *failure;
    bool has_best;
};

/* The factorial, or `most` + 1 if it is greater than `most`. */
static double factorial_of(size_t number, double most)
{
    double product = 1;

    for (size_t i = 2; i <= number; i++) {
        product *= (double)i;
        if (product > most)
            return most + 1;
    }
    return product;
}

/* --- The literals of a clause ----------------------------------------------------- */

static void swap_literals(struct reorder_literal *a, struct reorder_literal *b)
{
    struct reorder_literal keep = *a;

    *a = *b;
    *b = keep;
}

/* Tries all orders of the literals from `first` on; stores the best in `best`. */
static void try_literals(const struct esi_reorder *reorder,
                         struct reorder_clause *clause,
                         size_t first,
                         uint64_t assigned,
                         struct reorder_literal *best,
                         double *best_work)
{
    size_t count = clause->clause.count;

    if (first + 1 >= count) {
        double work = work_of_clause(reorder, clause, assigned);

        if (work < *best_work) {
            *best_work = work;
            memcpy(best, clause->literals, count * sizeof *best);
        }
        return;
    }
    for (size_t i = first; i < count; i++) {
        swap_literals(&clause->literals[first], &clause->literals[i]);
        try_literals(reorder, clause, first + 1, assigned, best, best_work);
        swap_literals(&clause->literals[first], &clause->literals[i]);
    }
}

/* Puts the literals into the best order.  Returns its work, or -1 if there is no
 * memory. */
static double arrange_clauses(const struct esi_reorder *reorder,
                              struct reorder_clause *clause,
                              uint64_t assigned)
{
    size_t bytes = clause->clause.count * sizeof *clause->literals;
    struct reorder_literal *best = malloc(bytes + 1);
    double work = INFINITY;

    if (!best)
        return -1;
    memcpy(best, clause->literals, bytes);
    try_literals(reorder, clause, 0, assigned, best, &work);
    memcpy(clause->literals, best, bytes);
    free(best);
    return work;
}

/* --- Clauses ---------------------------------------------------------------------- */

static void swap_clauses(struct reorder_clause *a, struct reorder_clause *b)
{
    struct reorder_clause keep = *a;

    *a = *b;
    *b = keep;
}

static void keep_best(struct brute *brute)
{
    size_t count = brute->reorder->count;
    struct esi_work work = {.reached = 1};

    for (size_t i = 0; i < count; i++)
        esi_work_add(&work, brute->work[i], brute->failure[i], i + 1 == count);
    if (brute->has_best && !(work.expected < brute->best_work))
        return;
    brute->has_best = true;
    brute->best_work = work.expected;
    memcpy(brute->best, brute->reorder->clauses, count * sizeof *brute->best);
}

static int try_clauses(struct brute *brute, size_t first, uint64_t assigned)
{
    struct reorder_clause *clauses = brute->reorder->clauses;
    int result = 0;

    if (first == brute->reorder->count) {
        keep_best(brute);
        return 0;
    }
    for (size_t i = first; i < brute->reorder->count && result == 0; i++) {
        swap_clauses(&clauses[first], &clauses[i]);
        brute->work[first] = arrange_clauses(brute->reorder, &clauses[first], assigned);
        brute->failure[first] = failure_of(&clauses[first]);
        result = brute->work[first] < 0
                     ? -ENOMEM
                     : try_clauses(brute, first + 1,
                                   assigned | clauses[first].clause.existential);
        swap_clauses(&clauses[first], &clauses[i]);
    }
    return result;
}

/* Other orders moved the literals; restores the order of literals for the best
 * order. */
static int finalize_order(struct brute *brute)
{
    struct esi_reorder *reorder = brute->reorder;
    uint64_t assigned = 0;

    memcpy(reorder->clauses, brute->best, reorder->count * sizeof *brute->best);
    for (size_t i = 0; i < reorder->count; i++) {
        if (arrange_clauses(reorder, &reorder->clauses[i], assigned) < 0)
            return -ENOMEM;
        assigned |= reorder->clauses[i].clause.existential;
    }
    return 0;
}

static bool is_too_large(const struct esi_reorder *reorder, double *ret_orders)
{
    double of_clauses = factorial_of(reorder->count, MOST_ORDERS);
    double of_literals = 0;
    double all = of_clauses;

    for (size_t i = 0; i < reorder->count; i++) {
        double orders = factorial_of(reorder->clauses[i].clause.count, MOST_ORDERS);

        of_literals += orders;
        all *= orders;
    }
    *ret_orders = all;
    return of_clauses * (of_literals + 1) > MOST_ORDERS;
}

/* False if there are too many orders.  *ret_result may be -ENOMEM. */
static bool order_by_brute(struct esi_reorder *reorder,
                           struct esi_reordered *reordered,
                           int *ret_result)
{
    struct brute brute = {.reorder = reorder};
    double orders;

    *ret_result = 0;
    if (is_too_large(reorder, &orders))
        return false;
    brute.best = calloc(reorder->count, sizeof *brute.best);
    brute.work = calloc(reorder->count, sizeof *brute.work);
    brute.failure = calloc(reorder->count, sizeof *brute.failure);
    if (brute.best && brute.work && brute.failure)
        *ret_result = try_clauses(&brute, 0, 0);
    else
        *ret_result = -ENOMEM;
    if (*ret_result == 0)
        *ret_result = finalize_order(&brute);
    reordered->orders = (uint64_t)orders;
    reordered->work = brute.best_work;
    free(brute.best);
    free(brute.work);
    free(brute.failure);
    return true;
}

/* --- Least and most successful first ---------------------------------------------- */

static double count_successes(const struct esi_reorder *reorder,
                              const struct reorder_literal *literal)
{
    return pairs_of(reorder, literal, 0) * literal->success;
}

/* Insertion sort, which is stable. */
static void sort_by_successes(const struct esi_reorder *reorder,
                              struct reorder_clause *clause)
{
    for (size_t i = 1; i < clause->clause.count; i++) {
        struct reorder_literal literal = clause->literals[i];
        double value = count_successes(reorder, &literal);
        size_t place = i;

        for (; place > 0 &&
               count_successes(reorder, &clause->literals[place - 1]) < value;
             place--)
            clause->literals[place] = clause->literals[place - 1];
        clause->literals[place] = literal;
    }
}

static int compare_work(const void *left, const void *right)
{
    const struct reorder_clause *a = left;
    const struct reorder_clause *b = right;

    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    /* Keeps the original order, in which their literals were copied. */
    return (a->clause.literals > b->clause.literals) -
           (a->clause.literals < b->clause.literals);
}

static void order_by_success(struct esi_reorder *reorder)
{
    for (size_t i = 0; i < reorder->count; i++) {
        sort_by_successes(reorder, &reorder->clauses[i]);
        reorder->clauses[i].work = work_of_clause(reorder, &reorder->clauses[i], 0);
    }
    qsort(reorder->clauses, reorder->count, sizeof *reorder->clauses, compare_work);
}

/* --- Variable clustering ---------------------------------------------------------- */

struct frequencies {
    const double *counts;            /* number of values of each variable */
    size_t of[ES_PROGRAM_VARIABLES]; /* number of literals that name the variable */
    uint64_t before[ES_PROGRAM_VARIABLES]; /* [x]: bit set of y with a clause x -> y */
    uint64_t after[ES_PROGRAM_VARIABLES];  /* [y]: bit set of x with a clause x -> y */
    uint64_t not_before[ES_PROGRAM_VARIABLES]; /* [x]: bit set of y with a clause x
                                                  !-> y */
    uint64_t not_after[ES_PROGRAM_VARIABLES];
};

static void count_variables(const struct esi_reorder *reorder,
                            struct frequencies *ret_frequencies)
{
    memset(ret_frequencies, 0, sizeof *ret_frequencies);
    ret_frequencies->counts = reorder->facts->counts;
    for (size_t i = 0; i < reorder->count; i++)
        for (size_t k = 0; k < reorder->clauses[i].clause.count; k++)
            for (uint64_t left = reorder->clauses[i].literals[k].literal.variables;
                 left; left &= left - 1)
                ret_frequencies->of[__builtin_ctzll(left)]++;
}

/* Collects the relations of single events in clauses with one literal. */
static void collect_relations(const struct esi_reorder *reorder,
                              struct frequencies *frequencies)
{
    const struct esi_program *program = reorder->facts->program;

    for (size_t i = 0; i < reorder->count; i++) {
        const struct esi_literal *literal = &reorder->clauses[i].literals[0].literal;
        uint8_t x;
        uint8_t y;

        if (reorder->clauses[i].clause.count != 1 || literal->kind != ES_LITERAL_BEFORE)
            continue;
        x = literal->x;
        y = literal->y;
        if (!esi_program_is_single(program, x) || !esi_program_is_single(program, y))
            continue;
        *(literal->is_negated ? &frequencies->not_before[x]
                              : &frequencies->before[x]) |= UINT64_C(1) << y;
        *(literal->is_negated ? &frequencies->not_after[y] : &frequencies->after[y]) |=
            UINT64_C(1) << x;
    }
}

/* x !-> y follows from p !-> y if p -> x, and from x !-> q if y -> q: tested after
 * these it never fails. */
static bool follows_literal(const struct frequencies *frequencies,
                            const struct reorder_clause *clause)
{
    const struct esi_literal *literal = &clause->literals[0].literal;

    if (clause->clause.count != 1 || literal->kind != ES_LITERAL_BEFORE ||
        !literal->is_negated)
        return false;
    return (frequencies->after[literal->x] & frequencies->not_after[literal->y]) ||
           (frequencies->before[literal->y] & frequencies->not_before[literal->x]);
}

/* The variable with the most occurrences among those that may be assigned; 0 if there
 * is none. */
static uint64_t most_frequent(const struct frequencies *frequencies, uint64_t variables)
{
    uint64_t best = 0;
    size_t most = 0;

    for (; variables; variables &= variables - 1) {
        unsigned v = (unsigned)__builtin_ctzll(variables);

        if (frequencies->of[v] > most) {
            most = frequencies->of[v];
            best = UINT64_C(1) << v;
        }
    }
    return best;
}

/* Criteria for placing a literal or clause early: few unassigned variables, then
 * frequent ones.  Beyond the thesis: then few values; then no comparison of timestamps
 * (in the thesis, using an event twice is only detected after all its relations), and
 * last those that follow from others. */
struct rank {
    int unassigned;
    size_t frequency; /* of the most frequent unassigned variable */
    double values;    /* combinations of values of the unassigned variables */
    size_t compared;  /* literals that are not equalities */
    bool follows;     /* implied by other clauses */
};

static struct rank rank_of(const struct frequencies *frequencies,
                           uint64_t unassigned,
                           size_t compared)
{
    struct rank rank = {.unassigned = __builtin_popcountll(unassigned),
                        .values = 1,
                        .compared = compared};
    uint64_t best = most_frequent(frequencies, unassigned);

    if (best)
        rank.frequency = frequencies->of[__builtin_ctzll(best)];
    for (; unassigned; unassigned &= unassigned - 1)
        rank.values *= frequencies->counts[__builtin_ctzll(unassigned)];
    return rank;
}

static bool is_sooner(struct rank a, struct rank b)
{
    if (a.unassigned != b.unassigned)
        return a.unassigned < b.unassigned;
    if (a.frequency != b.frequency)
        return a.frequency > b.frequency;
    if (a.values < b.values || a.values > b.values)
        return a.values < b.values;
    /* An equality that assigns values excludes few of them. */
    if ((a.compared == 0) != (b.compared == 0))
        return (a.compared == 0) == (a.unassigned == 0);
    return !a.follows && b.follows;
}

static struct rank rank_of_literal(const struct frequencies *frequencies,
                                   const struct reorder_literal *literal,
                                   uint64_t assigned)
{
    return rank_of(frequencies, literal->literal.variables & ~assigned,
                   literal->literal.kind != ES_LITERAL_EQUAL);
}

static struct rank rank_of_clause(const struct frequencies *frequencies,
                                  const struct reorder_clause *clause,
                                  uint64_t assigned)
{
    uint64_t variables = clause->clause.existential | clause->clause.universal;
    size_t compared = 0;
    struct rank rank;

    for (size_t i = 0; i < clause->clause.count; i++)
        compared += clause->literals[i].literal.kind != ES_LITERAL_EQUAL;
    rank = rank_of(frequencies, variables & ~assigned, compared);
    rank.follows = follows_literal(frequencies, clause);
    return rank;
}

static void cluster_literals(struct reorder_clause *clause,
                             const struct frequencies *frequencies,
                             uint64_t assigned)
{
    for (size_t i = 0; i < clause->clause.count; i++) {
        size_t best = i;
        struct reorder_literal chosen;

        for (size_t k = i + 1; k < clause->clause.count; k++)
            if (is_sooner(
                    rank_of_literal(frequencies, &clause->literals[k], assigned),
                    rank_of_literal(frequencies, &clause->literals[best], assigned)))
                best = k;
        chosen = clause->literals[best];
        memmove(clause->literals + i + 1, clause->literals + i,
                (best - i) * sizeof *clause->literals);
        clause->literals[i] = chosen;
    }
}

/* The clause, from `first` on, to place next; one with a variable in `wanted` if there
 * is any. */
static size_t next_clause(const struct esi_reorder *reorder,
                          const struct frequencies *frequencies,
                          size_t first,
                          uint64_t assigned,
                          uint64_t wanted)
{
    size_t best = reorder->count;
    struct rank best_rank = {.unassigned = 0};

    for (size_t i = first; i < reorder->count; i++) {
        const struct esi_clause *clause = &reorder->clauses[i].clause;
        uint64_t variables = clause->existential | clause->universal;
        struct rank rank = rank_of_clause(frequencies, &reorder->clauses[i], assigned);

        if (wanted && !(variables & wanted))
            continue;
        if (best == reorder->count || is_sooner(rank, best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best < reorder->count ? best : first;
}

static void order_by_clusters(struct esi_reorder *reorder)
{
    struct frequencies frequencies;
    uint64_t existential = 0;
    uint64_t assigned = 0;
    uint64_t wanted;

    count_variables(reorder, &frequencies);
    collect_relations(reorder, &frequencies);
    for (size_t i = 0; i < reorder->count; i++)
        existential |= reorder->clauses[i].clause.existential;
    wanted = most_frequent(&frequencies, existential);
    for (size_t i = 0; i < reorder->count; i++) {
        size_t next = next_clause(reorder, &frequencies, i, assigned, wanted);
        struct reorder_clause chosen = reorder->clauses[next];

        memmove(reorder->clauses + i + 1, reorder->clauses + i,
                (next - i) * sizeof *reorder->clauses);
        cluster_literals(&chosen, &frequencies, assigned);
        reorder->clauses[i] = chosen;
        assigned |= chosen.clause.existential;
        wanted = 0;
    }
}

/* --- All methods ------------------------------------------------------------------ */

static int open_reorder(const struct esi_cnf *cnf,
                        const struct esi_reorder_facts *facts,
                        bool needs_success,
                        struct esi_reorder *reorder)
{
    struct reorder_literal *literals = calloc(cnf->literals + 1, sizeof *literals);

    *reorder = (struct esi_reorder){.facts = facts, .count = cnf->count};
    reorder->clauses = calloc(cnf->count + 1, sizeof *reorder->clauses);
    if (!reorder->clauses || !literals) {
        free(reorder->clauses);
        free(literals);
        return -ENOMEM;
    }
    reorder->clauses[cnf->count].literals = literals; /* allows them to be freed */
    for (size_t i = 0; i < cnf->count; i++) {
        struct reorder_clause *clause = &reorder->clauses[i];

        clause->clause = cnf->clauses[i];
        clause->literals = literals;
        literals += clause->clause.count;
        for (size_t k = 0; k < clause->clause.count; k++) {
            const struct esi_literal *literal = &clause->clause.literals[k];

            clause->literals[k] = (struct reorder_literal){
                .literal = *literal,
                .success = needs_success ? facts->success(facts->data, literal) : 0,
            };
        }
    }
    return 0;
}

static void free_reorder(struct esi_reorder *reorder)
{
    free(reorder->clauses[reorder->count].literals);
    free(reorder->clauses);
}

static void write_back(struct esi_cnf *cnf, const struct esi_reorder *reorder)
{
    for (size_t i = 0; i < cnf->count; i++) {
        struct esi_literal *literals = reorder->clauses[i].clause.literals;

        cnf->clauses[i] = reorder->clauses[i].clause;
        for (size_t k = 0; k < cnf->clauses[i].count; k++)
            literals[k] = reorder->clauses[i].literals[k].literal;
    }
}

/* Clustering ignores success.  If there are many combinations, samples may show that
 * the order as written excludes more. */
static bool is_worth_samples(const struct esi_cnf *cnf,
                             const struct esi_reorder_facts *facts)
{
    uint64_t existential = 0;
    double values = 1;

    if (cnf->literals > MOST_SAMPLED)
        return false;
    for (size_t i = 0; i < cnf->count; i++) {
        existential |= cnf->clauses[i].existential;
        for (size_t k = 0; k < cnf->clauses[i].count; k++)
            if (cnf->clauses[i].literals[k].kind == ES_LITERAL_COUNT ||
                cnf->clauses[i].literals[k].kind == ES_LITERAL_FORMULA)
                return false;
    }
    for (; existential; existential &= existential - 1)
        values *= facts->counts[__builtin_ctzll(existential)];
    return values >= MANY_VALUES;
}

int esi_reorder(struct esi_cnf *cnf,
                const struct esi_reorder_facts *facts,
                enum esi_reordering reordering,
                struct esi_reordered *ret_reordered)
{
    struct esi_reordered reordered = {.reordering = reordering};
    bool has_success = reordering != ES_REORDER_CLUSTER || is_worth_samples(cnf, facts);
    struct esi_reorder reorder;
    double as_written;
    int result;

    if (reordering != ES_REORDER_NONE &&
        (cnf->count > MOST_CLAUSES || cnf->literals > MOST_LITERALS)) {
        reordered.is_too_large = true;
        reordered.reordering = ES_REORDER_NONE;
    }
    if (reordered.reordering == ES_REORDER_NONE || cnf->count == 0) {
        *ret_reordered = reordered;
        return 0;
    }
    result = open_reorder(cnf, facts, has_success, &reorder);
    if (result)
        return result;
    as_written = has_success ? work_of_all(&reorder) : INFINITY;
    if (reordering == ES_REORDER_BRUTE &&
        !order_by_brute(&reorder, &reordered, &result)) {
        reordered.is_too_large = true;
        reordered.reordering = ES_REORDER_CLUSTER;
    }
    if (reordered.reordering == ES_REORDER_SUCCESS)
        order_by_success(&reorder);
    if (reordered.reordering == ES_REORDER_CLUSTER) {
        order_by_clusters(&reorder);
        reordered.is_kept = as_written * KEEPS_AS_WRITTEN < work_of_all(&reorder);
    }
    if (!reordered.is_kept)
        write_back(cnf, &reorder);
    free_reorder(&reorder);
    if (result == 0)
        *ret_reordered = reordered;
    return result;
}
