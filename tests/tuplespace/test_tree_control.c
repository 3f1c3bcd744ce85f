/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tree control: desired rules arrive whole, the log keeps its newest entries, and a
 * damaged control crashes no reader. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/tree_control.h"

struct scene {
    struct es_segment *segment;
    struct es_run *run;
    struct es_segment_view *view;
    char *text; /* ES_TREE_DESIRED_BYTES */
};

static int set_up(void **state)
{
    static struct scene scene;
    char id[64];

    fixture_run("trees", id);
    scene.segment = fixture_segment(id, 0);
    assert_int_equal(esi_segment_add_tree_control(scene.segment), 0);
    scene.run = fixture_open(id);
    scene.view = es_run_segment(scene.run, 0);
    scene.text = malloc(ES_TREE_DESIRED_BYTES);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    free(scene->text);
    es_run_close(scene->run);
    esi_segment_destroy(scene->segment);
    return 0;
}

static struct esi_tree_control_layout *board_of(const struct scene *scene)
{
    struct esi_segment_layout *layout = esi_segment_layout(scene->segment);

    return (void *)((char *)layout + layout->tree_control_offset);
}

static void a_wish_reaches_the_process(void **state)
{
    struct scene *scene = *state;

    assert_true(esi_segment_view_has_trees(scene->view));
    assert_int_equal(esi_tree_desired_version(scene->segment), 0);
    assert_int_equal(esi_tree_desired_read(scene->segment, scene->text), 0);
    for (int version = 1; version < 20; version++) {
        char wish[64];

        snprintf(wish, sizeof wish, "%.*s of version %d", version % 5, "wish", version);
        assert_int_equal(esi_segment_view_desired(scene->view, wish), version);
        assert_int_equal(esi_tree_desired_version(scene->segment), version);
        assert_int_equal(esi_tree_desired_read(scene->segment, scene->text), version);
        assert_string_equal(scene->text, wish);
        assert_int_equal(esi_segment_view_read_desired(scene->view, scene->text),
                         version);
        assert_string_equal(scene->text, wish);
    }
    assert_int_equal(esi_segment_view_desired(scene->view, ""), 20);
    assert_int_equal(esi_tree_desired_read(scene->segment, scene->text), 20);
    assert_string_equal(scene->text, "");
}

static void the_longest_wish_fits_and_no_longer_one(void **state)
{
    struct scene *scene = *state;
    char *wish = malloc(ES_TREE_DESIRED_BYTES + 1);

    memset(wish, 'x', ES_TREE_DESIRED_BYTES);
    wish[ES_TREE_DESIRED_BYTES] = '\0';
    assert_int_equal(esi_segment_view_desired(scene->view, wish), -EMSGSIZE);
    wish[ES_TREE_DESIRED_BYTES - 1] = '\0';
    assert_int_equal(esi_segment_view_desired(scene->view, wish), 1);
    assert_int_equal(esi_tree_desired_read(scene->segment, scene->text), 1);
    assert_string_equal(scene->text, wish);
    free(wish);
}

static void a_process_without_trees_takes_no_wish(void **state)
{
    struct es_segment *segment;
    struct es_run *run;
    struct esi_tree_log_entry entry = {0};
    char id[64];
    char text[8];

    (void)state;
    fixture_run("no-trees", id);
    segment = fixture_segment(id, 0);
    run = fixture_open(id);
    assert_false(esi_segment_view_has_trees(es_run_segment(run, 0)));
    assert_int_equal(esi_segment_view_desired(es_run_segment(run, 0), "x"), -ENOENT);
    assert_int_equal(esi_segment_view_read_desired(es_run_segment(run, 0), text), 0);
    assert_int_equal(esi_segment_view_tree_log(es_run_segment(run, 0), &entry, 1), 0);
    assert_int_equal(esi_tree_desired_version(segment), 0);
    assert_int_equal(esi_tree_desired_read(segment, text), 0);
    esi_tree_log_add(segment, &entry);
    /* A reader that attached before the control was added finds it, too. */
    assert_int_equal(esi_segment_add_tree_control(segment), 0);
    assert_int_equal(esi_segment_add_tree_control(segment), 0);
    assert_int_equal(esi_segment_view_desired(es_run_segment(run, 0), "x"), 1);
    es_run_close(run);
    esi_segment_destroy(segment);
}

