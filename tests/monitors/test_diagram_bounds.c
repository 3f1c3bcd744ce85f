/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Searches for intervals find what a scan of all finds, and look at little else. */
#include "config.h"

#include "monitors/diagram/diagram_bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/monitors/draw.h"
#include "tests/suites.h"

enum { INTERVALS = 20000, WINDOWS = 300, SETS = 20, BLOCK = 1 << ESI_BOUNDS_BITS };

struct made_intervals {
    struct esi_bounds bounds;
    uint64_t begin[INTERVALS], end[INTERVALS];
    uint64_t count, first;
    uint64_t now;
};

static void add_interval(struct made_intervals *made, uint64_t longest)
{
    uint64_t length = draw_below(longest);

    made->now += draw_below(20);
    made->begin[made->count] = made->now > length ? made->now - length : 0;
    made->end[made->count] = made->now;
    assert_int_equal(esi_bounds_add(&made->bounds, made->count,
                                    made->begin[made->count], made->end[made->count]),
                     0);
    made->count++;
}

/* Returns how many were looked at without being in the window; adds those in it. */
static uint64_t search_window(const struct made_intervals *made,
                              uint64_t from,
                              uint64_t to,
                              uint64_t *hits)
{
    uint64_t next = made->first, looks = 0;

    for (uint64_t i = made->first; i < made->count; i++) {
        if (made->begin[i] >= to || made->end[i] < from)
            continue;
        while ((next = esi_bounds_next(&made->bounds, next, made->count, from, to)) <
               i) {
            next++;
            looks++;
        }
        assert_int_equal(next, i); /* none is skipped */
        next++;
        ++*hits;
    }
    while ((next = esi_bounds_next(&made->bounds, next, made->count, from, to)) <
           made->count) {
        next++;
        looks++;
    }
    return looks;
}

static void searches_find_what_scans_find(void **state)
{
    static struct made_intervals made;

    (void)state;
    for (int set = 0; set < SETS; set++) {
        uint64_t count = 1 + draw_below(3000), hits = 0;

        made = (struct made_intervals){.now = 1000};
        for (uint64_t i = 0; i < count; i++) {
            add_interval(&made, 1 + draw_below(100) * draw_below(300));
            if (draw_below(500) == 0) {
                made.first += draw_below(made.count - made.first + 1);
                esi_bounds_drop(&made.bounds, made.first);
            }
        }
        for (int i = 0; i < WINDOWS; i++) {
            uint64_t from = draw_below(made.now + 100);

            search_window(&made, from, from + 1 + draw_below(2000), &hits);
        }
        esi_bounds_fini(&made.bounds);
    }
}

/* Many are before the window, and many behind it. */
static void searches_look_at_few_outside_the_window(void **state)
{
    static struct made_intervals made;

    (void)state;
    made = (struct made_intervals){.now = 1000};
    for (int i = 0; i < INTERVALS; i++)
        add_interval(&made, 100);
    for (int i = 0; i < WINDOWS; i++) {
        uint64_t from = draw_below(made.now), hits = 0;

        assert_true(search_window(&made, from, from + 1 + draw_below(500), &hits) <=
                    8 * BLOCK);
    }
    esi_bounds_fini(&made.bounds);
}

SUITE(test_diagram_bounds)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_find_what_scans_find),
        cmocka_unit_test(searches_look_at_few_outside_the_window),
    };

    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
