/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reductions in trees of any shape give the result of a plain loop over all tuples. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tests/wrappers/source.h"

enum { ORIGINS = 12, TUPLES = 60, MOST_GROUPS = 4000 };

static struct es_tuple tuples[ORIGINS][TUPLES];
static struct es_clock clocks[3];
static struct es_origin origin_items[ORIGINS];
static struct es_origins origins = {.items = origin_items, .count = ORIGINS};
static const struct es_stage_context context = {.origins = &origins};

/* Makes three hosts with different clocks, two ranks on each, and
 * two threads per rank. */
static void make_origins(void)
{
    static const char *const hosts[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++)
        clocks[i] = (struct es_clock){.kind = ES_CLOCK_TSC,
                                      .frequency_hz = (i + 1) * 1000000000,
                                      .base_ticks = 1000 * i,
                                      .base_realtime_ns = 1000000};
    for (int i = 0; i < ORIGINS; i++)
        origin_items[i] = (struct es_origin){.name = "",
                                             .host = hosts[i / 4],
                                             .pid = 100 + i / 2,
                                             .rank = i / 2,
                                             .thread = i % 2,
                                             .clock = &clocks[i / 4]};
}

static void make_tuples(uint64_t *seed)
{
    for (size_t i = 0; i < ORIGINS; i++)
        for (size_t j = 0; j < TUPLES; j++) {
            uint64_t start = 3000 + 500 * j + random_next(seed) % 400;

            tuples[i][j] = (struct es_tuple){
                .start = start,
                .stop = start + random_next(seed) % 3000,
                .operation = (uint16_t)(1 + random_next(seed) % 5),
                .bytes = (uint32_t)random_number(seed),
            };
        }
}

/* --- The plain loop ------------------------------------------------------------ */

struct expected {
    struct es_summary summary;
    uint64_t key; /* what the tuples of the group share */
};

struct account {
    struct expected groups[MOST_GROUPS];
    size_t count;
};

static uint64_t key_of(enum es_summary_group by, size_t origin, uint16_t operation)
{
    switch (by) {
    case ES_SUMMARY_BY_OPERATION:
        return operation;
    case ES_SUMMARY_BY_ORIGIN:
    case ES_SUMMARY_BY_THREAD:
        return origin; /* each thread has one element */
    case ES_SUMMARY_BY_RANK:
        return origin / 2;
    case ES_SUMMARY_BY_HOST:
        return origin / 4;
    default:
        return 0;
    }
}

static struct es_summary *find(struct account *account, uint64_t key, unsigned bucket)
{
    struct expected *group;

    for (size_t i = 0; i < account->count; i++)
        if (account->groups[i].key == key &&
            account->groups[i].summary.bucket == bucket)
            return &account->groups[i].summary;
    assert_true(account->count < MOST_GROUPS);
    group = &account->groups[account->count++];
    *group = (struct expected){
        .key = key,
        .summary = {.bucket = bucket, .operation = UINT16_MAX, .first_ns = UINT64_MAX}};
    return &group->summary;
}

static unsigned bucket_of(uint64_t value)
{
    unsigned bucket = 0;

    for (; value; value /= 2)
        bucket++;
    return bucket;
}

static void count_tuple(struct account *account,
                        enum es_summary_kind kind,
                        enum es_summary_field of,
                        enum es_summary_group by,
                        size_t origin,
                        const struct es_tuple *tuple)
{
    const struct es_clock *clock = origin_items[origin].clock;
    uint64_t value = of == ES_SUMMARY_BYTES
                         ? tuple->bytes
                         : es_clock_span_ns(clock, tuple->stop - tuple->start);
    uint64_t start = es_clock_realtime_ns(clock, tuple->start, NULL);
    uint64_t stop = es_clock_realtime_ns(clock, tuple->stop, NULL);
    struct es_summary *group =
        find(account, key_of(by, origin, tuple->operation),
             kind == ES_SUMMARY_HISTOGRAM ? bucket_of(value) : 0);

    if (kind == ES_SUMMARY_MINIMUM)
        group->value = group->count && group->value < value ? group->value : value;
    else if (kind == ES_SUMMARY_MAXIMUM)
        group->value = group->value > value ? group->value : value;
    else if (kind != ES_SUMMARY_COUNT)
        group->value += value;
    group->count++;
    if (tuple->operation < group->operation)
        group->operation = tuple->operation;
    if (start < group->first_ns)
        group->first_ns = start;
    if (stop > group->last_ns)
        group->last_ns = stop;
}

