/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_event_details.c - stored details of the events of runs
 * equal the original ones. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/search/domains/event_details.h"
#include "tests/failing.h"
#include "tests/order/made_computation.h"
#include "tests/suites.h"

enum { MOST = ES_DETAILS + 2, EVENTS = 4000, TRACES = 7 };

static const char *const names[ES_DETAILS] = {
    [ES_DETAIL_START] = "start",
    [ES_DETAIL_STOP] = "stop",
    [ES_DETAIL_TYPE] = "type",
    [ES_DETAIL_PEER] = "peer",
    [ES_DETAIL_BYTES] = "bytes",
    [ES_DETAIL_TAG] = "tag",
    [ES_DETAIL_CLASS] = "class",
    [ES_DETAIL_INSTANCE] = "instance",
    [ES_DETAIL_COMMUNICATOR] = "communicator",
    [ES_DETAIL_SOURCE] = "source",
    [ES_DETAIL_WINDOW] = "window",
    [ES_DETAIL_STATE] = "state",
    [ES_DETAIL_RANK] = "rank",
    [ES_DETAIL_HOST] = "host",
};

static const char *const texts[] = {"one", "two", "MPI_COMM_WORLD", ""};

static bool is_text(unsigned name)
{
    return name == ES_DETAIL_TYPE || name == ES_DETAIL_CLASS ||
           name == ES_DETAIL_COMMUNICATOR || name == ES_DETAIL_SOURCE ||
           name == ES_DETAIL_STATE || name == ES_DETAIL_HOST;
}

/* An event that was added; the type is one of the texts. */
struct told {
    struct es_event_id id;
    struct esi_detail detail;
};

static int64_t draw_number(uint64_t *draw)
{
    static const int64_t corners[] = {0, 1, -1, INT64_MAX, INT64_MIN, 63, 64, -65};
    uint32_t which = random_below(draw, 40);

    if (which < sizeof corners / sizeof corners[0])
        return corners[which];
    return which < 30 ? (int64_t)random_below(draw, 100)
                      : (int64_t)random_below(draw, UINT32_MAX) * 1000;
}

static struct told draw_event(uint64_t *draw, struct es_event_id id)
{
    struct told told = {.id = id};

    for (unsigned i = 0; i < ES_DETAILS; i++) {
        if (i != ES_DETAIL_TYPE && random_percent(draw, 40))
            continue;
        told.detail.present |= UINT32_C(1) << i;
        if (is_text(i))
            told.detail.values[i].text = texts[random_below(draw, 4)];
        else
            told.detail.values[i].number = draw_number(draw);
    }
    return told;
}

/* Adds an event; in a file, numbers are texts. */
static int try_add(struct esi_details *details, const struct told *told, bool as_file)
{
    struct es_event_attribute attributes[MOST] = {
        {.name = "other", .text = "x"}, {.name = "operation", .text = "MPI_Send"}};
    char numbers[ES_DETAILS][24];
    struct es_set_event event = {
        .id = told->id, .text = "", .attributes = attributes, .attribute_count = 2};

    for (unsigned i = 0; i < ES_DETAILS; i++) {
        struct es_event_attribute attribute = {.name = names[i]};

        if (!esi_detail_has(&told->detail, (enum esi_detail_name)i) ||
            i == ES_DETAIL_TYPE)
            continue;
        attribute.text = told->detail.values[i].text;
        attribute.number = told->detail.values[i].number;
        if (as_file && !is_text(i)) {
            snprintf(numbers[i], sizeof numbers[i], "%lld",
                     (long long)attribute.number);
            attribute.text = numbers[i];
        }
        attributes[event.attribute_count++] = attribute;
    }
    event.type = told->detail.values[ES_DETAIL_TYPE].text;
    return esi_details_add(details, &event);
}

static void add(struct esi_details *details, const struct told *told, bool as_file)
{
    assert_int_equal(try_add(details, told, as_file), 0);
}

static void assert_told(const struct esi_details *details, const struct told *told)
{
    struct esi_detail found;

    assert_true(esi_details_find(details, told->id, &found));
    assert_int_equal(found.present, told->detail.present);
    for (unsigned i = 0; i < ES_DETAILS; i++) {
        if (!esi_detail_has(&found, (enum esi_detail_name)i))
            continue;
        if (is_text(i))
            assert_string_equal(found.values[i].text, told->detail.values[i].text);
        else
            assert_true(found.values[i].number == told->detail.values[i].number);
    }
}

static void what_events_said_is_found_again(void **state)
{
    uint32_t last[TRACES] = {0};
    uint64_t draw;
    struct told *all = calloc(EVENTS, sizeof *all);
    struct esi_details *details;
    struct esi_detail found;

    (void)state;
    draw = random_seed();
    assert_non_null(all);
    assert_int_equal(esi_details_create(0, &details), 0);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint32_t trace = random_below(&draw, TRACES);

        last[trace] += random_percent(&draw, 10) ? 1001 : 1;
        all[i] = draw_event(&draw, (struct es_event_id){3 * trace, last[trace]});
        add(details, &all[i], random_percent(&draw, 30));
    }
    for (unsigned i = 0; i < EVENTS; i++)
        assert_told(details, &all[i]);
    for (uint32_t trace = 0; trace < TRACES; trace++) {
        assert_false(
            esi_details_find(details, (struct es_event_id){3 * trace, 0}, &found));
        assert_false(esi_details_find(
            details, (struct es_event_id){3 * trace, last[trace] + 1}, &found));
        assert_false(
            esi_details_find(details, (struct es_event_id){3 * trace + 1, 1}, &found));
    }
    assert_false(
        esi_details_find(details, (struct es_event_id){UINT32_MAX, 1}, &found));
    esi_details_destroy(details);
    free(all);
}

