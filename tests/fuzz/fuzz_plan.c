/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes to the parser of collection plans: an error has a position, and an
 * accepted plan is the same when it is written and read again. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuplespace/plan/plan.h"

static void check_plan(struct es_plan *plan)
{
    struct es_plan again;
    char *text, *text_again;

    require(esi_plan_format(plan, &text) == 0);
    require(esi_plan_parse(text, "again", NULL, &again) == 0);
    require(esi_plan_format(&again, &text_again) == 0);
    require(strcmp(text, text_again) == 0);
    for (size_t i = 0; i < plan->count; i++)
        for (int rank = 0; rank < 20; rank++)
            require(esi_collector_plan_has_rank(&plan->collectors[i], rank) ==
                    esi_collector_plan_has_rank(&again.collectors[i], rank));
    free(text);
    free(text_again);
    esi_plan_fini(&again);
}

FUZZ_TARGET(fuzz_plan, data, size)
{
    struct es_error error = {.text = ""};
    struct es_plan plan;
    char *text = malloc(size + 1);
    int rc;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    rc = esi_plan_parse(text, "input", &error, &plan);
    if (rc == 0) {
        check_plan(&plan);
        esi_plan_fini(&plan);
    } else {
        require(rc == -EINVAL && error.text[0] != '\0' && error.line > 0);
    }
    free(text);
    return 0;
}
