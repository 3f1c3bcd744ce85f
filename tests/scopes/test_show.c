/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Gather trees are shown correctly in each format, and each format is valid. */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scopes/show.h"
#include "tests/suites.h"

/* A scope over one local and one remote host; the remote one has six elements. */
static const struct esi_stage_row rows[] = {
    {0, "gather", "scope", "near", 10, 70, 0, 0, 0, 0, 4000, 3000, false},
    {1, "gather", "host near", "", 10, 10, 0, 0, 0, 0, 1000, 1000, false},
    {2, "element", "0.0/x", "", 10, 10, 0, 0, 3, 0, 0, 0, false},
    {1, "remote", "host far", NULL, 10, 60, 1, 2160, 0, 0, 2500, 500, true},
    {2, "gather", "host far", "far", 10, 60, 0, 0, 0, 0, 600, 600, false},
    {3, "element", "1.0/a", NULL, 10, 10, 0, 0, 1, 0, 10, 10, false},
    {3, "element", "1.0/b", NULL, 10, 10, 0, 0, 0, 0, 10, 10, false},
    {3, "element", "1.0/c", NULL, 10, 10, 0, 0, 0, 0, 10, 10, false},
    {3, "element", "1.0/d", NULL, 10, 10, 0, 0, 1, 0, 10, 10, false},
    {3, "element", "1.0/e", NULL, 10, 10, 0, 0, 0, 0, 10, 10, false},
    {3, "element", "1.0/f", NULL, 10, 10, 0, 0, 0, 0, 10, 10, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The output of a format.  Caller frees. */
static char *shown(const char *format,
                   const struct esi_stage_row *list,
                   size_t count,
                   const struct esi_show_options *options)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_true(esi_show_has_format(format));
    assert_non_null(out);
    assert_int_equal(esi_show_print(format, out, list, count, options), 0);
    fclose(out);
    return text;
}

static void assert_shown(const char *format,
                         const struct esi_show_options *options,
                         const char *expected)
{
    char *text = shown(format, rows, ROWS, options);

    assert_string_equal(text, expected);
    free(text);
}

static void the_table_draws_the_tree_and_folds_elements(void **state)
{
    struct esi_show_options options = {.ascii = true};

    (void)state;
    assert_shown(
        "table", &options,
        "STAGE                PART       HOST  CALLS  TUPLES     BYTES     TIME  PE"
        "R CALL  OWN CPU  SHARE  LOST  FAILED  STATE\n"
        "gather               scope      near     10      70            4.00 us    "
        "400 ns  1.50 us   42 %     0       0  \n"
        "|- gather            host near  near     10      10            1.00 us    "
        "100 ns  1.00 us   28 %     0       0  \n"
        "|  `- element        0.0/x      near     10      10                       "
        "                   0 %     3       0  \n"
        "`- remote            host far   near     10      60  2.11 KiB  2.50 us    "
        "250 ns   500 ns   14 %     0       1  does not answer\n"
        "   `- gather         host far   far      10      60             600 ns    "
        " 60 ns   540 ns   15 %     0       0  \n"
        "      `- 6 elements             far      10      60              60 ns    "
        "  6 ns    60 ns    2 %     2       0  \n");
}

static void all_elements_are_shown_on_demand(void **state)
{
    struct esi_show_options options = {.ascii = true, .all = true};
    struct esi_show_options wide = {.ascii = true, .fold = 6};
    char *all = shown("table", rows, ROWS, &options);
    char *six = shown("table", rows, ROWS, &wide);

    (void)state;
    assert_non_null(strstr(all, "      |- element"));
    assert_non_null(strstr(all, "      `- element"));
    assert_null(strstr(all, "6 elements"));
    assert_string_equal(all, six);
    free(all);
    free(six);
}

static void columns_without_contents_are_left_out(void **state)
{
    static const struct esi_stage_row bare[] = {
        {.type = "gather", .label = "host a", .calls = 2},
        {.depth = 1, .type = "element", .label = "0.0/x", .calls = 2, .tuples = 1},
    };
    struct esi_show_options options = {.ascii = true};
    char *text = shown("table", bare, 2, &options);

    (void)state;
    assert_string_equal(text, "STAGE       PART    CALLS  TUPLES\n"
                              "gather      host a      2       0\n"
                              "`- element  0.0/x       2       1\n");
    free(text);
}

static void json_lines_name_their_parents(void **state)
{
    (void)state;
    assert_shown(
        "json", NULL,
        "{\"type\":\"stage\","
        "\"stage\":0,\"parent\":null,\"depth\":0,\"kind\":\"gather\","
        "\"label\":\"scope\",\"host\":\"near\",\"calls\":10,\"tuples\":70,\"bytes\":0,"
        "\"lost\":0,\"late\":0,\"failures\":0,\"time_ns\":4000,\"own_time_ns\":500,"
        "\"cpu_ns\":3000,\"own_cpu_ns\":1500,\"silent\":false}\n"
        "{\"type\":\"stage\","
        "\"stage\":1,\"parent\":0,\"depth\":1,\"kind\":\"gather\",\"label\":\"host "
        "near\",\"host\":\"near\",\"calls\":10,\"tuples\":10,\"bytes\":0,\"lost\":0,"
        "\"late\":0,\"failures\":0,\"time_ns\":1000,\"own_time_ns\":1000,"
        "\"cpu_ns\":1000,\"own_cpu_ns\":1000,\"silent\":false}\n"
        "{\"type\":\"stage\","
        "\"stage\":2,\"parent\":1,\"depth\":2,\"kind\":\"element\","
        "\"label\":\"0.0/x\",\"host\":\"near\",\"calls\":10,\"tuples\":10,\"bytes\":0,"
        "\"lost\":3,\"late\":0,\"failures\":0,\"time_ns\":0,\"own_time_ns\":0,"
        "\"cpu_ns\":0,\"own_cpu_ns\":0,\"silent\":false}\n"
        "{\"type\":\"stage\","
        "\"stage\":3,\"parent\":0,\"depth\":1,\"kind\":\"remote\",\"label\":\"host "
        "far\",\"host\":\"near\",\"calls\":10,\"tuples\":60,\"bytes\":2160,\"lost\":0,"
        "\"late\":0,\"failures\":1,\"time_ns\":2500,\"own_time_ns\":1900,"
        "\"cpu_ns\":500,\"own_cpu_ns\":500,\"silent\":true}\n"
        "{\"type\":\"stage\","
        "\"stage\":4,\"parent\":3,\"depth\":2,\"kind\":\"gather\",\"label\":\"host "
        "far\",\"host\":\"far\",\"calls\":10,\"tuples\":60,\"bytes\":0,\"lost\":0,"
        "\"late\":0,\"failures\":0,\"time_ns\":600,\"own_time_ns\":540,\"cpu_ns\":600,"
        "\"own_cpu_ns\":540,\"silent\":false}\n"
        "{\"type\":\"stage\","
        "\"stage\":5,\"parent\":4,\"depth\":3,\"kind\":\"elements\",\"elements\":6,"
        "\"host\":\"far\",\"calls\":10,\"tuples\":60,\"bytes\":0,\"lost\":2,\"late\":0,"
        "\"failures\":0,\"time_ns\":60,\"own_time_ns\":60,\"cpu_ns\":60,"
        "\"own_cpu_ns\":60,\"silent\":false}\n");
}

static void dot_is_as_graphviz_wants_it(void **state)
{
    (void)state;
    assert_shown(
        "dot", NULL,
        "/* Edges: what one pull carries upward. */\n"
        "digraph scope {\n"
        "    rankdir=LR;\n"
        "    node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
        "    edge [dir=back, fontname=\"sans-serif\", fontsize=9];\n"
        "    n0 [label=\"gather\\nscope\\non near\\n400 ns a call\\n42 % of CPU\", "
        "fillcolor=\"0.08 0.417 1.000\"];\n"
        "    n1 [label=\"gather\\nhost near\\non near\\n100 ns a call\\n28 % of CPU\", "
        "fillcolor=\"0.08 0.278 1.000\"];\n"
        "    n2 [label=\"element\\n0.0/x\\non near\", "
        "fillcolor=\"0.08 0.000 1.000\"];\n"
        "    n3 [label=\"remote\\nhost far\\non near\\n250 ns a call\\n14 % of CPU\", "
        "fillcolor=\"0.08 0.139 1.000\", color=red, style=\"filled,dashed\"];\n"
        "    n4 [label=\"gather\\nhost far\\non far\\n60 ns a call\\n15 % of CPU\", "
        "fillcolor=\"0.08 0.150 1.000\"];\n"
        "    n5 [label=\"6 elements\\non far\\n6 ns a call\\n2 % of CPU\", "
        "fillcolor=\"0.08 0.017 1.000\"];\n"
        "    n0 -> n1 [label=\"1 tuple\"];\n"
        "    n1 -> n2 [label=\"1 tuple\"];\n"
        "    n0 -> n3 [label=\"6 tuples\\n216 B\"];\n"
        "    n3 -> n4 [label=\"6 tuples\"];\n"
        "    n4 -> n5 [label=\"6 tuples\"];\n"
        "}\n");
}

/* --- Rules of the formats ------------------------------------------------------- */

/* Texts with characters that are special in a format, and with invalid UTF-8. */
static const struct esi_stage_row odd_rows[] = {
    {.type = "gather", .label = "a \"b\" <c> & 'd' \\ \n ]]>", .host = "<&\">"},
    {.depth = 1,
     .type = "filter",
     .label = "\xff\xc0\x80 \xed\xa0\x80 \xef\xbf\xbf \xe2\x82"},
    {.depth = 2,
     .type = "element",
     .label = "a very long label of a stage, with \xc3\xa4\xc3\xb6\xc3\xbc in it, that "
              "is cut"},
};

/* Passes `text` to a command, if it is installed.  Returns whether
 * the command accepts it. */
static bool is_accepted(const char *program, const char *arguments, const char *text)
{
    char command[256];
    FILE *pipe;

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) != 0) {
        print_message("# no %s here\n", program);
        return true;
    }
    snprintf(command, sizeof command, "timeout 60 %s %s >/dev/null", program,
             arguments);
    pipe = popen(command, "w");
    assert_non_null(pipe);
    fputs(text, pipe);
    return pclose(pipe) == 0;
}

