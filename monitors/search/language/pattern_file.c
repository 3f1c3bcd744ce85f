/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parsed pattern files: what is in them, and what a predicate reaches. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/language/pattern_private.h"
#include "monitors/search/language/pattern_source.h"

/* --- Made ------------------------------------------------------------------------- */

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

/* Room for one more pointer. */
static void *make_room(void *array, uint32_t count, uint32_t *room)
{
    uint32_t larger = *room ? *room * 2 : 8;

    if (count < *room)
        return array;
    array = reallocarray(array, larger, sizeof(void *));
    if (array)
        *room = larger;
    return array;
}

int esi_pattern_add_predicate(struct es_pattern_file *file,
                              struct esi_pattern_predicate **ret_predicate)
{
    struct esi_pattern_predicate *predicate =
        esi_arena_alloc(&file->memory, sizeof *predicate);
    void *grown =
        make_room(file->predicates, file->predicate_count, &file->predicate_room);

    if (grown)
        file->predicates = grown;
    if (!grown || !predicate)
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
    void *grown = make_room(file->classes, file->class_count, &file->class_room);

    if (grown)
        file->classes = grown;
    if (!grown || !class)
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
    void *grown;

    if (known) {
        *ret_attribute = known->number;
        return 0;
    }
    grown =
        make_room(file->attribute_names, file->attribute_count, &file->attribute_room);
    if (!grown)
        return -ENOMEM;
    file->attribute_names = grown;
    if (esi_symbols_put(&file->attributes, &symbol) < 0)
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

/* --- Asked ------------------------------------------------------------------------ */

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

uint32_t esi_pattern_attributes(const struct es_pattern_file *file)
{
    return file->attribute_count;
}

const char *esi_pattern_attribute(const struct es_pattern_file *file,
                                  uint32_t attribute)
{
    assert(attribute < file->attribute_count);
    return file->attribute_names[attribute];
}

/* Definitions stand above their uses, hence with lesser numbers: one pass down each. */
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
