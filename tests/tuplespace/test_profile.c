/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The reader of profiles returns what was written, and damaged
 * contents do not crash it. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/ledger.h"
#include "tuplespace/ledger_layout.h"
#include "tuplespace/profile.h"

struct profile_scene {
    char id[64];
    struct es_segment *segment;
    struct esi_arena_pool ledger_pool;
    struct esi_arena_pool pool;
    struct esi_ledger_layout *ledger;
    struct esi_profile_layout *profile;
    struct es_run *run;
};

static void scene_begin(struct profile_scene *scene, const char *name)
{
    *scene = (struct profile_scene){.ledger_pool = ESI_ARENA_POOL_INITIALIZER,
                                    .pool = ESI_ARENA_POOL_INITIALIZER};
    fixture_run(name, scene->id);
    scene->segment = fixture_segment(scene->id, 0);
    assert_int_equal(
        esi_segment_add_ledger(scene->segment, &scene->ledger_pool, &scene->ledger), 0);
    assert_int_equal(esi_segment_add_profile(scene->segment, scene->ledger,
                                             &scene->pool, &scene->profile),
                     0);
    scene->run = fixture_open(scene->id);
}

static void scene_end(struct profile_scene *scene)
{
    es_run_close(scene->run);
    for (int i = 0; i < ESI_ARENA_POOL_CLASSES; i++) {
        free(scene->ledger_pool.free[i].offsets);
        free(scene->pool.free[i].offsets);
    }
    esi_segment_destroy(scene->segment);
}

static int read_profile(const struct profile_scene *scene,
                        struct esi_profile *ret_profile)
{
    return esi_profile_read(es_run_segment(scene->run, 0), ret_profile);
}

/* Takes memory from the segment and puts its offset at the front of a list. */
static void *prepend(struct profile_scene *scene, _Atomic uint64_t *list, size_t bytes)
{
    _Atomic uint64_t *next = esi_arena_pool_take(&scene->pool, bytes);

    assert_non_null(next);
    atomic_store(next, atomic_load(list));
    atomic_store(list, esi_arena_pool_offset(&scene->pool, next));
    return next;
}

static struct esi_profile_row_layout *put_row(struct profile_scene *scene,
                                              struct esi_profile_thread_layout *thread,
                                              uint16_t operation,
                                              bool has_sizes)
{
    struct esi_profile_row_layout *row =
        prepend(scene, &thread->rows, esi_profile_row_bytes(has_sizes));

    row->operation = operation;
    row->has_sizes = has_sizes;
    row->site = UINT64_C(0x400000) + operation;
    return row;
}

/* Writes two threads, with one and with two rows, and two peers. */
static void put_all(struct profile_scene *scene)
{
    struct esi_profile_thread_layout *first =
        prepend(scene, &scene->profile->threads, sizeof *first);
    struct esi_profile_thread_layout *second =
        prepend(scene, &scene->profile->threads, sizeof *second);
    struct esi_profile_row_layout *row = put_row(scene, first, 1, true);
    struct esi_profile_peer_layout *peer;

    first->thread = 0;
    second->thread = 7;
    atomic_store(&row->calls[0], 2);
    atomic_store(&row->calls[4], 3);
    atomic_store(&row->bytes, 30);
    atomic_store(&row->ticks, 500);
    atomic_store(&row->shortest, 40);
    atomic_store(&row->span, 61);
    row = put_row(scene, second, 2, false);
    atomic_store(&row->calls[0], 9);
    put_row(scene, second, 3, true);
    for (int32_t world = -1; world < 1; world++) {
        peer = prepend(scene, &scene->profile->peers, sizeof *peer);
        peer->world = world;
        atomic_store(&peer->messages, (uint64_t)(world + 3));
        atomic_store(&peer->bytes, 100);
    }
    atomic_store(&scene->profile->began, 5);
}

static const struct esi_profile_row *find_row(const struct esi_profile *profile,
                                              uint16_t operation)
{
    for (size_t i = 0; i < profile->row_count; i++)
        if (profile->rows[i].operation == operation)
            return &profile->rows[i];
    return NULL;
}

static void what_was_written_is_read(void **state)
{
    struct profile_scene scene;
    struct esi_profile profile;
    const struct esi_profile_row *row;

    (void)state;
    scene_begin(&scene, "profile");
    put_all(&scene);
    assert_int_equal(read_profile(&scene, &profile), 0);
    assert_int_equal(profile.row_count, 3);
    row = find_row(&profile, 1);
    assert_non_null(row);
    assert_int_equal(row->thread, 0);
    assert_int_equal(row->site, 0x400001);
    assert_int_equal(row->calls, 5);
    assert_int_equal(row->sizes[0], 2);
    assert_int_equal(row->sizes[4], 3);
    assert_int_equal(row->bytes, 30);
    assert_int_equal(row->ticks, 500);
    assert_int_equal(row->shortest, 40);
    assert_int_equal(row->longest, 100);
    row = find_row(&profile, 2);
    assert_non_null(row);
    assert_int_equal(row->thread, 7);
    assert_int_equal(row->calls, 9);
    assert_false(row->has_sizes);
    assert_int_equal(profile.peer_count, 2);
    assert_int_equal(profile.peers[0].world, 0);
    assert_int_equal(profile.peers[0].messages, 3);
    assert_int_equal(profile.peers[1].world, -1);
    assert_int_equal(profile.began, 5);
    assert_false(profile.ended);
    assert_true(profile.until > profile.began); /* the process is alive */
    esi_profile_fini(&profile);
    scene_end(&scene);
}