static void a_second_writer_is_refused_while_the_first_lives(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_control_layout *control = board_of(scene);
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    atomic_store(&control->writer, (uint64_t)child);
    assert_int_equal(esi_segment_view_desired(scene->view, "x"), -EBUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(esi_segment_view_desired(scene->view, "x"), 1);
    assert_int_equal(atomic_load(&control->writer), 0);
}

/* --- The log ---------------------------------------------------------------------- */

static void the_log_keeps_its_newest_entries(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_log_entry *entries =
        calloc(ES_TREE_LOG_ENTRIES + 5, sizeof *entries);

    for (uint32_t i = 1; i <= 3 * ES_TREE_LOG_ENTRIES; i++) {
        struct esi_tree_log_entry entry = {
            .communicator = (uint16_t)i, .version = i, .name = "n", .text = "kary:2"};
        uint32_t expected = i < ES_TREE_LOG_ENTRIES ? i : ES_TREE_LOG_ENTRIES;
        size_t count;

        esi_tree_log_add(scene->segment, &entry);
        count =
            esi_segment_view_tree_log(scene->view, entries, ES_TREE_LOG_ENTRIES + 5);
        assert_int_equal(count, expected);
        assert_int_equal(entries[count - 1].version, i);
        assert_int_equal(entries[0].version, i - expected + 1);
        assert_memory_equal(&entries[count - 1], &entry, sizeof entry);
    }
    assert_int_equal(esi_segment_view_tree_log(scene->view, entries, 2), 2);
    assert_int_equal(entries[1].version, 3 * ES_TREE_LOG_ENTRIES);
    free(entries);
}

/* --- Concurrency ------------------------------------------------------------------ */

enum { WISHES = 3000 };

/* Fills the text with one letter, so that a reader that sees parts of
 * two texts detects it. */
static void make_wish(char *out, unsigned int number)
{
    size_t length = 1000 + number % 1777;

    memset(out, 'a' + (int)(number % 26), length);
    out[length] = '\0';
}

static bool is_whole(const char *text)
{
    return strspn(text, (char[]){text[0], '\0'}) == strlen(text) &&
           strlen(text) >= 1000;
}

static void *write_wishes(void *argument)
{
    struct scene *scene = argument;
    char wish[4096];
    int written = 0;

    for (unsigned int i = 0; written < WISHES; i++) {
        int version;

        make_wish(wish, i);
        version = esi_segment_view_desired(scene->view, wish);
        if (version > 0)
            written++;
        else if (version != -EBUSY)
            abort();
    }
    return NULL;
}

static void readers_see_whole_wishes_only(void **state)
{
    struct scene *scene = *state;
    uint32_t last = 0;
    pthread_t writers[2];
    uint64_t seen = 0;

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_wishes, scene), 0);
    while (last < 2 * WISHES) {
        uint32_t version = esi_tree_desired_read(scene->segment, scene->text);

        if (version == 0)
            continue;
        assert_true(is_whole(scene->text));
        assert_true(version >= last);
        seen += version != last;
        last = version;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    assert_int_equal(last, 2 * WISHES);
    printf("# %llu of %d desired were read\n", (unsigned long long)seen, 2 * WISHES);
}

static void *write_log(void *argument)
{
    struct scene *scene = argument;

    for (uint32_t i = 1; i <= 100000; i++) {
        struct esi_tree_log_entry entry = {
            .version = i, .first_instance = i, .min_bytes = i, .max_bytes = i};

        esi_tree_log_add(scene->segment, &entry);
    }
    return NULL;
}

