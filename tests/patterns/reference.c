/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * reference.c - matches by definition: every assignment of values to some of the
 * existential occurrences is tried with every assignment to the universal ones, and
 * those that hold are kept if no part of them holds (D6).
 */
#include "config.h"

#include "tests/patterns/reference_value.h"

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

/* --- Trees -------------------------------------------------------------------------
 */

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

/* --- Relations of sets (D11) -------------------------------------------------------
 */

static bool has(uint64_t events, uint32_t number)
{
    return events >> number & 1;
}

/* Some event of a precedes some event of b. */
static bool some_precedes(const struct small_set *set, uint64_t a, uint64_t b)
{
    for (uint32_t x = 0; x < set->count; x++)
        for (uint32_t y = 0; has(a, x) && y < set->count; y++)
            if (has(b, y) && has(set->before[y], x))
                return true;
    return false;
}

static bool overlap(uint64_t a, uint64_t b)
{
    return (a & b) != 0;
}

static bool cross(const struct small_set *set, uint64_t a, uint64_t b)
{
    return !overlap(a, b) && some_precedes(set, a, b) && some_precedes(set, b, a);
}

/* Some event of b names some event of a, as a receive or as a sync. */
static bool received(const struct small_set *set, uint64_t a, uint64_t b)
{
    for (uint32_t y = 0; y < set->count; y++)
        if (has(b, y) && (set->events[y].partners & a))
            return true;
    return false;
}

bool reference_related(const struct small_set *set,
                       enum reference_operator op,
                       uint64_t a,
                       uint64_t b)
{
    bool is_entangled = overlap(a, b) || cross(set, a, b);

    switch (op) {
    case REFERENCE_BEFORE:
        return some_precedes(set, a, b) && !is_entangled;
    case REFERENCE_CONCURRENT:
        return !overlap(a, b) && !some_precedes(set, a, b) && !some_precedes(set, b, a);
    case REFERENCE_ENTANGLED:
        return is_entangled;
    case REFERENCE_RECEIVED:
        return received(set, a, b);
    }
    abort();
}

/* --- Outcomes (D7) -----------------------------------------------------------------
 */

enum { OUTCOMES = 64, UNBOUND = -1 };

/* How a clause is satisfied. */
struct outcome {
    uint64_t counts; /* events that count for a relation right above */
    uint64_t passed; /* events that are passed up */
    uint64_t inside; /* events of all values that took part */
    bool is_void;    /* it is a universal variable without values (D8) */
};

struct outcomes {
    struct outcome of[OUTCOMES];
    int count;
};

/* Values of an occurrence, and the one that it has. */
struct values {
    uint64_t *of;
    int count;
    int chosen;
};

struct search {
    const struct reference_file *file;
    const struct small_set *set;
    const struct reference_predicate *predicate;
    struct values values[REFERENCE_OCCURRENCES];
};

static void add_outcome(struct outcomes *outcomes, struct outcome outcome)
{
    for (int i = 0; i < outcomes->count; i++) {
        const struct outcome *old = &outcomes->of[i];

        if (old->counts == outcome.counts && old->passed == outcome.passed &&
            old->inside == outcome.inside && old->is_void == outcome.is_void)
            return;
    }
    demand(outcomes->count < OUTCOMES);
    outcomes->of[outcomes->count++] = outcome;
}

/* What a longer clause passes up counts for what stands above it. */
static void pass_up(struct outcomes *outcomes, uint64_t passed, uint64_t inside)
{
    add_outcome(outcomes, (struct outcome){passed, passed, inside, false});
}

static bool is_void(const struct search *search, int occurrence)
{
    return search->predicate->occurrences[occurrence].sign == REFERENCE_UNIVERSAL &&
           search->values[occurrence].count == 0;
}

static bool is_bound(const struct search *search, int occurrence)
{
    return search->values[occurrence].chosen != UNBOUND;
}

/* No events for a variable without values. */
static uint64_t value_of(const struct search *search, int occurrence)
{
    const struct values *values = &search->values[occurrence];

    return values->chosen == UNBOUND ? 0 : values->of[values->chosen];
}

static void satisfy(const struct search *search, int node, struct outcomes *outcomes);

static void satisfy_term(const struct search *search,
                         const struct reference_node *node,
                         struct outcomes *outcomes)
{
    enum reference_sign sign = search->predicate->occurrences[node->occurrence].sign;
    bool is_shown = sign == REFERENCE_PLAIN || sign == REFERENCE_RETURNED;
    uint64_t value = value_of(search, node->occurrence);

    if (is_void(search, node->occurrence))
        add_outcome(outcomes, (struct outcome){.is_void = true});
    else if (is_bound(search, node->occurrence))
        add_outcome(outcomes,
                    (struct outcome){value, is_shown ? value : 0, value, false});
}

static bool relation_holds(const struct search *search,
                           const struct reference_node *node,
                           const struct outcome *left,
                           const struct outcome *right)
{
    return left->is_void || right->is_void ||
           reference_related(search->set, node->op, left->counts, right->counts) !=
               node->is_negated;
}