static void assert_accepted(const struct esi_stage_row *list, size_t count)
{
    char *svg = shown("svg", list, count, NULL);
    char *dot = shown("dot", list, count, NULL);
    char *json = shown("json", list, count, NULL);

    assert_true(is_accepted("xmllint", "--noout -", svg));
    assert_true(is_accepted("python3",
                            "-c 'import sys, xml.dom.minidom as m; "
                            "m.parse(sys.stdin.buffer)'",
                            svg));
    assert_true(is_accepted("dot", "-Tsvg", dot));
    assert_true(is_accepted("python3",
                            "-c 'import sys, json; "
                            "[json.loads(l) for l in sys.stdin.buffer]'",
                            json));
    free(svg);
    free(dot);
    free(json);
}

static void other_programs_read_what_is_written(void **state)
{
    (void)state;
    assert_accepted(rows, ROWS);
    assert_accepted(odd_rows, sizeof odd_rows / sizeof *odd_rows);
    assert_accepted(rows, 0);
    assert_accepted(rows, 1);
}

static void the_picture_holds_every_stage(void **state)
{
    struct esi_show_options options = {.all = true};
    char *text = shown("svg", rows, ROWS, &options);
    size_t boxes = 0, edges = 0;

    (void)state;
    for (const char *at = text; (at = strstr(at, "<g>")); at++)
        boxes++;
    for (const char *at = text; (at = strstr(at, "class=\"edge\"")); at++)
        edges++;
    assert_int_equal(boxes, ROWS);
    assert_int_equal(edges, ROWS - 1);
    assert_non_null(strstr(text, "class=\"silent\""));
    free(text);
}

