/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Stage types are found, their properties are checked, and stages
 * account for their cost. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/stage.h"
#include "tests/suites.h"
#include "tests/text_file.h"

/* --- Properties --------------------------------------------------------------- */

static const char *const colours[] = {"red", "green", NULL};
static const struct es_property_schema schema[] = {
    {.name = "count",
     .type = ES_PROPERTY_INTEGER,
     .fallback = "3",
     .minimum = -5,
     .maximum = 100,
     .help = "a number"},
    {.name = "wanted",
     .type = ES_PROPERTY_BOOLEAN,
     .fallback = "no",
     .help = "a choice"},
    {.name = "window",
     .type = ES_PROPERTY_DURATION,
     .fallback = "10ms",
     .maximum = INT64_C(1000000000),
     .help = "a time"},
    {.name = "colour",
     .type = ES_PROPERTY_CHOICE,
     .fallback = "green",
     .choices = colours,
     .help = "a colour"},
    {.name = "where",
     .type = ES_PROPERTY_TEXT,
     .minimum = 1,
     .maximum = 8,
     .help = "a text"},
};
enum { ROWS = sizeof schema / sizeof *schema };

static int parse(const struct es_property *properties,
                 size_t count,
                 struct es_error *error,
                 struct es_property_value **ret_values)
{
    return es_property_values_parse("thing", schema, ROWS, properties, count, error,
                                    ret_values);
}

static void what_is_not_given_takes_its_default(void **state)
{
    struct es_property where = {
        .name = "where", .value = "here", .line = 2, .column = 9};
    struct es_property_value *values;

    (void)state;
    assert_int_equal(parse(&where, 1, NULL, &values), 0);
    assert_int_equal(values[0].integer, 3);
    assert_int_equal(values[1].integer, 0);
    assert_int_equal(values[2].integer, 10000000);
    assert_int_equal(values[3].integer, 1);
    assert_string_equal(values[4].text, "here");
    assert_int_equal(values[4].column, 9);
    es_property_values_free(values, ROWS);
}

static void wrong_properties_are_refused_where_they_stand(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *words;
    } cases[] = {
        {"count", "101", "from -5 to 100"},
        {"count", "three", "from -5 to 100"},
        {"count", "", "from -5 to 100"},
        {"wanted", "maybe", "yes or no"},
        {"window", "10", "ns, us, ms or s"},
        {"window", "2s", "from 0 to 1000000000"},
        {"colour", "blue", "one of red green"},
        {"where", "", "from 1 to 8"},
        {"where", "far too long", "from 1 to 8"},
        {"cuont", "1", "did you mean 'count'"},
        {"nothing-like-it", "1", "has no property"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_property properties[] = {
            {.name = cases[i].name,
             .value = cases[i].value,
             .source = "map.json",
             .line = 12,
             .column = 7},
            {.name = "where", .value = "here"},
        };
        bool twice = strcmp(cases[i].name, "where") == 0;
        struct es_error error = {.text = ""};
        struct es_property_value *values = NULL;

        assert_int_equal(parse(properties, twice ? 1 : 2, &error, &values), -EINVAL);
        assert_null(values);
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s=%s: %s", cases[i].name, cases[i].value, error.text);
        assert_string_equal(error.source, "map.json");
        assert_int_equal(error.line, 12);
        assert_int_equal(error.column, 7);
    }
}

static void a_needed_or_doubled_property_is_named(void **state)
{
    struct es_property twice[] = {{.name = "where", .value = "a"},
                                  {.name = "where", .value = "b"}};
    struct es_error error = {.text = ""};
    struct es_property_value *values;

    (void)state;
    assert_int_equal(parse(NULL, 0, &error, &values), -EINVAL);
    assert_non_null(strstr(error.text, "needs the property 'where'"));
    es_error_clear(&error);
    assert_int_equal(parse(twice, 2, &error, &values), -EINVAL);
    assert_non_null(strstr(error.text, "given twice"));
}

