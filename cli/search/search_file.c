/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_file.c - the pattern file of a command, and the predicates to search. */
#include "config.h"

#include "cli/search/search_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rows.h"
#include "cli/launch/installed.h"
#include "monitors/causality/event_vocabulary.h"
#include "monitors/search/language/program.h"

/* --- Finding the file ------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

const char *esi_search_pattern_folder(void)
{
    static char *found; /* for the life of the command */
    const char *folder = getenv("EVENTSPACE_PATTERNS");

    if (folder && *folder)
        return folder;
    if (!found)
        found = esi_installed_find("share/patterns", ES_DATADIR, "patterns");
    return found ? found : ES_DATADIR "/patterns";
}

/* Searches the folder of installed patterns; NULL if not found or out of memory. */
static char *find_shipped(const char *name)
{
    static const char *const endings[] = {"", ".pattern"};
    char *path;

    for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (asprintf(&path, "%s/%s%s", esi_search_pattern_folder(), name, endings[i]) <
            0)
            return NULL;
        if (is_file(path))
            return path;
        free(path);
    }
    return NULL;
}

/* Whether it is a name without a slash, and not a file here. */
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
                                patterns, esi_search_pattern_folder());
    return esi_command_fail_error(ES_EXIT_USAGE, error, code,
                                  "cannot read the patterns");
}

/* --- Selecting predicates --------------------------------------------------------- */

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
        if (!esi_pattern_is_used(file->file, i))
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

static int reach_classes(struct esi_search_file *file)
{
    file->is_predicate_needed =
        calloc(es_pattern_predicates(file->file) + 1u, sizeof(bool));
    file->is_class_needed = calloc(esi_pattern_classes(file->file) + 1u, sizeof(bool));
    if (!file->is_predicate_needed || !file->is_class_needed)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    for (uint32_t i = 0; i < file->predicate_count; i++)
        esi_pattern_reach(file->file, file->predicates[i], file->is_predicate_needed,
                          file->is_class_needed);
    return ES_EXIT_SUCCESS;
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
        if (!is_chosen(file, number)) /* duplicates are searched once */
            file->predicates[file->predicate_count++] = number;
    }
    if (name_count == 0)
        choose_default(file);
    return reach_classes(file);
}

/* --- Reading ---------------------------------------------------------------------- */

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
    free(file->is_predicate_needed);
    free(file->is_class_needed);
    free(file->path);
    *file = (struct esi_search_file){.path = NULL};
}

/* --- Listing ---------------------------------------------------------------------- */

enum { MEANING = 256 }; /* bytes; longer text is truncated */

/* A predicate in a list. */
struct listed_predicate {
    const struct esi_search_file *file;
    const struct esi_pattern_predicate *is;
    bool is_searched; /* by default */
    bool all;         /* include helpers */
    char meaning[MEANING];
};

static void describe_predicate(struct esi_row *row, const void *record)
{
    const struct listed_predicate *listed = record;
    bool has_meaning = listed->meaning[0] != '\0';

    esi_row_text(row, "type", NULL, "predicate");
    esi_row_text(row, "pattern", "PATTERN", listed->is->name);
    esi_row_text(row, "file", NULL, listed->file->path);
    esi_row_unsigned(row, "line", NULL, listed->is->place.line);
    esi_row_unsigned(row, "column", NULL, listed->is->place.column);
    esi_row_bool(row, "searched", NULL, listed->is_searched);
    if (listed->all) {
        esi_row_words(row, "PLACE", 0, "%s:%" PRIu32 ":%" PRIu32, listed->file->path,
                      listed->is->place.line, listed->is->place.column);
        esi_row_words(row, "SEARCHED", 0, "%s", listed->is_searched ? "yes" : "no");
    }
    esi_row_prose(esi_row_if(row, has_meaning), "meaning", "MEANING", 24,
                  listed->meaning);
}

static void list_predicate(struct esi_rows *rows,
                           struct listed_predicate *listed,
                           uint32_t number)
{
    listed->is = esi_pattern_predicate(listed->file->file, number);
    listed->is_searched = is_chosen(listed->file, number);
    esi_pattern_comment(listed->file->file, number, listed->meaning, MEANING);
    if (!listed->is->is_folded && (listed->all || listed->is_searched))
        esi_rows_add(rows, listed);
}

int esi_search_file_list(const struct esi_search_file *file,
                         bool all,
                         enum esi_format format)
{
    struct listed_predicate listed = {
        .file = file, .is = esi_pattern_predicate(file->file, 0), .all = all};
    struct esi_rows rows;
    int result;

    esi_rows_init(&rows, esi_format_rows(format), stdout, describe_predicate);
    result = esi_rows_begin(&rows, &listed);
    for (uint32_t i = 0; result == 0 && i < es_pattern_predicates(file->file); i++)
        list_predicate(&rows, &listed, i);
    if (result == 0)
        result = esi_rows_finish(&rows);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, NULL, result,
                                               "cannot print the list")
                      : ES_EXIT_SUCCESS;
}

int esi_search_file_ask(const struct esi_search_file *file,
                        struct esi_vocabulary_check **ret_check)
{
    int result = esi_vocabulary_check_create(file->file, file->is_predicate_needed,
                                             file->is_class_needed,
                                             &esi_event_vocabulary, ret_check);

    return result < 0 ? esi_command_fail(ES_EXIT_USAGE, "no memory") : ES_EXIT_SUCCESS;
}

int esi_search_file_refuse(int result, const struct es_error *error)
{
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, error, result,
                                               "cannot search with the patterns")
                      : ES_EXIT_SUCCESS;
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
