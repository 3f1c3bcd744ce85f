/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Clocks of hosts between servers and consumers: estimates as JSON, their registry, and
 * the conversion of origins. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_out.h"
#include "eventspace/stage_batch.h"
#include "scopes/remote/clock_registry.h"
#include "tests/suites.h"

#define S UINT64_C(1000000000)

/* The home clock gains 1 in 1000, and is 100 s behind at 500 s. */
static struct esi_clock_estimate make_estimate(uint64_t knots)
{
    struct esi_clock_estimate estimate = {
        .run_base_ns = 1700000000 * S,
        .breaks = 3,
        .drift = {.ppb = 1e6, .error_ppb = 125.5, .wander_ppb = 50},
        .count = knots,
    };

    for (uint64_t i = 0; i < knots; i++)
        estimate.knots[i] = (struct esi_clock_knot){
            .local_ns = 500 * S + i * S,
            .offset_ns = -100 * (int64_t)S + (int64_t)(i * 1000000),
            .error_ns = 1000 + i,
            .bow_ns = i,
        };
    return estimate;
}

static struct es_message *parse(const char *text, size_t length)
{
    struct es_message *message;
    struct es_error error = {.text = ""};

    if (esi_message_parse(text, length, "test", &error, &message) < 0)
        fail_msg("%s: %s", text, error.text);
    return message;
}

static struct es_message *write_and_parse(const struct esi_clock_estimate *estimate)
{
    struct esi_json_text json;
    struct es_message *message;
    char *text;
    size_t length;

    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_json_out_begin_object(&json.out, NULL);
    esi_clock_estimate_write(estimate, &json.out, "clock");
    esi_json_out_end(&json.out);
    assert_int_equal(esi_json_text_finish(&json, &text, &length), 0);
    message = parse(text, length);
    free(text);
    return message;
}

/* --- JSON ------------------------------------------------------------------------ */

static void estimates_arrive_as_they_were(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, ES_CLOCK_KNOTS_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct esi_clock_estimate sent = make_estimate(counts[i]), come;
        struct es_message *message = write_and_parse(&sent);

        memset(&come, 0, sizeof come);
        assert_int_equal(
            esi_clock_estimate_read(esi_member_find(esi_message_root(message), "clock"),
                                    NULL, &come),
            0);
        assert_memory_equal(&come, &sent, sizeof sent);
        esi_message_destroy(message);
    }
}

static void nonsense_is_refused_with_words(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"run_base\": \"1\"}",
        "{\"run_base\": -1}",
        "{\"run_base\": 1, \"knots\": [1, 2, 3]}",
        "{\"run_base\": 1, \"knots\": [-1, 2, 3, 4]}",
        "{\"run_base\": 1, \"knots\": [1, 2, -3, 4]}",
        "{\"run_base\": 1, \"knots\": [1, 9223372036854775807, 3, 4]}",
        "{\"run_base\": 1, \"knots\": [1, 2, 3, 4, 9223372036854775807, 2, 3, 4]}",
        "{\"run_base\": 1, \"knots\": [1, 2, 3, 4, 0, 2, 3, 4]}",
        "{\"run_base\": 1, \"knots\": [1, 2, 3, 4, 10, -11, 3, 4]}",
        "{\"run_base\": 1, \"drift\": 1e300, \"knots\": [1, 2, 3, 4]}",
        "{\"run_base\": 1, \"wander\": -1, \"knots\": [1, 2, 3, 4]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct es_message *message = parse(texts[i], strlen(texts[i]));
        struct esi_clock_estimate estimate;
        struct es_error error = {.text = ""};

        assert_int_equal(
            esi_clock_estimate_read(esi_message_root(message), &error, &estimate),
            -EINVAL);
        assert_true(error.text[0] != '\0');
        esi_message_destroy(message);
    }
}

/* --- The registry ------------------------------------------------------------ */

static int count_known(void *data,
                       const char *host,
                       const struct esi_clock_estimate *estimate)
{
    int *counts = data;

    (void)host;
    counts[esi_clock_estimate_newest(estimate) >= 0]++;
    return 0;
}

