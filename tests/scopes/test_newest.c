/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A reduction of elements to their newest tuple takes a short path; it gives what the
 * long one gives, which is taken in pulls that are measured. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/scopes/made_scope.h"
#include "tests/suites.h"
#include "wrappers/stages/stage.h"

enum { ELEMENTS_MAX = 150, CASES = 60, ROUNDS = 100, SHORT = 0, LONG = 1 };

/* What an element stage may read besides its latest tuple, as bits. */
enum { OPEN = 1, COUNTERS = 2, SITES = 4, DETAILS = 8 };

static uint64_t seed;

/* Elements of one thread, and two trees over them. */
struct scene {
    struct made_scope *made;
    size_t count;
    struct esi_writer writers[ELEMENTS_MAX];
    bool is_open[ELEMENTS_MAX];
    struct es_element_view **views;
    struct es_clock clock;
    struct es_origin origin_items[ELEMENTS_MAX];
    struct es_origins origins;
    struct esi_read_state states[ELEMENTS_MAX];
    struct es_places places;
    struct es_stage_context context;
    struct es_stage *trees[2]; /* SHORT, LONG */
    struct es_batch batches[2];
};

static void add_element(struct scene *scene, struct es_segment *segment, bool sites)
{
    char name[32];
    struct esi_element_config config = {
        .kind = ES_ELEMENT_TRACE,
        .name = name,
        .collector = name,
        .classes = 1u << ES_CLASS_SEND,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = 3,
        .enabled = true,
        .sites = sites,
    };

    snprintf(name, sizeof name, "e%zu", scene->count);
    assert_int_equal(
        esi_segment_add_element(segment, &config, &scene->writers[scene->count]), 0);
    scene->count++;
}

static struct es_stage *open_stage(const struct es_stage_spec *spec)
{
    struct es_error error = {.text = ""};
    struct es_stage *stage;

    if (es_stage_open(spec, &error, &stage) < 0)
        fail_msg("%s", error.text);
    return stage;
}

static struct es_stage *open_tree(const struct scene *scene, unsigned details)
{
    const struct es_property properties[] = {
        {.name = "read", .value = "latest"},
        {.name = "open", .value = details & OPEN ? "yes" : "no"},
        {.name = "counters", .value = details & COUNTERS ? "yes" : "no"},
        {.name = "sites", .value = details & SITES ? "yes" : "no"}};
    const struct es_property latest = {.name = "to", .value = "latest"};
    struct es_stage *children[ELEMENTS_MAX];
    struct es_stage_spec element = {.type = "element",
                                    .properties = properties,
                                    .property_count = 4,
                                    .context = &scene->context};
    const struct es_stage_spec thread = {.type = "reduce",
                                         .properties = &latest,
                                         .property_count = 1,
                                         .children = children,
                                         .child_count = scene->count,
                                         .origin = ES_STAGE_NO_ORIGIN,
                                         .context = &scene->context};

    for (; element.origin < scene->count; element.origin++)
        children[element.origin] = open_stage(&element);
    return open_stage(&thread);
}

static void open_scene(struct scene *scene,
                       struct made_scope *made,
                       size_t count,
                       unsigned details)
{
    struct es_segment *segment = made_run_add_rank(&made->made, 0, 1);
    struct es_selection all;

    *scene = (struct scene){
        .made = made,
        .origins = {scene->origin_items, count},
        .places = {scene->states, count, true},
        .context = {.origins = &scene->origins, .places = &scene->places}};
    while (scene->count < count)
        add_element(scene, segment, random_below(&seed, 2) == 0);
    assert_int_equal(es_run_open(made->made.name, NULL, &made->run), 0);
    es_selection_init(&all);
    assert_int_equal(es_run_select(made->run, &all, &scene->views), count);
    for (size_t i = 0; i < count; i++)
        scene->origin_items[i] =
            (struct es_origin){.clock = &scene->clock, .element = scene->views[i]};
    for (int i = 0; i < 2; i++) {
        scene->trees[i] = open_tree(scene, details);
        es_batch_init(&scene->batches[i]);
    }
}

static void close_scene(struct scene *scene)
{
    for (int i = 0; i < 2; i++) {
        es_stage_close(scene->trees[i]);
        es_batch_fini(&scene->batches[i]);
    }
    free(scene->views);
}

static const struct es_batch *pull_tree(struct scene *scene, int which, size_t max)
{
    const struct es_pull pull = {.serial = 1, .max = max, .measure = which == LONG};

    es_batch_clear(&scene->batches[which]);
    assert_int_equal(es_stage_pull(scene->trees[which], &pull, &scene->batches[which]),
                     0);
    return &scene->batches[which];
}

/* --- Random operations ------------------------------------------------------------ */

/* Few different times, so that some are equal. */
static struct es_tuple random_tuple(void)
{
    return (struct es_tuple){.operation = 1,
                             .start = random_below(&seed, 20),
                             .stop = 1 + random_below(&seed, 20),
                             .tag = (int32_t)random_next(&seed)};
}

