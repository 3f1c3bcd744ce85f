/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tree rules: their long and short forms, which rule applies to an operation, and the
 * positions of errors. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/plan/tree_rules.h"

#define HEAD "eventspace-trees 1\n"

static void every_member_is_read(void **state)
{
    static const char text[] =
        HEAD "# a comment\n"
             "host n1 cluster=east%20wing gateway=gw1\r\n"
             "host n2\n"
             "\n"
             "tree first operations=barrier,iallreduce communicator=grid%25* "
             "bytes=8-4096 shape=kary fan-out=4 segment=0\n"
             "tree second levels=core,host,cluster shape=levels fan-out=0\n"
             "tree third edges=1-0,1-2 shape=explicit\n"
             "tree fourth shape=library operations=all bytes=0\n"
             "end\n";
    struct es_error error = {.text = ""};
    struct esi_tree_plan plan;
    const struct esi_tree_rule *rules;

    (void)state;
    assert_int_equal(esi_tree_plan_parse(text, "test", &error, &plan), 0);
    assert_int_equal(plan.host_count, 2);
    assert_string_equal(plan.hosts[0].cluster, "east wing");
    assert_string_equal(plan.hosts[0].gateway, "gw1");
    assert_string_equal(plan.hosts[1].cluster, "");
    assert_int_equal(plan.rules.count, 4);
    rules = plan.rules.rules;
    assert_string_equal(rules[0].name, "first");
    assert_int_equal(rules[0].operations,
                     1u << ES_TREE_BARRIER | ES_TREE_NONBLOCKING(ES_TREE_ALLREDUCE));
    assert_string_equal(rules[0].communicator, "grid%*");
    assert_int_equal(rules[0].min_bytes, 8);
    assert_int_equal(rules[0].max_bytes, 4096);
    assert_int_equal(rules[0].fan_out, 4);
    assert_int_equal(rules[0].segment_bytes, 0);
    assert_int_equal(rules[1].levels,
                     ES_TREE_LEVEL_CORE | ES_TREE_LEVEL_HOST | ES_TREE_LEVEL_CLUSTER);
    assert_int_equal(rules[1].fan_out, 0);
    assert_int_equal(rules[1].operations, ES_TREE_ALL_BLOCKING);
    assert_int_equal(rules[2].edge_count, 2);
    assert_int_equal(rules[2].edges[1].parent, 1);
    assert_int_equal(rules[2].edges[1].child, 2);
    assert_int_equal(rules[3].operations, ES_TREE_ALL);
    assert_int_equal(rules[3].max_bytes, 0);
    esi_tree_plan_fini(&plan);
    esi_tree_plan_fini(&plan);
}

static void a_text_of_one_line_is_read(void **state)
{
    static const char text[] =
        "eventspace-trees 1;# no comment; here\nhost n;tree a%3Bb shape=kary; end";
    struct esi_tree_plan plan;
    char *written;

    (void)state;
    assert_int_equal(esi_tree_plan_parse(text, "test", NULL, &plan), 0);
    assert_int_equal(plan.host_count, 1);
    assert_string_equal(plan.rules.rules[0].name, "a;b");
    assert_int_equal(esi_tree_plan_format(&plan, &written), 0);
    esi_tree_text_flatten(written);
    assert_string_equal(written,
                        "eventspace-trees 1;host n;tree a%3Bb shape=kary;end;");
    esi_tree_plan_fini(&plan);
    assert_int_equal(esi_tree_plan_parse(written, "test", NULL, &plan), 0);
    esi_tree_plan_fini(&plan);
    free(written);
}

