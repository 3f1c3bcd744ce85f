/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reused memory of the arena, and the reader of ledgers.  The reader returns what was
 * written, and damaged contents do not crash it. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "fixture.h"
#include "tests/await.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/arena_pool.h"
#include "tuplespace/ledger.h"
#include "tuplespace/ledger_layout.h"

struct ledger_scene {
    char id[64];
    struct es_segment *segment;
    struct esi_arena_pool pool;
    struct esi_ledger_layout *ledger;
    struct es_run *run;
};

static void scene_begin(struct ledger_scene *scene, const char *name)
{
    *scene = (struct ledger_scene){.pool = ESI_ARENA_POOL_INITIALIZER};
    fixture_run(name, scene->id);
    scene->segment = fixture_segment(scene->id, 0);
    assert_int_equal(
        esi_segment_add_ledger(scene->segment, &scene->pool, &scene->ledger), 0);
    scene->run = fixture_open(scene->id);
}

static void scene_end(struct ledger_scene *scene)
{
    es_run_close(scene->run);
    for (int i = 0; i < ESI_ARENA_POOL_CLASSES; i++)
        free(scene->pool.free[i].offsets);
    esi_segment_destroy(scene->segment);
}

static int read_ledger(const struct ledger_scene *scene, struct esi_ledger *ret_ledger)
{
    return esi_ledger_read(es_run_segment(scene->run, 0), ret_ledger);
}

static void *take(struct ledger_scene *scene, size_t bytes)
{
    void *piece = esi_arena_pool_take(&scene->pool, bytes);

    assert_non_null(piece);
    assert_int_equal((uintptr_t)piece % 64, 0);
    return piece;
}

static uint64_t place_of(const struct ledger_scene *scene,
                         const void *piece,
                         unsigned int log2)
{
    return esi_place_make(esi_arena_pool_offset(&scene->pool, piece), log2);
}

/* --- Memory ----------------------------------------------------------------------- */

static void pieces_are_used_again(void **state)
{
    struct ledger_scene scene;
    char *first, *second;

    (void)state;
    scene_begin(&scene, "pieces");
    first = take(&scene, 100);  /* takes 128 bytes */
    second = take(&scene, 300); /* takes 320 bytes */
    assert_true(esi_arena_pool_offset(&scene.pool, first) != 0);
    memset(first, 1, 128);
    memset(second, 2, 320);
    esi_arena_pool_give(&scene.pool, first, 100);
    assert_ptr_not_equal(take(&scene, 200), first); /* takes 256 bytes */
    assert_ptr_equal(take(&scene, 128), first);
    for (int i = 0; i < 128; i++)
        assert_int_equal(first[i], 0);
    assert_int_equal(second[319], 2);
    scene_end(&scene);
}

static void live_pieces_never_overlap(void **state)
{
    enum { PIECES = 64, ROUNDS = 4000 };
    struct {
        unsigned char *piece;
        size_t bytes;
    } live[PIECES] = {{NULL, 0}};
    struct ledger_scene scene;
    uint64_t random = random_seed();

    (void)state;
    scene_begin(&scene, "overlap");
    for (int round = 0; round < ROUNDS; round++) {
        size_t i = random_next(&random) % PIECES;

        for (size_t at = 0; at < live[i].bytes; at++)
            assert_int_equal(live[i].piece[at], i);
        esi_arena_pool_give(&scene.pool, live[i].piece, live[i].bytes);
        live[i].bytes = 1 + random_next(&random) % 5000;
        live[i].piece = take(&scene, live[i].bytes);
        memset(live[i].piece, (int)i, live[i].bytes);
    }
    for (size_t i = 0; i < PIECES; i++)
        esi_arena_pool_give(&scene.pool, live[i].piece, live[i].bytes);
    scene_end(&scene);
}

static void a_full_arena_lends_memory_of_its_own(void **state)
{
    enum { PIECES = 64, BYTES = 1 << 20 };
    struct ledger_scene scene;
    void *pieces[PIECES];
    int outside = 0;

    (void)state;
    scene_begin(&scene, "full");
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = take(&scene, BYTES);
        outside += esi_arena_pool_offset(&scene.pool, pieces[i]) == 0;
    }
    assert_true(outside > 0);
    assert_true(scene.pool.has_failed);
    for (int i = 0; i < PIECES; i++)
        esi_arena_pool_give(&scene.pool, pieces[i], BYTES);
    scene_end(&scene);
}

/* --- Reading ---------------------------------------------------------------------- */

static void put_requests(struct ledger_scene *scene)
{
    struct esi_ledger_slot *slots = take(scene, 64 * sizeof *slots);
    _Atomic uint64_t *sites = take(scene, 32 * sizeof *sites);

    atomic_store(&sites[2], UINT64_C(0x7f0000401234));
    atomic_store(&scene->ledger->sites, place_of(scene, sites, 5));
    for (uint64_t i = 3; i < 64; i += 20)
        slots[i] = (struct esi_ledger_slot){.handle = i,
                                            .kind = ESI_LEDGER_RECEIVE,
                                            .persistent = true,
                                            .site = (uint16_t)i,
                                            .tuple = {.peer = 1, .tag = (int32_t)i}};
    atomic_store(&scene->ledger->shards[2].requests, place_of(scene, slots, 6));
    atomic_store(&scene->ledger->shards[2].changes, 9);
    atomic_store(&scene->ledger->shards[0].changes, 1);
}

