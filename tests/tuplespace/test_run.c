/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Runs on a host: listing, opening, refreshing, selecting and removing them. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"

/* Forks a process that makes a segment with some elements and exits. */
static pid_t leave_segment(const char *id,
                           int rank,
                           enum esi_segment_state end,
                           int *ret_status)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct es_segment *segment = fixture_segment(id, rank);
        struct esi_writer writer;
        char name[64];

        for (int thread = 0; thread < 2; thread++) {
            struct esi_element_config config = fixture_config(name, 15);

            snprintf(name, sizeof name, "%d.%d/%s", rank, thread,
                     thread == 0 ? "send" : "receive");
            config.rank = rank;
            config.thread = thread;
            config.classes = thread == 0 ? 2 : 4;
            config.collector = thread == 0 ? "send" : "receive";
            if (esi_segment_add_element(segment, &config, &writer) != 0)
                _exit(100);
        }
        esi_segment_set_state(segment, end);
        _exit(rank);
    }
    waitpid(pid, ret_status, 0);
    return pid;
}

static const struct es_run_info *find_run(const struct es_run_info *runs,
                                          int count,
                                          const char *id)
{
    for (int i = 0; i < count; i++)
        if (strcmp(runs[i].run, id) == 0)
            return &runs[i];
    return NULL;
}

static void runs_are_listed_with_their_segments(void **state)
{
    const struct es_run_info *found;
    struct es_run_info *runs;
    int status, count;
    char id[64];

    (void)state;
    fixture_run("run", id);
    leave_segment(id, 0, ES_SEGMENT_RUNNING, &status);
    leave_segment(id, 1, ES_SEGMENT_RUNNING, &status);
    count = es_run_list(&runs);
    assert_true(count >= 1);
    found = find_run(runs, count, id);
    assert_non_null(found);
    assert_int_equal(found->segments, 2);
    assert_int_equal(found->alive, 0);
    assert_int_equal(found->unreadable, 0);
    assert_true(found->started_realtime_ns > UINT64_C(1600000000000000000));
    free(runs);
    assert_int_equal(es_run_remove(id, false), 2);
    count = es_run_list(&runs);
    assert_null(find_run(runs, count, id));
    free(runs);
}

/* Runs of other folders, and segments that record no folder, are listed and removed
 * only by the calls for all folders. */
static void runs_belong_to_their_folder(void **state)
{
    struct es_run_info *runs;
    struct es_segment *here, *elsewhere;
    struct es_run *run;
    char id[64], other[64];
    int count;

    (void)state;
    here = fixture_segment(fixture_run("run", id), 0);
    snprintf(other, sizeof other, "%.50s-other", id);
    elsewhere = fixture_segment(other, 0);
    for (int i = 0; i < 2; i++) {
        esi_segment_layout(elsewhere)->folder =
            i == 0 ? esi_segment_layout(here)->folder + 1 : 0;
        count = es_run_list(&runs);
        assert_non_null(find_run(runs, count, id));
        assert_false(find_run(runs, count, id)->elsewhere);
        assert_null(find_run(runs, count, other));
        free(runs);
        count = es_run_list_everywhere(&runs);
        assert_false(find_run(runs, count, id)->elsewhere);
        assert_true(find_run(runs, count, other)->elsewhere);
        free(runs);
        /* A run can be opened by name from any folder. */
        assert_int_equal(es_run_open(other, NULL, &run), 0);
        es_run_close(run);
    }
    esi_segment_layout(elsewhere)->folder = esi_segment_layout(here)->folder + 1;
    assert_int_equal(es_run_remove(other, true), 0);
    assert_int_equal(es_run_remove_everywhere(other, true), 1);
    esi_segment_destroy(elsewhere);
    assert_int_equal(es_run_remove(id, true), 1);
    esi_segment_destroy(here);
}

static void a_run_of_another_user_is_named_so(void **state)
{
    struct es_error error = {.text = ""};
    struct es_segment *segment;
    struct es_run *run;
    char id[64], path[192];

    (void)state;
    segment = fixture_segment(fixture_run("run", id), 0);
    snprintf(path, sizeof path, "/dev/shm/eventspace.%s.%s.0.%d", id,
             esi_segment_layout(segment)->host, (int)getpid());
    if (chown(path, 12345, 12345) != 0) {
        esi_segment_destroy(segment);
        skip(); /* Only root can give a file away. */
    }
    assert_int_equal(es_run_open(id, &error, &run), -EACCES);
    assert_non_null(strstr(error.text, "belongs to user 12345"));
    assert_int_equal(es_run_remove_everywhere(id, true), 0);
    esi_segment_destroy(segment);
}