static void times_are_counted_from_the_first_start(void **state)
{
    struct esi_details *details;
    struct told told = {.id = {0, 1}, .detail = {.present = 1u << ES_DETAIL_START}};
    struct es_event_attribute attributes[] = {{.name = "start", .number = 40},
                                              {.name = "operation", .text = "x"}};
    struct es_set_event passed = {.id = {1, 1},
                                  .type = "",
                                  .text = "",
                                  .attributes = attributes,
                                  .attribute_count = 2};

    (void)state;
    told.detail.values[ES_DETAIL_TYPE].text = "";
    assert_int_equal(esi_details_create(0, &details), 0);
    assert_int_equal(esi_details_begin(details), 0);
    told.detail.values[ES_DETAIL_START].number = 50;
    add(details, &told, false);
    esi_details_pass(details, &passed);
    attributes[0].number = 30;
    passed.attribute_count = 1; /* not of a run */
    esi_details_pass(details, &passed);
    assert_int_equal(esi_details_begin(details), 40);
    passed.attribute_count = 2;
    esi_details_pass(details, &passed);
    assert_int_equal(esi_details_begin(details), 40);
    esi_details_destroy(details);
}

static void nothing_is_kept_of_events_of_no_run(void **state)
{
    const struct es_event_attribute attributes[] = {{.name = "tag", .text = "3"}};
    struct es_set_event event = {.id = {0, 1},
                                 .type = "send",
                                 .text = "",
                                 .attributes = attributes,
                                 .attribute_count = 1};
    struct esi_details *details;
    struct esi_detail found;

    (void)state;
    assert_int_equal(esi_details_create(0, &details), 0);
    assert_int_equal(esi_details_add(details, &event), 0);
    assert_false(esi_details_find(details, event.id, &found));
    esi_details_destroy(details);
}

/* An event of a typical MPI run with two traces; the second one ends in the middle. */
static struct told plain_event(uint32_t number)
{
    bool is_second = number % 2 == 1 && number < 200000;
    struct told told = {.id = {is_second, number + 1}};

    for (unsigned i = 0; i < ES_DETAILS; i++)
        if (i != ES_DETAIL_STATE && i != ES_DETAIL_WINDOW && i != ES_DETAIL_INSTANCE)
            told.detail.present |= UINT32_C(1) << i;
    told.detail.values[ES_DETAIL_START].number = (int64_t)number * 12345 + number % 100;
    told.detail.values[ES_DETAIL_STOP].number =
        told.detail.values[ES_DETAIL_START].number + 800 + number % 90;
    told.detail.values[ES_DETAIL_PEER].number = number % 3;
    told.detail.values[ES_DETAIL_BYTES].number = 4096;
    told.detail.values[ES_DETAIL_TAG].number = 5;
    told.detail.values[ES_DETAIL_RANK].number = is_second;
    for (unsigned i = 0; i < ES_DETAILS; i++)
        if (is_text(i) && esi_detail_has(&told.detail, (enum esi_detail_name)i))
            told.detail.values[i].text =
                texts[i == ES_DETAIL_TYPE ? number % 4 : i % 4];
    return told;
}

static void the_oldest_are_forgotten_beyond_the_limit(void **state)
{
    const uint64_t limit = 300000;
    const uint32_t count = 400000;
    uint32_t oldest = count;
    struct esi_details *details;
    struct esi_detail found;

    (void)state;
    assert_int_equal(esi_details_create(limit, &details), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct told told = plain_event(i);

        add(details, &told, false);
        assert_true(esi_details_bytes(details) <= limit);
    }
    while (oldest > 0) {
        struct told told = plain_event(oldest - 1);

        if (!esi_details_find(details, told.id, &found))
            break;
        assert_told(details, &told);
        oldest--;
    }
    assert_true(count - oldest > limit / 20);
    assert_true(oldest > 200000);
    /* Nothing is left of the second trace, which can continue. */
    assert_false(esi_details_find(details, plain_event(199999).id, &found));
    {
        struct told told = plain_event(199999);
        told.id.index = count + 1;
        add(details, &told, false);
        assert_told(details, &told);
    }
    esi_details_destroy(details);
}

static void an_event_takes_few_bytes(void **state)
{
    const uint32_t count = 100000;
    struct esi_details *details;

    (void)state;
    assert_int_equal(esi_details_create(0, &details), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct told told = plain_event(i);

        add(details, &told, false);
    }
    assert_true(esi_details_bytes(details) < 16 * (uint64_t)count);
    esi_details_destroy(details);
}

/* A failing allocation is reported, and stored events stay available. */
static int try_to_keep(void)
{
    struct esi_details *details = NULL;
    uint32_t kept = 0;
    int result = esi_details_create(0, &details);

    while (result == 0 && kept < 1000) {
        struct told told = plain_event(kept);

        told.id.trace *= 40;
        result = try_add(details, &told, false);
        kept += result == 0;
    }
    failing_pause();
    for (uint32_t i = 0; i < kept; i++) {
        struct told told = plain_event(i);

        told.id.trace *= 40;
        assert_told(details, &told);
    }
    failing_resume();
    esi_details_destroy(details);
    return result;
}

static void a_lack_of_memory_is_told(void **state)
{
    (void)state;
    failing_each(try_to_keep, 10);
}

SUITE(test_event_details)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_events_said_is_found_again),
        cmocka_unit_test(times_are_counted_from_the_first_start),
        cmocka_unit_test(nothing_is_kept_of_events_of_no_run),
        cmocka_unit_test(the_oldest_are_forgotten_beyond_the_limit),
        cmocka_unit_test(an_event_takes_few_bytes),
        cmocka_unit_test(a_lack_of_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