/* --- Random trees ---------------------------------------------------------------- */

/* Returns a narrower kind of group, whose groups make up one of the given kind. */
static const char *narrower(enum es_summary_group by)
{
    switch (by) {
    case ES_SUMMARY_BY_NONE:
        return "operation";
    case ES_SUMMARY_BY_HOST:
        return "thread";
    case ES_SUMMARY_BY_RANK:
        return "origin";
    default:
        return es_summary_group_name(by);
    }
}

static struct es_stage *make_tree(struct source *sources,
                                  enum es_summary_kind kind,
                                  enum es_summary_field of,
                                  enum es_summary_group by,
                                  uint64_t *seed)
{
    struct es_stage *stages[ORIGINS];
    size_t count = ORIGINS;
    bool first = true;

    for (size_t i = 0; i < ORIGINS; i++)
        stages[i] = source_open(&sources[i]);
    while (count > 1 || first) {
        size_t made = 0;

        for (size_t i = 0; i < count;) {
            size_t width = 1 + random_next(seed) % 4;
            bool reduces = random_next(seed) % 2 || count <= 4;

            width = width > count - i ? count - i : width;
            stages[made] =
                stage_over(reduces ? "reduce" : "gather", stages + i, width, &context,
                           "mode", random_next(seed) % 2 ? "concurrent" : "sequential",
                           reduces ? "to" : NULL, es_summary_kind_name(kind), "of",
                           es_summary_field_name(of), "by",
                           first ? narrower(by) : es_summary_group_name(by), NULL);
            made++;
            i += width;
        }
        count = made;
        first = false;
    }
    return stage_over("reduce", stages, 1, &context, "to", es_summary_kind_name(kind),
                      "of", es_summary_field_name(of), "by", es_summary_group_name(by),
                      NULL);
}

static void add_received(struct account *account,
                         const struct es_batch *batch,
                         enum es_summary_kind kind,
                         enum es_summary_field of,
                         enum es_summary_group by)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct es_summary summary;
        struct es_summary *group;

        assert_int_equal(
            es_summary_decode(&batch->tuples[i], &batch->marks[i], &summary), 0);
        assert_int_equal(summary.kind, kind);
        assert_int_equal(summary.of, of);
        assert_int_equal(summary.by, by);
        group = find(account, key_of(by, batch->marks[i].origin, summary.operation),
                     summary.bucket);
        if (group->count == 0)
            *group = summary;
        else
            es_summary_merge(group, &summary);
    }
}

static void compare_accounts(struct account *got, struct account *wanted)
{
    assert_int_equal(got->count, wanted->count);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct es_summary *want = &wanted->groups[i].summary;
        const struct es_summary *have = find(got, wanted->groups[i].key, want->bucket);

        assert_int_equal(have->count, want->count);
        assert_int_equal(have->value, want->value);
        assert_int_equal(have->operation, want->operation);
        assert_int_equal(have->first_ns, want->first_ns);
        assert_int_equal(have->last_ns, want->last_ns);
    }
    assert_int_equal(got->count, wanted->count);
}

static struct account got;
static struct account wanted;

/* Pulls one tree with random limits while tuples arrive, and opens
 * it again if it fails. */
