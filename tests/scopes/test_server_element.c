/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of elements that tuple servers hold for consumers. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/now.h"
#include "eventspace/server_element.h"
#include "made_run.h"
#include "element_servers.h"
#include "scopes/server/element_store.h"
#include "tests/suites.h"

enum { HOSTS = 2, THRESHOLD = 31 };

/* The tuples written by the tests. */
struct item {
    uint32_t writer;
    uint32_t number;
};

struct scene {
    struct made_run run;
    struct element_server made[HOSTS];
    struct es_servers *servers;
};

static int set_up(void **state)
{
    static struct scene scene;

    made_run_begin(&scene.run);
    element_server_start(&scene.made[0], scene.run.name, "alpha");
    element_server_start(&scene.made[1], scene.run.name, "beta");
    scene.servers = element_servers(scene.made, HOSTS);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    es_servers_close(scene->servers);
    element_server_stop(&scene->made[0]);
    element_server_stop(&scene->made[1]);
    made_run_end(&scene->run);
    return 0;
}

static struct es_server_element *create(const struct scene *scene,
                                        const char *host,
                                        const char *name)
{
    struct es_error error = {.text = ""};
    struct es_server_element *element;

    if (es_server_element_create(scene->servers, host, name, sizeof(struct item),
                                 THRESHOLD, &error, &element) != 0)
        fail_msg("%s", error.text);
    return element;
}

static struct es_server_element *open_again(const struct scene *scene,
                                            const char *host,
                                            const char *name)
{
    struct es_error error = {.text = ""};
    struct es_server_element *element;

    if (es_server_element_open(scene->servers, host, name, &error, &element) != 0)
        fail_msg("%s", error.text);
    return element;
}

static void append(struct es_server_element *element, uint32_t writer, uint32_t number)
{
    struct item item = {writer, number};

    assert_int_equal(es_server_element_append(element, &item, 1), 0);
}

