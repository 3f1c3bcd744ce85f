/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Classes of random files in random event sets, in random linear extensions, equal
 * those of the reference: with and without a listener, and while allocations fail.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/domains/domains.h"
#include "tests/failing.h"
#include "tests/search/random_pattern.h"
#include "tests/suites.h"

/* The inputs and results of a round. */
struct round {
    struct reference_file reference;
    struct small_set set;
    char *text;
    struct es_pattern_file *file;
    struct esi_domains *domains;
    uint32_t order[SMALL_EVENTS];
    uint64_t told[64]; /* events by class */
};

static void make_round(uint64_t *draw, struct round *ret_round)
{
    struct random_pattern_options options;
    struct es_error error = {.text = ""};

    *ret_round = (struct round){.file = NULL};
    random_pattern_options_init(&options);
    random_pattern_make(draw, &options, &ret_round->reference);
    small_set_random(draw, 1 + random_below(draw, 40), &ret_round->set);
    small_set_extension(&ret_round->set, draw, ret_round->order);
    ret_round->text = random_pattern_text(&ret_round->reference, REFERENCE_NONE, NULL);
    if (es_pattern_file_parse(ret_round->text, strlen(ret_round->text), "random",
                              &ret_round->file, &error) < 0)
        fail_msg("%s\n%s", ret_round->text, error.text);
}

static void end_round(struct round *round)
{
    esi_domains_destroy(round->domains);
    es_pattern_file_destroy(round->file);
    free(round->text);
}

/* Each event joins a class once, and is in it then. */
static int note(void *data, uint32_t class_number, struct es_event_id id)
{
    struct round *round = data;
    uint64_t bit = SMALL_BIT(small_set_find(&round->set, id));
    struct esi_domain_value value;

    assert_true(
        esi_domain_find(esi_domains_class(round->domains, class_number), id, &value));
    assert_true(class_number < 64);
    assert_int_equal(0, round->told[class_number] & bit);
    round->told[class_number] |= bit;
    return 0;
}

static int sort_events(struct round *round, const struct esi_domains_listener *listener)
{
    struct es_error error;
    struct es_set_sink sink;
    int result =
        esi_domains_create(round->file, NULL, listener, &round->domains, &error);

    if (result < 0)
        return result;
    sink = esi_domains_sink(round->domains);
    result = small_set_stream(&round->set, round->order, &sink);
    return result < 0 ? result : esi_domains_finish(round->domains);
}

static uint64_t events_of(const struct round *round, const struct esi_domain *domain)
{
    uint64_t events = 0, count = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        struct esi_domain_column column = esi_domain_column(domain, slot);
        assert_int_equal(slot, esi_domain_slot_of(domain, column.trace));
        count += column.count;
        for (uint32_t i = 0; i < column.count; i++) {
            struct es_event_id id = {column.trace, column.indexes[i]};
            struct esi_domain_value value;
            assert_true(i == 0 || column.indexes[i - 1] < column.indexes[i]);
            assert_true(esi_domain_find(domain, id, &value));
            assert_true(value.slot == slot && value.position == i);
            assert_string_equal(round->set.events[small_set_find(&round->set, id)].type,
                                esi_domain_type(domain, value));
            events |= SMALL_BIT(small_set_find(&round->set, id));
        }
    }
    assert_int_equal(count, esi_domain_count(domain));
    return events;
}

/* Checks all predicates that stand for classes; returns their number of events. */
static unsigned check_classes(struct round *round, bool was_listened)
{
    unsigned found = 0;

    for (int p = 0; p < round->reference.predicate_count; p++) {
        const struct reference_predicate *predicate = &round->reference.predicates[p];
        const struct esi_pattern_predicate *parsed;
        uint64_t wanted, events;
        uint32_t class_number;

        if (!reference_is_class(&round->reference, p) ||
            predicate->occurrences[0].class_number == REFERENCE_NONE)
            continue;
        parsed = esi_pattern_predicate(round->file,
                                       es_pattern_find(round->file, predicate->name));
        class_number = parsed->occurrences[0].class_number;
        wanted = reference_class_events(&round->reference, &round->set,
                                        predicate->occurrences[0].class_number);
        events = events_of(round, esi_domains_class(round->domains, class_number));
        if (events != wanted) {
            small_set_print(&round->set, stdout);
            fail_msg("%s\n%s is wrong", round->text, predicate->name);
        }
        if (was_listened)
            assert_int_equal(events, round->told[class_number]);
        found += (unsigned)__builtin_popcountll(events);
    }
    return found;
}

static void random_classes_have_the_events_of_the_reference(void **state)
{
    enum { ROUNDS = 3000 };
    uint64_t draw;
    unsigned found = 0;

    (void)state;
    draw = random_seed();
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct round round;
        struct esi_domains_listener listener = {.joined = note, .data = &round};
        make_round(&draw, &round);
        assert_int_equal(0, sort_events(&round, i % 2 ? &listener : NULL));
        found += check_classes(&round, i % 2);
        end_round(&round);
    }
    assert_true(found > ROUNDS);
}

static uint64_t failing_draw;

static int try_to_sort(void)
{
    struct round round;
    struct esi_domains_listener listener = {.joined = note, .data = &round};
    uint64_t draw = failing_draw;
    int result;

    failing_pause();
    make_round(&draw, &round);
    failing_resume();
    result = sort_events(&round, random_percent(&draw, 50) ? &listener : NULL);
    failing_pause();
    end_round(&round);
    failing_resume();
    return result;
}

static void an_allocation_that_fails_is_told(void **state)
{
    (void)state;
    failing_draw = random_seed();
    for (unsigned i = 0; i < 20; i++) {
        failing_each(try_to_sort, 10);
        random_below(&failing_draw, 7);
    }
}

SUITE(test_domains_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_classes_have_the_events_of_the_reference),
        cmocka_unit_test(an_allocation_that_fails_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
