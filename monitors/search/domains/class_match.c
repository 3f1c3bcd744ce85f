/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* class_match.c - tests an event against the conditions of all classes. */
#include "config.h"

#include "monitors/search/domains/class_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Limit of distinct texts whose results are cached; then the cache is cleared. */
enum { TEXTS_MAX = 1 << 16 };

/* A condition and the data for testing it. */
struct tried {
    const struct esi_pattern_condition *condition;
    struct esi_expression *expression;
};

/* The conditions of a class: [first, first + count) of `tried`. */
struct tried_class {
    uint32_t first;
    uint32_t count;
};

/* Texts and their results. */
struct verdicts {
    struct esi_texts texts;
    struct esi_segmented rows; /* a bit set for each text */
};

struct esi_class_match {
    const struct es_pattern_file *file; /* borrowed */
    size_t words;
    uint32_t classes;
    struct tried *tried;
    size_t tried_count;
    struct tried_class *tried_of;           /* by class */
    uint64_t *asks[ES_FIELD_ATTRIBUTE + 1]; /* classes that test a field */
    bool is_asked[ES_FIELD_ATTRIBUTE + 1];
    uint64_t *needed;
    uint64_t *kinds[4];
    struct esi_segmented traces; /* a bit set for each trace */
    const char **names;          /* of the traces, borrowed */
    size_t name_capacity;
    struct verdicts types;
    struct verdicts text_verdicts;
    uint64_t *result;
    uint64_t *scratch;
    uint64_t *sets; /* the memory of all sets above */
};

/* --- Conditions ------------------------------------------------------------------- */

/* Whether the text consists of the pieces with any text between them; no pieces match
 * any text. */
static bool pieces_match(const char *const *pieces, size_t count, const char *text)
{
    size_t length = strlen(text), last;
    const char *end = text + length;

    if (count == 0)
        return true;
    if (count == 1)
        return strcmp(pieces[0], text) == 0;
    if (strncmp(text, pieces[0], strlen(pieces[0])) != 0)
        return false;
    text += strlen(pieces[0]);
    for (size_t i = 1; i + 1 < count; i++) {
        text = strstr(text, pieces[i]);
        if (!text)
            return false;
        text += strlen(pieces[i]);
    }
    last = strlen(pieces[count - 1]);
    return (size_t)(end - text) >= last && strcmp(end - last, pieces[count - 1]) == 0;
}

/* Whether a condition holds for a value; NULL if the event has none.  `expression` is
 * that of a REGEX, otherwise NULL. */
static bool condition_holds(const struct esi_pattern_condition *condition,
                            const struct esi_expression *expression,
                            const struct esi_event_value *value)
{
    char room[ESI_NUMBER_TEXT];
    int64_t number;

    if (condition->test == ES_TEST_GLOB && condition->piece_count == 0)
        return !condition->is_negated;
    if (!value)
        return false;
    if (condition->test == ES_TEST_GLOB)
        return pieces_match(condition->pieces, condition->piece_count,
                            esi_event_value_text(value, room)) != condition->is_negated;
    if (condition->test == ES_TEST_REGEX)
        return esi_expression_matches(expression, esi_event_value_text(value, room)) !=
               condition->is_negated;
    if (!condition->value.is_number)
        return (strcmp(esi_event_value_text(value, room), condition->value.text) ==
                0) != condition->is_negated &&
               condition->test == ES_TEST_EQUAL;
    return esi_event_value_number(value, &number) &&
           esi_numbers_compare(condition->test, number, condition->value.number) !=
               condition->is_negated;
}

/* --- Creation --------------------------------------------------------------------- */

static void set_bit(uint64_t *set, uint32_t class_number)
{
    set[class_number / 64] |= UINT64_C(1) << class_number % 64;
}

static size_t count_conditions(const struct es_pattern_file *file, const bool *needed)
{
    size_t count = 0;

    for (uint32_t c = 0; c < esi_pattern_classes(file); c++)
        count += needed[c] ? esi_pattern_class(file, c)->condition_count : 0;
    return count;
}

/* Allocates the sets and the conditions. */
static int make_room(struct esi_class_match *match, size_t conditions)
{
    enum { SETS = ES_FIELD_ATTRIBUTE + 1 + 1 + 4 + 2 };
    uint64_t *set;

    match->tried = calloc(conditions + 1, sizeof *match->tried);
    match->tried_of = calloc((size_t)match->classes + 1, sizeof *match->tried_of);
    match->sets = calloc(SETS * match->words, sizeof *match->sets);
    if (!match->tried || !match->tried_of || !match->sets)
        return -ENOMEM;
    set = match->sets;
    for (size_t field = 0; field <= ES_FIELD_ATTRIBUTE; field++, set += match->words)
        match->asks[field] = set;
    for (size_t kind = 0; kind < 4; kind++, set += match->words)
        match->kinds[kind] = set;
    match->needed = set;
    match->result = set + match->words;
    match->scratch = set + 2 * match->words;
    return 0;
}

