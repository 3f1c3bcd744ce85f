/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds bytes to the parser of path maps: a map is refused with an error text, or it is
 * consistent.
 *
 * An accepted map can be parsed again from its own text and be expanded, and then has
 * the same plan.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/pathmap.h"
#include "tests/fuzz/fuzz_target.h"

/* Expanding larger maps takes long and tests nothing new. */
enum { MOST_THREADS = 1024 };

static char *format(const struct esi_pathmap *map)
{
    char *text;

    require(esi_pathmap_format(map, &text) == 0);
    return text;
}

static void check_round_trip(const struct esi_pathmap *map)
{
    char *text = format(map);
    struct esi_pathmap *again;

    require(esi_pathmap_parse(text, strlen(text), "again", NULL, &again) == 0);
    char *twice = format(again);
    require(strcmp(text, twice) == 0);
    esi_pathmap_destroy(again);
    free(twice);
    free(text);
}

static char *plan_text(const struct esi_pathmap *map)
{
    struct es_plan plan;
    char *text;

    require(esi_pathmap_plan(map, NULL, NULL, &plan) == 0);
    require(esi_plan_format(&plan, &text) == 0);
    esi_plan_fini(&plan);
    return text;
}

static int is_small(const struct esi_pathmap *map)
{
    struct esi_pathmap_summary summary;

    esi_pathmap_summarize(map, &summary);
    return summary.threads <= MOST_THREADS && summary.hosts > 0;
}

static void check_expansion(struct esi_pathmap *map)
{
    char *before = plan_text(map);

    require(esi_pathmap_expand(map, NULL) == 0);
    char *after = plan_text(map);
    require(strcmp(before, after) == 0);
    check_round_trip(map);
    free(after);
    free(before);
}

static void fuzz_map(const char *text, size_t size)
{
    struct es_error error = {.text = ""};
    struct esi_pathmap *map = NULL;

    if (esi_pathmap_parse(text, size, "fuzz", &error, &map) < 0) {
        require(map == NULL);
        require(error.text[0] != '\0');
        return;
    }
    check_round_trip(map);
    if (is_small(map))
        check_expansion(map);
    esi_pathmap_destroy(map);
}

static void fuzz_stages(const char *text, size_t size)
{
    struct esi_pathmap_stage *stages;

    if (esi_pathmap_stages_parse(text, size, "fuzz", NULL, &stages) == 0)
        esi_pathmap_stages_destroy(stages);
}

FUZZ_TARGET(fuzz_pathmap, data, size)
{
    fuzz_map((const char *)data, size);
    fuzz_stages((const char *)data, size);
    return 0;
}
