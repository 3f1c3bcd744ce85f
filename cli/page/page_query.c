/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_query.c - paths and parameters of requests, from two tables. */
#include "config.h"

#include "cli/page/page_query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integers below this are exact in a double. */
#define FARTHEST 9007199254740992.0

/* --- Paths ------------------------------------------------------------------------ */

enum {
    RANGE = ESI_PAGE_FROM | ESI_PAGE_TO,
    WINDOW = ESI_PAGE_AXIS | RANGE | ESI_PAGE_ROW_LIST,
};

struct page_route {
    const char *path;
    unsigned allowed;
    unsigned required;
};

static const struct page_route routes[ESI_PAGE_ROUTES] = {
    [ESI_PAGE_RUN] = {"/api/run", 0, 0},
    [ESI_PAGE_ROWS] = {"/api/rows", ESI_PAGE_FIRST | ESI_PAGE_COUNT, 0},
    [ESI_PAGE_WINDOW] = {"/api/window", WINDOW | ESI_PAGE_COLUMNS | ESI_PAGE_GROUP,
                         RANGE | ESI_PAGE_COLUMNS},
    [ESI_PAGE_CALLS] = {"/api/calls", WINDOW | ESI_PAGE_LIMIT, RANGE},
    [ESI_PAGE_MESSAGES] = {"/api/messages", WINDOW | ESI_PAGE_LIMIT, RANGE},
    [ESI_PAGE_MATRIX] = {"/api/matrix", WINDOW, RANGE},
    [ESI_PAGE_PROFILE] = {"/api/profile", WINDOW | ESI_PAGE_COLUMNS,
                          RANGE | ESI_PAGE_COLUMNS},
    [ESI_PAGE_EVENT] = {"/api/event", ESI_PAGE_EVENT_ID, ESI_PAGE_EVENT_ID},
    [ESI_PAGE_NEAREST] = {"/api/nearest", ESI_PAGE_AXIS | ESI_PAGE_ROW | ESI_PAGE_AT,
                          ESI_PAGE_ROW | ESI_PAGE_AT},
    [ESI_PAGE_CONE] = {"/api/cone", ESI_PAGE_EVENT_ID, ESI_PAGE_EVENT_ID},
    [ESI_PAGE_RELATION] = {"/api/relation", ESI_PAGE_A | ESI_PAGE_B,
                           ESI_PAGE_A | ESI_PAGE_B},
    [ESI_PAGE_SEARCH] = {"/api/search",
                         ESI_PAGE_PATTERN | ESI_PAGE_PREDICATE | ESI_PAGE_NAME |
                             ESI_PAGE_LIMIT | ESI_PAGE_FROM,
                         0},
    [ESI_PAGE_VERDICT] = {"/api/verdict", 0, 0},
    [ESI_PAGE_WAITS] = {"/api/waits", ESI_PAGE_TOP, 0},
    [ESI_PAGE_COLLECTIVES] = {"/api/collectives",
                              ESI_PAGE_TOP | ESI_PAGE_AXIS | RANGE | ESI_PAGE_LIMIT, 0},
    [ESI_PAGE_TREES] = {"/api/trees", 0, 0},
    [ESI_PAGE_SCOPE] = {"/api/scope", 0, 0},
    [ESI_PAGE_STREAM] = {"/api/stream", 0, 0},
    [ESI_PAGE_EXPORT] = {"/api/export",
                         WINDOW | ESI_PAGE_COLUMNS | ESI_PAGE_EVENT_ID |
                             ESI_PAGE_FORMAT,
                         RANGE | ESI_PAGE_FORMAT},
    [ESI_PAGE_METRICS] = {"/metrics", 0, 0}, /* the default path of Prometheus */
};

/* Defaults other than 2000. */
static const uint32_t limits[ESI_PAGE_ROUTES] = {
    [ESI_PAGE_CALLS] = 20000,
    [ESI_PAGE_SEARCH] = 1000,
    [ESI_PAGE_COLLECTIVES] = 200,
};

int esi_page_query_begin(struct esi_page_query *query, const char *path)
{
    for (size_t i = 0; i < ESI_PAGE_ROUTES; i++) {
        if (strcmp(routes[i].path, path) != 0)
            continue;
        query->route = (enum esi_page_route)i;
        query->given = 0;
        query->axis = ESI_PAGE_TIME_AXIS;
        query->from = 0;
        query->to = FARTHEST - 1;
        query->range_count = 0;
        query->group = ESI_PAGE_GROUP_NONE;
        query->first = 0;
        query->count = 1000;
        query->limit = limits[i] ? limits[i] : 2000;
        query->top = 20;
        query->pattern[0] = query->predicate[0] = query->name[0] = '\0';
        return 0;
    }
    return -ENOENT;
}

