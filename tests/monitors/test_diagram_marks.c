/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Saved sums of random programs agree with the whole diagram. */
#include "config.h"

#include <errno.h>

#include "monitors/diagram/diagram_marks.h"
#include "tests/monitors/diagram_case.h"
#include "tests/suites.h"

enum { PROGRAMS = 30, ARCHIVE = 7, ROOM = 1 << 20, BLOCK = 16 };

static unsigned char *save_case(const struct diagram_case *made,
                                size_t room,
                                size_t *ret_length)
{
    unsigned char *bytes;

    assert_int_equal(
        esi_diagram_save_marks(made->diagram, ARCHIVE, room, &bytes, ret_length), 0);
    assert_true(*ret_length <= room);
    return bytes;
}

static struct esi_diagram *load_bytes(const unsigned char *bytes, size_t length)
{
    struct esi_diagram *kept;

    assert_int_equal(esi_diagram_load_marks(bytes, length, ARCHIVE, NULL, &kept), 0);
    return kept;
}

/* The times of the marks of a row, one at every 16th call.  Returns their number. */
static size_t list_marks(const struct seen_row *row, uint64_t marks[CALLS])
{
    size_t calls = 0, count = 0;

    for (size_t i = 0; i < row->count; i++)
        if (!row->calls[i].nonblocking && calls++ % BLOCK == 0)
            marks[count++] = row->calls[i].begin;
    return count;
}

static struct esi_diagram_cell cell_between(struct esi_diagram *diagram,
                                            uint32_t row,
                                            uint64_t from,
                                            uint64_t to)
{
    const struct esi_diagram_window window = {ESI_DIAGRAM_TIME, from, to, 1};
    struct esi_diagram_cell cell = {.calls = 0};

    if (to > from)
        assert_int_equal(esi_diagram_cells(diagram, row, &window, &cell), 0);
    return cell;
}

/* A cell of any window has at least the sums between the outermost marks within it, and
 * at most those between the nearest marks around it. */
static void check_within_marks(const struct diagram_case *made,
                               struct esi_diagram *kept,
                               int rank,
                               const uint64_t *marks,
                               size_t count)
{
    uint32_t row = (uint32_t)row_of_rank(made->diagram, rank);
    struct esi_diagram_window window = draw_window(made->diagram, ESI_DIAGRAM_TIME);
    size_t first = 0, last = 0;
    struct esi_diagram_cell cell, most, least = {.calls = 0};

    while (first + 1 < count && marks[first + 1] <= window.from)
        first++;
    while (last < count && marks[last] < window.to)
        last++;
    cell = cell_between(kept, row, window.from, window.to);
    most = cell_between(made->diagram, row, marks[first],
                        last < count ? marks[last] : UINT64_MAX >> 2);
    if (last > first + 1)
        least = cell_between(made->diagram, row, marks[first + 1], marks[last - 1]);
    for (int state = 1; state < ESI_DIAGRAM_STATES; state++) {
        assert_true(cell.of[state] >= least.of[state] - 1.5);
        assert_true(cell.of[state] <= most.of[state] + 1.5);
    }
}

static void check_kept_row(const struct diagram_case *made,
                           struct esi_diagram *kept,
                           int rank)
{
    uint32_t row = (uint32_t)row_of_rank(made->diagram, rank);
    struct esi_diagram_row told, again;
    uint64_t marks[CALLS];
    size_t count = list_marks(&made->rows[rank], marks);

    assert_int_equal(esi_diagram_row(made->diagram, row, &told), 0);
    assert_int_equal(esi_diagram_row(kept, row, &again), 0);
    assert_string_equal(told.name, again.name);
    assert_string_equal(told.host, again.host);
    assert_true(told.rank == again.rank && told.thread == again.thread &&
                told.events == again.events && told.begin_ns == again.begin_ns &&
                told.end_ns == again.end_ns && told.is_over == again.is_over);
    for (size_t i = 0; i + 1 < count; i++) {
        size_t j = i + 1 + (size_t)draw_below(count - i - 1);
        const struct esi_diagram_window window = {ESI_DIAGRAM_TIME, marks[i], marks[j],
                                                  1};
        struct esi_diagram_cell cell = cell_between(kept, row, marks[i], marks[j]);

        if (marks[j] > marks[i])
            check_time_cell(&made->rows[rank], &window, 0, &cell);
    }
    for (int i = 0; i < WINDOWS; i++)
        check_within_marks(made, kept, rank, marks, count);
}