static void faults_are_shown_where_they_are(void **state)
{
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } cases[] = {
        {"", 1, 1, "empty"},
        {"eventspace-plan 1\n", 1, 1, "eventspace-trees 1"},
        {"eventspace-trees 2\n", 1, 18, "version"},
        {HEAD, 1, 1, "end"},
        {HEAD "tree a shape=kary\n", 2, 1, "end"},
        {HEAD "tee a\nend\n", 2, 1, "tree, host or end"},
        {HEAD "tree\nend\n", 2, 5, "1 to 31 characters"},
        {HEAD "tree a%0 shape=kary\nend\n", 2, 6, "%XX"},
        {HEAD "tree a%00 shape=kary\nend\n", 2, 6, "%XX"},
        {HEAD "tree a\nend\n", 2, 7, "shape=VALUE"},
        {HEAD "tree a shape\nend\n", 2, 8, "KEY=VALUE"},
        {HEAD "tree a shape=tree\nend\n", 2, 14, "binomial"},
        {HEAD "tree a shape=kary shape=kary\nend\n", 2, 19, "only once"},
        {HEAD "tree a shape=kary fan=2\nend\n", 2, 19, "fan-out"},
        {HEAD "tree a shape=kary fan-out=1\nend\n", 2, 27, "2 to 1024"},
        {HEAD "tree a shape=kary fan-out=1025\nend\n", 2, 27, "2 to 1024"},
        {HEAD "tree a shape=levels fan-out=1\nend\n", 2, 29, "0 or a number"},
        {HEAD "tree a fan-out=2 shape=linear\nend\n", 2, 8, "kary and levels"},
        {HEAD "tree a shape=kary levels=host\nend\n", 2, 19, "shape levels"},
        {HEAD "tree a shape=levels levels=host,hst\nend\n", 2, 33, "socket"},
        {HEAD "tree a shape=levels levels=host,gateway\nend\n", 2, 28, "cluster"},
        {HEAD "tree a shape=kary edges=0-1\nend\n", 2, 19, "explicit"},
        {HEAD "tree a shape=explicit\nend\n", 2, 22, "edges="},
        {HEAD "tree a shape=explicit edges=\nend\n", 2, 29, "PARENT-CHILD"},
        {HEAD "tree a shape=explicit edges=0-1,2\nend\n", 2, 33, "PARENT-CHILD"},
        {HEAD "tree a shape=explicit edges=0-1,0-3\nend\n", 2, 33, "gap"},
        {HEAD "tree a shape=explicit edges=0-1,2-1\nend\n", 2, 33, "child once"},
        {HEAD "tree a shape=explicit edges=1-2,2-1,0-3\nend\n", 2, 29, "cycle"},
        {HEAD "tree a shape=explicit edges=0-0\nend\n", 2, 29, "cycle"},
        {HEAD "tree a shape=kary operations=sum\nend\n", 2, 30, "allgather"},
        {HEAD "tree a shape=kary operations=reduce,\nend\n", 2, 37, "allgather"},
        {HEAD "tree a shape=kary bytes=9-8\nend\n", 2, 27, "not below"},
        {HEAD "tree a shape=kary bytes=-8\nend\n", 2, 25, "FIRST-LAST"},
        {HEAD "tree a shape=kary bytes=99999999999999999999\nend\n", 2, 25, "FIRST"},
        {HEAD "tree a shape=kary segment=1k\nend\n", 2, 27, "number of bytes"},
        {HEAD "tree a shape=kary communicator=\nend\n", 2, 32, "1 to 63"},
        {HEAD "tree a shape=kary\ntree a shape=kary\nend\n", 3, 6, "another name"},
        {HEAD "tree a shape=kary\nhost n\nend\n", 3, 1, "before the first"},
        {HEAD "host n color=red\nend\n", 2, 8, "cluster, gateway"},
        {HEAD "host n cluster=a cluster=b\nend\n", 2, 18, "only once"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_tree_plan plan;

        assert_int_equal(esi_tree_plan_parse(cases[i].text, "test", &error, &plan),
                         -EINVAL);
        if (error.line != cases[i].line || error.column != cases[i].column ||
            !strstr(error.text, cases[i].says))
            fail_msg("%s: %d:%d: %s", cases[i].text, error.line, error.column,
                     error.text);
        assert_string_equal(error.source, "test");
    }
}

static void rules_in_short_are_read_and_written(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"library", "library"},
        {"linear", "linear"},
        {"kary", "kary:2"},
        {"kary:4", "kary:4"},
        {"kary:4/65536", "kary:4"},
        {"kary:4/1048576", "kary:4/1048576"},
        {"binomial/0", "binomial/0"},
        {"levels", "levels:host,cluster,gateway"},
        {"levels:cluster,host:4", "levels:host,cluster:4"},
        {"levels:core", "levels:core"},
        {"explicit:0-1,0-2/8", "explicit:0-1,0-2/8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_tree_rule rule;
        char text[64];

        assert_int_equal(esi_tree_rule_parse_short(cases[i].text, &error, &rule), 0);
        assert_string_equal(esi_tree_rule_format_short(&rule, text, sizeof text),
                            cases[i].written);
        assert_string_equal(rule.name, esi_tree_shape_name(rule.shape));
        assert_int_equal(rule.operations, ES_TREE_ALL_BLOCKING);
        esi_tree_rule_format_short(&rule, text, 5);
        assert_int_equal(strlen(text), 4);
        esi_tree_rule_fini(&rule);
    }
}