static void segments_have_one_mode_whatever_the_umask(void **state)
{
    static const mode_t umasks[] = {0, 0777};
    char id[64], path[192];
    struct stat status;

    (void)state;
    for (size_t i = 0; i < sizeof umasks / sizeof umasks[0]; i++) {
        mode_t before = umask(umasks[i]);
        struct es_segment *segment = fixture_segment(fixture_run("run", id), 0);

        umask(before);
        snprintf(path, sizeof path, "/dev/shm/eventspace.%s.%s.0.%d", id,
                 esi_segment_layout(segment)->host, (int)getpid());
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        esi_segment_destroy(segment);
    }
}

static void segments_are_ordered_by_rank(void **state)
{
    struct es_segment_info info;
    struct es_run *run;
    int status;
    char id[64];

    (void)state;
    fixture_run("run", id);
    for (int rank = 3; rank >= 0; rank--)
        leave_segment(id, rank, ES_SEGMENT_RUNNING, &status);
    run = fixture_open(id);
    assert_int_equal(es_run_segment_count(run), 4);
    for (int rank = 0; rank < 4; rank++) {
        es_segment_view_info(es_run_segment(run, (size_t)rank), &info);
        assert_int_equal(info.rank, rank);
    }
    assert_null(es_run_segment(run, 4));
    es_run_close(run);
    assert_int_equal(es_run_remove(id, false), 4);
}

static void endings_are_told_apart(void **state)
{
    static const struct {
        enum esi_segment_state left;
        bool noted;
        enum es_process_state seen;
        int exit_code;
    } rows[] = {
        {ES_SEGMENT_RUNNING, false, ES_PROCESS_LOST, -1},
        {ES_SEGMENT_RUNNING, true, ES_PROCESS_EXITED, 5},
        {ES_SEGMENT_FINALIZED, false, ES_PROCESS_FINALIZED, -1},
        {ES_SEGMENT_FINALIZED, true, ES_PROCESS_FINALIZED, 5},
        {ES_SEGMENT_ABORTED, true, ES_PROCESS_ABORTED, 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_segment_info info;
        struct es_run *run;
        int status;
        char id[64];
        pid_t pid = leave_segment(fixture_run("run", id), 5, rows[i].left, &status);

        if (rows[i].noted)
            assert_int_equal(es_run_note_exit(id, pid, status, 1), 1);
        run = fixture_open(id);
        es_segment_view_info(es_run_segment(run, 0), &info);
        assert_int_equal(info.state, rows[i].seen);
        assert_int_equal(info.exit_code, rows[i].exit_code);
        assert_int_equal(info.pid, pid);
        assert_false(info.alive);
        es_run_close(run);
        assert_int_equal(es_run_remove(id, false), 1);
    }
}

static void a_note_for_another_pid_changes_nothing(void **state)
{
    int status;
    char id[64];

    (void)state;
    leave_segment(fixture_run("run", id), 0, ES_SEGMENT_RUNNING, &status);
    assert_int_equal(es_run_note_exit(id, 1, 0, 1), 0);
    assert_int_equal(es_run_remove(id, false), 1);
}

static void a_run_that_is_not_there_is_refused_in_words(void **state)
{
    struct es_error error = {.text = ""};
    struct es_run *run;

    (void)state;
    assert_int_equal(es_run_open("no-such-run", &error, &run), -ENOENT);
    assert_non_null(strstr(error.text, "no-such-run"));
    es_error_clear(&error);
    assert_int_equal(es_run_open("a/b", &error, &run), -EINVAL);
    assert_non_null(strstr(error.text, "expected 1 to 63 characters"));
}

static void a_run_that_is_not_there_yet_can_be_awaited(void **state)
{
    struct es_error error = {.text = ""};
    struct es_run *run;
    char id[64];

    (void)state;
    fixture_run("awaited", id);
    assert_int_equal(es_run_open_empty("a/b", &error, &run), -EINVAL);
    assert_int_equal(es_run_open_empty(id, &error, &run), 0);
    assert_int_equal(es_run_segment_count(run), 0);
    assert_int_equal(es_run_refresh(run), 0);
    struct es_segment *segment = fixture_segment(id, 0);
    assert_int_equal(es_run_refresh(run), 1);
    assert_int_equal(es_run_segment_count(run), 1);
    es_run_close(run);
    esi_segment_destroy(segment);
    es_run_remove(id, true);
}

static void a_refresh_finds_new_segments_and_elements(void **state)
{
    struct es_element_view *first;
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_run *run;
    int status;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("run", id), 1);
    fixture_element(segment, "1.0/a", 15, &writer);
    run = fixture_open(id);
    first = fixture_find(run, "1.0/a");
    assert_int_equal(es_run_refresh(run), 0);
    fixture_element(segment, "1.0/b", 15, &writer);
    assert_int_equal(es_run_refresh(run), 1);
    leave_segment(id, 0, ES_SEGMENT_RUNNING, &status);
    /* One segment and its two elements are new. */
    assert_int_equal(es_run_refresh(run), 3);
    assert_non_null(fixture_find(run, "1.0/b"));
    assert_non_null(fixture_find(run, "0.1/receive"));
    /* A refresh does not replace views. */
    assert_ptr_equal(fixture_find(run, "1.0/a"), first);
    es_run_close(run);
    esi_segment_destroy(segment);
    assert_int_equal(es_run_remove(id, false), 1);
}

