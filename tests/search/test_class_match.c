/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_class_match.c - tests of class membership: every condition, D13 to D15. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/domains/domains.h"
#include "tests/suites.h"

/* Attributes of all events in this test. */
static const struct es_event_attribute attributes[] = {
    {"bytes", NULL, 4096},    {"tag", "3", 0},
    {"host", "node07", 0},    {"text", "an attribute", 0},
    {"start", "1000", 0},     {"stop", NULL, 7001000},
    {"odd", "", 0},           {"huge", "1e3", 0},
    {"minus", "-12", 0},      {"long", "92233720368547758070", 0},
    {"low", NULL, INT64_MIN},
};

static const struct es_set_event event = {
    .id = {0, 1},
    .kind = ES_EVENT_SEND,
    .type = "MPI_Isend",
    .text = "M1(0x0x9ac5730)",
    .attributes = attributes,
    .attribute_count = sizeof attributes / sizeof *attributes,
};

/* Whether an event on a trace "worker*" is in the class. */
static bool is_in(const char *class_text, const struct es_set_event *of)
{
    struct es_pattern_file *file;
    struct esi_domains *domains;
    struct es_set_sink sink;
    struct es_error error = {.text = ""};
    char text[256];
    int result;
    bool is_there;

    snprintf(text, sizeof text, "A := %s;", class_text);
    result = es_pattern_file_parse(text, strlen(text), "class", &file, &error);
    if (result < 0)
        fail_msg("%s: %s", class_text, error.text);
    assert_int_equal(0, esi_domains_create(file, NULL, NULL, &domains, &error));
    sink = esi_domains_sink(domains);
    assert_int_equal(0, sink.trace(sink.data, 0, "worker*"));
    assert_int_equal(0, sink.event(sink.data, of));
    assert_int_equal(0, esi_domains_finish(domains));
    is_there = esi_domain_count(esi_domains_class(domains, 0)) == 1;
    esi_domains_destroy(domains);
    es_pattern_file_destroy(file);
    return is_there;
}

struct row {
    const char *class_text;
    bool is_in;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(rows[i].class_text, &event) != rows[i].is_in)
            fail_msg("%s should %sbe so", rows[i].class_text,
                     rows[i].is_in ? "" : "not ");
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

static void strings_match_the_whole_field(void **state)
{
    static const struct row rows[] = {
        {"[\"\", \"MPI_Isend\", \"\"]", true},
        {"[\"\", \"MPI_isend\", \"\"]", false},
        {"[\"\", \"MPI_Isen\", \"\"]", false},
        {"[\"\", \"PI_Isend\", \"\"]", false},
        {"[\"\", \"MPI_I*\", \"\"]", true},
        {"[\"\", \"*send\", \"\"]", true},
        {"[\"\", \"*\", \"*\"]", true},
        {"[\"\", \"M*I*d\", \"\"]", true},
        {"[\"\", \"M*I*I*I*d\", \"\"]", false},
        {"[\"\", \"MPI_Isend*MPI_Isend\", \"\"]", false},
        {"[\"\", \"**\", \"\"]", true},
        {"[\"\", \"\", \"M1(0x0x9ac5730)\"]", true},
        {"[\"\", \"\", \"M1(*)\"]", true},
        {"[\"\", \"\", \"M1.0x0x9ac5730.\"]", false},
        {"[\"worker\\*\", \"\", \"\"]", true},
        {"[\"worke\\*\", \"\", \"\"]", false},
        {"[\"worker*\", \"\", \"\"]", true},
        {"[\"\", \"\", \"\"]", true},
    };

    (void)state;
    CHECK(rows);
}

static void names_are_fields_or_attributes(void **state)
{
    static const struct row rows[] = {
        {"[process = \"w*\", type = \"MPI*\", text = \"M1*\", kind = \"send\"]", true},
        {"[kind = \"s*\"]", true},
        {"[kind = \"sync\"]", false},
        {"[text = \"an attribute\"]", false},
        {"[host = \"node*\"]", true},
        {"[host = \"\"]", true},
        {"[Host = \"\"]", true},
        {"[Host = \"*\"]", false},
        {"[odd = \"*\"]", true},
        {"[bytes = \"4096\"]", true},
        {"[bytes = \"40*\"]", true},
        {"[low = \"-9223372036854775808\"]", true},
        {"[host = \"node07\", tag = \"4\"]", false},
        {"[host != \"node07\"]", false},
        {"[host != \"node08\"]", true},
        {"[Host != \"node08\"]", false},
        {"[\"type\" = \"MPI_Isend\", \"process\" = \"worker\\*\"]", true},
    };

    (void)state;
    CHECK(rows);
}