/* --- Values ----------------------------------------------------------------------- */

static int refuse_value(struct es_error *error, const char *key, const char *expected)
{
    return es_error_set(error, -EINVAL, "%s: expected %s", key, expected);
}

/* Parses a decimal number up to `maximum` and advances *text.  Returns 0 or -EINVAL. */
static int take_number(const char **text, uint32_t maximum, uint32_t *ret_number)
{
    const char *at = *text;
    uint64_t number = 0;

    if (*at < '0' || *at > '9')
        return -EINVAL;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > maximum)
            return -EINVAL;
    }
    *text = at;
    *ret_number = (uint32_t)number;
    return 0;
}

static int set_number(const char *value, uint32_t least, uint32_t most, uint32_t *out)
{
    uint32_t number;

    if (take_number(&value, most, &number) < 0 || *value || number < least)
        return -EINVAL;
    *out = number;
    return 0;
}

static int set_position(const char *value, double *out)
{
    static const char digits[] = "0123456789+-.eE";
    double number;
    char *end;

    if (!*value || strspn(value, digits) != strlen(value))
        return -EINVAL;
    number = strtod(value, &end);
    if (*end || !isfinite(number) || fabs(number) >= FARTHEST)
        return -EINVAL;
    *out = number;
    return 0;
}

/* "3:17" */
static int set_event(const char *value, struct esi_page_event *out)
{
    struct esi_page_event event;

    if (take_number(&value, UINT32_MAX - 1, &event.row) < 0 || *value++ != ':' ||
        take_number(&value, UINT32_MAX - 1, &event.index) < 0 || *value ||
        event.index == 0)
        return -EINVAL;
    *out = event;
    return 0;
}

/* "0-99,105" */
static int set_rows(const char *value, struct esi_page_query *query)
{
    size_t count = 0;

    for (;; value++) {
        struct esi_page_range *range = &query->ranges[count++];

        if (count > ESI_PAGE_RANGES_MAX ||
            take_number(&value, UINT32_MAX - 1, &range->first) < 0)
            return -EINVAL;
        range->last = range->first;
        if (*value == '-') {
            value++;
            if (take_number(&value, UINT32_MAX - 1, &range->last) < 0 ||
                range->last < range->first)
                return -EINVAL;
        }
        if (*value != ',')
            break;
    }
    query->range_count = count;
    return *value ? -EINVAL : 0;
}

/* The index in a NULL-terminated list of words. */
static int set_word(const char *value, const char *const *words, int *out)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return *out = i, 0;
    return -EINVAL;
}

static int set_text(const char *value, char *out, size_t size)
{
    size_t length = strlen(value);

    if (length == 0 || length >= size)
        return -EINVAL;
    memcpy(out, value, length + 1);
    return 0;
}

static int set_group(const char *value, int32_t *out)
{
    uint32_t number;

    if (strcmp(value, "cluster") == 0)
        return *out = ESI_PAGE_GROUP_CLUSTER, 0;
    if (strcmp(value, "host") == 0)
        return *out = ESI_PAGE_GROUP_HOST, 0;
    if (strcmp(value, "rank") == 0)
        return *out = ESI_PAGE_GROUP_RANK, 0;
    if (strcmp(value, "all") == 0)
        return *out = ESI_PAGE_GROUP_ALL, 0;
    if (set_number(value, 1, INT32_MAX, &number) < 0)
        return -EINVAL;
    return *out = (int32_t)number, 0;
}

/* --- Parameters ------------------------------------------------------------------- */

struct page_parameter {
    const char *key;
    unsigned bit;
    const char *expected;
};

