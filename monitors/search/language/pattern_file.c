/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parsed pattern files: their contents, and what a predicate reaches. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/search/language/pattern_private.h"
#include "monitors/search/language/pattern_source.h"

/* --- Names ------------------------------------------------------------------------ */

struct esi_symbol *esi_symbols_find(const struct esi_symbols *symbols,
                                    const char *name,
                                    size_t length)
{
    ESI_HASH_FOREACH(slot, &symbols->hash, esi_hash_mix_bytes(0, name, length)) {
        struct esi_symbol *symbol =
            &symbols->items[esi_hash_index(&symbols->hash, slot)];

        if (strlen(symbol->name) == length && memcmp(symbol->name, name, length) == 0)
            return symbol;
    }
    return NULL;
}

int esi_symbols_put(struct esi_symbols *symbols, const struct esi_symbol *symbol)
{
    size_t length = strlen(symbol->name), count = symbols->hash.count;
    struct esi_symbol *known = esi_symbols_find(symbols, symbol->name, length);

    if (known) {
        *known = *symbol;
        return 0;
    }
    if (esi_hash_reserve(&symbols->hash, count + 1) < 0 ||
        ESI_ARRAY_RESERVE(symbols->items, symbols->capacity, count + 1) < 0)
        return -ENOMEM;
    symbols->items[count] = *symbol;
    esi_hash_insert(&symbols->hash, esi_hash_mix_bytes(0, symbol->name, length), count);
    return 0;
}

void esi_symbols_fini(struct esi_symbols *symbols)
{
    esi_hash_fini(&symbols->hash);
    free(symbols->items);
    *symbols = (struct esi_symbols){.items = NULL};
}

/* --- Creation --------------------------------------------------------------------- */

int esi_pattern_file_create(const char *source,
                            const char *text,
                            size_t length,
                            struct es_pattern_file **ret_file)
{
    struct es_pattern_file *file = calloc(1, sizeof *file);

    if (!file)
        return -ENOMEM;
    file->source = esi_arena_text(&file->memory, source, strlen(source));
    file->text = esi_arena_text(&file->memory, text, length);
    file->length = length;
    if (!file->source || !file->text) {
        es_pattern_file_destroy(file);
        return -ENOMEM;
    }
    *ret_file = file;
    return 0;
}

void es_pattern_file_destroy(struct es_pattern_file *file)
{
    if (!file)
        return;
    esi_symbols_fini(&file->names);
    esi_symbols_fini(&file->attributes);
    free(file->predicates);
    free(file->classes);
    free(file->attribute_names);
    esi_arena_free(&file->memory);
    free(file);
}

int esi_pattern_add_predicate(struct es_pattern_file *file,
                              struct esi_pattern_predicate **ret_predicate)
{
    struct esi_pattern_predicate *predicate =
        esi_arena_alloc(&file->memory, sizeof *predicate);

    if (!predicate || ESI_ARRAY_RESERVE(file->predicates, file->predicate_room,
                                        file->predicate_count + 1u) < 0)
        return -ENOMEM;
    file->predicates[file->predicate_count++] = predicate;
    *ret_predicate = predicate;
    return 0;
}

int esi_pattern_add_class(struct es_pattern_file *file,
                          struct esi_class **ret_class,
                          uint32_t *ret_number)
{
    struct esi_class *class = esi_arena_alloc(&file->memory, sizeof *class);

    if (!class ||
        ESI_ARRAY_RESERVE(file->classes, file->class_room, file->class_count + 1u) < 0)
        return -ENOMEM;
    class->right = ES_PATTERN_NONE;
    *ret_number = file->class_count;
    file->classes[file->class_count++] = class;
    *ret_class = class;
    return 0;
}

int esi_pattern_add_attribute(struct es_pattern_file *file,
                              const char *name,
                              uint32_t *ret_attribute)
{
    const struct esi_symbol *known =
        esi_symbols_find(&file->attributes, name, strlen(name));
    struct esi_symbol symbol = {.name = name, .number = file->attribute_count};

    if (known) {
        *ret_attribute = known->number;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(file->attribute_names, file->attribute_room,
                          file->attribute_count + 1u) < 0 ||
        esi_symbols_put(&file->attributes, &symbol) < 0)
        return -ENOMEM;
    file->attribute_names[file->attribute_count] = name;
    *ret_attribute = file->attribute_count++;
    return 0;
}

uint32_t esi_pattern_alias(const struct esi_pattern_predicate *predicate)
{
    const struct esi_pattern_node *root = predicate->root;

    if (root->kind != ES_NODE_TERM ||
        predicate->occurrences[root->occurrence].sign != ES_SIGN_NONE)
        return ES_PATTERN_NONE;
    return predicate->occurrences[root->occurrence].class_number;
}

int esi_pattern_fault(const struct es_pattern_file *file,
                      struct esi_pattern_place place,
                      const char *words,
                      struct es_error *error)
{
    struct esi_source source = {file->source, file->text, file->length, error};

    return esi_source_fault(&source, place, "%s", words);
}

/* --- Queries ---------------------------------------------------------------------- */

uint32_t es_pattern_predicates(const struct es_pattern_file *file)
{
    return file->predicate_count;
}

const struct esi_pattern_predicate *esi_pattern_predicate(
    const struct es_pattern_file *file,
    uint32_t predicate)
{
    assert(predicate < file->predicate_count);
    return file->predicates[predicate];
}

const char *es_pattern_predicate_name(const struct es_pattern_file *file,
                                      uint32_t predicate)
{
    if (predicate >= file->predicate_count || file->predicates[predicate]->is_folded)
        return NULL;
    return file->predicates[predicate]->name;
}