/* Writes a communicator whose map of channels has an older one behind it.  The channel
 * in the older map is doubtful. */
static void put_communicator(struct ledger_scene *scene)
{
    struct esi_ledger_communicator *communicator = take(scene, sizeof *communicator);
    _Atomic uint64_t *offsets = take(scene, 64 * sizeof *offsets);
    struct esi_ledger_channels *maps[2];

    for (int i = 0; i < 2; i++) {
        struct esi_ledger_channel_slot *slots;

        maps[i] = take(scene, sizeof *maps[i] + 16 * sizeof *slots);
        slots = (void *)(maps[i] + 1);
        atomic_store(&slots[5].key, ((uint64_t)7 << 32 | (uint32_t)i) + 1);
        atomic_store(&slots[5].count, i == 0 ? 3 : ESI_LEDGER_COUNT_DOUBTFUL + 1);
    }
    atomic_store(&maps[0]->older, place_of(scene, maps[1], 4));
    atomic_store(&communicator->sent, place_of(scene, maps[0], 4));
    communicator->index = 2;
    atomic_store(&communicator->held, 6);
    atomic_store(&communicator->recent[1].what, 17 | (uint64_t)112 << 32);
    atomic_store(&communicator->recent[1].how,
                 (uint32_t)ES_PEER_NONE | (uint64_t)55 << 32);
    atomic_store(&offsets[2], esi_arena_pool_offset(&scene->pool, communicator));
    atomic_store(&scene->ledger->communicators, place_of(scene, offsets, 6));
}

static void put_thread(struct ledger_scene *scene)
{
    struct esi_ledger_thread *thread = take(scene, sizeof *thread);

    thread->thread = 4;
    thread->handles[0] = 3;
    thread->handles[1] = 99;
    atomic_store(&thread->what, (uint64_t)ESI_LEDGER_WAIT_ANY << 32 | 2);
    scene->ledger->null_request = 99;
    atomic_store(&scene->ledger->threads, esi_arena_pool_offset(&scene->pool, thread));
}

static void put_all(struct ledger_scene *scene)
{
    put_requests(scene);
    put_communicator(scene);
    put_thread(scene);
    atomic_store(&scene->ledger->unfreed[ESI_LEDGER_GROUPS], 2);
    atomic_store(&scene->ledger->unfreed[ESI_LEDGER_TYPES], UINT64_MAX); /* -1 */
}

static void what_was_written_is_read(void **state)
{
    struct ledger_scene scene;
    struct esi_ledger ledger;

    (void)state;
    scene_begin(&scene, "read");
    put_all(&scene);
    assert_int_equal(read_ledger(&scene, &ledger), 0);
    assert_int_equal(ledger.request_count, 4);
    assert_int_equal(ledger.requests[1].tag, 23);
    assert_true(ledger.requests[1].persistent && !ledger.requests[1].active);
    assert_true(ledger.requests[0].site == UINT64_C(0x7f0000401234));
    assert_true(ledger.requests[1].site == 0); /* number 23 has no site yet */
    assert_true(ledger.requests[2].site == 0); /* number 43 is past the table */
    assert_int_equal(ledger.channel_count, 3);
    assert_int_equal(ledger.channels[2].peer, ES_PEER_ANY);
    assert_int_equal(ledger.channels[2].tag, ES_TAG_ANY);
    assert_int_equal(ledger.channels[2].count, 6);
    assert_true(!ledger.channels[0].doubtful && ledger.channels[1].doubtful);
    assert_int_equal(ledger.channels[0].peer, 7);
    assert_int_equal(ledger.channels[0].count, 3);
    assert_int_equal(ledger.instance_count, 1);
    assert_int_equal(ledger.instances[0].instance, 17);
    assert_int_equal(ledger.instances[0].root, ES_PEER_NONE);
    assert_int_equal(ledger.instances[0].hash, 55);
    assert_int_equal(ledger.wait_count, 1);
    assert_int_equal(ledger.waits[0].count, 1); /* the null request is omitted */
    assert_int_equal(ledger.waits[0].handles[0], 3);
    assert_int_equal(ledger.changes, 10);
    assert_int_equal(ledger.unfreed[ESI_LEDGER_GROUPS], 2);
    assert_int_equal(ledger.unfreed[ESI_LEDGER_TYPES], 0);
    assert_false(ledger.partial);
    esi_ledger_fini(&ledger);
    scene_end(&scene);
}

static void a_segment_without_a_ledger_says_so(void **state)
{
    char id[64];
    struct es_segment *segment;
    struct es_run *run;
    struct esi_ledger ledger;

    (void)state;
    fixture_run("no-ledger", id);
    segment = fixture_segment(id, 0);
    run = fixture_open(id);
    assert_int_equal(esi_ledger_read(es_run_segment(run, 0), &ledger), -ENOENT);
    es_run_close(run);
    esi_segment_destroy(segment);
}