static void what_one_writes_another_reads(void **state)
{
    struct scene *scene = *state;
    struct es_server_element *writer = create(scene, "beta", "results");
    struct es_server_element *reader = open_again(scene, "beta", "results");
    struct es_cursor cursor = {0};
    struct item items[10];

    assert_int_equal(es_server_element_tuple_bytes(reader), sizeof(struct item));
    for (uint32_t i = 0; i < 5; i++)
        append(writer, 1, i);
    assert_int_equal(es_server_element_read(reader, &cursor, items, 10, 0), 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(items[i].number, i);
    assert_int_equal(cursor.position, 5);
    assert_int_equal(es_server_element_read(reader, &cursor, items, 10, 0), 0);
    es_server_element_close(reader);
    es_server_element_close(writer);
    /* The element exists on its own host only. */
    assert_int_equal(
        es_server_element_open(scene->servers, "alpha", "results", NULL, &reader),
        -ENOENT);
}

static void what_was_overwritten_or_discarded_counts_as_lost(void **state)
{
    struct scene *scene = *state;
    struct es_server_element *element = create(scene, "alpha", "short");
    struct es_cursor cursor = {0};
    struct item items[100];

    for (uint32_t i = 0; i < 100; i++)
        append(element, 1, i);
    assert_int_equal(es_server_element_read(element, &cursor, items, 100, 0),
                     THRESHOLD);
    assert_int_equal(items[0].number, 100 - THRESHOLD);
    assert_int_equal(cursor.lost, 100 - THRESHOLD);
    for (uint32_t i = 100; i < 110; i++)
        append(element, 1, i);
    assert_int_equal(es_server_element_discard(element, 105), 0);
    assert_int_equal(es_server_element_read(element, &cursor, items, 100, 0), 5);
    assert_int_equal(items[0].number, 105);
    assert_int_equal(cursor.lost, 100 - THRESHOLD + 5);
    es_server_element_close(element);
}

static void consumers_on_the_host_map_it_directly(void **state)
{
    struct scene *scene = *state;
    struct es_server_element *element = create(scene, "alpha", "shared-data");
    struct es_selection selection;
    struct es_element_view **views;
    struct es_segment_info process;
    struct es_element_info info;
    struct es_cursor cursor = {0};
    struct item item = {7, 7};
    struct es_run *run;

    append(element, 7, 6);
    assert_int_equal(es_run_open(scene->run.name, NULL, &run), 0);
    es_selection_init(&selection);
    selection.name = "shared-data";
    assert_int_equal(es_run_select(run, &selection, &views), 1);
    es_element_view_info(views[0], &info);
    assert_true(info.shared);
    assert_string_equal(info.host, "alpha");
    es_segment_view_info(es_element_view_segment(views[0]), &process);
    assert_true(process.kept);
    assert_true(process.alive);
    assert_string_equal(process.program, "eventspaced");
    /* Tuples written locally are read through the server, and vice versa. */
    assert_int_equal(es_element_append(views[0], &item, sizeof item), 0);
    assert_int_equal(es_server_element_read(element, &cursor, &item, 1, 0), 1);
    assert_int_equal(item.number, 6);
    assert_int_equal(es_server_element_read(element, &cursor, &item, 1, 0), 1);
    assert_int_equal(item.number, 7);
    free(views);
    es_run_close(run);
    es_server_element_close(element);
}

struct later {
    struct es_server_element *element;
    pthread_t thread;
};

static void *append_later(void *data)
{
    struct later *later = data;
    struct timespec rest = {.tv_nsec = 700000000}; /* longer than the server waits */

    nanosleep(&rest, NULL);
    append(later->element, 9, 9);
    return NULL;
}

static void reading_can_wait(void **state)
{
    struct scene *scene = *state;
    struct later later = {.element = create(scene, "beta", "late")};
    struct es_server_element *reader = open_again(scene, "beta", "late");
    struct es_cursor cursor = {0};
    struct item item;
    uint64_t begin = esi_now_ns(CLOCK_MONOTONIC);

    /* The wait times out after the given time. */
    assert_int_equal(es_server_element_read(reader, &cursor, &item, 1, 50000000), 0);
    assert_true(esi_now_ns(CLOCK_MONOTONIC) - begin >= 50000000);
    assert_int_equal(pthread_create(&later.thread, NULL, append_later, &later), 0);
    assert_int_equal(
        es_server_element_read(reader, &cursor, &item, 1, UINT64_C(20000000000)), 1);
    assert_int_equal(item.number, 9);
    pthread_join(later.thread, NULL);
    es_server_element_close(reader);
    es_server_element_close(later.element);
}

enum { WRITERS = 4, EACH = 500 };

struct crowd {
    const struct scene *scene;
    uint32_t number;
    pthread_t thread;
};

static void *append_many(void *data)
{
    struct crowd *one = data;
    struct es_server_element *element = open_again(one->scene, "beta", "crowd");

    for (uint32_t i = 0; i < EACH; i++)
        append(element, one->number, i);
    es_server_element_close(element);
    return NULL;
}

/* No reader falls behind: all tuples are read, and those of each writer in order. */
static void many_write_at_once(void **state)
{
    struct scene *scene = *state;
    struct es_server_element *element;
    struct crowd crowd[WRITERS];
    uint32_t next[WRITERS] = {0};
    struct es_cursor cursor = {0};
    struct item items[64];
    int seen = 0;

    assert_int_equal(es_server_element_create(scene->servers, "beta", "crowd",
                                              sizeof(struct item), WRITERS * EACH, NULL,
                                              &element),
                     0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        crowd[i] = (struct crowd){.scene = scene, .number = i};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, append_many, &crowd[i]),
                         0);
    }
    while (seen < WRITERS * EACH) {
        int count =
            es_server_element_read(element, &cursor, items, 64, UINT64_C(10000000000));

        assert_in_range(count, 1, 64);
        for (int i = 0; i < count; i++)
            assert_int_equal(items[i].number, next[items[i].writer]++);
        seen += count;
    }
    assert_int_equal(cursor.lost, 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(crowd[i].thread, NULL);
    es_server_element_close(element);
}

static void trace_elements_can_be_read_too(void **state)
{
    struct scene *scene = *state;
    struct es_segment *segment = made_run_add_rank_on(&scene->run, "alpha", 3, 4);
    struct esi_writer *writer = made_run_add_element(&scene->run, segment, 3, 0, "all",
                                                     1u << ES_CLASS_SEND, 63);
    struct es_tuple tuple = made_tuple("MPI_Send", 100, 200);
    struct es_tuple read = {.stop = 0};
    struct es_server_element *element;
    struct es_cursor cursor = {0};

    esi_writer_write(writer, &tuple);
    element = open_again(scene, "alpha", "3.0/all");
    assert_int_equal(es_server_element_read(element, &cursor, &read, 1, 0), 1);
    assert_memory_equal(&read, &tuple, sizeof tuple);
    assert_int_equal(es_server_element_append(element, &tuple, 1), -EINVAL);
    es_server_element_close(element);
}