static void durations_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        int result;
        uint64_t ns;
    } cases[] = {
        {"0", 0, 0},
        {"7ns", 0, 7},
        {"7us", 0, 7000},
        {"1.5ms", 0, 1500000},
        {"2s", 0, UINT64_C(2000000000)},
        {"0.000000001s", 0, 1},
        {"1min", 0, UINT64_C(60000000000)},
        {"5", -EINVAL, 0},
        {"", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {"-1s", -EINVAL, 0},
        {"1..5s", -EINVAL, 0},
        {"2h", 0, UINT64_C(7200000000000)},
        {"1d", -EINVAL, 0},
        {"99999999999999999999ns", -ERANGE, 0},
        {"99999999999999s", -ERANGE, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 0;

        assert_int_equal(es_duration_parse(cases[i].text, &ns), cases[i].result);
        assert_int_equal(ns, cases[i].ns);
    }
}

/* --- Types ---------------------------------------------------------------------- */

/* A type as a user would write it.  It delivers as many tuples as its property says. */
static int open_counter(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    static int64_t left;

    (void)error;
    left = values[0].integer;
    stage->state = &left;
    return 0;
}

static int pull_counter(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    int64_t *left = stage->state;

    for (size_t given = 0; *left > 0 && given < pull->max; given++, --*left) {
        int result = es_batch_reserve(batch, 1);

        if (result < 0)
            return result;
        batch->tuples[batch->count] = (struct es_tuple){.stop = 1, .operation = 1};
        batch->marks[batch->count++] = (struct es_mark){0};
    }
    return *left < 0 ? -EIO : 0;
}

static const struct es_stage_ops counter = {
    .name = "counter",
    .help = "gives tuples",
    .properties = schema,
    .property_count = 1,
    .max_children = 0,
    .open = open_counter,
    .pull = pull_counter,
};

static struct es_stage *open_stage(const char *count,
                                   struct es_stage **children,
                                   size_t child_count)
{
    struct es_property property = {.name = "count", .value = count};
    struct es_stage_spec spec = {.type = count ? "counter" : "gather",
                                 .properties = &property,
                                 .property_count = count ? 1 : 0,
                                 .children = children,
                                 .child_count = child_count,
                                 .origin = ES_STAGE_NO_ORIGIN};
    struct es_stage *stage;

    assert_int_equal(es_stage_open(&spec, NULL, &stage), 0);
    return stage;
}

static void the_built_in_types_are_there(void **state)
{
    static const char *const names[] = {"collector", "element", "gather",  "reduce",
                                        "filter",    "sort",    "convert", "sample",
                                        "batch",     "buffer",  "threads", "observe"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ptr_equal(es_stage_at(i), es_stage_find(names[i]));
        assert_true(es_stage_at(i)->help[0] != '\0');
    }
    assert_null(es_stage_find("nothing"));
}

static void a_type_can_be_added_once(void **state)
{
    struct es_stage_ops nameless = {.name = ""};
    size_t count = 0;

    (void)state;
    while (es_stage_at(count))
        count++;
    assert_int_equal(es_stage_register(&counter), 0);
    assert_ptr_equal(es_stage_find("counter"), &counter);
    assert_int_equal(es_stage_register(&counter), -EEXIST);
    assert_int_equal(es_stage_register(&nameless), -EINVAL);
    assert_ptr_equal(es_stage_at(count), &counter);
    assert_null(es_stage_at(count + 1));
}

static void unknown_types_and_wrong_trees_are_refused_with_words(void **state)
{
    struct es_stage *child = open_stage("1", NULL, 0);
    struct es_stage *stage;
    struct es_error error = {.text = ""};
    struct es_stage_spec spec = {.type = "gater", .children = &child, .child_count = 1};

    (void)state;
    assert_int_equal(es_stage_open(&spec, &error, &stage), -ENOENT);
    assert_non_null(strstr(error.text, "did you mean 'gather'"));
    es_error_clear(&error);
    spec.type = "counter";
    assert_int_equal(es_stage_open(&spec, &error, &stage), -EINVAL);
    assert_non_null(strstr(error.text, "at most 0 children"));
    es_error_clear(&error);
    spec.type = "collector";
    assert_int_equal(es_stage_open(&spec, &error, &stage), -EINVAL);
    assert_non_null(strstr(error.text, "writing side"));
    es_error_clear(&error);
    spec.type = "element";
    spec.child_count = 0;
    assert_int_equal(es_stage_open(&spec, &error, &stage), -EINVAL);
    es_stage_close(child);
}

static void a_limit_is_kept_and_every_child_gets_its_turn(void **state)
{
    struct es_stage *gather;
    struct es_stage *child = open_stage("25", NULL, 0);
    struct es_pull pull = {.serial = 1, .max = 10};
    struct es_batch batch;

    (void)state;
    gather = open_stage(NULL, &child, 1);
    es_batch_init(&batch);
    assert_int_equal(es_stage_pull(gather, &pull, &batch), 0);
    assert_int_equal(batch.count, 10);
    pull.measure = true;
    pull.serial++;
    assert_int_equal(es_stage_pull(gather, &pull, &batch), 0);
    assert_int_equal(batch.count, 20);
    assert_int_equal(gather->cost.calls, 2);
    assert_int_equal(gather->cost.tuples, 20);
    assert_int_equal(gather->cost.measured_calls, 1);
    assert_true(es_stage_cost_time_ns(&gather->cost) >= gather->cost.measured_ns);
    es_batch_fini(&batch);
    es_stage_close(gather);
}

static void a_failed_pull_leaves_the_batch_as_it_was(void **state)
{
    struct es_stage *gather;
    struct es_stage *child = open_stage("-1", NULL, 0);
    struct es_pull pull = {.serial = 1, .max = 10};
    struct es_batch batch;

    (void)state;
    gather = open_stage(NULL, &child, 1);
    es_batch_init(&batch);
    assert_int_equal(es_batch_reserve(&batch, 1), 0);
    batch.count = 1;
    assert_int_equal(es_stage_pull(gather, &pull, &batch), -EIO);
    assert_int_equal(batch.count, 1);
    assert_int_equal(gather->cost.failures, 1);
    es_batch_fini(&batch);
    es_stage_close(gather);
}

/* --- The document ----------------------------------------------------------------- */

enum { COLUMNS = 6, PROPERTIES_COLUMN = 4 };

/* Checks an entry of the properties' column, "`NAME` words
 * (DEFAULT)", against the type. */
static void check_entry(const struct es_stage_ops *ops, const char *entry)
{
    char name[32] = "", expected[64];

    sscanf(entry, " `%31[^`]`", name);
    for (size_t i = 0; i < ops->property_count; i++) {
        const struct es_property_schema *property = &ops->properties[i];

        if (strcmp(property->name, name) != 0)
            continue;
        snprintf(expected, sizeof expected, "(%s)",
                 property->fallback ? property->fallback : "");
        if (property->fallback && *property->fallback && !strstr(entry, expected))
            fail_msg("%s: the document has '%s', and the default is %s", ops->name,
                     entry, property->fallback);
        return;
    }
    fail_msg("%s: the document has '%s', which is no property", ops->name, entry);
}

/* Checks a row of the table of types.  Returns false if the line is no such row. */
static bool check_row(char *line)
{
    char *columns[COLUMNS] = {NULL};
    char type[32] = "";
    const struct es_stage_ops *ops;
    size_t entries = 0;

    for (size_t i = 0; i < COLUMNS && line; i++)
        columns[i] = strsep(&line, "|");
    if (!columns[COLUMNS - 1] || sscanf(columns[1], " `%31[^`]`", type) != 1)
        return false;
    ops = es_stage_find(type);
    if (!ops || strncmp(columns[PROPERTIES_COLUMN], " see ", 5) == 0)
        return false;
    while (columns[PROPERTIES_COLUMN]) {
        check_entry(ops, strsep(&columns[PROPERTIES_COLUMN], ";"));
        entries++;
    }
    if (entries != ops->property_count)
        fail_msg("%s: the document has %zu of its %zu properties", type, entries,
                 ops->property_count);
    return true;
}

static void the_document_has_all_properties(void **state)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    size_t rows = 0;
    char *text;

    (void)state;
    snprintf(path, sizeof path, "%s/docs/scopes.md", top ? top : ".");
    text = text_file_read(path);
    assert_non_null(text);
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        rows += check_row(line) ? 1 : 0;
    assert_int_equal(rows, 12);
    free(text);
}

SUITE(test_stage)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_takes_its_default),
        cmocka_unit_test(wrong_properties_are_refused_where_they_stand),
        cmocka_unit_test(a_needed_or_doubled_property_is_named),
        cmocka_unit_test(durations_are_read_exactly),
        cmocka_unit_test(the_built_in_types_are_there),
        cmocka_unit_test(a_type_can_be_added_once),
        cmocka_unit_test(unknown_types_and_wrong_trees_are_refused_with_words),
        cmocka_unit_test(a_limit_is_kept_and_every_child_gets_its_turn),
        cmocka_unit_test(a_failed_pull_leaves_the_batch_as_it_was),
        cmocka_unit_test(the_document_has_all_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