static void reduce_randomly(enum es_summary_kind kind,
                            enum es_summary_field of,
                            enum es_summary_group by,
                            uint64_t seed)
{
    struct source sources[ORIGINS];
    struct consumer consumer;
    struct es_stage *root;
    uint64_t shape;

    got.count = 0;
    wanted.count = 0;
    make_tuples(&seed);
    for (size_t i = 0; i < ORIGINS; i++) {
        sources[i] = (struct source){
            .tuples = tuples[i], .origin = (uint32_t)i, .asks = random_next(&seed) % 2};
        for (size_t j = 0; j < TUPLES; j++)
            count_tuple(&wanted, kind, of, by, i, &tuples[i][j]);
    }
    shape = seed;
    root = make_tree(sources, kind, of, by, &seed);
    consumer_init(&consumer, 1);
    for (int i = 0; i < 4000; i++) {
        bool last = i >= 3000;
        int result;

        for (size_t j = 0; j < ORIGINS; j++)
            sources[j].count =
                last ? TUPLES : random_next(&seed) % (sources[j].count + 2);
        for (size_t j = 0; j < ORIGINS; j++)
            if (sources[j].count < sources[j].given || sources[j].count > TUPLES)
                sources[j].count =
                    sources[j].given < TUPLES ? sources[j].given : TUPLES;
        consumer.pull.max = random_next(&seed) % (i % 2 ? 20 : 2000);
        result = consumer_pull(&consumer, root);
        consumer.pull.careful = result == -EAGAIN;
        if (result == -EAGAIN) {
            uint64_t same = shape;

            es_stage_close(root);
            source_rewind(sources, ORIGINS);
            root = make_tree(sources, kind, of, by, &same);
            continue;
        }
        assert_int_equal(result, 0);
        assert_true(consumer.batch.count <= consumer.pull.max);
        source_commit(sources, ORIGINS);
        add_received(&got, &consumer.batch, kind, of, by);
    }
    compare_accounts(&got, &wanted);
    for (size_t i = 0; i < ORIGINS; i++)
        assert_int_equal(sources[i].broken_promises, 0);
    es_stage_close(root);
    consumer_fini(&consumer);
}

static void trees_sum_up_what_a_loop_sums_up(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int kind = 0; kind < ES_SUMMARY_KINDS; kind++)
        for (int of = 0; of < ES_SUMMARY_FIELDS; of++)
            for (int by = 0; by < ES_SUMMARY_GROUPS; by++) {
                random_next(&seed);
                printf("# kind %d of %d by %d seed %llu\n", kind, of, by,
                       (unsigned long long)seed);
                reduce_randomly((enum es_summary_kind)kind, (enum es_summary_field)of,
                                (enum es_summary_group)by, seed);
            }
}

/* --- Other tests ----------------------------------------------------------------- */

static void summaries_go_through_tuples_unchanged(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct es_summary summary = {
            .kind = (enum es_summary_kind)(random_next(&seed) % ES_SUMMARY_KINDS),
            .of = (enum es_summary_field)(random_next(&seed) % ES_SUMMARY_FIELDS),
            .by = (enum es_summary_group)(random_next(&seed) % ES_SUMMARY_GROUPS),
            .bucket = (unsigned)(random_next(&seed) % ES_SUMMARY_BUCKETS),
            .operation = (uint16_t)random_next(&seed),
            .count = random_next(&seed),
            .value = random_next(&seed),
            .first_ns = random_next(&seed),
            .last_ns = random_next(&seed)};
        struct es_mark mark = {.flags = ES_MARK_SUMMARY};
        struct es_summary read = {.count = 0};
        struct es_tuple tuple;

        es_summary_encode(&summary, &tuple);
        assert_int_equal(es_summary_decode(&tuple, &mark, &read), 0);
        assert_int_equal(read.kind, summary.kind);
        assert_int_equal(read.of, summary.of);
        assert_int_equal(read.by, summary.by);
        assert_int_equal(read.bucket, summary.bucket);
        assert_int_equal(read.operation, summary.operation);
        assert_int_equal(read.count, summary.count);
        assert_int_equal(read.value, summary.value);
        assert_int_equal(read.first_ns, summary.first_ns);
        assert_int_equal(read.last_ns, summary.last_ns);
        mark.flags = 0;
        assert_int_equal(es_summary_decode(&tuple, &mark, &read), -EINVAL);
    }
}

static void buckets_hold_what_their_bounds_say(void **state)
{
    static const uint64_t values[] = {0, 1, 2, 3, 4, 7, 8, 1023, 1024, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        unsigned bucket = es_summary_bucket(values[i]);

        assert_int_equal(bucket, bucket_of(values[i]));
        assert_true(values[i] >= es_summary_bucket_least(bucket));
        assert_true(values[i] <= es_summary_bucket_most(bucket));
    }
    assert_int_equal(es_summary_bucket_most(64), UINT64_MAX);
}

