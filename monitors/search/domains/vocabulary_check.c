/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* vocabulary_check.c - compares the words that patterns use with those of events. */
#include "config.h"

#include "monitors/search/domains/vocabulary_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "monitors/eventset/set_line.h"
#include "monitors/eventset/set_texts.h"

enum { SENTENCE = 200 }; /* maximum length of a message in bytes */

/* An attribute that the file uses, or a text that a field is compared with. */
struct asked_word {
    struct esi_pattern_place place;
    enum esi_pattern_field field;
    const char *name;
    const char *text;                       /* NULL: the item is the name itself */
    const struct esi_vocabulary_word *word; /* NULL: the vocabulary does not contain
                                               the name */
    bool is_known;                          /* to the vocabulary */
    bool is_seen;                           /* in an event */
};

struct esi_vocabulary_check {
    const struct es_pattern_file *file; /* borrowed, like the next */
    const struct esi_vocabulary *vocabulary;
    struct asked_word *items;
    size_t count;
    size_t room;
    bool has_events;
    bool is_marked;         /* an event has the vocabulary's mark */
    struct esi_texts names; /* of the attributes of events */
};

/* --- The vocabulary --------------------------------------------------------------- */

/* The vocabulary's word for a name; NULL if there is none. */
static const struct esi_vocabulary_word *find_word(
    const struct esi_vocabulary *vocabulary,
    const char *name)
{
    for (size_t i = 0; i < vocabulary->count; i++)
        if (strcmp(vocabulary->words[i].name, name) == 0)
            return &vocabulary->words[i];
    return NULL;
}

static bool is_ending(const struct esi_vocabulary_word *word, const char *text)
{
    if (*text == '\0')
        return true;
    for (size_t i = 0; word->endings && word->endings[i]; i++)
        if (strcmp(word->endings[i], text) == 0)
            return true;
    return false;
}

static bool has_value(const struct esi_vocabulary_word *word, const char *text)
{
    const char *value;

    for (size_t i = 0; (value = word->value(i)) != NULL; i++) {
        size_t length = strlen(value);

        if (strncmp(value, text, length) == 0 && is_ending(word, text + length))
            return true;
    }
    return false;
}

/* The kinds are the same in every event set. */
static const struct esi_vocabulary_word kind_word = {.name = "kind",
                                                     .value = esi_event_kind_name};

/* --- Words used by the file ------------------------------------------------------- */

static int add_item(struct esi_vocabulary_check *check, const struct asked_word *item)
{
    if (ESI_ARRAY_RESERVE(check->items, check->room, check->count + 1) < 0)
        return -ENOMEM;
    check->items[check->count++] = *item;
    return 0;
}

static int ask_name(struct esi_vocabulary_check *check,
                    enum esi_pattern_field field,
                    uint32_t attribute,
                    struct esi_pattern_place place)
{
    struct asked_word item = {.place = place, .field = field};

    if (field != ES_FIELD_ATTRIBUTE)
        return 0;
    item.name = esi_pattern_attribute(check->file, attribute);
    item.word = find_word(check->vocabulary, item.name);
    item.is_known = item.word != NULL;
    return add_item(check, &item);
}

/* Adds a text for a field with a limited set of texts. */
static int ask_text(struct esi_vocabulary_check *check,
                    enum esi_pattern_field field,
                    uint32_t attribute,
                    const char *text,
                    struct esi_pattern_place place)
{
    struct asked_word item = {.place = place, .field = field, .text = text};

    item.name = esi_pattern_field_name(check->file, field, attribute);
    item.word =
        field == ES_FIELD_KIND ? &kind_word : find_word(check->vocabulary, item.name);
    if (!item.word || !item.word->value)
        return 0;
    item.is_known = has_value(item.word, text);
    return item.is_known ? 0 : add_item(check, &item);
}

static int ask_condition(struct esi_vocabulary_check *check,
                         const struct esi_pattern_condition *condition)
{
    int result =
        ask_name(check, condition->field, condition->attribute, condition->place);

    if (result < 0 || condition->test != ES_TEST_GLOB || condition->piece_count != 1)
        return result;
    return ask_text(check, condition->field, condition->attribute, condition->pieces[0],
                    condition->value_place);
}

static int ask_comparison(struct esi_vocabulary_check *check,
                          const struct esi_pattern_node *node)
{
    const struct esi_pattern_operand *left = &node->operands[0];
    const struct esi_pattern_operand *right = &node->operands[1];
    int result = ask_name(check, left->field, left->attribute, left->place);

    if (result < 0)
        return result;
    if (right->occurrence != ES_PATTERN_NONE)
        return ask_name(check, right->field, right->attribute, right->place);
    if (node->test != ES_TEST_EQUAL || right->constant.is_number)
        return 0;
    return ask_text(check, left->field, left->attribute, right->constant.text,
                    right->place);
}