static int add_condition(struct esi_class_match *match,
                         uint32_t class_number,
                         const struct esi_pattern_condition *condition,
                         struct es_error *error)
{
    struct tried *tried = &match->tried[match->tried_count];

    if (condition->test == ES_TEST_REGEX) {
        int result =
            esi_expression_create(condition->value.text, &tried->expression, error);
        if (result < 0)
            return result;
    }
    tried->condition = condition;
    match->tried_count++;
    match->tried_of[class_number].count++;
    match->is_asked[condition->field] = true;
    set_bit(match->asks[condition->field], class_number);
    return 0;
}

static int add_classes(struct esi_class_match *match,
                       const bool *needed,
                       struct es_error *error)
{
    int result = 0;

    for (uint32_t c = 0; c < match->classes; c++) {
        const struct esi_pattern_class *class = esi_pattern_class(match->file, c);
        match->tried_of[c].first = (uint32_t)match->tried_count;
        if (!needed[c])
            continue;
        set_bit(match->needed, c);
        for (size_t i = 0; result == 0 && i < class->condition_count; i++)
            result = add_condition(match, c, &class->conditions[i], error);
    }
    return result;
}

/* Sets `to` to the classes in `from` whose conditions on a field hold for an event;
 * `to` may be `from`. */
static void try_field(const struct esi_class_match *match,
                      enum esi_pattern_field field,
                      const struct es_set_event *event,
                      const char *trace_name,
                      const uint64_t *from,
                      uint64_t *to);

static void judge_kinds(struct esi_class_match *match)
{
    struct es_set_event event = {.type = "", .text = ""};

    for (unsigned kind = 0; kind < 4; kind++) {
        event.kind = (enum es_event_kind)kind;
        try_field(match, ES_FIELD_KIND, &event, "", match->needed, match->kinds[kind]);
    }
}

static void init_verdicts(struct verdicts *verdicts, size_t words)
{
    esi_texts_init(&verdicts->texts);
    esi_segmented_init(&verdicts->rows, words * sizeof(uint64_t), 6);
}

static void fini_verdicts(struct verdicts *verdicts)
{
    esi_texts_fini(&verdicts->texts);
    esi_segmented_fini(&verdicts->rows);
}

int esi_class_match_create(const struct es_pattern_file *file,
                           const bool *is_class_needed,
                           struct esi_class_match **ret_match,
                           struct es_error *error)
{
    struct esi_class_match *match = calloc(1, sizeof *match);
    int result;

    if (!match)
        return -ENOMEM;
    match->file = file;
    match->classes = esi_pattern_classes(file);
    match->words = match->classes / 64 + 1;
    esi_segmented_init(&match->traces, match->words * sizeof(uint64_t), 4);
    init_verdicts(&match->types, match->words);
    init_verdicts(&match->text_verdicts, match->words);
    result = make_room(match, count_conditions(file, is_class_needed));
    if (result == 0)
        result = add_classes(match, is_class_needed, error);
    if (result < 0) {
        esi_class_match_destroy(match);
        return result;
    }
    judge_kinds(match);
    *ret_match = match;
    return 0;
}

void esi_class_match_destroy(struct esi_class_match *match)
{
    if (!match)
        return;
    for (size_t i = 0; i < match->tried_count; i++)
        esi_expression_destroy(match->tried[i].expression);
    fini_verdicts(&match->types);
    fini_verdicts(&match->text_verdicts);
    esi_segmented_fini(&match->traces);
    free(match->names);
    free(match->sets);
    free(match->tried_of);
    free(match->tried);
    free(match);
}

size_t esi_class_match_words(const struct esi_class_match *match)
{
    return match->words;
}

bool esi_class_match_needs_attributes(const struct esi_class_match *match)
{
    return match->is_asked[ES_FIELD_ATTRIBUTE];
}

const struct esi_texts *esi_class_match_types(const struct esi_class_match *match)
{
    return &match->types.texts;
}

uint64_t esi_class_match_bytes(const struct esi_class_match *match)
{
    return sizeof *match + match->tried_count * sizeof *match->tried +
           match->name_capacity * sizeof *match->names +
           esi_segmented_bytes(&match->traces) + esi_texts_bytes(&match->types.texts) +
           esi_segmented_bytes(&match->types.rows) +
           esi_texts_bytes(&match->text_verdicts.texts) +
           esi_segmented_bytes(&match->text_verdicts.rows);
}

/* --- Testing ---------------------------------------------------------------------- */