static const struct page_parameter parameters[] = {
    {"axis", ESI_PAGE_AXIS, "time or level"},
    {"from", ESI_PAGE_FROM, "a number of magnitude below 2^53"},
    {"to", ESI_PAGE_TO, "a number of magnitude below 2^53"},
    {"at", ESI_PAGE_AT, "a number of magnitude below 2^53"},
    {"columns", ESI_PAGE_COLUMNS, "a number from 1 to 4096"},
    {"rows", ESI_PAGE_ROW_LIST, "rows and ranges of rows, as 0-99,105; at most 2048"},
    {"group", ESI_PAGE_GROUP, "cluster, host, rank, all or a number of rows"},
    {"first", ESI_PAGE_FIRST, "the number of a row"},
    {"count", ESI_PAGE_COUNT, "a number from 1 to 10000"},
    {"limit", ESI_PAGE_LIMIT, "a number from 1 to 100000"},
    {"event", ESI_PAGE_EVENT_ID, "ROW:INDEX"},
    {"a", ESI_PAGE_A, "ROW:INDEX"},
    {"b", ESI_PAGE_B, "ROW:INDEX"},
    {"row", ESI_PAGE_ROW, "the number of a row"},
    {"pattern", ESI_PAGE_PATTERN, "patterns of at most 16383 bytes"},
    {"predicate", ESI_PAGE_PREDICATE, "a name of at most 127 bytes"},
    {"name", ESI_PAGE_NAME, "a name of at most 127 bytes"},
    {"top", ESI_PAGE_TOP, "a number from 1 to 10000"},
    {"format", ESI_PAGE_FORMAT, "csv, svg or chrome"},
};

static int set_value(struct esi_page_query *query, unsigned bit, const char *value)
{
    static const char *const axes[] = {"time", "level", NULL};
    static const char *const formats[] = {"csv", "svg", "chrome", NULL};
    int word = 0, result;

    switch (bit) {
    case ESI_PAGE_AXIS:
        result = set_word(value, axes, &word);
        query->axis = (enum esi_page_axis)word;
        return result;
    case ESI_PAGE_FROM:
        return set_position(value, &query->from);
    case ESI_PAGE_TO:
        return set_position(value, &query->to);
    case ESI_PAGE_AT:
        return set_position(value, &query->at);
    case ESI_PAGE_COLUMNS:
        return set_number(value, 1, ESI_PAGE_COLUMNS_MAX, &query->columns);
    case ESI_PAGE_ROW_LIST:
        return set_rows(value, query);
    case ESI_PAGE_GROUP:
        return set_group(value, &query->group);
    case ESI_PAGE_FIRST:
        return set_number(value, 0, UINT32_MAX - 1, &query->first);
    case ESI_PAGE_COUNT:
        return set_number(value, 1, 10000, &query->count);
    case ESI_PAGE_LIMIT:
        return set_number(value, 1, 100000, &query->limit);
    case ESI_PAGE_EVENT_ID:
    case ESI_PAGE_A:
        return set_event(value, &query->a);
    case ESI_PAGE_B:
        return set_event(value, &query->b);
    case ESI_PAGE_ROW:
        return set_number(value, 0, UINT32_MAX - 1, &query->row);
    case ESI_PAGE_PATTERN:
        return set_text(value, query->pattern, sizeof query->pattern);
    case ESI_PAGE_PREDICATE:
        return set_text(value, query->predicate, sizeof query->predicate);
    case ESI_PAGE_NAME:
        return set_text(value, query->name, sizeof query->name);
    case ESI_PAGE_TOP:
        return set_number(value, 1, 10000, &query->top);
    default: /* ESI_PAGE_FORMAT */
        result = set_word(value, formats, &word);
        query->format = (enum esi_page_format)word;
        return result;
    }
}

int esi_page_query_set(struct esi_page_query *query,
                       const char *key,
                       const char *value,
                       struct es_error *error)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        const struct page_parameter *parameter = &parameters[i];

        if (strcmp(parameter->key, key) != 0 ||
            !(routes[query->route].allowed & parameter->bit))
            continue;
        if (query->given & parameter->bit)
            return es_error_set(error, -EINVAL, "%s: given twice", key);
        if (set_value(query, parameter->bit, value) < 0)
            return refuse_value(error, key, parameter->expected);
        query->given |= parameter->bit;
        return 0;
    }
    return es_error_set(error, -EINVAL, "%.64s: %s has no such parameter", key,
                        routes[query->route].path);
}

int esi_page_query_check(const struct esi_page_query *query, struct es_error *error)
{
    unsigned missing = routes[query->route].required & ~query->given;

    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (missing & parameters[i].bit)
            return refuse_value(error, parameters[i].key, parameters[i].expected);
    if (query->given & ESI_PAGE_TO && query->to <= query->from)
        return es_error_set(error, -EINVAL, "to: expected a position after from");
    if (query->route == ESI_PAGE_SEARCH &&
        !(query->given & (ESI_PAGE_PATTERN | ESI_PAGE_PREDICATE | ESI_PAGE_NAME)))
        return es_error_set(error, -EINVAL,
                            "pattern: expected patterns, a predicate or a name");
    return 0;
}