static void a_circle_of_links_ends(void **state)
{
    struct ledger_scene scene;
    struct esi_ledger ledger;
    struct esi_ledger_channels *map;
    struct esi_ledger_thread *thread;

    (void)state;
    scene_begin(&scene, "circle");
    put_all(&scene);
    thread = (void *)((char *)esi_segment_layout(scene.segment) +
                      atomic_load(&scene.ledger->threads));
    atomic_store(&thread->next, atomic_load(&scene.ledger->threads));
    map = take(&scene, sizeof *map + 16 * sizeof(struct esi_ledger_channel_slot));
    atomic_store(&map->older, place_of(&scene, map, 4));
    assert_int_equal(read_ledger(&scene, &ledger), 0);
    esi_ledger_fini(&ledger);
    scene_end(&scene);
}

/* Sets random words of the ledger and of its tables to random values. */
static void broken_words_end_no_reader(void **state)
{
    enum { ROUNDS = 2000, REACH = 65536 };
    struct ledger_scene scene;
    struct esi_ledger ledger;
    uint64_t random = random_seed();
    char *arena;
    int read = 0;

    (void)state;
    scene_begin(&scene, "broken");
    put_all(&scene);
    arena = (char *)esi_segment_layout(scene.segment) +
            esi_segment_layout(scene.segment)->arena_offset;
    for (int round = 0; round < ROUNDS; round++) {
        size_t at = random_next(&random) % 16384 / 8 * 8;
        uint64_t number = random_number(&random);
        uint64_t before;

        memcpy(&before, arena + at, sizeof before);
        memcpy(arena + at, &number, sizeof number);
        if (read_ledger(&scene, &ledger) == 0) {
            read++;
            for (size_t i = 0; i < ledger.wait_count; i++)
                assert_true(ledger.waits[i].known <= ESI_LEDGER_WAIT_HANDLES);
            esi_ledger_fini(&ledger);
        }
        if (round % 8 != 0) /* some damage stays */
            memcpy(arena + at, &before, sizeof before);
    }
    assert_true(read > 0);
    scene_end(&scene);
}

struct sleeper {
    int ends[2]; /* of a pipe */
    _Atomic uint32_t id;
};

static void *sleep_in_read(void *data)
{
    struct sleeper *sleeper = data;
    char byte;

    atomic_store(&sleeper->id, (uint32_t)gettid());
    return (void *)read(sleeper->ends[0], &byte, 1);
}

static int count_others(const struct ledger_scene *scene)
{
    struct esi_ledger ledger;
    int others;

    assert_int_equal(read_ledger(scene, &ledger), 0);
    others = ledger.others;
    assert_true(ledger.others_counted != 0);
    esi_ledger_fini(&ledger);
    return others;
}

static void threads_that_have_never_called_mpi_are_counted(void **state)
{
    struct ledger_scene scene;
    struct sleeper sleeper = {.id = 0};
    struct esi_ledger_thread *self;
    pthread_t thread;
    int threads;

    (void)state;
    scene_begin(&scene, "others");
    self = take(&scene, sizeof *self);
    atomic_store(&scene.ledger->threads, esi_arena_pool_offset(&scene.pool, self));
    assert_int_equal(pipe(sleeper.ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, sleep_in_read, &sleeper), 0);
    AWAIT(atomic_load(&sleeper.id) != 0);
    /* The thread sanitizer has one of its own from the first that is created on. */
    threads = esi_process_list_threads((int)getpid(), NULL, 0);
    assert_int_equal(count_others(&scene), 0);
    /* Only if several threads may be in MPI at once. */
    atomic_store(&scene.ledger->concurrent, 1);
    assert_int_equal(count_others(&scene), threads);
    atomic_store(&self->thread_id, (uint32_t)gettid());
    assert_int_equal(count_others(&scene), threads - 1);
    atomic_store(&scene.ledger->library_threads[0], atomic_load(&sleeper.id));
    assert_int_equal(count_others(&scene), threads - 2);
    atomic_store(&scene.ledger->library_threads[0], 0);
    assert_int_equal(count_others(&scene), threads - 1);
    /* The last count is kept when the process has ended. */
    atomic_store(&esi_segment_layout(scene.segment)->ended, 1);
    assert_int_equal(write(sleeper.ends[1], "", 1), 1);
    pthread_join(thread, NULL);
    assert_int_equal(count_others(&scene), threads - 1);
    close(sleeper.ends[0]);
    close(sleeper.ends[1]);
    scene_end(&scene);
}

SUITE(test_ledger)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_used_again),
        cmocka_unit_test(live_pieces_never_overlap),
        cmocka_unit_test(a_full_arena_lends_memory_of_its_own),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_segment_without_a_ledger_says_so),
        cmocka_unit_test(a_circle_of_links_ends),
        cmocka_unit_test(broken_words_end_no_reader),
        cmocka_unit_test(threads_that_have_never_called_mpi_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