static void counts_saturate_and_means_are_weighted(void **state)
{
    struct es_summary one = {.kind = ES_SUMMARY_MEAN, .count = 3, .value = 30};
    struct es_summary other = {.kind = ES_SUMMARY_MEAN, .count = 1, .value = 50};

    (void)state;
    es_summary_merge(&one, &other);
    assert_true(es_summary_mean(&one) == 20);
    one.count = UINT64_MAX;
    es_summary_merge(&one, &other);
    assert_int_equal(one.count, UINT64_MAX);
}

static void picking_finds_the_first_and_the_last(void **state)
{
    static const struct {
        const char *to;
        uint64_t times[2]; /* of the completed one (stop) and the open one (start) */
    } cases[] = {{"latest", {900, 70}}, {"earliest", {100, 50}}};
    struct es_tuple all[] = {
        {.start = 60, .operation = 1},
        {.stop = 500, .start = 1, .operation = 1},
        {.stop = 100, .start = 2, .operation = 1},
        {.start = 70, .operation = 1},
        {.stop = 900, .start = 3, .operation = 1},
        {.start = 50, .operation = 1},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct source source = {.tuples = all, .count = 6};
        struct es_stage *child = source_open(&source);
        struct es_stage *stage =
            stage_over("reduce", &child, 1, &context, "to", cases[i].to, NULL);
        struct consumer consumer;

        consumer_init(&consumer, 100);
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        assert_int_equal(consumer.batch.count, 2);
        assert_int_equal(consumer.batch.tuples[0].stop, cases[i].times[0]);
        assert_int_equal(consumer.batch.tuples[1].stop, 0);
        assert_int_equal(consumer.batch.tuples[1].start, cases[i].times[1]);
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

static int pull_alike(struct es_stage *parent,
                      const struct es_pull *pull,
                      struct es_batch *batch)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < parent->sibling_count; i++) {
        struct es_stage *stage = parent->siblings[i].stage;

        result = stage->pull(stage, pull, batch);
    }
    return result;
}

/* Such children have an origin and are pulled together, but their state
 * is not an element's. */
static void children_of_other_types_are_not_taken_for_elements(void **state)
{
    struct es_tuple all[] = {{.stop = 500, .start = 1, .operation = 1},
                             {.stop = 900, .start = 2, .operation = 1}};
    struct source sources[2];
    struct es_stage *children[2], *stage;
    struct consumer consumer;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        sources[i] = (struct source){.tuples = &all[i], .count = 1};
        children[i] = source_open(&sources[i]);
        children[i]->origin = i;
        children[i]->pull_siblings = pull_alike;
    }
    stage = stage_over("reduce", children, 2, &context, "to", "latest", NULL);
    consumer_init(&consumer, 100);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, 1);
    assert_int_equal(consumer.batch.tuples[0].stop, 900);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static void operations_under_way_are_not_summed_up(void **state)
{
    struct es_tuple all[] = {{.start = 60, .operation = 1},
                             {.stop = 500, .start = 1, .operation = 1}};
    struct source source = {.tuples = all, .count = 2};
    struct es_stage *child = source_open(&source);
    struct es_stage *stage =
        stage_over("reduce", &child, 1, &context, "to", "count", NULL);
    struct es_summary summary;
    struct consumer consumer;

    (void)state;
    consumer_init(&consumer, 100);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, 1);
    assert_int_equal(
        es_summary_decode(consumer.batch.tuples, consumer.batch.marks, &summary), 0);
    assert_int_equal(summary.count, 1);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* An MPI_Irecv lasts until the end of the MPI_Waitall that completes it, so
 * their times overlap. */