static void removed_ones_are_gone(void **state)
{
    struct scene *scene = *state;
    struct es_error error = {.text = ""};
    struct es_server_element *element = create(scene, "alpha", "brief");
    struct es_server_element *other;

    assert_int_equal(es_server_element_create(scene->servers, "alpha", "brief", 8, 15,
                                              &error, &other),
                     -EEXIST);
    assert_non_null(strstr(error.text, "brief"));
    es_server_element_close(element);
    assert_int_equal(es_server_element_remove(scene->servers, "alpha", "brief", NULL),
                     0);
    assert_int_equal(es_server_element_remove(scene->servers, "alpha", "brief", NULL),
                     -ENOENT);
    assert_int_equal(
        es_server_element_open(scene->servers, "alpha", "brief", NULL, &other),
        -ENOENT);
    /* The name can be used again. */
    es_server_element_close(create(scene, "alpha", "brief"));
}

static void nonsense_is_refused_in_words(void **state)
{
    static const struct {
        const char *name;
        uint32_t tuple_bytes;
        uint32_t threshold;
    } cases[] = {
        {"", 8, 15},
        {"x", 6, 15},
        {"x", 0, 15},
        {"x", 65536, 15},
        {"x", 8, 0},
        {"a-name-that-is-longer-than-all-names-of-elements-may-be-by-some-characters",
         8, 15},
    };
    struct scene *scene = *state;
    struct es_server_element *element;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};

        assert_int_equal(es_server_element_create(scene->servers, "alpha",
                                                  cases[i].name, cases[i].tuple_bytes,
                                                  cases[i].threshold, &error, &element),
                         -EINVAL);
        assert_true(error.text[0] != '\0');
    }
}

/* --- Limits ------------------------------------------------------------------- */

static uint64_t free_bytes(void)
{
    struct esi_segment_room room;

    assert_int_equal(esi_segment_find_room(&room), 0);
    return room.free_bytes;
}

/* The server refuses such an element with this word in the reason. */
static void assert_refused(const struct scene *scene,
                           uint32_t tuple_bytes,
                           uint32_t threshold,
                           int code,
                           const char *word)
{
    struct es_error error = {.text = ""};
    struct es_server_element *element;

    assert_int_equal(es_server_element_create(scene->servers, "alpha", "large",
                                              tuple_bytes, threshold, &error, &element),
                     code);
    if (!strstr(error.text, word))
        fail_msg("\"%s\" lacks \"%s\"", error.text, word);
    /* The element was not created. */
    assert_int_equal(
        es_server_element_open(scene->servers, "alpha", "large", NULL, &element),
        -ENOENT);
}

static void no_request_takes_the_whole_shared_memory(void **state)
{
    struct scene *scene = *state;
    uint64_t before = free_bytes();

    assert_refused(scene, 65532, 1 << 24, -EDQUOT, "at most 268435456 bytes");
    assert_refused(scene, 36, 1 << 23, -EDQUOT, "at most 268435456 bytes");
    /* Other programs use the shared memory, too, but not gigabytes of it. */
    assert_true(free_bytes() + (UINT64_C(1) << 30) > before);
}

static void sums_have_limits(void **state)
{
    struct esi_element_budget budget = {.elements = 0};
    struct esi_element_share shares[8] = {{.elements = 0}};
    struct es_error error = {.text = ""};
    struct esi_segment_room room;
    const uint64_t bytes = UINT64_C(64) << 20;
    uint64_t share = 0, all = 0;
    int result = 0;

    (void)state;
    assert_int_equal(esi_segment_find_room(&room), 0);
    while ((result = esi_element_budget_add(&budget, &shares[0], bytes, &error)) == 0)
        share += bytes;
    assert_true(share <= room.total_bytes / 100 * ES_BUDGET_SHARE_PERCENT ||
                result == -ENOSPC);
    assert_non_null(strstr(error.text, "bytes"));
    all = share;
    for (int i = 1; i < 8; i++)
        while (esi_element_budget_add(&budget, &shares[i], bytes, NULL) == 0)
            all += bytes;
    assert_true(all <= room.total_bytes / 100 * ES_BUDGET_PERCENT);
    assert_int_equal(budget.bytes, all);
    assert_int_equal(budget.promised, all);
    /* Released memory can be used again. */
    esi_element_budget_expire(&budget, bytes);
    esi_element_budget_remove(&budget, &shares[0], bytes);
    assert_int_equal(esi_element_budget_add(&budget, &shares[0], bytes, NULL), 0);
}

