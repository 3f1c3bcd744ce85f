/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds texts to the parser of filters, and applies accepted filters to tuples. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "wrappers/stages/filter.h"

FUZZ_TARGET(fuzz_filter, data, size)
{
    static const struct es_clock clock = {.kind = ES_CLOCK_MONOTONIC,
                                          .frequency_hz = UINT64_C(1000000000)};
    struct es_origin origin = {.clock = &clock};
    struct es_tuple tuple = {.stop = 5, .operation = 1, .start = 2};
    struct esi_filter_event event = {.tuple = &tuple, .origin = &origin};
    struct es_error error = {.text = ""};
    struct esi_filter *filter;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (esi_filter_create(text, 1, 1, &error, &filter) == 0) {
        (void)esi_filter_matches(filter, &event);
        tuple.stop = 0;
        (void)esi_filter_matches(filter, &event);
        esi_filter_destroy(filter);
    } else { /* every error has a position and a text */
        require(error.text[0] != '\0' && error.column >= 1 &&
                (size_t)error.column <= strlen(text) + 1);
    }
    free(text);
    return 0;
}