static bool class_holds(const struct esi_class_match *match,
                        uint32_t class_number,
                        enum esi_pattern_field field,
                        const struct es_set_event *event,
                        const char *trace_name)
{
    const struct tried_class *of = &match->tried_of[class_number];

    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        const struct esi_pattern_condition *condition = match->tried[i].condition;
        struct esi_event_value value;
        const char *name;
        bool is_there;

        if (condition->field != field)
            continue;
        name = field == ES_FIELD_ATTRIBUTE
                   ? esi_pattern_attribute(match->file, condition->attribute)
                   : NULL;
        is_there = esi_event_value(event, trace_name, field, name, &value);
        if (!condition_holds(condition, match->tried[i].expression,
                             is_there ? &value : NULL))
            return false;
    }
    return true;
}

static void try_field(const struct esi_class_match *match,
                      enum esi_pattern_field field,
                      const struct es_set_event *event,
                      const char *trace_name,
                      const uint64_t *from,
                      uint64_t *to)
{
    for (size_t word = 0; word < match->words; word++) {
        uint64_t left = from[word] & match->asks[field][word];

        to[word] = from[word];
        for (; left; left &= left - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            if (!class_holds(match, (uint32_t)(word * 64) + bit, field, event,
                             trace_name))
                to[word] &= ~(UINT64_C(1) << bit);
        }
    }
}

static int keep_name(struct esi_class_match *match, const char *name)
{
    size_t count = (size_t)esi_segmented_count(&match->traces);

    if (ESI_ARRAY_RESERVE(match->names, match->name_capacity, count + 1) < 0)
        return -ENOMEM;
    match->names[count] = name;
    return 0;
}

int esi_class_match_add_trace(struct esi_class_match *match, const char *name)
{
    struct es_set_event event = {.type = "", .text = ""};

    if (keep_name(match, name) < 0)
        return -ENOMEM;
    try_field(match, ES_FIELD_PROCESS, &event, name, match->needed, match->scratch);
    return esi_segmented_push(&match->traces, match->scratch);
}

/* Computes and stores the result for a type or text.  The result is stored before the
 * text, so that every stored text has one. */
static int judge_condition(struct esi_class_match *match,
                           struct verdicts *verdicts,
                           enum esi_pattern_field field,
                           const struct es_set_event *event,
                           uint32_t *ret_number)
{
    const char *text = field == ES_FIELD_TYPE ? event->type : event->text;
    size_t length = strlen(text);
    uint32_t number = esi_texts_find(&verdicts->texts, text, length);
    uint32_t count = esi_texts_count(&verdicts->texts);

    if (number != UINT32_MAX) {
        *ret_number = number;
        return 0;
    }
    try_field(match, field, event, "", match->needed, match->scratch);
    if (esi_segmented_count(&verdicts->rows) == count &&
        esi_segmented_push(&verdicts->rows, match->scratch) < 0)
        return -ENOMEM;
    memcpy(esi_segmented_at(&verdicts->rows, count), match->scratch,
           match->words * sizeof *match->scratch);
    return esi_texts_add(&verdicts->texts, text, length, ret_number);
}

static bool limit_to(struct esi_class_match *match, const uint64_t *set)
{
    uint64_t any = 0;

    for (size_t word = 0; word < match->words; word++)
        any |= match->result[word] &= set[word];
    return any != 0;
}

static bool is_any_asking(const struct esi_class_match *match,
                          enum esi_pattern_field field)
{
    uint64_t any = 0;

    if (!match->is_asked[field])
        return false;
    for (size_t word = 0; word < match->words; word++)
        any |= match->result[word] & match->asks[field][word];
    return any != 0;
}

static int try_text(struct esi_class_match *match, const struct es_set_event *event)
{
    struct verdicts *verdicts = &match->text_verdicts;
    uint32_t number;
    int result;

    if (esi_texts_count(&verdicts->texts) >= TEXTS_MAX) {
        fini_verdicts(verdicts);
        init_verdicts(verdicts, match->words);
    }
    result = judge_condition(match, verdicts, ES_FIELD_TEXT, event, &number);
    return result < 0 ? result
                      : limit_to(match, esi_segmented_at(&verdicts->rows, number));
}

int esi_class_match_event(struct esi_class_match *match,
                          const struct es_set_event *event,
                          const uint64_t **ret_classes,
                          uint32_t *ret_type)
{
    const uint64_t *trace = esi_segmented_at(&match->traces, event->id.trace);
    int result = judge_condition(match, &match->types, ES_FIELD_TYPE, event, ret_type);

    if (result < 0)
        return result;
    memcpy(match->result, trace, match->words * sizeof *trace);
    *ret_classes = match->result;
    if (!limit_to(match, match->kinds[event->kind]) ||
        !limit_to(match, esi_segmented_at(&match->types.rows, *ret_type)))
        return 0;
    if (is_any_asking(match, ES_FIELD_TEXT)) {
        result = try_text(match, event);
        if (result <= 0)
            return result;
    }
    if (is_any_asking(match, ES_FIELD_ATTRIBUTE))
        try_field(match, ES_FIELD_ATTRIBUTE, event, match->names[event->id.trace],
                  match->result, match->result);
    return limit_to(match, match->needed);
}
