/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_class.c - evaluates classes of events and comparisons of attributes. */
#include "config.h"

#include "tests/search/reference_value.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Texts ------------------------------------------------------------------------ */

static char escaped(char sign)
{
    return sign == 't' ? '\t' : sign == 'n' ? '\n' : sign;
}

/* Matches the unprocessed pattern (D13). */
static bool glob_matches(const char *pattern, const char *text)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '*')
        return glob_matches(pattern + 1, text) ||
               (*text != '\0' && glob_matches(pattern, text + 1));
    if (*pattern == '\\')
        return *text == escaped(pattern[1]) && glob_matches(pattern + 2, text + 1);
    return *text == *pattern && glob_matches(pattern + 1, text + 1);
}

static bool regex_matches(const char *pattern, const char *text)
{
    regex_t regex;
    bool is_found;

    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    is_found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_found;
}

/* --- Values ----------------------------------------------------------------------- */

static struct reference_value of_text(const char *text)
{
    struct reference_value value = {.is_there = true};
    char *end;

    snprintf(value.text, sizeof value.text, "%s", text);
    value.number = strtoll(text, &end, 10);
    value.is_number = *text != '\0' && *end == '\0';
    return value;
}

static struct reference_value of_attribute(const struct small_event *event,
                                           const char *name)
{
    for (uint32_t i = 0; i < event->attribute_count; i++)
        if (strcmp(event->attributes[i].name, name) == 0)
            return of_text(event->attributes[i].text);
    return (struct reference_value){.is_there = false};
}

static struct reference_value of_duration(const struct small_event *event)
{
    struct reference_value start = of_attribute(event, "start");
    struct reference_value stop = of_attribute(event, "stop");
    char text[24];

    if (!start.is_number || !stop.is_number)
        return (struct reference_value){.is_there = false};
    snprintf(text, sizeof text, "%" PRId64, stop.number - start.number);
    return of_text(text);
}

/* The value of an attribute (D15). */
struct reference_value reference_value_of(const struct small_set *set,
                                          uint32_t number,
                                          const char *name)
{
    static const char *const kinds[] = {"unary", "send", "receive", "sync"};
    const struct small_event *event = &set->events[number];
    struct reference_value value;

    if (strcmp(name, "process") == 0)
        return of_text(set->names[event->id.trace]);
    if (strcmp(name, "type") == 0)
        return of_text(event->type);
    if (strcmp(name, "text") == 0)
        return of_text(event->text);
    if (strcmp(name, "kind") == 0)
        return of_text(kinds[event->kind]);
    value = of_attribute(event, name);
    if (!value.is_there && strcmp(name, "duration") == 0)
        return of_duration(event);
    return value;
}

bool reference_time(const struct small_set *set, uint32_t number, int64_t *ret_time)
{
    const struct small_event *event = &set->events[number];
    struct reference_value value = of_attribute(event, "time");

    if (!value.is_there)
        value = of_attribute(event, event->kind == ES_EVENT_RECEIVE ? "stop" : "start");
    if (!value.is_number)
        return false;
    *ret_time = value.number;
    return true;
}

/* --- Comparisons ------------------------------------------------------------------ */

static bool numbers_compare(enum reference_test test, int64_t a, int64_t b)
{
    switch (test) {
    case REFERENCE_EQUAL:
        return a == b;
    case REFERENCE_LESS:
        return a < b;
    case REFERENCE_LESS_EQUAL:
        return a <= b;
    case REFERENCE_GREATER:
        return a > b;
    case REFERENCE_GREATER_EQUAL:
        return a >= b;
    default:
        abort();
    }
}

bool reference_condition_holds(const struct reference_condition *condition,
                               const struct reference_value *value)
{
    bool holds;

    if (condition->test == REFERENCE_GLOB && condition->text[0] == '\0')
        return true; /* D14 */
    if (!value->is_there)
        return false;
    if (condition->test == REFERENCE_GLOB)
        holds = glob_matches(condition->text, value->text);
    else if (condition->test == REFERENCE_REGEX)
        holds = regex_matches(condition->text, value->text);
    else if (!value->is_number)
        return false;
    else
        holds = numbers_compare(condition->test, value->number, condition->number);
    return holds != condition->is_negated;
}

bool reference_values_compare(enum reference_test test,
                              bool is_negated,
                              const struct reference_value *left,
                              const struct reference_value *right)
{
    bool are_numbers = left->is_number && right->is_number;

    if (!left->is_there || !right->is_there)
        return false;
    if (are_numbers)
        return numbers_compare(test, left->number, right->number) != is_negated;
    return test == REFERENCE_EQUAL &&
           (strcmp(left->text, right->text) == 0) != is_negated;
}

/* --- Classes ---------------------------------------------------------------------- */

/* The partners of an event (D12). */
static uint64_t partners_of(const struct small_set *set, uint32_t number)
{
    uint64_t found = set->events[number].partners;

    for (uint32_t i = 0; i < set->count; i++)
        if (set->events[i].kind == ES_EVENT_RECEIVE &&
            (set->events[i].partners & SMALL_BIT(number)))
            found |= SMALL_BIT(i);
    return found;
}

static bool literal_has(const struct reference_class *class,
                        const struct small_set *set,
                        uint32_t number)
{
    for (int i = 0; i < class->condition_count; i++) {
        const struct reference_condition *condition = &class->conditions[i];
        struct reference_value value = reference_value_of(set, number, condition->name);

        if (!reference_condition_holds(condition, &value))
            return false;
    }
    return true;
}

static bool has_event(const struct reference_file *file,
                      const struct small_set *set,
                      int class_number,
                      uint32_t number);

static bool base_has(const struct reference_file *file,
                     const struct small_set *set,
                     const struct reference_class *class,
                     uint32_t number)
{
    const struct reference_predicate *named;
    const struct reference_occurrence *occurrence;

    if (class->named == REFERENCE_NONE)
        return literal_has(class, set, number);
    named = &file->predicates[class->named];
    occurrence = &named->occurrences[named->nodes[named->root].occurrence];
    if (occurrence->class_number != REFERENCE_NONE)
        return has_event(file, set, occurrence->class_number, number);
    return base_has(file, set,
                    &(struct reference_class){.named = occurrence->predicate}, number);
}

/* Whether one of the event's partners is in the class. */
static bool has_partner(const struct reference_file *file,
                        const struct small_set *set,
                        int class_number,
                        uint32_t number)
{
    uint64_t partners = partners_of(set, number);

    for (uint32_t i = 0; i < set->count; i++)
        if ((partners & SMALL_BIT(i)) && has_event(file, set, class_number, i))
            return true;
    return false;
}

static bool has_event(const struct reference_file *file,
                      const struct small_set *set,
                      int class_number,
                      uint32_t number)
{
    const struct reference_class *class = &file->classes[class_number];

    if (!base_has(file, set, class, number))
        return false;
    for (int i = 0; i < class->partner_count; i++)
        if (!has_partner(file, set, class->partners[i], number))
            return false;
    return true;
}

uint64_t reference_class_events(const struct reference_file *file,
                                const struct small_set *set,
                                int class_number)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < set->count; i++)
        if (has_event(file, set, class_number, i))
            events |= SMALL_BIT(i);
    return events;
}