/* Whether the relation holds with as many values as are counted. */
static bool count_holds(const struct search *search,
                        const struct reference_node *node,
                        const struct outcome *outcome)
{
    const struct reference_node *nodes = search->predicate->nodes;
    bool is_left = nodes[node->left].kind == REFERENCE_COUNT;
    const struct reference_node *counted = &nodes[is_left ? node->left : node->right];
    const struct values *values = &search->values[counted->occurrence];
    int found = 0;

    if (outcome->is_void)
        return true;
    for (int i = 0; i < values->count; i++) {
        struct outcome value = {.counts = values->of[i]};
        found += relation_holds(search, node, is_left ? &value : outcome,
                                is_left ? outcome : &value);
    }
    return counted->at_most ? found <= counted->number : found >= counted->number;
}

static void satisfy_count(const struct search *search,
                          const struct reference_node *node,
                          struct outcomes *outcomes)
{
    const struct reference_node *nodes = search->predicate->nodes;
    bool is_left = nodes[node->left].kind == REFERENCE_COUNT;
    struct outcomes others = {.count = 0};

    satisfy(search, is_left ? node->right : node->left, &others);
    for (int i = 0; i < others.count; i++)
        if (count_holds(search, node, &others.of[i]))
            pass_up(outcomes, others.of[i].passed, others.of[i].inside);
}

/* (L --> R) & ((L !--> *c) | (*c !--> R)), the same outcomes in all places. */
static bool limited_holds(const struct search *search,
                          const struct reference_node *node,
                          const struct outcome *left,
                          const struct outcome *right)
{
    struct reference_node before = {.op = REFERENCE_BEFORE};
    struct reference_node not_before = {.op = REFERENCE_BEFORE, .is_negated = true};
    struct outcome limit = {.counts = value_of(search, node->occurrence),
                            .is_void = is_void(search, node->occurrence)};

    return relation_holds(search, &before, left, right) &&
           (relation_holds(search, &not_before, left, &limit) ||
            relation_holds(search, &not_before, &limit, right));
}

static void satisfy_pairs(const struct search *search,
                          const struct reference_node *node,
                          struct outcomes *outcomes)
{
    struct outcomes lefts = {.count = 0}, rights = {.count = 0};
    uint64_t limit =
        node->kind == REFERENCE_LIMITED ? value_of(search, node->occurrence) : 0;

    satisfy(search, node->left, &lefts);
    satisfy(search, node->right, &rights);
    for (int i = 0; i < lefts.count; i++)
        for (int j = 0; j < rights.count; j++) {
            const struct outcome *left = &lefts.of[i], *right = &rights.of[j];

            if (node->kind == REFERENCE_RELATION &&
                !relation_holds(search, node, left, right))
                continue;
            if (node->kind == REFERENCE_LIMITED &&
                !limited_holds(search, node, left, right))
                continue;
            pass_up(outcomes, left->passed | right->passed,
                    left->inside | right->inside | limit);
        }
}

static void satisfy_one_side(const struct search *search,
                             const struct reference_node *node,
                             struct outcomes *outcomes)
{
    struct outcomes sides = {.count = 0};

    satisfy(search, node->left, &sides);
    satisfy(search, node->right, &sides);
    for (int i = 0; i < sides.count; i++)
        pass_up(outcomes, sides.of[i].passed, sides.of[i].inside);
}

static bool is_within(const struct search *search, uint64_t events, int64_t within_ns)
{
    for (uint32_t x = 0; x < search->set->count; x++)
        for (uint32_t y = 0; has(events, x) && y < search->set->count; y++) {
            int64_t first, last;

            if (!has(events, y))
                continue;
            if (!reference_time(search->set, x, &first) ||
                !reference_time(search->set, y, &last) || last - first > within_ns)
                return false;
        }
    return true;
}

/* Only one more condition: a variable alone in the brackets counts as without them. */
static void satisfy_within(const struct search *search,
                           const struct reference_node *node,
                           struct outcomes *outcomes)
{
    struct outcomes inner = {.count = 0};

    satisfy(search, node->left, &inner);
    for (int i = 0; i < inner.count; i++)
        if (is_within(search, inner.of[i].inside, node->within_ns))
            add_outcome(outcomes, inner.of[i]);
}

static struct reference_value attribute_of(const struct search *search,
                                           int occurrence,
                                           const char *name)
{
    uint64_t value = value_of(search, occurrence);
    uint32_t number = 0;

    while (!has(value, number))
        number++;
    return reference_value_of(search->set, number, name);
}

static bool compare_holds(const struct search *search,
                          const struct reference_node *node)
{
    struct reference_value left =
        attribute_of(search, node->occurrence, node->attribute);
    struct reference_value right;

    if (node->right_occurrence == REFERENCE_NONE)
        return reference_condition_holds(&node->constant, &left);
    right = attribute_of(search, node->right_occurrence, node->other);
    return reference_values_compare(node->test, node->is_negated, &left, &right);
}