static void kept_sums_are_those_of_the_whole(void **state)
{
    struct diagram_case made;
    struct esi_diagram *kept;
    unsigned char *bytes;
    size_t length;

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        draw_case(&made, 20 + (int)draw_below(300), 0);
        bytes = save_case(&made, ROOM, &length);
        kept = load_bytes(bytes, length);
        for (int rank = 0; rank < made.timeline.ranks; rank++)
            check_kept_row(&made, kept, rank);
        esi_diagram_destroy(kept);
        free(bytes);
        end_case(&made);
    }
}

/* With less room there are fewer marks; the sums of the whole extent stay exact. */
static void kept_sums_have_the_room_that_there_is(void **state)
{
    struct esi_diagram_extent extent, again;
    struct diagram_case made;
    struct esi_diagram *kept;
    size_t length, shorter;
    unsigned char *bytes;

    (void)state;
    draw_case(&made, 1000, 0);
    free(save_case(&made, ROOM, &length));
    bytes = save_case(&made, length / 3, &shorter);
    assert_true(shorter > length / 12);
    kept = load_bytes(bytes, shorter);
    esi_diagram_extent(made.diagram, &extent);
    esi_diagram_extent(kept, &again);
    assert_memory_equal(&extent.end[ESI_DIAGRAM_TIME], &again.end[ESI_DIAGRAM_TIME], 8);
    assert_true(extent.events == again.events && extent.calls == again.calls);
    for (int rank = 0; rank < made.timeline.ranks; rank++) {
        const struct esi_diagram_window window = {
            ESI_DIAGRAM_TIME, extent.begin[ESI_DIAGRAM_TIME], UINT64_MAX >> 2, 1};
        struct esi_diagram_cell cell = cell_between(
            kept, (uint32_t)row_of_rank(kept, rank), window.from, window.to);

        check_time_cell(&made.rows[rank], &window, 0, &cell);
    }
    assert_int_equal(esi_diagram_save_marks(made.diagram, ARCHIVE, 30, &bytes, &length),
                     -ENOSPC);
    esi_diagram_destroy(kept);
    free(bytes);
    end_case(&made);
}

static void kept_sums_of_something_else_are_refused(void **state)
{
    struct es_error error = {.text = ""};
    struct diagram_case made;
    struct esi_diagram *kept;
    unsigned char *bytes;
    size_t length;

    (void)state;
    draw_case(&made, 100, 0);
    bytes = save_case(&made, ROOM, &length);
    assert_int_equal(esi_diagram_load_marks(bytes, length, ARCHIVE + 1, NULL, &kept),
                     -ESTALE);
    for (size_t i = 0; i < length; i++) {
        int result = esi_diagram_load_marks(bytes, i, ARCHIVE, &error, &kept);

        assert_true(result == -EINVAL && error.text[0] != '\0');
        bytes[i] ^= 1 << draw_below(8);
        es_error_clear(&error);
        result = esi_diagram_load_marks(bytes, length, ARCHIVE, &error, &kept);
        assert_true(result == -ESTALE || (result == -EINVAL && error.text[0] != '\0'));
        free(bytes);
        bytes = save_case(&made, ROOM, &length);
    }
    free(bytes);
    end_case(&made);
}

SUITE(test_diagram_marks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_sums_are_those_of_the_whole),
        cmocka_unit_test(kept_sums_have_the_room_that_there_is),
        cmocka_unit_test(kept_sums_of_something_else_are_refused),
    };

    return cmocka_run_group_tests(tests, (CMFixtureFunction)draw_seed, NULL);
}
