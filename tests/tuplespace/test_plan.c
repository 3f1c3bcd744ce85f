/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Collection plans: their syntax, reading and writing them, and the
 * positions of errors. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/suites.h"
#include "tuplespace/plan/plan.h"

#define HEAD "eventspace-plan 1\n"

static void the_default_plan_takes_every_class_once(void **state)
{
    struct es_plan plan;
    uint32_t classes = 0;

    (void)state;
    assert_int_equal(esi_plan_default(&plan), 0);
    assert_int_equal(plan.count, 4);
    for (size_t i = 0; i < plan.count; i++) {
        assert_int_equal(classes & plan.collectors[i].classes, 0);
        classes |= plan.collectors[i].classes;
        assert_int_equal(plan.collectors[i].threshold, ES_PLAN_THRESHOLD);
        assert_true(plan.collectors[i].enabled);
        assert_int_equal(plan.collectors[i].on_full, ES_ON_FULL_DISCARD);
        assert_true(esi_collector_plan_has_rank(&plan.collectors[i], 12345));
    }
    assert_int_equal(classes, ES_CLASSES_ALL);
    assert_string_equal(plan.collectors[0].name, "point-to-point");
    assert_int_equal(esi_plan_add_trees(&plan), 0);
    assert_int_equal(plan.count, 7);
    assert_string_equal(plan.collectors[4].name, "contribute");
    assert_int_equal(plan.collectors[6].classes, 1u << ES_CLASS_DEPARTURE);
    esi_plan_fini(&plan);
    assert_int_equal(plan.count, 0);
}

static void what_blocks_can_await_its_readers(void **state)
{
    static const char text[] = HEAD "collector a classes=send full=block\n"
                                    "collector b classes=other full=discard\n"
                                    "end\n";
    struct es_plan plan;
    char *formatted;

    (void)state;
    assert_int_equal(esi_plan_parse(text, "test", NULL, &plan), 0);
    assert_int_equal(plan.collectors[0].on_full, ES_ON_FULL_BLOCK);
    esi_plan_await_readers(&plan);
    assert_int_equal(esi_plan_format(&plan, &formatted), 0);
    esi_plan_fini(&plan);
    assert_non_null(strstr(formatted, "full=await"));
    assert_int_equal(esi_plan_parse(formatted, "test", NULL, &plan), 0);
    free(formatted);
    assert_int_equal(plan.collectors[0].on_full, ES_ON_FULL_AWAIT);
    assert_int_equal(plan.collectors[1].on_full, ES_ON_FULL_DISCARD);
    esi_plan_fini(&plan);
}

static void every_member_is_read(void **state)
{
    static const char text[] =
        HEAD "# a comment\n"
             "\n"
             "collector halo classes=send,receive ranks=0-3,7 communicator=cart%20* "
             "split=both threshold=100 full=block enabled=0 polls=1 host=node%25\r\n"
             "collector rest classes=other on_full=block enabled=yes\n"
             "end\n";
    struct es_error error = {.text = ""};
    const struct esi_collector_plan *first;
    struct es_plan plan;

    (void)state;
    assert_int_equal(esi_plan_parse(text, "test", &error, &plan), 0);
    assert_int_equal(plan.count, 2);
    first = &plan.collectors[0];
    assert_string_equal(first->name, "halo");
    assert_int_equal(first->classes, 1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE);
    assert_int_equal(first->range_count, 2);
    assert_true(esi_collector_plan_has_rank(first, 0));
    assert_true(esi_collector_plan_has_rank(first, 3));
    assert_false(esi_collector_plan_has_rank(first, 4));
    assert_true(esi_collector_plan_has_rank(first, 7));
    assert_string_equal(first->communicator, "cart *");
    assert_int_equal(first->split, ES_SPLIT_BOTH);
    assert_int_equal(first->threshold, 100);
    assert_int_equal(first->on_full, ES_ON_FULL_BLOCK);
    assert_false(first->enabled);
    assert_true(first->polls);
    assert_string_equal(first->host, "node%");
    assert_string_equal(plan.collectors[1].communicator, "*");
    assert_int_equal(plan.collectors[1].on_full, ES_ON_FULL_BLOCK);
    assert_int_equal(plan.collectors[1].threshold, ES_PLAN_THRESHOLD);
    esi_plan_fini(&plan);
}