static void readers_see_whole_entries_only(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_log_entry entries[ES_TREE_LOG_ENTRIES];
    pthread_t writer;
    uint32_t newest = 0;

    assert_int_equal(pthread_create(&writer, NULL, write_log, scene), 0);
    while (newest < 100000) {
        size_t count =
            esi_segment_view_tree_log(scene->view, entries, ES_TREE_LOG_ENTRIES);

        for (size_t i = 0; i < count; i++) {
            assert_true(entries[i].version == entries[i].first_instance &&
                        entries[i].version == entries[i].min_bytes &&
                        entries[i].version == entries[i].max_bytes);
            assert_true(i == 0 || entries[i].version > entries[i - 1].version);
            newest = entries[i].version;
        }
    }
    pthread_join(writer, NULL);
}

/* --- Damaged controls ------------------------------------------------------------- */

static void use_board(const struct scene *scene)
{
    struct esi_tree_log_entry entries[8];
    size_t count;

    esi_segment_view_has_trees(scene->view);
    esi_segment_view_desired(scene->view, "a wish");
    if (esi_segment_view_read_desired(scene->view, scene->text) != 0)
        assert_true(strlen(scene->text) < ES_TREE_DESIRED_BYTES);
    count = esi_segment_view_tree_log(scene->view, entries, 8);
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++)
        assert_true(strlen(entries[i].text) < sizeof entries[i].text);
}

static void broken_places_are_refused(void **state)
{
    static const uint64_t offsets[] = {
        1, 64, ES_SEGMENT_HEADER_BYTES + 8, UINT64_MAX, UINT64_MAX - 63, 1ull << 62};
    struct scene *scene = *state;
    struct esi_segment_layout *layout = esi_segment_layout(scene->segment);
    uint64_t kept = layout->tree_control_offset;

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        layout->tree_control_offset = offsets[i];
        assert_false(esi_segment_view_has_trees(scene->view));
        use_board(scene);
    }
    for (uint64_t back = 64; back < 1024; back += 64) {
        layout->tree_control_offset = layout->segment_bytes - back;
        use_board(scene);
    }
    layout->tree_control_offset = kept;
    assert_true(esi_segment_view_has_trees(scene->view));
}

static void broken_numbers_harm_nobody(void **state)
{
    struct scene *scene = *state;
    struct esi_tree_control_layout *control = board_of(scene);
    struct esi_tree_control_layout kept;
    uint64_t random = random_seed();
    int refused = 0;

    esi_segment_view_desired(scene->view, "a wish that is sound");
    memcpy(&kept, control, sizeof kept);
    for (int i = 0; i < 20000; i++) {
        uint64_t number = random_number(&random);
        size_t bytes = 4 + 4 * (random_next(&random) % 2);
        size_t at = random_next(&random) % (sizeof *control - bytes);

        memcpy((char *)control + (i % 2 == 0 ? at / 4 * 4 : at), &number, bytes);
        refused += !esi_segment_view_has_trees(scene->view);
        use_board(scene);
        esi_tree_desired_read(scene->segment, scene->text);
        memcpy(control, &kept, sizeof kept);
    }
    printf("# %d of 20000 controls were refused\n", refused);
    assert_in_range(refused, 1, 19999);
    assert_int_equal(esi_segment_view_read_desired(scene->view, scene->text), 1);
}

/* --- Other versions --------------------------------------------------------------- */

static void segments_of_minor_version_0_have_no_board(void **state)
{
    struct scene *scene = *state;
    struct esi_segment_layout *layout = esi_segment_layout(scene->segment);
    struct es_run *run;

    layout->minor = 0;
    run = fixture_open(layout->run);
    assert_false(esi_segment_view_has_trees(es_run_segment(run, 0)));
    assert_int_equal(esi_segment_view_desired(es_run_segment(run, 0), "x"), -ENOENT);
    es_run_close(run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(test_tree_control)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wish_reaches_the_process),
        TEST(the_longest_wish_fits_and_no_longer_one),
        cmocka_unit_test(a_process_without_trees_takes_no_wish),
        TEST(a_second_writer_is_refused_while_the_first_lives),
        TEST(the_log_keeps_its_newest_entries),
        TEST(readers_see_whole_wishes_only),
        TEST(readers_see_whole_entries_only),
        TEST(broken_places_are_refused),
        TEST(broken_numbers_harm_nobody),
        TEST(segments_of_minor_version_0_have_no_board),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
