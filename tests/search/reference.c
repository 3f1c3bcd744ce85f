/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * reference.c - matches by definition: every assignment of values to some of the
 * existential occurrences is tried with every assignment of the universal ones.
 * Assignments that hold are kept if no part of them holds (D6 of docs/decisions.md, as
 * all such numbers here).
 */
#include "config.h"

#include "tests/search/reference_outcomes.h"

#include <stdlib.h>
#include <string.h>

static void *must_have(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        abort();
    return memory;
}

static void demand(bool is_true)
{
    if (!is_true)
        abort();
}

/* --- Trees ------------------------------------------------------------------------ */

void reference_file_init(struct reference_file *file)
{
    memset(file, 0, sizeof *file);
}

int reference_add_class(struct reference_file *file)
{
    demand(file->class_count < REFERENCE_CLASSES);
    file->classes[file->class_count] =
        (struct reference_class){.named = REFERENCE_NONE};
    return file->class_count++;
}

int reference_add_predicate(struct reference_file *file, const char *name)
{
    struct reference_predicate *predicate = &file->predicates[file->predicate_count];

    demand(file->predicate_count < REFERENCE_PREDICATES &&
           strlen(name) < REFERENCE_WORD);
    memset(predicate, 0, sizeof *predicate);
    strcpy(predicate->name, name);
    return file->predicate_count++;
}

int reference_add_node(struct reference_predicate *predicate, enum reference_kind kind)
{
    demand(predicate->node_count < REFERENCE_NODES);
    predicate->nodes[predicate->node_count] =
        (struct reference_node){.kind = kind,
                                .left = REFERENCE_NONE,
                                .right = REFERENCE_NONE,
                                .occurrence = REFERENCE_NONE,
                                .right_occurrence = REFERENCE_NONE};
    return predicate->node_count++;
}

int reference_add_occurrence(struct reference_predicate *predicate,
                             enum reference_sign sign)
{
    demand(predicate->occurrence_count < REFERENCE_OCCURRENCES);
    predicate->occurrences[predicate->occurrence_count] = (struct reference_occurrence){
        .sign = sign, .class_number = REFERENCE_NONE, .predicate = REFERENCE_NONE};
    return predicate->occurrence_count++;
}

bool reference_is_class(const struct reference_file *file, int predicate)
{
    const struct reference_predicate *of = &file->predicates[predicate];
    const struct reference_occurrence *occurrence;

    if (of->nodes[of->root].kind != REFERENCE_TERM)
        return false;
    occurrence = &of->occurrences[of->nodes[of->root].occurrence];
    return occurrence->sign == REFERENCE_PLAIN &&
           (occurrence->class_number != REFERENCE_NONE ||
            reference_is_class(file, occurrence->predicate));
}

/* --- Assignments (D6) ------------------------------------------------------------- */

static bool is_existential(enum reference_sign sign)
{
    return sign != REFERENCE_UNIVERSAL && sign != REFERENCE_COUNTED;
}

/* Whether the clause is satisfied for all values of the universal occurrences
 * from `occurrence` on. */
static bool holds_for_all(struct reference_state *search, int occurrence)
{
    const struct reference_predicate *predicate = search->predicate;
    struct reference_values *values = &search->values[occurrence];
    bool holds = true;

    if (occurrence == predicate->occurrence_count)
        return reference_is_satisfied(search);
    if (predicate->occurrences[occurrence].sign != REFERENCE_UNIVERSAL ||
        values->count == 0)
        return holds_for_all(search, occurrence + 1);
    for (values->chosen = 0; holds && values->chosen < values->count; values->chosen++)
        holds = holds_for_all(search, occurrence + 1);
    values->chosen = REFERENCE_UNBOUND;
    return holds;
}

/* Whether the clause could be satisfied if all relations held.  This avoids most trials
 * of partial assignments. */
static bool could_hold(const struct reference_state *search, int number)
{
    const struct reference_node *node = &search->predicate->nodes[number];

    switch (node->kind) {
    case REFERENCE_TERM:
        return reference_is_bound(search, node->occurrence) ||
               !is_existential(search->predicate->occurrences[node->occurrence].sign);
    case REFERENCE_OR:
        return could_hold(search, node->left) || could_hold(search, node->right);
    case REFERENCE_WITHIN:
        return could_hold(search, node->left);
    case REFERENCE_COMPARE:
    case REFERENCE_COUNT:
        return true;
    default:
        return could_hold(search, node->left) && could_hold(search, node->right);
    }
}

/* Assignments as numbers, with a digit for each occurrence; 0 = unbound. */
struct digits {
    uint64_t weights[REFERENCE_OCCURRENCES]; /* of existential occurrences, else 0 */
    uint64_t total;
};

static int digit(const struct reference_state *search,
                 const struct digits *digits,
                 uint64_t number,
                 int occurrence)
{
    if (digits->weights[occurrence] == 0)
        return 0;
    return (int)(number / digits->weights[occurrence] %
                 ((uint64_t)search->values[occurrence].count + 1));
}

static struct digits make_digits(const struct reference_state *search)
{
    struct digits digits = {.total = 1};

    for (int i = 0; i < search->predicate->occurrence_count; i++)
        if (is_existential(search->predicate->occurrences[i].sign)) {
            digits.weights[i] = digits.total;
            digits.total *= (uint64_t)search->values[i].count + 1;
        }
    return digits;
}

static void assign(struct reference_state *search,
                   const struct digits *digits,
                   uint64_t number)
{
    for (int i = 0; i < search->predicate->occurrence_count; i++)
        search->values[i].chosen = digit(search, digits, number, i) - 1;
}