static void selections_choose_by_attributes(void **state)
{
    static const struct {
        struct es_selection selection;
        const char *names;
    } rows[] = {
        {{.thread = -1},
         "0.0/send 0.1/receive 1.0/send 1.1/receive 2.0/send 2.1/receive "},
        {{.thread = 1}, "0.1/receive 1.1/receive 2.1/receive "},
        {{.thread = -1, .ranks = "0,2-"}, "0.0/send 0.1/receive 2.0/send 2.1/receive "},
        {{.thread = -1, .ranks = "7"}, ""},
        {{.thread = -1, .classes = 2}, "0.0/send 1.0/send 2.0/send "},
        {{.thread = -1, .classes = 8}, ""},
        {{.thread = -1, .collector = "receive"},
         "0.1/receive 1.1/receive 2.1/receive "},
        {{.thread = -1, .name = "1.*"}, "1.0/send 1.1/receive "},
        {{.thread = -1, .host = "testhost.local", .name = "*/send", .ranks = "1"},
         "1.0/send "},
        {{.thread = -1, .host = "elsewhere"}, ""},
    };
    struct es_run *run;
    int status;
    char id[64];

    (void)state;
    fixture_run("run", id);
    for (int rank = 2; rank >= 0; rank--)
        leave_segment(id, rank, ES_SEGMENT_RUNNING, &status);
    run = fixture_open(id);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_element_view **elements;
        char names[256] = "";
        int count = es_run_select(run, &rows[i].selection, &elements);

        for (int j = 0; j < count; j++) {
            struct es_element_info info;

            es_element_view_info(elements[j], &info);
            strcat(names, info.name);
            strcat(names, " ");
            assert_true(es_selection_has(&rows[i].selection, elements[j]));
        }
        assert_string_equal(names, rows[i].names);
        free(elements);
    }
    es_run_close(run);
    assert_int_equal(es_run_remove(id, false), 3);
}

static void a_bad_selection_is_refused(void **state)
{
    struct es_selection selection;
    struct es_error error = {.text = ""};

    (void)state;
    es_selection_init(&selection);
    assert_int_equal(es_selection_check(&selection, &error), 0);
    selection.ranks = "3-x";
    assert_int_equal(es_selection_check(&selection, &error), -EINVAL);
    assert_non_null(strstr(error.text, "'3-x'"));
}

static int make_garbage(const char *id, pid_t pid, char name[128])
{
    int fd;

    snprintf(name, 128, "/eventspace.%s.testhost.9.%d", id, (int)pid);
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 8192), 0);
    assert_int_equal(write(fd, "garbage!", 8), 8);
    return fd;
}