static void faults_are_shown_where_they_are(void **state)
{
    static const struct {
        const char *text;
        const char *says; /* how the error begins */
    } rows[] = {
        {"", "p:1:1: empty"},
        {"nonsense\n", "p:1:1: first word 'nonsense'"},
        {"eventspace-plan 2\n", "p:1:17: version '2': expected 1"},
        {"eventspace-plan\n", "p:1:16: version ''"},
        {HEAD, "p:1:1: the last line is missing"},
        {HEAD "collector a classes=send\n", "p:2:1: the last line is missing"},
        {HEAD "colector a\nend\n", "p:2:1: first word 'colector': expected collector"},
        {HEAD "collector\nend\n", "p:2:10: collector ''"},
        {HEAD "collector a\nend\n", "p:2:12: end of line: expected classes="},
        {HEAD "collector a classes\nend\n",
         "p:2:13: member 'classes': expected KEY=VALUE"},
        {HEAD "collector a clases=send\nend\n", "p:2:13: member 'clases'"},
        {HEAD "collector a classes=send,sent\nend\n", "p:2:26: classes 'sent'"},
        {HEAD "collector a classes=\nend\n", "p:2:21: classes ''"},
        {HEAD "collector a classes=send,\nend\n", "p:2:26: classes ''"},
        {HEAD "collector a classes=send classes=send\nend\n",
         "p:2:26: member 'classes': expected each only once"},
        {HEAD "collector a classes=send ranks=0-2,x\nend\n", "p:2:36: ranks 'x'"},
        {HEAD "collector a classes=send ranks=\nend\n", "p:2:32: ranks ''"},
        {HEAD "collector a classes=send split=peers\nend\n", "p:2:32: split 'peers'"},
        {HEAD "collector a classes=send threshold=0\nend\n", "p:2:36: threshold '0'"},
        {HEAD "collector a classes=send threshold=16777217\nend\n",
         "p:2:36: threshold '16777217'"},
        {HEAD "collector a classes=send threshold=99999999999999999999\nend\n",
         "p:2:36: threshold '99999999999999999999'"},
        {HEAD "collector a classes=send threshold=12x\nend\n",
         "p:2:36: threshold '12x'"},
        {HEAD "collector a classes=send full=wait\nend\n", "p:2:31: full 'wait'"},
        {HEAD "collector a classes=send enabled=two\nend\n", "p:2:34: enabled 'two'"},
        {HEAD "collector a classes=send polls=\nend\n", "p:2:32: polls ''"},
        {HEAD "collector a classes=send host=%2\nend\n", "p:2:31: host '%2'"},
        {HEAD "collector a classes=send host=%00\nend\n", "p:2:31: host '%00'"},
        {HEAD "collector a classes=send communicator=\nend\n",
         "p:2:39: communicator ''"},
        {HEAD "collector 01234567890123456789012345678901 classes=send\nend\n",
         "p:2:11: collector '01234567890123456789012345678901': expected 1 to 31"},
        {HEAD "collector a classes=send\ncollector a classes=io\nend\n",
         "p:3:1: collector 'a': a rank already has one of that name"},
        {HEAD "collector a classes=send ranks=0-3\n"
              "collector a classes=send ranks=3-5\nend\n",
         "p:3:1: collector 'a': a rank already has one of that name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_error error = {.text = ""};
        struct es_plan plan = {.count = 77};
        char said[800];

        assert_int_equal(esi_plan_parse(rows[i].text, "p", &error, &plan), -EINVAL);
        es_error_format(&error, said, sizeof said);
        if (strncmp(said, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("row %zu: \"%s\" instead of \"%s\"", i, said, rows[i].says);
        assert_int_equal(plan.count, 77);
        /* The caller may pass NULL for the error. */
        assert_int_equal(esi_plan_parse(rows[i].text, "p", NULL, &plan), -EINVAL);
    }
}

static void ranks_may_have_different_collectors_of_one_name(void **state)
{
    struct es_plan plan;

    (void)state;
    assert_int_equal(esi_plan_parse(HEAD
                                    "collector a classes=send ranks=0-2,7\n"
                                    "collector a classes=send ranks=3-6 threshold=9\n"
                                    "end\n",
                                    "p", NULL, &plan),
                     0);
    assert_int_equal(plan.count, 2);
    assert_true(esi_collector_plan_has_rank(&plan.collectors[0], 7));
    assert_false(esi_collector_plan_has_rank(&plan.collectors[1], 7));
    esi_plan_fini(&plan);
}

static void what_is_written_is_read_again(void **state)
{
    static const char *const texts[] = {
        HEAD "end\n",
        HEAD "collector a%20b classes=send,receive,completion,collective,communicator,"
             "one-sided,io,other ranks=0,2-5,9- communicator=%25%7F* split=peer "
             "threshold=7 full=block enabled=0 polls=1 host=h\nend\n",
        HEAD "collector x classes=io ranks=* communicator=* split=none threshold=4095 "
             "full=discard enabled=1 polls=0 host=*\n"
             "collector y classes=send ranks=3 communicator=* split=communicator "
             "threshold=16777216 full=discard enabled=1 polls=0 host=*\nend\n",
        HEAD "collector x classes=io ranks=* communicator=* split=none threshold=4095 "
             "full=discard enabled=1 polls=0 sites=0 host=*\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct es_plan plan;
        char *text;

        assert_int_equal(esi_plan_parse(texts[i], "p", NULL, &plan), 0);
        assert_int_equal(esi_plan_format(&plan, &text), 0);
        assert_string_equal(text, texts[i]);
        free(text);
        esi_plan_fini(&plan);
    }
}

static void files_are_loaded(void **state)
{
    char path[] = "/tmp/eventspace-plan-XXXXXX";
    struct es_error error = {.text = ""};
    struct es_plan plan;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, HEAD "collector a classes=io\nend\n", 45), 45);
    close(fd);
    assert_int_equal(esi_plan_load(path, &error, &plan), 0);
    assert_int_equal(plan.count, 1);
    esi_plan_fini(&plan);
    unlink(path);
    assert_int_equal(esi_plan_load(path, &error, &plan), -ENOENT);
    assert_string_equal(error.source, path);
    assert_int_equal(esi_plan_load("/", NULL, &plan), -EPERM);
    /* A pipe is refused without blocking the program.  A link is refused
     * whatever its target. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(esi_plan_load(path, NULL, &plan), -EPERM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(esi_plan_load(path, NULL, &plan), -EPERM);
    assert_int_equal(unlink(path), 0);
}

static void rank_sets_are_read_as_people_write_them(void **state)
{
    static const struct {
        const char *text;
        int count;
        int column; /* of the error */
        const char *has;
        const char *has_not;
    } rows[] = {
        {"", 0, 0, "05", ""},
        {"*", 0, 0, "05", ""},
        {"3", 1, 0, "3", "0249"},
        {"0-3", 1, 0, "0123", "456"},
        {"0-3,7", 2, 0, "01237", "4568"},
        {"5-", 1, 0, "56789", "01234"},
        {"7,1,3-4", 3, 0, "1347", "02568"},
        {"2147483647", 1, 0, "", "0"},
        {"-3", -EINVAL, 1, "", ""},
        {"3-1", -EINVAL, 1, "", ""},
        {"1,,2", -EINVAL, 3, "", ""},
        {"1,", -EINVAL, 3, "", ""},
        {"1 2", -EINVAL, 1, "", ""},
        {"a", -EINVAL, 1, "", ""},
        {"2147483648", -EINVAL, 1, "", ""},
        {"1,2--3", -EINVAL, 3, "", ""},
        {"1,*", -EINVAL, 3, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_error error = {.text = ""};
        struct esi_rank_range *ranges = NULL;
        int count = esi_rank_ranges_parse(rows[i].text, &error, &ranges);

        assert_int_equal(count, rows[i].count);
        assert_int_equal(error.column, rows[i].column);
        for (const char *c = rows[i].has; *c != '\0'; c++)
            assert_true(esi_rank_ranges_have(ranges, (size_t)count, *c - '0'));
        for (const char *c = rows[i].has_not; *c != '\0'; c++)
            assert_false(esi_rank_ranges_have(ranges, (size_t)count, *c - '0'));
        free(ranges);
    }
}

SUITE(test_plan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_plan_takes_every_class_once),
        cmocka_unit_test(what_blocks_can_await_its_readers),
        cmocka_unit_test(every_member_is_read),
        cmocka_unit_test(faults_are_shown_where_they_are),
        cmocka_unit_test(ranks_may_have_different_collectors_of_one_name),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(files_are_loaded),
        cmocka_unit_test(rank_sets_are_read_as_people_write_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