static void the_number_of_elements_has_a_limit(void **state)
{
    struct esi_element_budget budget = {.elements = 0};
    struct es_error error = {.text = ""};
    int count = 0;

    (void)state;
    for (int i = 0; i < 8; i++) {
        struct esi_element_share share = {.elements = 0};
        int own = 0;

        es_error_clear(&error);
        for (; esi_element_budget_add(&budget, &share, 0, &error) == 0; own++)
            ;
        if (i == 0) {
            assert_int_equal(own, ES_BUDGET_SHARE_ELEMENTS);
            assert_non_null(strstr(error.text, "1024 elements"));
        }
        count += own;
    }
    assert_int_equal(count, ES_BUDGET_ELEMENTS);
    assert_non_null(strstr(error.text, "4096 elements"));
}

/* All free memory is promised to others, so no element can be created. */
static void a_part_of_the_shared_memory_stays_free(void **state)
{
    struct esi_element_budget budget = {.elements = 0};
    struct esi_element_share share = {.elements = 0};
    struct es_error error = {.text = ""};
    struct esi_segment_room room = {.total_bytes = 1000, .free_bytes = 350};

    (void)state;
    assert_true(esi_segment_room_keeps(&room, 100, 25));
    assert_false(esi_segment_room_keeps(&room, 101, 25));
    assert_false(esi_segment_room_keeps(&room, 1001, 25));
    assert_int_equal(esi_segment_find_room(&room), 0);
    budget.promised = room.free_bytes;
    assert_int_equal(esi_element_budget_add(&budget, &share, 1 << 20, &error), -ENOSPC);
    assert_non_null(strstr(error.text, "stay free"));
}

static void what_was_removed_counts_no_more(void **state)
{
    struct scene *scene = *state;
    struct es_error error = {.text = ""};

    for (int i = 0; i < 3; i++) {
        struct es_server_element *element;

        assert_int_equal(es_server_element_create(scene->servers, "alpha", "again",
                                                  1024, 8191, &error, &element),
                         0);
        es_server_element_close(element);
        assert_int_equal(
            es_server_element_remove(scene->servers, "alpha", "again", &error), 0);
    }
    assert_int_equal(es_server_element_open(scene->servers, "alpha", "again", NULL,
                                            &(struct es_server_element *){NULL}),
                     -ENOENT);
}

/* The reader's client is refused in the end, and the server can stop. */
static void a_reader_that_takes_nothing_holds_no_server(void **state)
{
    struct scene *scene = *state;
    struct es_server_element *element = create(scene, "beta", "blocked");
    struct es_selection selection;
    struct es_element_view **views;
    struct item items[THRESHOLD + 2] = {{0}};
    struct es_run *run;

    assert_int_equal(es_run_open(scene->run.name, NULL, &run), 0);
    es_selection_init(&selection);
    selection.name = "blocked";
    assert_int_equal(es_run_select(run, &selection, &views), 1);
    assert_int_equal(es_element_register_reader(views[0], 0), 0);
    es_element_set_block(views[0], true);
    assert_int_equal(es_server_element_append(element, items, THRESHOLD + 2),
                     -ETIMEDOUT);
    free(views);
    es_run_close(run);
    es_server_element_close(element);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(test_server_element)
{
    const struct CMUnitTest tests[] = {
        TEST(what_one_writes_another_reads),
        TEST(what_was_overwritten_or_discarded_counts_as_lost),
        TEST(consumers_on_the_host_map_it_directly),
        TEST(reading_can_wait),
        TEST(many_write_at_once),
        TEST(trace_elements_can_be_read_too),
        TEST(removed_ones_are_gone),
        TEST(nonsense_is_refused_in_words),
        TEST(no_request_takes_the_whole_shared_memory),
        TEST(a_part_of_the_shared_memory_stays_free),
        TEST(what_was_removed_counts_no_more),
        TEST(a_reader_that_takes_nothing_holds_no_server),
        cmocka_unit_test(sums_have_limits),
        cmocka_unit_test(the_number_of_elements_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