static void a_clock_stays_where_it_is_and_learns(void **state)
{
    struct esi_clock_estimate estimate = make_estimate(2), found;
    const struct es_host_clock *clock;
    struct esi_clock_registry *registry;
    int counts[2] = {0, 0};
    uint64_t run_ns, error_ns;

    (void)state;
    assert_int_equal(esi_clock_registry_create(&registry), 0);
    assert_null(esi_clock_registry_get(NULL, "a"));
    clock = esi_clock_registry_get(registry, "a");
    assert_non_null(clock);
    assert_false(esi_clock_registry_find(registry, "a", &found));
    assert_false(esi_host_clock_run_ns(clock, 5, &run_ns, &error_ns));
    assert_int_equal(esi_clock_registry_set(registry, "a", &estimate), 0);
    assert_int_equal(esi_clock_registry_set(registry, "b", &estimate), 0);
    assert_non_null(esi_clock_registry_get(registry, "c"));
    assert_ptr_equal(esi_clock_registry_get(registry, "a"), clock);
    assert_true(esi_clock_registry_find(registry, "a", &found));
    assert_memory_equal(&found, &estimate, sizeof found);
    assert_true(esi_host_clock_run_ns(clock, 500 * S, &run_ns, &error_ns));
    assert_int_equal(run_ns, 1700000400 * S);
    esi_clock_registry_foreach(registry, count_known, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 2);
    esi_clock_registry_destroy(registry);
    esi_clock_registry_destroy(NULL);
}

/* --- Origins ---------------------------------------------------------------------- */

/* Ticks are microseconds; the process's own estimate of real time is far off. */
static const struct es_clock process_clock = {
    .kind = ES_CLOCK_MONOTONIC,
    .frequency_hz = 1000000,
    .base_ticks = 0,
    .base_realtime_ns = 5,
    .base_monotonic_ns = 500 * S,
    .base_error_ns = 100,
};

static void origins_convert_by_their_host(void **state)
{
    struct esi_clock_estimate estimate = make_estimate(2);
    struct es_origin origin = {.clock = &process_clock};
    struct esi_clock_registry *registry;
    uint64_t error_ns;

    (void)state;
    /* Without servers the estimate of the process is used. */
    assert_int_equal(es_origin_run_ns(&origin, 1000000, &error_ns), S + 5);
    assert_true(error_ns < 200);
    assert_int_equal(esi_clock_registry_create(&registry), 0);
    origin.host_clock = esi_clock_registry_get(registry, "a");
    /* The same while the registry has no estimate, but with an unknown error. */
    assert_int_equal(es_origin_run_ns(&origin, 1000000, &error_ns), S + 5);
    assert_true(error_ns == UINT64_MAX);
    assert_int_equal(es_origin_run_ns(&origin, 1000000, NULL), S + 5);
    esi_clock_registry_set(registry, "a", &estimate);
    assert_int_equal(es_origin_run_ns(&origin, 0, &error_ns), 1700000400 * S);
    assert_in_range(error_ns, 1100, 1110);
    assert_int_equal(es_origin_run_ns(&origin, 500000, &error_ns),
                     1700000400 * S + S / 2 + 500000);
    assert_int_equal(es_origin_run_ns(&origin, 3000000, &error_ns),
                     1700000403 * S + 3000000);
    assert_in_range(error_ns, 1001 + 251 + 100, 1001 + 251 + 100 + 250);
    esi_clock_registry_destroy(registry);
}

/* --- Threads ---------------------------------------------------------------------- */

struct shared {
    struct es_origin origin;
    atomic_bool stop;
    atomic_ulong fell;
    atomic_ulong looked;
};

/* New knots are appended, so a converted time never changes. */
static void *convert(void *data)
{
    struct shared *shared = data;

    while (!atomic_load(&shared->stop)) {
        uint64_t run_ns = es_origin_run_ns(&shared->origin, 0, NULL);

        if (run_ns != 1700000400 * S)
            atomic_fetch_add(&shared->fell, 1);
        atomic_fetch_add(&shared->looked, 1);
    }
    return NULL;
}

static void stages_convert_while_the_estimate_grows(void **state)
{
    struct esi_clock_estimate estimate = make_estimate(1);
    struct shared shared = {.origin = {.clock = &process_clock}};
    struct esi_clock_registry *registry;
    pthread_t threads[3];

    (void)state;
    assert_int_equal(esi_clock_registry_create(&registry), 0);
    shared.origin.host_clock = esi_clock_registry_get(registry, "a");
    esi_clock_registry_set(registry, "a", &estimate);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, convert, &shared), 0);
    for (uint64_t n = 0; n < 5000 || atomic_load(&shared.looked) < 1000; n++) {
        estimate = make_estimate(1 + n % ES_CLOCK_KNOTS_MAX);
        esi_clock_registry_set(registry, "a", &estimate);
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.fell, 0);
    esi_clock_registry_destroy(registry);
}

SUITE(test_clocks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_arrive_as_they_were),
        cmocka_unit_test(nonsense_is_refused_with_words),
        cmocka_unit_test(a_clock_stays_where_it_is_and_learns),
        cmocka_unit_test(origins_convert_by_their_host),
        cmocka_unit_test(stages_convert_while_the_estimate_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