/* Whether some assignment with fewer bound occurrences holds. */
static bool has_lesser(const struct reference_state *search,
                       const struct digits *digits,
                       const bool *holds,
                       uint64_t number,
                       int occurrence,
                       bool is_lesser)
{
    int value;

    if (occurrence == search->predicate->occurrence_count)
        return is_lesser && holds[number];
    value = digit(search, digits, number, occurrence);
    if (value > 0 && has_lesser(search, digits, holds,
                                number - (uint64_t)value * digits->weights[occurrence],
                                occurrence + 1, true))
        return true;
    return has_lesser(search, digits, holds, number, occurrence + 1, is_lesser);
}

static void keep_match(struct reference_answer *answer, uint64_t events)
{
    uint32_t at = 0;

    while (at < answer->count && answer->matches[at] < events)
        at++;
    if (at < answer->count && answer->matches[at] == events)
        return;
    answer->matches =
        reallocarray(answer->matches, answer->count + 1, sizeof *answer->matches);
    demand(answer->matches != NULL);
    memmove(&answer->matches[at + 1], &answer->matches[at],
            (answer->count - at) * sizeof *answer->matches);
    answer->matches[at] = events;
    answer->count++;
}

/* Adds the events returned by an assignment (D9, D10); `tuples` marks known ones. */
static void keep(struct reference_state *search,
                 const struct digits *digits,
                 uint64_t number,
                 bool *tuples,
                 struct reference_answer *answer)
{
    uint64_t events = 0;

    assign(search, digits, number);
    for (int i = 0; i < search->predicate->occurrence_count; i++) {
        if (search->predicate->occurrences[i].sign == REFERENCE_HIDDEN)
            number -= (uint64_t)digit(search, digits, number, i) * digits->weights[i];
        else if (reference_is_bound(search, i))
            events |= reference_value_set(search, i);
    }
    answer->assignments += !tuples[number];
    tuples[number] = true;
    keep_match(answer, events);
}

static void search_all(struct reference_state *search, struct reference_answer *answer)
{
    struct digits digits = make_digits(search);
    bool *holds = must_have(digits.total, sizeof *holds);
    bool *tuples = must_have(digits.total, sizeof *tuples);

    for (uint64_t number = 0; number < digits.total; number++) {
        assign(search, &digits, number);
        holds[number] =
            could_hold(search, search->predicate->root) && holds_for_all(search, 0);
    }
    for (uint64_t number = 0; number < digits.total; number++)
        if (holds[number] && !has_lesser(search, &digits, holds, number, 0, false))
            keep(search, &digits, number, tuples, answer);
    free(tuples);
    free(holds);
}

/* --- Files ------------------------------------------------------------------------ */

/* Finds the values of an occurrence (D5).  Returns false if its
 * predicate is not known. */
static bool find_values(struct reference_state *search,
                        const struct reference_occurrence *occurrence,
                        const struct reference_answers *answers,
                        struct reference_values *values)
{
    uint64_t events;

    values->chosen = REFERENCE_UNBOUND;
    values->count = 0;
    if (occurrence->predicate != REFERENCE_NONE) {
        const struct reference_answer *answer = &answers->of[occurrence->predicate];

        values->of = must_have(answer->count, sizeof *values->of);
        if (answer->count > 0)
            memcpy(values->of, answer->matches, answer->count * sizeof *values->of);
        values->count = (int)answer->count;
        return answer->is_known;
    }
    values->of = must_have(SMALL_EVENTS, sizeof *values->of);
    events =
        reference_class_events(search->file, search->set, occurrence->class_number);
    for (uint32_t i = 0; i < search->set->count; i++)
        if (events >> i & 1)
            values->of[values->count++] = SMALL_BIT(i);
    return true;
}

static uint64_t work_of(const struct reference_state *search)
{
    uint64_t work = 1;

    for (int i = 0; i < search->predicate->occurrence_count; i++) {
        enum reference_sign sign = search->predicate->occurrences[i].sign;
        uint64_t count = (uint64_t)search->values[i].count;

        if (is_existential(sign))
            work *= count + 1;
        else if (sign == REFERENCE_UNIVERSAL && count > 0)
            work *= count;
        if (work > UINT32_MAX)
            return UINT32_MAX;
    }
    return work;
}

static void search_predicate(struct reference_state *search,
                             uint64_t limit,
                             const struct reference_answers *answers,
                             struct reference_answer *answer)
{
    const struct reference_predicate *predicate = search->predicate;
    bool is_known = true;

    for (int i = 0; i < predicate->occurrence_count; i++)
        is_known = find_values(search, &predicate->occurrences[i], answers,
                               &search->values[i]) &&
                   is_known;
    answer->is_known = is_known && work_of(search) <= limit;
    if (answer->is_known)
        search_all(search, answer);
    for (int i = 0; i < predicate->occurrence_count; i++)
        free(search->values[i].of);
}

struct reference_answers *reference_search(const struct reference_file *file,
                                           const struct small_set *set,
                                           uint64_t limit)
{
    struct reference_answers *answers = must_have(1, sizeof *answers);

    answers->count = file->predicate_count;
    for (int i = 0; i < file->predicate_count; i++) {
        struct reference_state search = {
            .file = file, .set = set, .predicate = &file->predicates[i]};
        search_predicate(&search, limit, answers, &answers->of[i]);
    }
    return answers;
}

void reference_answers_destroy(struct reference_answers *answers)
{
    if (!answers)
        return;
    for (int i = 0; i < answers->count; i++)
        free(answers->of[i].matches);
    free(answers);
}