static void satisfy_compare(const struct search *search,
                            const struct reference_node *node,
                            struct outcomes *outcomes)
{
    int occurrences[2] = {node->occurrence, node->right_occurrence};
    bool holds = false;
    uint64_t inside = 0;

    for (int i = 0; i < 2 && occurrences[i] != REFERENCE_NONE; i++) {
        if (is_void(search, occurrences[i]))
            holds = true;
        else if (!is_bound(search, occurrences[i]))
            return;
        inside |= value_of(search, occurrences[i]);
    }
    if (holds || compare_holds(search, node))
        pass_up(outcomes, 0, inside);
}

static void satisfy(const struct search *search, int number, struct outcomes *outcomes)
{
    const struct reference_node *nodes = search->predicate->nodes;
    const struct reference_node *node = &nodes[number];

    switch (node->kind) {
    case REFERENCE_TERM:
        satisfy_term(search, node, outcomes);
        break;
    case REFERENCE_COMPARE:
        satisfy_compare(search, node, outcomes);
        break;
    case REFERENCE_WITHIN:
        satisfy_within(search, node, outcomes);
        break;
    case REFERENCE_OR:
        satisfy_one_side(search, node, outcomes);
        break;
    case REFERENCE_COUNT:
        abort(); /* it is asked for by its relation */
    default:
        if (node->kind == REFERENCE_RELATION &&
            (nodes[node->left].kind == REFERENCE_COUNT ||
             nodes[node->right].kind == REFERENCE_COUNT))
            satisfy_count(search, node, outcomes);
        else
            satisfy_pairs(search, node, outcomes);
    }
}

/* --- Assignments (D6) --------------------------------------------------------------
 */

static bool is_existential(enum reference_sign sign)
{
    return sign != REFERENCE_UNIVERSAL && sign != REFERENCE_COUNTED;
}

/* Whether the clause is satisfied for all values of the universal occurrences from
 * this one on. */
static bool holds_for_all(struct search *search, int occurrence)
{
    const struct reference_predicate *predicate = search->predicate;
    struct values *values = &search->values[occurrence];
    struct outcomes outcomes = {.count = 0};
    bool holds = true;

    if (occurrence == predicate->occurrence_count) {
        satisfy(search, predicate->root, &outcomes);
        return outcomes.count > 0;
    }
    if (predicate->occurrences[occurrence].sign != REFERENCE_UNIVERSAL ||
        values->count == 0)
        return holds_for_all(search, occurrence + 1);
    for (values->chosen = 0; holds && values->chosen < values->count; values->chosen++)
        holds = holds_for_all(search, occurrence + 1);
    values->chosen = UNBOUND;
    return holds;
}

/* Whether the clause could be satisfied if all relations held: saves trying most
 * assignments to parts. */
static bool could_hold(const struct search *search, int number)
{
    const struct reference_node *node = &search->predicate->nodes[number];

    switch (node->kind) {
    case REFERENCE_TERM:
        return is_bound(search, node->occurrence) ||
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

/* Assignments as numbers: a digit for each occurrence, 0 = not bound. */
struct digits {
    uint64_t weights[REFERENCE_OCCURRENCES]; /* of existential occurrences, else 0 */
    uint64_t total;
};

static int digit(const struct search *search,
                 const struct digits *digits,
                 uint64_t number,
                 int occurrence)
{
    if (digits->weights[occurrence] == 0)
        return 0;
    return (int)(number / digits->weights[occurrence] %
                 ((uint64_t)search->values[occurrence].count + 1));
}

static struct digits make_digits(const struct search *search)
{
    struct digits digits = {.total = 1};

    for (int i = 0; i < search->predicate->occurrence_count; i++)
        if (is_existential(search->predicate->occurrences[i].sign)) {
            digits.weights[i] = digits.total;
            digits.total *= (uint64_t)search->values[i].count + 1;
        }
    return digits;
}

static void assign(struct search *search, const struct digits *digits, uint64_t number)
{
    for (int i = 0; i < search->predicate->occurrence_count; i++)
        search->values[i].chosen = digit(search, digits, number, i) - 1;
}

/* Whether some assignment got by unbinding holds. */
static bool has_lesser(const struct search *search,
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

/* D9 and D10: what is returned of an assignment; `tuples` are those that were. */
static void keep(struct search *search,
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
        else if (is_bound(search, i))
            events |= value_of(search, i);
    }
    answer->assignments += !tuples[number];
    tuples[number] = true;
    keep_match(answer, events);
}

static void search_all(struct search *search, struct reference_answer *answer)
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

/* --- Files -------------------------------------------------------------------------
 */

/* D5.  False: what the occurrence stands for is not known. */
static bool find_values(struct search *search,
                        const struct reference_occurrence *occurrence,
                        const struct reference_answers *answers,
                        struct values *values)
{
    uint64_t events;

    values->chosen = UNBOUND;
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
        if (has(events, i))
            values->of[values->count++] = SMALL_BIT(i);
    return true;
}

static uint64_t work_of(const struct search *search)
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

static void search_predicate(struct search *search,
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
        struct search search = {
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
