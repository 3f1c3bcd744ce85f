/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_query.h - the requests of the page: checks their paths and parameters
 * (docs/view.md). Pure logic.
 *
 *     if (esi_page_query_begin(&query, "/api/rows") < 0)
 *         ...there is no such path...
 *     esi_page_query_set(&query, "first", "0", &error);  ...for each parameter...
 *     esi_page_query_check(&query, &error);
 */
#ifndef ES_CLI_PAGE_PAGE_QUERY_H
#define ES_CLI_PAGE_PAGE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

enum esi_page_route {
    ESI_PAGE_RUN,
    ESI_PAGE_ROWS,
    ESI_PAGE_WINDOW,
    ESI_PAGE_CALLS,
    ESI_PAGE_MESSAGES,
    ESI_PAGE_MATRIX,
    ESI_PAGE_PROFILE,
    ESI_PAGE_EVENT,
    ESI_PAGE_NEAREST,
    ESI_PAGE_CONE,
    ESI_PAGE_RELATION,
    ESI_PAGE_SEARCH,
    ESI_PAGE_VERDICT,
    ESI_PAGE_WAITS,
    ESI_PAGE_COLLECTIVES,
    ESI_PAGE_TREES,
    ESI_PAGE_SCOPE,
    ESI_PAGE_STREAM,
    ESI_PAGE_EXPORT,
    ESI_PAGE_METRICS,
    ESI_PAGE_ROUTES,
};

/* Parameters; bits of `given`. */
enum esi_page_parameter {
    ESI_PAGE_AXIS = 1 << 0,
    ESI_PAGE_FROM = 1 << 1,
    ESI_PAGE_TO = 1 << 2,
    ESI_PAGE_COLUMNS = 1 << 3,
    ESI_PAGE_ROW_LIST = 1 << 4,
    ESI_PAGE_GROUP = 1 << 5,
    ESI_PAGE_FIRST = 1 << 6,
    ESI_PAGE_COUNT = 1 << 7,
    ESI_PAGE_LIMIT = 1 << 8,
    ESI_PAGE_EVENT_ID = 1 << 9,
    ESI_PAGE_A = 1 << 10,
    ESI_PAGE_B = 1 << 11,
    ESI_PAGE_ROW = 1 << 12,
    ESI_PAGE_AT = 1 << 13,
    ESI_PAGE_PATTERN = 1 << 14,
    ESI_PAGE_NAME = 1 << 15,
    ESI_PAGE_TOP = 1 << 16,
    ESI_PAGE_FORMAT = 1 << 17,
    ESI_PAGE_PREDICATE = 1 << 18,
};

enum {
    ESI_PAGE_COLUMNS_MAX = 4096,
    ESI_PAGE_RANGES_MAX = 2048,
    ESI_PAGE_TEXT_BYTES = 16384,
    ESI_PAGE_NAME_BYTES = 128,
};

/* How rows are grouped to lines; a positive number is the number of rows per line. */
enum {
    ESI_PAGE_GROUP_NONE = 0,
    ESI_PAGE_GROUP_HOST = -1,
    ESI_PAGE_GROUP_ALL = -2,
    ESI_PAGE_GROUP_RANK = -3,
    ESI_PAGE_GROUP_CLUSTER = -4,
};

enum esi_page_axis { ESI_PAGE_TIME_AXIS, ESI_PAGE_LEVEL_AXIS };
enum esi_page_format { ESI_PAGE_CSV, ESI_PAGE_SVG, ESI_PAGE_CHROME };

struct esi_page_event {
    uint32_t row;
    uint32_t index; /* from 1 */
};

/* Rows from `first` to `last`. */
struct esi_page_range {
    uint32_t first;
    uint32_t last;
};

struct esi_page_query {
    enum esi_page_route route;
    unsigned given; /* enum esi_page_parameter */
    enum esi_page_axis axis;
    double from; /* since the start of the run, or a level; default 0 */
    double to;   /* default: after the last event */
    double at;
    uint32_t columns;
    struct esi_page_range ranges[ESI_PAGE_RANGES_MAX];
    size_t range_count; /* 0 = all rows */
    int32_t group;
    uint32_t first;
    uint32_t count;
    uint32_t limit;
    uint32_t top;
    uint32_t row;
    struct esi_page_event a; /* also used if there is only one */
    struct esi_page_event b;
    enum esi_page_format format;
    char pattern[ESI_PAGE_TEXT_BYTES]; /* source of patterns */
    char predicate[ESI_PAGE_NAME_BYTES];
    char name[ESI_PAGE_NAME_BYTES]; /* part of the name of an operation, row or site */
};

/* Starts a query without parameters.  Returns 0, or -ENOENT for an unknown path. */
int esi_page_query_begin(struct esi_page_query *query, const char *path);

/* Adds a parameter.  Returns 0, or -EINVAL with `error` filled. */
int esi_page_query_set(struct esi_page_query *query,
                       const char *key,
                       const char *value,
                       struct es_error *error);

/* Checks that the parameters are complete and consistent.  Returns 0, or -EINVAL with
 * `error` filled. */
int esi_page_query_check(const struct esi_page_query *query, struct es_error *error);

#endif