/* The parser limits the depth of trees. */
static int ask_node(struct esi_vocabulary_check *check,
                    const struct esi_pattern_node *node)
{
    int result = node->kind == ES_NODE_COMPARE ? ask_comparison(check, node) : 0;

    if (result == 0 && node->left)
        result = ask_node(check, node->left);
    if (result == 0 && node->right)
        result = ask_node(check, node->right);
    return result;
}

static int ask_all(struct esi_vocabulary_check *check,
                   const bool *is_predicate_needed,
                   const bool *is_class_needed)
{
    int result = 0;

    for (uint32_t i = 0; i < esi_pattern_classes(check->file); i++) {
        const struct esi_pattern_class *class = esi_pattern_class(check->file, i);

        for (size_t k = 0;
             result == 0 && is_class_needed[i] && k < class->condition_count; k++)
            result = ask_condition(check, &class->conditions[k]);
    }
    for (uint32_t i = 0; result == 0 && i < es_pattern_predicates(check->file); i++)
        if (is_predicate_needed[i])
            result = ask_node(check, esi_pattern_predicate(check->file, i)->root);
    return result;
}

int esi_vocabulary_check_create(const struct es_pattern_file *file,
                                const bool *is_predicate_needed,
                                const bool *is_class_needed,
                                const struct esi_vocabulary *vocabulary,
                                struct esi_vocabulary_check **ret_check)
{
    struct esi_vocabulary_check *check = calloc(1, sizeof *check);

    if (!check)
        return -ENOMEM;
    check->file = file;
    check->vocabulary = vocabulary;
    esi_texts_init(&check->names);
    if (ask_all(check, is_predicate_needed, is_class_needed) < 0) {
        esi_vocabulary_check_destroy(check);
        return -ENOMEM;
    }
    *ret_check = check;
    return 0;
}

void esi_vocabulary_check_destroy(struct esi_vocabulary_check *check)
{
    if (!check)
        return;
    esi_texts_fini(&check->names);
    free(check->items);
    free(check);
}

/* --- Messages --------------------------------------------------------------------- */

/* Appends to a list of words, if it fits. */
static void list_word(char list[SENTENCE], const char *word)
{
    size_t used = strlen(list);

    if (used + strlen(word) + 3 < SENTENCE)
        snprintf(list + used, SENTENCE - used, "%s%s", used ? ", " : "", word);
}

/* Names the text of the word that is nearest, with the nearest ending. */
static void name_value(const struct esi_vocabulary_word *word,
                       struct esi_nearest *nearest,
                       char room[SENTENCE])
{
    static const char *const none[] = {NULL};
    const char *const *endings = word->endings ? word->endings : none;
    struct esi_nearest best = *nearest;
    const char *value;

    for (size_t i = 0; (value = word->value(i)) != NULL; i++) {
        esi_nearest_try(nearest, value);
        for (size_t k = 0; endings[k]; k++) {
            char whole[SENTENCE];

            snprintf(whole, sizeof whole, "%s%s", value, endings[k]);
            best.distance = nearest->distance;
            esi_nearest_try(&best, whole);
            if (best.distance == nearest->distance)
                continue;
            nearest->distance = best.distance;
            nearest->name = strcpy(room, whole);
        }
    }
}

/* Lists the texts of a word that has few. */
static void list_values(const struct esi_vocabulary_word *word, char list[SENTENCE])
{
    enum { FEW = 12 };

    for (size_t i = 0; word->value(i) != NULL; i++) {
        if (i == FEW) {
            list[0] = '\0';
            return;
        }
        list_word(list, word->value(i));
    }
}

