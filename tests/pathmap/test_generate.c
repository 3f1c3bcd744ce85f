/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of generators and expansion: this host, placements, thresholds, limits. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "pathmap/pathmap.h"
#include "tests/suites.h"

static struct esi_pathmap *generate(struct esi_pathmap_request request)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    if (esi_pathmap_generate(&request, &error, &map) < 0)
        fail_msg("%s", error.text);
    return map;
}

static char *format(const struct esi_pathmap *map)
{
    char *text;

    assert_int_equal(esi_pathmap_format(map, &text), 0);
    return text;
}

static void this_host_is_found_as_it_is(void **state)
{
    struct esi_pathmap *map = generate((struct esi_pathmap_request){.ranks = 2});
    const struct esi_pathmap_host *host = esi_pathmap_host(map, 0);
    char name[ES_HOST_NAME_BYTES];
    int64_t cores = 0, pus = 0;

    (void)state;
    assert_int_equal(esi_pathmap_host_count(map), 1);
    assert_string_equal(host->name, esi_host_name(name));
    assert_true(host->package_count >= 1);
    for (size_t p = 0; p < host->package_count; p++)
        for (size_t c = 0; c < host->packages[p].core_count; c++, cores++)
            pus += (int64_t)host->packages[p].cores[c].pu_count;
    assert_int_equal(host->cores, cores);
    assert_int_equal(host->pus, pus);
    assert_in_range(host->pus, host->cores, (uintmax_t)sysconf(_SC_NPROCESSORS_CONF));
    assert_true(host->memory_bytes >= 1 << 20);
    assert_int_equal(host->slots, host->cores);
    esi_pathmap_destroy(map);
}

static void seats_follow_the_mapping(void **state)
{
    struct esi_pathmap *map = generate((struct esi_pathmap_request){
        .ranks = 3, .threads = 2, .synthetic = "pu:2", .local_name = "here"});
    struct esi_pathmap_summary summary;

    (void)state;
    assert_int_equal(esi_pathmap_rank_count(map), 3);
    esi_pathmap_summarize(map, &summary);
    assert_int_equal(summary.threads, 6);
    assert_string_equal(esi_pathmap_rank_host(map, 2)->name, "here");
    assert_null(esi_pathmap_rank_host(map, 3));
    assert_null(esi_pathmap_rank_host(map, -1));
    assert_int_equal(esi_pathmap_rank_core(map, 0), -1);
    esi_pathmap_destroy(map);
}

static void requests_out_of_range_are_refused(void **state)
{
    static const struct {
        struct esi_pathmap_request request;
        const char *text;
    } rows[] = {
        {{.ranks = -1}, "ranks: found -1, expected 1 to 1048576"},
        {{.ranks = 1 << 21}, "ranks: found 2097152, expected 1 to 1048576"},
        {{.threads = 5000}, "threads: found 5000, expected 1 to 4096"},
        {{.synthetic = "pu:2", .threshold = UINT32_MAX},
         "threshold: found 4294967295, expected 1 to 16777216"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct es_error error = {.text = ""};
        struct esi_pathmap *map = NULL;
        assert_int_equal(esi_pathmap_generate(&rows[i].request, &error, &map), -ERANGE);
        assert_string_equal(error.text, rows[i].text);
        assert_null(map);
    }
}

static void a_hostfile_that_is_not_there_is_named(void **state)
{
    struct esi_pathmap_request request = {.hostfile = "no/such/file"};
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    (void)state;
    assert_int_equal(esi_pathmap_generate(&request, &error, &map), -ENOENT);
    assert_string_equal(error.source, "no/such/file");
    assert_string_equal(error.text, "cannot be read: No such file or directory");
}

static void a_map_without_cluster_expands_to_this_host(void **state)
{
    static const char text[] = "{\"version\": 1, \"application\": {\"ranks\": 2}}";
    struct esi_pathmap_summary summary;
    struct esi_pathmap *map;
    char name[ES_HOST_NAME_BYTES];

    (void)state;
    assert_int_equal(esi_pathmap_parse(text, strlen(text), NULL, NULL, &map), 0);
    assert_null(esi_pathmap_rank_host(map, 0));
    assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    assert_string_equal(esi_pathmap_rank_host(map, 1)->name, esi_host_name(name));
    esi_pathmap_summarize(map, &summary);
    assert_int_equal(summary.paths, 8);
    esi_pathmap_destroy(map);
}

static void what_is_too_much_to_expand_stays_as_it_was(void **state)
{
    struct esi_pathmap *map = generate((struct esi_pathmap_request){
        .ranks = 100000, .threads = 4, .synthetic = "pu:2", .local_name = "here"});
    struct es_error error = {.text = ""};
    char *before = format(map);

    (void)state;
    assert_int_equal(esi_pathmap_expand(map, &error), -E2BIG);
    assert_string_equal(error.text,
                        "1600000 paths, expected at most 1048576: expand parts of the "
                        "application");
    char *after = format(map);
    assert_string_equal(after, before);
    free(after);
    free(before);
    esi_pathmap_destroy(map);
}

static void everything_can_be_set_to_block(void **state)
{
    struct esi_pathmap *map = generate((struct esi_pathmap_request){
        .ranks = 2, .synthetic = "pu:2", .local_name = "here"});

    (void)state;
    for (int expanded = 0; expanded < 2; expanded++) {
        for (int block = 1; block >= 0; block--) {
            struct es_plan plan;

            assert_int_equal(esi_pathmap_set_block(map, block, NULL), 0);
            assert_int_equal(esi_pathmap_plan(map, NULL, NULL, &plan), 0);
            assert_true(plan.count > 0);
            for (size_t i = 0; i < plan.count; i++)
                assert_int_equal(plan.collectors[i].on_full,
                                 block ? ES_ON_FULL_BLOCK : ES_ON_FULL_DISCARD);
            esi_plan_fini(&plan);
        }
        assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    }
    esi_pathmap_destroy(map);
}

static void the_threshold_of_everything_can_be_set(void **state)
{
    struct esi_pathmap *map = generate((struct esi_pathmap_request){
        .ranks = 2, .synthetic = "pu:2", .local_name = "here"});
    struct esi_pathmap_summary summary;
    struct es_plan plan;

    (void)state;
    assert_int_equal(esi_pathmap_expand(map, NULL), 0);
    assert_int_equal(esi_pathmap_set_threshold(map, 200, NULL), 0);
    assert_int_equal(esi_pathmap_set_threshold(map, 0, NULL), -ERANGE);
    assert_int_equal(esi_pathmap_plan(map, NULL, NULL, &plan), 0);
    assert_int_equal(plan.count, 4);
    for (size_t i = 0; i < plan.count; i++)
        assert_int_equal(plan.collectors[i].threshold, 200);
    esi_plan_fini(&plan);
    esi_pathmap_summarize(map, &summary);
    assert_int_equal(summary.paths, 8);
    assert_int_equal(summary.ring_bytes, 8 * 256 * 36);
    esi_pathmap_destroy(map);
}

SUITE(test_generate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_host_is_found_as_it_is),
        cmocka_unit_test(seats_follow_the_mapping),
        cmocka_unit_test(requests_out_of_range_are_refused),
        cmocka_unit_test(a_hostfile_that_is_not_there_is_named),
        cmocka_unit_test(a_map_without_cluster_expands_to_this_host),
        cmocka_unit_test(what_is_too_much_to_expand_stays_as_it_was),
        cmocka_unit_test(the_threshold_of_everything_can_be_set),
        cmocka_unit_test(everything_can_be_set_to_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
