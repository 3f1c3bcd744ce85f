/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* user_stage.c - a consumer that is built against the installation.  It pulls the
 * example's stage and checks that exactly the tuples known to be slow arrive. */
#include <stdio.h>
#include <stdlib.h>

#include <eventspace/stage_module.h>

enum { TUPLES = 2000 };

static struct es_tuple tuples[TUPLES];
static size_t given;

/* Delivers 50 tuples per pull. */
static int pull_source(struct es_stage *stage,
                       const struct es_pull *pull,
                       struct es_batch *batch)
{
    (void)stage;
    (void)pull;
    for (int i = 0; i < 50 && given < TUPLES; i++, given++) {
        if (es_batch_reserve(batch, 1) < 0)
            return -1;
        batch->tuples[batch->count] = tuples[given];
        batch->marks[batch->count++] = (struct es_mark){.position = given};
    }
    return 0;
}

static const struct es_stage_ops source_type = {.name = "source",
                                                .help = "gives tuples",
                                                .pull = pull_source};

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

/* Most operations take 900 to 1,100 ns, but every 97th takes 9,000 ns. */
static void make_tuples(void)
{
    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct es_tuple){
            .start = i * 100000 + 1,
            .stop = i * 100000 + 1 + (i % 97 == 96 ? 9000 : 900 + i * 7919 % 200),
            .operation = 1};
}

static struct es_stage *open_tree(const struct es_stage_context *context)
{
    static const struct es_property times = {.name = "times", .value = "3"};
    struct es_stage_spec source = {.type = "source", .context = context};
    struct es_stage_spec slow = {.type = "slow",
                                 .properties = &times,
                                 .property_count = 1,
                                 .child_count = 1,
                                 .context = context};
    struct es_error error = {.text = ""};
    struct es_stage *child;
    struct es_stage *stage;

    check(es_stage_open(&source, &error, &child) == 0, error.text);
    slow.children = &child;
    check(es_stage_open(&slow, &error, &stage) == 0, error.text);
    return stage;
}

int main(int argc, char **argv)
{
    static const struct es_clock clock = {.kind = ES_CLOCK_MONOTONIC,
                                          .frequency_hz = 1000000000};
    static struct es_origin origin = {.name = "", .clock = &clock};
    static const struct es_origins origins = {.items = &origin, .count = 1};
    static const struct es_stage_context context = {.origins = &origins};
    struct es_pull pull = {.max = 1000};
    struct es_error error = {.text = ""};
    struct es_stage *stage;
    struct es_batch batch;
    size_t found = 0;

    check(argc == 2, "usage: user_stage MODULE");
    check(es_stage_load(argv[1], &error) == 0, error.text);
    check(es_stage_load(argv[1], &error) == 0, "loading it twice");
    check(es_stage_register(&source_type) == 0, "registering the source");
    make_tuples();
    stage = open_tree(&context);
    es_batch_init(&batch);
    while (given < TUPLES) {
        pull.serial++;
        es_batch_clear(&batch);
        check(es_stage_pull(stage, &pull, &batch) == 0, "pulling");
        for (size_t j = 0; j < batch.count; j++, found++)
            check(batch.marks[j].position == 97 * found + 96, "the slow ones");
    }
    check(found == TUPLES / 97, "all slow ones");
    es_batch_fini(&batch);
    es_stage_close(stage);
    return 0;
}