static void sums_count_no_time_twice(void **state)
{
    static const char *const names[] = {"MPI_Irecv", "MPI_Waitall", "MPI_Sendrecv",
                                        "MPI_Sendrecv receive"};
    static const struct {
        const char *to;
        uint64_t value;
    } cases[] = {{"sum", 300 + 40}, {"maximum", 500}};
    struct es_tuple all[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        all[i] = (struct es_tuple){
            .start = i < 2 ? 100 + 200 * i : 700,
            .stop = i < 2 ? 600 : 740,
            .operation = es_operation_by_name(names[i])->code,
        };
    for (size_t i = 0; i < 2; i++) {
        struct source source = {.tuples = all, .count = 4};
        struct es_stage *child = source_open(&source);
        struct es_stage *stage =
            stage_over("reduce", &child, 1, &context, "to", cases[i].to, "of",
                       "duration", "by", "rank", NULL);
        struct es_summary summary;
        struct consumer consumer;

        consumer_init(&consumer, 100);
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        assert_int_equal(consumer.batch.count, 1);
        assert_int_equal(
            es_summary_decode(consumer.batch.tuples, consumer.batch.marks, &summary),
            0);
        assert_int_equal(summary.count, 4);
        assert_int_equal(summary.value,
                         es_clock_span_ns(origin_items[0].clock, cases[i].value));
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

/* The tuples have more codes than there are operations.  The first tree fails, and the
 * careful pull of the next one reads less. */
static void codes_that_nobody_knows_are_not_lost(void **state)
{
    static struct es_tuple all[2000];
    struct source source = {.tuples = all, .count = 2000};
    struct es_stage *child = source_open(&source);
    struct es_stage *stage =
        stage_over("reduce", &child, 1, &context, "to", "count", NULL);
    struct consumer consumer;
    uint64_t sum = 0;
    int failures = 0;

    (void)state;
    for (size_t i = 0; i < 2000; i++)
        all[i] = (struct es_tuple){
            .stop = i + 1, .start = i + 1, .operation = (uint16_t)(i + 1)};
    consumer_init(&consumer, 900);
    for (int i = 0; i < 20; i++) {
        if (consumer_pull(&consumer, stage) != 0) {
            es_stage_close(stage);
            source_rewind(&source, 1);
            child = source_open(&source);
            stage = stage_over("reduce", &child, 1, &context, "to", "count", NULL);
            consumer.pull.careful = true;
            failures++;
            continue;
        }
        consumer.pull.careful = false;
        source_commit(&source, 1);
        assert_true(consumer.batch.count <= 900);
        sum += consumer.batch.count;
    }
    assert_int_equal(failures, 1);
    assert_int_equal(sum, 2000);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* A reduction passes on summaries of another kind, whatever the limit. */
static void other_summaries_pass(void **state)
{
    uint64_t seed = 5;
    struct source source = {.tuples = tuples[0], .count = TUPLES};
    struct es_stage *stages[2];
    struct consumer consumer;
    uint64_t sum = 0;

    (void)state;
    make_tuples(&seed);
    stages[0] = source_open(&source);
    stages[1] = stage_over("reduce", stages, 1, &context, "to", "histogram", NULL);
    stages[0] = stage_over("reduce", stages + 1, 1, &context, "to", "count", "by",
                           "none", NULL);
    consumer_init(&consumer, 3);
    for (int i = 0; i < 3 * TUPLES; i++) {
        assert_int_equal(consumer_pull(&consumer, stages[0]), 0);
        assert_true(consumer.batch.count <= 3);
        for (size_t j = 0; j < consumer.batch.count; j++) {
            struct es_summary summary;

            assert_int_equal(es_summary_decode(&consumer.batch.tuples[j],
                                               &consumer.batch.marks[j], &summary),
                             0);
            assert_int_equal(summary.kind, ES_SUMMARY_HISTOGRAM);
            sum += summary.count;
        }
    }
    assert_int_equal(sum, TUPLES);
    es_stage_close(stages[0]);
    consumer_fini(&consumer);
}

SUITE(test_reduce)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_go_through_tuples_unchanged),
        cmocka_unit_test(buckets_hold_what_their_bounds_say),
        cmocka_unit_test(counts_saturate_and_means_are_weighted),
        cmocka_unit_test(picking_finds_the_first_and_the_last),
        cmocka_unit_test(children_of_other_types_are_not_taken_for_elements),
        cmocka_unit_test(operations_under_way_are_not_summed_up),
        cmocka_unit_test(sums_count_no_time_twice),
        cmocka_unit_test(codes_that_nobody_knows_are_not_lost),
        cmocka_unit_test(other_summaries_pass),
        cmocka_unit_test(trees_sum_up_what_a_loop_sums_up),
    };

    make_origins();
    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