static void what_cannot_be_attached_is_named(void **state)
{
    const struct es_error *why;
    struct es_error error = {.text = ""};
    struct es_run *run;
    int status;
    pid_t pid;
    char id[64], name[128];

    (void)state;
    fixture_run("run", id);
    pid = leave_segment(id, 0, ES_SEGMENT_RUNNING, &status);
    close(make_garbage(id, pid, name));
    run = fixture_open(id);
    assert_int_equal(es_run_segment_count(run), 1);
    assert_int_equal(es_run_unreadable_count(run), 1);
    why = es_run_unreadable(run, 0);
    assert_string_equal(why->source, name);
    assert_string_equal(why->text, "not a segment of EventSpace");
    assert_int_equal(es_run_refresh(run), 0);
    assert_int_equal(es_run_unreadable_count(run), 1);
    assert_null(es_run_unreadable(run, 1));
    es_run_close(run);
    /* Removing the run also removes the garbage with the dead process's name. */
    assert_int_equal(es_run_remove(id, false), 2);
    close(make_garbage(id, pid, name));
    assert_int_equal(es_run_open(id, &error, &run), -EPROTO);
    assert_string_equal(error.source, name);
    assert_int_equal(es_run_remove(id, false), 1);
}

static void a_false_byte_order_mark_is_refused_in_words(void **state)
{
    static const uint32_t marks[] = {0, __builtin_bswap32(ES_SEGMENT_ENDIAN)};
    struct es_segment *segment;
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("run", id), 0);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        struct es_error error = {.text = ""};

        esi_segment_layout(segment)->endian = marks[i];
        assert_int_equal(es_run_open(id, &error, &run), -EPROTO);
        assert_non_null(strstr(error.text, "byte order mark"));
    }
    esi_segment_destroy(segment);
}

/* A file of the other byte order comes from another machine.  It is
 * neither read nor written. */
static void a_segment_of_the_other_byte_order_is_refused_in_words(void **state)
{
    struct es_error error = {.text = ""};
    struct es_segment *segment, *native;
    struct esi_segment_layout before;
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("run", id), 0);
    esi_segment_layout(segment)->magic = __builtin_bswap64(ES_SEGMENT_MAGIC);
    esi_segment_layout(segment)->endian = __builtin_bswap32(ES_SEGMENT_ENDIAN);
    memcpy(&before, esi_segment_layout(segment), sizeof before);
    assert_int_equal(es_run_open(id, &error, &run), -EPROTO);
    assert_non_null(strstr(error.text, "machine of the other byte order"));
    assert_int_equal(es_run_note_exit(id, getpid(), 0, 1), 0);
    assert_memory_equal(esi_segment_layout(segment), &before, sizeof before);
    /* The run's other segments are read. */
    native = fixture_segment(id, 1);
    run = fixture_open(id);
    assert_int_equal(es_run_segment_count(run), 1);
    assert_int_equal(es_run_unreadable_count(run), 1);
    assert_non_null(strstr(es_run_unreadable(run, 0)->text, "other byte order"));
    es_run_close(run);
    esi_segment_destroy(native);
    esi_segment_destroy(segment);
}

static void another_major_version_is_refused_in_words(void **state)
{
    struct es_error error = {.text = ""};
    struct es_segment *segment;
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("run", id), 0);
    esi_segment_layout(segment)->major++;
    assert_int_equal(es_run_open(id, &error, &run), -EPROTO);
    assert_non_null(strstr(error.text, "another version"));
    esi_segment_destroy(segment);
}

SUITE(test_run)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_listed_with_their_segments),
        cmocka_unit_test(segments_are_ordered_by_rank),
        cmocka_unit_test(runs_belong_to_their_folder),
        cmocka_unit_test(a_run_of_another_user_is_named_so),
        cmocka_unit_test(segments_have_one_mode_whatever_the_umask),
        cmocka_unit_test(endings_are_told_apart),
        cmocka_unit_test(a_note_for_another_pid_changes_nothing),
        cmocka_unit_test(a_run_that_is_not_there_is_refused_in_words),
        cmocka_unit_test(a_run_that_is_not_there_yet_can_be_awaited),
        cmocka_unit_test(a_refresh_finds_new_segments_and_elements),
        cmocka_unit_test(selections_choose_by_attributes),
        cmocka_unit_test(a_bad_selection_is_refused),
        cmocka_unit_test(what_cannot_be_attached_is_named),
        cmocka_unit_test(a_false_byte_order_mark_is_refused_in_words),
        cmocka_unit_test(a_segment_of_the_other_byte_order_is_refused_in_words),
        cmocka_unit_test(another_major_version_is_refused_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