static void depths_that_make_no_tree_are_refused(void **state)
{
    static const struct esi_stage_row wrong[][2] = {
        {{.depth = 1, .type = "x"}, {.depth = 2, .type = "x"}},
        {{.depth = 0, .type = "x"}, {.depth = 2, .type = "x"}},
        {{.depth = 0, .type = "x"}, {.depth = 0, .type = "x"}},
        {{.depth = 0, .type = "x"}, {.depth = -1, .type = "x"}},
    };
    static const char *const formats[] = {"table", "json", "dot", "svg"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            assert_int_equal(esi_show_print(formats[j], stdout, wrong[i], 2, NULL),
                             -EINVAL);
    assert_false(esi_show_has_format("gif"));
    assert_int_equal(esi_show_print("gif", stdout, rows, ROWS, NULL), -EINVAL);
}

static void what_does_not_arrive_is_reported(void **state)
{
    static const char *const formats[] = {"table", "json", "dot", "svg"};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        FILE *full = fopen("/dev/full", "w");

        assert_non_null(full);
        assert_int_equal(esi_show_print(formats[i], full, rows, ROWS, NULL), -EIO);
        fclose(full);
    }
}

static void large_trees_are_shown(void **state)
{
    enum { HOSTS = 500, ELEMENTS = 200 };
    size_t count = 0;
    struct esi_stage_row *many = calloc(1 + HOSTS * (1 + ELEMENTS), sizeof *many);
    char *text;

    (void)state;
    assert_non_null(many);
    many[count++] = (struct esi_stage_row){.type = "gather", .label = "scope"};
    for (int i = 0; i < HOSTS; i++) {
        many[count++] =
            (struct esi_stage_row){.depth = 1, .type = "gather", .label = "host"};
        for (int j = 0; j < ELEMENTS; j++)
            many[count++] = (struct esi_stage_row){
                .depth = 2, .type = "element", .label = "x", .tuples = 1};
    }
    text = shown("json", many, count, NULL);
    count = 0;
    for (const char *at = text; (at = strstr(at, "\"elements\":200")); at++)
        count++;
    assert_int_equal(count, HOSTS);
    free(text);
    free(many);
}

SUITE(test_show)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_draws_the_tree_and_folds_elements),
        cmocka_unit_test(all_elements_are_shown_on_demand),
        cmocka_unit_test(columns_without_contents_are_left_out),
        cmocka_unit_test(json_lines_name_their_parents),
        cmocka_unit_test(dot_is_as_graphviz_wants_it),
        cmocka_unit_test(other_programs_read_what_is_written),
        cmocka_unit_test(the_picture_holds_every_stage),
        cmocka_unit_test(depths_that_make_no_tree_are_refused),
        cmocka_unit_test(what_does_not_arrive_is_reported),
        cmocka_unit_test(large_trees_are_shown),
    };

    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