static void faults_in_short_rules_have_a_column(void **state)
{
    static const struct {
        const char *text;
        int column;
    } cases[] = {
        {"", 1},           {"tree", 1},     {"kary:", 6},    {"kary:1", 6},
        {"linear:2", 8},   {"levels:", 8},  {"levels:4", 8}, {"levels:host:1", 13},
        {"kary:2/", 8},    {"kary:2/x", 8}, {"explicit", 1}, {"explicit:0-1,0-1", 14},
        {"kary:2/4/5", 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_tree_rule rule;

        assert_int_equal(esi_tree_rule_parse_short(cases[i].text, &error, &rule),
                         -EINVAL);
        if (error.column != cases[i].column)
            fail_msg("%s: %d: %s", cases[i].text, error.column, error.text);
    }
}

/* --- Round trips ------------------------------------------------------------------ */

static void random_text(uint64_t *random, char *out, size_t size)
{
    size_t length = 1 + random_next(random) % (size - 1);

    for (size_t i = 0; i < length; i++)
        out[i] = (char)(1 + random_next(random) % 255);
    out[length] = '\0';
}

/* Makes a random tree over `count` + 1 ranks, whose numbers are rotated. */
static void random_edges(uint64_t *random, struct esi_tree_rule *rule)
{
    size_t count = 1 + random_next(random) % 40;
    int turn = (int)(random_next(random) % (count + 1));

    rule->edges = calloc(count, sizeof *rule->edges);
    rule->edge_count = count;
    for (size_t i = 0; i < count; i++)
        rule->edges[i] = (struct esi_tree_edge){
            .parent =
                (int)((random_next(random) % (i + 1) + (size_t)turn) % (count + 1)),
            .child = (int)((i + 1 + (size_t)turn) % (count + 1))};
}

static void random_rule(uint64_t *random,
                        unsigned int number,
                        struct esi_tree_rule *rule)
{
    static const uint64_t ends[] = {0, 1, 4096, UINT64_MAX - 1, UINT64_MAX};

    assert_int_equal(esi_tree_rule_parse_short("library", NULL, rule), 0);
    rule->shape = (enum esi_tree_shape)(random_next(random) % 6);
    rule->fan_out = rule->shape == ES_TREE_LEVELS ? 0 : 2;
    random_text(random, rule->name, sizeof rule->name - 4);
    snprintf(rule->name + strlen(rule->name), 5, "%u", number);
    random_text(random, rule->communicator, sizeof rule->communicator);
    rule->operations = 1 + (uint32_t)(random_next(random) % ES_TREE_ALL);
    rule->min_bytes = ends[random_next(random) % 4];
    rule->max_bytes = ends[random_next(random) % 5];
    if (rule->max_bytes < rule->min_bytes)
        rule->max_bytes = rule->min_bytes;
    rule->segment_bytes = ends[random_next(random) % 5];
    if (rule->shape == ES_TREE_KARY || rule->shape == ES_TREE_LEVELS)
        rule->fan_out = 2 + (int)(random_next(random) % 1023);
    if (rule->shape == ES_TREE_LEVELS)
        rule->levels = 1 + (uint32_t)(random_next(random) % 15);
    if (rule->shape == ES_TREE_EXPLICIT)
        random_edges(random, rule);
}

static void assert_alike(const struct esi_tree_rule *a, const struct esi_tree_rule *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->communicator, b->communicator);
    assert_int_equal(a->operations, b->operations);
    assert_int_equal(a->min_bytes, b->min_bytes);
    assert_int_equal(a->max_bytes, b->max_bytes);
    assert_int_equal(a->shape, b->shape);
    assert_int_equal(a->fan_out, b->fan_out);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->segment_bytes, b->segment_bytes);
    assert_int_equal(a->edge_count, b->edge_count);
    if (a->edge_count > 0)
        assert_memory_equal(a->edges, b->edges, a->edge_count * sizeof *a->edges);
}

static void what_is_written_is_read_again(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (int round = 0; round < 500; round++) {
        struct es_error error = {.text = ""};
        struct esi_tree_plan plan = {.host_count = random_next(&random) % 3};
        struct esi_tree_plan again;
        char *text;

        plan.hosts = calloc(plan.host_count + 1, sizeof *plan.hosts);
        for (size_t i = 0; i < plan.host_count; i++) {
            random_text(&random, plan.hosts[i].name, sizeof plan.hosts[i].name);
            random_text(&random, plan.hosts[i].gateway, sizeof plan.hosts[i].gateway);
        }
        plan.rules.count = random_next(&random) % 5;
        plan.rules.rules = calloc(plan.rules.count + 1, sizeof *plan.rules.rules);
        for (unsigned int i = 0; i < plan.rules.count; i++)
            random_rule(&random, i, &plan.rules.rules[i]);
        assert_int_equal(esi_tree_plan_format(&plan, &text), 0);
        if (esi_tree_plan_parse(text, "again", &error, &again) != 0)
            fail_msg("%d:%d: %s\n%s", error.line, error.column, error.text, text);
        assert_int_equal(again.host_count, plan.host_count);
        assert_int_equal(again.rules.count, plan.rules.count);
        for (size_t i = 0; i < plan.host_count; i++)
            assert_memory_equal(&plan.hosts[i], &again.hosts[i], sizeof plan.hosts[i]);
        for (size_t i = 0; i < plan.rules.count; i++)
            assert_alike(&plan.rules.rules[i], &again.rules.rules[i]);
        esi_tree_plan_fini(&plan);
        esi_tree_plan_fini(&again);
        free(text);
    }
}

