/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* All findings on a recorded run come from two readings of its streams. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitors/latent/latent.h"
#include "tests/archive/made_archive.h"
#include "tests/suites.h"

enum { RANKS = 3, TUPLES = 9 };

/* Rank 1 is killed if the run is not to end well. */
static void make_archive(struct made_archive *made, bool ends_well)
{
    struct esi_archive_tables *tables;

    made_archive_begin(made, RANKS);
    for (uint32_t i = 0; i < RANKS; i++)
        for (uint64_t k = 1; k <= TUPLES; k++)
            made_archive_append(made, i, 1000 * k, (int)k);
    tables = esi_archive_writer_tables(made->archive);
    for (int i = 0; i < RANKS; i++) {
        struct esi_archive_process *process = &tables->processes[i];
        bool is_killed = i == 1 && !ends_well;

        snprintf(process->state, sizeof process->state, "%s",
                 is_killed ? "killed" : "finalized");
        process->signal = is_killed ? SIGKILL : 0;
        process->ended_realtime_ns = is_killed ? 20000 : 0;
    }
    made_archive_close(made);
}

/* How often files of streams were opened; their names are "ELEMENT.NUMBER". */
static int count_openings(int watcher)
{
    _Alignas(struct inotify_event) char events[65536];
    ssize_t length = read(watcher, events, sizeof events);
    int count = 0;

    for (ssize_t at = 0; at < length;) {
        const struct inotify_event *event = (const struct inotify_event *)&events[at];

        count += event->len > 0 && strncmp(event->name, "metadata", 8) != 0;
        at += (ssize_t)sizeof *event + (ssize_t)event->len;
    }
    return count;
}

static void assert_read_twice(bool ends_well)
{
    int watcher = inotify_init1(IN_NONBLOCK);
    struct made_archive made;
    struct esi_latent latent;

    assert_true(watcher >= 0);
    make_archive(&made, ends_well);
    assert_true(inotify_add_watch(watcher, made_archive_path(&made, "made"), IN_OPEN) >=
                0);
    assert_int_equal(esi_latent_read(made.directory, NULL, &latent), 0);
    assert_int_equal(count_openings(watcher), 2 * RANKS);
    assert_true(esi_archived_facts_ended_well(latent.archived) == ends_well);
    assert_int_equal(esi_archived_facts_get(latent.archived)->process_count, RANKS);
    assert_true(esi_archived_facts_get(latent.archived)->threads[1].last.present ==
                !ends_well);
    esi_latent_fini(&latent);
    close(watcher);
    made_archive_remove(&made);
}

static void a_run_that_ended_well_is_read_twice(void **state)
{
    (void)state;
    assert_read_twice(true);
}

static void a_run_that_died_is_read_twice(void **state)
{
    (void)state;
    assert_read_twice(false);
}

SUITE(test_latent_archive)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_ended_well_is_read_twice),
        cmocka_unit_test(a_run_that_died_is_read_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
