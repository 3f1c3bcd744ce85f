/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs every case folder of tests/data/pathmap.
 *
 *   input      a pathmap; or instead
 *   request    "ranks=4" lines for the generator, with hostfile if it is used
 *   error      the error message; or instead
 *   expected   the formatted map,
 *   plan       its collection plan,
 *   trees      the rules of collective trees, if the map has any,
 *   expanded   the map with every path (maps without hosts have none)
 *
 * UPDATE_GOLDEN=1 writes the last five; review the changes.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/pathmap.h"
#include "tests/suites.h"
#include "tests/text_file.h"

enum { MOST_CASES = 512 };

static char data_folder[1024];

/* --- Files of a case -------------------------------------------------------------- */

static const char *case_path(const char *name, const char *file)
{
    static char path[2048];

    snprintf(path, sizeof(path), "%s/%s/%s", data_folder, name, file);
    return path;
}

/* --- Making the map --------------------------------------------------------------- */

/* Removes the folder from the file name in an error. */
static void strip_folder(struct es_error *error)
{
    const char *slash = strrchr(error->source, '/');

    if (slash != NULL)
        memmove(error->source, slash + 1, strlen(slash));
}

static int number_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    assert_true(end != text && *end == '\0');
    return (int)number;
}

static int generate(const char *name,
                    char *request_text,
                    struct es_error *error,
                    struct esi_pathmap **ret_map)
{
    struct esi_pathmap_request request = {0};
    char hostfile[2048];
    char *rest = NULL;

    snprintf(hostfile, sizeof(hostfile), "%s", case_path(name, "hostfile"));
    if (access(hostfile, R_OK) == 0)
        request.hostfile = hostfile;
    for (char *line = strtok_r(request_text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');
        assert_non_null(value);
        *value++ = '\0';
        if (strcmp(line, "ranks") == 0)
            request.ranks = number_of(value);
        else if (strcmp(line, "threads") == 0)
            request.threads = number_of(value);
        else if (strcmp(line, "threshold") == 0)
            request.threshold = (uint32_t)number_of(value);
        else if (strcmp(line, "local") == 0)
            request.local_name = value;
        else if (strcmp(line, "synthetic") == 0)
            request.synthetic = value;
        else
            fail_msg("%s: request says \"%s\"", name, line);
    }
    return esi_pathmap_generate(&request, error, ret_map);
}

static int make_map(const char *name,
                    struct es_error *error,
                    struct esi_pathmap **ret_map)
{
    char *request = text_file_read(case_path(name, "request"));
    int code;

    if (request != NULL)
        code = generate(name, request, error, ret_map);
    else
        code = esi_pathmap_load(case_path(name, "input"), error, ret_map);
    free(request);
    strip_folder(error);
    return code;
}

/* --- Checks ----------------------------------------------------------------------- */

static char *format_map(const struct esi_pathmap *map)
{
    char *text;

    assert_int_equal(esi_pathmap_format(map, &text), 0);
    return text;
}

static char *format_plan(const struct esi_pathmap *map)
{
    struct es_plan plan;
    char *text;

    assert_int_equal(esi_pathmap_plan(map, NULL, NULL, &plan), 0);
    assert_int_equal(esi_plan_format(&plan, &text), 0);
    esi_plan_fini(&plan);
    return text;
}

static char *format_trees(const struct esi_pathmap *map)
{
    struct esi_tree_plan again;
    char *text;

    assert_int_equal(esi_pathmap_tree_text(map, NULL, NULL, &text), 0);
    assert_int_equal(esi_tree_plan_parse(text, "again", NULL, &again), 0);
    esi_tree_plan_fini(&again);
    return text;
}

/* The formatted map is valid input and has the same meaning. */
static void check_round_trip(const char *text)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *again;

    if (esi_pathmap_parse(text, strlen(text), "again", &error, &again) < 0)
        fail_msg("formatted map refused at %d:%d: %s", error.line, error.column,
                 error.text);
    char *twice = format_map(again);
    assert_string_equal(twice, text);
    free(twice);
    esi_pathmap_destroy(again);
}

static void check_expanded(const char *name, struct esi_pathmap *map, const char *plan)
{
    assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    char *text = format_map(map), *expanded_plan = format_plan(map);
    assert_string_equal(expanded_plan, plan);
    check_round_trip(text);
    text_file_compare(case_path(name, "expanded"), text);
    assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    char *twice = format_map(map);
    assert_string_equal(twice, text);
    free(twice);
    free(expanded_plan);
    free(text);
}

static void check_map(const char *name, struct esi_pathmap *map)
{
    char *text = format_map(map), *plan = format_plan(map);

    text_file_compare(case_path(name, "expected"), text);
    check_round_trip(text);
    text_file_compare(case_path(name, "plan"), plan);
    if (esi_pathmap_has_collectives(map)) {
        char *trees = format_trees(map);
        text_file_compare(case_path(name, "trees"), trees);
        free(trees);
    }
    if (esi_pathmap_host_count(map) > 0)
        check_expanded(name, map, plan);
    free(plan);
    free(text);
}

static void check_error(const char *name, int code, const struct es_error *error)
{
    char line[1024];

    assert_true(code < 0);
    assert_string_not_equal(error->text, "");
    char text[1025];
    snprintf(text, sizeof(text), "%s\n", es_error_format(error, line, sizeof(line)));
    text_file_compare(case_path(name, "error"), text);
}

static void map_is_as_expected(void **state)
{
    const char *name = *state;
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;
    int code = make_map(name, &error, &map);
    bool wants_error = strstr(name, "error_") != NULL;

    if (wants_error) {
        check_error(name, code, &error);
        return;
    }
    if (code < 0)
        fail_msg("%s:%d:%d: %s", name, error.line, error.column, error.text);
    check_map(name, map);
    esi_pathmap_destroy(map);
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

SUITE(test_golden)
{
    static struct CMUnitTest tests[MOST_CASES];
    const char *top = getenv("top_srcdir");
    struct dirent **entries;

    snprintf(data_folder, sizeof(data_folder), "%s/tests/data/pathmap",
             top ? top : ".");
    int count = scandir(data_folder, &entries, is_case, alphasort);
    if (count <= 0 || count > MOST_CASES) {
        printf("Bail out! %s: %s\n", data_folder,
               count < 0 ? strerror(errno) : "no cases");
        return 1;
    }
    for (int i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = entries[i]->d_name,
                                       .test_func = map_is_as_expected,
                                       .initial_state = entries[i]->d_name};
    int failed = _cmocka_run_group_tests("pathmap", tests, (size_t)count, NULL, NULL);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return failed;
}
