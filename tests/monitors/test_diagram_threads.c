/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One thread adds events to a process-time diagram while another one queries it. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/monitors/diagram_case.h"
#include "tests/suites.h"

struct diagram_asker {
    struct esi_diagram *diagram;
    _Atomic bool is_over;
    uint64_t asked;
};

/* Makes all queries, as pages do while events arrive. */
static void *ask_on(void *data)
{
    struct diagram_asker *asker = data;
    struct esi_diagram_cell cells[COLUMNS];
    struct esi_diagram_call calls[8];
    uint32_t past[TIMELINE_RANKS], future[TIMELINE_RANKS];

    while (!atomic_load(&asker->is_over)) {
        struct esi_diagram_window window = {.columns = COLUMNS};
        struct esi_diagram_extent extent;
        struct es_event_id id;

        esi_diagram_extent(asker->diagram, &extent);
        window.axis = asker->asked++ % 2 ? ESI_DIAGRAM_TIME : ESI_DIAGRAM_LEVEL;
        window.from = extent.begin[window.axis];
        window.to = extent.end[window.axis];
        for (uint32_t row = 0; row < extent.rows; row++) {
            esi_diagram_cells(asker->diagram, row, &window, cells);
            esi_diagram_calls(asker->diagram, row, &window, calls, 8);
            if (esi_diagram_nearest(asker->diagram, row, window.axis, window.from,
                                    &id) == 0)
                esi_diagram_cone(asker->diagram, id, past, future, extent.rows);
        }
    }
    return NULL;
}

static void who_asks_meets_whole_events(void **state)
{
    struct diagram_asker asker = {.asked = 0};
    struct diagram_case made;
    pthread_t thread;

    (void)state;
    begin_case(&made, 4, 1);
    for (int i = 0; i < 1200; i++)
        draw_step(&made.timeline);
    asker.diagram = made.diagram;
    assert_int_equal(pthread_create(&thread, NULL, ask_on, &asker), 0);
    run_case(&made);
    atomic_store(&asker.is_over, true);
    pthread_join(thread, NULL);
    end_case(&made);
}

SUITE(test_diagram_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_meets_whole_events),
    };

    return cmocka_run_group_tests(tests, (CMFixtureFunction)draw_seed, NULL);
}
