/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds a path and parameters, one per line, to the parser of the page's requests.  A
 * refused request has an error text; an accepted one is within its bounds.
 */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page_query.h"
#include "tests/fuzz/fuzz_target.h"

static void check_bounds(const struct esi_page_query *query)
{
    bool is_event = query->given & (ESI_PAGE_EVENT_ID | ESI_PAGE_A);

    if (query->given & ESI_PAGE_COLUMNS)
        require(query->columns >= 1 && query->columns <= ESI_PAGE_COLUMNS_MAX);
    require(!(query->given & ESI_PAGE_TO) || query->from < query->to);
    require(query->range_count <= ESI_PAGE_RANGES_MAX);
    require(!is_event || query->a.index != 0);
    for (size_t i = 0; i < query->range_count; i++)
        require(query->ranges[i].first <= query->ranges[i].last);
    require(query->limit >= 1 && query->count >= 1 && query->top >= 1);
}

/* Returns the next line, or NULL. */
static char *take_line(char **rest)
{
    return *rest ? strsep(rest, "\n") : NULL;
}

static void feed(struct esi_page_query *query, char *text)
{
    struct es_error error = {.text = ""};
    int result = 0;

    if (esi_page_query_begin(query, take_line(&text)) < 0)
        return;
    for (char *line = take_line(&text); line && result == 0; line = take_line(&text)) {
        char *value = strchr(line, '=');

        if (value)
            *value++ = '\0';
        result = esi_page_query_set(query, line, value ? value : "", &error);
    }
    if (result == 0)
        result = esi_page_query_check(query, &error);
    if (result == 0)
        check_bounds(query);
    else
        require(error.text[0] != '\0');
}

FUZZ_TARGET(fuzz_page_query, data, size)
{
    struct esi_page_query *query = malloc(sizeof *query);
    char *text = malloc(size + 1);

    require(query && text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    feed(query, text);
    free(text);
    free(query);
    return 0;
}