static void change_element(struct scene *scene, size_t index)
{
    struct esi_writer *writer = &scene->writers[index];
    bool *is_open = &scene->is_open[index];
    struct es_tuple tuple = random_tuple();
    uint64_t site = random_below(&seed, 1000);

    switch (random_below(&seed, 6)) {
    case 0:
        esi_writer_write_at(writer, &tuple, site);
        *is_open = false;
        break;
    case 1:
    case 2:
        tuple.stop = 0;
        if (!*is_open)
            esi_writer_open_at(writer, &tuple, site);
        else
            esi_writer_close(writer, 1 + random_below(&seed, 20));
        *is_open = !*is_open;
        break;
    case 3:
        if (*is_open)
            esi_writer_withdraw(writer);
        *is_open = false;
        break;
    case 4:
        esi_writer_count_poll(writer);
        break;
    default:
        es_element_enable(scene->views[index], random_below(&seed, 2) == 0);
        break;
    }
}

static void compare_batches(const struct es_batch *a, const struct es_batch *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->more, b->more);
    assert_int_equal(a->report_count, b->report_count);
    for (size_t i = 0; i < a->count; i++) {
        assert_memory_equal(&a->tuples[i], &b->tuples[i], sizeof *a->tuples);
        assert_memory_equal(&a->marks[i], &b->marks[i], sizeof *a->marks);
    }
    for (size_t i = 0; i < a->report_count; i++)
        assert_memory_equal(&a->reports[i], &b->reports[i], sizeof *a->reports);
}

static void compare_costs(const struct es_stage *a, const struct es_stage *b)
{
    struct es_stage_cost first, second;

    es_stage_cost(a, &first);
    es_stage_cost(b, &second);
    assert_int_equal(first.calls, second.calls);
    assert_int_equal(first.tuples, second.tuples);
    for (size_t i = 0; i < a->child_count; i++)
        compare_costs(a->children[i], b->children[i]);
}

static void compare_paths(struct made_scope *made, unsigned details)
{
    size_t count =
        2 + random_below(&seed, random_below(&seed, 3) ? 14 : ELEMENTS_MAX - 1);
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    open_scene(scene, made, count, details);
    for (int round = 0; round < ROUNDS; round++) {
        size_t max = 1 + random_below(&seed, random_below(&seed, 2) ? 3 : 1000);
        const struct es_batch *batch = pull_tree(scene, SHORT, max);

        compare_batches(batch, pull_tree(scene, LONG, max));
        for (unsigned i = random_below(&seed, 10); i > 0; i--)
            change_element(scene, random_below(&seed, (unsigned)count));
    }
    compare_costs(scene->trees[SHORT], scene->trees[LONG]);
    close_scene(scene);
    free(scene);
}

static void the_short_path_gives_what_the_long_one_gives(void **state)
{
    (void)state;
    seed = random_seed();
    for (unsigned i = 0; i < CASES; i++) {
        void *made;

        made_scope_set_up(&made);
        compare_paths(made, i % DETAILS);
        made_scope_tear_down(&made);
    }
}

/* --- While it is written ---------------------------------------------------------- */

enum { WRITTEN = 14, BOTH = 200 };

struct work {
    struct scene *scene;
    _Atomic bool ends;
};

/* One operation after the other, in any of the elements. */
static void *do_operations(void *data)
{
    struct work *work = data;
    struct es_tuple tuple = {.operation = 1};
    uint64_t own_seed = 1;

    for (uint64_t time = 1; !atomic_load(&work->ends); time += 2) {
        struct esi_writer *writer =
            &work->scene->writers[random_int(&own_seed, WRITTEN)];

        tuple.start = time;
        esi_writer_open(writer, &tuple);
        for (int i = random_int(&own_seed, 1000); i > 0 && !atomic_load(&work->ends);
             i--)
            ;
        esi_writer_close(writer, time + 1);
    }
    return NULL;
}

/* Returns whether there is an operation under way, and a completed one that is newer
 * than before. */
static bool check_order(const struct es_batch *batch, uint64_t *last)
{
    uint64_t before = *last;

    assert_int_equal(batch->report_count, WRITTEN);
    if (batch->count == 0 || es_batch_is_open(batch, 0))
        return false;
    *last = batch->tuples[0].stop;
    assert_true(*last >= before);
    if (batch->count == 1)
        return false;
    assert_true(es_batch_is_open(batch, 1));
    assert_true(batch->tuples[1].start > *last);
    return *last > before;
}

static void nothing_is_both_open_and_completed(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct work work = {.scene = scene};
    uint64_t last = 0;
    pthread_t thread;

    assert_non_null(scene);
    seed = random_seed();
    open_scene(scene, *state, WRITTEN, OPEN | COUNTERS);
    assert_int_equal(pthread_create(&thread, NULL, do_operations, &work), 0);
    for (int both = 0; both < BOTH;)
        both += check_order(pull_tree(scene, SHORT, 1000), &last);
    atomic_store(&work.ends, true);
    pthread_join(thread, NULL);
    close_scene(scene);
    free(scene);
}

SUITE(test_newest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_path_gives_what_the_long_one_gives),
        cmocka_unit_test_setup_teardown(nothing_is_both_open_and_completed,
                                        made_scope_set_up, made_scope_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