static void the_end_of_mpi_is_the_end_of_the_profile(void **state)
{
    struct profile_scene scene;
    struct esi_profile profile;

    (void)state;
    scene_begin(&scene, "profile-end");
    put_all(&scene);
    atomic_store(&scene.profile->ended, 77);
    assert_int_equal(read_profile(&scene, &profile), 0);
    assert_true(profile.ended);
    assert_int_equal(profile.until, 77);
    esi_profile_fini(&profile);
    scene_end(&scene);
}

/* A call in progress is reported with its duration so far. */
static void calls_under_way_are_told(void **state)
{
    struct profile_scene scene;
    struct esi_profile profile;
    struct esi_writer writer;
    struct es_tuple tuple = fixture_tuple(0);

    (void)state;
    scene_begin(&scene, "profile-open");
    put_all(&scene);
    fixture_element(scene.segment, "0.0/all", 8, &writer);
    tuple.start = es_clock_ticks_of(es_clock_kind());
    tuple.stop = 0;
    tuple.operation = 21;
    esi_writer_open(&writer, &tuple);
    es_run_close(scene.run);
    scene.run = fixture_open(scene.id);
    assert_int_equal(read_profile(&scene, &profile), 0);
    assert_int_equal(profile.open_count, 1);
    assert_int_equal(profile.open[0].operation, 21);
    assert_int_equal(profile.open[0].ticks, profile.until - tuple.start);
    esi_profile_fini(&profile);
    scene_end(&scene);
}

static void a_ledger_without_a_profile_says_so(void **state)
{
    struct profile_scene scene;
    struct esi_profile profile;

    (void)state;
    scene_begin(&scene, "no-profile");
    atomic_store(&scene.ledger->profile, 0); /* as older versions leave it */
    assert_int_equal(read_profile(&scene, &profile), -ENOENT);
    scene_end(&scene);
}

static void sizes_have_classes(void **state)
{
    (void)state;
    assert_int_equal(esi_profile_size_class(0), 0);
    for (unsigned int i = 0; i < 32; i++) {
        uint32_t least = UINT32_C(1) << i;

        assert_int_equal(esi_profile_size_class(least), i + 1);
        assert_int_equal(esi_profile_size_class(least + (least - 1)), i + 1);
    }
    assert_int_equal(esi_profile_size_class(UINT32_MAX), ESI_PROFILE_SIZES - 1);
}

static void a_circle_of_links_ends(void **state)
{
    struct profile_scene scene;
    struct esi_profile profile;
    struct esi_profile_thread_layout *thread;
    _Atomic uint64_t *row;
    char *base;

    (void)state;
    scene_begin(&scene, "profile-circle");
    put_all(&scene);
    base = (char *)esi_segment_layout(scene.segment);
    thread = (void *)(base + atomic_load(&scene.profile->threads));
    row = (void *)(base + atomic_load(&thread->rows));
    atomic_store(row, atomic_load(&thread->rows));
    assert_int_equal(read_profile(&scene, &profile), 0);
    assert_true(profile.partial);
    esi_profile_fini(&profile);
    scene_end(&scene);
}

/* Sets random words of the profile and of its lists to random values. */
static void broken_words_end_no_reader(void **state)
{
    enum { ROUNDS = 500, REACH = 2048 };
    struct profile_scene scene;
    struct esi_profile profile;
    uint64_t random = random_seed();
    char *arena;
    int read = 0;

    (void)state;
    scene_begin(&scene, "profile-broken");
    put_all(&scene);
    arena = (char *)scene.profile;
    for (int round = 0; round < ROUNDS; round++) {
        size_t at = random_next(&random) % (REACH / 8) * 8;
        uint64_t number = random_number(&random);
        uint64_t before;
        bool is_read;

        memcpy(&before, arena + at, sizeof before);
        memcpy(arena + at, &number, sizeof number);
        is_read = read_profile(&scene, &profile) == 0;
        if (is_read) {
            read++;
            for (size_t i = 0; i < profile.row_count; i++)
                assert_int_not_equal(profile.rows[i].operation, 0);
            for (size_t i = 0; i < profile.peer_count; i++)
                assert_true(profile.peers[i].world >= -1);
            esi_profile_fini(&profile);
        }
        if (round % 8 != 0 || !is_read) /* other damage stays */
            memcpy(arena + at, &before, sizeof before);
    }
    assert_true(read > 0);
    scene_end(&scene);
}

SUITE(test_profile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(the_end_of_mpi_is_the_end_of_the_profile),
        cmocka_unit_test(calls_under_way_are_told),
        cmocka_unit_test(a_ledger_without_a_profile_says_so),
        cmocka_unit_test(sizes_have_classes),
        cmocka_unit_test(a_circle_of_links_ends),
        cmocka_unit_test(broken_words_end_no_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