static void try_names(const struct esi_vocabulary_check *check,
                      bool has_words,
                      struct esi_nearest *nearest,
                      char list[SENTENCE])
{
    static const char *const fields[] = {"process", "type", "text", "kind"};

    for (uint32_t i = 0; i < esi_texts_count(&check->names); i++) {
        esi_nearest_try(nearest, esi_texts_at(&check->names, i));
        list_word(list, esi_texts_at(&check->names, i));
    }
    for (size_t i = 0; has_words && i < check->vocabulary->count; i++) {
        const char *name = check->vocabulary->words[i].name;

        esi_nearest_try(nearest, name);
        if (strcmp(name, "type") != 0 && esi_texts_count(&check->names) == 0)
            list_word(list, name);
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        esi_nearest_try(nearest, fields[i]);
}

/* Suggests "MPI_Send" for "Sned", for example. */
static void name_with_prefix(const struct esi_vocabulary_check *check,
                             const struct asked_word *item,
                             struct esi_nearest *nearest,
                             char room[SENTENCE])
{
    char whole[SENTENCE];

    snprintf(whole, sizeof whole, "%s%.60s", check->vocabulary->prefix, item->text);
    esi_nearest_init(nearest, whole);
    name_value(item->word, nearest, room);
    nearest->wanted = item->text;
}

static int refuse_word(const struct esi_vocabulary_check *check,
                       const struct asked_word *item,
                       bool has_words,
                       struct es_error *error)
{
    char room[SENTENCE], list[SENTENCE] = "", words[SENTENCE];
    const char *wanted = item->text ? item->text : item->name;
    struct esi_nearest nearest;
    int length;

    esi_nearest_init(&nearest, wanted);
    if (item->text) {
        name_value(item->word, &nearest, room);
        list_values(item->word, list);
        if (!nearest.name)
            name_with_prefix(check, item, &nearest, room);
    } else
        try_names(check, has_words, &nearest, list);
    length = snprintf(words, sizeof words, "there is no %s '%.60s'",
                      item->text ? item->name : "attribute", wanted);
    if (nearest.name)
        snprintf(words + length, sizeof words - (size_t)length, ", did you mean '%s'?",
                 nearest.name);
    else if (*list)
        snprintf(words + length, sizeof words - (size_t)length, ", expected one of %s",
                 list);
    return esi_pattern_fault(check->file, item->place, words, error);
}

static bool is_earlier(const struct asked_word *item, const struct asked_word *than)
{
    return !than || item->place.line < than->place.line ||
           (item->place.line == than->place.line &&
            item->place.column < than->place.column);
}

/* --- Check against the vocabulary ------------------------------------------------- */

static bool is_other_type(const struct esi_vocabulary_check *check,
                          const struct asked_word *item)
{
    const char *prefix = check->vocabulary->prefix;

    return item->field == ES_FIELD_TYPE &&
           strncmp(item->text, prefix, strlen(prefix)) != 0;
}

int esi_vocabulary_check_words(const struct esi_vocabulary_check *check,
                               bool all_types,
                               struct es_error *error)
{
    const struct asked_word *first = NULL;

    for (size_t i = 0; i < check->count; i++) {
        const struct asked_word *item = &check->items[i];

        if (!item->is_known && (all_types || !is_other_type(check, item)) &&
            is_earlier(item, first))
            first = item;
    }
    return first ? refuse_word(check, first, true, error) : 0;
}

/* --- Check against events --------------------------------------------------------- */

/* Whether the event has this name or text; a duration exists if there is a start. */
static bool is_in_event(const struct asked_word *item, const struct es_set_event *event)
{
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];

        if (strcmp(attribute->name, item->name) == 0)
            return !item->text ||
                   (attribute->text && strcmp(attribute->text, item->text) == 0);
        if (strcmp(item->name, "duration") == 0 &&
            strcmp(attribute->name, "start") == 0)
            return true;
    }
    return false;
}

/* Names are only needed if a word has not been seen. */
static int keep_names(struct esi_vocabulary_check *check,
                      const struct es_set_event *event)
{
    uint32_t number;
    int result = 0;

    for (size_t i = 0; result == 0 && i < event->attribute_count; i++) {
        const char *name = event->attributes[i].name;

        check->is_marked |= strcmp(name, check->vocabulary->mark) == 0;
        result = esi_texts_add(&check->names, name, strlen(name), &number);
    }
    return result;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_vocabulary_check *check = data;
    bool is_open = false;

    check->has_events = true;
    for (size_t i = 0; i < check->count; i++) {
        struct asked_word *item = &check->items[i];

        if (item->is_seen || (item->is_known && check->is_marked))
            continue;
        item->is_seen = is_in_event(item, event);
        is_open = true;
    }
    return is_open ? keep_names(check, event) : 0;
}

struct es_set_sink esi_vocabulary_check_sink(struct esi_vocabulary_check *check)
{
    return (struct es_set_sink){.event = take_event, .data = check};
}

/* Whether no event of the set can have the word. */
static bool is_absent(const struct esi_vocabulary_check *check,
                      const struct asked_word *item)
{
    if (item->field == ES_FIELD_KIND)
        return true;
    if (item->is_seen || item->field == ES_FIELD_TYPE)
        return false;
    if (check->is_marked)
        return !item->is_known;
    return !item->text && check->has_events;
}

int esi_vocabulary_check_events(const struct esi_vocabulary_check *check,
                                struct es_error *error)
{
    const struct asked_word *first = NULL;

    for (size_t i = 0; i < check->count; i++) {
        const struct asked_word *item = &check->items[i];

        if (is_absent(check, item) && is_earlier(item, first))
            first = item;
    }
    return first ? refuse_word(check, first, check->is_marked, error) : 0;
}