uint32_t es_pattern_find(const struct es_pattern_file *file, const char *name)
{
    const struct esi_symbol *symbol =
        esi_symbols_find(&file->names, name, strlen(name));

    return symbol ? symbol->number : ES_PATTERN_NONE;
}

uint32_t esi_pattern_classes(const struct es_pattern_file *file)
{
    return file->class_count;
}

const struct esi_pattern_class *esi_pattern_class(const struct es_pattern_file *file,
                                                  uint32_t class_number)
{
    assert(class_number < file->class_count);
    return &file->classes[class_number]->data;
}

const char *esi_pattern_attribute(const struct es_pattern_file *file,
                                  uint32_t attribute)
{
    assert(attribute < file->attribute_count);
    return file->attribute_names[attribute];
}

/* Definitions precede their uses and so have lower numbers: one pass downward for
 * each. */
void esi_pattern_reach(const struct es_pattern_file *file,
                       uint32_t predicate,
                       bool *is_predicate_needed,
                       bool *is_class_needed)
{
    is_predicate_needed[predicate] = true;
    for (uint32_t i = predicate + 1; i-- > 0;) {
        const struct esi_pattern_predicate *user = file->predicates[i];

        for (uint32_t k = 0; is_predicate_needed[i] && k < user->occurrence_count;
             k++) {
            const struct esi_pattern_occurrence *used = &user->occurrences[k];

            if (used->predicate != ES_PATTERN_NONE)
                is_predicate_needed[used->predicate] = true;
            if (used->class_number != ES_PATTERN_NONE)
                is_class_needed[used->class_number] = true;
        }
    }
    for (uint32_t i = file->class_count; i-- > 0;) {
        const struct esi_pattern_class *class = &file->classes[i]->data;

        for (size_t k = 0; is_class_needed[i] && k < class->partner_count; k++)
            is_class_needed[class->partners[k]] = true;
    }
}

/* --- Which predicates are used by others ------------------------------------------ */

/* ES_PATTERN_NONE if it is more than a name for a class of events. */
static uint32_t class_of(const struct es_pattern_file *file, uint32_t number)
{
    const struct esi_pattern_predicate *predicate = esi_pattern_predicate(file, number);

    if (predicate->root->kind != ES_NODE_TERM)
        return ES_PATTERN_NONE;
    return predicate->occurrences[predicate->root->occurrence].class_number;
}

/* A name for a class is replaced by the class wherever it is used. */
static bool uses_predicate(const struct es_pattern_file *file,
                           uint32_t user,
                           uint32_t number)
{
    const struct esi_pattern_predicate *predicate = esi_pattern_predicate(file, user);
    uint32_t class_number = class_of(file, number);

    for (uint32_t i = 0; i < predicate->occurrence_count; i++) {
        const struct esi_pattern_occurrence *occurrence = &predicate->occurrences[i];

        if (occurrence->predicate == number ||
            (class_number != ES_PATTERN_NONE &&
             occurrence->class_number == class_number))
            return true;
    }
    return false;
}

/* On either side of a dot; on the left its conditions are shared. */
static bool is_part_of_class(const struct es_pattern_file *file, uint32_t class_number)
{
    const struct esi_pattern_class *part = esi_pattern_class(file, class_number);

    for (uint32_t i = 0; i < esi_pattern_classes(file); i++) {
        const struct esi_pattern_class *whole = esi_pattern_class(file, i);

        for (size_t j = 0; j < whole->partner_count; j++)
            if (whole->partners[j] == class_number)
                return true;
        if (i != class_number && part->condition_count > 0 &&
            whole->conditions == part->conditions)
            return true;
    }
    return false;
}

bool esi_pattern_is_used(const struct es_pattern_file *file, uint32_t number)
{
    uint32_t class_number = class_of(file, number);

    for (uint32_t user = number + 1; user < es_pattern_predicates(file); user++)
        if (uses_predicate(file, user, number))
            return true;
    return class_number != ES_PATTERN_NONE && is_part_of_class(file, class_number);
}

/* --- Notation of operators, tests and fields -------------------------------------- */

const char *esi_pattern_operator_text(enum esi_pattern_operator op, bool is_negated)
{
    static const char *const texts[][2] = {
        [ES_OPERATOR_BEFORE] = {"-->", "!-->"},
        [ES_OPERATOR_CONCURRENT] = {"||", "!||"},
        [ES_OPERATOR_ENTANGLED] = {"<->", "!<->"},
        [ES_OPERATOR_RECEIVED] = {"=>", "!=>"},
    };

    return texts[op][is_negated];
}

const char *esi_pattern_test_text(enum esi_pattern_test test, bool is_negated)
{
    static const char *const texts[][2] = {
        [ES_TEST_GLOB] = {"=", "!="},           [ES_TEST_REGEX] = {"=~", "!~"},
        [ES_TEST_EQUAL] = {"=", "!="},          [ES_TEST_LESS] = {"<", "<"},
        [ES_TEST_LESS_EQUAL] = {"<=", "<="},    [ES_TEST_GREATER] = {">", ">"},
        [ES_TEST_GREATER_EQUAL] = {">=", ">="},
    };

    return texts[test][is_negated];
}

const char *esi_pattern_field_name(const struct es_pattern_file *file,
                                   enum esi_pattern_field field,
                                   uint32_t attribute)
{
    static const char *const names[] = {
        [ES_FIELD_PROCESS] = "process",
        [ES_FIELD_TYPE] = "type",
        [ES_FIELD_TEXT] = "text",
        [ES_FIELD_KIND] = "kind",
    };

    return field == ES_FIELD_ATTRIBUTE ? esi_pattern_attribute(file, attribute)
                                       : names[field];
}