/* --- Looking up ------------------------------------------------------------------- */

static void the_first_rule_that_fits_decides(void **state)
{
    static const char text[] =
        HEAD "tree small operations=allreduce,iallreduce bytes=0-64 shape=linear\n"
             "tree grid communicator=grid* shape=kary\n"
             "tree big operations=allreduce bytes=4096- shape=binomial\n"
             "end\n";
    static const struct {
        uint32_t operation;
        const char *communicator;
        uint64_t bytes;
        const char *rule;
    } cases[] = {
        {1u << ES_TREE_ALLREDUCE, "grid 1", 64, "small"},
        {1u << ES_TREE_ALLREDUCE, "grid 1", 65, "grid"},
        {1u << ES_TREE_ALLREDUCE, "", 65, NULL},
        {1u << ES_TREE_ALLREDUCE, "", 4096, "big"},
        {1u << ES_TREE_ALLREDUCE, "", UINT64_MAX, "big"},
        {1u << ES_TREE_BARRIER, "grid", 0, "grid"},
        {1u << ES_TREE_BARRIER, "world", 0, NULL},
        {ES_TREE_NONBLOCKING(ES_TREE_ALLREDUCE), "world", 0, "small"},
        {ES_TREE_NONBLOCKING(ES_TREE_BARRIER), "grid", 0, NULL},
    };
    struct esi_tree_plan plan;

    (void)state;
    assert_int_equal(esi_tree_plan_parse(text, "test", NULL, &plan), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct esi_tree_rule *rule = esi_tree_rules_find(
            &plan.rules, cases[i].operation, cases[i].communicator, cases[i].bytes);

        if (!cases[i].rule)
            assert_null(rule);
        else
            assert_string_equal(rule->name, cases[i].rule);
    }
    esi_tree_plan_fini(&plan);
}

static void operations_have_names_and_codes(void **state)
{
    const struct esi_field *operations =
        esi_fields_find(&esi_tree_rule_fields, "operations");
    const struct esi_field *levels = esi_fields_find(&esi_tree_rule_fields, "levels");

    (void)state;
    for (int bit = 0; 1u << bit <= ES_TREE_ALL; bit++)
        assert_int_equal(
            esi_field_choice(operations,
                             esi_text_span_of(esi_tree_operation_name(1u << bit))),
            bit);
    assert_string_equal(esi_tree_operation_name(3), "?");
    assert_string_equal(esi_tree_operation_name(0), "?");
    assert_int_equal(esi_field_choice(operations, esi_text_span_of("scan")), -1);
    assert_int_equal(esi_tree_operation_of_code(ES_OP_MPI_Bcast_c),
                     1u << ES_TREE_BCAST);
    assert_int_equal(esi_tree_operation_of_code(ES_OP_MPI_Iallreduce),
                     ES_TREE_NONBLOCKING(ES_TREE_ALLREDUCE));
    assert_int_equal(esi_tree_operation_of_code(ES_OP_MPI_Ireduce_c),
                     ES_TREE_NONBLOCKING(ES_TREE_REDUCE));
    assert_int_equal(esi_tree_operation_of_code(ES_OP_MPI_Gatherv), 0);
    assert_int_equal(esi_tree_operation_of_code(0), 0);
    assert_int_equal(1u << esi_field_choice(levels, esi_text_span_of("gateway")),
                     ES_TREE_LEVEL_GATEWAY);
    assert_int_equal(esi_field_choice(levels, esi_text_span_of("?")), -1);
}

static void operations_are_named_as_people_write_them(void **state)
{
    struct esi_tree_rule rule = {.operations = 0};
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(esi_tree_rule_parse_operations("MPI_Allreduce,Ibcast,mpi_GATHER",
                                                    &error, &rule),
                     0);
    assert_int_equal(rule.operations, 1u << ES_TREE_ALLREDUCE |
                                          ES_TREE_NONBLOCKING(ES_TREE_BCAST) |
                                          1u << ES_TREE_GATHER);
    assert_int_equal(esi_tree_rule_parse_operations("MPI_Scan", &error, &rule),
                     -EINVAL);
    es_error_clear(&error);
}

SUITE(test_tree_rules)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_read),
        cmocka_unit_test(a_text_of_one_line_is_read),
        cmocka_unit_test(faults_are_shown_where_they_are),
        cmocka_unit_test(rules_in_short_are_read_and_written),
        cmocka_unit_test(faults_in_short_rules_have_a_column),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(the_first_rule_that_fits_decides),
        cmocka_unit_test(operations_have_names_and_codes),
        cmocka_unit_test(operations_are_named_as_people_write_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