static void numbers_are_compared_with_numbers_only(void **state)
{
    static const struct row rows[] = {
        {"[bytes > 4095]", true},    {"[bytes > 4096]", false},
        {"[bytes >= 4KiB]", true},   {"[bytes < 4KiB]", false},
        {"[bytes <= 4KiB]", true},   {"[bytes = 4096]", true},
        {"[bytes != 4096]", false},  {"[bytes != 1]", true},
        {"[tag = 3]", true},         {"[tag > 2]", true},
        {"[minus < 0]", true},       {"[host > 0]", false},
        {"[host != 0]", false},      {"[odd = 0]", false},
        {"[huge > 1]", false},       {"[long > 1]", false},
        {"[low < 0]", true},         {"[nothing != 3]", false},
        {"[nothing < 3]", false},    {"[duration = 7ms]", true},
        {"[duration > 7ms]", false}, {"[duration > 6999us]", true},
    };

    (void)state;
    CHECK(rows);
}

static void expressions_match_somewhere(void **state)
{
    static const struct row rows[] = {
        {"[type =~ \"MPI_(I)?send\"]", true}, {"[type =~ \"^send\"]", false},
        {"[type =~ \"send$\"]", true},        {"[type !~ \"recv\"]", true},
        {"[type !~ \"send\"]", false},        {"[tag =~ \"^[0-9]+$\"]", true},
        {"[bytes =~ \"^4.96$\"]", true},      {"[nothing =~ \".*\"]", false},
        {"[nothing !~ \"x\"]", false},        {"[odd =~ \"^$\"]", true},
        {"[process =~ \"^w\"]", true},
    };

    (void)state;
    CHECK(rows);
}

/* An explicit attribute `duration` has priority over the difference of the times. */
static void a_duration_may_be_told(void **state)
{
    const struct es_event_attribute told[] = {
        {"start", NULL, 5}, {"duration", "12", 0}, {"stop", NULL, 500}};
    const struct es_event_attribute half[] = {{"start", NULL, 5}};
    const struct es_event_attribute wide[] = {{"start", NULL, INT64_MIN},
                                              {"stop", NULL, INT64_MAX}};
    struct es_set_event of = event;

    (void)state;
    of.attributes = told;
    of.attribute_count = 3;
    assert_true(is_in("[duration = 12]", &of));
    of.attributes = half;
    of.attribute_count = 1;
    assert_false(is_in("[duration >= 0]", &of));
    of.attributes = wide;
    of.attribute_count = 2;
    assert_false(is_in("[duration > 0]", &of));
}

/* More texts than the cache holds, each twice. */
static void many_texts_are_judged_rightly(void **state)
{
    static const char text[] = "A := [\"\", \"\", \"*7\"];";
    struct es_pattern_file *file;
    struct esi_domains *domains;
    struct es_set_sink sink;
    struct es_error error;

    (void)state;
    assert_int_equal(0,
                     es_pattern_file_parse(text, strlen(text), "class", &file, &error));
    assert_int_equal(0, esi_domains_create(file, NULL, NULL, &domains, &error));
    sink = esi_domains_sink(domains);
    assert_int_equal(0, sink.trace(sink.data, 0, "P"));
    for (uint32_t i = 0; i < 200000; i++) {
        char words[16];
        struct es_set_event of = {.id = {0, i + 1}, .type = "", .text = words};
        snprintf(words, sizeof words, "%u", i / 2);
        assert_int_equal(0, sink.event(sink.data, &of));
    }
    assert_int_equal(20000, esi_domain_count(esi_domains_class(domains, 0)));
    esi_domains_destroy(domains);
    es_pattern_file_destroy(file);
}

SUITE(test_class_match)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_match_the_whole_field),
        cmocka_unit_test(names_are_fields_or_attributes),
        cmocka_unit_test(numbers_are_compared_with_numbers_only),
        cmocka_unit_test(expressions_match_somewhere),
        cmocka_unit_test(a_duration_may_be_told),
        cmocka_unit_test(many_texts_are_judged_rightly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
