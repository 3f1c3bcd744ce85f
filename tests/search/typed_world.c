/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* typed_world.c - random events with types and attributes, and searches of them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/search_engine.h"
#include "tests/search/plain_engine.h"
#include "tests/search/typed_world.h"

/* Maximum size of the stored matches of a search. */
enum { WORDS_OF_MATCHES = 1 << 20 };

static const char *const types[] = {"a", "b", "c", "ab", "d", "d", "d", "d"};

/* --- Events ----------------------------------------------------------------------- */

static struct typed_event draw_event(uint64_t *draw, uint32_t keys)
{
    struct typed_event event = {
        .type = types[random_below(draw, sizeof types / sizeof types[0])],
        .form = random_percent(draw, 60)
                    ? TYPED_NUMBER
                    : (enum typed_key)random_below(draw, TYPED_ABSENT + 1),
    };

    event.key = random_below(draw, keys);
    event.other = random_below(draw, keys);
    return event;
}

static void give(struct typed_world *world, uint32_t number)
{
    const struct made_event *made = &world->made->events[number];
    const struct typed_event *typed = &world->events[number];
    char text[16];
    struct es_event_attribute attributes[2] = {
        {.name = "other", .number = typed->other},
        {.name = "key", .number = typed->key}};
    struct es_set_event given = {
        .id = made->id,
        .kind = made->kind,
        .partner_count = made->partner_count,
        .partners = made->partners,
        .type = typed->type,
        .text = "",
        .attributes = attributes,
        .attribute_count = typed->form == TYPED_ABSENT ? 1 : 2,
    };
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = esi_domains_sink(world->domains);

    snprintf(text, sizeof text, typed->form == TYPED_TEXT ? "t%u" : "%u", typed->key);
    if (typed->form != TYPED_NUMBER)
        attributes[1].text = text;
    assert_int_equal(order.event(order.data, &given), 0);
    assert_int_equal(domains.event(domains.data, &given), 0);
}

static void fill(struct typed_world *world,
                 const struct typed_world_config *config,
                 uint64_t seed)
{
    struct es_set_sink order = es_order_sink(world->order);
    struct es_set_sink domains = esi_domains_sink(world->domains);
    uint64_t draw;

    draw = seed;
    for (uint32_t trace = 0; trace < world->made->traces; trace++) {
        assert_int_equal(order.trace(order.data, trace, "T"), 0);
        assert_int_equal(domains.trace(domains.data, trace, "T"), 0);
    }
    for (uint32_t i = 0; i < world->made->count; i++) {
        world->events[i] = draw_event(&draw, config->keys);
        give(world, i);
    }
    assert_int_equal(esi_domains_finish(world->domains), 0);
}

void typed_world_init(struct typed_world *world,
                      const struct typed_world_config *config,
                      uint64_t seed,
                      enum made_shape shape)
{
    struct made_config how = {.shape = shape,
                              .seed = seed,
                              .traces = config->traces,
                              .events = config->events};
    struct esi_order_config order = {.store = NULL};
    struct es_error error = {0};

    world->made = made_computation_create(&how);
    world->events = calloc(world->made->count, sizeof *world->events);
    assert_non_null(world->events);
    assert_int_equal(esi_order_create(&order, &error, &world->order), 0);
    if (es_pattern_file_parse(config->text, strlen(config->text), "text", &world->file,
                              &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(
        esi_domains_create(world->file, NULL, NULL, &world->domains, &error), 0);
    fill(world, config, seed);
}

void typed_world_fini(struct typed_world *world)
{
    esi_domains_destroy(world->domains);
    es_pattern_file_destroy(world->file);
    es_order_destroy(world->order);
    free(world->events);
    made_computation_destroy(world->made);
}

void typed_worlds_check(const struct typed_world_config *config,
                        const enum made_shape *shapes,
                        size_t count,
                        void (*check)(const struct typed_world *world))
{
    uint64_t seed = random_seed();

    for (size_t i = 0; i < count; i++) {
        struct typed_world world;

        typed_world_init(&world, config, seed + i, shapes[i]);
        check(&world);
        typed_world_fini(&world);
    }
}

/* --- Searches --------------------------------------------------------------------- */

static int take(void *data, const struct es_event_id *events, size_t count)
{
    struct typed_answer *answer = data;

    if (answer->count + 1 + 2 * count > WORDS_OF_MATCHES)
        return 1;
    answer->words[answer->count++] = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        answer->words[answer->count++] = events[i].trace;
        answer->words[answer->count++] = events[i].index;
    }
    answer->matches++;
    return 0;
}

static struct typed_answer search_by(const struct esi_engine_ops *engine,
                                     const struct typed_world *world,
                                     const char *predicate,
                                     const struct esi_search_config *config)
{
    const struct esi_search_task task = {world->file,
                                         es_pattern_find(world->file, predicate),
                                         world->domains, world->order, config};
    struct typed_answer answer = {.words =
                                      calloc(WORDS_OF_MATCHES, sizeof *answer.words)};
    const struct esi_match_sink sink = {take, &answer};
    struct es_error error = {0};

    assert_non_null(answer.words);
    assert_int_equal(
        esi_search_run_by(engine, &task, &sink, &answer.statistics, &error), 0);
    return answer;
}

struct typed_answer typed_world_search(const struct typed_world *world,
                                       const char *predicate,
                                       const struct esi_search_config *config)
{
    return search_by(esi_engine_find(config->engine), world, predicate, config);
}

struct typed_answer typed_world_search_plainly(const struct typed_world *world,
                                               const char *predicate)
{
    struct esi_search_config config;

    esi_search_config_init(&config);
    return search_by(&plain_engine, world, predicate, &config);
}

void typed_answer_fini(struct typed_answer *answer)
{
    free(answer->words);
}

void typed_answers_check(const struct typed_answer *one,
                         const struct typed_answer *many)
{
    assert_int_equal(many->matches, one->matches);
    assert_int_equal(many->count, one->count);
    assert_memory_equal(many->words, one->words, one->count * sizeof *one->words);
    assert_int_equal(many->statistics.assignments, one->statistics.assignments);
    assert_int_equal(many->statistics.is_complete, one->statistics.is_complete);
}

void typed_world_check_explained(const struct typed_world *world,
                                 const char *predicate,
                                 const char *const *expected)
{
    struct esi_search_config config;
    struct es_error error = {0};
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);

    esi_search_config_init(&config);
    config.engine = "indexed";
    assert_non_null(stream);
    assert_int_equal(
        esi_search_explain(world->file, es_pattern_find(world->file, predicate),
                           world->domains, world->order, &config, stream, &error),
        0);
    fclose(stream);
    for (; *expected; expected++)
        if (!strstr(out, *expected))
            fail_msg("no \"%s\" in:\n%s", *expected, out);
    free(out);
}
