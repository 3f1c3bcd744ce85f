/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* source.c - children and consumers for stages under test. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/wrappers/source.h"

static int open_source(struct es_stage *stage,
                       const struct es_property_value *values,
                       struct es_error *error)
{
    (void)values;
    (void)error;
    stage->state = (void *)stage->data;
    return 0;
}

static unsigned now_in(const struct source *source)
{
    return source->order ? ++*source->order : 0;
}

static void check_promise(struct source *source, const struct es_pull *pull)
{
    const struct es_pull *said = &source->announcement;

    if (!source->asks || said->max == 0)
        return;
    if (said->serial != pull->serial || said->max != pull->max)
        source->broken_promises++;
    source->announcement.max = 0;
}

static int pull_source(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    struct source *source = stage->state;
    size_t count;

    source->pulls++;
    source->pulled_at = now_in(source);
    check_promise(source, pull);
    if (source->failures > 0) {
        source->failures--;
        return -EIO;
    }
    count = source->count - source->given;
    if (count > pull->max) {
        count = pull->max;
        batch->more = true;
    }
    if (es_batch_reserve(batch, count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        batch->tuples[batch->count] = source->tuples[source->given];
        batch->marks[batch->count++] =
            (struct es_mark){.position = source->given++, .origin = source->origin};
    }
    if (source->place)
        source->place->read.position = source->given;
    return 0;
}

static void ask_source(struct es_stage *stage, const struct es_pull *pull)
{
    struct source *source = stage->state;

    source->announced++;
    source->asked_at = now_in(source);
    source->announcement = *pull;
}

static const struct es_stage_ops plain = {
    .name = "source",
    .help = "gives tuples from memory",
    .open = open_source,
    .pull = pull_source,
};

static const struct es_stage_ops asking = {
    .name = "asking-source",
    .help = "gives tuples from memory, and wants to be asked before",
    .open = open_source,
    .pull = pull_source,
    .ask = ask_source,
};

void source_register(void)
{
    assert_int_equal(es_stage_register(&plain), 0);
    assert_int_equal(es_stage_register(&asking), 0);
}

struct es_stage *source_open(struct source *source)
{
    struct es_stage_spec spec = {.type = source->asks ? "asking-source" : "source",
                                 .origin = source->origin,
                                 .data = source};
    struct es_stage *stage;

    assert_int_equal(es_stage_open(&spec, NULL, &stage), 0);
    return stage;
}

struct es_stage *stage_over(const char *type,
                            struct es_stage **children,
                            size_t child_count,
                            const struct es_stage_context *context,
                            ...)
{
    struct es_property properties[8];
    struct es_stage_spec spec = {.type = type,
                                 .properties = properties,
                                 .children = children,
                                 .child_count = child_count,
                                 .origin = ES_STAGE_NO_ORIGIN,
                                 .label = type,
                                 .context = context};
    struct es_error error = {.text = ""};
    struct es_stage *stage;
    const char *name;
    va_list list;

    va_start(list, context);
    while ((name = va_arg(list, const char *)) != NULL)
        properties[spec.property_count++] =
            (struct es_property){.name = name, .value = va_arg(list, const char *)};
    va_end(list);
    if (es_stage_open(&spec, &error, &stage) < 0)
        fail_msg("%s: %s", type, error.text);
    return stage;
}

void consumer_init(struct consumer *consumer, size_t max)
{
    consumer->pull = (struct es_pull){.max = max};
    es_batch_init(&consumer->batch);
}

void consumer_fini(struct consumer *consumer)
{
    es_batch_fini(&consumer->batch);
}

void source_commit(struct source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sources[i].taken = sources[i].given;
}

void source_rewind(struct source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sources[i].given = sources[i].taken;
        sources[i].announcement.max = 0;
    }
}

int consumer_pull(struct consumer *consumer, struct es_stage *stage)
{
    consumer->pull.serial++;
    es_batch_clear(&consumer->batch);
    return es_stage_pull(stage, &consumer->pull, &consumer->batch);
}
