/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_file.c - the pattern file of a command, and the predicates that it is to
 * search. */
#include "config.h"

#include "cli/search_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "monitors/search/language/program.h"

/* --- Where it is ------------------------------------------------------------------ */

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static const char *shipped_folder(void)
{
    const char *folder = getenv("EVENTSPACE_PATTERNS");

    return folder && *folder ? folder : ES_PATTERNSDIR;
}

/* In the folder of the patterns that came with us; NULL: it is not there, or there is
 * no memory. */
static char *find_shipped(const char *name)
{
    static const char *const endings[] = {"", ".pattern"};
    char *path;

    for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (asprintf(&path, "%s/%s%s", shipped_folder(), name, endings[i]) < 0)
            return NULL;
        if (is_file(path))
            return path;
        free(path);
    }
    return NULL;
}

/* A name without a slash that is no file here. */
static bool may_be_shipped(const char *patterns)
{
    return strcmp(patterns, "-") != 0 && !strchr(patterns, '/') && !is_file(patterns);
}

static char *find_file(const char *patterns)
{
    char *path = may_be_shipped(patterns) ? find_shipped(patterns) : NULL;

    return path ? path : strdup(patterns);
}

static int fail_to_read(const char *patterns,
                        const char *path,
                        const struct es_error *error,
                        int code)
{
    if (code == -ENOENT && strcmp(patterns, path) == 0 && may_be_shipped(patterns))
        return esi_command_fail(ES_EXIT_USAGE,
                                "cannot read the patterns: %s: no such file here, nor "
                                "among the patterns in %s",
                                patterns, shipped_folder());
    return esi_command_fail_error(ES_EXIT_USAGE, error, code,
                                  "cannot read the patterns");
}

/* --- Which predicates ------------------------------------------------------------- */

/* ES_PATTERN_NONE: it is more than a name for a class of events. */
static uint32_t class_of(const struct es_pattern_file *file, uint32_t number)
{
    const struct esi_pattern_predicate *predicate = esi_pattern_predicate(file, number);

    if (predicate->root->kind != ES_NODE_TERM)
        return ES_PATTERN_NONE;
    return predicate->occurrences[predicate->root->occurrence].class_number;
}

/* A name for a class is taken for the class wherever it is used. */
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

/* On either side of a partner dot: on the left its conditions are shared. */
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

static bool is_used(const struct es_pattern_file *file, uint32_t number)
{
    uint32_t class_number = class_of(file, number);

    for (uint32_t user = number + 1; user < es_pattern_predicates(file); user++)
        if (uses_predicate(file, user, number))
            return true;
    return class_number != ES_PATTERN_NONE && is_part_of_class(file, class_number);
}

static bool is_chosen(const struct esi_search_file *file, uint32_t number)
{
    for (uint32_t i = 0; i < file->predicate_count; i++)
        if (file->predicates[i] == number)
            return true;
    return false;
}

static void choose_default(struct esi_search_file *file)
{
    uint32_t count = es_pattern_predicates(file->file);

    for (uint32_t i = 0; i < count; i++)
        if (!is_used(file->file, i))
            file->predicates[file->predicate_count++] = i;
}

static int fail_unknown(const struct esi_search_file *file, const char *name)
{
    enum { MOST = 8 };
    uint32_t count = 0;
    char known[512] = "";

    for (uint32_t i = 0; i < es_pattern_predicates(file->file); i++) {
        const struct esi_pattern_predicate *predicate =
            esi_pattern_predicate(file->file, i);
        size_t length = strlen(known);

        if (!predicate->is_folded && count++ < MOST)
            snprintf(known + length, sizeof known - length, "%s%s",
                     length == 0 ? "" : ", ", predicate->name);
    }
    return esi_command_fail(ES_EXIT_USAGE,
                            "no predicate '%s' in %s: it has %s%s; --list shows them",
                            name, file->path, known, count > MOST ? " and others" : "");
}

static int choose_predicates(struct esi_search_file *file,
                             const char *const *names,
                             unsigned name_count)
{
    uint32_t count = es_pattern_predicates(file->file);

    if (count == 0)
        return esi_command_fail(ES_EXIT_USAGE,
                                "no predicate in %s: there is nothing to search",
                                file->path);
    file->predicates = calloc(count, sizeof *file->predicates);
    if (!file->predicates)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    for (unsigned i = 0; i < name_count; i++) {
        uint32_t number = es_pattern_find(file->file, names[i]);

        if (number == ES_PATTERN_NONE)
            return fail_unknown(file, names[i]);
        if (!is_chosen(file, number)) /* what is named twice is searched once */
            file->predicates[file->predicate_count++] = number;
    }
    if (name_count == 0)
        choose_default(file);
    return ES_EXIT_SUCCESS;
}

/* --- Reading it ------------------------------------------------------------------- */

int esi_search_file_open(const char *patterns,
                         const char *const *names,
                         unsigned name_count,
                         struct esi_search_file *ret_file)
{
    struct es_error error = {.text = ""};
    int result;

    *ret_file = (struct esi_search_file){.path = find_file(patterns)};
    if (!ret_file->path)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    result = es_pattern_file_read(ret_file->path, &ret_file->file, &error);
    if (result < 0)
        return fail_to_read(patterns, ret_file->path, &error, result);
    if (strcmp(patterns, "-") == 0) {
        free(ret_file->path);
        ret_file->path = strdup("standard input");
        if (!ret_file->path)
            return esi_command_fail(ES_EXIT_USAGE, "no memory");
    }
    return choose_predicates(ret_file, names, name_count);
}

void esi_search_file_fini(struct esi_search_file *file)
{
    es_pattern_file_destroy(file->file);
    free(file->predicates);
    free(file->path);
    *file = (struct esi_search_file){.path = NULL};
}

/* --- Looking at it ---------------------------------------------------------------- */

static void list_one(const struct esi_search_file *file,
                     uint32_t number,
                     enum esi_format format)
{
    const struct esi_pattern_predicate *predicate =
        esi_pattern_predicate(file->file, number);
    struct esi_json_out out;

    if (format == ES_FORMAT_TEXT) {
        esi_plain_print(stdout, "%-24s %s:%" PRIu32 ":%" PRIu32 "%s\n", predicate->name,
                        file->path, predicate->place.line, predicate->place.column,
                        is_chosen(file, number) ? "" : "  (part of others)");
        return;
    }
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "predicate");
    esi_json_out_string(&out, "pattern", predicate->name);
    esi_json_out_string(&out, "file", file->path);
    esi_json_out_unsigned(&out, "line", predicate->place.line);
    esi_json_out_unsigned(&out, "column", predicate->place.column);
    esi_json_out_bool(&out, "searched", is_chosen(file, number));
    esi_json_out_end(&out);
}

void esi_search_file_list(const struct esi_search_file *file, enum esi_format format)
{
    for (uint32_t i = 0; i < es_pattern_predicates(file->file); i++)
        if (!esi_pattern_predicate(file->file, i)->is_folded)
            list_one(file, i, format);
}

int esi_search_file_check(const struct esi_search_file *file)
{
    for (uint32_t i = 0; i < es_pattern_predicates(file->file); i++) {
        struct es_error error = {.text = ""};
        struct esi_program *program;
        int result = esi_program_create(file->file, i, &program, &error);

        if (result < 0)
            return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                          "cannot search %s",
                                          esi_pattern_predicate(file->file, i)->name);
        esi_program_destroy(program);
    }
    return ES_EXIT_SUCCESS;
}
